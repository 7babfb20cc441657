"""What is known of a job, as its standing and its needs are decided from: plain values and small questions.

Pure. Nothing is inferred from time but silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from agents.wire.lifecycle import Phase, RunnerState
from agents.wire.streams import NOT_HEARD_S
from webapp.fleet.leases import LOST_S

MOST_DEATHS, WITHIN_S = 3, 60.0
"""So many deaths of a node's runners within that time end the attempt."""
ALONE_S = 2 * NOT_HEARD_S
"""Silence after which a node's keep-alive has lapsed too, where the others meet without it."""


@dataclass(frozen=True, kw_only=True)
class MemberFacts:
    node: str
    runner: RunnerState
    """Of the node's newest runner."""
    silence_s: float | None = 0.0
    """None: its node was never heard."""
    is_unheard: bool = False
    heard_at: datetime | None = None
    is_out: bool = False
    """Its node is being drained or has been set aside."""
    order: int = 0
    """Grows with each node that the attempt is given."""
    slots: int = 1
    incarnation: int = 1
    is_settled: bool = False
    """Nothing of its newest runner is left."""
    hosts_store: bool = False
    leaves_at: datetime | None = None
    leaves_why: str = ""
    deaths: tuple[datetime, ...] = ()
    """Of its earlier runners."""

    @property
    def has_ended(self) -> bool:
        return self.runner.phase is Phase.ENDED

    @property
    def leaves(self) -> bool:
        return self.leaves_at is not None

    @property
    def has_met(self) -> bool:
        """Its newest runner has been in a round, or stands by for one."""
        return self.runner.round is not None or self.runner.is_spare

    @property
    def is_again(self) -> bool:
        """A later runner of the node, on its way to its first round."""
        return self.incarnation > 1 and not self.has_ended and not self.has_met

    @property
    def is_lost_from_sight(self) -> bool:
        return self.silence_s is None or self.silence_s >= LOST_S


@dataclass(frozen=True, kw_only=True)
class RoundFacts:
    number: int
    world_size: int
    nodes: tuple[str, ...]
    cause: str
    why: str
    formed_at: datetime


@dataclass(frozen=True, kw_only=True)
class StallFacts:
    round: int
    began_at: datetime
    why: str
    """Who is behind, and how that is known."""
    acted: str = ""
    """What is done about it, as a sentence."""


@dataclass(frozen=True, kw_only=True)
class JobFacts:
    queue_reason: str = ""
    wants_stop: bool = False
    stopped_by: str = ""
    stop_reason: str = ""
    grace_s: float = 30.0
    grace_over_at: datetime | None = None
    """When its nodes send SIGKILL. None: they have not been asked to stop."""
    max_restarts: int = 0
    min_nodes: int = 1
    max_nodes: int = 1
    nodes_wanted: int = 1
    scaled_why: str = ""
    """Who asked for that number of nodes; empty where the spec did."""
    takes_what_is_free: bool = False
    """Nobody named a number of nodes."""
    spares: int = 0
    is_fixed: bool = False
    """Static: its nodes are those of its start, and none is started again."""
    is_standalone: bool = False
    has_no_room: bool = False
    """A node was looked for just now, and no other has room."""
    attempts: int = 0
    """How many are over, where none goes on."""
    members: tuple[MemberFacts, ...] = ()
    rounds: tuple[RoundFacts, ...] = ()
    """The newest last; no more than the newest is needed."""
    next_why: str = ""
    """Why the coming round begins, as far as it is known."""
    last_call_at: datetime | None = None
    """When the nodes in the rendezvous wait no longer for others. None: too few are in, or not known."""
    stall: StallFacts | None = None
    """That has been noticed and is not over."""

    @property
    def newest(self) -> RoundFacts | None:
        return self.rounds[-1] if self.rounds else None

    @property
    def living(self) -> list[MemberFacts]:
        return [member for member in self.members if not member.has_ended]

    @property
    def in_newest(self) -> list[MemberFacts]:
        return [m for m in self.members if self.newest is not None and m.node in self.newest.nodes]


# -- who has come to an end, and what that means ---------------------------------------


def died_too_often(member: MemberFacts) -> bool:
    """Three of its runners have died within a minute: a fourth would, too."""
    at = member.runner.since
    if not (member.has_ended and member.runner.died) or at is None:
        return False
    recent = [death for death in member.deaths if at - death <= timedelta(seconds=WITHIN_S)]
    return len(recent) + 1 >= MOST_DEATHS


def comes_back(member: MemberFacts, facts: JobFacts) -> bool:
    """Its runner died unasked, and another one follows on its node as soon as nothing of it is left."""
    if not (member.has_ended and member.runner.died) or member.runner.outcome == "stopped":
        return False
    if facts.is_fixed or facts.wants_stop or member.leaves or died_too_often(member):
        return False
    return not (member.is_out or member.is_lost_from_sight)


