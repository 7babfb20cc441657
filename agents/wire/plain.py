"""Dataclasses to and from plain JSON values with the standard library alone.

The runner has nothing else. Whoever may be handed nonsense uses ``codec`` instead.
"""

from __future__ import annotations

import dataclasses
import json
from datetime import datetime, timezone
from typing import Any

from .code import CodeSource
from .spec import LISTS, JobSpec, StartMessage


def now() -> datetime:
    """The time as an aware UTC datetime."""
    return datetime.now(timezone.utc)


def _default(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds")
    raise TypeError(f"{type(value).__name__} has no place in a message")


def to_json(message: Any) -> str:
    """One message as one line of JSON."""
    return json.dumps(
        dataclasses.asdict(message), default=_default, ensure_ascii=False, separators=(",", ":")
    )


def _known(cls: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    names = {f.name for f in dataclasses.fields(cls)}
    return {key: value for key, value in values.items() if key in names}


def start_message_from_json(text: str) -> StartMessage:
    """Read back a start message that a node agent wrote with ``to_json``."""
    values = _known(StartMessage, json.loads(text))
    spec = _known(JobSpec, values["spec"])
    for name in LISTS:
        if name in spec:
            spec[name] = tuple(spec[name])
    values["spec"] = JobSpec(**spec)
    values["nodes"] = tuple(values["nodes"])
    if values.get("code") is not None:
        values["code"] = CodeSource(**_known(CodeSource, values["code"]))
    return StartMessage(**values)
