"""Says that something changed: a hint for open pages, sent after the commit.

A lost hint costs delay and nothing else. Trouble with Redis never reaches the caller.
"""

from __future__ import annotations

import logging
import threading

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

log = logging.getLogger("regroup.live")

JOBS_GROUP = "jobs"
NODES_GROUP = "nodes"

_said_lost = threading.Event()


def job_group(job_id: int) -> str:
    return f"job.{job_id}"


def job_changed(job_id: int) -> None:
    """A job's answer is not what it was; nor is the list's row of it."""
    _after_commit(job_group(job_id), {"job": job_id})
    _after_commit(JOBS_GROUP, {"job": job_id})


def nodes_changed() -> None:
    _after_commit(NODES_GROUP, {})


def _after_commit(group: str, hint: dict[str, object]) -> None:
    connection = transaction.get_connection()
    key = (group, tuple(hint.items()))
    if not connection.in_atomic_block:
        _send(group, hint)
        return
    # One hint for each group and transaction is enough.
    if any(getattr(callback, "regroup_hint", None) == key for _, callback, *_ in connection.run_on_commit):
        return

    def send() -> None:
        _send(group, hint)

    send.regroup_hint = key  # type: ignore[attr-defined]  # found again by the line above
    transaction.on_commit(send)


def _send(group: str, hint: dict[str, object]) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    message = {"type": "changed", "group": group, **hint}
    try:
        async_to_sync(layer.group_send)(group, message)
        _said_lost.clear()
    except Exception as error:  # noqa: BLE001  # whatever is wrong with the layer, the page only learns of it later
        if not _said_lost.is_set():
            _said_lost.set()
            log.warning("live hints are not sent: %s", error)
