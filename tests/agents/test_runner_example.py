"""The example under plain torchrun: a torn checkpoint is passed over, and another world size goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.agents.runner_harness import ROOT


def torchrun(ranks: int, *args: str) -> str:
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    script = [str(ROOT / "examples" / "char_lm.py"), *args]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    ended = subprocess.run([*run, *script], capture_output=True, text=True, timeout=60, check=False, env=env)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout


def test_the_example_resumes_from_the_newest_complete_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    said = torchrun(1, "--steps", "10", "--checkpoint-every", "5", "--checkpoint-dir", str(folder))
    assert "step 10: loss" in said
    newest = folder / "step-00000010"
    os.truncate(newest / "state.pt", 1000)
    (folder / "step-00000099").mkdir()
    said = torchrun(2, "--steps", "8", "--checkpoint-dir", str(folder))
    assert f"checkpoint {newest} is not complete: passed over" in said
    assert f"checkpoint {folder / 'step-00000099'} is not complete: passed over" in said
    assert f"resumed from {folder / 'step-00000005'}, written by 1 ranks" in said
    assert f"step 8: checkpoint {folder / 'step-00000008'}" in said
