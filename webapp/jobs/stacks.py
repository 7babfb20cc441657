"""Where the workers of a round stand in their code, asked of all its nodes at once, and stalls that were."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from django.utils import timezone

from agents.wire.commands import TakeStacks
from agents.wire.stacks import RankStacks, StacksAnswer, ThreadStack
from webapp.errors import Problem, not_found
from webapp.fleet.asking import Silence, ask_all

from .kept_stacks import groups_of
from .models import Attempt, Job, Stall
from .stack_groups import Group, group
from .stall_schemas import (
    FrameOut,
    RankStandsOut,
    StackGroupOut,
    StacksOut,
    StallOut,
    StallPage,
    ThreadOut,
)
from .words import clock

WAIT_S = 3.0
"""A node gives its workers two seconds."""
STALLS = 50


@dataclass(frozen=True)
class Asked:
    """None stands for the newest, or for all ranks."""

    attempt: int | None = None
    round: int | None = None
    rank: int | None = None


def stacks_out(job: Job, asked: Asked) -> StacksOut:
    """Raises ``Problem`` where there is no such attempt, round or rank."""
    attempt = _find_attempt(job, asked)
    number = asked.round or _newest_round(attempt)
    nodes = _nodes_of(attempt, number, asked.rank)
    ranks = () if asked.rank is None else (asked.rank,)
    questions = {
        node: TakeStacks(id=str(uuid4()), attempt=attempt.id, round=number, ranks=ranks)
        for node in sorted(set(nodes.values()))
    }
    answers = ask_all(questions, StacksAnswer, WAIT_S)
    told = {node: answer for node, answer in answers.items() if isinstance(answer, StacksAnswer)}
    silent = [answer.why for answer in answers.values() if isinstance(answer, Silence)]
    found = [(node, one) for node, answer in told.items() for one in answer.ranks]
    return StacksOut(
        at=timezone.now(),
        attempt=attempt.number,
        round=number,
        groups=[_group(one) for one in group(one for _, one in found)],
        ranks=sorted((_rank(node, one) for node, one in found), key=lambda one: one.rank),
        silent=silent + [answer.problem for answer in told.values() if answer.problem],
    )


def _find_attempt(job: Job, asked: Asked) -> Attempt:
    attempts = job.attempts.order_by("-number")
    found = (attempts if asked.attempt is None else attempts.filter(number=asked.attempt)).first()
    if found is None and asked.attempt is not None:
        raise not_found(f"Job {job.id} has no attempt {asked.attempt}.", "attempt")
    if found is None:
        raise _no_worker(f"Job {job.id} has not been started yet, so that no worker of it runs.")
    return found


def _newest_round(attempt: Attempt) -> int:
    newest = attempt.rounds.order_by("-number").first()
    if newest is None:
        raise _no_worker(f"Attempt {attempt.number} has formed no round yet, so that no worker runs.")
    return newest.number


def _nodes_of(attempt: Attempt, number: int, rank: int | None) -> dict[int, str]:
    """By rank, those whose workers have not ended."""
    workers = attempt.workers.filter(round=number, ended_at=None)
    found = dict((workers if rank is None else workers.filter(rank=rank)).values_list("rank", "node"))
    if not found:
        who = "No worker" if rank is None else f"No rank {rank}"
        raise _no_worker(f"{who} of round {number} of attempt {attempt.number} runs any more.")
    return found


def _no_worker(what: str) -> Problem:
    return Problem(409, "no_worker", what, where="round", what_to_do="Ask again once its workers run.")


def _rank(node: str, one: RankStacks) -> RankStandsOut:
    return RankStandsOut(
        rank=one.rank,
        node=node,
        pid=one.pid,
        state=one.state,
        waits_in=one.waits_in,
        method=one.method,
        problem=one.problem,
    )


def _group(one: Group) -> StackGroupOut:
    return StackGroupOut(
        ranks=list(one.ranks),
        place=one.place,
        is_waiting=one.is_waiting,
        stands_out=one.stands_out,
        threads=[_thread(thread) for thread in one.threads],
    )


def _thread(thread: ThreadStack) -> ThreadOut:
    frames = [FrameOut(name=frame.name, file=frame.file, line=frame.line) for frame in thread.frames]
    return ThreadOut(name=thread.name, frames=frames)


# -- stalls that were ----------------------------------------------------------------------


def stall_page(job: Job) -> StallPage:
    rows = list(job.stalls.select_related("attempt").order_by("-id")[:STALLS])
    groups = groups_of(rows[0].stacks) if rows else []
    return StallPage(items=[stall_out(row) for row in rows], groups=[_group(one) for one in groups])


def stall_out(row: Stall) -> StallOut:
    return StallOut(
        attempt=row.attempt.number,
        round=row.round,
        rank=row.rank,
        node=row.node,
        began_at=row.began_at,
        noticed_at=row.noticed_at,
        ended_at=row.ended_at,
        why=row.why,
        acted=row.acted,
        says=say_stall(row),
    )


def say_stall(row: Stall) -> str:
    until = "" if row.ended_at is None else f" until {clock(row.ended_at)}"
    acted = f" {row.acted}" if row.acted else ""
    return f"Stalled since {clock(row.began_at)}{until}: {row.why}.{acted}"