def is_over(facts: JobFacts) -> bool:
    """Nobody runs any more, and nobody will."""
    if facts.living:
        return False
    is_decided = first_to_break(facts) is not None or all_ranks_ended_well(facts)
    return is_decided or not any(comes_back(member, facts) for member in facts.members)


def all_ranks_ended_well(facts: JobFacts) -> bool:
    if facts.newest is None:
        return False
    newest, runners = facts.newest, [member.runner for member in facts.in_newest]
    workers = [worker for runner in runners for worker in runner.workers]
    return (
        len(workers) == newest.world_size
        and all(runner.round == newest.number for runner in runners)
        and all(worker.state == "finished" for worker in workers)
    )


def first_to_break(facts: JobFacts) -> MemberFacts | None:
    """The member whose failure ends the attempt. One whom the others do without takes nobody along."""
    hopeless = next((m for m in facts.members if died_too_often(m)), None)
    return hopeless or first_to_fail([m for m in facts.members if not is_done_without(m, facts)])


def why_end_the_rest(facts: JobFacts) -> str | None:
    """Why those that still run have nothing left to do in the attempt; None while they have."""
    if first_to_break(facts) is not None:
        return "another node of the attempt is over"
    return "the other nodes have finished the job" if late_for_the_end(facts) else None


def late_for_the_end(facts: JobFacts) -> list[str]:
    """Nodes that still want to join a job all of whose ranks have ended well."""
    if not all_ranks_ended_well(facts) or any(not m.has_ended for m in facts.in_newest):
        return []
    return [member.node for member in facts.living]


def is_done_without(member: MemberFacts, facts: JobFacts) -> bool:
    """The others have formed a round without it, or notice that it has gone and will."""
    if is_left_behind(member, facts) or comes_back(member, facts):
        return True
    if facts.is_fixed:
        return False
    was_lost = member.runner.died or (member.incarnation > 1 and not member.has_met)
    return was_lost and any(m is not member and not is_finally_over(m, facts) for m in facts.members)


def is_finally_over(member: MemberFacts, facts: JobFacts) -> bool:
    return member.has_ended and not comes_back(member, facts)


def first_lost(facts: JobFacts) -> MemberFacts | None:
    """Who first ended for infrastructure's reasons. One whom the others went on without tells nothing."""
    lost = [m for m in facts.members if m.has_ended and m.runner.is_infrastructure]
    telling = [m for m in lost if not is_left_behind(m, facts)]
    return min(telling, key=lambda m: m.runner.since.timestamp() if m.runner.since else 0.0, default=None)


def is_stopped_for_all(member: MemberFacts) -> bool:
    """It was not just its node that was told to end."""
    runner = member.runner
    return member.has_ended and runner.outcome == "stopped" and not (runner.has_left or member.leaves)


def is_left_behind(member: MemberFacts, facts: JobFacts) -> bool:
    """The newest round formed without it, after the last one that it knew of."""
    newest = facts.newest
    if newest is None:
        return False
    return member.node not in newest.nodes and (member.runner.round or 0) < newest.number


def first_to_fail(members: Sequence[MemberFacts]) -> MemberFacts | None:
    """The member whose failure is not just another's: the one that had a cause of its own, the earliest."""
    failed = [m for m in members if m.has_ended and m.runner.outcome == "failed"]
    if not failed:
        return None

    def rank(member: MemberFacts) -> tuple[bool, bool, float]:
        has_cause = any(worker.state == "cause" for worker in member.runner.workers)
        followed = "closed" in member.runner.reason or "store" in member.runner.reason
        since = member.runner.since
        return (not has_cause, followed, since.timestamp() if since else 0.0)

    return min(failed, key=rank)


# -- who has gone --------------------------------------------------------------------------


def is_gone(member: MemberFacts, facts: JobFacts) -> bool:
    """Not heard, and the others have met without it, or meet without it now."""
    if member.has_ended or not member.is_unheard:
        return False
    if not member.has_met:
        # A node on its way to its first round is missed by nobody: its machine may just be busy.
        return member.is_lost_from_sight
    if is_left_behind(member, facts):
        return True
    is_silent = member.silence_s is None or member.silence_s >= ALONE_S
    return is_silent and not member.hosts_store and _others_meet_without(member, facts)


def _others_meet_without(member: MemberFacts, facts: JobFacts) -> bool:
    others = [m.runner for m in facts.living if m is not member and not m.is_unheard]
    begun = [runner for runner in others if runner.phase not in (Phase.LAUNCHING, Phase.IDLE)]
    meeting = [runner for runner in begun if runner.phase is Phase.RENDEZVOUS and runner.joined]
    return bool(begun) and begun == meeting and all(member.node not in runner.joined for runner in meeting)
