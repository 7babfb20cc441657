"""Words that a shell offers after Tab: ids of jobs and names of nodes, within a moment or not at all."""

from __future__ import annotations

import os
from typing import Any

from .config import find_door
from .refusals import Refusal

TIMEOUT_S = 0.8
"""Nobody waits longer for Tab."""


def jobs(incomplete: str) -> list[tuple[str, str]]:
    """Those that live come first."""
    found = _items("/jobs", limit=100)
    found.sort(key=lambda job: job["ended_at"] is not None)
    return [
        (str(job["id"]), f"{job['name']} ({job['state']})")
        for job in found
        if str(job["id"]).startswith(incomplete)
    ]


def nodes(incomplete: str) -> list[tuple[str, str]]:
    return [
        (node["name"], node["state"])
        for node in _items("/nodes", limit=500)
        if node["name"].startswith(incomplete)
    ]


def _items(path: str, limit: int) -> list[dict[str, Any]]:
    """Nothing where the hub is not known, not there, or slow: Tab is no place for errors."""
    try:
        door = find_door(None, None, os.environ)
        from .hub import Hub

        with Hub(door, TIMEOUT_S) as hub:
            items: list[dict[str, Any]] = hub.get(path, limit=limit)["items"]
            return items
    except Refusal:
        return []
