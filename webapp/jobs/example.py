"""The filled-in form: the character model, with paths that hold on this machine."""

from __future__ import annotations

from pathlib import Path

from django.utils import timezone

from .schemas import JobIn

SCRIPT = "char_lm.py"


def example_job(examples: Path, data: Path) -> JobIn | None:
    """None where the script is not at hand, as on a hub whose nodes are elsewhere.

    The checkpoint folder is new each time: in that of an earlier run there would be nothing left to train.
    """
    now = timezone.now()
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
        args=[
            *("--steps", "3000"),
            *("--checkpoint-dir", str(data / "checkpoints" / f"char-lm-{now:%Y%m%d-%H%M%S}")),
            # Slow enough to be watched, and to be killed more than once.
            *("--pace", "0.1"),
        ],
    )
