"""Where a job stands: one state word and one true sentence, from what its members last said.

Pure. Nothing is inferred from time but silence, and no sentence holds an age that would go stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.wire.lifecycle import JobState, Phase

from .gathering import say_gathering
from .situation import (
    JobFacts,
    MemberFacts,
    RoundFacts,
    StallFacts,
    all_ranks_ended_well,
    comes_back,
    died_too_often,
    first_to_break,
    first_to_fail,
    is_done_without,
    is_finally_over,
    is_left_behind,
    is_over,
    late_for_the_end,
)
from .waiting import say_waiting
from .words import are, clock, count, listed


@dataclass(frozen=True)
class Standing:
    state: JobState
    reason: str


def stand(facts: JobFacts) -> Standing:
    """The state of the job and the sentence that explains it."""
    if not facts.members:
        if facts.wants_stop:
            what = f"Attempt {facts.attempts + 1}" if facts.attempts else "It"
            return Standing(JobState.STOPPED, _stopped(facts, f"{what} had not been started."))
        return Standing(
            JobState.QUEUED, facts.queue_reason or "Queued: Regroup looks for nodes with free slots."
        )
    if is_over(facts):
        return _over(facts)
    if facts.wants_stop:
        return Standing(JobState.STOPPING, _stopping(facts))
    if late := late_for_the_end(facts):
        return Standing(
            JobState.FINISHING,
            f"All ranks ended with exit status 0; {listed(late)}, too late to join, is ended.",
        )
    if (broken := first_to_break(facts)) is not None:
        others = listed(m.node for m in facts.living)
        return Standing(JobState.STOPPING, f"{why_broken(broken)} Its workers on {others} are being stopped.")
    if (silent := _all_silent(facts)) is not None:
        return silent
    standing = _alive(facts)
    return Standing(standing.state, standing.reason + _beside(facts))


def why_broken(member: MemberFacts) -> str:
    """Why the attempt ends with that member."""
    if not died_too_often(member):
        return member.runner.reason
    return (
        f"The runner on {member.node} died three times within a minute, so that it is not started again. "
        f"{member.runner.reason}"
    )


# -- over --------------------------------------------------------------------------------


def _over(facts: JobFacts) -> Standing:
    if all_ranks_ended_well(facts):
        done = facts.rounds[-1]
        rounds = f" after {count(done.number, 'round')}" if done.number > 1 else ""
        return Standing(
            JobState.SUCCEEDED, f"All {count(done.world_size, 'rank')} ended with exit status 0{rounds}."
        )
    if facts.wants_stop:
        return Standing(JobState.STOPPED, _stopped(facts))
    broken = first_to_break(facts) or first_to_fail(facts.members)
    if broken is not None:
        return Standing(JobState.FAILED, why_broken(broken))
    return _nobody_left(facts)


def _nobody_left(facts: JobFacts) -> Standing:
    """All have left or were told to stop, and none of them failed."""
    stopped = [m for m in facts.members if m.runner.outcome == "stopped"]
    unasked = [m for m in stopped if not m.leaves]
    if unasked:
        nodes = listed(m.node for m in unasked)
        return Standing(
            JobState.FAILED, f"The runner on {nodes} was told to stop by something other than Regroup."
        )
    if stopped:
        last = max(stopped, key=lambda m: m.runner.since.timestamp() if m.runner.since else 0.0)
        return Standing(JobState.STOPPED, f"The last node, {last.node}, has left: {_why_left(last)}.")
    reasons = [m.runner.reason for m in facts.members if m.runner.reason]
    return Standing(JobState.LOST, reasons[0] if reasons else "How the job ended is not known.")


def _why_left(member: MemberFacts) -> str:
    return member.leaves_why.rstrip(".") or "it was asked to"


def _stopped(facts: JobFacts, end: str = "") -> str:
    by = f" by {facts.stopped_by}" if facts.stopped_by else ""
    why = f": {facts.stop_reason.rstrip('.')}" if facts.stop_reason else ""
    return f"Stopped{by}{why}. {end}".strip()


def _stopping(facts: JobFacts) -> str:
    by = f" by {facts.stopped_by}" if facts.stopped_by else ""
    # What nobody asked for has to be explained while it happens.
    why = "" if by or not facts.stop_reason else f", as {facts.stop_reason.rstrip('.')}"
    left = listed(m.node for m in facts.members if not m.has_ended)
    begin = f"Being stopped{by}{why}: the workers on {left}"
    if facts.grace_s <= 0:
        return f"{begin} are being killed (SIGKILL) without any grace."
    told = f"{begin} got SIGTERM and have"
    if facts.grace_over_at is None:
        return f"{told} {facts.grace_s:g} s before they are killed."
    return f"{told} until {clock(facts.grace_over_at)}; then they are killed (SIGKILL)."


# -- silent ------------------------------------------------------------------------------


def _all_silent(facts: JobFacts) -> Standing | None:
    living = facts.living
    if not living or any(not m.is_lost_from_sight for m in living):
        return None
    nodes = listed(m.node for m in living)
    return Standing(
        JobState.UNKNOWN,
        f"Nothing has been heard of {nodes}, so that it is not known whether the job runs. "
        "Training may well go on: look at the node agents and the network.",
    )


# -- what stands beside the sentence -------------------------------------------------------


def _beside(facts: JobFacts) -> str:
    """What else there is to know of single nodes, a sentence each."""
    told = [_unheard(facts), _again(facts), _left_behind(facts), _coming(facts), _leaving(facts)]
    return "".join(f" {sentence}" for sentence in told if sentence)


def _unheard(facts: JobFacts) -> str:
    silent = [m.node for m in facts.living if m.is_unheard and not m.leaves]
    return f"{are(silent)} not heard; nothing is done to the job for that." if silent else ""


def _again(facts: JobFacts) -> str:
    died = [f"{m.runner.reason} It is being started again." for m in facts.members if comes_back(m, facts)]
    launched = [m.node for m in facts.members if m.is_again]
    again = [f"The runner on {listed(launched)} is being started again."] if launched else []
    return " ".join(died + again)


def _left_behind(facts: JobFacts) -> str:
    lost = [m for m in facts.members if m.runner.outcome == "failed" and is_finally_over(m, facts)]
    behind = [m for m in lost if is_left_behind(m, facts) and not m.leaves]
    dead = [m for m in lost if not is_left_behind(m, facts) and is_done_without(m, facts)]
    return " ".join(
        [_say_behind(m) for m in behind]
        + [f"{m.runner.reason} The others form a round without {m.node}." for m in dead]
    )


def _say_behind(member: MemberFacts) -> str:
    if member.has_met or member.incarnation > 1:
        return f"{member.node} was left behind and is over: {member.runner.reason}"
    return f"{member.node} could not join: {member.runner.reason}"


def _coming(facts: JobFacts) -> str:
    """Nodes that stand by, or that are new to an attempt that has formed a round."""
    spares = [m.node for m in facts.living if m.runner.is_spare and not m.leaves]
    new = [m.node for m in facts.living if _is_new(m, facts)]
    by = "stands by as a spare" if len(spares) == 1 else "stand by as spares"
    told = [f"{listed(spares)} {by}."] if spares else []
    return " ".join(told + ([f"{are(new)} being started, to join."] if new else []))


def _is_new(member: MemberFacts, facts: JobFacts) -> bool:
    has_missed_it = facts.newest is not None and not member.has_met and member.incarnation == 1
    return has_missed_it and not member.leaves and member.runner.phase in (Phase.LAUNCHING, Phase.IDLE)


def _leaving(facts: JobFacts) -> str:
    going = [m for m in facts.living if m.leaves and not m.is_unheard]
    gone = [m for m in facts.living if m.leaves and m.is_unheard]
    return " ".join(
        [f"{m.node} is leaving: {_why_left(m)}." for m in going]
        + [f"{m.node} is gone{_since(m)}, and {_why_left(m)}." for m in gone]
    )


def _since(member: MemberFacts) -> str:
    return f" since {clock(member.heard_at)}" if member.heard_at else ""


# -- alive -------------------------------------------------------------------------------


def _alive(facts: JobFacts) -> Standing:
    living = facts.living
    if (early := _before_all_is_up(facts, living)) is not None:
        return early
    newest = facts.rounds[-1]
    behind = [m.node for m in living if _has_not_reported(m, newest)]
    if behind:
        where = f"round {newest.number} is formed; {listed(behind)} has not reported it yet."
        return Standing(JobState.FORMING, f"Rendezvous: {where}")
    training = [m for m in living if m.runner.round == newest.number]
    if {m.runner.phase for m in training} & {Phase.FORMED, Phase.STARTING}:
        return Standing(JobState.STARTING, f"Round {newest.number}: {_ranks(newest)} are being started.")
    if (torn := _torn(facts, newest)) is not None:
        return torn
    done = [m.node for m in training if m.runner.phase is Phase.FINISHING]
    if done:
        return _finishing(facts, done)
    if facts.stall is not None and facts.stall.round == newest.number:
        return _stalled(facts.stall)
    return _up(training, newest)


def _before_all_is_up(facts: JobFacts, living: Sequence[MemberFacts]) -> Standing | None:
    """Where no round stands, or the newest one is being left."""
    if not living:
        return Standing(JobState.RESTARTING, "No runner of the job runs.")
    if (dying := _dying(facts, living)) is not None:
        return dying
    if _is_restarting(facts, living):
        return _restarting(facts)
    return None if facts.rounds else _before_the_first_round(facts, living)


def _has_not_reported(member: MemberFacts, newest: RoundFacts) -> bool:
    return member.node in newest.nodes and member.runner.round != newest.number and not member.is_again


def _torn(facts: JobFacts, newest: RoundFacts) -> Standing | None:
    """A runner of the newest round has gone, and the others have not come to what follows from that."""
    lost = [m.node for m in facts.in_newest if m.is_again or _has_gone(m)]
    if not lost:
        return None
    says = f"Round {newest.number} has lost {listed(lost)}; round {newest.number + 1} follows."
    return Standing(JobState.RESTARTING, says)


def _has_gone(member: MemberFacts) -> bool:
    return member.has_ended and member.runner.outcome != "succeeded"


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
    return any(_is_on_the_way(m) and (m.runner.round or 0) >= newest for m in living)


def _is_on_the_way(member: MemberFacts) -> bool:
    return member.runner.phase in (Phase.RESTARTING, Phase.RENDEZVOUS) and not member.runner.is_spare


def _restarting(facts: JobFacts) -> Standing:
    if (waiting := say_waiting(facts)) is not None:
        return Standing(JobState.WAITING, waiting)
    living = [m for m in facts.living if not (m.leaves or m.runner.is_spare)]
    joining = [m for m in living if m.runner.phase is Phase.RENDEZVOUS]
    coming = facts.rounds[-1].number + 1
    why = f"{facts.next_why.rstrip('.')}. " if facts.next_why else ""
    if not joining:
        says = f"{why}The workers of round {coming - 1} are being stopped; round {coming} follows."
        return Standing(JobState.RESTARTING, says)
    if (gathering := say_gathering(facts, coming)) is not None:
        return Standing(JobState.RESTARTING, f"{why}{gathering}")
    missing = [m.node for m in living if m not in joining and not m.is_unheard]
    tail = (
        f"; {listed(missing)} {'has' if len(missing) == 1 else 'have'} not set out yet." if missing else "."
    )
    way = f"Rendezvous round {coming}: {len(joining)} of {count(len(living), 'node')} on the way{tail}"
    return Standing(JobState.RESTARTING, f"{why}{way}")


def _before_the_first_round(facts: JobFacts, living: Sequence[MemberFacts]) -> Standing:
    launching = [m.node for m in living if m.runner.phase is Phase.LAUNCHING]
    joined = {node for m in living for node in m.runner.joined}
    missing = [m.node for m in living if m.node not in joined]
    if len(launching) == len(living):
        return Standing(JobState.WAITING, f"Waiting for {listed(launching)} to start.")
    if (gathering := say_gathering(facts, 1)) is not None:
        return Standing(JobState.WAITING, gathering)
    if missing:
        met = f"{len(joined)} of {count(len(living), 'node')} joined"
        return Standing(JobState.WAITING, f"Rendezvous round 1: {met}, {listed(missing)} still to come.")
    return Standing(
        JobState.FORMING,
        f"Rendezvous round 1: all {count(len(living), 'node')} joined; ranks are being given.",
    )


def _finishing(facts: JobFacts, done: Sequence[str]) -> Standing:
    others = [m.node for m in facts.in_newest if not m.has_ended and m.node not in done]
    if not others:
        return Standing(JobState.FINISHING, "All workers ended with exit status 0; the nodes are leaving.")
    waits = "it waits" if len(done) == 1 else "they wait"
    train = "trains" if len(others) == 1 else "train"
    says = f"{are(done)} done; {waits} for {listed(others)}, which still {train}."
    return Standing(JobState.FINISHING, says)


def _stalled(stall: StallFacts) -> Standing:
    acted = f" {stall.acted}" if stall.acted else ""
    return Standing(JobState.STALLED, f"Stalled since {clock(stall.began_at)}: {stall.why}.{acted}")


def _up(training: Sequence[MemberFacts], newest: RoundFacts) -> Standing:
    sentence = f"Round {newest.number} since {clock(newest.formed_at)}: {_ranks(newest)}."
    if newest.number > 1:
        sentence = f"Round {newest.number} since {clock(newest.formed_at)}. {_came_back(training, newest)}"
    if any(m.runner.reports_progress for m in training):
        return Standing(JobState.TRAINING, sentence)
    return Standing(JobState.RUNNING, f"{sentence} No progress has been reported in this round.")


def _came_back(training: Sequence[MemberFacts], newest: RoundFacts) -> str:
    why = newest.why.rstrip(".") or "Why it began is not known"
    back = f"all {count(newest.world_size, 'rank')} {'is' if newest.world_size == 1 else 'are'} back"
    steps = [m.runner.resumed_step for m in training if m.runner.resumed_step is not None]
    resumed = f" and resumed from step {min(steps):,}" if steps else ""
    return f"{why}; {back}{resumed}."


def _ranks(newest: RoundFacts) -> str:
    return f"{count(newest.world_size, 'rank')} on {count(len(newest.nodes), 'node')}"
