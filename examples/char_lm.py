"""Trains a small character model on the text of Python's own standard library; made to be killed.

Every few steps rank 0 writes a checkpoint that is either complete or not there, and a restart
goes on from the newest complete one, with as many ranks as there are then. All ranks must see
the same ``--checkpoint-dir``. Runs under Regroup and, unchanged, under torchrun::

    torchrun --nproc-per-node 2 examples/char_lm.py --steps 200 --checkpoint-dir /tmp/char-lm
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

try:
    import regroup_report as report
except ImportError:
    report = None

BATCH = 8
SEED = 1
KEPT = 3


@dataclass
class Position:
    """Where training stands. ``seen`` counts the samples of this epoch that all ranks have used."""

    epoch: int = 0
    seen: int = 0
    step: int = 0


class CharModel(nn.Module):
    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.embed = nn.Embedding(128, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(width, 128)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        states, _ = self.rnn(self.embed(text))
        return self.head(self.drop(states))  # type: ignore[no-any-return]


def read_text(limit: int = 500_000) -> torch.Tensor:
    """The first half million ASCII characters of the standard library's sources."""
    text = bytearray()
    for path in sorted(Path(os.__file__).parent.glob("*.py")):
        text += path.read_text(errors="ignore").encode("ascii", "ignore")
        if len(text) >= limit:
            break
    return torch.frombuffer(text[:limit], dtype=torch.uint8).long()


def batches(text: torch.Tensor, size: int, at: Position, rank: int, world: int) -> Iterator[torch.Tensor]:
    """This rank's share of what is left of the epoch, cut for the world size of today.

    Gives tensors of shape ``(BATCH, size + 1)``, with the character behind each sample.
    """
    order = torch.randperm(len(text) // (size + 1), generator=torch.Generator().manual_seed(SEED + at.epoch))
    left = order[at.seen :]
    for start in range(0, len(left) - BATCH * world + 1, BATCH * world):
        mine = left[start + rank * BATCH : start + (rank + 1) * BATCH] * (size + 1)
        yield torch.stack([text[first : first + size + 1] for first in mine.tolist()])


# --- checkpoints ---


def fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def save(folder: Path, state: dict[str, Any], step: int) -> Path:
    """Write aside, sync, rename, and only then the mark that says it is complete."""
    final = folder / f"step-{step:08d}"
    aside = folder / f".{final.name}.{os.getpid()}"
    for leftover in (aside, final):
        shutil.rmtree(leftover, ignore_errors=True)
    aside.mkdir(parents=True)
    torch.save(state, aside / "state.pt")
    fsync(aside / "state.pt")
    aside.rename(final)
    fsync(folder)
    mark = final / "complete.new"
    mark.write_text(str((final / "state.pt").stat().st_size))
    fsync(mark)
    mark.rename(final / "complete")
    fsync(final)
    for old in sorted(folder.glob("step-*"))[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return final


def is_complete(path: Path) -> bool:
    try:
        return int((path / "complete").read_text()) == (path / "state.pt").stat().st_size
    except (OSError, ValueError):
        return False


def newest_complete(folder: Path) -> int:
    """Step of the newest complete checkpoint; 0 when there is none. Says which it passes over."""
    for path in sorted(folder.glob("step-*"), reverse=True):
        if is_complete(path):
            return int(path.name.removeprefix("step-"))
        print(f"checkpoint {path} is not complete: passed over", flush=True)
    return 0


def gather_rng(world: int, device: torch.device) -> list[torch.Tensor]:
    """The random state of every rank."""
    mine = torch.get_rng_state().to(device)
    every = [torch.empty_like(mine) for _ in range(world)]
    dist.all_gather(every, mine)
    return [state.cpu() for state in every]


class Checkpoints:
    def __init__(
        self, folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, device: torch.device
    ):
        self.folder, self.model, self.optimizer, self.device = folder, model, optimizer, device
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, at: Position) -> None:
        rng = gather_rng(self.world, self.device)
        if self.rank == 0:
            state = {
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "position": vars(at),
                "world_size": self.world,
                "rng": rng,
            }
            with report.saving(at.step) if report else nullcontext():
                path = save(self.folder, state, at.step)
            print(f"step {at.step}: checkpoint {path}", flush=True)
            if report:
                report.checkpoint(at.step, str(path))

    def resume(self) -> Position:
        """Rank 0 chooses, so that all ranks go on from the same checkpoint."""
        choice = torch.tensor(newest_complete(self.folder) if self.rank == 0 else 0, device=self.device)
        dist.broadcast(choice, src=0)
        step = int(choice.item())
        if step == 0:
            return Position()
        path = self.folder / f"step-{step:08d}"
        state = torch.load(path / "state.pt", map_location=self.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self.rank < len(state["rng"]):
            torch.set_rng_state(state["rng"][self.rank].cpu())
        print(f"resumed from {path}, written by {state['world_size']} ranks", flush=True)
        if report:
            report.resumed(step, str(path))
        return Position(**state["position"])


# --- training ---


def train(args: argparse.Namespace, device: torch.device) -> None:
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(SEED + rank)
    text, model = read_text(), CharModel().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    checkpoints = Checkpoints(Path(args.checkpoint_dir), model, optimizer, device)
    at = checkpoints.resume()
    parallel = DistributedDataParallel(model)
    while at.step < args.steps:
        for batch in batches(text, args.context, at, rank, world):
            began = time.monotonic()
            loss = train_step(parallel, optimizer, batch.to(device))
            at.seen += BATCH * world
            at.step += 1
            if report:
                report.step(at.step, total=args.steps, loss=loss)
            if rank == 0 and at.step % 10 == 0:
                print(f"step {at.step}: loss {loss:.3f}, {world} ranks", flush=True)
            if at.step % args.checkpoint_every == 0 or at.step == args.steps:
                checkpoints.save(at)
            if at.step == args.steps:
                return
            time.sleep(max(0.0, args.pace - (time.monotonic() - began)))
        at = Position(epoch=at.epoch + 1, seen=0, step=at.step)


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: torch.Tensor) -> float:
    optimizer.zero_grad()
    guesses = model(batch[:, :-1])
    loss = nn.functional.cross_entropy(guesses.flatten(0, 1), batch[:, 1:].flatten())
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return float(loss.item())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=500, help="train up to this step")
    parser.add_argument("--checkpoint-dir", required=True, help="folder that all ranks can see")
    parser.add_argument("--checkpoint-every", type=int, default=20, help="steps between checkpoints")
    parser.add_argument("--context", type=int, default=48, help="characters in a sample")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds that a step takes at least")
    args = parser.parse_args()
    # A model this small gains nothing by more threads, and those of several ranks would wait for each other.
    torch.set_num_threads(1)
    has_gpu = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if has_gpu else torch.device("cpu")
    if has_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if has_gpu else "gloo")
    train(args, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
