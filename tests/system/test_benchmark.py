"""The benchmark runs, and says what its readers rely on. What it measures is not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.system.stack import ROOT

CHANGES = ["node-loss", "scale-up", "scale-down"]
FIELDS = [
    "case",
    "mode",
    "n",
    "ours_s",
    "p99_s",
    "torchrun_s",
    "ratio",
    "best_torchrun_s",
    "ft_launcher_s",
    "kills",
    "hangs",
    "torchrun_kills",
    "torchrun_hangs",
    "failure_restarts_per_kill",
    "phases",
]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200)


@pytest.fixture(scope="module")
def lines() -> dict[str, dict[str, Any]]:
    """By case. One is beside torchrun, which takes its time; each run begins with a Regroup of its own."""
    beside, alone = ["kill-1x2-exec"], ["launch", *CHANGES]
    found = _measure(beside, "best") + _measure(alone, "none")
    return {line["case"]: line for line in found}


def _measure(cases: list[str], against: str) -> list[dict[str, Any]]:
    done = bench("--case", ",".join(cases), "-n", "1", "--against", against)
    found = [json.loads(text) for text in done.stdout.splitlines()]
    assert sorted(line["case"] for line in found) == sorted(cases), done.stderr
    return found


def test_a_kill_is_one_line_with_ours_beside_torchrun_at_its_best(lines: dict[str, dict[str, Any]]) -> None:
    line = lines["kill-1x2-exec"]
    assert list(line) == FIELDS
    assert (line["mode"], line["n"]) == ("exec", 1)
    assert (line["kills"], line["hangs"], line["failure_restarts_per_kill"]) == (1, 0, 1.0)
    assert line["ours_s"] == line["p99_s"] > 0
    assert line["best_torchrun_s"] > 0
    assert (line["torchrun_s"], line["ratio"], line["torchrun_kills"]) == (None, None, 0)
    assert list(line["phases"]) == ["detect", "stop", "rendezvous", "start", "process_group"]
    assert abs(sum(line["phases"].values()) - line["ours_s"]) < 0.01


def test_a_launch_is_one_line(lines: dict[str, dict[str, Any]]) -> None:
    line = lines["launch"]
    assert list(line) == FIELDS
    assert (line["kills"], line["phases"]) == (0, {})
    assert line["ours_s"] > 0
    # Beside torchrun with its defaults alone, which is not asked for.
    assert (line["torchrun_s"], line["best_torchrun_s"], line["ft_launcher_s"]) == (None, None, None)


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_of_nodes_is_one_line_and_costs_nobody_a_failure_restart(
    lines: dict[str, dict[str, Any]], case: str
) -> None:
    line = lines[case]
    assert list(line) == FIELDS
    assert (line["kills"], line["hangs"], line["failure_restarts_per_kill"]) == (1, 0, 0)
    assert line["ours_s"] > 0


def test_a_case_that_is_not_there_is_refused_with_those_that_are() -> None:
    done = bench("--case", "kill-9")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "There is no case 'kill-9'. Write one or more of kill-1x2, kill-1x2-exec" in done.stderr
