"""The job while it is followed: asked for as often as that is cheap, and told in words when it changes."""

from __future__ import annotations

import time
from typing import Any

from ..wire.lifecycle import JobState

Json = dict[str, Any]

SOONEST_S, COST = 1.0, 10.0
"""A look follows after so long, and not before so many times what the last one took."""


def is_over(job: Json) -> bool:
    return JobState(job["state"]).is_terminal


class Watch:
    def __init__(self, job: Json) -> None:
        self.job = job
        self._due = 0.0
        self._told = ""

    @property
    def is_due(self) -> bool:
        return time.monotonic() >= self._due

    def hurry(self) -> None:
        """Something has happened: look as soon as may be."""
        self._due = min(self._due, time.monotonic())

    def note(self, job: Json, took_s: float) -> None:
        self.job = job
        self._due = time.monotonic() + max(SOONEST_S, COST * took_s)

    def news(self) -> str:
        """What to say of a state that has not been told yet. Empty: it has been."""
        if self.job["state"] == self._told:
            return ""
        self._told = self.job["state"]
        return say_state(self.job)


def say_ranks(job: Json) -> str:
    return f"{job['workers_alive']} rank{'s' if job['workers_alive'] != 1 else ''}"


def say_state(job: Json) -> str:
    return f"job {job['id']} {job['name']} is {job['state']}: {job['headline']['sentence']}"


def say_progress(job: Json) -> str:
    """All in one line, for the one that comes and goes."""
    parts = [f"job {job['id']}", job["state"]]
    if job["step"] is not None:
        parts.append(f"step {job['step']}" + (f" of {job['total']}" if job["total"] else ""))
    parts += [f"{name} {value:.4g}" for name, value in list(job["metrics"].items())[:2]]
    if job["round"] is not None:
        parts.append(f"round {job['round']}, {job['workers_alive']} of {job['world_size']} ranks")
    restarts = job["restarts"]
    if restarts["failure"] or restarts["membership"]:
        parts.append(f"restarts: {restarts['failure']} failure, {restarts['membership']} membership")
    if job["step"] is None:
        parts.append(job["headline"]["sentence"])
    return " · ".join(parts)
