"""Answers questions about a job's metrics from few rows, whatever the length of the job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from django.db.models import Max, Min

from .bands import COUNT, LEVELS_S, MAX, MAX_RANK, MIN, MIN_RANK, SUM, Band, Stretch
from .causes import Causes
from .downsample import RATE, Part, Run, Spell, downsample, parts, plan, with_rates
from .metric_fold import MOST_NAMES, STEP, TORCH
from .metrics_schemas import (
    MetricGroup,
    MetricNameOut,
    MetricRoundOut,
    MetricRunOut,
    MetricsOut,
    SeriesOut,
)
from .models import Attempt, Job, MetricSlot, Round
from .timeline_schemas import CauseWord

MOST_ROUNDS = 500
"""The newest rounds that one answer marks."""


@dataclass(frozen=True)
class MetricsQuestion:
    """``names`` empty: all of the job's own. Without ``begin`` and ``end``: all that there is."""

    names: Sequence[str] = ()
    attempt: int | None = None
    begin: datetime | None = None
    end: datetime | None = None
    points: int = 400


@dataclass(frozen=True)
class _Extent:
    """From when to when an attempt has reported: seconds since the epoch."""

    first_s: float
    newest_s: float


def metrics_out(job: Job, asked: MetricsQuestion) -> MetricsOut:
    attempts = job.attempts.all() if asked.attempt is None else job.attempts.filter(number=asked.attempt)
    numbers = dict(attempts.values_list("id", "number"))
    extents = _extents(numbers)
    names = [
        MetricNameOut(name=row.name, group=group_of(row.name))
        for row in job.metric_names.filter(is_kept=True).order_by("id")
    ]
    began_s = min((extent.first_s for extent in extents.values()), default=None)
    ended_s = max((extent.newest_s for extent in extents.values()), default=None)
    begin_s = asked.begin.timestamp() if asked.begin else began_s or 0.0
    end_s = max(begin_s, asked.end.timestamp() if asked.end else (ended_s or 0.0) + LEVELS_S[0])
    planned = plan(begin_s, end_s, asked.points)
    spells = [
        spell
        for attempt, extent in extents.items()
        for part in parts(planned.level, begin_s, end_s, extent.newest_s)
        for spell in _read(attempt, numbers[attempt], part)
    ]
    points = downsample(with_rates(spells), planned.width_s)
    told = _with_rate(names, points)
    return MetricsOut(
        names=told,
        not_kept=list(job.metric_names.filter(is_kept=False).order_by("id").values_list("name", flat=True)),
        most=MOST_NAMES,
        began_at=_moment(began_s),
        ended_at=_moment(ended_s),
        every_s=float(planned.width_s),
        rounds=_rounds(attempts, begin_s if asked.begin else 0.0, end_s),
        series=[_series(each, points) for each in told if _is_wanted(each, asked.names)],
    )


def group_of(name: str) -> MetricGroup:
    return "torch" if name.startswith(TORCH) else "job"


def _is_wanted(name: MetricNameOut, names: Sequence[str]) -> bool:
    return name.name in names if names else name.group == "job"


def _with_rate(names: list[MetricNameOut], points: Iterable[Spell]) -> list[MetricNameOut]:
    """The rate, which no row has, right behind the step that it is made from."""
    is_made = any(RATE in point.told.bands for point in points)
    if not is_made or any(each.name == RATE for each in names):
        return names
    at = 1 + next((index for index, each in enumerate(names) if each.name == STEP), -1)
    return [*names[:at], MetricNameOut(name=RATE, group="job"), *names[at:]]


def _extents(attempts: Iterable[str]) -> dict[str, _Extent]:
    """The shortest stretches tell it best, but of a long attempt they lack the beginning."""
    rows = MetricSlot.objects.filter(attempt__in=list(attempts)).order_by()

    def bounds(level: int) -> dict[str, tuple[float, float]]:
        found = rows.filter(level=level).values_list("attempt").annotate(Min("slot"), Max("slot"))
        length_s = LEVELS_S[level]
        return {attempt: (low * length_s, high * length_s) for attempt, low, high in found}

    short, long, long_s = bounds(0), bounds(len(LEVELS_S) - 1), LEVELS_S[-1]
    return {
        attempt: _Extent(
            first_s=first if first < long[attempt][0] + long_s else long[attempt][0], newest_s=newest
        )
        for attempt, (first, newest) in short.items()
    }


def _read(attempt: str, number: int, part: Part) -> Iterable[Spell]:
    length_s = LEVELS_S[part.level]
    rows = MetricSlot.objects.filter(
        attempt=attempt, level=part.level, slot__gte=part.first, slot__lt=part.after
    ).order_by("slot", "round")
    for round_number, slot, reports, seconds, bands in rows.values_list(
        "round", "slot", "reports", "seconds", "bands"
    ):
        run = Run(number, round_number)
        yield Spell(run, float(slot * length_s), length_s, Stretch(reports, seconds, bands))


def _rounds(attempts: Iterable[Attempt], begin_s: float, end_s: float) -> list[MetricRoundOut]:
    """Those that began in that time, and the one before them, which its beginning belongs to."""
    newest_first = Round.objects.filter(attempt__in=attempts, formed_at__lt=_moment(end_s)).select_related(
        "attempt"
    )
    rows: list[Round] = []
    earlier = 0
    for row in newest_first.order_by("-formed_at")[:MOST_ROUNDS]:
        rows.insert(0, row)
        earlier += row.formed_at.timestamp() < begin_s
        if earlier == 2:  # the cause of a round is told from the one before it
            break
    causes = Causes(rows)
    return [_round(row, causes) for row in rows[max(0, earlier - 1) :]]


def _round(row: Round, causes: Causes) -> MetricRoundOut:
    cause = causes.cause(row)
    first = f"The first round of attempt {row.attempt.number}."
    return MetricRoundOut(
        attempt=row.attempt.number,
        number=row.number,
        at=row.formed_at,
        world_size=row.world_size,
        restart=cast(CauseWord, row.cause),
        kind=cause.kind if cause else None,
        sentence=cause.sentence if cause else row.why or (first if row.cause == "start" else ""),
        planned=cause.planned if cause else False,
    )


def _series(name: MetricNameOut, points: Iterable[Spell]) -> SeriesOut:
    runs: dict[Run, MetricRunOut] = {}
    for point in points:
        band = point.told.bands.get(name.name)
        if band is not None:
            _append(runs.setdefault(point.run, _empty(point.run)), point, band)
    return SeriesOut(name=name.name, group=name.group, runs=list(runs.values()))


def _empty(run: Run) -> MetricRunOut:
    return MetricRunOut(
        attempt=run.attempt, round=run.round, t=[], step=[], min=[], mean=[], max=[], min_rank=[], max_rank=[]
    )


def _append(run: MetricRunOut, point: Spell, band: Band) -> None:
    steps = point.told.bands.get(STEP)
    run.t.append(round(point.at_s, 3))
    run.step.append(_mean(steps) if steps else None)
    run.min.append(cast(float, band[MIN]))
    run.mean.append(_mean(band))
    run.max.append(cast(float, band[MAX]))
    run.min_rank.append(cast(int | None, band[MIN_RANK]))
    run.max_rank.append(cast(int | None, band[MAX_RANK]))


def _mean(band: Band) -> float:
    """Within both extremes, which a sum of floats may miss by its last figure."""
    low, high = cast(float, band[MIN]), cast(float, band[MAX])
    return min(high, max(low, float(f"{band[SUM] / band[COUNT]:.9g}")))  # type: ignore[operator]


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
