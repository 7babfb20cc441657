"""Where a job stands: one state word and one true sentence, from what its members last said.

Pure. Nothing is inferred from time but silence, and no sentence holds an age that would go stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from agents.wire.lifecycle import JobState, Phase, RunnerState
from webapp.fleet.leases import LOST_S

from .words import clock, count, listed


@dataclass(frozen=True, kw_only=True)
class MemberFacts:
    node: str
    runner: RunnerState
    silence_s: float | None = 0.0
    """None: its node was never heard."""
    is_unheard: bool = False

    @property
    def has_ended(self) -> bool:
        return self.runner.phase is Phase.ENDED


@dataclass(frozen=True, kw_only=True)
class RoundFacts:
    number: int
    world_size: int
    nodes: tuple[str, ...]
    cause: str
    why: str
    formed_at: datetime


@dataclass(frozen=True, kw_only=True)
class JobFacts:
    queue_reason: str = ""
    wants_stop: bool = False
    stopped_by: str = ""
    stop_reason: str = ""
    grace_s: float = 30.0
    max_restarts: int = 0
    min_nodes: int = 1
    members: tuple[MemberFacts, ...] = ()
    rounds: tuple[RoundFacts, ...] = ()
    """The newest last; no more than the newest is needed."""
    next_why: str = ""
    """Why the coming round begins, as far as it is known."""


@dataclass(frozen=True)
class Standing:
    state: JobState
    reason: str


def stand(facts: JobFacts) -> Standing:
    """The state of the job and the sentence that explains it."""
    if not facts.members:
        if facts.wants_stop:
            return Standing(JobState.STOPPED, _stopped(facts, "It had not been started."))
        return Standing(
            JobState.QUEUED, facts.queue_reason or "Queued: Regroup looks for nodes with free slots."
        )
    if all(member.has_ended for member in facts.members):
        return _over(facts)
    if facts.wants_stop:
        return Standing(JobState.STOPPING, _stopping(facts))
    if late := _late_for_the_end(facts):
        return Standing(
            JobState.FINISHING,
            f"All ranks ended with exit status 0; {listed(late)}, too late to join, is ended.",
        )
    if (broken := first_to_break(facts)) is not None:
        others = listed(m.node for m in facts.members if not m.has_ended)
        return Standing(
            JobState.STOPPING, f"{broken.runner.reason} Its workers on {others} are being stopped."
        )
    if (silent := _all_silent(facts.members)) is not None:
        return silent
    standing = _alive(facts)
    return Standing(standing.state, standing.reason + _unheard(facts.members) + _left_behind(facts))


# -- over --------------------------------------------------------------------------------


def _over(facts: JobFacts) -> Standing:
    if _all_ranks_ended_well(facts):
        done = facts.rounds[-1]
        rounds = f" after {count(done.number, 'round')}" if done.number > 1 else ""
        return Standing(
            JobState.SUCCEEDED, f"All {count(done.world_size, 'rank')} ended with exit status 0{rounds}."
        )
    if facts.wants_stop:
        return Standing(JobState.STOPPED, _stopped(facts))
    broken = _first_to_fail(facts.members)
    if broken is not None:
        return Standing(JobState.FAILED, broken.runner.reason)
    stopped = [m for m in facts.members if m.runner.outcome == "stopped"]
    if stopped:
        nodes = listed(m.node for m in stopped)
        return Standing(
            JobState.FAILED, f"The runner on {nodes} was told to stop by something other than Regroup."
        )
    reasons = [m.runner.reason for m in facts.members if m.runner.reason]
    return Standing(JobState.LOST, reasons[0] if reasons else "How the job ended is not known.")


def _all_ranks_ended_well(facts: JobFacts) -> bool:
    if not facts.rounds:
        return False
    newest = facts.rounds[-1]
    taking_part = [m.runner for m in facts.members if m.node in newest.nodes]
    workers = [worker for runner in taking_part for worker in runner.workers]
    return (
        len(workers) == newest.world_size
        and all(runner.round == newest.number for runner in taking_part)
        and all(worker.state == "finished" for worker in workers)
    )


def first_to_break(facts: JobFacts) -> MemberFacts | None:
    """The member whose failure ends the attempt. One whom the others do without takes nobody along."""
    return _first_to_fail([m for m in facts.members if not _is_done_without(m, facts)])


def why_end_the_rest(facts: JobFacts) -> str | None:
    """Why those that still run have nothing left to do in the attempt; None while they have."""
    if first_to_break(facts) is not None:
        return "another node of the attempt is over"
    return "the other nodes have finished the job" if _late_for_the_end(facts) else None


def _late_for_the_end(facts: JobFacts) -> list[str]:
    """Nodes that still want to join a job all of whose ranks have ended well."""
    if not _all_ranks_ended_well(facts):
        return []
    newest = facts.rounds[-1]
    if any(not m.has_ended for m in facts.members if m.node in newest.nodes):
        return []
    return [m.node for m in facts.members if not m.has_ended]


def _is_done_without(member: MemberFacts, facts: JobFacts) -> bool:
    """They have formed a round without it, or are enough to do so: its runner died, which they notice."""
    if _is_left_behind(member, facts):
        return True
    living = [m for m in facts.members if not m.has_ended]
    return bool(facts.rounds) and member.runner.died and len(living) >= facts.min_nodes


def _is_left_behind(member: MemberFacts, facts: JobFacts) -> bool:
    """The newest round formed without it, after the last one that it knew of."""
    if not facts.rounds:
        return False
    newest = facts.rounds[-1]
    return member.node not in newest.nodes and (member.runner.round or 0) < newest.number


def _first_to_fail(members: Sequence[MemberFacts]) -> MemberFacts | None:
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


def _stopped(facts: JobFacts, end: str = "") -> str:
    by = f" by {facts.stopped_by}" if facts.stopped_by else ""
    why = f": {facts.stop_reason.rstrip('.')}" if facts.stop_reason else ""
    return f"Stopped{by}{why}. {end}".strip()


def _stopping(facts: JobFacts) -> str:
    by = f" by {facts.stopped_by}" if facts.stopped_by else ""
    left = listed(m.node for m in facts.members if not m.has_ended)
    return (
        f"Being stopped{by}: the workers on {left} got SIGTERM and have {facts.grace_s:g} s "
        "before they are killed."
    )


# -- silent ------------------------------------------------------------------------------


def _all_silent(members: Sequence[MemberFacts]) -> Standing | None:
    living = [m for m in members if not m.has_ended]
    if any(m.silence_s is not None and m.silence_s < LOST_S for m in living):
        return None
    nodes = listed(m.node for m in living)
    return Standing(
        JobState.UNKNOWN,
        f"Nothing has been heard of {nodes}, so that it is not known whether the job runs. "
        "Training may well go on: look at the node agents and the network.",
    )


def _unheard(members: Sequence[MemberFacts]) -> str:
    silent = [m.node for m in members if m.is_unheard and not m.has_ended]
    if not silent:
        return ""
    verb = "is" if len(silent) == 1 else "are"
    return f" {listed(silent)} {verb} not heard; nothing is done to the job for that."


def _left_behind(facts: JobFacts) -> str:
    lost = [m for m in facts.members if m.runner.outcome == "failed"]
    behind = [m for m in lost if _is_left_behind(m, facts)]
    dead = [m for m in lost if m not in behind and _is_done_without(m, facts)]
    return "".join(
        [f" {m.node} was left behind and is over: {m.runner.reason}" for m in behind]
        + [f" {m.runner.reason} The others form a round without {m.node}." for m in dead]
    )


# -- alive -------------------------------------------------------------------------------


def _alive(facts: JobFacts) -> Standing:
    living = [m for m in facts.members if not m.has_ended]
    phases = {m.runner.phase for m in living}
    if (dying := _dying(facts, living)) is not None:
        return dying
    if _is_restarting(facts, living):
        return Standing(JobState.RESTARTING, _restarting(facts, living))
    if not facts.rounds:
        return _before_the_first_round(facts, living)
    newest = facts.rounds[-1]
    behind = [m.node for m in living if m.node in newest.nodes and m.runner.round != newest.number]
    if behind:
        where = f"round {newest.number} is formed; {listed(behind)} has not reported it yet."
        return Standing(JobState.FORMING, f"Rendezvous: {where}")
    if phases & {Phase.FORMED, Phase.STARTING}:
        return Standing(JobState.STARTING, f"Round {newest.number}: {_ranks(newest)} are being started.")
    done = [m.node for m in living if m.runner.phase is Phase.FINISHING]
    if done:
        return _finishing(facts, done)
    return _up(facts, living, newest)


def _dying(facts: JobFacts, living: Sequence[MemberFacts]) -> Standing | None:
    """A worker of the newest round has failed, and no runner has come to what follows from that."""
    if not facts.rounds or any(m.runner.phase is not Phase.UP for m in living):
        return None
    newest = facts.rounds[-1].number
    hit = [
        m
        for m in living
        if m.runner.round == newest and any(w.state in ("cause", "peer_lost") for w in m.runner.workers)
    ]
    if not hit:
        return None
    why = f"{facts.next_why.rstrip('.')}. " if facts.next_why else ""
    caused = [m for m in hit if any(w.state == "cause" for w in m.runner.workers)]
    is_spent = any(m.runner.charged >= facts.max_restarts for m in caused)
    state = JobState.STOPPING if is_spent else JobState.RESTARTING
    return Standing(state, f"{why}What is left of round {newest} is being ended.")


def _is_restarting(facts: JobFacts, living: Sequence[MemberFacts]) -> bool:
    """Somebody has left the newest round behind, and the round after it has not formed."""
    if not facts.rounds:
        return False
    newest = facts.rounds[-1].number
    leaving = (Phase.RESTARTING, Phase.RENDEZVOUS)
    return any(m.runner.phase in leaving and (m.runner.round or 0) >= newest for m in living)


def _restarting(facts: JobFacts, living: Sequence[MemberFacts]) -> str:
    joining = [m for m in living if m.runner.phase is Phase.RENDEZVOUS]
    coming = facts.rounds[-1].number + 1
    why = f"{facts.next_why.rstrip('.')}. " if facts.next_why else ""
    if not joining:
        return f"{why}The workers of round {coming - 1} are being stopped; round {coming} follows."
    missing = [m.node for m in living if m not in joining]
    tail = f"; {listed(missing)} has not set out yet." if missing else "."
    return f"{why}Rendezvous round {coming}: {len(joining)} of {count(len(living), 'node')} on the way{tail}"


def _before_the_first_round(facts: JobFacts, living: Sequence[MemberFacts]) -> Standing:
    launching = [m.node for m in living if m.runner.phase is Phase.LAUNCHING]
    joined = {node for m in living for node in m.runner.joined}
    missing = [m.node for m in living if m.node not in joined]
    if len(launching) == len(living):
        return Standing(JobState.WAITING, f"Waiting for {listed(launching)} to start.")
    if missing:
        met = f"{len(joined)} of {count(len(living), 'node')} joined"
        return Standing(JobState.WAITING, f"Rendezvous round 1: {met}, {listed(missing)} still to come.")
    return Standing(
        JobState.FORMING,
        f"Rendezvous round 1: all {count(len(living), 'node')} joined; ranks are being given.",
    )


def _finishing(facts: JobFacts, done: Sequence[str]) -> Standing:
    others = [m.node for m in facts.members if not m.has_ended and m.node not in done]
    if not others:
        return Standing(JobState.FINISHING, "All workers ended with exit status 0; the nodes are leaving.")
    return Standing(
        JobState.FINISHING, f"The workers on {listed(done)} are done; {listed(others)} has not finished yet."
    )


def _up(facts: JobFacts, living: Sequence[MemberFacts], newest: RoundFacts) -> Standing:
    sentence = f"Round {newest.number} since {clock(newest.formed_at)}: {_ranks(newest)}."
    if newest.number > 1:
        sentence = (
            f"Round {newest.number} since {clock(newest.formed_at)}. {_came_back(facts, living, newest)}"
        )
    if any(m.runner.reports_progress for m in living):
        return Standing(JobState.TRAINING, sentence)
    return Standing(JobState.RUNNING, f"{sentence} No progress has been reported in this round.")


def _came_back(facts: JobFacts, living: Sequence[MemberFacts], newest: RoundFacts) -> str:
    why = newest.why.rstrip(".") or "Why it began is not known"
    back = f"all {count(newest.world_size, 'rank')} {'is' if newest.world_size == 1 else 'are'} back"
    steps = [m.runner.resumed_step for m in living if m.runner.resumed_step is not None]
    resumed = f" and resumed from step {min(steps):,}" if steps else ""
    return f"{why}; {back}{resumed}."


def _ranks(newest: RoundFacts) -> str:
    return f"{count(newest.world_size, 'rank')} on {count(len(newest.nodes), 'node')}"
