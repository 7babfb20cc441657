"""A training script's reports: one line a call, nothing outside Regroup, nothing raised."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

REPORT = Path(__file__).parents[2] / "agents" / "report.py"


def run(folder: Path, script: str, **env: str) -> list[dict[str, Any]]:
    """Run a script beside the module, as a worker would; gives the reports it left."""
    (folder / "regroup_report.py").write_text(REPORT.read_text())
    code = f"import regroup_report as report\n{script}"
    subprocess.run([sys.executable, "-c", code], cwd=folder, env={"RANK": "2", **env}, check=True, timeout=30)
    path = folder / "report.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def in_regroup(folder: Path, script: str) -> list[dict[str, Any]]:
    return run(folder, script, REGROUP_REPORT=str(folder / "report.jsonl"))


def test_each_call_is_a_line(tmp_path: Path) -> None:
    script = "report.resumed(4, '/c/4')\nreport.step(5, total=9, loss=0.5)\nreport.checkpoint(5, '/c/5')"
    reports = in_regroup(tmp_path, script)
    moments = [report.pop("at") for report in reports]
    assert 0 < moments[0] <= moments[1] <= moments[2]
    assert reports == [
        {"kind": "resumed", "step": 4, "path": "/c/4", "rank": 2},
        {"kind": "step", "step": 5, "total": 9, "metrics": {"loss": 0.5}, "rank": 2},
        {"kind": "checkpoint", "step": 5, "path": "/c/5", "rank": 2},
    ]


def test_many_steps_are_few_lines_with_the_first_and_the_newest(tmp_path: Path) -> None:
    steps = [report["step"] for report in in_regroup(tmp_path, "for i in range(1, 5001): report.step(i)")]
    assert (steps[0], steps[-1]) == (1, 5000)
    assert len(steps) < 500
    assert steps == sorted(steps)


def test_the_newest_step_is_written_though_no_call_follows(tmp_path: Path) -> None:
    script = (
        "import time\nreport.step(1)\nreport.step(2)\n"
        "while '\"step\": 2' not in open('report.jsonl').read(): time.sleep(0.01)\n"
        "import os; os._exit(0)"
    )
    assert [report["step"] for report in in_regroup(tmp_path, script)] == [1, 2]


def test_a_checkpoint_comes_after_the_steps_before_it(tmp_path: Path) -> None:
    reports = in_regroup(
        tmp_path, "report.step(1)\nreport.step(2)\nreport.checkpoint(2, 'c')\nreport.step(3)"
    )
    assert [(report["kind"], report["step"]) for report in reports] == [
        ("step", 1),
        ("step", 2),
        ("checkpoint", 2),
        ("step", 3),
    ]


def test_outside_regroup_nothing_happens(tmp_path: Path) -> None:
    assert run(tmp_path, "report.step(1)\nreport.checkpoint(1, 'c')\nreport.resumed(1, 'c')") == []


def test_nothing_is_ever_raised_into_training(tmp_path: Path) -> None:
    run(
        tmp_path,
        "report.step(1, loss=object())\nreport.step('x')\nreport.step(2)",
        REGROUP_REPORT="/no/such/file",
    )
    reports = in_regroup(tmp_path, "report.step(1, loss=object())\nreport.checkpoint(1, '/c')")
    assert [(report["kind"], report["path"]) for report in reports] == [("checkpoint", "/c")]
