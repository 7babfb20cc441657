"""Where the time of a recovery went: phases between recorded moments. Pure.

No phase is made of what is left: each has two moments of its own, and where one of them was not reported it
is told as not reported. For a round each moment is that of the last node or rank to come past it, so that
phases follow each other without overlap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any, cast, get_args

from .timeline_schemas import PhaseOut, RecoveryPhase

PHASES: tuple[RecoveryPhase, ...] = get_args(RecoveryPhase)
ENDS: dict[RecoveryPhase, str] = {
    "detect": "noticed",
    "stop": "down",
    "joining": "joined",
    "last_call": "formed",
    "start": "started",
    "script": "group_begun",
    "process_group": "group_up",
    "checkpoint": "checkpoint_loaded",
    "first_step": "first_step",
    "pace": "pace_regained",
}
BEGINS: dict[RecoveryPhase, tuple[str, ...]] = {
    "detect": ("fault",),
    "stop": ("noticed",),
    "joining": ("begun", "came"),
    "last_call": ("joined",),
    "start": ("starting",),
    "script": ("started",),
    "process_group": ("group_begun",),
    "checkpoint": ("group_up",),
    "first_step": ("checkpoint_loaded", "group_up"),
    "pace": ("first_step",),
}
"""The moment that a phase begins with: the first of these that was reported."""
OF_RECOVERY = PHASES[:-1]
"""A job is back with its first step; its pace is told beside that."""


@dataclass(frozen=True)
class Moment:
    at: datetime
    node: str = ""
    rank: int | None = None
    n: int = 1
    """How many came past it."""


Moments = Mapping[str, Moment]


def read_moments(told: Mapping[str, Any]) -> dict[str, Moment]:
    """As ``Round.moments`` holds them."""
    return {
        name: Moment(datetime.fromisoformat(each["at"]), each["node"], each["rank"], each["n"])
        for name, each in told.items()
    }


def phases(moments: Moments) -> list[PhaseOut]:
    """All of them in order, also those that were not reported."""
    return [_phase(name, moments) for name in PHASES]


def _phase(name: RecoveryPhase, moments: Moments) -> PhaseOut:
    begin = next((moments[each] for each in BEGINS[name] if each in moments), None)
    end = moments.get(ENDS[name])
    if begin is None or end is None or end.at < begin.at:
        return PhaseOut(name=name, start=None, seconds=None, critical_node=None, critical_rank=None)
    is_one_of_many = end.n > 1
    return PhaseOut(
        name=name,
        start=begin.at,
        seconds=round((end.at - begin.at).total_seconds(), 6),
        critical_node=end.node if is_one_of_many else None,
        critical_rank=end.rank if is_one_of_many else None,
    )


def recovery_s(moments: Moments) -> float | None:
    """From the first moment that is known to the first step of the last rank."""
    begin = next((moments[each] for name in PHASES for each in BEGINS[name] if each in moments), None)
    end = moments.get("first_step")
    if begin is None or end is None:
        return None
    return round((end.at - begin.at).total_seconds(), 6)


def unaccounted_s(moments: Moments) -> float | None:
    """What of a recovery lies in none of its phases."""
    whole = recovery_s(moments)
    if whole is None:
        return None
    told = (phase.seconds for phase in phases(moments) if phase.name in OF_RECOVERY)
    return round(whole - sum(seconds for seconds in told if seconds is not None), 6)


def typical(recoveries: Iterable[Moments]) -> dict[RecoveryPhase, float]:
    """The median of each phase that was reported at all."""
    found: dict[RecoveryPhase, list[float]] = defaultdict(list)
    for moments in recoveries:
        for phase in phases(moments):
            if phase.seconds is not None:
                found[phase.name].append(phase.seconds)
    return {name: round(median(found[name]), 6) for name in PHASES if found[name]}


def moments_of(node: str, of_node: Mapping[str, str]) -> dict[str, Moment]:
    """Those of one node alone."""
    return {name: Moment(datetime.fromisoformat(at), node) for name, at in of_node.items()}


def moments_of_ranks(
    node: str, of_node: Mapping[str, str], of_ranks: Mapping[str, Mapping[str, str]]
) -> dict[int, dict[str, Moment]]:
    """Of each rank of a node: its own, and the start of its processes, with which its way begins."""
    started = {name: each for name, each in moments_of(node, of_node).items() if name == "started"}
    found: dict[int, dict[str, Moment]] = defaultdict(lambda: dict(started))
    for name, by_rank in of_ranks.items():
        for rank, at in by_rank.items():
            found[int(rank)][name] = Moment(datetime.fromisoformat(at), node, int(rank))
    return dict(sorted(found.items()))


def told_phases(moments: Moments, *, of_rank: bool) -> list[PhaseOut]:
    """For one row of a waterfall: the phases that are a matter of ranks, or those that are not."""
    return [phase for phase in phases(moments) if (phase.name in OF_RANKS) == of_rank]


OF_RANKS = cast(
    frozenset[RecoveryPhase],
    frozenset({"script", "process_group", "checkpoint", "first_step", "pace"}),
)
