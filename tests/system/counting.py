"""Counts instead of training: steps, a loss, checkpoints and their resuming at next to no cost.

It reports as ``examples/char_lm.py`` does. A model's first step imports as much again as torch itself, in
every rank of every round; what is tested with many jobs does not need one.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import regroup_report as report
import torch
import torch.distributed as dist


def save(folder: Path, step: int) -> None:
    """Aside first, so that it is complete or not there."""
    path = folder / f"step-{step:08d}.json"
    with report.saving(step):
        path.with_suffix(".new").write_text(json.dumps({"step": step}))
        path.with_suffix(".new").rename(path)
    report.checkpoint(step, str(path))


def resume(folder: Path, rank: int) -> int:
    """Rank 0 chooses, so that all ranks go on from the same checkpoint."""
    newest = max(folder.glob("step-*.json"), default=None) if rank == 0 else None
    choice = torch.tensor(json.loads(newest.read_text())["step"] if newest else 0)
    dist.broadcast(choice, src=0)
    step = int(choice)
    if step:
        report.resumed(step, str(folder / f"step-{step:08d}.json"))
    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--checkpoint-dir", type=Path, required=True)
    parser.add_argument("--checkpoint-every", type=int, required=True)
    parser.add_argument("--pace", type=float, required=True, help="seconds between two steps")
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    args.checkpoint_dir.mkdir(parents=True, exist_ok=True)
    for step in range(resume(args.checkpoint_dir, rank) + 1, args.steps + 1):
        ranks = torch.ones(1)
        dist.all_reduce(ranks)
        loss = 3 / (1 + step / 100)
        report.step(step, total=args.steps, loss=loss)
        sys.stdout.write(f"step {step}: loss {loss:.3f}, {int(ranks)} ranks\n")
        sys.stdout.flush()
        if rank == 0 and step % args.checkpoint_every == 0:
            save(args.checkpoint_dir, step)
        time.sleep(args.pace)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
