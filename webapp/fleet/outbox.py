"""The outbox: a command is a row written with its intent, sent after the commit, closed only by evidence.

Killed between any two lines: a row that was never sent is sent by the sweep, and one that was sent
twice is carried out once, because nodes know it by its id.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import redis
from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models import Case, F, QuerySet, Value, When
from django.utils import timezone

from agents.wire import streams
from agents.wire.commands import AnyCommand
from agents.wire.plain import to_json
from webapp.accounts.models import Account
from webapp.redis import get_redis
from webapp.sealing import KeyTrouble

from .models import Command, CommandState, Node
from .sealed_start import body_for_node

log = logging.getLogger("regroup.outbox")

UNDERWAY_S = 1.0
"""A command that was sent so recently may be on its way."""
SLACK_S = 2.0
"""How much later than its deadline a command may still be reported as received."""

STREAM_LENGTH = 10_000
"""Entries that a command stream keeps at most; ended commands are removed from it one by one."""

OPEN = (CommandState.WAITING, CommandState.SENT, CommandState.RECEIVED)
NOT_TAKEN = (CommandState.WAITING, CommandState.SENT)
REPLACEABLE = (*OPEN, CommandState.UNDELIVERED)
"""``undelivered`` is a conclusion from silence; what a node says later overrules it."""


def write_command(
    node: str,
    command: AnyCommand,
    *,
    job: int | None = None,
    attempt: str = "",
    by: Account | None = None,
    sealed: str = "",
) -> Command:
    """Write the command in the caller's transaction; it is sent once that has committed.

    ``sealed``: the secrets that it takes along, which stand masked in it.
    """
    row = Command.objects.create(
        id=UUID(command.id),
        node=node,
        kind=command.kind,
        body=json.loads(to_json(command)),
        sealed=sealed,
        job=job,
        attempt=attempt,
        deadline_s=command.deadline_s,
        by=by,
        why=command.why,
        created_at=timezone.now(),
    )
    transaction.on_commit(lambda: _send_or_leave(row))
    return row


def send_waiting(limit: int = 100) -> int:
    """Send what was left behind, oldest first; gives how many were sent.

    Raises:
        redis.RedisError: Redis does not answer; the rows stay waiting.
    """
    rows = list(Command.objects.filter(state=CommandState.WAITING).order_by("created_at")[:limit])
    return sum(_send(row) for row in rows)


def send_lost(limit: int = 100) -> int:
    """Send again what was sent and lies in no stream any more, as after Redis has lost its data.

    Raises:
        redis.RedisError: Redis does not answer.
    """
    before = timezone.now() - timedelta(seconds=UNDERWAY_S)
    rows = list(
        Command.objects.filter(state=CommandState.SENT, sent_at__lt=before).order_by("sent_at")[:limit]
    )
    pipeline = get_redis().pipeline(transaction=False)
    for row in rows:
        pipeline.xrange(streams.commands(row.node), row.entry_id, row.entry_id)
    return sum(_send(row) for row, found in zip(rows, pipeline.execute(), strict=True) if not found)


def _send_or_leave(row: Command) -> None:
    try:
        _send(row)
    except (redis.RedisError, DatabaseError) as error:
        # It is written, so that whoever asked for it is not told otherwise. Sent twice it is done once.
        log.warning("command left for the sweep command=%s node=%s error=%s", row.id, row.node, error)


def _send(row: Command) -> bool:
    """False when it is too late for it, or its secrets cannot go along: it will expire."""
    if timezone.now() > row.created_at + timedelta(seconds=row.deadline_s):
        return False
    try:
        body = body_for_node(row)
    except KeyTrouble as trouble:
        _note_unsendable(row, str(trouble))
        return False
    fields: dict[Any, Any] = {streams.FIELD_BODY: json.dumps(body, ensure_ascii=False)}
    entry = get_redis().xadd(streams.commands(row.node), fields, maxlen=STREAM_LENGTH, approximate=True)
    entry_id = entry.decode() if isinstance(entry, bytes) else str(entry)
    # The node may have been quicker, so that the state is left alone unless it is still the first one.
    is_first = When(state=CommandState.WAITING, then=Value(CommandState.SENT))
    state = Case(is_first, default=F("state"))
    # A transaction stands in line for SQLite, which a single statement does not.
    with transaction.atomic():
        return bool(find_command(str(row.id)).update(entry_id=entry_id, sent_at=timezone.now(), state=state))


def _note_unsendable(row: Command, why: str) -> None:
    """It is tried again until its deadline: a key may be put back meanwhile."""
    if find_command(str(row.id)).exclude(reason=why).update(reason=why):
        log.error("command cannot be sent command=%s node=%s: %s", row.id, row.node, why)


def mark_received(command_id: str, at: datetime) -> bool:
    """The node has it. False when it is not known or further on already."""
    waiting = find_command(command_id).filter(state__in=(*NOT_TAKEN, CommandState.UNDELIVERED))
    return bool(waiting.update(state=CommandState.RECEIVED, received_at=at, ended_at=None, reason=""))


def close_command(
    command_id: str, outcome: str, reason: str, evidence: dict[str, Any], at: datetime
) -> Command | None:
    """End it as the node says; gives the row, or None when it is not known or has ended before."""
    state = CommandState(outcome)
    if not state.is_final:
        raise ValueError(f"{outcome!r} is no way for a command to end")
    if (
        not find_command(command_id)
        .filter(state__in=REPLACEABLE)
        .update(state=state, reason=reason, evidence=evidence, ended_at=at)
    ):
        return None
    row = find_command(command_id).get()
    transaction.on_commit(lambda: _remove(row))
    return row


def find_late(limit: int = 100) -> list[Command]:
    """What no node has taken by its deadline."""
    now = timezone.now()
    return [
        row
        for row in Command.objects.filter(state__in=NOT_TAKEN).order_by("created_at")[:limit]
        if now > (row.sent_at or row.created_at) + timedelta(seconds=row.deadline_s + SLACK_S)
    ]


def expire(row: Command) -> bool:
    """End it as ``undelivered``. False when a node has taken it meanwhile."""
    now = timezone.now()
    reason = (
        f"{_how_far(row)} within {row.deadline_s:g} s{_heard(row.node, now)}. "
        "As far as is known nothing was done. Look whether its node agent runs, and ask again."
    )
    taken = Command.objects.filter(id=row.id, state__in=NOT_TAKEN)
    if not taken.update(state=CommandState.UNDELIVERED, reason=reason, ended_at=now):
        return False
    row.state, row.reason, row.ended_at = CommandState.UNDELIVERED, reason, now
    transaction.on_commit(lambda: _remove(row))
    return True


def _how_far(row: Command) -> str:
    if row.sent_at is None and row.reason:
        return f"It could not be given its secret variables. {row.reason} It was not sent to {row.node}"
    if row.sent_at is None:
        return f"Redis could not be given it for {row.node}"
    return f"{row.node} has not said that it has it"


def _heard(node: str, now: datetime) -> str:
    heard_at = Node.objects.filter(name=node).values_list("last_heard_at", flat=True).first()
    return (
        ", and was never heard"
        if heard_at is None
        else f"; last heard {(now - heard_at).total_seconds():.0f} s ago"
    )


def _remove(row: Command) -> None:
    """Take its entry out of the stream. One that stays behind does no harm: the node knows the id."""
    if not row.entry_id:
        return
    try:
        get_redis().xdel(streams.commands(row.node), row.entry_id)
    except redis.RedisError as error:
        log.warning("entry stays in the stream command=%s node=%s error=%s", row.id, row.node, error)


def find_command(command_id: str) -> QuerySet[Command]:
    """The row with that id, or none when it is unknown or no id at all."""
    return find_commands([command_id])


def find_commands(command_ids: Iterable[str]) -> QuerySet[Command]:
    return Command.objects.filter(pk__in=[known for text in command_ids if (known := _uuid(text))])


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
