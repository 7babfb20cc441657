"""The newest failure of an attempt, for the place where a person looks first."""

from __future__ import annotations

from collections.abc import Sequence

from agents.wire.lifecycle import RunnerState

from .models import Attempt, Worker
from .schemas import FailureOut
from .words import ended


def newest_failure(
    attempt: Attempt | None, runners: Sequence[RunnerState], nodes: Sequence[str]
) -> FailureOut | None:
    """The first cause in the newest round that had one; else why a runner could not start or go on."""
    if attempt is None:
        return None
    worker = _first_cause(attempt)
    return _of_worker(worker) if worker else _of_runner(runners, nodes)


def _first_cause(attempt: Attempt) -> Worker | None:
    failed = attempt.workers.filter(role="cause").order_by("-round", "ended_at", "rank")
    return failed.first()


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
