"""Samples the workers of this node every two seconds: how they stand, and what they use.

A sample is one value in Redis that expires, not a record: what was a minute ago is nobody's question.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from redis import Redis

from .. import procs
from ..bundle import Bundle
from ..stall_marks import MATCHED
from ..wire import streams
from ..wire.plain import now, to_json
from ..wire.usage import NodeUsage, WorkerUsage
from .probes.gpu_usage import GpuUsage
from .workers import NewestRound, NodeRound, NodeWorker

PERIOD_S = 2.0
DEPTH = 3
"""So many generations of a worker's children count."""


class Usage:
    """``bundles`` gives those whose runners are not settled."""

    def __init__(
        self,
        redis: Redis,
        node: str,
        bundles: Callable[[], Iterable[Bundle]],
        gpus: GpuUsage,
        stopping: threading.Event,
    ) -> None:
        self._redis, self._node, self._bundles = redis, node, bundles
        self._gpus, self._stopping = gpus, stopping
        self._rounds: dict[Path, NewestRound] = {}
        self._cpu, self._states = Cpu(), States()

    def step(self) -> None:
        # Before it is looked at anybody: what is told of them is never older than that.
        at = now()
        workers = tuple(self._sample())
        if workers:
            text = to_json(NodeUsage(at=at, workers=workers))
            self._redis.set(streams.usage(self._node), text, ex=streams.USAGE_S)
        self._stopping.wait(PERIOD_S)

    def _sample(self) -> Iterable[WorkerUsage]:
        bundles = {bundle.folder: bundle for bundle in self._bundles()}
        self._rounds = {
            folder: self._rounds.get(folder) or NewestRound(bundle) for folder, bundle in bundles.items()
        }
        self._cpu.turn()
        self._states.turn()
        for folder, bundle in bundles.items():
            newest = self._rounds[folder].read()
            if newest is not None:
                yield from (self._look(bundle, newest, worker) for worker in newest.workers)

    def _look(self, bundle: Bundle, newest: NodeRound, worker: NodeWorker) -> WorkerUsage:
        figures = procs.figures_of(worker.ref.pid)
        is_there = figures is not None and figures.start_time == worker.ref.start_time
        family = _family(worker.ref.pid) if is_there else []
        folder = bundle.rank_folder(newest.number, worker.rank)
        gpu = self._gpus.of(bundle, worker.local_rank, len(newest.workers))
        state = figures.state if figures is not None and is_there else ""
        return WorkerUsage(
            attempt=bundle.attempt,
            round=newest.number,
            rank=worker.rank,
            pid=worker.ref.pid,
            start_time=worker.ref.start_time,
            state=state,
            state_s=self._states.lasts_s((worker.ref.pid, worker.ref.start_time), state),
            cpu=self._cpu.used(family) if is_there else None,
            rss_bytes=sum(one.rss_bytes for _, one in family) if is_there else None,
            gpu=gpu.busy if gpu else None,
            gpu_memory_bytes=gpu.memory_bytes if gpu else None,
            gpu_index=gpu.index if gpu else None,
            said_s=_age_s(folder / "report.jsonl"),
            wrote_s=_youngest(folder / "stdout.log", folder / "stderr.log"),
            matched_s=_age_s(folder / MATCHED),
        )


Family = list[tuple[int, procs.Figures]]


def _family(pid: int) -> Family:
    """The process and its children."""
    found: Family = []
    generation = [pid]
    for _ in range(DEPTH):
        found += [(one, figures) for one in generation if (figures := procs.figures_of(one)) is not None]
        generation = [child for one in generation for child in procs.children_of(one)]
    return found


class States:
    """How long processes have been found in the state that they are in. A single look tells little."""

    def __init__(self) -> None:
        self._before: dict[tuple[int, int], tuple[str, float]] = {}
        self._now: dict[tuple[int, int], tuple[str, float]] = {}

    def turn(self) -> None:
        """Call before each sample."""
        self._before, self._now = self._now, {}

    def lasts_s(self, process: tuple[int, int], state: str) -> float:
        at = time.monotonic()
        before, since = self._before.get(process, ("", at))
        self._now[process] = (state, since if before == state else at)
        return round(at - self._now[process][1], 3)


class Cpu:
    """How many cores a family has used from one sample to the next."""

    def __init__(self) -> None:
        self._at, self._passed_s = time.monotonic(), 0.0
        self._before: dict[tuple[int, int], float] = {}
        self._now: dict[tuple[int, int], float] = {}

    def turn(self) -> None:
        """Call before each sample."""
        at = time.monotonic()
        self._passed_s, self._at = at - self._at, at
        self._before, self._now = self._now, {}

    def used(self, family: Family) -> float | None:
        """None at the first sight of its first member."""
        keys = [((pid, figures.start_time), figures.cpu_s) for pid, figures in family]
        self._now.update(keys)
        if not keys or keys[0][0] not in self._before or self._passed_s <= 0:
            return None
        used_s = sum(cpu_s - self._before.get(key, cpu_s) for key, cpu_s in keys)
        return round(used_s / self._passed_s, 3)


def _age_s(path: Path) -> float | None:
    """Seconds since the file was written last. None: it is not there, or empty."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return round(max(0.0, time.time() - facts.st_mtime), 3) if facts.st_size else None


def _youngest(*paths: Path) -> float | None:
    return min((age for path in paths if (age := _age_s(path)) is not None), default=None)
