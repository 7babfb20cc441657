"""What the members of a round tell each other before it begins: where each of them stands."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ..budget import Standing, standing_from_json, standing_to_json
from ..torch_hooks import Store, _NodeDesc
from .meeting import Pause
from .plain_state import State

MEMBERS_S = 0.2
"""How often a node that waits for the standings of others looks whether they are still there."""


class PeerSilent(Exception):
    """A member of the round did not say where it stands, or has gone."""


@dataclass(frozen=True)
class Formed:
    """A round all of whose members have spoken. In order of group rank."""

    nodes: tuple[str, ...]
    standings: tuple[Standing, ...]
    store: str
    absent: dict[str, str]
    """Why an assigned node is not among them, by its name."""

    @property
    def local_world_sizes(self) -> tuple[int, ...]:
        """Workers on each of the nodes."""
        return tuple(standing.workers for standing in self.standings)

    @property
    def store_host(self) -> str | None:
        """The node that hosts the attempt's store, if it is one of them."""
        return next((standing.node for standing in self.standings if standing.hosts_store), None)


class Exchange:
    """``members``: in order of group rank. ``store``: that of the round's keys. ``look`` reads the state."""

    def __init__(
        self, store: Store, members: tuple[_NodeDesc, ...], me: _NodeDesc, look: Callable[[], State]
    ) -> None:
        self._store, self._members, self._me, self._look = store, members, me, look
        self._keys = [f"standing/{rank}" for rank in range(len(members))]

    def publish(self, mine: Standing) -> None:
        self._store.set(self._keys[self._members.index(self._me)], standing_to_json(mine))

    def read(self, answer_s: float, pause: Pause, poll_s: float) -> tuple[Standing, ...]:
        """Everybody's.

        Raises:
            PeerSilent: one has left, or did not speak within ``answer_s``.
        """
        deadline = time.monotonic() + answer_s
        look_at = time.monotonic() + MEMBERS_S
        while not self._store.check(self._keys):
            if time.monotonic() > look_at:
                look_at = time.monotonic() + MEMBERS_S
                self._expect_members()
            if time.monotonic() > deadline:
                names = ", ".join(node.addr for node in self._silent())
                raise PeerSilent(f"{names} did not answer within {answer_s:.0f} s")
            pause(poll_s)
        return tuple(standing_from_json(text) for text in self._store.multi_get(self._keys))

    def _silent(self) -> list[_NodeDesc]:
        spoken = [self._store.check([key]) for key in self._keys]
        return [node for node, has_spoken in zip(self._members, spoken) if not has_spoken]  # noqa: B905

    def _expect_members(self) -> None:
        there = set(self._look().participants)
        lost = [node.addr for node in (self._me, *self._silent()) if node not in there]
        if lost:
            raise PeerSilent(f"{', '.join(lost)} left while the round formed")
