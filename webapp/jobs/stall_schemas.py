"""How workers stand and what they use, as the API tells it. These names are public and stay."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from webapp.schemas import Answer


class StallOut(Answer):
    """A time in which workers ran and came no further."""

    attempt: int
    round: int
    rank: int | None
    """The one that is behind. None: none stands out."""
    node: str
    began_at: datetime
    """When the last sign of progress came."""
    noticed_at: datetime
    ended_at: datetime | None
    why: str
    """Who is behind and how that is known."""
    acted: str
    """What was done about it by the job's policy, as a sentence. Empty: nothing."""
    says: str
    """All of it in one sentence."""


class FrameOut(Answer):
    name: str
    file: str
    line: int


class ThreadOut(Answer):
    name: str
    frames: list[FrameOut]
    """The innermost first."""


class RankStandsOut(Answer):
    """How one rank stands, and how its stack was read."""

    rank: int
    node: str
    pid: int | None
    state: str
    """The kernel's letter: R, S, D, T, Z. Empty: it is gone, or not known."""
    waits_in: str
    """The kernel function that it waits in, where the kernel tells."""
    method: Literal["", "py-spy", "faulthandler"]
    problem: str | None
    """Why there is no stack, in words."""


class StackGroupOut(Answer):
    """Ranks that stand at the same place."""

    ranks: list[int]
    place: str
    """In a few words: ``all_reduce (train.py:40)``."""
    is_waiting: bool
    """In a collective, for other ranks."""
    stands_out: bool
    """It is not where the others wait for one another."""
    threads: list[ThreadOut]
    """Of the lowest of them, the main thread first."""


class StacksOut(Answer):
    """Where the workers of one round stand in their code."""

    at: datetime
    attempt: int
    round: int
    groups: list[StackGroupOut]
    """Those that stand out first."""
    ranks: list[RankStandsOut]
    silent: list[str]
    """Why nodes told nothing, a sentence each."""


class StallPage(Answer):
    items: list[StallOut]
    """The newest first."""
    groups: list[StackGroupOut]
    """How the ranks stood when the newest of them was noticed."""


class WorkerUsageOut(Answer):
    """What one worker uses, and how long ago it last came forward."""

    rank: int
    pid: int
    state: str
    """The kernel's letter: R, S, D, T, Z. Empty: it is gone."""
    cpu: float | None
    """Cores that it and its children use."""
    memory_bytes: int | None
    gpu_index: int | None
    gpu: float | None
    """Share of the time that its GPU was busy, from 0 to 1."""
    gpu_memory_bytes: int | None
    progress_s: float | None
    """Seconds since it last reported anything. None: nothing in this round."""
    age_s: float
    """Of the sample."""


class UsageOut(Answer):
    """Of the workers of the newest round. A worker of which nothing is known is not in it."""

    round: int | None
    workers: list[WorkerUsageOut]
    silent: list[str]
    """Nodes that have told nothing for some seconds."""
    stragglers: list[str]
    """Who is slower than the others, a sentence each."""
