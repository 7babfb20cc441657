"""A new attempt after one that ended for no fault of the job's: whether, when, and in which words.

The job goes back to the queue, never through a state that is final, and is placed as any other queued job.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F
from django.utils import timezone

from agents.wire.lifecycle import JobState
from webapp.fleet.models import Node, NodeState

from .facts import current_attempt
from .launch import stop_others
from .models import Attempt, Job, Member, Sentence
from .news import job_changed
from .past_attempts import count_used, limit_of
from .situation import (
    JobFacts,
    MemberFacts,
    all_ranks_ended_well,
    died_too_often,
    first_lost,
)
from .specs import spec_of
from .standing import Standing
from .words import clock

BACK_OFF_S, GROWS, LONGEST_S = 1.0, 4.0, 60.0
"""1 s, 4 s, 16 s … between the end of an attempt and the next."""
SETTLES_S = 20.0
"""What a node may take beyond the grace until nothing of the last attempt is left on it."""


@dataclass(frozen=True)
class Relaunch:
    why: str
    """What ended the attempt, as a sentence."""
    delay_s: float
    number: int
    """The how manieth relaunch it is."""


def decide(facts: JobFacts, used: int, limit: int) -> Relaunch | None:
    """Whether the attempt is over for no fault of the job's, and another one may follow.

    A node that is not heard is not waited for: the others have told that nobody can go on.
    """
    if facts.wants_stop or used >= limit or all_ranks_ended_well(facts):
        return None
    if _is_at_fault(facts) or _was_never_reached(facts):
        return None
    lost = first_lost(facts)
    if lost is None:
        return None
    if not _never_had_a_store(lost, facts) and any(_goes_on(member, facts) for member in facts.members):
        return None
    delay_s = min(BACK_OFF_S * GROWS**used, LONGEST_S)
    return Relaunch(lost.runner.reason, delay_s, used + 1)


def _is_at_fault(facts: JobFacts) -> bool:
    """A worker of the job's failed and ended the attempt, or its runners die again and again."""
    failed = [m.runner for m in facts.members if m.has_ended and m.runner.outcome == "failed"]
    own = [runner for runner in failed if not runner.is_infrastructure]
    has_cause = any(worker.state == "cause" for runner in own for worker in runner.workers)
    return has_cause or any(died_too_often(member) for member in facts.members)


def _was_never_reached(facts: JobFacts) -> bool:
    """A store elsewhere at which nobody ever met is rather named wrongly than lost."""
    return facts.newest is None and not any(member.hosts_store for member in facts.members)


def _never_had_a_store(lost: MemberFacts, facts: JobFacts) -> bool:
    """Its host has never begun, so the others have nowhere to meet."""
    return facts.newest is None and lost.hosts_store and lost.runner.last_seq == 0


def _goes_on(member: MemberFacts, facts: JobFacts) -> bool:
    """A node that has come since the newest round finds nobody any more."""
    if member.has_ended or member.is_unheard:
        return False
    return facts.newest is None or member.has_met


def begin_anew(job: Job, facts: JobFacts) -> bool:
    """Where the attempt is lost and another may follow, begin to. Call with the job locked."""
    # This is asked with each batch of records, and nearly always the answer is no.
    if decide(facts, 0, 1) is None:
        return False
    attempt, again = current_attempt(job), decide(facts, count_used(job), limit_of(job))
    if attempt is None or again is None:
        return False
    begin(attempt, again)
    return True


def begin(attempt: Attempt, again: Relaunch) -> None:
    """End the attempt and queue the job for the next. Call with the job locked; the second does nothing."""
    at = timezone.now() + timedelta(seconds=again.delay_s)
    limit = limit_of(attempt.job)
    says = (
        f"Attempt {attempt.number} ended: {_within(again.why)} Attempt {attempt.number + 1} follows at "
        f"{clock(at)}: {again.number} of {limit} {'relaunch' if limit == 1 else 'relaunches'}."
    )
    if _end(attempt, again.why, is_infrastructure=True):
        _queue(attempt.job, says, at)
        stop_others(attempt, f"attempt {attempt.number} is over")


def begin_without(attempt: Attempt, node: str, why: str) -> None:
    """The same because an operator wants the node free, which counts for no relaunch."""
    ended_why = f"{node} was {why}."
    says = f"Attempt {attempt.number} ended: {ended_why} Attempt {attempt.number + 1} follows without it."
    if _end(attempt, ended_why, is_infrastructure=False):
        _queue(attempt.job, says, None)
        stop_others(attempt, why)


def _end(attempt: Attempt, why: str, is_infrastructure: bool) -> bool:
    running = Attempt.objects.filter(pk=attempt.pk, ended_at=None)
    return bool(running.update(ended_at=timezone.now(), ended_why=why, is_infrastructure=is_infrastructure))


def _queue(job: Job, says: str, at: datetime | None) -> None:
    now, state = timezone.now(), JobState.QUEUED.value
    Job.objects.filter(pk=job.pk).update(
        state=state, state_reason=says, state_since=now, not_before=at, version=F("version") + 1
    )
    Sentence.objects.create(job=job, at=now, state=state, says=says)
    job_changed(job.pk)


def fail_if_spent(job: Job, facts: JobFacts, standing: Standing) -> Standing:
    """Where only the limit keeps it from another attempt, the job has failed, whoever else is silent."""
    lost = decide(facts, 0, 1)
    if lost is None:
        return standing
    limit = limit_of(job)
    spent = "The 1 relaunch is used up." if limit == 1 else f"All {limit} relaunches are used up."
    return Standing(JobState.FAILED, f"{lost.why} {spent}" if limit else lost.why)


def is_held_back(job: Job) -> bool:
    """Whether the next attempt is not to be placed yet: it is not due, or the last one still ends."""
    now = timezone.now()
    is_early = job.not_before is not None and job.not_before > now
    return is_early or _is_still_ending(job, now)


def _is_still_ending(job: Job, now: datetime) -> bool:
    """Whether nodes that are heard end the last attempt: a moment later they are free for the next."""
    patience = timedelta(seconds=spec_of(job).shutdown_timeout + SETTLES_S)
    online = Node.objects.filter(state=NodeState.ONLINE).values("name")
    ending = Member.objects.filter(
        attempt__job=job, attempt__ended_at__gt=now - patience, settled_at=None, node__in=online
    )
    return ending.exists()


def _within(sentence: str) -> str:
    """A sentence as it stands behind a colon."""
    for word in ("The ", "It ", "No ", "A "):
        if sentence.startswith(word):
            return sentence[0].lower() + sentence[1:]
    return sentence
