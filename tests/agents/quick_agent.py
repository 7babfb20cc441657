"""The node agent with real runners and store keepers, which it can fork before the first command comes.

Its warm process comes from the nest of the tests (``warm_nest.py``) instead of importing torch itself.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from agents.node import daemon, warm
from agents.node.cli import run_daemon
from agents.node.config import read_config

READY_S = 60.0


class ReadyWarm(warm.Warm):
    """Begins with its process, where another one would first see to all else that a node agent does."""

    def __init__(self, python: str, environment: Mapping[str, str], data: Path) -> None:
        super().__init__(python, environment, data)
        self._see_to_it()
        process, deadline = self._process, time.monotonic() + READY_S
        assert process is not None
        while not process.is_ready:
            assert not process.death, process.death
            assert time.monotonic() < deadline, "no warm process came from the nest"
            time.sleep(0.01)


warm.BOOT = Path(__file__).with_name("warm_nest.py")
daemon.Warm = ReadyWarm  # type: ignore[attr-defined]
sys.exit(run_daemon(dataclasses.replace(read_config(sys.argv[1:], os.environ), warm=True)))
