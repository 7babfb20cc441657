"""torch's rendezvous operations, with short pauses that a stop can end, and a join without needless waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import cast

from ..torch_hooks import (
    RendezvousSettings,
    _Action,
    _DistributedRendezvousOpExecutor,
    _NodeDesc,
    _RendezvousContext,
    _RendezvousJoinOp,
    _RendezvousStateHolder,
)
from .meeting import Pause
from .plain_state import State
from .state import all_are_in, expected

Operation = Callable[[_RendezvousContext, float], _Action]
Observer = Callable[[State], None]


class Executor(_DistributedRendezvousOpExecutor):
    """Looks every ``poll_s`` seconds instead of every second, shows each state to ``observe``.

    ``order``: the names of the nodes by group rank, where that is fixed. Otherwise ranks follow the names.
    """

    def __init__(
        self,
        node: _NodeDesc,
        holder: _RendezvousStateHolder,
        settings: RendezvousSettings,
        observe: Observer,
        pause: Pause,
        poll_s: float,
        order: Sequence[str] = (),
    ) -> None:
        super().__init__(node, holder, settings)
        self._order = order
        self._poll_s = poll_s
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
                self._observe(cast(State, ctx.state))
                action = state_handler(ctx, deadline)
                if action != _Action.SYNC:
                    return action
                self._pause(self._poll_s)
                self._state_holder.sync()
                self._state = self._state_holder.state
                ctx = _RendezvousContext(self._node, self._state, self._settings)

        super().run(patient, deadline, update_deadline)

    def _mark_rendezvous_complete(self) -> None:
        super()._mark_rendezvous_complete()
        if self._order:
            nodes = sorted(self._state.participants, key=lambda node: self._order.index(node.addr))
            self._state.participants.update((node, rank) for rank, node in enumerate(nodes))


class LastCall:
    """How long a round with enough nodes still waits, by this node's own monotonic clock.

    torch writes the end of it as a wall-clock time, which another clock reads as past or far away.
    """

    def __init__(self, last_s: float) -> None:
        self._last_s = last_s
        self._call: object = None
        self._since = 0.0

    def is_over(self, call: object, now: float) -> bool:
        """``call`` is what stands in the state; another one begins anew. ``now`` in seconds."""
        if call != self._call:
            self._call, self._since = call, now
        return call is not None and now - self._since > self._last_s


class JoinOp(_RendezvousJoinOp):
    """Closes the round as soon as everybody who is expected is in: no last call for nobody."""

    def __init__(self, assigned: frozenset[str], last_call_s: float) -> None:
        self._assigned = assigned
        self._last_call = LastCall(last_call_s)

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        action = self._ask_torch(ctx, deadline)
        state = cast(State, ctx.state)
        if action in (_Action.ADD_TO_PARTICIPANTS, _Action.ADD_TO_WAIT_LIST, _Action.ADD_TO_REDUNDANCY_LIST):
            state.absent.pop(ctx.node.addr, None)
        waits = action in (_Action.SYNC, _Action.KEEP_ALIVE)
        if waits and self._may_close(ctx, state):
            return _Action.MARK_RENDEZVOUS_COMPLETE
        return action

    def _ask_torch(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        """With the last call hidden: whether it is over is asked here, not of the wall clock."""
        call, ctx.state.deadline = ctx.state.deadline, None
        try:
            action: _Action = super().__call__(ctx, deadline)
        finally:
            ctx.state.deadline = call
        return action

    def _may_close(self, ctx: _RendezvousContext, state: State) -> bool:
        if state.complete or ctx.node not in state.participants:
            return False
        enough = len(state.participants) >= ctx.settings.min_nodes
        if enough and all_are_in(state, self._assigned):
            return True
        if not self._last_call.is_over(state.deadline, time.monotonic()):
            return False
        self._let_go(ctx, state)
        return True

    def _let_go(self, ctx: _RendezvousContext, state: State) -> None:
        """The next rounds do not wait for them again."""
        last_call_s = ctx.settings.timeout.last_call.total_seconds()
        for name in expected(state, self._assigned) - {node.addr for node in state.participants}:
            state.absent[name] = f"it did not join within {last_call_s:.0f} s (last_call_timeout)"


class LeaveOp:
    """Takes the node out of every list, so that nobody waits for its keep-alive to lapse, or for itself."""

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        if ctx.node in ctx.state.participants:
            action = _Action.REMOVE_FROM_PARTICIPANTS
        elif ctx.node in ctx.state.wait_list:
            action = _Action.REMOVE_FROM_WAIT_LIST
        elif ctx.node in ctx.state.redundancy_list:
            action = _Action.REMOVE_FROM_REDUNDANCY_LIST
        else:
            return _Action.FINISH
        cast(State, ctx.state).absent[ctx.node.addr] = "it left"
        return _Action.ERROR_TIMEOUT if time.monotonic() > deadline else action
