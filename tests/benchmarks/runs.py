"""Whole runs: from the launch to the script's first statement, and the time that a step takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.waiting import wait_until

from .cases import Kind, Shape
from .progress import say
from .sides import Job, Side

RUN_S = 150.0
"""How long a run may take."""
STEPS = 200
"""Timed steps of a run; some more before them are not."""


@dataclass
class Runs:
    """One side's runs of the same kind. Times in seconds."""

    side: Side
    shape: Shape
    folder: Path
    turns: int
    arguments: Sequence[str]
    measure: Callable[[Job, Shape], float | None]
    """None: it cannot be told yet."""
    until: float = math.inf
    """By the monotonic clock: from then on there is no run but the first."""
    took_s: list[float] = field(default_factory=list)

    def turn(self, number: int) -> None:
        name = f"{self.side.name} run {number + 1} of {self.turns}"
        job = self.side.launch(self.shape, self.folder / name.replace(" ", "-"), self.arguments)
        try:
            took_s = wait_until(lambda: self.measure(job, self.shape), RUN_S, name)
        finally:
            job.end()
        self.took_s.append(took_s)
        say(f"{name}: {took_s:.4f} s")


def _launch_s(job: Job, shape: Shape) -> float | None:
    """Until the last rank's first statement."""
    first = job.marks.first_lines()
    return max(first.values()) - job.launched_at if len(first) == shape.world_size else None


def _step_s(job: Job, shape: Shape) -> float | None:
    return job.marks.step_s()


def runs_of(kind: Kind, side: Side, shape: Shape, folder: Path, turns: int, until: float = math.inf) -> Runs:
    if kind == "launch":
        return Runs(side, shape, folder, turns, (), _launch_s, until)
    steps = ("--steps", str(STEPS), "--pace", "0", "--width", "256")
    return Runs(side, shape, folder, turns, steps, _step_s, until)


def run_alternating(runs: Sequence[Runs]) -> None:
    """Everybody's first run, then everybody's second …, one at a time."""
    for number in range(max(one.turns for one in runs)):
        for one in runs:
            if number < one.turns and (number == 0 or time.monotonic() < one.until):
                one.turn(number)
