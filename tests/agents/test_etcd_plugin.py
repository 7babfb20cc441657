"""The entry point for plain torchrun: torch loads it in every process, in the midst of its own import."""

from __future__ import annotations

import subprocess
import sys

import pytest

KNOWN = "from torch.distributed.elastic.rendezvous import rendezvous_handler_registry as known"
FIRST = (
    "torch.distributed.run",
    "torch.distributed.elastic.agent.server.local_elastic_agent",
    "torch.distributed.elastic.multiprocessing",
)


@pytest.mark.parametrize("module", FIRST)
def test_it_is_known_and_silent_whatever_is_imported_first(module: str) -> None:
    command = [sys.executable, "-c", f"import {module}\n{KNOWN}\nprint(known._registry)"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "'etcd-v3'" in done.stdout
    assert done.stderr == ""
