"""Beat as a thread of the worker: what ends it is either the worker or nothing."""

from __future__ import annotations

import pytest

from tests.waiting import wait_until
from webapp import beat


class Schedule:
    """In the place of Celery's: the first one fails, and those after it run until they are stopped."""

    made: list[Schedule] = []

    def __init__(self, *arguments: object, **options: object) -> None:
        self.is_stopped = False
        self.made.append(self)

    def start(self) -> None:
        if len(self.made) == 1:
            raise RuntimeError("no room for another message")
        wait_until(lambda: self.is_stopped, what="beat to be stopped")

    def stop(self) -> None:
        self.is_stopped = True


def test_a_schedule_that_fails_begins_anew_and_ends_with_the_worker(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Schedule, "made", [])
    monkeypatch.setattr(beat, "Service", Schedule)
    thread = beat.BeatThread()
    thread.start()
    wait_until(lambda: len(Schedule.made) == 2, what="beat to begin anew")
    assert "no room for another message" in caplog.text
    thread.stop()
    wait_until(lambda: not thread.is_alive(), what="the thread to end")
