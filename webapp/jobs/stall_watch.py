"""Watches a running job for stalls, once a second: notes when one begins and ends, and acts by its policy.

When one begins, the stacks of all its ranks are asked for, so that a deadlocked rank can be named, and is
known afterwards. Nobody waits for them: answers are picked up at the next looks.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

import redis
from django.db import transaction
from django.utils import timezone

from agents.wire import streams
from agents.wire.codec import Unreadable, read_answer_as
from agents.wire.commands import KillWorker, TakeStacks
from agents.wire.plain import to_json
from agents.wire.runner_events import WorkerRef
from agents.wire.stacks import StacksAnswer
from webapp.fleet.outbox import write_command
from webapp.redis import get_redis

from .facts import current_attempt
from .kept_stacks import groups_of, keep
from .locks import lock_jobs
from .models import Attempt, Job, Stall
from .news import job_changed
from .samples import Samples
from .situation import JobFacts, StallFacts
from .specs import spec_of
from .stall_views import is_up, up_since, views_of
from .stalls import Rule, Stalled, WorkerView, look_at
from .words import clock, count

log = logging.getLogger("regroup.jobs")

STACKS_S = 4.0
"""Answers that have not come by then are not waited for."""
HOUR = timedelta(hours=1)
KILL_DEADLINE_S = 10.0


def watch(job: Job, facts: JobFacts, samples: Samples) -> JobFacts:
    """Call with the job locked. Gives the facts with the stall that there is now, if any."""
    facts = end_with_round(job, facts)
    attempt, now = current_attempt(job), timezone.now()
    if attempt is None or not is_up(facts) or facts.newest is None:
        return facts
    stall = attempt.stalls.filter(ended_at=None).first()
    views = views_of(facts, attempt.id, samples, groups_of(_with_answers(stall, now)))
    since = up_since(facts)
    look = look_at(views, rule_of(job), (now - since).total_seconds() if since else 0.0)
    if isinstance(look, Stalled):
        stall = _note(stall, look, job, attempt, facts, now)
        _act(stall, job, facts, now)
    elif look == "moving":
        return _over(facts, stall, _went_on_at(views, now))
    return replace(facts, stall=stall_facts(stall))


def end_with_round(job: Job, facts: JobFacts) -> JobFacts:
    """What stood still is over with the workers that did, at once and not with the next look.

    Call with the job locked. Gives the facts as they are then.
    """
    stall = facts.stall
    if stall is None or (is_up(facts) and facts.newest is not None and stall.round == facts.newest.number):
        return facts
    for row in Stall.objects.filter(attempt=current_attempt(job), ended_at=None):
        _end(row, timezone.now())
    return replace(facts, stall=None)


def rule_of(job: Job) -> Rule:
    spec = spec_of(job)
    return Rule(
        after_s=spec.stall_after_s,
        log_regex=spec.stall_log_regex,
        log_start_s=spec.stall_log_start_s,
        log_every_s=spec.stall_log_every_s,
    )


def stall_facts(stall: Stall | None) -> StallFacts | None:
    if stall is None:
        return None
    return StallFacts(round=stall.round, began_at=stall.began_at, why=stall.why, acted=stall.acted)


def end_left_behind() -> None:
    """Those of attempts that are over: nobody looks at them any more."""
    left = Stall.objects.filter(ended_at=None).exclude(attempt__ended_at=None)
    for pk, job_id in left.values_list("pk", "job"):
        with transaction.atomic():
            lock_jobs([job_id])
            Stall.objects.filter(pk=pk, ended_at=None).update(ended_at=timezone.now())
            job_changed(job_id)


# -- beginning and end ---------------------------------------------------------------------


def _over(facts: JobFacts, stall: Stall | None, at: datetime) -> JobFacts:
    if stall is not None:
        _end(stall, at)
    return replace(facts, stall=None)


def _end(stall: Stall, at: datetime) -> None:
    stall.ended_at = max(at, stall.began_at)
    _save(stall, "ended_at")


def _save(stall: Stall, *fields: str) -> None:
    stall.save(update_fields=fields)
    job_changed(stall.job_id)


def _went_on_at(views: list[WorkerView], now: datetime) -> datetime:
    """When it was seen to go on: by the newest report."""
    silences = [view.silence_s for view in views if view.is_judged and view.silence_s is not None]
    return now - timedelta(seconds=min(silences, default=0.0))


def _note(
    stall: Stall | None, look: Stalled, job: Job, attempt: Attempt, facts: JobFacts, now: datetime
) -> Stall:
    """Who has been named stays: a process that sleeps in another way a moment later is no news."""
    if stall is None:
        return _begin(look, job, attempt, facts, now)
    if stall.rank is None and look.rank is not None:
        stall.rank, stall.node, stall.why = look.rank, look.node, look.why
        _save(stall, "rank", "node", "why")
    return stall


def _begin(look: Stalled, job: Job, attempt: Attempt, facts: JobFacts, now: datetime) -> Stall:
    assert facts.newest is not None
    requests = {
        member.node: TakeStacks(id=str(uuid4()), attempt=attempt.id, round=facts.newest.number)
        for member in facts.in_newest
    }
    transaction.on_commit(lambda: _send(requests))
    job_changed(job.pk)
    return Stall.objects.create(
        job=job,
        attempt=attempt,
        round=facts.newest.number,
        rank=look.rank,
        node=look.node,
        began_at=now - timedelta(seconds=look.since_s),
        noticed_at=now,
        why=look.why,
        asked={node: request.id for node, request in requests.items()},
    )


# -- stacks --------------------------------------------------------------------------------


def _send(requests: Mapping[str, TakeStacks]) -> None:
    pipeline = get_redis().pipeline(transaction=False)
    for node, request in requests.items():
        pipeline.rpush(streams.requests(node), to_json(request))
        pipeline.expire(streams.requests(node), int(STACKS_S))
    try:
        pipeline.execute()
    except redis.RedisError as error:
        log.warning("stacks not asked for error=%s", error)


def _with_answers(stall: Stall | None, now: datetime) -> list[dict[str, object]]:
    """The stacks that are kept, with those that have come since."""
    if stall is None or not stall.asked:
        return stall.stacks if stall is not None else []
    found = _pick_up(stall.asked)
    for node, answer in found.items():
        stall.stacks = keep(stall.stacks, answer.ranks)
        del stall.asked[node]
    if (now - stall.noticed_at).total_seconds() > STACKS_S:
        stall.asked = {}
    if found or not stall.asked:
        stall.save(update_fields=["asked", "stacks"])
    return list(stall.stacks)


def _pick_up(asked: Mapping[str, str]) -> dict[str, StacksAnswer]:
    pipeline = get_redis().pipeline(transaction=False)
    for request_id in asked.values():
        pipeline.lpop(streams.answer(request_id))
    try:
        answers = pipeline.execute()
        told = zip(asked, answers, strict=True)
        return {node: read_answer_as(StacksAnswer, text) for node, text in told if text is not None}
    except (redis.RedisError, Unreadable) as error:
        log.warning("stacks not read error=%s", error)
        return {}


# -- acting --------------------------------------------------------------------------------


def _act(stall: Stall, job: Job, facts: JobFacts, now: datetime) -> None:
    """By the job's policy, once for each stall, and after its stacks have been taken."""
    spec = spec_of(job)
    if spec.on_stall != "restart" or stall.command or stall.asked:
        return
    done = job.stalls.filter(noticed_at__gte=now - HOUR).exclude(command="").count()
    if done >= spec.stall_restarts_per_hour:
        times = count(done, "time")
        acted = f"It is not restarted: that was done {times} within an hour, as often as the job allows."
    else:
        acted = _kill(stall, job, facts)
    if acted != stall.acted:
        stall.acted = acted
        _save(stall, "acted", "command")


def _kill(stall: Stall, job: Job, facts: JobFacts) -> str:
    """Any of them will do where none stands out: the others follow it into the next round."""
    node, ref = _victim(stall, facts)
    command = KillWorker(
        id=str(uuid4()),
        deadline_s=KILL_DEADLINE_S,
        by="regroup",
        why=f"stalled since {clock(stall.began_at)}",
        attempt=stall.attempt_id,
        round=stall.round,
        rank=ref.rank,
        pid=ref.pid,
        start_time=ref.start_time,
    )
    write_command(node, command, job=job.id, attempt=stall.attempt_id)
    stall.command = command.id
    return f"Regroup kills rank {ref.rank}, so that the job restarts (on_stall is restart)."


def _victim(stall: Stall, facts: JobFacts) -> tuple[str, WorkerRef]:
    workers = [(member.node, worker.ref) for member in facts.in_newest for worker in member.runner.workers]
    named = (found for found in workers if found[1].rank == stall.rank)
    return next(named, workers[0])
