"""The wall time of a job as parts that add up, and what of it restarts cost. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import get_args

from .goodput_schemas import TimePart
from .goodput_turns import JobTimes, RoundTimes, Stretch, stretches

KINDS: tuple[TimePart, ...] = get_args(TimePart)
OF_THE_ROUND: frozenset[TimePart] = frozenset({"training", "unknown", "stalled"})
"""What a round is for; anything else of it is the price of having begun it."""


@dataclass(frozen=True, kw_only=True)
class Part:
    kind: TimePart
    seconds: float | None
    """None: it is not measured."""
    planned_s: float
    worker_s: float


@dataclass(frozen=True, kw_only=True)
class Goodput:
    wall_s: float
    parts: tuple[Part, ...]
    share: float | None
    """Of the wall time, what went to steps that count. None: no step was reported."""
    restarts: int
    planned: int
    """How many of them somebody asked for."""
    restarts_s: float
    """What they took, each until the first step of the round that it led to."""
    redone_unknown: int
    """Of so many rounds it is not known how many steps were redone."""

    def seconds(self, kind: TimePart) -> float:
        return sum(part.seconds or 0.0 for part in self.parts if part.kind == kind)


@dataclass(frozen=True)
class _Redone:
    """Of the training of a round, what went to steps that an earlier one had made. None: not known."""

    by_round: tuple[float | None, ...]

    @property
    def unknown(self) -> int:
        return self.by_round.count(None)

    @property
    def is_measured(self) -> bool:
        return not self.unknown or any(self.by_round)


def goodput(job: JobTimes) -> Goodput:
    """``training`` is the time in which steps were made, less ``stalled``, when none came, and ``redone``:
    the steps that an earlier round had made already, at the mean pace of the round that made them again."""
    whole = list(_without_stalls(stretches(job)))
    redone = _redone([stretch for stretch in whole if stretch.turn.kind == "training"])
    silent = _not_measured(job, redone)
    parts = _parts(_taken_out(whole, redone), silent)
    wall_s = sum(stretch.seconds for stretch in whole)
    restarts = [row for attempt in job.attempts for _, row in pairwise(attempt.rounds)]
    told = Goodput(
        wall_s=wall_s,
        parts=parts,
        share=None,
        restarts=len(restarts),
        planned=sum(row.is_planned for row in restarts),
        restarts_s=sum(stretch.seconds for stretch in whole if stretch.turn.is_restart),
        redone_unknown=redone.unknown,
    )
    return replace(told, share=told.seconds("training") / wall_s) if job.reports_steps and wall_s else told


def _without_stalls(whole: Sequence[Stretch]) -> Iterator[Stretch]:
    """Each stretch in which a round ran as two: the time in which it came no further, and the rest."""
    for stretch in whole:
        row = stretch.turn.row
        if stretch.turn.kind in OF_THE_ROUND and row is not None and row.stalled_s:
            stalled_s = min(stretch.seconds, row.stalled_s)
            yield Stretch(replace(stretch.turn, kind="stalled"), stalled_s)
            stretch = Stretch(stretch.turn, stretch.seconds - stalled_s)
        yield stretch


def _not_measured(job: JobTimes, redone: _Redone) -> frozenset[TimePart]:
    """Without steps only a rule about lines tells of a stall."""
    is_watched = job.reports_steps or any(row.stalled_s for row in job.rounds)
    silent: dict[TimePart, bool] = {"stalled": is_watched, "redone": redone.is_measured}
    return frozenset(kind for kind, is_measured in silent.items() if not is_measured)


def _redone(training: Sequence[Stretch]) -> _Redone:
    """There is one stretch of training for each round that made steps."""
    found, farthest = list[float | None](), 0
    for stretch in training:
        row = stretch.turn.row
        assert row is not None
        found.append(_redone_s(row, farthest, stretch.seconds))
        farthest = max(farthest, row.last_step or 0)
    return _Redone(tuple(found))


def _redone_s(row: RoundTimes, farthest: int, trained_s: float) -> float | None:
    """``farthest``: the last step that any earlier round had made."""
    if not farthest:
        return 0.0
    if row.resumed_step is None or row.last_step is None:
        return None
    made, again = row.last_step - row.resumed_step, min(row.last_step, farthest) - row.resumed_step
    return trained_s * min(1.0, again / made) if again > 0 else 0.0


def _taken_out(whole: Sequence[Stretch], redone: _Redone) -> list[Stretch]:
    """Each stretch of training as two: the steps made again, and the rest."""
    found, of_rounds = list[Stretch](), iter(redone.by_round)
    for stretch in whole:
        if stretch.turn.kind == "training":
            again_s = next(of_rounds) or 0.0
            found.append(Stretch(replace(stretch.turn, kind="redone"), again_s))
            stretch = Stretch(stretch.turn, stretch.seconds - again_s)
        found.append(stretch)
    return found


def _parts(whole: Sequence[Stretch], silent: frozenset[TimePart]) -> tuple[Part, ...]:
    return tuple(_part(kind, [s for s in whole if s.turn.kind == kind], kind in silent) for kind in KINDS)


def _part(kind: TimePart, those: Sequence[Stretch], is_silent: bool) -> Part:
    return Part(
        kind=kind,
        seconds=None if is_silent else sum(stretch.seconds for stretch in those),
        planned_s=sum(stretch.seconds for stretch in those if _is_planned(stretch)),
        worker_s=sum(stretch.seconds * stretch.turn.workers for stretch in those),
    )


def _is_planned(stretch: Stretch) -> bool:
    row = stretch.turn.row
    return row is not None and row.is_planned and stretch.turn.kind not in OF_THE_ROUND
