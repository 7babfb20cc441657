"""GPUs for machines that have none: the driver's library stood in for by one that reads a file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_suffix(".c")


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, gpus: str) -> Path:
    """The file with the GPUs that processes started from here on find: UUIDs, ``-`` for a lost one."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (cc) to build the stand-in for the driver's library with")
    folder.mkdir()
    library = folder / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE], check=True)
    listed = folder / "gpus"
    listed.write_text(gpus)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
    monkeypatch.setenv("REGROUP_TEST_GPUS", str(listed))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return listed
