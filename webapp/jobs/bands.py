"""Values of many ranks and moments as one: how many, their sum, both extremes and whose they are. Pure.

Joining keeps extremes, in whatever order and grouping: what one rank reported once is still there in a year.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

LEVELS_S = (2, 16, 128, 1024)
"""Stretches of time that are kept, each of these lengths, so that any span is read from a few thousand."""
KEPT_SLOTS = 5400
"""So many of an attempt's newest stretches of a length are kept: three hours, a day, eight days of them.
The longest are kept as long as the job."""
LARGEST = 1e100
"""Beyond it, sums could become numbers that JSON and so the database does not have."""

COUNT, SUM, MIN, MAX, MIN_RANK, MAX_RANK = range(6)
Band = list[float | None]
"""By the names above. Of what is no rank's own, the ranks are None."""
Bands = dict[str, Band]


@dataclass
class Stretch:
    """What was reported in one stretch of time."""

    reports: int = 0
    seconds: float = 0.0
    """Over all reports, how long after the beginning they came: their sum."""
    bands: Bands = field(default_factory=dict)


def note(bands: Bands, name: str, value: float, rank: int | None) -> None:
    """One value more. What is no number, or hardly one, is left out."""
    if not -LARGEST < value < LARGEST:
        return
    held = bands.get(name)
    if held is None:
        bands[name] = [1, value, value, value, rank, rank]
        return
    held[COUNT] += 1  # type: ignore[operator]  # only the ranks are ever None
    held[SUM] += value  # type: ignore[operator]
    if value < held[MIN]:  # type: ignore[operator]
        held[MIN], held[MIN_RANK] = value, rank
    if value > held[MAX]:  # type: ignore[operator]
        held[MAX], held[MAX_RANK] = value, rank


def join_band(held: Band, more: Band) -> Band:
    low = more if more[MIN] < held[MIN] else held  # type: ignore[operator]  # only the ranks are ever None
    high = more if more[MAX] > held[MAX] else held  # type: ignore[operator]
    return [
        held[COUNT] + more[COUNT],  # type: ignore[operator]
        held[SUM] + more[SUM],  # type: ignore[operator]
        low[MIN],
        high[MAX],
        low[MIN_RANK],
        high[MAX_RANK],
    ]


def join_bands(held: Bands, more: Bands) -> Bands:
    both = dict(held)
    for name, band in more.items():
        both[name] = join_band(both[name], band) if name in both else band
    return both


def join(held: Stretch, more: Stretch, later_s: float = 0.0) -> Stretch:
    """``later_s``: how long after the beginning of the first the second begins."""
    return Stretch(
        held.reports + more.reports,
        held.seconds + more.seconds + more.reports * later_s,
        join_bands(held.bands, more.bands),
    )


def slot_at(at: datetime, level: int = 0) -> int:
    """Which stretch of that length since the epoch."""
    return int(at.timestamp()) // LEVELS_S[level]


def coarser(slot: int, level: int) -> tuple[int, float]:
    """In which stretch of that length a shortest one lies, and how long after its beginning it begins."""
    per = LEVELS_S[level] // LEVELS_S[0]
    return slot // per, slot % per * LEVELS_S[0]
