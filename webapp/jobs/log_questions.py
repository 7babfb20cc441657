"""Which lines somebody wants to read, and which workers' files these are in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from webapp.errors import not_found, refuse_field

from .log_schemas import LogPage, StreamWord
from .models import Attempt, Job, NodeMoments, Worker
from .moments import ahead_s

StreamChoice = Literal["stdout", "stderr", "both"]
LONGEST_PATTERN = 500


@dataclass(frozen=True)
class LogQuestion:
    """None stands for the newest attempt or round, and for all ranks. At most one of the places is given."""

    attempt: int | None
    round: int | None
    rank: int | None
    stream: StreamChoice
    before: str | None
    after: str | None
    at: datetime | None
    limit: int
    pattern: str | None = None
    is_case_sensitive: bool = False

    def check(self) -> LogQuestion:
        """Raises a 422 ``Problem`` where it makes no sense."""
        if sum(place is not None for place in (self.before, self.after, self.at)) > 1:
            raise refuse_field(
                "before",
                "More than one of before, after and at is given.",
                "Give one of them, or none for the last lines.",
            )
        if self.pattern is not None:
            self._check_search(self.pattern)
        return self

    def _check_search(self, pattern: str) -> None:
        if self.after is not None or self.at is not None:
            raise refuse_field(
                "q", "A search goes backwards from the end, or from before.", "Leave out after and at."
            )
        if len(pattern) > LONGEST_PATTERN:
            raise refuse_field("q", f"The pattern has more than {LONGEST_PATTERN} characters.", "Shorten it.")
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise refuse_field(
                "q",
                f"{pattern!r} is no regular expression: {error}.",
                "Write a backslash before a character that is meant as it stands, such as \\( or \\[.",
            ) from error

    @property
    def one_stream(self) -> StreamWord | None:
        return None if self.stream == "both" else self.stream


def find_attempt(job: Job, number: int | None) -> Attempt | None:
    """None: the job has not been started yet. Raises a 404 ``Problem``."""
    attempts = job.attempts.order_by("-number")
    if number is None:
        return attempts.first()
    found = attempts.filter(number=number).first()
    if found is None:
        raise not_found(f"Job {job.id} has no attempt {number}.", "attempt")
    return found


def find_workers(attempt: Attempt, question: LogQuestion) -> list[Worker]:
    """Those of one round, in the order of ranks."""
    workers = attempt.workers.all()
    if question.rank is not None:
        workers = workers.filter(rank=question.rank)
    number = question.round
    if number is None:
        number = workers.order_by("-round").values_list("round", flat=True).first() or 0
    return list(workers.filter(round=number).order_by("rank"))


def why_no_worker(attempt: Attempt, question: LogQuestion) -> str:
    in_round = "" if question.round is None else f" in round {question.round}"
    who = "No rank" if question.rank is None else f"Rank {question.rank}"
    has = "has been" if question.rank is None else "has not been"
    return f"{who} of attempt {attempt.number} {has} started{in_round}, so that there is no log."


def empty_page(question: LogQuestion, attempt: int, round_number: int, problem: str | None = None) -> LogPage:
    return LogPage(
        items=[],
        next=None,
        previous=None,
        node="",
        attempt=attempt,
        round=round_number,
        rank=question.rank,
        stream=question.stream,
        problem=problem,
        unread=[],
        dropped_bytes=0,
        unsearched_bytes=0,
    )


class Clocks:
    """How far the nodes' clocks were ahead of the hub's in a round, in milliseconds."""

    def __init__(self, attempt: Attempt, round_number: int) -> None:
        rows = NodeMoments.objects.filter(attempt=attempt, round=round_number)
        self._ahead_ms = {row.node: round(1000 * ahead_s(row)) for row in rows}

    def ahead_ms(self, node: str) -> int:
        return self._ahead_ms.get(node, 0)

    def by_hub(self, node: str, at_ms: int) -> datetime:
        """Milliseconds since the epoch by the node's clock."""
        moment = datetime.fromtimestamp(0, UTC)
        return moment + timedelta(milliseconds=at_ms - self.ahead_ms(node))

    def by_node(self, node: str, at: datetime) -> int:
        return int(at.timestamp() * 1000) + self.ahead_ms(node)
