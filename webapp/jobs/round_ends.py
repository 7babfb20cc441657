"""How the workers of each round ended, from a few queries however many ranks and rounds there are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db.models import Q, QuerySet

from .models import Round, Worker

MOST_RANKS = 5000
"""So many ranks are read whole, those of the newest rounds first."""
Key = tuple[str, int]
"""A round: its attempt's id and its number."""


class RoundEnds:
    def __init__(self, rounds: Sequence[Round]) -> None:
        """``rounds`` whose ends are asked for."""
        newest = _newest(rounds)
        self._whole = _by_round(_of_rounds(newest), newest)
        attempts = {row.attempt_id for row in rounds}
        self._causes = _by_round(Worker.objects.filter(attempt_id__in=attempts, role="cause"))

    def whole(self, key: Key) -> list[Worker] | None:
        """All that have ended, by rank. None: there are too many in newer rounds."""
        return self._whole.get(key)

    def telling(self, key: Key) -> list[Worker]:
        """Those among whom the first cause is, if any is known."""
        found = self._whole.get(key) or self._causes.get(key)
        return found if found is not None else list(_of_rounds([key]).order_by("ended_at", "rank"))


def _newest(rounds: Sequence[Round]) -> list[Key]:
    room, found = MOST_RANKS, []
    for row in sorted(rounds, key=lambda row: row.formed_at, reverse=True):
        room -= row.world_size
        if room < 0:
            break
        found.append((row.attempt_id, row.number))
    return found


def _of_rounds(keys: Iterable[Key]) -> QuerySet[Worker]:
    numbers: dict[str, list[int]] = defaultdict(list)
    for attempt, number in keys:
        numbers[attempt].append(number)
    chosen = Q(pk__in=[])
    for attempt, those in numbers.items():
        chosen |= Q(attempt_id=attempt, round__in=those)
    return Worker.objects.filter(chosen)


def _by_round(workers: QuerySet[Worker], keys: Iterable[Key] = ()) -> dict[Key, list[Worker]]:
    """Those that have ended; an empty list for each of ``keys`` of which none has."""
    found: dict[Key, list[Worker]] = {key: [] for key in keys}
    ended = workers.exclude(ended_at=None).defer("said")
    for worker in ended.order_by("attempt_id", "round", "rank"):
        found.setdefault((worker.attempt_id, worker.round), []).append(worker)
    return found
