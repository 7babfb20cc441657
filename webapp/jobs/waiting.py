"""A job whose nodes are too few for a round: how many it waits for, and what is known of each. Pure."""

from __future__ import annotations

from .gathering import joined_by
from .situation import JobFacts, MemberFacts, comes_back
from .words import clock, count


def say_waiting(facts: JobFacts) -> str | None:
    """The sentence; None where the coming round has as many nodes as it needs, or gets them by itself."""
    joined = joined_by(facts)
    lacking = facts.min_nodes - len(joined)
    if not joined or lacking < 1 or any(_is_on_its_way(m, facts, joined) for m in facts.members):
        return None
    away = [m for m in facts.members if m.node not in joined and _is_missed(m, facts)]
    told = [_why_away(member) for member in away]
    slots = max((member.slots for member in facts.members), default=1)
    if facts.has_no_room:
        told.append(f"no other node has {count(slots, 'free slot')}")
    coming = (facts.newest.number if facts.newest else 0) + 1
    why = f": {'; '.join(told)}" if told else ""
    return f"Round {coming} waits for {count(lacking, 'more node')}{why}."


def _is_on_its_way(member: MemberFacts, facts: JobFacts, joined: set[str]) -> bool:
    """It will join without anybody's doing: it ends its workers, is being started, or started again."""
    if member.node in joined or member.leaves:
        return False
    if member.has_ended:
        return comes_back(member, facts)
    return not member.is_unheard


def _is_missed(member: MemberFacts, facts: JobFacts) -> bool:
    """It was in the newest round, or is still said to take part."""
    in_newest = facts.newest is not None and member.node in facts.newest.nodes
    return in_newest or not (member.leaves or member.has_ended)


def _why_away(member: MemberFacts) -> str:
    if not member.has_ended and member.is_unheard:
        return f"{member.node} is gone{f' since {clock(member.heard_at)}' if member.heard_at else ''}"
    if member.leaves:
        return f"{member.node} left, {member.leaves_why.rstrip('.')}"
    reason = member.runner.reason.rstrip(".")
    return f"{member.node} is over ({reason})" if reason else f"{member.node} is over"
