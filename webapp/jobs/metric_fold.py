"""Folds what ranks report into bands over ranks, once for each transaction of ingest.

A record counts once, as its number is taken once. Rows are read once and written once, however many records
there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from agents.wire.runner_events import Progress, TorchMetrics

from .bands import LEVELS_S, Bands, Stretch, coarser, join, note, slot_at
from .models import Member, MetricName, MetricSlot

MOST_NAMES = 50
"""Metrics of one job that are kept; of torch's own as many more."""
MOST_REFUSED = 20
"""Names of those beyond that are remembered, so that they can be named."""
LONGEST_NAME = 100
TORCH = "torch:"
"""Begins the names of what torch's elastic agent told itself."""
STEP = "step"


class Key(NamedTuple):
    attempt: str
    round: int
    slot: int


@dataclass
class MetricsBook:
    """Of one transaction. ``write`` once at its end."""

    _told: dict[Key, Stretch] = field(default_factory=lambda: defaultdict(Stretch))
    _jobs: dict[str, int] = field(default_factory=dict)

    def take(self, member: Member, event: Progress) -> None:
        slot = slot_at(event.at)
        told = self._open(member, event.round, slot)
        told.reports += len(event.ranks)
        told.seconds += len(event.ranks) * (event.at.timestamp() - slot * LEVELS_S[0])
        bands = told.bands
        for report in event.ranks:
            note(bands, STEP, report.step, report.rank)
            for name, value in report.metrics.items():
                note(bands, name, value, report.rank)

    def take_torch(self, member: Member, round_number: int | None, event: TorchMetrics) -> None:
        """Already gathered where they were told; before the first round they count for none."""
        more = Stretch(
            bands={
                f"{TORCH}{one.name}": [one.count, one.sum, one.min, one.max, None, None]
                for one in event.metrics
                if one.count > 0
            }
        )
        key = Key(member.attempt_id, round_number or 0, slot_at(event.at))
        self._told[key] = join(self._open(member, key.round, key.slot), more)

    def write(self) -> None:
        if self._told:
            self._keep_known_names()
            levels = range(len(LEVELS_S))
            _add({(level, key): s for level in levels for key, s in _at_level(self._told, level).items()})
        self._told.clear()
        self._jobs.clear()

    def _open(self, member: Member, round_number: int, slot: int) -> Stretch:
        self._jobs[member.attempt_id] = member.attempt.job_id
        return self._told[Key(member.attempt_id, round_number, slot)]

    def _keep_known_names(self) -> None:
        names: dict[int, dict[str, None]] = defaultdict(dict)
        for key, stretch in self._told.items():
            stretch.bands = {_clean(name): band for name, band in stretch.bands.items()}
            names[self._jobs[key.attempt]].update(dict.fromkeys(stretch.bands))
        kept = {job: _kept(job, list(told)) for job, told in names.items()}
        for key, stretch in self._told.items():
            wanted = kept[self._jobs[key.attempt]]
            stretch.bands = {name: band for name, band in stretch.bands.items() if name in wanted}


def _clean(name: str) -> str:
    """As a row has room for it. PostgreSQL takes no NUL."""
    return name.replace("\0", "\ufffd")[:LONGEST_NAME]


def _kept(job: int, names: list[str]) -> set[str]:
    """Those of ``names`` that the job keeps; new ones are noted, and kept while there is room."""
    rows = MetricName.objects.filter(job=job)
    known = dict(rows.filter(name__in=names).values_list("name", "is_kept"))
    fresh = [name for name in names if name not in known]
    if fresh:
        held = list(rows.values_list("name", "is_kept"))
        verdicts = {**dict(held), **admit(fresh, held)}
        added = [
            MetricName(job_id=job, name=name, is_kept=verdicts[name]) for name in fresh if name in verdicts
        ]
        MetricName.objects.bulk_create(added, ignore_conflicts=True)
        known.update({row.name: row.is_kept for row in added})
    return {name for name in names if known.get(name)}


def admit(fresh: Iterable[str], held: Iterable[tuple[str, bool]]) -> dict[str, bool]:
    """Which new names are kept (True), which are only remembered (False); the others are not even that."""
    room = {True: MOST_NAMES, False: MOST_NAMES}
    refused = 0
    for name, is_kept in held:
        room[name.startswith(TORCH)] -= is_kept
        refused += not is_kept
    found: dict[str, bool] = {}
    for name in fresh:
        is_torch = name.startswith(TORCH)
        if room[is_torch] > 0:
            room[is_torch] -= 1
            found[name] = True
        elif refused < MOST_REFUSED:
            refused += 1
            found[name] = False
    return found


def _at_level(told: dict[Key, Stretch], level: int) -> dict[Key, Stretch]:
    found: dict[Key, Stretch] = {}
    for key, stretch in told.items():
        slot, later_s = coarser(key.slot, level)
        wide = key._replace(slot=slot)
        found[wide] = join(found.get(wide, Stretch()), stretch, later_s)
    return found


def _add(told: dict[tuple[int, Key], Stretch]) -> None:
    for which, held in _read(told):
        told[which] = join(held, told[which])
    rows = [
        MetricSlot(
            attempt_id=key.attempt,
            round=key.round,
            level=level,
            slot=key.slot,
            reports=stretch.reports,
            seconds=stretch.seconds,
            bands=_rounded(stretch.bands),
        )
        for (level, key), stretch in sorted(told.items(), key=itemgetter(0))
    ]
    MetricSlot.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["attempt", "level", "slot", "round"],
        update_fields=["reports", "seconds", "bands"],
    )


def _read(told: Iterable[tuple[int, Key]]) -> Iterator[tuple[tuple[int, Key], Stretch]]:
    """What the rows of these stretches hold so far."""
    wanted = set(told)
    attempts, slots = {key.attempt for _, key in wanted}, {key.slot for _, key in wanted}
    rows = MetricSlot.objects.filter(
        attempt__in=attempts, level__in={level for level, _ in wanted}, slot__in=slots
    )
    for level, attempt, round_number, slot, reports, seconds, bands in rows.values_list(
        "level", "attempt", "round", "slot", "reports", "seconds", "bands"
    ):
        which = (level, Key(attempt, round_number, slot))
        if which in wanted:
            yield which, Stretch(reports, seconds, bands)


def _rounded(bands: Bands) -> Bands:
    """Sums need no more figures than tell a mean."""
    return {
        name: [count, float(f"{total:.12g}"), *extremes] for name, (count, total, *extremes) in bands.items()
    }
