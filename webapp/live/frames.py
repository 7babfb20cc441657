"""What a page is sent: first everything, then what differs. Pure."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]

KEYS = {"jobs": "id", "nodes": "name"}
"""How the items of a list topic are told apart."""

AGES = frozenset({"silent_s"})
"""Fields that change by themselves; the page counts them on its own."""


GROWING = frozenset({"goodput"})
"""Fields that grow with time; they come with whatever else changes, and are no change themselves."""


def change_of(topic: str, before: Json, after: Json) -> Json | None:
    """None when nothing differs."""
    return _list_change(topic, before, after) if topic in KEYS else _job_change(before, after)


def frame_text(kind: str, topic: str, n: int, version: int | None, body: str) -> str:
    """``body``: the rest of the frame as JSON, an object that is not empty. Many sockets send the same."""
    head: Json = {"type": kind, "topic": topic, "n": n} | ({} if version is None else {"version": version})
    return f"{json.dumps(head)[:-1]}, {body[1:]}"


def _job_change(before: Json, after: Json) -> Json | None:
    old = {worker["rank"]: worker for worker in before.get("workers", ())}
    new = {worker["rank"]: worker for worker in after.get("workers", ())}
    changed = [worker for rank, worker in new.items() if old.get(rank) != worker]
    gone = [rank for rank in old if rank not in new]
    fields = {k: v for k, v in after.items() if k != "workers" and _steady(before.get(k)) != _steady(v)}
    if not (changed or gone or fields.keys() - GROWING):
        return None
    return {"set": fields, "workers": changed, "gone": gone}


def _list_change(topic: str, before: Json, after: Json) -> Json | None:
    key = KEYS[topic]
    old = {item[key]: item for item in before["items"]}
    new = {item[key]: item for item in after["items"]}
    changed = [item for name, item in new.items() if _steady(old.get(name)) != _steady(item)]
    gone = [name for name in old if name not in new]
    return {"items": changed, "gone": gone} if changed or gone else None


def _steady(value: Any) -> Any:
    """The same without ages, which change all the time and tell nothing new."""
    if isinstance(value, list):
        return [_steady(item) for item in value]
    if isinstance(value, dict):
        return {key: _steady(item) for key, item in value.items() if key not in AGES}
    return value
