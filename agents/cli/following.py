"""Following what the workers of a job write: across rounds and attempts, and across a hub that is away.

A step may fail half-way and be made again: cursors move only with what has been given out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from .outputs import Output, Outputs
from .reading import LINES, Piece, Reading, say_missing

Json = dict[str, Any]

SOON_S, LATE_S = 0.2, 1.0
"""Between looks for events."""
AT_ONCE = 6
"""Outputs that are asked for at the same time."""
STUCK_S = 5.0
"""For so long after its end does an output that cannot be read hold back what its rank wrote next."""
SHARE = 0.02
"""Each output that is followed adds so many seconds to the longest pause, to spare hub and nodes."""


class Asks(Protocol):
    def get(self, path: str, **params: str | int | bool | list[str] | None) -> Json: ...


Show = Callable[[Output, list[Piece]], None]


class Following:
    """Call ``step`` again and again. ``is_done``: the job is over and all its lines were shown."""

    def __init__(
        self,
        hub: Asks,
        job: int,
        outputs: Outputs,
        show: Show,
        cursor: int = 0,
        tail: int | None = None,
    ) -> None:
        """``outputs`` are known at the event ``cursor``; of them the last ``tail`` lines are shown."""
        self._hub, self._job, self._outputs, self._show = hub, job, outputs, show
        self._cursor = cursor
        self._events_due, self._events_pause_s = 0.0, SOON_S
        self._numbers: dict[str, int] = {}
        self._readings = {one: Reading(one, tail=tail) for one in outputs.open}
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="logs")
        self._job_is_over = False
        self.missing: list[str] = []
        """A sentence for each output of which something could not be shown."""

    @property
    def is_done(self) -> bool:
        return self._job_is_over and not self._outputs.open

    def know_attempts(self, job: Json) -> None:
        """The numbers of attempts that events name by their id."""
        self._numbers |= {attempt["id"]: attempt["number"] for attempt in job["attempts"]}

    def end_with(self, job: Json) -> None:
        """The job is over, and what it was is not going to change: the last of its events are read first."""
        self.know_attempts(job)
        self._read_events()
        self._outputs.end_all()
        self._job_is_over = True

    def step(self) -> bool:
        """Look at everything that is due once. Says whether workers began or ended."""
        has_news = self._look_for_events()
        due = self._due()
        asked_at = time.monotonic()
        pages = list(self._pool.map(self._ask, due))
        for reading, page in zip(due, pages, strict=True):
            self._take(reading, page, asked_at)
        return has_news

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _look_for_events(self) -> bool:
        """If it is time to; more rarely while nothing happens."""
        if self._job_is_over or time.monotonic() < self._events_due:
            return False
        has_news = self._read_events()
        self._events_pause_s = SOON_S if has_news else min(LATE_S, 1.5 * self._events_pause_s)
        self._events_due = time.monotonic() + self._events_pause_s
        return has_news

    def _read_events(self) -> bool:
        """All events behind the cursor. Says whether there were any of those that matter."""
        found = 0
        while True:
            page = self._hub.get(f"/jobs/{self._job}/events", after=str(self._cursor), limit=LINES)
            for record in page["items"]:
                self._outputs.note(record, self._number(record["attempt"]))
                self._cursor = record["cursor"]
                found += record["kind"] in ("workers_started", "worker_exited")
            if len(page["items"]) < LINES:
                return found > 0

    def _number(self, attempt: str) -> int:
        if attempt not in self._numbers:
            self.know_attempts(self._hub.get(f"/jobs/{self._job}"))
        return self._numbers[attempt]

    def _due(self) -> list[Reading]:
        """Those to look at now: of each rank's stream the oldest, so that its lines come in order."""
        now = time.monotonic()
        first: dict[tuple[int, str], Reading] = {}
        for output in self._outputs.open:
            reading = self._readings.setdefault(output, Reading(output))
            if output in self._outputs.over and reading.over_since is None:
                reading.over_since, reading.due = now, now
            if not _is_stuck(reading, now):
                first.setdefault((output.rank, output.stream), reading)
            elif reading.due <= now:
                first.setdefault((output.rank, f"{output.stream} {output.round}"), reading)
        return _spare_the_silent([reading for reading in first.values() if reading.due <= now])

    def _ask(self, reading: Reading) -> Json:
        return self._hub.get(f"/jobs/{self._job}/logs", **reading.question())

    def _take(self, reading: Reading, page: Json, asked_at: float) -> None:
        longest_s = min(10.0, 1.0 + SHARE * len(self._outputs.open))
        pieces = reading.take(page, asked_at, longest_s)
        if pieces:
            self._show(reading.output, pieces)
        if reading.is_done:
            self.missing += [said] if (said := say_missing(reading)) else []
            self._outputs.close(reading.output)
            self._readings.pop(reading.output)


def _is_stuck(reading: Reading, now: float) -> bool:
    return bool(reading.problem) and reading.over_since is not None and now > reading.over_since + STUCK_S


def _spare_the_silent(due: list[Reading]) -> list[Reading]:
    """Of a node that gave nothing, one output is asked for at a time: each may take seconds."""
    kept: list[Reading] = []
    probed: set[str] = set()
    for reading in due:
        if reading.problem and reading.over_since is None:
            if reading.output.node in probed:
                continue
            probed.add(reading.output.node)
        kept.append(reading)
    return kept
