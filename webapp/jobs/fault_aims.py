"""Whom a fault is meant for: exactly the processes and nodes that were seen, or a refusal that says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.wire.lifecycle import JobState
from webapp.errors import Problem, refuse_field

from .fault_schemas import FaultIn, FaultKind, SeenWorker
from .models import Attempt, Job, Member, Worker

SIGNALS = ("SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT", "SIGINT", "SIGSTOP", "SIGCONT")
OF_WORKERS: tuple[FaultKind, ...] = ("kill_worker", "freeze_worker", "slow_worker")
LASTING: tuple[FaultKind, ...] = ("freeze_worker", "slow_worker", "cut_node")
SECONDS = (1.0, 600.0)
SHARE = (0.05, 0.95)


@dataclass(frozen=True)
class Targets:
    attempt: Attempt
    workers: tuple[Worker, ...] = ()
    member: Member | None = None
    """Of a fault that is not a worker's."""

    @property
    def nodes(self) -> tuple[str, ...]:
        if self.member is not None:
            return (self.member.node,)
        return tuple(dict.fromkeys(worker.node for worker in self.workers))


def find_targets(job: Job, fault: FaultIn) -> Targets:
    """
    Raises:
        Problem: 422 at the field that makes no sense; 404 for a rank or node that never was; 409 when the job
            does not run, or the worker has ended or is not the one that was seen.
    """
    _require_numbers(fault)
    ranks = _ranks_of(fault)
    attempt = _running_attempt(job)
    if fault.kind in OF_WORKERS:
        seen = _seen_by_rank(fault, ranks)
        return Targets(attempt, tuple(_find_worker(attempt, rank, seen.get(rank)) for rank in ranks))
    return Targets(attempt, member=_find_member(attempt, fault))


# -- what was written ---------------------------------------------------------------------


def _require_numbers(fault: FaultIn) -> None:
    if fault.kind == "kill_worker" and fault.signal not in SIGNALS:
        raise refuse_field(
            "signal", f"{fault.signal!r} is not sent to workers.", f"Use one of {', '.join(SIGNALS)}."
        )
    if fault.kind in LASTING:
        _require_between("seconds", fault.seconds, SECONDS)
    if fault.kind == "slow_worker":
        _require_between("share", fault.share, SHARE)


def _require_between(where: str, value: float, limits: tuple[float, float]) -> None:
    low, high = limits
    # Written so that what is no number is refused too.
    if not low <= value <= high:
        raise refuse_field(where, f"{where} is {value:g}.", f"Write a number from {low:g} to {high:g}.")


def _ranks_of(fault: FaultIn) -> list[int]:
    """In order, each once; none for what is not done to workers."""
    if fault.kind not in OF_WORKERS:
        if fault.rank is not None or fault.ranks is not None:
            where = "rank" if fault.rank is not None else "ranks"
            raise refuse_field(where, f"{fault.kind} is done to a node, not to a rank.", "Name its node.")
        return []
    if fault.node is not None:
        raise refuse_field("node", f"{fault.kind} is done to a rank, not to a node.", "Name rank or ranks.")
    if (fault.rank is None) == (fault.ranks is None):
        raise refuse_field("rank", "Of rank and ranks one is needed, not both.", "Name a rank, or several.")
    ranks = [fault.rank] if fault.rank is not None else sorted(set(fault.ranks or ()))
    if not ranks:
        raise refuse_field("ranks", "ranks is empty.", "Name at least one rank.")
    return ranks


def _seen_by_rank(fault: FaultIn, ranks: Sequence[int]) -> dict[int, SeenWorker]:
    if fault.if_ is None:
        return {}
    if isinstance(fault.if_, SeenWorker):
        if len(ranks) > 1:
            what = "if is about one worker, and several are meant."
            raise refuse_field("if", what, "Write a list, with a rank in each.")
        return {ranks[0]: fault.if_}
    return {seen.rank: seen for seen in fault.if_ if seen.rank is not None}


