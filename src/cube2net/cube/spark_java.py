"""The Java that Spark runs on: found and new enough, or one sentence that says what to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from cube2net.errors import InputError

OLDEST = 17
INSTALL = "install a Java runtime of version 17 or newer (such as openjdk-17-jre-headless) and point JAVA_HOME to it"
PATIENCE = 60


def check_java() -> int:
    """Return the version of the Java that Spark will start; raise where there is none, or one that is too old."""
    java = find_java()
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=PATIENCE).stderr
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
