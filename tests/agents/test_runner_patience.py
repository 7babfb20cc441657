"""When a silent node is gone: at once for whoever misses it, later for whoever is well without it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agents.runner.rendezvous.plain_state import State, decode, encode
from agents.runner.rendezvous.state import PATIENCE_S, StateHolder
from agents.runner.torch_hooks import RendezvousBackend, RendezvousSettings, RendezvousTimeout, _NodeDesc
from agents.runner.workers import Workers
from agents.wire.runner_events import WorkerRef

HERE, SILENT = _NodeDesc("node-a", 1, 0), _NodeDesc("node-b", 2, 0)
TTL_S = 3.0
LOST = "RuntimeError: [../gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:4021\n"


class Kept(RendezvousBackend):
    """A state in memory."""

    name = "kept"

    def __init__(self) -> None:
        state = State()
        state.complete = True
        for rank, node in enumerate((HERE, SILENT)):
            state.participants[node] = rank
            state.last_heartbeats[node] = datetime.now(UTC)
        self._text, self._number = encode(state), 0

    def get_state(self) -> tuple[bytes, int]:
        return self._text, self._number

    def set_state(self, state: bytes, token: object = None) -> tuple[bytes, int, bool]:
        self._text, self._number = state, self._number + 1
        return self._text, self._number, True

    def beat(self) -> None:
        state = decode(self._text)
        state.last_heartbeats[HERE] += timedelta(seconds=1)
        self._text = encode(state)


def holder_of(backend: Kept) -> StateHolder:
    second = timedelta(seconds=1)
    timeout = RendezvousTimeout(second, second, second, second)
    settings = RendezvousSettings(
        run_id="a",
        min_nodes=1,
        max_nodes=2,
        timeout=timeout,
        keep_alive_interval=second,
        keep_alive_max_attempt=3,
    )
    return StateHolder(backend, settings)


@pytest.mark.parametrize(
    ("is_patient", "misses", "lasts_s"),
    [(False, False, TTL_S), (True, True, TTL_S), (True, False, TTL_S + PATIENCE_S)],
)
def test_who_misses_a_silent_node_does_not_wait_for_it(
    monkeypatch: pytest.MonkeyPatch, is_patient: bool, misses: bool, lasts_s: float
) -> None:
    backend, now = Kept(), 100.0
    monkeypatch.setattr("agents.runner.rendezvous.state.time.monotonic", lambda: now)
    holder = holder_of(backend)
    holder.is_patient, holder.misses_peer = is_patient, lambda: misses
    gone_after = None
    for tenth in range(100):
        now = 100.0 + tenth / 10
        backend.beat()
        holder.sync()
        if SILENT not in holder.state.participants:
            gone_after = tenth / 10
            break
    assert gone_after == pytest.approx(lasts_s + 0.1)


@pytest.mark.parametrize(("said", "misses"), [(LOST, True), ("Warning: slow loader\n", False), ("", False)])
def test_a_worker_misses_a_peer_as_soon_as_it_says_so(tmp_path: Path, said: str, misses: bool) -> None:
    (tmp_path / "stderr.log").write_text(said)
    ref = WorkerRef(rank=0, local_rank=0, pid=1, start_time=1)
    assert Workers({}, {0: ref}, {0: tmp_path}).misses_peer() is misses
