"""What the training script noted, read: which worlds came up, when, and made of whom.

All times are the monotonic clock of the machine, in seconds, which every process shares.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

Mark = dict[str, Any]


@dataclass(frozen=True)
class World:
    """All ranks of one start, past their first collective."""

    pids: dict[int, int]
    """By global rank."""
    up_at: float
    """When the last rank was past it."""

    @property
    def members(self) -> frozenset[int]:
        return frozenset(self.pids.values())

    def is_alive(self) -> bool:
        return all(_is_alive(pid) for pid in self.pids.values())


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def worlds_of(marks: Iterable[Mark]) -> list[World]:
    """The complete worlds, in the order in which they came up."""
    starts: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        if mark["kind"] == "collective":
            starts[mark["world"]].append(mark)
    complete = [ranks for ranks in starts.values() if len(ranks) == ranks[0]["size"]]
    worlds = [World({m["rank"]: m["pid"] for m in ranks}, max(m["at"] for m in ranks)) for ranks in complete]
    return sorted(worlds, key=lambda world: world.up_at)


class Marks:
    """The file of one job; it may not be there yet."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Mark]:
        try:
            lines = self.path.read_text().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def worlds(self) -> list[World]:
        return worlds_of(self.read())

    def world_since(self, since: float, size: int) -> World | None:
        """The first world of so many ranks that was up after that time."""
        return next((w for w in self.worlds() if w.up_at > since and len(w.pids) == size), None)

    def living_world(self) -> World | None:
        """The newest world, if all its workers are alive."""
        worlds = self.worlds()
        return worlds[-1] if worlds and worlds[-1].is_alive() else None

    def is_warm(self, world: World) -> bool:
        """Whether all its ranks are past their first steps."""
        return world.members <= {mark["pid"] for mark in self.read() if mark["kind"] == "warm"}

    def first_lines(self) -> dict[int, float]:
        """When each rank ran its first statement, the newest of each."""
        return {mark["rank"]: mark["at"] for mark in self.read() if mark["kind"] == "first_line"}

    def step_s(self) -> float | None:
        """Seconds per step of the slowest rank, once all that were in the world have told."""
        told = [mark["step_s"] for mark in self.read() if mark["kind"] == "steps"]
        worlds = self.worlds()
        return max(told) if worlds and len(told) == len(worlds[-1].pids) else None
