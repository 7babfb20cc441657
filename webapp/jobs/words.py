"""Small phrases that sentences about jobs are made of. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime


def listed(names: Iterable[str]) -> str:
    """``node-1``, ``node-1 and node-2``, ``node-1, node-2 and node-3``."""
    words = list(names)
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def count(number: int, thing: str) -> str:
    """``1 rank``, ``4 ranks``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def nth(number: int) -> str:
    """``1st``, ``2nd``, ``3rd``, ``11th``."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def are(names: Iterable[str]) -> str:
    """``node-1 is``, ``node-1 and node-2 are``."""
    words = list(names)
    return f"{listed(words)} {'is' if len(words) == 1 else 'are'}"


def clock(at: datetime) -> str:
    """The time of day in UTC, as sentences give it."""
    return f"{at:%H:%M:%S} UTC"


def span(seconds: float) -> str:
    """``2 h``, ``1 d 12 h``, ``14 min``, ``45 s``: whole units, all of those that are not zero."""
    left, said = round(seconds), list[str]()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        many, left = divmod(left, size)
        said += [f"{many} {unit}"] if many else []
    return " ".join(said) or f"{seconds:g} s"


def ended(rank: int, node: str, said: str) -> str:
    """``Rank 3 on node-2 was killed by SIGKILL``, from what the runner said of the worker's end."""
    was = "was " if said.startswith(("killed", "stopped")) else ""
    return f"Rank {rank} on {node} {was}{said.rstrip('.')}"
