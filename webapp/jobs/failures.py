"""The newest failure of an attempt, for the place where a person looks first."""

from __future__ import annotations

from collections.abc import Sequence

from agents.wire.lifecycle import RunnerState

from .models import Attempt, Worker
from .schemas import FailureOut
from .words import ended


def newest_failure(
    of_worker: FailureOut | None, runners: Sequence[RunnerState], nodes: Sequence[str]
) -> FailureOut | None:
    """That of a worker, where there was one; else why a runner could not start or go on."""
    return of_worker or _of_runner(runners, nodes)


def failure_of_worker(attempt: Attempt) -> FailureOut | None:
    """The first cause in the newest round that had one."""
    failed = attempt.workers.filter(role="cause").order_by("-round", "ended_at", "rank")
    worker = failed.first()
    return None if worker is None else _of_worker(worker)


def _of_worker(worker: Worker) -> FailureOut:
    error = worker.error or {}
    return FailureOut(
        rank=worker.rank,
        node=worker.node,
        round=worker.round,
        said=f"{ended(worker.rank, worker.node, worker.said)}.",
        exception=error.get("type"),
        file=error.get("file"),
        line=error.get("line"),
        read_from=error.get("read_from"),
        traceback=error.get("traceback", ""),
    )


def _of_runner(runners: Sequence[RunnerState], nodes: Sequence[str]) -> FailureOut | None:
    for runner, node in zip(runners, nodes, strict=True):
        if runner.outcome == "failed":
            return FailureOut(
                rank=None,
                node=node,
                round=runner.round,
                said=runner.reason,
                exception=None,
                file=None,
                line=None,
                read_from=None,
                traceback="",
            )
    return None
