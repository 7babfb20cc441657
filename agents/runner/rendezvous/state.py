"""torch's shared rendezvous state: plain data, without a cache and without comparing clocks of machines."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from torch.distributed.elastic.rendezvous import RendezvousConnectionError

from ..torch_hooks import (
    RendezvousBackend,
    RendezvousSettings,
    Token,
    _BackendRendezvousStateHolder,
    _NodeDesc,
)
from .liveness import Liveness
from .places import LAPSED, drop, names_in
from .plain_state import State, decode, encode

SLOW_S = 0.5
"""A look that took longer has met a store in trouble, and the others may be in more of it."""
PATIENCE_S = 3.5
"""How much longer a silent node is waited for while the workers are well: its machine may just be busy."""


class StateHolder(_BackendRendezvousStateHolder):
    """``settle_s``: see ``Liveness``. ``is_patient``: this node's workers run.

    Without ``outlives_outages`` one look that fails is the last: an answer that is overdue may still come,
    and would be taken for that to the next question.
    """

    _state: State

    def __init__(
        self,
        backend: RendezvousBackend,
        settings: RendezvousSettings,
        settle_s: float = 0.0,
        outlives_outages: bool = True,
    ) -> None:
        super().__init__(backend, settings, cache_duration=0)
        self._state = State()
        interval = settings.keep_alive_interval.total_seconds()
        self._liveness = Liveness(interval * settings.keep_alive_max_attempt, 2 * interval, settle_s)
        self.is_patient = False
        self.misses_peer: Callable[[], bool] = lambda: False
        """Asked when a keep-alive has lapsed: whether a worker here says that it lost a peer."""
        self._outlives_outages = outlives_outages
        self._lost: RendezvousConnectionError | None = None

    @property
    def state(self) -> State:
        """As of the last ``sync``."""
        return self._state

    def sync(self) -> bool | None:
        """Write the state where it was changed here, else read it; False: another node was quicker."""
        if self._lost is not None:
            raise self._lost
        begun = time.monotonic()
        try:
            answer, has_won = self._write() if self._dirty else (self._backend.get_state(), None)
        except RendezvousConnectionError as error:
            self._liveness.be_blind()
            self._lost = None if self._outlives_outages else error
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

    def _gone(self, keep_alives: Mapping[_NodeDesc, object], now: float) -> list[_NodeDesc]:
        silent = self._liveness.lapsed(keep_alives, now)
        if silent and self.is_patient and not self.misses_peer():
            return self._liveness.lapsed(keep_alives, now, PATIENCE_S)
        return silent

    def _sanitize(self) -> None:
        state = self._state
        self._dead_nodes = self._gone(state.last_heartbeats, time.monotonic())
        drop(state, self._dead_nodes, self._settings)
        lapsed = {node.addr for node in self._dead_nodes} - names_in(state)
        state.absent.update(dict.fromkeys(lapsed, LAPSED))
