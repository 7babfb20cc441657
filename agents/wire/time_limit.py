"""How long a job may run, as it is written: ``2h``, ``1d 12h``, ``90m``, ``02:00:00``, ``7200``. Pure."""

from __future__ import annotations

import re
from typing import Any

from .torchrun import Rule

LONGEST_S = 366 * 86400.0
_NUMBER = r"(\d+(?:\.\d+)?)"
_PARTS = re.compile(rf"^(?:{_NUMBER}d)?\s*(?:{_NUMBER}h)?\s*(?:{_NUMBER}m(?:in)?)?\s*(?:{_NUMBER}s)?$", re.A)
_CLOCK = re.compile(r"^(?:(\d+)-)?(\d+):([0-5]\d):([0-5]\d)$", re.A)
_SECONDS = re.compile(rf"^{_NUMBER}$", re.A)
_SIZES = (86400, 3600, 60, 1)


def read_time_limit(text: str) -> float | None:
    """In seconds. None: it cannot be read, such as ``30:00``, which may be minutes or hours."""
    text = text.strip()
    if seconds := _SECONDS.match(text):
        return _allowed(float(seconds[1]))
    found = _CLOCK.match(text) or (_PARTS.match(text) if text else None)
    if found is None:
        return None
    return _allowed(sum(float(part or 0) * size for part, size in zip(found.groups(), _SIZES, strict=True)))


def _allowed(seconds: float) -> float | None:
    return seconds if 0 < seconds <= LONGEST_S else None


def _is_limit(value: Any) -> bool:
    return value is None or read_time_limit(value) is not None


RULES: dict[str, Rule] = {
    "time_limit": Rule(
        _is_limit,
        "Write how long it may run, such as 2h, 1d12h, 90m or 02:00:00 (hours first), or a number of "
        "seconds, at most 366 days. Leave it out for no limit.",
    ),
}
