"""The benchmark runs, and says what its readers rely on. What it measures is not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.system.stack import ROOT

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
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=540)


def line_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one line on stdout."""
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_case_is_one_line_with_ours_beside_torchrun_at_its_best() -> None:
    line = line_of(bench("--case", "kill-1x2-exec", "-n", "1", "--against", "best"))
    assert list(line) == FIELDS
    assert (line["case"], line["mode"], line["n"]) == ("kill-1x2-exec", "exec", 1)
    assert (line["kills"], line["hangs"], line["failure_restarts_per_kill"]) == (1, 0, 1.0)
    assert line["ours_s"] == line["p99_s"] > 0
    assert line["best_torchrun_s"] > 0
    assert (line["torchrun_s"], line["ratio"], line["torchrun_kills"]) == (None, None, 0)
    assert list(line["phases"]) == ["detect", "stop", "rendezvous", "start", "process_group"]
    assert abs(sum(line["phases"].values()) - line["ours_s"]) < 0.01


def test_a_case_that_is_not_there_is_refused_with_those_that_are() -> None:
    done = bench("--case", "kill-9")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "There is no case 'kill-9'. Write one or more of kill-1x2, kill-1x2-exec" in done.stderr
