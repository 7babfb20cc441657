"""What a node says of its workers every two seconds: how they stand and what they use. Not kept anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class WorkerUsage:
    """One worker process. Ages are of the moment of the sample."""

    attempt: str
    round: int
    rank: int
    pid: int
    start_time: int
    state: str
    """The kernel's letter: R, S, D, T, Z. Empty: it is gone."""
    state_s: float = 0.0
    """For so many seconds every sample has found it so. 0: this one is the first."""
    cpu: float | None = None
    """Cores that it and its children have used since the sample before. None: there is none before."""
    rss_bytes: int | None = None
    """Memory of the same in use; what they share counts for each."""
    gpu: float | None = None
    """Share of the time that its GPU was busy, from 0 to 1. None: it has none, or NVML does not tell."""
    gpu_memory_bytes: int | None = None
    """In use on its GPU, by whomever."""
    gpu_index: int | None = None
    said_s: float | None = None
    """Seconds since it last reported anything. None: it has reported nothing in this round."""
    wrote_s: float | None = None
    """Seconds since it last wrote to stdout or stderr. None: nothing is there."""
    matched_s: float | None = None
    """Seconds since its last line that the job's ``stall_log_regex`` matches. None: none has come."""


@dataclass(frozen=True, kw_only=True)
class NodeUsage:
    at: datetime
    """By the node's clock."""
    workers: tuple[WorkerUsage, ...] = ()
