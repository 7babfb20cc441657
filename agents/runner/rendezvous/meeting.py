"""Where the runners of an attempt meet, whatever keeps it: a shared state under compare-and-set, and keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..torch_hooks import RendezvousBackend, Store

Pause = Callable[[float], None]
"""Sleeps that many seconds, or raises as soon as a stop is asked for."""

POLL_S = 0.02


def _deaf(key: str, announce: Callable[[], None]) -> None:
    """Of a meeting that wakes nobody."""


def _nothing() -> None:
    """A meeting that leaves nothing behind has nothing to close."""


@dataclass(frozen=True)
class Meeting:
    """One runner's way in.

    ``backend`` and ``store`` raise ``RendezvousConnectionError`` or ``DistError`` when they are not reached.
    """

    backend: RendezvousBackend
    store: Store
    """Keys beside the state: where each runner stands, who has finished, why the attempt ended."""
    poll_s: float = POLL_S
    """Seconds between looks at the state while a round forms. Short where looking asks nobody."""
    outlives_outages: bool = False
    """Whether what it keeps is still there once it answers again: until then, well workers train on."""
    settle_s: float = 0.0
    """After an outage, how much later than this runner another one may find its way back."""
    watch: Callable[[str, Callable[[], None]], None] = _deaf
    """``watch(key, announce)``: from another thread, once that key is set or the state changes."""
    close: Callable[[], None] = _nothing
    """Ends connections and threads of this runner's own."""
    clear: Callable[[], None] = _nothing
    """Removes what the attempt left behind, once it has ended and nobody else is left."""


class Venue(Protocol):
    """How to get to a meeting; made before anything is connected."""

    @property
    def where(self) -> str:
        """For sentences, such as ``the rendezvous store at 10.0.0.1:29400``."""

    def open(self, attempt: str, pause: Pause, timeout_s: float | None = None) -> Meeting:
        """Wait for it for ``timeout_s``, or as long as ``join_timeout`` allows.

        Raises:
            StoreError: it cannot be reached or used; says what was tried and what to do.
        """

    def is_gone(self) -> bool:
        """Whether what the attempt kept there is certainly lost. Silence says nothing of the kind."""
