"""Entries of the nodes' event streams: reading one, and deciding what becomes of it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from agents.wire import streams
from agents.wire.codec import Unreadable, read_event
from agents.wire.events import AnyEvent

LONGEST_SOURCE = 200
HIGHEST_SEQ = 2**63 - 1


@dataclass(frozen=True)
class Entry:
    """One entry of a node's stream, as it came. An empty ``source``: it names no record of anybody."""

    node: str
    entry_id: str
    source: str
    seq: int
    text: str


class Verdict(Enum):
    TAKE = "take"
    SEEN = "seen"
    GAP = "gap"


def decide(last_seq: int, seq: int) -> Verdict:
    """A record is taken only when it is the next of its source."""
    if seq == last_seq + 1:
        return Verdict.TAKE
    return Verdict.SEEN if seq <= last_seq else Verdict.GAP


def entry_from(node: str, entry_id: str, fields: Mapping[bytes, bytes]) -> Entry:
    """Never fails: fields that make no sense give an entry without a source."""

    def text(name: str) -> str:
        return fields.get(name.encode(), b"").decode("utf-8", "replace")

    source, seq = text(streams.FIELD_SOURCE), _number(text(streams.FIELD_SEQ))
    named = 0 < len(source) <= LONGEST_SOURCE and "\0" not in source and seq > 0
    body = text(streams.FIELD_BODY)
    return Entry(node, entry_id, source if named else "", seq if named else 0, body)


def _number(text: str) -> int:
    """0 for whatever is no sequence number."""
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        return 0
    return number if (number := int(text)) <= HIGHEST_SEQ else 0


def read_entry(entry: Entry) -> tuple[AnyEvent, dict[str, Any]]:
    """The record, and the same as plain JSON values.

    Raises:
        Unreadable: it is not a record of the source, number and node that it was sent under.
    """
    if not entry.source:
        raise Unreadable("the entry does not name the source and the number of a record")
    text = _without_nul(entry.text)
    event = read_event(text)
    for name, sent in (("source", entry.source), ("seq", entry.seq), ("node", entry.node)):
        if getattr(event, name) != sent:
            raise Unreadable(f"{name} is {getattr(event, name)!r} in the record, and it was sent as {sent!r}")
    if event.at.tzinfo is None:
        raise Unreadable(f"the time {event.at.isoformat()} does not say its time zone")
    body: dict[str, Any] = json.loads(text)
    return event, body


def _without_nul(text: str) -> str:
    """The same JSON with NUL characters replaced, which no text column of PostgreSQL takes."""
    if "\\u0000" not in text:
        return text
    try:
        return json.dumps(_replaced(json.loads(text)), ensure_ascii=False)
    except ValueError as error:
        raise Unreadable(f"not JSON: {error}") from error


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, list):
        return [_replaced(item) for item in value]
    if isinstance(value, dict):
        return {_replaced(key): _replaced(item) for key, item in value.items()}
    return value
