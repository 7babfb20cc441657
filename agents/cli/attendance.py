"""A job that somebody attends: its words, its output, the hub's absences and Ctrl-C, until it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from .following import Following
from .hub import Hub
from .interrupts import Interrupts
from .outputs import Output, Outputs
from .patience import Patience
from .reading import Piece, show
from .refusals import Unreachable
from .voice import Voice
from .watching import Watch, is_over, say_progress

Json = dict[str, Any]
Prefix = Callable[[Output], str | None]
"""What comes before each line of an output; None: its lines are not shown."""

PAUSE_S = 0.1


class Attendance:
    """Following one job with all that goes on around it. ``attend`` gives the job as it ended."""

    def __init__(
        self,
        hub: Hub,
        job: Json,
        outputs: Outputs,
        voice: Voice,
        prefix: Prefix,
        cursor: int = 0,
        tail: int | None = None,
    ) -> None:
        self._hub, self._voice, self._prefix = hub, voice, prefix
        self._watch = Watch(job)
        self._following = Following(hub, job["id"], outputs, self._show, cursor, tail)
        self._patience = Patience(voice.insist)
        self._has_ended = False

    @property
    def job(self) -> Json:
        return self._watch.job

    def attend(self, interrupts: Interrupts, on_interrupt: Callable[[Attendance], bool]) -> Json:
        """``on_interrupt`` says whether to go on following."""
        self._patience = Patience(self._voice.insist, interrupts.sleep)
        with closing(self._following), closing(self._voice):
            while not self._following.is_done:
                self._step()
                if interrupts.came is not None and not on_interrupt(self):
                    break
                interrupts.sleep(PAUSE_S)
        for sentence in self._following.missing:
            self._voice.insist(sentence)
        return self.job

    def _step(self) -> None:
        try:
            self._look()
            if self._following.step():
                self._watch.hurry()
        except Unreachable as error:
            self._patience.bear(error)
        else:
            self._patience.relax()

    def _look(self) -> None:
        if not self._has_ended and self._watch.is_due:
            begun = time.monotonic()
            self._watch.note(self._hub.get(f"/jobs/{self.job['id']}"), time.monotonic() - begun)
            self._following.know_attempts(self.job)
            self._tell()
        if is_over(self.job) and not self._has_ended:
            self._following.end_with(self.job)
            self._has_ended = True

    def _tell(self) -> None:
        if news := self._watch.news():
            if self._voice.as_json:
                self._voice.document({"kind": "state", "state": self.job["state"], "says": news})
            self._voice.say(news)
        self._voice.show(say_progress(self.job))

    def _show(self, output: Output, pieces: list[Piece]) -> None:
        prefix = "" if self._voice.as_json else self._prefix(output)
        if prefix is not None:
            show(self._voice, output, pieces, prefix)
