"""What Spark needs before it starts: a Java that is new enough, and a master that can be reached."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from cube2net.errors import InputError, ParameterError
from cube2net.threads import cores

OLDEST = 17
INSTALL = "install a Java runtime of version 17 or newer (such as openjdk-17-jre-headless) and point JAVA_HOME to it"
JAVA_PATIENCE, MASTER_PATIENCE = 60, 5.0
LOCAL = r"local(\[(\*|[1-9]\d*)(\s*,\s*\d+)?\])?"
ONE_MACHINE = rf"{LOCAL}|local-cluster\[[^\]]*\]"
ALLOWED = "local[*], local[N], spark://HOST:PORT, k8s://https://HOST:PORT or yarn"


def check_java() -> int:
    """Return the version of the Java that Spark will start; raise where there is none, or one that is too old."""
    java = find_java()
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=False, timeout=JAVA_PATIENCE
        ).stderr
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"Spark needs Java, and {java!r} does not run ({error}): {INSTALL}") from None
    version = java_version(said)
    if version is None:
        raise InputError(f"Spark needs Java, and {java!r} does not tell its version: {INSTALL}")
    if version < OLDEST:
        raise InputError(f"Spark needs Java {OLDEST} or newer, and {java!r} is Java {version}: {INSTALL}")
    return version


def find_java() -> str:
    """Return the path of ``java``: that of JAVA_HOME where it is set, as Spark takes it, else the first on the PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / ("java.exe" if os.name == "nt" else "java")
        if not java.is_file():
            raise InputError(f"Spark needs Java, and JAVA_HOME is {home!r}, where there is no bin/java: {INSTALL}")
        return str(java)
    found = shutil.which("java")
    if found is None:
        raise InputError(f"Spark needs Java, and there is no 'java' on the PATH: {INSTALL}")
    return found


def java_version(said: str) -> int | None:
    """Return the main version out of what ``java -version`` says.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('java version "1.8.0_391"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else None


def check_master(master: str) -> None:
    """Raise where a master is none that Spark knows.

    >>> check_master("locl[2]")
    Traceback (most recent call last):
    cube2net.errors.ParameterError: unknown master 'locl[2]': write local[*], local[N], spark://HOST:PORT, ...
    """
    if not re.fullmatch(rf"{ONE_MACHINE}|spark://.+|k8s://.+|yarn", master):
        raise ParameterError(f"unknown master {master!r}: write {ALLOWED}")


def is_local(master: str) -> bool:
    """Return whether all work is done on this machine, so that every folder here is seen by all workers.

    >>> is_local("local[2]"), is_local("yarn")
    (True, False)
    """
    return re.fullmatch(ONE_MACHINE, master) is not None


def cores_of(master: str) -> int | None:
    """Return how many cores a local master works on, or None where only the cluster knows.

    >>> cores_of("local[2]"), cores_of("local"), cores_of("yarn")
    (2, 1, None)
    """
    found = re.fullmatch(LOCAL, master)
    if found is None:
        return None
    return cores() if found[2] == "*" else int(found[2] or 1)


def reach_master(master: str) -> None:
    """Raise where nobody answers at the address of a master, before Spark tries for minutes."""
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise InputError(
            "master 'yarn' needs the settings of a Hadoop cluster: set HADOOP_CONF_DIR or YARN_CONF_DIR to their folder"
        )
    if not master.startswith(("spark://", "k8s://")):
        return
    reasons = []
    for host, port in _addresses(master):
        try:
            socket.create_connection((host, port), timeout=MASTER_PATIENCE).close()
            return
        except OSError as error:
            reasons.append(f"{host}:{port} {(error.strerror or str(error)).lower()}")
    raise InputError(
        f"no Spark master answers at {master!r} ({'; '.join(reasons)}): check the address, and that it is running"
    )


def _addresses(master: str) -> list[tuple[str, int]]:
    """Return the hosts and ports that a master names; a standalone cluster may have several masters."""
    kind, _, rest = master.partition("://")
    try:
        if kind == "spark":
            parts = [urlsplit(f"//{part}") for part in rest.split(",")]
        else:
            parts = [urlsplit(rest if "://" in rest else f"https://{rest}")]
        usual = {"http": 80, "https": 443, "": 7077}
        found = [(part.hostname or "", part.port or usual[part.scheme]) for part in parts]
    except (ValueError, KeyError):
        found = []
    if not found or not all(host for host, _ in found):
        raise ParameterError(f"cannot read the address of master {master!r}: write {ALLOWED}")
    return found
