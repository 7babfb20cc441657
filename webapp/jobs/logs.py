"""Lines of a worker's log, asked of the node that has the file. Nothing of it is stored at the hub."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast
from uuid import uuid4

import redis

from agents.wire import streams
from agents.wire.codec import Unreadable, read_answer
from agents.wire.commands import LogSlice, LogSliceAnswer
from agents.wire.plain import to_json
from webapp.errors import not_found
from webapp.redis import get_blocking_redis

from .models import Attempt, Job, Worker
from .schemas import LogLineOut, LogPage

ANSWER_S = 3
"""How long a node may take to answer."""

Stream = Literal["stdout", "stderr"]


@dataclass(frozen=True)
class LogQuestion:
    """None stands for the newest attempt or round."""

    attempt: int | None
    round: int | None
    rank: int
    stream: Stream
    before: int | None
    after: int | None
    limit: int


def read_log(job: Job, question: LogQuestion) -> LogPage:
    """One page of a log, or a page without lines that says why.

    Raises:
        Problem: 404 when the job has no such attempt.
    """
    attempt = _find_attempt(job, question)
    if attempt is None:
        return _empty(
            question, 0, question.round or 0, "", "The job has not been started yet, so that there is no log."
        )
    worker = _find_worker(attempt, question)
    if worker is None:
        return _empty(question, attempt.number, question.round or 0, "", _no_worker(attempt, question))
    answer = _ask(worker, question)
    return _page(question, attempt.number, worker, answer)


def _find_attempt(job: Job, question: LogQuestion) -> Attempt | None:
    attempts = job.attempts.order_by("-number")
    if question.attempt is None:
        return attempts.first()
    found = attempts.filter(number=question.attempt).first()
    if found is None:
        raise not_found(f"Job {job.id} has no attempt {question.attempt}.", "attempt")
    return found


def _find_worker(attempt: Attempt, question: LogQuestion) -> Worker | None:
    workers = attempt.workers.filter(rank=question.rank).order_by("-round")
    return workers.first() if question.round is None else workers.filter(round=question.round).first()


def _no_worker(attempt: Attempt, question: LogQuestion) -> str:
    in_round = "" if question.round is None else f" in round {question.round}"
    who = f"Rank {question.rank} of attempt {attempt.number}"
    return f"{who} has not been started{in_round}, so that there is no log."


def _ask(worker: Worker, question: LogQuestion) -> LogSliceAnswer:
    request = LogSlice(
        id=str(uuid4()),
        attempt=worker.attempt_id,
        round=worker.round,
        rank=worker.rank,
        stream=question.stream,
        after=question.after,
        before=question.before,
        limit=question.limit,
    )
    try:
        return _exchange(worker.node, request)
    except redis.RedisError as error:
        return LogSliceAnswer(
            problem=f"Redis does not answer ({error}), so that {worker.node} could not be asked."
        )
    except Unreadable as error:
        return LogSliceAnswer(problem=f"The answer of {worker.node} cannot be read: {error}")


def _exchange(node: str, request: LogSlice) -> LogSliceAnswer:
    connection = get_blocking_redis()
    pipeline = connection.pipeline(transaction=True)
    pipeline.rpush(streams.requests(node), to_json(request))
    # Nobody reads these while the node agent is away, and nobody wants them later.
    pipeline.expire(streams.requests(node), 2 * ANSWER_S)
    pipeline.execute()
    found = cast(tuple[bytes, bytes] | None, connection.blpop([streams.answer(request.id)], timeout=ANSWER_S))
    if found is None:
        return LogSliceAnswer(
            problem=f"{node} has not answered within {ANSWER_S} s. Look whether it is heard."
        )
    return read_answer(found[1])


def _page(question: LogQuestion, attempt: int, worker: Worker, answer: LogSliceAnswer) -> LogPage:
    page = _empty(question, attempt, worker.round, worker.node, answer.problem)
    if answer.problem is not None:
        return page
    page.items = [LogLineOut(offset=line.offset, text=line.text) for line in answer.lines]
    page.next = str(answer.end)
    page.previous = str(answer.start) if answer.start > 0 else None
    return page


def _empty(question: LogQuestion, attempt: int, round_number: int, node: str, problem: str | None) -> LogPage:
    return LogPage(
        items=[],
        next=None,
        previous=None,
        node=node,
        attempt=attempt,
        round=round_number,
        rank=question.rank,
        stream=question.stream,
        problem=problem,
    )
