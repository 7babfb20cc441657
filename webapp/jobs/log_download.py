"""A whole stream as a file: its bytes as they are, handed through slice by slice."""

from __future__ import annotations

import base64
import zlib
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse

from agents.wire.log_requests import LogBytes, LogBytesAnswer
from webapp.errors import Problem, not_found
from webapp.fleet.asking import Silence, ask

from .log_questions import LogQuestion, find_attempt, find_workers, why_no_worker
from .log_shelf import bytes_or_stored
from .models import Job, Worker

SLICE_BYTES = 1 << 20


class CutShort(Exception):
    """The node stopped answering half-way: the connection is closed, so that nobody takes it for whole."""


def download_log(job: Job, question: LogQuestion, packed: bool) -> StreamingHttpResponse:
    """The stream as far as it has been written by now.

    Raises:
        Problem: 404 where there is none, 503 where the node does not answer.
    """
    worker = _find_worker(job, question)
    request = LogBytes(
        id=str(uuid4()),
        attempt=worker.attempt_id,
        round=worker.round,
        rank=worker.rank,
        stream=question.one_stream or "stdout",
        limit=SLICE_BYTES,
    )
    first = _ask(worker, request)
    answer = StreamingHttpResponse(
        _packed(worker, request, first) if packed else _bytes(worker, request, first)
    )
    answer["Content-Type"] = "application/gzip" if packed else "text/plain; charset=utf-8"
    name = _file_name(job, worker, request.stream) + (".gz" if packed else "")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["X-Content-Type-Options"] = "nosniff"
    if not packed:
        answer["Content-Length"] = str(first.size - first.start)
    return answer


def _file_name(job: Job, worker: Worker, stream: str) -> str:
    where = f"attempt-{worker.attempt.number}-round-{worker.round}-rank-{worker.rank}"
    return f"job-{job.id}-{where}-{stream}.log"


def _find_worker(job: Job, question: LogQuestion) -> Worker:
    attempt = find_attempt(job, question.attempt)
    if attempt is None:
        raise not_found("The job has not been started yet, so that there is no log.")
    workers = find_workers(attempt, question)
    if not workers:
        raise not_found(why_no_worker(attempt, question))
    workers[0].attempt = attempt
    return workers[0]


def _ask(worker: Worker, request: LogBytes) -> LogBytesAnswer:
    answer = bytes_or_stored(worker.node, request, ask(worker.node, request, LogBytesAnswer))
    if isinstance(answer, Silence):
        raise Problem(
            503,
            "node_silent",
            answer.why,
            where="node",
            what_to_do="Try again once the node is heard, or look what the log store has of it on the page.",
        )
    if answer.problem is not None:
        raise not_found(answer.problem, "rank")
    return answer


async def _bytes(worker: Worker, request: LogBytes, first: LogBytesAnswer) -> AsyncIterator[bytes]:
    """Up to where the stream ended when it was first asked for."""
    ask_more = sync_to_async(_ask, thread_sensitive=False)
    answer, end = first, first.size
    while True:
        yield zlib.decompress(base64.b64decode(answer.data))[: max(0, end - answer.start)]
        if answer.end >= end:
            return
        following = replace(request, id=str(uuid4()), start=answer.end)
        try:
            answer, before = await ask_more(worker, following), answer
        except Problem as problem:
            raise CutShort(problem.what) from problem
        if answer.start != before.end or answer.end == before.end:
            raise CutShort("The job's log_max_bytes dropped what was to come next.")


async def _packed(worker: Worker, request: LogBytes, first: LogBytesAnswer) -> AsyncIterator[bytes]:
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    async for part in _bytes(worker, request, first):
        if made := packer.compress(part):
            yield made
    yield packer.flush()
