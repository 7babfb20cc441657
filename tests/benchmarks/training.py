"""The script that both sides train: it notes its first statement, its first collective and its pace."""

# ruff: noqa: E402 - the clock is read before anything else is imported.
import time

FIRST_LINE_NS = time.monotonic_ns()

import argparse
import json
import os

import torch
import torch.distributed as dist

try:
    import regroup_report as report
except ImportError:
    report = None


def mark(path: str, kind: str, **values: float) -> None:
    """Append a line in one write, so that lines of all ranks and restarts can share the file."""
    facts = {"kind": kind, "rank": int(os.environ["RANK"]), "pid": os.getpid(), **values}
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, json.dumps(facts).encode() + b"\n")
    os.close(file)


def meet() -> int:
    """The first collective. What it gives names this start of the whole world: all its ranks get the same."""
    newest = torch.tensor([FIRST_LINE_NS])
    dist.all_reduce(newest, op=dist.ReduceOp.MAX)
    return int(newest.item())


def train(marks: str, width: int, steps: int, warm_up: int, pace_s: float) -> float:
    """Seconds per step, those of the warm-up left out: what torch loads at its first step takes a while."""
    model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, width))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    begun = time.monotonic()
    for step in range(1, warm_up + steps + 1):
        optimizer.zero_grad()
        model(torch.randn(width, width)).square().mean().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
        if report:
            report.step(step, total=warm_up + steps)
        if step == warm_up:
            mark(marks, "warm")
            begun = time.monotonic()
        time.sleep(pace_s)
    return (time.monotonic() - begun) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--marks", required=True, help="the file to append to")
    parser.add_argument(
        "--width", type=int, default=16, help="of the model: small, as all sides share the cores"
    )
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--warm-up", type=int, default=20)
    parser.add_argument("--pace", type=float, default=0.1, help="seconds to rest after each step")
    args = parser.parse_args()
    # As the launchers have it for several workers on a node; alone, one would take every core.
    torch.set_num_threads(1)
    mark(args.marks, "first_line", at=FIRST_LINE_NS / 1e9)
    dist.init_process_group("gloo")
    world = meet()
    mark(args.marks, "collective", at=time.monotonic(), world=world, size=dist.get_world_size())
    mark(args.marks, "steps", step_s=train(args.marks, args.width, args.steps, args.warm_up, args.pace))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
