"""Where the wall time of a job went: from each recorded moment on to one kind of thing, until the next.

Pure. Moments may be missing, and those of several machines may be out of order: whatever is known, the turns
cover the time from end to end, each second once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate

from .goodput_schemas import TimePart

ENDS_TRAINING = ("fault", "noticed", "down")
"""Moments of the way into a round of which the first that is known ended the training before it."""


@dataclass(frozen=True, kw_only=True)
class RoundTimes:
    formed_at: datetime | None
    """None: nodes are on their way to it."""
    world_size: int = 0
    is_planned: bool = False
    """Somebody asked for the restart with which it began."""
    resumed_step: int | None = None
    last_step: int | None = None
    """How far it has come."""
    stalled_s: float = 0.0
    """How long its workers came no further. See ``stalls.py``."""
    moments: Mapping[str, datetime] = field(default_factory=dict)
    """Of the way into it, by name. See ``moments.py``."""


@dataclass(frozen=True, kw_only=True)
class AttemptTimes:
    set_out_at: datetime | None
    """When its first runner began. None: none has yet."""
    ended_at: datetime | None = None
    rounds: tuple[RoundTimes, ...] = ()


@dataclass(frozen=True, kw_only=True)
class JobTimes:
    began_at: datetime
    ends_at: datetime
    """Its end, or now."""
    attempts: tuple[AttemptTimes, ...] = ()
    lost_sight_at: datetime | None = None
    """Since when nothing has been heard of any of its nodes."""

    @property
    def rounds(self) -> list[RoundTimes]:
        return [row for attempt in self.attempts for row in attempt.rounds]

    @property
    def reports_steps(self) -> bool:
        return any("first_step" in row.moments for row in self.rounds)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """From then on, time goes to that kind of thing."""

    at: datetime
    kind: TimePart
    workers: int = 0
    row: RoundTimes | None = None
    """The round it belongs to, or leads to."""
    is_restart: bool = False
    """It is a part of the way from one round of an attempt to the next."""


@dataclass(frozen=True)
class Stretch:
    turn: Turn
    seconds: float


def stretches(job: JobTimes) -> list[Stretch]:
    """All of the job's time. A moment that lies before an earlier turn, or past the end, counts as that."""
    turns, end = list(_turns(job)), max(job.began_at, job.ends_at)
    starts = list(accumulate((min(turn.at, end) for turn in turns), max))
    ends = [*starts[1:], end]
    return [
        Stretch(turn, (after - at).total_seconds())
        for turn, at, after in zip(turns, starts, ends, strict=True)
    ]


def _turns(job: JobTimes) -> Iterator[Turn]:
    last = Turn(at=job.began_at, kind="queue")
    yield last
    for attempt in job.attempts:
        for last in _turns_of_attempt(attempt, job.reports_steps):
            yield last
    if job.lost_sight_at is not None:
        yield Turn(at=job.lost_sight_at, kind="unknown", workers=last.workers, row=last.row)


def _turns_of_attempt(attempt: AttemptTimes, reports_steps: bool) -> Iterator[Turn]:
    before: RoundTimes | None = None
    if attempt.set_out_at is not None:
        workers = attempt.rounds[0].world_size if attempt.rounds else 0
        yield Turn(at=attempt.set_out_at, kind="start", workers=workers)
    for row in attempt.rounds:
        yield from _way_into(row, before)
        yield from _in_round(row, before, reports_steps)
        before = row
    if attempt.ended_at is not None:
        yield Turn(at=attempt.ended_at, kind="queue")


def _way_into(row: RoundTimes, before: RoundTimes | None) -> Iterator[Turn]:
    """Until it forms, the workers are those of the round before, or else those who are to be in it."""
    begun, formed = _set_out(row, before), _formed(row)
    workers = before.world_size if before else row.world_size
    if before is not None and (over := _end_of_training(row)) is not None:
        yield Turn(at=over, kind="down", workers=workers, row=row, is_restart=True)
    if begun is not None:
        yield Turn(at=begun, kind="rendezvous", workers=workers, row=row, is_restart=before is not None)
    if formed is not None:
        yield _rest(formed, row, before)


def _in_round(row: RoundTimes, before: RoundTimes | None, reports_steps: bool) -> Iterator[Turn]:
    moments, formed, workers = row.moments, _formed(row), row.world_size
    up, loaded = moments.get("group_up"), moments.get("checkpoint_loaded")
    if up is not None and loaded is not None:
        is_restart = before is not None
        yield Turn(at=up, kind="checkpoint", workers=workers, row=row, is_restart=is_restart)
        yield _rest(loaded, row, before)
    if "first_step" in moments:
        yield Turn(at=moments["first_step"], kind="training", workers=workers, row=row)
    elif formed is not None and not reports_steps:
        yield Turn(at=moments.get("started", formed), kind="unknown", workers=workers, row=row)


def _rest(at: datetime, row: RoundTimes, before: RoundTimes | None) -> Turn:
    """What is neither rendezvous nor checkpoint, on the way to a round's first step."""
    if before is None:
        return Turn(at=at, kind="start", workers=row.world_size, row=row)
    return Turn(at=at, kind="down", workers=row.world_size, row=row, is_restart=True)


def _end_of_training(row: RoundTimes) -> datetime | None:
    """Where nobody told of it, the round before is known to be over when its nodes set out for the next."""
    known = [row.moments[name] for name in ENDS_TRAINING if name in row.moments]
    return min(known) if known else row.moments.get("begun", _formed(row))


def _set_out(row: RoundTimes, before: RoundTimes | None) -> datetime | None:
    """Nodes that are new come; those of a round before leave it and begin anew."""
    return row.moments.get("came" if before is None else "begun")


def _formed(row: RoundTimes) -> datetime | None:
    return row.moments.get("formed", row.formed_at)
