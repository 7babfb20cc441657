"""torch's dynamic rendezvous handler, with node names, a store per round and an exchange of standings."""

from __future__ import annotations

import contextlib
import os
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from torch.distributed.elastic.rendezvous import (
    RendezvousClosedError,
    RendezvousConnectionError,
    RendezvousError,
    RendezvousInfo,
    RendezvousStoreInfo,
)

from ...wire.rdzv import RdzvConf
from ...wire.spec import StartMessage
from ..budget import Standing, standing_from_json, standing_to_json
from ..endpoint import join_endpoint, listen, split_endpoint
from ..torch_hooks import (
    DynamicRendezvousHandler,
    RendezvousSettings,
    RendezvousTimeout,
    Store,
    _NodeDesc,
    _PeriodicTimer,
    _RendezvousExitOp,
)
from .bell import News
from .meeting import Meeting, Pause
from .operations import Executor, JoinOp, LeaveOp
from .plain_state import State
from .state import StateHolder, joined, names_in
from .store import host_store

ENDED = "regroup/ended"
"""The key under which the reason stands why the attempt ended. Whoever comes first writes it."""
BELL = "bell"
"""The key of a round that is set when there is something to look at."""
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
    def store_host(self) -> str | None:
        """The node that hosts the attempt's store, if it is one of them."""
        return next((standing.node for standing in self.standings if standing.hosts_store), None)


