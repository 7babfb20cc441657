"""One batch of journal records into the database: all of it or nothing, each record exactly once."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from agents.wire.codec import Unreadable
from agents.wire.event import KeeperEvent, RunnerEvent
from agents.wire.events import (
    AnyEvent,
    CommandEnded,
    CommandReceived,
    EvidenceKept,
    FaultBegun,
    HookEnded,
    RunnerSettled,
)
from agents.wire.streams import attempt_of
from webapp.database import is_trouble, take_turns
from webapp.events.models import SET_ASIDE, Record, Source
from webapp.fleet.apply import apply_node_event
from webapp.fleet.outbox import find_command
from webapp.jobs.apply import Batch as JobsBatch
from webapp.jobs.locks import lock_jobs_of
from webapp.live.notify import nodes_changed

from .entries import Entry, Verdict, decide, read_entry

log = logging.getLogger("regroup.ingest")

LONGEST_ATTEMPT = 80
"""What a row has room for. PostgreSQL takes no longer one."""


class SomeoneElseWasFirst(Exception):
    """Another ingest has moved the same source on meanwhile. Nothing was written; read again."""


@dataclass(frozen=True)
class Read:
    """An entry and the record in it; without one, ``why_not``."""

    entry: Entry
    event: AnyEvent | None = None
    body: dict[str, Any] = field(default_factory=dict)
    why_not: str = ""


@dataclass
class Taken:
    """What a batch did. Acknowledge ``acks`` and remove ``done`` from the streams."""

    acks: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    """node -> source -> highest committed seq."""
    done: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """node -> entry ids to remove. A gap's too: its node sends again what is not acknowledged."""
    gaps: dict[str, tuple[int, int]] = field(default_factory=dict)
    """source -> (expected, came)."""
    count: int = 0
    """Records taken."""

    def add(self, later: Taken) -> None:
        for node, acks in later.acks.items():
            self.acks[node].update(acks)
        for node, ids in later.done.items():
            self.done[node].extend(ids)
        self.gaps.update(later.gaps)
        self.count += later.count


def take_batch(entries: Sequence[Entry]) -> Taken:
    """Store and fold, in one transaction. A record that cannot be taken is set aside and stops no other.

    Raises:
        SomeoneElseWasFirst: two ingests ran at once; this one wrote nothing.
        DatabaseError, InterfaceError: the database does not answer; nothing was written.
    """
    try:
        return _take(entries)
    except SomeoneElseWasFirst:
        raise
    except Exception as error:
        if is_trouble(error):
            raise
        if len(entries) > 1:
            return _take_one_by_one(entries)
        log.exception("record set aside source=%s seq=%s", entries[0].source, entries[0].seq)
        return _take(entries, f"It could not be applied. {type(error).__name__}: {error}")


def _take_one_by_one(entries: Sequence[Entry]) -> Taken:
    taken = Taken()
    for entry in entries:
        taken.add(take_batch([entry]))
    return taken


def _take(entries: Sequence[Entry], refused: str = "") -> Taken:
    """``refused``: why the records are not even looked at."""
    # Reading takes a while and needs no database, which others wait for.
    read = {entry: _read(entry, refused) for entry in entries}
    with transaction.atomic():
        # Two at once would also commit records in another order than that of their ids, and whoever reads
        # events behind a cursor would miss some.
        take_turns("ingest")
        taken = Taken()
        _store([read[entry] for entry in _claim(entries, taken)])
        return taken


def _read(entry: Entry, refused: str) -> Read:
    try:
        if refused:
            raise Unreadable(refused)
        return Read(entry, *read_entry(entry))
    except Unreadable as reason:
        return Read(entry, why_not=str(reason))


def _claim(entries: Sequence[Entry], taken: Taken) -> list[Entry]:
    """Those that are due, their sources moved on: nobody else can take them any more."""
    before = _read_sources(entries)
    last, due = dict(before), []
    for entry in entries:
        taken.done[entry.node].append(entry.entry_id)
        if not entry.source:
            due.append(entry)
            continue
        match decide(last[entry.source], entry.seq):
            case Verdict.GAP:
                taken.gaps.setdefault(entry.source, (last[entry.source] + 1, entry.seq))
            case Verdict.TAKE:
                last[entry.source] = entry.seq
                due.append(entry)
            case Verdict.SEEN:
                pass
        taken.acks[entry.node][entry.source] = last[entry.source]
    _move_sources(before, last)
    taken.count = len(due)
    return due


def _read_sources(entries: Iterable[Entry]) -> dict[str, int]:
    nodes = {entry.source: entry.node for entry in entries if entry.source}
    known = dict(Source.objects.filter(name__in=nodes).values_list("name", "last_seq"))
    new = [Source(name=name, node=node) for name, node in nodes.items() if name not in known]
    Source.objects.bulk_create(new, ignore_conflicts=True)
    return {name: known.get(name, 0) for name in nodes}


def _move_sources(before: dict[str, int], last: dict[str, int]) -> None:
    for name, seq in sorted(last.items()):
        if seq == before[name]:
            continue
        if not Source.objects.filter(name=name, last_seq=before[name]).update(last_seq=seq):
            raise SomeoneElseWasFirst(name)


def _store(due: Sequence[Read]) -> None:
    jobs, now = JobsBatch(), timezone.now()
    lock_jobs_of(read.event for read in due if read.event is not None)
    records, aside = [], []
    for read in due:
        if read.event is None:
            aside.append(_aside(read.entry, read.why_not, now))
            continue
        records.append(_record(read.event, read.body, now))
        _apply(read.event, jobs)
    Record.objects.bulk_create(records)
    Record.objects.bulk_create(aside, ignore_conflicts=True)
    jobs.finish()


def _apply(event: AnyEvent, jobs: JobsBatch) -> None:
    if isinstance(event, RunnerEvent):
        jobs.runner_event(event)
        return
    if isinstance(event, KeeperEvent):
        jobs.keeper_event(event)
        return
    apply_node_event(event)
    nodes_changed()
    match event:
        case RunnerSettled():
            jobs.settled(event)
        case CommandReceived():
            jobs.command_received(event)
        case CommandEnded():
            jobs.command_ended(event)
        case FaultBegun():
            jobs.fault_begun(event)
        case EvidenceKept() | HookEnded():
            jobs.evidence(event)
        case _:
            pass


def _aside(entry: Entry, why: str, now: datetime) -> Record:
    """When it happened is not known: the time is that of its arrival."""
    return Record(
        source=entry.source or f"stream/{entry.node}/{entry.entry_id}",
        seq=entry.seq,
        kind=SET_ASIDE,
        at=now,
        received_at=now,
        node=entry.node,
        attempt=attempt_of(entry.source)[:LONGEST_ATTEMPT],
        body={
            "node": entry.node,
            "text": entry.text.replace("\0", "\ufffd"),
            "why": why.replace("\0", "\ufffd"),
        },
    )


def _record(event: AnyEvent, body: dict[str, Any], now: datetime) -> Record:
    return Record(
        source=event.source,
        seq=event.seq,
        kind=event.kind,
        at=event.at,
        received_at=now,
        node=event.node,
        attempt=getattr(event, "attempt", "") or _attempt_of(event),
        round=getattr(event, "round", None),
        inferred=event.inferred,
        body=body,
    )


def _attempt_of(event: AnyEvent) -> str:
    """What a command did belongs to the attempt that it was about."""
    if not isinstance(event, CommandEnded | CommandReceived | FaultBegun):
        return ""
    command = find_command(event.command).first()
    return command.attempt if command else ""
