"""Which nodes' keep-alives have lapsed, by the observer's own clock. Pure.

torch compares wall clocks of different machines; here a node is gone when its keep-alive has
not *changed* for long enough while this process was really looking.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)

LONGEST_LENIENCE_S = 60.0
"""What one keep-alive may be forgiven in all: a store that is slow for ever must not keep the dead alive."""


@dataclass(frozen=True)
class _Seen:
    value: object
    first_at: float
    since: float
    """From when on its age counts: ``first_at``, and later by what was forgiven."""


class Liveness:
    """``ttl_s``: how long a keep-alive lasts. ``gap_s``: a longer pause between looks is our own.

    ``settle_s``: after looks that showed nothing, how long every node has at least to find its way back to
    the store before its ``ttl_s`` begins. Each does so by itself, and one may need longer than another.
    """

    def __init__(self, ttl_s: float, gap_s: float, settle_s: float = 0.0) -> None:
        self._ttl_s, self._gap_s, self._settle_s = ttl_s, gap_s, settle_s
        self._looked_at: float | None = None
        self._was_blind = False
        self._seen: dict[Hashable, _Seen] = {}

    def lapsed(self, keep_alives: Mapping[Node, object], now: float, patience_s: float = 0.0) -> list[Node]:
        """The nodes that are gone at ``now`` (seconds, monotonic), after ``ttl_s`` and ``patience_s``."""
        self._forgive_own_pause(now)
        seen: dict[Node, _Seen] = {}
        for node, value in keep_alives.items():
            before = self._seen.get(node)
            seen[node] = before if before and before.value == value else _Seen(value, now, now)
        self._seen = dict(seen.items())
        return [node for node, one in seen.items() if now - one.since > self._ttl_s + patience_s]

    def be_blind(self) -> None:
        """A look showed nothing: until the next one that does, nobody could be seen."""
        self._was_blind = True

    def _forgive_own_pause(self, now: float) -> None:
        pause = now - self._looked_at if self._looked_at is not None else 0.0
        was_blind, self._was_blind = self._was_blind, False
        self._looked_at = now
        if was_blind or pause > self._gap_s:
            settled_at = now + self._settle_s if was_blind and self._settle_s else 0.0
            self._seen = {node: _forgiven(one, pause, settled_at) for node, one in self._seen.items()}


def _forgiven(one: _Seen, pause: float, settled_at: float) -> _Seen:
    most = max(one.since, one.first_at + LONGEST_LENIENCE_S)
    return replace(one, since=min(most, max(one.since + pause, settled_at)))
