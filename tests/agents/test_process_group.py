"""When the process group is up: told by importing ``regroup_report``, before torch or after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPORT = Path(__file__).parents[2] / "agents" / "report.py"
CALL = "init_process_group('gloo', store=distributed.HashStore(), rank=0, world_size=1)"
FIRST = f"""
import regroup_report
from torch import distributed
from torch.distributed import init_process_group
{CALL}
distributed.destroy_process_group()
{CALL}
"""
SECOND = f"""
from torch import distributed
import torch.distributed.device_mesh
import regroup_report
distributed.{CALL}
assert torch.distributed.device_mesh.init_process_group is distributed.init_process_group
assert distributed.init_process_group.__name__ == "init_process_group"
"""


def reports(folder: Path, script: str) -> list[dict[str, object]]:
    (folder / "regroup_report.py").write_text(REPORT.read_text())
    told = folder / "report.jsonl"
    environment = {**os.environ, "REGROUP_REPORT": str(told), "RANK": "0"}
    command = [sys.executable, "-c", script]
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=120)
    return [json.loads(line) for line in told.read_text().splitlines()]


@pytest.mark.parametrize(("script", "groups"), [(FIRST, 2), (SECOND, 1)], ids=["report first", "torch first"])
def test_a_script_tells_when_it_asked_for_a_process_group_and_when_it_had_it(
    tmp_path: Path, script: str, groups: int
) -> None:
    told = reports(tmp_path, script)
    assert [each["kind"] for each in told] == ["group_begun", "group_up"] * groups
    moments = [float(str(each["at"])) for each in told]
    assert moments == sorted(moments)


def test_one_that_fails_is_raised_as_it_was_and_is_never_called_up(tmp_path: Path) -> None:
    script = (
        "import regroup_report\nfrom torch import distributed\n"
        "try:\n    distributed.init_process_group('no such backend', rank=0, world_size=1)\n"
        "except Exception as error:\n    print(type(error).__name__)\n"
        "else:\n    raise SystemExit(1)"
    )
    assert [each["kind"] for each in reports(tmp_path, script)] == ["group_begun"]
