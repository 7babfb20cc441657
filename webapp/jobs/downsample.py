"""Which stretches a question about metrics is answered from, and few points of many stretches. Pure.

Joining stretches keeps extremes, so that a spike of one rank in one report is seen at any zoom.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from .bands import COUNT, KEPT_SLOTS, LEVELS_S, SUM, Stretch, join
from .metric_fold import STEP

RATE = "rate"
"""Steps per second, where the job reports none of that name itself."""
LEAST_S = 0.5
"""Two stretches whose reports came closer together tell no rate."""


class Run(NamedTuple):
    """One round of one attempt: what a line is drawn through."""

    attempt: int
    round: int


@dataclass(frozen=True)
class Spell:
    """A stretch of one run, and when it was: seconds since the epoch."""

    run: Run
    begin_s: float
    width_s: int
    told: Stretch

    @property
    def at_s(self) -> float:
        """When its reports came, on the average."""
        told = self.told
        return self.begin_s + (told.seconds / told.reports if told.reports else self.width_s / 2)


class Part(NamedTuple):
    """Rows to read: of one length, from one stretch up to another, without it."""

    level: int
    first: int
    after: int


@dataclass(frozen=True)
class Plan:
    width_s: int
    """How far apart points are at least."""
    level: int


def plan(begin_s: float, end_s: float, points: int) -> Plan:
    """The longest kept stretches of which each point has one at least."""
    wanted_s = max(LEVELS_S[0], (end_s - begin_s) / points)
    level = max(number for number, length_s in enumerate(LEVELS_S) if length_s <= wanted_s)
    length_s = LEVELS_S[level]
    return Plan(width_s=-int(-wanted_s // length_s) * length_s, level=level)


def parts(level: int, begin_s: float, end_s: float, newest_s: float) -> list[Part]:
    """Rows of that length as far back as they are kept, then of the next, each moment once."""
    found, until_s = [], end_s
    for number in range(level, len(LEVELS_S)):
        length_s = LEVELS_S[number]
        from_s = max(begin_s, kept_from_s(number, newest_s))
        if from_s < until_s:
            found.append(Part(number, int(from_s // length_s), -int(-until_s // length_s)))
        until_s = min(until_s, from_s)
        if until_s <= begin_s:
            break
    return found


def kept_from_s(level: int, newest_s: float) -> float:
    """From when on stretches of that length are kept, of an attempt whose newest report is that old."""
    if level == len(LEVELS_S) - 1:
        return 0.0
    first, next_s = int(newest_s // LEVELS_S[level]) - KEPT_SLOTS, LEVELS_S[level + 1]
    # As those of the next length begin, so that none is read in both.
    return max(0.0, float(-(-first * LEVELS_S[level] // next_s) * next_s))


def with_rates(spells: Iterable[Spell]) -> list[Spell]:
    """The same, in order of time, each with the rate since the one before it in its run."""
    ordered = sorted(spells, key=lambda spell: (spell.run, spell.begin_s))
    before: Spell | None = None
    for spell in ordered:
        if STEP not in spell.told.bands:
            continue
        if before is None or before.run != spell.run:
            before = spell
            continue
        passed_s, done = spell.at_s - before.at_s, _mean_step(spell) - _mean_step(before)
        if passed_s < LEAST_S:
            continue
        if done >= 0:
            rate = done / passed_s
            # Weighed by the time it held, so that joining gives the mean over time.
            spell.told.bands.setdefault(RATE, [passed_s, done, rate, rate, None, None])
        before = spell
    return ordered


def _mean_step(spell: Spell) -> float:
    band = spell.told.bands[STEP]
    return band[SUM] / band[COUNT]  # type: ignore[operator]  # only the ranks are ever None


def downsample(spells: Iterable[Spell], width_s: int) -> list[Spell]:
    """One for each ``width_s`` of each run, at the same moments whatever the question's range is."""
    found: dict[tuple[Run, int], Spell] = {}
    for spell in spells:
        number = int(spell.begin_s // width_s)
        begin_s = float(number * width_s)
        held = found.get((spell.run, number))
        told = join(held.told if held else Stretch(), spell.told, spell.begin_s - begin_s)
        found[spell.run, number] = Spell(spell.run, begin_s, width_s, told)
    return sorted(found.values(), key=lambda spell: (spell.run, spell.begin_s))
