"""torch's dynamic rendezvous handler, with node names, a store per round and an exchange of standings."""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from torch._C._distributed_c10d import Store, TCPStore
from torch.distributed.elastic.rendezvous import (
    RendezvousClosedError,
    RendezvousError,
    RendezvousInfo,
    RendezvousStoreInfo,
)
from torch.distributed.elastic.rendezvous.c10d_rendezvous_backend import C10dRendezvousBackend
from torch.distributed.elastic.rendezvous.dynamic_rendezvous import (
    DynamicRendezvousHandler,
    RendezvousSettings,
    RendezvousTimeout,
    _NodeDesc,
    _RendezvousExitOp,
    _RendezvousState,
)
from torch.distributed.elastic.rendezvous.utils import _PeriodicTimer

from ...wire.spec import RdzvConf, StartMessage
from ..budget import Standing, standing_from_json, standing_to_json
from ..endpoint import join_endpoint, listen, split_endpoint
from .operations import POLL_S, Executor, JoinOp, LeaveOp, Pause
from .state import StateHolder, joined, strangers
from .store import host_store

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

    @property
    def store_host(self) -> str | None:
        """The node that hosts the attempt's store, if it is one of them."""
        return next((standing.node for standing in self.standings if standing.hosts_store), None)


class Handler(DynamicRendezvousHandler):
    """``my_standing`` is asked each time a round forms; ``on_joined`` hears who is in, on each change."""

    def __init__(
        self,
        store: TCPStore,
        message: StartMessage,
        conf: RdzvConf,
        pause: Pause,
        on_joined: Callable[[tuple[str, ...]], None],
    ) -> None:
        node = _NodeDesc(message.node, os.getpid(), 0)
        settings = _settings(message, conf)
        backend = C10dRendezvousBackend(store, message.attempt)
        super().__init__(node, settings, backend.name, store, StateHolder(backend, settings))
        self._op_executor = Executor(node, self._state_holder, settings, self._see, pause)
        self._assigned = frozenset(message.nodes)
        self._local_addr = message.local_addr
        self._answer_s = conf.read_timeout
        self._pause = pause
        self._on_joined = on_joined
        self._joined: tuple[str, ...] = ()
        self._members: tuple[_NodeDesc, ...] = ()
        self._round_store: Store = store
        self.my_standing: Callable[[], Standing] = lambda: Standing(node=message.node, round=0)
        self.formed: Formed | None = None

    @property
    def use_agent_store(self) -> bool:
        return True

    @property
    def joined(self) -> tuple[str, ...]:
        """Names of those who were in when this node last looked."""
        return self._joined

    def _see(self, state: _RendezvousState) -> None:
        names = joined(state, self._this_node)
        if names is not None:
            self._say_joined(names)

    def _say_joined(self, names: tuple[str, ...]) -> None:
        if names != self._joined:
            self._joined = names
            self._on_joined(names)

    # -- forming a round --

    def next_rendezvous(self) -> RendezvousInfo:
        """Join the next round, again and again until one forms whose members all speak."""
        self._joined = ()
        deadline = self._get_deadline(self._settings.timeout.join)
        while True:
            self._join(deadline)
            try:
                return self._agree()
            except PeerSilent as silence:
                print(f"the round is given up: {silence}", flush=True)

    def _join(self, deadline: float) -> None:
        self._stop_heartbeats()
        self._op_executor.run(_RendezvousExitOp(), deadline)
        self._op_executor.run(JoinOp(self._assigned), deadline, self._get_deadline)
        by_rank = sorted(self._state_holder.state.participants.items(), key=lambda item: item[1])
        self._members = tuple(node for node, _ in by_rank)
        # The node whose joining completes the round never saw itself in an incomplete one.
        self._say_joined(tuple(sorted(node.addr for node in self._members)))
        self._round_store = self._get_store()
        self._start_heartbeats()

    def _agree(self) -> RendezvousInfo:
        """Publish where this node stands, read all others', and open the round's own store."""
        rank = self._members.index(self._this_node)
        mine, server = self.my_standing(), None
        if rank == 0:
            server = host_store(self._local_addr, listen(self._local_addr, 0), self._answer_s)
            mine = replace(mine, store=join_endpoint(self._local_addr, server.port))
        self._round_store.set(f"standing/{rank}", standing_to_json(mine))
        standings = self._read_standings()
        # The last round's store goes only now: until here somebody may still have been in it.
        self._shared_tcp_store_server = server
        self.formed = Formed(tuple(node.addr for node in self._members), standings, standings[0].store)
        host, port = split_endpoint(standings[0].store)
        info = RendezvousStoreInfo(host, port)
        return RendezvousInfo(self._round_store, rank, len(self._members), info)

    def _read_standings(self) -> tuple[Standing, ...]:
        keys = [f"standing/{rank}" for rank in range(len(self._members))]
        deadline = time.monotonic() + self._answer_s
        look_at = time.monotonic() + MEMBERS_S
        while not self._round_store.check(keys):
            if time.monotonic() > look_at:
                look_at = time.monotonic() + MEMBERS_S
                self._expect_members(keys)
            if time.monotonic() > deadline:
                names = ", ".join(node.addr for node in self._silent(keys))
                raise PeerSilent(f"{names} did not answer within {self._answer_s} s")
            self._pause(POLL_S)
        return tuple(standing_from_json(text) for text in self._round_store.multi_get(keys))

    def _silent(self, keys: list[str]) -> list[_NodeDesc]:
        spoken = [self._round_store.check([key]) for key in keys]
        return [node for node, has_spoken in zip(self._members, spoken) if not has_spoken]  # noqa: B905

    def _expect_members(self, keys: list[str]) -> None:
        there = set(self._look().participants)
        lost = [node.addr for node in (self._this_node, *self._silent(keys)) if node not in there]
        if lost:
            raise PeerSilent(f"{', '.join(lost)} left while the round formed")

    # -- while the workers run --

    def _look(self) -> _RendezvousState:
        with self._heartbeat_lock:
            self._state_holder.sync()
            return self._state_holder.state

    def num_nodes_waiting(self) -> int:
        """Nodes that wait to join, and members of the round that have left or whose keep-alive has lapsed.

        Raises:
            RendezvousClosedError: another node has ended the attempt.
        """
        state = self._look()
        closed, waiting = state.closed, len(state.wait_list)
        gone = len(set(self._members) - set(state.participants))
        # Read after the state: who leaves or closes because all is done has said so before.
        if self.all_finished():
            return 0
        if closed:
            raise RendezvousClosedError
        return waiting + gone

    def say_finished(self) -> None:
        """This node's workers have all ended with 0; say it once a round."""
        self._round_store.add("finished", 1)

    def all_finished(self) -> bool:
        return int(self._round_store.add("finished", 0)) >= len(self._members)

    def _start_heartbeats(self) -> None:
        # torch looks once an interval whether an interval has passed, and so may send only every second time.
        self._keep_alive_timer = _PeriodicTimer(
            self._settings.keep_alive_interval / 2, self._keep_alive_weak, weakref.ref(self)
        )
        self._keep_alive_timer.set_name("keep-alive")
        self._keep_alive_timer.start()

    # -- the end --

    def fall_silent(self) -> None:
        """Send no keep-alive any more: this node comes back by another handler, or not at all."""
        self._stop_heartbeats()

    def end_attempt(self, why: str) -> None:
        """Close the rendezvous for all nodes. Of several reasons the first is kept."""
        with contextlib.suppress(RuntimeError, RendezvousError):
            self._store.compare_set("regroup/ended", "", why)
            self.set_closed()

    def why_ended(self) -> str | None:
        """The reason that a node gave to ``end_attempt``."""
        with contextlib.suppress(RuntimeError):
            if self._store.check(["regroup/ended"]):
                return str(self._store.get("regroup/ended").decode())
        return None

    def leave(self) -> None:
        """Go politely, if the store still answers."""
        self._stop_heartbeats()
        with contextlib.suppress(RuntimeError, RendezvousError), self._heartbeat_lock:
            self._quiet().run(LeaveOp(), self._get_deadline(self._settings.timeout.heartbeat))

    def wait_alone(self, timeout_s: float) -> None:
        """Keep the store until every other node has left it or lapsed. For the node that hosts it."""
        deadline = time.monotonic() + timeout_s
        with contextlib.suppress(RuntimeError, RendezvousError):
            while strangers(self._look(), self._this_node) and time.monotonic() < deadline:
                time.sleep(POLL_S)

    def _quiet(self) -> Executor:
        """An executor that a stop does not interrupt."""
        return Executor(self._this_node, self._state_holder, self._settings, lambda state: None, time.sleep)


def _settings(message: StartMessage, conf: RdzvConf) -> RendezvousSettings:
    def seconds(number: int) -> timedelta:
        return timedelta(seconds=number)

    return RendezvousSettings(
        run_id=message.attempt,
        min_nodes=message.min_nodes,
        max_nodes=message.max_nodes,
        timeout=RendezvousTimeout(
            join=seconds(conf.join_timeout),
            last_call=seconds(conf.last_call_timeout),
            close=seconds(conf.close_timeout),
            heartbeat=seconds(conf.heartbeat_timeout),
        ),
        keep_alive_interval=seconds(conf.keep_alive_interval),
        keep_alive_max_attempt=conf.keep_alive_max_attempt,
    )
