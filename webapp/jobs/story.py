"""What has become of a job: all of its answer that stays the same while it trains on.

Its rows are read once for each change to them. See ``shelf.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from webapp.fleet.models import Command
from webapp.masking import mask

from .failures import failure_of_worker
from .goodput_past import Past, read_past
from .models import Attempt, Job, Round
from .past_attempts import attempt_outs
from .schemas import AttemptOut, FailureOut, SpecIn, StateWord
from .schemas import Sentence as SentenceOut
from .shelf import Shelf
from .stacks import stall_out
from .stall_schemas import StallOut
from .troubles import WorkerEnd
from .troubles_facts import worker_ends

SENTENCES = 20
"""Earlier ones that an answer holds at most."""
MOST_HELD = 200
"""Jobs whose story a process holds."""

Process = tuple[int, int]
"""A worker's pid and its start time."""


@dataclass(frozen=True, kw_only=True)
class Story:
    spec: SpecIn
    past: Past
    attempts: Sequence[AttemptOut]
    """The newest first."""
    failure: FailureOut | None
    """Of a worker of the newest attempt."""
    ends: Sequence[WorkerEnd]
    kills: Mapping[Process, str]
    """The newest command to kill a process of the newest attempt."""
    sentences: Sequence[SentenceOut]
    """Earlier ones, newest first."""
    stall: StallOut | None
    """That is not over."""

    @property
    def attempt(self) -> Attempt | None:
        """The newest one."""
        return self.past.attempts[-1][0] if self.past.attempts else None

    @property
    def rounds(self) -> Sequence[Round]:
        """Of the newest attempt."""
        return self.past.rounds.get(self.attempt.id, ()) if self.attempt else ()


def read_story(job: Job) -> Story:
    past = read_past(job)
    attempts = [attempt for attempt, _ in past.attempts]
    newest = attempts[-1] if attempts else None
    formed = {attempt: len(rows) for attempt, rows in past.rounds.items()}
    return Story(
        spec=SpecIn(**mask(job.spec)),
        past=past,
        attempts=attempt_outs(job, attempts, formed),
        failure=failure_of_worker(newest) if newest else None,
        ends=worker_ends(newest, past.rounds.get(newest.id, ())) if newest else (),
        kills=_kills(newest) if newest else {},
        sentences=_sentences(job),
        stall=_stall(newest) if newest else None,
    )


def _kills(attempt: Attempt) -> dict[Process, str]:
    asked = Command.objects.filter(kind="kill_worker", attempt=attempt.id).order_by("created_at")
    return {(c.body["pid"], c.body["start_time"]): str(c.id) for c in asked.only("body")}


def _sentences(job: Job) -> list[SentenceOut]:
    earlier = job.sentences.all()[1 : SENTENCES + 1]
    return [SentenceOut(at=s.at, state=cast(StateWord, s.state), says=s.says) for s in earlier]


def _stall(attempt: Attempt) -> StallOut | None:
    row = attempt.stalls.filter(ended_at=None).first()
    return stall_out(row) if row else None


stories = Shelf(read_story, MOST_HELD)
