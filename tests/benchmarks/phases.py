"""Where the time of a recovery went, from the records of the runners: pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

PHASES = ("detect", "stop", "rendezvous", "start", "process_group")
"""Each lasts until the last node is through; together they are the whole time."""
_ENDS = ("rendezvous_begun", "rendezvous_completed", "workers_started")
"""The record that ends each of the three in the middle."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Kill:
    """Times in seconds since the epoch, which is what records carry."""

    pid: int
    at: float
    recovered_at: float | None
    """None: it was not back when patience was at an end."""
    pids: frozenset[int] = frozenset()
    """The workers of the world that came back."""


def _time(record: Record) -> float:
    return datetime.fromisoformat(record["at"]).timestamp()


def _after(kill: Kill, records: Sequence[Record], kind: str) -> list[Record]:
    return [record for record in records if record["kind"] == kind and _time(record) >= kill.at]


def _exit_of(kill: Kill, records: Sequence[Record]) -> Record | None:
    exits = _after(kill, records, "worker_exited")
    return next((record for record in exits if record["worker"]["pid"] == kill.pid), None)


def is_told(kill: Kill, records: Sequence[Record]) -> bool:
    """Whether the worker's end is among them, and the start of all workers that came back."""
    records_of_starts = _after(kill, records, "workers_started")
    started = {worker["pid"] for record in records_of_starts for worker in record["workers"]}
    return _exit_of(kill, records) is not None and kill.pids <= started


def phases_of(kill: Kill, records: Sequence[Record]) -> dict[str, float]:
    """Seconds of each phase. Only for a recovered kill that ``is_told``."""
    exited = _exit_of(kill, records)
    assert exited is not None
    assert kill.recovered_at is not None
    middle = [max(_time(record) for record in _after(kill, records, kind)) for kind in _ENDS]
    ends = [_time(exited), *middle, kill.recovered_at]
    begins = [kill.at, *ends[:-1]]
    return {name: end - begin for name, begin, end in zip(PHASES, begins, ends, strict=True)}
