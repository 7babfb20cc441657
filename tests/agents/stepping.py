"""A worker that counts its steps and reports them, alone: where workers must run, whatever they do.

A worker that trains, as ``examples/minimal.py`` does, takes seconds to import what it trains with, and one
more to end. It is needed where ranks must meet, or feel the loss of one.
"""

from __future__ import annotations

import argparse
import time

import regroup_report as report


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--pace", type=float, default=0.05, help="seconds between two steps")
    args = parser.parse_args()
    for step in range(1, args.steps + 1):
        report.step(step, total=args.steps)
        time.sleep(args.pace)


if __name__ == "__main__":
    main()
