"""What a text says to SLURM about nodes and GPUs: the values of SLURM's variables that follow from it."""

from __future__ import annotations

import re

_IS_SLURM = re.compile(r"\b(srun|sbatch|salloc)\b|^#SBATCH", re.M)
_NODES = re.compile(r"(?:\s-N[ =]?|--nodes[ =])\s*(\d+)(?![\d-])")
_GPUS = re.compile(r"--(?:gpus-per-node|gres)[ =](?:gpu:)?(?:[A-Za-z]\w*:)?(\d+)")
_TASKS = re.compile(r"--ntasks-per-node[ =](\d+)")

_VARIABLES = (
    (_NODES, ("SLURM_NNODES", "SLURM_JOB_NUM_NODES")),
    (_GPUS, ("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE")),
    (_TASKS, ("SLURM_NTASKS_PER_NODE",)),
)


def read_slurm(text: str) -> dict[str, tuple[str, str]]:
    """Name of each variable to its value and the option that says it."""
    if not _IS_SLURM.search(text):
        return {}
    found: dict[str, tuple[str, str]] = {}
    for pattern, names in _VARIABLES:
        if match := pattern.search(text):
            found |= dict.fromkeys(names, (match[1], match[0].strip()))
    return found
