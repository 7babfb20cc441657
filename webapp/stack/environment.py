"""The environment that every program of the stack gets. Secrets travel here, never as arguments."""

from __future__ import annotations

import os
from pathlib import Path

from .leftovers import MARK, mark_of
from .options import StackOptions


def django_environment(data: Path) -> dict[str, str]:
    """What ``manage.py`` needs to work on that data folder."""
    return {**os.environ, "REGROUP_DATA": str(data)}


def stack_environment(options: StackOptions, redis_url: str) -> dict[str, str]:
    """What the running stack has on top: the bus, the port and the mark that its processes are found by.

    Training workers inherit most of it, so nothing here may change how Python runs or what it imports.
    """
    bin_folder = str(Path(options.python).parent)
    return {
        **django_environment(options.data),
        "REGROUP_REDIS_URL": redis_url,
        "REGROUP_PORT": str(options.port),
        "REGROUP_HUB_URL": os.environ.get("REGROUP_HUB_URL") or options.url,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        MARK: mark_of(options.data),
    }
