"""torch's shared rendezvous state, read without a cache and without comparing clocks of machines."""

from __future__ import annotations

import time

from torch.distributed.elastic.rendezvous.dynamic_rendezvous import (
    RendezvousBackend,
    RendezvousSettings,
    _BackendRendezvousStateHolder,
    _NodeDesc,
    _remove_participant_epilogue,
    _RendezvousState,
)

from .liveness import Liveness


class StateHolder(_BackendRendezvousStateHolder):
    def __init__(self, backend: RendezvousBackend, settings: RendezvousSettings) -> None:
        super().__init__(backend, settings, cache_duration=0)
        interval = settings.keep_alive_interval.total_seconds()
        self._liveness = Liveness(interval * settings.keep_alive_max_attempt, gap_s=2 * interval)

    def _sanitize(self) -> None:
        state = self._state
        self._dead_nodes = self._liveness.lapsed(state.last_heartbeats, time.monotonic())
        removed = [self._remove(node) for node in self._dead_nodes]
        if any(removed):
            _remove_participant_epilogue(state, self._settings)

    def _remove(self, node: _NodeDesc) -> bool:
        """Take a node out; says whether it took part in the round."""
        state = self._state
        del state.last_heartbeats[node]
        state.wait_list.discard(node)
        state.redundancy_list.discard(node)
        return state.participants.pop(node, None) is not None


def joined(state: _RendezvousState, node: _NodeDesc) -> tuple[str, ...] | None:
    """Names of those who are in for the coming round. None: ``node`` is not, or the round is formed."""
    if not state.complete and node in state.participants:
        return tuple(sorted(other.addr for other in state.participants))
    if state.complete and node in state.wait_list:
        return tuple(sorted(other.addr for other in state.wait_list))
    return None


def all_are_in(state: _RendezvousState, assigned: frozenset[str]) -> bool:
    """Whether the participants are exactly the assigned nodes, each once."""
    names = [other.addr for other in state.participants]
    return len(names) == len(assigned) and set(names) == assigned


def strangers(state: _RendezvousState, node: _NodeDesc) -> set[_NodeDesc]:
    """All other nodes that still have a place in the rendezvous."""
    return {*state.participants, *state.wait_list, *state.redundancy_list} - {node}
