"""Lines of workers' logs, asked of the nodes that have the files; of the log store, where a node is away."""

from __future__ import annotations

from uuid import uuid4

from agents.wire.commands import LogLine, LogSlice, LogSliceAnswer
from webapp.fleet.asking import Silence, ask
from webapp.pages import read_cursor

from .log_merging import read_merged
from .log_questions import Clocks, LogQuestion, empty_page, find_attempt, find_workers, why_no_worker
from .log_schemas import LogLineOut, LogPage, StreamWord
from .log_search import search_log
from .log_shelf import slice_or_stored
from .models import Attempt, Job, Worker


def read_log(job: Job, question: LogQuestion) -> LogPage:
    """One page of a log, or a page without lines that says why.

    Raises:
        Problem: 404 when the job has no such attempt, 422 when the question makes no sense.
    """
    question.check()
    attempt = find_attempt(job, question.attempt)
    if attempt is None:
        return empty_page(
            question, 0, question.round or 0, "The job has not been started yet, so that there is no log."
        )
    workers = find_workers(attempt, question)
    if not workers:
        why = why_no_worker(attempt, question)
        return empty_page(question, attempt.number, question.round or 0, why)
    if question.pattern is not None:
        return search_log(attempt, workers, question)
    stream = question.one_stream
    if question.rank is None or stream is None:
        return read_merged(attempt, workers, question)
    return _read_one(attempt, workers[0], stream, question)


def _read_one(attempt: Attempt, worker: Worker, stream: StreamWord, question: LogQuestion) -> LogPage:
    clocks = Clocks(attempt, worker.round)
    request = _request(worker, stream, question, clocks)
    page = empty_page(question, attempt.number, worker.round)
    page.node = worker.node
    answer, unread = slice_or_stored(worker.node, request, ask(worker.node, request, LogSliceAnswer))
    page.unread = [] if unread is None else [unread]
    if isinstance(answer, Silence) or answer.problem is not None:
        page.problem = None if unread is None else unread.why
        return page
    page.items = [_line(worker, stream, line, clocks) for line in answer.lines]
    page.next = str(answer.end)
    page.previous = str(answer.start) if answer.start > answer.dropped else None
    page.dropped_bytes = answer.dropped
    return page


def _request(worker: Worker, stream: StreamWord, question: LogQuestion, clocks: Clocks) -> LogSlice:
    return LogSlice(
        id=str(uuid4()),
        attempt=worker.attempt_id,
        round=worker.round,
        rank=worker.rank,
        stream=stream,
        after=read_cursor(question.after, "after"),
        before=read_cursor(question.before, "before"),
        at_ms=None if question.at is None else clocks.by_node(worker.node, question.at),
        limit=question.limit,
    )


def _line(worker: Worker, stream: StreamWord, line: LogLine, clocks: Clocks) -> LogLineOut:
    return LogLineOut(
        key=str(line.offset),
        node=worker.node,
        rank=worker.rank,
        stream=stream,
        offset=line.offset,
        text=line.text,
        at=None if line.at_ms is None else clocks.by_hub(worker.node, line.at_ms),
        within_s=None if line.within_ms is None else line.within_ms / 1000,
    )
