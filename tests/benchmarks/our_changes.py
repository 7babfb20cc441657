"""Nodes of our own stack come and go: lost with all their processes, or by the number asked for over HTTP."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import httpx

from tests.system.jobs import Json, job
from tests.system.node_faults import kill_all_of, without_supervisor
from tests.system.stack import Stack

from .cases import CHANGES, Kind


@dataclass
class OurChanges:
    """Those of one job."""

    hub: Stack
    api: httpx.Client
    job_id: int
    _held: ExitStack = field(default_factory=ExitStack)

    def change(self, kind: Kind) -> float:
        if kind.startswith("scale"):
            return self._scale(CHANGES[kind])
        seen = job(self.api, self.job_id)
        lost = seen["store_host"] if kind == "store-loss" else _guest_of(seen)
        # A node that comes back three times in ten minutes would be set aside.
        self.api.post(f"/api/nodes/{lost}/undrain").raise_for_status()
        self._held.enter_context(without_supervisor(self.hub))
        return kill_all_of(self.hub, lost)

    def undo(self, kind: Kind) -> None:
        self.let_go_on()
        if kind.startswith("scale"):
            self._scale(-CHANGES[kind])

    def let_go_on(self) -> None:
        """A node that is lost comes back."""
        self._held.close()

    def _scale(self, more: int) -> float:
        wanted = job(self.api, self.job_id)["nodes"]["wanted"] + more
        asked_at = time.monotonic()
        self.api.post(f"/api/jobs/{self.job_id}/scale", json={"nodes": wanted}).raise_for_status()
        return asked_at


@contextmanager
def only_nodes(api: httpx.Client, number: int) -> Iterator[None]:
    """The others are drained meanwhile, so that none of them takes the place of a lost one."""
    items = api.get("/api/nodes").raise_for_status().json()["items"]
    others = sorted(item["name"] for item in items)[number:]
    try:
        for name in others:
            reason = {"reason": "this case needs fewer nodes"}
            api.post(f"/api/nodes/{name}/drain", json=reason).raise_for_status()
        yield
    finally:
        for name in others:
            api.post(f"/api/nodes/{name}/undrain").raise_for_status()


def _guest_of(seen: Json) -> str:
    """A node of it that does not keep its store."""
    return str(max({worker["node"] for worker in seen["workers"]} - {seen["store_host"]}))
