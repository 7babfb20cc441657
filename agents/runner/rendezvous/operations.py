"""torch's rendezvous operations, with short pauses that a stop can end, and a join without needless waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

from torch.distributed.elastic.rendezvous.dynamic_rendezvous import (
    RendezvousSettings,
    _Action,
    _DistributedRendezvousOpExecutor,
    _NodeDesc,
    _RendezvousContext,
    _RendezvousJoinOp,
    _RendezvousState,
    _RendezvousStateHolder,
)

from .state import all_are_in

POLL_S = 0.02

Operation = Callable[[_RendezvousContext, float], _Action]
Observer = Callable[[_RendezvousState], None]
Pause = Callable[[float], None]


class Executor(_DistributedRendezvousOpExecutor):
    """Looks every 20 ms instead of every second, shows each state to ``observe``."""

    def __init__(
        self,
        node: _NodeDesc,
        holder: _RendezvousStateHolder,
        settings: RendezvousSettings,
        observe: Observer,
        pause: Pause,
    ) -> None:
        super().__init__(node, holder, settings)
        self._observe = observe
        self._pause = pause

    def run(
        self,
        state_handler: Operation,
        deadline: float,
        update_deadline: Callable[[timedelta], float] | None = None,
    ) -> None:
        def patient(ctx: _RendezvousContext, deadline: float) -> _Action:
            while True:
                self._observe(ctx.state)
                action = state_handler(ctx, deadline)
                if action != _Action.SYNC:
                    return action
                self._pause(POLL_S)
                self._state_holder.sync()
                self._state = self._state_holder.state
                ctx = _RendezvousContext(self._node, self._state, self._settings)

        super().run(patient, deadline, update_deadline)


class JoinOp(_RendezvousJoinOp):
    """Closes the round as soon as all assigned nodes are in: no last call for nobody."""

    def __init__(self, assigned: frozenset[str]) -> None:
        self._assigned = assigned

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        action: _Action = super().__call__(ctx, deadline)
        waits = action in (_Action.SYNC, _Action.KEEP_ALIVE)
        is_in = not ctx.state.complete and ctx.node in ctx.state.participants
        if waits and is_in and all_are_in(ctx.state, self._assigned):
            return _Action.MARK_RENDEZVOUS_COMPLETE
        return action


class LeaveOp:
    """Takes the node out of every list, so that nobody waits for its keep-alive to lapse."""

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        if ctx.node in ctx.state.participants:
            action = _Action.REMOVE_FROM_PARTICIPANTS
        elif ctx.node in ctx.state.wait_list:
            action = _Action.REMOVE_FROM_WAIT_LIST
        elif ctx.node in ctx.state.redundancy_list:
            action = _Action.REMOVE_FROM_REDUNDANCY_LIST
        else:
            return _Action.FINISH
        return _Action.ERROR_TIMEOUT if time.monotonic() > deadline else action
