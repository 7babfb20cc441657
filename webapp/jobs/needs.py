"""What an attempt needs so that it has the nodes it should have: steps, decided from what is known.

Pure. The same facts give the same steps, and a step that has been taken is in the facts the next time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.wire.lifecycle import Phase

from .situation import (
    JobFacts,
    MemberFacts,
    all_ranks_ended_well,
    comes_back,
    first_lost,
    first_to_break,
    is_finally_over,
    is_gone,
    is_left_behind,
    is_stopped_for_all,
)
from .words import count

AGAIN_S = 30.0
"""So long a node that failed to take part is left alone, unless it was asked to leave."""


@dataclass(frozen=True)
class StartAgain:
    """Another runner on the node whose runner died."""

    node: str


@dataclass(frozen=True)
class Replace:
    """Another node in place of one that is gone. Without room for one, nothing: it may still come back."""

    node: str


@dataclass(frozen=True)
class Add:
    """One node more."""


@dataclass(frozen=True)
class LetGo:
    """The node shall leave the attempt."""

    node: str
    why: str


@dataclass(frozen=True)
class TellToLeave:
    """It leaves now: whoever takes its place is there, or nobody is."""

    node: str


Step = StartAgain | Replace | Add | LetGo | TellToLeave


def decide(facts: JobFacts) -> list[Step]:
    """The steps that are due, in order; none where the attempt is over or comes to its end.

    Whoever trains and is to leave comes last: if a node has just been found for its place, it stays for now.
    """
    if not facts.members or facts.is_fixed or _is_ending(facts):
        return []
    again = [StartAgain(m.node) for m in facts.members if _is_due_again(m, facts)]
    leaving = [m for m in facts.members if m.leaves and not m.has_ended]
    stale = [TellToLeave(m.node) for m in leaving if not trains(m, facts)]
    last = [TellToLeave(m.node) for m in leaving if trains(m, facts) and not _is_awaited(facts)]
    return [*stale, *again, *_grow_or_shrink(facts), *last]


def _is_ending(facts: JobFacts) -> bool:
    if facts.wants_stop or first_to_break(facts) is not None or all_ranks_ended_well(facts):
        return True
    members = facts.members
    return all(is_finally_over(m, facts) for m in members) or any(_has_ended_it(m, facts) for m in members)


def _has_ended_it(member: MemberFacts, facts: JobFacts) -> bool:
    """It came to the end of the attempt, or was told of it: that is the end for the others as well."""
    runner = member.runner
    has_ended = member.has_ended and (runner.outcome == "succeeded" or is_stopped_for_all(member))
    return has_ended and not is_left_behind(member, facts)


def _is_due_again(member: MemberFacts, facts: JobFacts) -> bool:
    return comes_back(member, facts) and member.is_settled and not member.is_unheard


# -- as many as wanted --


def target(facts: JobFacts) -> int:
    """How many nodes the attempt should have. Spares stand by only beyond what a round takes in."""
    return facts.nodes_wanted + (facts.spares if facts.nodes_wanted == facts.max_nodes else 0)


def taking_part(facts: JobFacts) -> list[MemberFacts]:
    """Those that count for the number of nodes: they run, or will again."""
    return [m for m in facts.members if not m.leaves and not is_finally_over(m, facts)]


def _grow_or_shrink(facts: JobFacts) -> list[Step]:
    # An attempt whose store is lost has no place for anybody.
    if facts.is_standalone or first_lost(facts) is not None:
        return []
    members = taking_part(facts)
    surplus = len(members) - target(facts)
    if surplus > 0:
        return [LetGo(member.node, _why_fewer(facts)) for member in _first_to_go(members)[:surplus]]
    replaced: list[Step] = [Replace(m.node) for m in members if is_gone(m, facts)]
    is_finishing = any(m.runner.phase is Phase.FINISHING for m in facts.living)
    return [*replaced, *([] if is_finishing and not replaced else [Add()] * -surplus)]


def _first_to_go(members: Sequence[MemberFacts]) -> list[MemberFacts]:
    """Spares first, then those that came last; the one that keeps the store at the very end."""

    def rank(member: MemberFacts) -> tuple[bool, bool, bool, int]:
        return (member.hosts_store, not member.runner.is_spare, not member.is_unheard, -member.order)

    return sorted(members, key=rank)


def _why_fewer(facts: JobFacts) -> str:
    return facts.scaled_why or f"{count(target(facts), 'node')} are wanted".replace("1 node are", "1 node is")


# -- leaving --


def trains(member: MemberFacts, facts: JobFacts) -> bool:
    """It has a part in the newest round, as far as is known."""
    return facts.newest is not None and member.node in facts.newest.nodes and not member.is_unheard


def _is_awaited(facts: JobFacts) -> bool:
    """Whether somebody who has not met the others yet is to take a place in the round."""
    members = taking_part(facts)
    coming = [m for m in members if not m.has_met and not m.is_unheard and not m.has_ended]
    return bool(coming) and sum(m.has_met for m in members) < facts.nodes_wanted


# -- who may take part once more --


def may_return(member: MemberFacts, now: datetime) -> bool:
    """Whether a node that was in the attempt before may be given a new place in it."""
    if not member.has_ended or not member.is_settled or member.is_out:
        return False
    since = member.runner.since
    was_asked = member.leaves and member.runner.outcome == "stopped"
    return was_asked or since is None or now - since > timedelta(seconds=AGAIN_S)
