"""torch's dynamic rendezvous handler, with node names, a store per round and an exchange of standings."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
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
from ..budget import Settlement, Standing, informed, settled_to_json
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
from .exchange import Exchange, Formed, PeerSilent
from .meeting import Meeting, Pause
from .operations import Executor, JoinOp
from .places import Gathering, gathering, is_deserted, is_full, leave
from .plain_state import State
from .state import StateHolder
from .store import host_store

ENDED = "regroup/ended"
"""The key under which the reason stands why the attempt ended. Whoever comes first writes it."""
SETTLED = "regroup/settled"
"""The key under which stands how far the attempt has come, for when none of those who know is left."""
BELL = "bell"
"""The key of a round that is set when there is something to look at."""
TELL_S = 3.0
"""How long telling the others may hold up the end of the workers. It goes on meanwhile."""
LOOK_S = 0.05


class Handler(DynamicRendezvousHandler):
    """``my_standing`` is asked each time a round forms; ``on_joined`` hears who comes together."""

    def __init__(
        self,
        meeting: Meeting,
        message: StartMessage,
        conf: RdzvConf,
        pause: Pause,
        on_joined: Callable[[Gathering], None],
    ) -> None:
        node = _NodeDesc(message.node, os.getpid(), 0)
        settings = _settings(message, conf)
        backend, store = meeting.backend, meeting.store
        self._holder = StateHolder(backend, settings, meeting.settle_s, meeting.outlives_outages)
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
        self._gathering: Gathering | None = None
        self._members: tuple[_NodeDesc, ...] = ()
        self._formed_round = -1
        self._rank = 0
        self._has_finished = False
        self._settled = ""
        self._round_store: Store = store
        self.my_standing: Callable[[], Standing] = lambda: Standing(node=message.node, round=0)
        self.formed: Formed | None = None

    @property
    def use_agent_store(self) -> bool:
        return True

    def _record(self, message: str, node_state: object = None, rank: int | None = None) -> None:
        """See ``Executor._record``."""

    @property
    def joined(self) -> tuple[str, ...]:
        """Names of those who were in when this node last looked."""
        return self._gathering.joined if self._gathering else ()

    def _see(self, state: State) -> None:
        seen = gathering(state, self._this_node, self._assigned, self._settings.max_nodes)
        if seen is None or seen == self._gathering:
            return
        if state.complete and not seen.is_spare:
            self._ring(self._get_store())
        if not (seen.is_spare and self._gathering and self._gathering.is_spare):
            self._say(seen)

    def _say(self, seen: Gathering) -> None:
        self._gathering = seen
        self._on_joined(seen)

    def misses_peer(self, ask: Callable[[], bool]) -> None:
        """``ask`` tells whether a worker of this node has lost a peer: then a silent node is gone at once."""
        self._holder.misses_peer = ask

    def has_begun(self) -> bool:
        """Whether others train already, and may do so until this node is ready."""
        return bool(self._look().members)

    # -- forming a round --

    def next_rendezvous(self) -> RendezvousInfo:
        """Join the next round, again and again until one forms whose members all speak."""
        self._gathering = None
        self._holder.is_patient = False
        deadline = self._get_deadline(self._settings.timeout.join)
        while True:
            self._join(deadline)
            try:
                info = self._agree()
            except PeerSilent as silence:
                print(f"the round is given up: {silence}", flush=True)
            else:
                self._holder.is_patient = True
                return info

    def _join(self, deadline: float) -> None:
        self._stop_heartbeats()
        self._op_executor.run(_RendezvousExitOp(), deadline)
        if self._members:
            self._ring(self._round_store)
        self._op_executor.run(JoinOp(self._assigned, self._last_call_s), deadline, self._get_deadline)
        self._note_formed(self._holder.state)
        self._round_store = self._get_store()
        self.news.clear()
        self._meeting.watch(f"{self._round_key()}/{BELL}", self.news.announce)
        self._start_heartbeats()

    def _note_formed(self, state: State) -> None:
        by_rank = sorted(state.participants.items(), key=lambda item: item[1])
        self._members, self._formed_round = tuple(node for node, _ in by_rank), state.round
        # The node whose joining completes the round never saw itself in an incomplete one.
        names = tuple(sorted(node.addr for node in self._members))
        if names != self.joined:
            self._say(Gathering(names, frozenset(names)))

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
            mine = informed(mine, self._read_settled())
        exchange = Exchange(self._round_store, self._members, self._this_node, self._look)
        exchange.publish(mine)
        standings = exchange.read(self._answer_s, self._pause, self._meeting.poll_s)
        # The last round's store goes only now: until here somebody may still have been in it.
        self._shared_tcp_store_server = server
        names = tuple(node.addr for node in self._members)
        self.formed = Formed(names, standings, standings[0].store, self._absent())
        host, port = split_endpoint(standings[0].store)
        info = RendezvousStoreInfo(host, port)
        return RendezvousInfo(self._round_store, rank, len(self._members), info)

    def _read_settled(self) -> str:
        self._settled = str(self._store.get(SETTLED).decode()) if self._store.check([SETTLED]) else ""
        return self._settled

    def note_settled(self, settlement: Settlement) -> None:
        """By the node of rank 0, for nodes to come. Who is late changes nothing."""
        if self._rank == 0:
            self._store.compare_set(SETTLED, self._settled, settled_to_json(settlement))

    def _absent(self) -> dict[str, str]:
        reasons = self._holder.state.absent
        missing = self._assigned - {node.addr for node in self._members}
        return {name: reasons.get(name, "it has not joined") for name in sorted(missing)}

    def missing(self) -> dict[str, str]:
        """Why nodes that it waited for, or that have left it, are not in, by their names."""
        seen, absent = self._gathering, self._holder.state.absent
        waited_for = seen.expected.difference(seen.joined) if seen else self._assigned
        return {name: absent.get(name, "it did not join") for name in sorted(waited_for | absent.keys())}

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
        gone = self._not_done(set(self._members) - set(state.participants))
        # Who waits while the round is full is about to stand by.
        news = len(gone) + (0 if is_full(state, self._settings.max_nodes) else len(state.wait_list))
        # Read after the state: who leaves or closes because all is done has said so before.
        if (news or state.closed) and self.all_finished():
            return 0
        if state.closed:
            raise RendezvousClosedError
        return news

    def has_lost_member(self) -> bool:
        """Whether a member of the round has left or is gone, and not just on its way to the next."""
        with contextlib.suppress(RuntimeError, RendezvousError):
            there = self._look().last_heartbeats
            return bool(self._not_done({node for node in self._members if node not in there}))
        return False

    def _not_done(self, gone: set[_NodeDesc]) -> set[_NodeDesc]:
        """Without those whose workers had all ended with 0: they waited no longer, and nobody misses them."""
        ranks = {node: rank for rank, node in enumerate(self._members)}
        return {node for node in gone if not self._round_store.check([f"finished/{ranks[node]}"])}

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
            self._settings.keep_alive_interval / 8, self._keep_alive_weak, weakref.ref(self)
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
        """Go politely, if the store still answers. Safe to repeat."""
        self._stop_heartbeats()
        with contextlib.suppress(RuntimeError, RendezvousError), self._heartbeat_lock:
            self._change(lambda state: leave(state, self._this_node, self._settings))
            self._ring(self._round_store)

    def _change(self, change: Callable[[State], bool]) -> None:
        """Write what it makes of the state. It says whether anything was left to change."""
        deadline = self._get_deadline(self._settings.timeout.heartbeat)
        self._holder.sync()
        while change(self._holder.state) and time.monotonic() < deadline:
            self._holder.mark_dirty()
            self._holder.sync()

    def tell_first(self, tell: Callable[[], None]) -> None:
        """While the workers still run. Not longer than ``TELL_S``: a silent store holds up nothing."""
        telling = threading.Thread(target=tell, name="telling", daemon=True)
        telling.start()
        telling.join(TELL_S)

    def wait_for_others(self, deadline: float) -> None:
        """After ``leave``: their workers use the round's store until they are out of that round.

        Only where this process keeps it. ``deadline``: seconds, monotonic.
        """
        self._holder.is_patient = False
        with contextlib.suppress(RuntimeError, RendezvousError):
            while self._keeps_store_for(self._look()) and time.monotonic() < deadline:
                time.sleep(LOOK_S)

    def _keeps_store_for(self, state: State) -> bool:
        if self._shared_tcp_store_server is None or state.round != self._formed_round:
            return False
        return not set(self._members).isdisjoint(state.participants)

    def finish(self, why: str) -> None:
        """After ``leave``: the last node closes the rendezvous, and removes what the attempt left there."""
        with contextlib.suppress(RuntimeError, RendezvousError):
            if is_deserted(self._look()):
                self.end_attempt(why)
                self._meeting.clear()


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
