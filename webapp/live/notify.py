"""Says that something changed: a hint for open pages, sent after the commit.

A lost hint costs delay and nothing else. Trouble with Redis never reaches the caller.
"""

from __future__ import annotations

from django.db import transaction

from .sender import sender

JOBS_GROUP = "jobs"
NODES_GROUP = "nodes"


def job_group(job_id: int) -> str:
    return f"job.{job_id}"


def job_changed(job_id: int) -> None:
    """A job's answer is not what it was; nor is the list's row of it."""
    _after_commit(job_group(job_id))
    _after_commit(JOBS_GROUP)


def nodes_changed() -> None:
    _after_commit(NODES_GROUP)


def _after_commit(group: str) -> None:
    """One hint for each group and transaction is enough."""
    connection = transaction.get_connection()
    waiting = (getattr(callback, "regroup_group", None) for _, callback, *_ in connection.run_on_commit)
    if group in waiting:
        return

    def send() -> None:
        sender().offer(group)

    send.regroup_group = group  # type: ignore[attr-defined]  # found again by the look above
    transaction.on_commit(send)
