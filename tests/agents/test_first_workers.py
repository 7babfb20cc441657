"""How the first workers of a runner come to be: at once where each has a core, from one import where not."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from agents.runner.launch import begins_at_once


@pytest.mark.parametrize(
    ("is_warm", "workers", "cores", "at_once"),
    [(False, 1, 8, True), (False, 9, 8, True), (True, 1, 8, False), (True, 8, 8, False), (True, 9, 8, True)],
)
def test_a_warm_start_waits_for_the_fork_server_only_where_workers_outnumber_cores(
    monkeypatch: pytest.MonkeyPatch, is_warm: bool, workers: int, cores: int, at_once: bool
) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    if is_warm:
        monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    assert begins_at_once(workers, cores) is at_once
