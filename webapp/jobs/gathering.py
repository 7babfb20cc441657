"""A round that gathers its nodes: how many are in, who is still to come, and until when they wait. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from agents.wire.lifecycle import Phase

from .situation import JobFacts, MemberFacts
from .words import clock, count, listed


def say_gathering(facts: JobFacts, number: int) -> str | None:
    """The sentence about that coming round. None: nobody is in the rendezvous yet, or all are."""
    awaited = [m for m in facts.living if not (m.leaves or m.runner.is_spare)]
    inside = joined_by(facts)
    missing = [m for m in awaited if m.node not in inside]
    if not inside or not missing:
        return None
    joined = f"{len(awaited) - len(missing)} of {count(len(awaited), 'node')} joined"
    return f"Rendezvous round {number}: {joined}, {_say_missing(missing)}{_goes_without(facts, missing)}."


def joined_by(facts: JobFacts) -> set[str]:
    """Those who are in the rendezvous, as the ones in it see it."""
    inside = [m.runner for m in facts.living if m.runner.phase is Phase.RENDEZVOUS and not m.is_unheard]
    return {node for runner in inside for node in runner.joined}


def _say_missing(missing: Sequence[MemberFacts]) -> str:
    coming = [m.node for m in missing if not m.is_unheard]
    told = [f"{listed(coming)} still to come"] if coming else []
    return ", ".join(told + [_last_heard(m) for m in missing if m.is_unheard])


def _last_heard(member: MemberFacts) -> str:
    at = f"last heard at {clock(member.heard_at)}" if member.heard_at else "never heard"
    return f"{member.node} {at}"


def _goes_without(facts: JobFacts, missing: Sequence[MemberFacts]) -> str:
    if facts.last_call_at is None:
        return ""
    them = "it" if len(missing) == 1 else "them"
    return (
        f"; min_nodes is {facts.min_nodes}, so it forms without {them} at {clock(facts.last_call_at)} "
        "at the latest"
    )
