"""Which rounds began because a person killed a runner: they are planned.

A node that lost its runner leaves in one round, where the others can go on without it, and is back in a later
one: both are the doing of whoever killed it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from webapp.fleet.models import Command

from .models import Round

Killed = tuple[datetime, str]
"""When a runner was killed by hand, and on which node."""


def killed_runners(attempts: Iterable[str]) -> dict[str, list[Killed]]:
    found: dict[str, list[Killed]] = defaultdict(list)
    done = Command.objects.filter(kind="kill_runner", attempt__in=list(attempts))
    done = done.exclude(state__in=("refused", "undelivered"))
    for attempt, at, node in done.values_list("attempt", "created_at", "node"):
        found[attempt].append((at, node))
    return found


def planned_rounds(rounds: Mapping[str, Sequence[Round]], killed: Mapping[str, Iterable[Killed]]) -> set[int]:
    """Primary keys, of all these attempts."""
    found: set[int] = set()
    for attempt, told in killed.items():
        numbers = rounds_by_hand(rounds[attempt], told)
        found |= {row.pk for row in rounds[attempt] if row.number in numbers}
    return found


def rounds_by_hand(rounds: Sequence[Round], killed: Iterable[Killed]) -> set[int]:
    """Their numbers. ``rounds`` of one attempt, in order."""
    return {number for at, node in killed for number in _of_one(rounds, at, node)}


def _of_one(rounds: Sequence[Round], at: datetime, node: str) -> list[int]:
    found: list[int] = []
    for before, row in pairwise(rounds):
        if row.formed_at < at:
            continue
        if row.cause == "membership" and (not found or node not in before.nodes):
            found.append(row.number)
        if node in row.nodes:
            break
    return found
