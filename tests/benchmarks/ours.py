"""Regroup's side: jobs launched over the HTTP API of the running product, and what it says of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.system.jobs import Json, job, stop
from tests.system.stack import Stack
from tests.waiting import wait_until

from .cases import Backend, Kind, Mode, Shape
from .marks import Marks
from .our_changes import OurChanges
from .phases import Kill, is_told, phases_of
from .sides import MAX_RESTARTS, SCRIPT, Account

OVER = ("succeeded", "failed", "stopped", "lost")
ASK_S = 3.0


class Refused(Exception):
    """Regroup did not take the job. The text says which and why."""


@dataclass(frozen=True)
class Regroup:
    """One way to start a job with it."""

    hub: Stack
    api: httpx.Client
    mode: Mode
    backend: Backend = "c10d"
    endpoint: str = ""

    @property
    def name(self) -> str:
        return f"ours {self.mode}" + (" etcd" if self.backend == "etcd-v3" else "")

    def launch(self, shape: Shape, folder: Path, arguments: Sequence[str]) -> OurJob:
        """Launch it as the page does.

        Raises:
            Refused: it was not taken.
        """
        folder.mkdir(parents=True)
        marks = Marks(folder / "marks.jsonl")
        spec = self._spec(shape) | {"args": ["--marks", str(marks.path), *arguments]}
        launched_at = time.monotonic()
        answer = self.api.post("/api/jobs", json=spec)
        if answer.status_code != 201:
            raise Refused(f"Regroup refused the job {self.name} {shape.name}: {answer.text}")
        job_id = int(answer.json()["id"])
        return OurJob(marks, launched_at, self.api, job_id, OurChanges(self.hub, self.api, job_id))

    def _spec(self, shape: Shape) -> Json:
        return {
            "name": f"{shape.name} {self.mode} {self.backend}",
            "nnodes": shape.nnodes,
            "nodes": shape.nodes,
            "nproc_per_node": shape.nproc_per_node,
            "max_restarts": MAX_RESTARTS,
            "rdzv_backend": self.backend,
            "rdzv_endpoint": self.endpoint,
            "script": str(SCRIPT),
            "start": self.mode,
        }


@dataclass
class OurJob:
    marks: Marks
    launched_at: float
    api: httpx.Client
    id: int
    changes: OurChanges
    restarts: int = 0
    """Failure restarts counted so far."""
    _asked_at: float = field(default_factory=time.monotonic)
    _is_over: bool = False
    _cursor: str = "0"
    _records: list[dict[str, Any]] = field(default_factory=list)

    def has_ended(self) -> bool:
        """Asked of the hub every few seconds only: its answers cost the cores on which the job recovers."""
        now = time.monotonic()
        if not self._is_over and now - self._asked_at > ASK_S:
            self._asked_at = now
            self._is_over = job(self.api, self.id)["state"] in OVER
        return self._is_over

    def says(self) -> str:
        seen = job(self.api, self.id)
        return f"job {self.id} is {seen['state']}: {seen['state_reason']}"

    def end(self) -> None:
        self.changes.let_go_on()
        if job(self.api, self.id)["state"] not in OVER:
            stop(self.api, self.id)

    def before_kill(self) -> None:
        """Skip what has been told so far, so that the next kill is accounted for alone."""
        self._read()
        self._records.clear()

    def account(self, kill: Kill) -> Account:
        """What the hub says of it.

        Raises:
            AssertionError: it was recovered, and the hub does not know that after half a minute.
        """
        phases = {} if kill.recovered_at is None else self._phases(kill)
        return Account(phases, self.restarts_spent())

    def restarts_spent(self) -> int:
        before, self.restarts = self.restarts, int(job(self.api, self.id)["restarts"]["failure"])
        return self.restarts - before

    def change(self, kind: Kind) -> float:
        return self.changes.change(kind)

    def undo(self, kind: Kind) -> bool:
        self.changes.undo(kind)
        return True

    def _phases(self, kill: Kill) -> dict[str, float]:
        def told() -> bool:
            self._read()
            return is_told(kill, self._records)

        wait_until(told, 30, f"the hub to tell how job {self.id} recovered")
        return phases_of(kill, self._records)

    def _read(self) -> None:
        while True:
            query = {"after": self._cursor, "limit": "200"}
            page = self.api.get(f"/api/jobs/{self.id}/events", params=query).raise_for_status().json()
            self._records += [item["body"] for item in page["items"]]
            self._cursor = page["next"] or self._cursor
            if not page["items"]:
                return
