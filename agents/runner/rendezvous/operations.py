"""torch's rendezvous operations, with short pauses that a stop can end, and a join without needless waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
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
from .places import all_are_in, expected, is_full, next_spares, supersede
from .plain_state import State

SPARE_POLL_S = 0.2
"""Seconds between the looks of a spare, which may stand by for days."""

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
                stands_by = self._node in ctx.state.redundancy_list
                self._pause(max(self._poll_s, SPARE_POLL_S) if stands_by else self._poll_s)
                self._state_holder.sync()
                self._state = self._state_holder.state
                ctx = _RendezvousContext(self._node, self._state, self._settings)

        super().run(patient, deadline, update_deadline)

    def _record(self, message: str, node_state: object = None) -> None:
        """Nothing: nobody reads torch's own record of a step.

        To name the step it looks up the source of every caller, which on a busy machine takes so long that
        another node has always written first.
        """

    def _remove_from_participants(self) -> None:
        super()._remove_from_participants()
        # It is about to join again. Who ends in between is missed by the others when this lapses.
        self._keep_alive()

    def _add_to_redundancy_list(self) -> None:
        self._state.wait_list.discard(self._node)
        super()._add_to_redundancy_list()

    def _mark_rendezvous_complete(self) -> None:
        super()._mark_rendezvous_complete()
        state = cast(State, self._state)
        state.members = tuple(sorted(node.addr for node in state.participants))
        if self._order:
            nodes = sorted(state.participants, key=lambda node: self._order.index(node.addr))
            state.participants.update((node, rank) for rank, node in enumerate(nodes))


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
    """Closes the round as soon as everybody who is expected is in: no last call for nobody.

    A spare takes no more than a place that is really free, and in one step: it is never seen to be gone.
    """

    def __init__(self, assigned: frozenset[str], last_call_s: float) -> None:
        self._assigned = assigned
        self._last_call = LastCall(last_call_s)
        self._deadline = 0.0

    def __call__(self, ctx: _RendezvousContext, deadline: float) -> _Action:
        state = cast(State, ctx.state)
        if ctx.node in state.redundancy_list and not (state.closed or self._promote(ctx, state)):
            return _stand_by(ctx)
        if ctx.node in state.wait_list and is_full(state, ctx.settings.max_nodes) and not state.closed:
            return _Action.ADD_TO_REDUNDANCY_LIST
        return self._join(ctx, state, max(deadline, self._deadline))

    def _promote(self, ctx: _RendezvousContext, state: State) -> bool:
        """Whether this spare's turn has come. It may wait for a round as long as one that comes anew."""
        if ctx.node not in next_spares(state, ctx.settings.max_nodes):
            return False
        state.redundancy_list.discard(ctx.node)
        self._deadline = time.monotonic() + ctx.settings.timeout.join.total_seconds()
        return True

    def _join(self, ctx: _RendezvousContext, state: State, deadline: float) -> _Action:
        if ctx.node not in (*state.participants, *state.wait_list):
            supersede(state, ctx.node, ctx.settings)
        action = self._ask_torch(ctx, deadline)
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
        if enough and all_are_in(state, self._assigned, ctx.settings.max_nodes):
            return True
        if not self._last_call.is_over(state.deadline, time.monotonic()):
            return False
        self._let_go(ctx, state)
        return True

    def _let_go(self, ctx: _RendezvousContext, state: State) -> None:
        """The next rounds do not wait for them again."""
        last_call_s = ctx.settings.timeout.last_call.total_seconds()
        waited_for = expected(state, self._assigned, ctx.settings.max_nodes)
        for name in waited_for - {node.addr for node in state.participants}:
            state.absent[name] = f"it did not join within {last_call_s:.0f} s (last_call_timeout)"


def _stand_by(ctx: _RendezvousContext) -> _Action:
    """What a spare does while the round is full."""
    last = ctx.state.last_heartbeats.get(ctx.node)
    is_due = last is None or datetime.now(timezone.utc) - last >= ctx.settings.keep_alive_interval
    return _Action.KEEP_ALIVE if is_due else _Action.SYNC
