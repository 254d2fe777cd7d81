"""Where Spark works: the masters that can be given, and whether one can be reached."""

from __future__ import annotations

import os
import re
import socket
from urllib.parse import urlsplit

from cube2net.errors import InputError, ParameterError
from cube2net.threads import cores

LOCAL = r"local(\[(\*|[1-9]\d*)(\s*,\s*\d+)?\])?"
ONE_MACHINE = rf"{LOCAL}|local-cluster\[[^\]]*\]"
ALLOWED = "local[*], local[N], spark://HOST:PORT, k8s://https://HOST:PORT or yarn"
PATIENCE = 5.0


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
            socket.create_connection((host, port), timeout=PATIENCE).close()
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