class Handler(DynamicRendezvousHandler):
    """``my_standing`` is asked each time a round forms; ``on_joined`` hears who is in, on each change."""

    def __init__(
        self,
        meeting: Meeting,
        message: StartMessage,
        conf: RdzvConf,
        pause: Pause,
        on_joined: Callable[[tuple[str, ...]], None],
    ) -> None:
        node = _NodeDesc(message.node, os.getpid(), 0)
        settings = _settings(message, conf)
        backend, store = meeting.backend, meeting.store
        self._holder = StateHolder(backend, settings, meeting.settle_s)
        super().__init__(node, settings, backend.name, store, self._holder)
        order = message.nodes if message.spec.rdzv_backend == "static" else ()
        self._op_executor = Executor(
            node, self._state_holder, settings, self._see, pause, meeting.poll_s, order
        )
        self._meeting = meeting
        self._assigned = frozenset(message.nodes)
        self._local_addr = message.local_addr
        self._answer_s = conf.read_timeout
        self._last_call_s = conf.last_call_timeout
        self._pause = pause
        self._on_joined = on_joined
        self.news = News()
        """To be waited for beside the workers."""
        self._joined: tuple[str, ...] = ()
        self._members: tuple[_NodeDesc, ...] = ()
        self._rank = 0
        self._has_finished = False
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

    def _see(self, state: State) -> None:
        names = joined(state, self._this_node)
        if names is not None:
            if state.complete and names != self._joined:
                self._ring(self._get_store())
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
        self._holder.is_patient = False
        self._op_executor.run(_RendezvousExitOp(), deadline)
        if self._members:
            self._ring(self._round_store)
        self._op_executor.run(JoinOp(self._assigned, self._last_call_s), deadline, self._get_deadline)
        by_rank = sorted(self._state_holder.state.participants.items(), key=lambda item: item[1])
        self._members = tuple(node for node, _ in by_rank)
        # The node whose joining completes the round never saw itself in an incomplete one.
        self._say_joined(tuple(sorted(node.addr for node in self._members)))
        self._round_store = self._get_store()
        self.news.clear()
        self._meeting.watch(f"{self._round_key()}/{BELL}", self.news.announce)
        self._holder.is_patient = True
        self._start_heartbeats()

    def _round_key(self) -> str:
        """What torch puts in front of the keys of a round."""
        return f"torch.rendezvous.{self._settings.run_id}.{self._holder.state.round}"

    def _ring(self, round_store: Store) -> None:
        """So that the members of that round look at once at what has changed."""
        with contextlib.suppress(RuntimeError, RendezvousError):
            round_store.set(BELL, "1")

    def _agree(self) -> RendezvousInfo:
        """Publish where this node stands, read all others', and open the round's own store."""
        self._rank = rank = self._members.index(self._this_node)
        self._has_finished = False
        mine, server = self.my_standing(), None
        if rank == 0:
            server = host_store(self._local_addr, listen(self._local_addr), self._answer_s)
            mine = replace(mine, store=join_endpoint(self._local_addr, server.port))
        self._round_store.set(f"standing/{rank}", standing_to_json(mine))
        standings = self._read_standings()
        # The last round's store goes only now: until here somebody may still have been in it.
        self._shared_tcp_store_server = server
        names = tuple(node.addr for node in self._members)
        self.formed = Formed(names, standings, standings[0].store, self._absent())
        host, port = split_endpoint(standings[0].store)
        info = RendezvousStoreInfo(host, port)
        return RendezvousInfo(self._round_store, rank, len(self._members), info)

    def _absent(self) -> dict[str, str]:
        reasons = self._holder.state.absent
        missing = self._assigned - {node.addr for node in self._members}
        return {name: reasons.get(name, "it has not joined") for name in sorted(missing)}

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
            self._pause(self._meeting.poll_s)
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

    def _look(self) -> State:
        with self._heartbeat_lock:
            self._holder.sync()
            return self._holder.state

    def num_nodes_waiting(self) -> int:
        """Nodes that wait to join, and members of the round that have left or whose keep-alive has lapsed.

        Raises:
            RendezvousClosedError: another node has ended the attempt.
        """
        try:
            return self._count_news(self._look())
        except RendezvousConnectionError:
            # Workers that are well need no rendezvous. Who cannot be seen is not called gone.
            if self._meeting.outlives_outages:
                return 0
            raise

    def _count_news(self, state: State) -> int:
        gone = set(self._members) - set(state.participants)
        news = len(state.wait_list) + len(gone)
        # Read after the state: who leaves or closes because all is done has said so before.
        if (news or state.closed) and self.all_finished():
            return 0
        if state.closed:
            raise RendezvousClosedError
        return news

    def say_finished(self) -> None:
        """This node's workers have all ended with 0. Said as long as it takes, to whoever asks."""
        self._has_finished = True

    def all_finished(self) -> bool:
        """Whether every member of the round has said so."""
        try:
            if self._has_finished:
                self._round_store.set(f"finished/{self._rank}", "1")
            return bool(self._round_store.check([f"finished/{rank}" for rank in range(len(self._members))]))
        except RendezvousConnectionError:
            if self._meeting.outlives_outages:
                return False
            raise

    def _start_heartbeats(self) -> None:
        # torch looks once an interval whether an interval has passed, and so may send only every second time.
        self._keep_alive_timer = _PeriodicTimer(
            self._settings.keep_alive_interval / 4, self._keep_alive_weak, weakref.ref(self)
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
            self._store.compare_set(ENDED, "", why)
            self.set_closed()
            self._ring(self._round_store)

    def why_ended(self) -> str | None:
        """The reason that a node gave to ``end_attempt``."""
        with contextlib.suppress(RuntimeError):
            if self._store.check([ENDED]):
                return str(self._store.get(ENDED).decode())
        return None

    def leave(self) -> None:
        """Go politely, if the store still answers."""
        self._stop_heartbeats()
        with contextlib.suppress(RuntimeError, RendezvousError), self._heartbeat_lock:
            self._quiet().run(LeaveOp(), self._get_deadline(self._settings.timeout.heartbeat))
            self._ring(self._round_store)

    def finish(self, why: str) -> None:
        """After ``leave``: the last node closes the rendezvous, and removes what the attempt left there."""
        with contextlib.suppress(RuntimeError, RendezvousError):
            if names_in(self._look()):
                return
            self.end_attempt(why)
            self._meeting.clear()

    def _quiet(self) -> Executor:
        """An executor that a stop does not interrupt."""
        holder, poll_s = self._state_holder, self._meeting.poll_s
        return Executor(self._this_node, holder, self._settings, lambda state: None, time.sleep, poll_s)


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
