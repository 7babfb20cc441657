"""torch's shared rendezvous state: plain data, without a cache and without comparing clocks of machines."""

from __future__ import annotations

import time

from torch.distributed.elastic.rendezvous import RendezvousConnectionError

from ..torch_hooks import (
    RendezvousBackend,
    RendezvousSettings,
    Token,
    _BackendRendezvousStateHolder,
    _NodeDesc,
    _remove_participant_epilogue,
)
from .liveness import Liveness
from .plain_state import State, decode, encode

LAPSED = "its keep-alive lapsed"
SLOW_S = 0.5
"""A look that took longer has met a store in trouble, and the others may be in more of it."""
PATIENCE_S = 3.5
"""How much longer a silent node is waited for while the workers are well: its machine may just be busy."""


class StateHolder(_BackendRendezvousStateHolder):
    """``settle_s``: see ``Liveness``. ``is_patient``: this node's workers run, and miss nobody so far."""

    _state: State

    def __init__(
        self, backend: RendezvousBackend, settings: RendezvousSettings, settle_s: float = 0.0
    ) -> None:
        super().__init__(backend, settings, cache_duration=0)
        self._state = State()
        interval = settings.keep_alive_interval.total_seconds()
        self._liveness = Liveness(interval * settings.keep_alive_max_attempt, 2 * interval, settle_s)
        self.is_patient = False

    @property
    def state(self) -> State:
        """As of the last ``sync``."""
        return self._state

    def sync(self) -> bool | None:
        """Write the state where it was changed here, else read it; False: another node was quicker."""
        begun = time.monotonic()
        try:
            answer, has_won = self._write() if self._dirty else (self._backend.get_state(), None)
        except RendezvousConnectionError:
            self._liveness.be_blind()
            raise
        if time.monotonic() - begun > SLOW_S:
            self._liveness.be_blind()
        text, self._token = answer if answer is not None else (None, None)
        self._state = State() if text is None else decode(text)
        self._dirty = False
        self._sanitize()
        return has_won

    def _write(self) -> tuple[tuple[bytes, Token] | None, bool]:
        answer = self._backend.set_state(encode(self._state), self._token)
        return (None, False) if answer is None else (answer[:2], answer[2])

    def _sanitize(self) -> None:
        state = self._state
        patience_s = PATIENCE_S if self.is_patient else 0.0
        self._dead_nodes = self._liveness.lapsed(state.last_heartbeats, time.monotonic(), patience_s)
        removed = [self._remove(node) for node in self._dead_nodes]
        if any(removed):
            _remove_participant_epilogue(state, self._settings)

    def _remove(self, node: _NodeDesc) -> bool:
        """Take a node out; says whether it took part in the round."""
        state = self._state
        del state.last_heartbeats[node]
        state.wait_list.discard(node)
        state.redundancy_list.discard(node)
        took_part = state.participants.pop(node, None) is not None
        if node.addr not in names_in(state):
            state.absent[node.addr] = LAPSED
        return took_part


def joined(state: State, node: _NodeDesc) -> tuple[str, ...] | None:
    """Names of those who are in for the coming round. None: ``node`` is not, or the round is formed."""
    if not state.complete and node in state.participants:
        return tuple(sorted(other.addr for other in state.participants))
    if state.complete and node in state.wait_list:
        return tuple(sorted(other.addr for other in state.wait_list))
    return None


def names_in(state: State) -> set[str]:
    """All who have a place in the rendezvous."""
    return {other.addr for other in (*state.participants, *state.wait_list, *state.redundancy_list)}


def expected(state: State, assigned: frozenset[str]) -> frozenset[str]:
    """Who is still to be waited for: the assigned nodes that are not known to stay away, and those that wait.

    Who waits has to be let in with this round, as it would end the next one at once.
    """
    return (assigned - state.absent.keys()) | {other.addr for other in state.wait_list}


def all_are_in(state: State, assigned: frozenset[str]) -> bool:
    """Whether nobody is missing from the participants, and each is there once."""
    names = [other.addr for other in state.participants]
    return len(set(names)) == len(names) and expected(state, assigned) <= set(names)
