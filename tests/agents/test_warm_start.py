"""Runners of these tests come from a process that has torch, unless a test wants another environment."""

from __future__ import annotations

from pathlib import Path

from tests.agents.runner_harness import Attempt
from tests.agents.warm_start import Forked


def test_nothing_that_other_tests_import_changes_the_environment_that_runners_are_forked_for(
    tmp_path: Path,
) -> None:
    with Attempt(tmp_path, nnodes="1", nproc_per_node=1) as attempt:
        (runner,) = attempt.start("node-a")
        assert isinstance(runner.process, Forked)
        runner.wait_for_step(1)