# -- the attempt --------------------------------------------------------------------------


def _running_attempt(job: Job) -> Attempt:
    if JobState(job.state).is_terminal:
        raise _not_running(f"Job {job.id} is {job.state}, so that no worker of it runs.")
    attempt = job.attempts.order_by("-number").first()
    if attempt is None:
        raise _not_running(f"Job {job.id} is {job.state} and has not been started yet.")
    if attempt.ended_at is not None:
        over = f"Attempt {attempt.number} of job {job.id} is over"
        raise _not_running(f"{over}, and the next has not been started yet.")
    return attempt


def _not_running(what: str) -> Problem:
    return conflict("job_not_running", what, "job")


# -- workers ------------------------------------------------------------------------------


def _find_worker(attempt: Attempt, rank: int, seen: SeenWorker | None) -> Worker:
    newest = attempt.workers.filter(rank=rank).order_by("-round").first()
    if newest is None:
        raise Problem(
            404,
            "no_such_rank",
            f"Attempt {attempt.number} of job {attempt.job_id} has no rank {rank}.",
            where="rank",
            what_to_do="Look at the workers of the job for the ranks there are.",
        )
    if seen is not None:
        _require_seen(newest, seen, attempt)
    _require_running(newest, attempt)
    return newest


def _require_seen(newest: Worker, seen: SeenWorker, attempt: Attempt) -> None:
    other_attempt = seen.attempt is not None and seen.attempt != attempt.id
    if not other_attempt and (newest.round, newest.pid) == (seen.round, seen.pid):
        return
    of_attempt = f" of attempt {attempt.number}" if other_attempt else ""
    raise conflict(
        "worker_replaced",
        f"Rank {newest.rank} of round {seen.round} (pid {seen.pid}) has been replaced: "
        f"round {newest.round}{of_attempt} runs it as pid {newest.pid} on {newest.node}. "
        "Nothing was signalled.",
        "if",
        "Look at the page again, and aim at the worker that runs now if that is what you want.",
    )


def _require_running(newest: Worker, attempt: Attempt) -> None:
    who = f"Rank {newest.rank} of round {newest.round} (pid {newest.pid}) on {newest.node}"
    settled = attempt.members.filter(node=newest.node).exclude(settled_at=None).exists()
    if newest.ended_at is None and not settled:
        return
    said = f": it {newest.said.rstrip('.')}" if newest.said else ""
    next_round = attempt.rounds.filter(number__gt=newest.round).order_by("-number").first()
    what_next = f" Round {next_round.number} has not started it again yet." if next_round else ""
    raise conflict("worker_gone", f"{who} has already ended{said}.{what_next} Nothing was signalled.", "rank")


# -- nodes --------------------------------------------------------------------------------


def _find_member(attempt: Attempt, fault: FaultIn) -> Member:
    if not fault.node:
        raise refuse_field("node", f"{fault.kind} needs a node.", "Name a node of the job.")
    seen = fault.if_ if isinstance(fault.if_, SeenWorker) else None
    if seen is not None and seen.attempt not in (None, attempt.id):
        raise conflict(
            "attempt_replaced",
            f"The attempt that was seen is over: attempt {attempt.number} runs now. Nothing was done.",
            "if",
        )
    member = attempt.members.filter(node=fault.node).first()
    if member is None:
        where = f"Attempt {attempt.number} of job {attempt.job_id} is not on {fault.node}."
        raise Problem(404, "no_such_node", where, where="node", what_to_do="Name one of the job's own nodes.")
    if member.settled_at is not None:
        raise conflict("node_left", f"Nothing of job {attempt.job_id} runs on {fault.node} any more.", "node")
    return member


def conflict(
    reason: str, what: str, where: str, what_to_do: str = "Look at the job's page for its state now."
) -> Problem:
    return Problem(409, reason, what, where=where, what_to_do=what_to_do)
