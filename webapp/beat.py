"""Celery's app for a hub with one worker: ``celery -A webapp.beat:app worker``, with beat as a thread of it.

The schedule is held in memory: whatever is due is due every minute or oftener. Celery's own ``--beat`` is a
second process, which would go on beside its successor when the worker is killed.
"""

from __future__ import annotations

import logging
from threading import Event, Thread
from typing import Any

from celery import bootsteps
from celery.beat import Scheduler, Service

from .celery import app

log = logging.getLogger("regroup.beat")

LONGEST_S = 1
"""Until it looks again whether it shall end."""


class BeatThread(Thread):
    """A schedule that fails is begun anew: without it no job is placed, and nobody watches over a thread."""

    def __init__(self) -> None:
        super().__init__(name="beat", daemon=True)
        self._end = Event()
        self._service: Any = None

    def run(self) -> None:
        app.set_current()
        while not self._end.is_set():
            self._service = Service(app, LONGEST_S, scheduler_cls=Scheduler)
            try:
                self._service.start()
            except Exception:
                log.exception("beat has failed and begins anew")
                self._end.wait(LONGEST_S)

    def stop(self) -> None:
        self._end.set()
        if self._service is not None:
            self._service.stop()


class Beat(bootsteps.StartStopStep):
    requires = ("celery.worker.components:Pool",)

    def create(self, worker: object) -> BeatThread:  # type: ignore[override]
        return BeatThread()


app.steps["worker"].add(Beat)
