"""Counts instead of training: steps, a loss, checkpoints and their resuming at next to no cost.

It reports as ``examples/char_lm.py`` does, which takes seconds to import what it trains with, in every rank
of every round. With ``--collective`` its ranks meet in torch's process group at every step; without, each
counts for itself and imports nothing of torch: enough where it matters that workers run, not what they do.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import regroup_report as report


class Alone:
    """A rank that hears of the others through its environment only."""

    def __init__(self) -> None:
        self.rank = int(os.environ["RANK"])

    def agree(self, step: int) -> int:
        return step

    def meet(self) -> int:
        return int(os.environ["WORLD_SIZE"])

    def leave(self) -> None:
        pass


class Together:
    """A rank that does each step with all others, in torch's process group."""

    def __init__(self) -> None:
        import torch
        import torch.distributed as dist

        self._torch, self._dist = torch, dist
        dist.init_process_group("gloo")
        self.rank = dist.get_rank()

    def agree(self, step: int) -> int:
        """What rank 0 says."""
        choice = self._torch.tensor(step)
        self._dist.broadcast(choice, src=0)
        return int(choice)

    def meet(self) -> int:
        """How many came."""
        ranks = self._torch.ones(1)
        self._dist.all_reduce(ranks)
        return int(ranks)

    def leave(self) -> None:
        self._dist.destroy_process_group()


def save(folder: Path, step: int) -> None:
    """Aside first, so that it is complete or not there."""
    path = folder / f"step-{step:08d}.json"
    with report.saving(step):
        path.with_suffix(".new").write_text(json.dumps({"step": step}))
        path.with_suffix(".new").rename(path)
    report.checkpoint(step, str(path))


def resume(folder: Path, ranks: Alone | Together) -> int:
    """Rank 0 chooses, where they can agree, so that all go on from the same checkpoint."""
    newest = max(folder.glob("step-*.json"), default=None)
    step = ranks.agree(json.loads(newest.read_text())["step"] if newest else 0)
    if step:
        report.resumed(step, str(folder / f"step-{step:08d}.json"))
    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--checkpoint-dir", type=Path, required=True)
    parser.add_argument("--checkpoint-every", type=int, required=True)
    parser.add_argument("--pace", type=float, required=True, help="seconds between two steps")
    parser.add_argument("--collective", action="store_true", help="meet in torch's process group")
    args = parser.parse_args()
    ranks = Together() if args.collective else Alone()
    args.checkpoint_dir.mkdir(parents=True, exist_ok=True)
    for step in range(resume(args.checkpoint_dir, ranks) + 1, args.steps + 1):
        came = ranks.meet()
        loss = 3 / (1 + step / 100)
        report.step(step, total=args.steps, loss=loss)
        sys.stdout.write(f"step {step}: loss {loss:.3f}, {came} ranks\n")
        sys.stdout.flush()
        if ranks.rank == 0 and step % args.checkpoint_every == 0:
            save(args.checkpoint_dir, step)
        time.sleep(args.pace)
    ranks.leave()


if __name__ == "__main__":
    main()
