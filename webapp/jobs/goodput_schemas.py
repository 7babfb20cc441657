"""Where the time of a job went, as the API tells it. These names are public and stay."""

from __future__ import annotations

from typing import Literal

from webapp.schemas import Answer

TimePart = Literal[
    "queue", "start", "rendezvous", "checkpoint", "training", "redone", "stalled", "down", "unknown"
]


class GoodputPart(Answer):
    """A kind of thing that wall time went to."""

    kind: TimePart
    seconds: float | None
    """None: it is not measured."""
    planned_s: float
    """How much of it somebody asked for: a kill by hand, another number of nodes, a drain."""
    worker_hours: float
    """The same time, for as many workers as the job had or last had then."""


class GoodputOut(Answer):
    """Where the wall time of all attempts went. The parts add up to ``wall_s``."""

    wall_s: float
    share: float | None
    """Of the wall time, what went to steps that count: ``training``, which is without ``redone``.
    None: no step is reported."""
    worker_hours: float
    gpu_hours: float | None
    """The same where each worker has a GPU of its own. None: they have none."""
    parts: list[GoodputPart]
    says: str
    """In one sentence."""
