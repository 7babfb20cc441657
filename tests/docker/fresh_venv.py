"""A Python environment with nothing in it but what is asked for, as an image or a new machine has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def make_venv(folder: Path, *wanted: str) -> Path:
    """``wanted``: what ``pip install`` is given. The environment gets no pip of its own, which takes long."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet"]
    done = subprocess.run(
        [*pip, "--no-compile", "--disable-pip-version-check", *wanted],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder
