"""Which nodes' keep-alives have lapsed, by the observer's own clock. Pure.

torch compares wall clocks of different machines; here a node is gone when its keep-alive has
not *changed* for long enough while this process was really looking.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


class Liveness:
    """``ttl_s``: how long a keep-alive lasts. ``gap_s``: a longer pause between looks is our own."""

    def __init__(self, ttl_s: float, gap_s: float) -> None:
        self._ttl_s = ttl_s
        self._gap_s = gap_s
        self._looked_at: float | None = None
        self._was_blind = False
        self._seen: dict[Hashable, tuple[object, float]] = {}

    def lapsed(self, keep_alives: Mapping[Node, object], now: float) -> list[Node]:
        """The nodes that are gone at ``now`` (seconds, monotonic)."""
        self._forgive_own_pause(now)
        seen: dict[Node, tuple[object, float]] = {}
        for node, value in keep_alives.items():
            before = self._seen.get(node)
            seen[node] = before if before is not None and before[0] == value else (value, now)
        self._seen = {node: value for node, value in seen.items()}  # noqa: C416 - widens the key type
        return [node for node, (_, since) in seen.items() if now - since > self._ttl_s]

    def be_blind(self) -> None:
        """A look showed nothing: until the next one that does, nobody could be seen."""
        self._was_blind = True

    def _forgive_own_pause(self, now: float) -> None:
        pause = now - self._looked_at if self._looked_at is not None else 0.0
        was_blind, self._was_blind = self._was_blind, False
        self._looked_at = now
        if was_blind or pause > self._gap_s:
            self._seen = {node: (value, since + pause) for node, (value, since) in self._seen.items()}
