"""Killing a worker by hand: exactly the process that was meant, or a refusal that says why."""

from __future__ import annotations

from uuid import uuid4

from django.db import transaction

from agents.wire.commands import KillWorker
from agents.wire.lifecycle import JobState
from webapp.accounts.models import Account
from webapp.errors import Problem, refuse_field
from webapp.fleet.models import Command
from webapp.fleet.outbox import write_command
from webapp.live.notify import job_changed

from .models import Attempt, Job, Worker
from .schemas import FaultIn, SeenWorker

SIGNALS = ("SIGKILL", "SIGTERM", "SIGSEGV", "SIGSTOP", "SIGCONT")
KILL_DEADLINE_S = 10.0


@transaction.atomic
def kill_worker(job: Job, account: Account, fault: FaultIn) -> Command:
    """Write the command that signals one worker.

    Raises:
        Problem: 422 for an unknown signal; 404 for a rank that never was; 409 when the job does not run, or
            the worker has ended or is not the one that was seen.
    """
    if fault.signal not in SIGNALS:
        raise refuse_field(
            "signal", f"{fault.signal!r} is not sent to workers.", f"Use one of {', '.join(SIGNALS)}."
        )
    worker = _aim(job, fault)
    command = KillWorker(
        id=str(uuid4()),
        deadline_s=KILL_DEADLINE_S,
        by=account.username,
        why=fault.reason,
        attempt=worker.attempt_id,
        round=worker.round,
        rank=worker.rank,
        pid=worker.pid,
        start_time=worker.start_time,
        signal=fault.signal,
    )
    row = write_command(worker.node, command, job=job.id, attempt=worker.attempt_id, by=account)
    job_changed(job.id)
    return row


def _aim(job: Job, fault: FaultIn) -> Worker:
    if JobState(job.state).is_terminal:
        raise _conflict(
            "job_not_running", f"Job {job.id} is {job.state}, so that no worker of it runs.", "job"
        )
    attempt = job.attempts.order_by("-number").first()
    if attempt is None:
        raise _conflict(
            "job_not_running", f"Job {job.id} is {job.state} and has not been started yet.", "job"
        )
    if attempt.ended_at is not None:
        raise _conflict(
            "job_not_running",
            f"Attempt {attempt.number} of job {job.id} is over, and the next has not been started yet.",
            "job",
        )
    newest = attempt.workers.filter(rank=fault.rank).order_by("-round").first()
    if newest is None:
        raise Problem(
            404,
            "no_such_rank",
            f"Attempt {attempt.number} of job {job.id} has no rank {fault.rank}.",
            where="rank",
            what_to_do="Look at the workers of the job for the ranks there are.",
        )
    if fault.if_ is not None:
        _require_seen(newest, fault.if_, attempt)
    _require_running(newest, attempt)
    return newest


def _require_seen(newest: Worker, seen: SeenWorker, attempt: Attempt) -> None:
    other_attempt = seen.attempt is not None and seen.attempt != attempt.id
    if not other_attempt and (newest.round, newest.pid) == (seen.round, seen.pid):
        return
    of_attempt = f" of attempt {attempt.number}" if other_attempt else ""
    raise _conflict(
        "worker_replaced",
        f"Rank {newest.rank} of round {seen.round} (pid {seen.pid}) has been replaced: "
        f"round {newest.round}{of_attempt} runs it as pid {newest.pid} on {newest.node}. "
        "Nothing was signalled.",
        "if",
        "Look at the page again, and kill the worker that runs now if that is what you want.",
    )


def _require_running(newest: Worker, attempt: Attempt) -> None:
    who = f"Rank {newest.rank} of round {newest.round} (pid {newest.pid}) on {newest.node}"
    settled = attempt.members.filter(node=newest.node).exclude(settled_at=None).exists()
    if newest.ended_at is None and not settled:
        return
    said = f": it {newest.said.rstrip('.')}" if newest.said else ""
    next_round = attempt.rounds.filter(number__gt=newest.round).order_by("-number").first()
    what_next = f" Round {next_round.number} has not started it again yet." if next_round else ""
    raise _conflict(
        "worker_gone", f"{who} has already ended{said}.{what_next} Nothing was signalled.", "rank"
    )


def _conflict(
    reason: str, what: str, where: str, what_to_do: str = "Look at the job's page for its state now."
) -> Problem:
    return Problem(409, reason, what, where=where, what_to_do=what_to_do)
