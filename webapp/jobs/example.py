"""The filled-in form: the character model, with paths that hold on this machine."""

from __future__ import annotations

from pathlib import Path

from .schemas import JobIn

SCRIPT = "char_lm.py"


def example_job(examples: Path, data: Path) -> JobIn | None:
    """None where the script is not at hand, as on a hub whose nodes are elsewhere."""
    script = examples / SCRIPT
    if not script.is_file():
        return None
    return JobIn(
        name="char-lm",
        nnodes="1:3",
        nodes=2,
        nproc_per_node=2,
        max_restarts=3,
        script=str(script),
        args=["--steps", "2000", "--checkpoint-dir", str(data / "checkpoints" / "char-lm")],
    )
