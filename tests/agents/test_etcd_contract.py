"""What torch expects of a rendezvous backend and of a store, held against every etcd there is here."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from torch._C._distributed_c10d import PrefixStore
from torch.distributed import DistStoreError
from torch.distributed.elastic.rendezvous import RendezvousConnectionError

from agents.runner.rendezvous.etcd.venue import EtcdVenue
from agents.runner.rendezvous.meeting import Meeting
from agents.runner.rendezvous.plain_state import State, encode
from agents.runner.torch_hooks import Store, _NodeDesc
from tests.etcd import BINARIES, Etcd, run_etcd
from tests.waiting import wait_until


@pytest.fixture(scope="module", params=BINARIES, ids=lambda path: path.parent.parent.name)
def etcd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    with run_etcd(tmp_path_factory.mktemp("etcd"), request.param) as server:
        yield server


@contextmanager
def meet(etcd: Etcd, attempt: str, **conf: str) -> Iterator[Meeting]:
    meeting = EtcdVenue(etcd.endpoint, {"read_timeout": "10", **conf}, 30).open(attempt, lambda seconds: None)
    yield meeting
    meeting.close()


@pytest.fixture
def attempt() -> str:
    return f"attempt-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def meeting(etcd: Etcd, attempt: str) -> Iterator[Meeting]:
    with meet(etcd, attempt) as opened:
        yield opened


def state_with(*names: str, complete: bool = False) -> bytes:
    state = State()
    state.participants = {_NodeDesc(name, 1, 0): rank for rank, name in enumerate(names)}
    state.complete = complete
    return encode(state)


# -- the backend --


def test_there_is_no_state_at_first(meeting: Meeting) -> None:
    assert meeting.backend.get_state() is None


def test_a_state_is_read_back_with_its_token(meeting: Meeting) -> None:
    written = meeting.backend.set_state(state_with("a"))
    assert written is not None
    assert (written[0], written[2]) == (state_with("a"), True)
    assert meeting.backend.get_state() == written[:2]


def test_only_one_of_two_makes_the_first_state(etcd: Etcd, attempt: str, meeting: Meeting) -> None:
    with meet(etcd, attempt) as other:
        first = meeting.backend.set_state(state_with("a"))
        second = other.backend.set_state(state_with("b"))
    assert first is not None
    assert second == (state_with("a"), first[1], False)


def test_a_state_is_changed_with_its_token_alone(meeting: Meeting) -> None:
    first = meeting.backend.set_state(state_with("a"))
    assert first is not None
    second = meeting.backend.set_state(state_with("a", "b"), first[1])
    assert second is not None
    assert second[2]
    assert meeting.backend.set_state(state_with("c"), first[1]) == (*second[:2], False)


def test_what_one_writes_the_other_sees_without_asking(etcd: Etcd, attempt: str, meeting: Meeting) -> None:
    with meet(etcd, attempt) as other:
        written = meeting.backend.set_state(state_with("a"))
        assert written is not None
        wait_until(lambda: other.backend.get_state() == written[:2], what="the other to see it")


def test_a_watch_outlives_the_compaction_of_what_it_stands_on(
    etcd: Etcd, attempt: str, meeting: Meeting
) -> None:
    with meet(etcd, attempt) as other:
        written = meeting.backend.set_state(state_with("a"))
        assert written is not None
        wait_until(other.backend.get_state)
        etcd.say("compact", str(written[1]))
        changed = meeting.backend.set_state(state_with("a", "b"), written[1])
        assert changed is not None
        wait_until(lambda: other.backend.get_state() == changed[:2], what="the other to see it")


# -- the store --


def test_a_store_keeps_what_it_is_told(meeting: Meeting) -> None:
    store: Any = meeting.store
    store.set("text", "grüße")
    store.set("bytes", b"\x00\xff")
    assert (store.get("text"), store.get("bytes")) == ("grüße".encode(), b"\x00\xff")
    assert store.multi_get(["bytes", "text"]) == [b"\x00\xff", "grüße".encode()]
    store.multi_set(["one", "two"], ["1", "2"])
    assert store.check(["one", "two", "text"])
    assert not store.check(["one", "three"])
    assert store.num_keys() == 4
    assert store.delete_key("one")
    assert not store.delete_key("one")
    assert not store.check(["one"])


def test_a_store_compares_as_torchs_own_does(meeting: Meeting) -> None:
    store: Any = meeting.store
    assert store.compare_set("key", "other", "mine") == b""
    assert store.compare_set("key", "", "first") == b"first"
    assert store.compare_set("key", "", "second") == b"first"
    assert store.compare_set("key", "first", "second") == b"second"
    store.append("key", " and more")
    assert store.get("key") == b"second and more"


def test_many_count_together_and_none_is_lost(etcd: Etcd, attempt: str, meeting: Meeting) -> None:
    def count(store: Store) -> None:
        for _ in range(20):
            store.add("count", 1)

    with meet(etcd, attempt) as other:
        threads = [
            threading.Thread(target=count, args=(one.store,)) for one in (meeting, other, meeting, other)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert meeting.store.add("count", 0) == 80
    assert meeting.store.get("count") == b"80"


def test_waiting_ends_when_another_sets_the_key(etcd: Etcd, attempt: str, meeting: Meeting) -> None:
    with meet(etcd, attempt) as other:
        setter = threading.Timer(0.3, lambda: other.store.set("late", "here"))
        setter.start()
        assert meeting.store.get("late") == b"here"
        setter.join()


def test_waiting_in_vain_ends_with_the_name_of_the_key(meeting: Meeting) -> None:
    with pytest.raises(LookupError, match="never"):
        meeting.store.wait(["never"], timedelta(seconds=0.2))
    meeting.store.set_timeout(timedelta(seconds=0.2))
    with pytest.raises(DistStoreError, match="never"):
        meeting.store.get("never")


def test_it_works_inside_torchs_prefix_store(meeting: Meeting) -> None:
    store = PrefixStore("round.1", meeting.store)
    store.set("key", "value")
    assert meeting.store.get("round.1/key") == b"value"
    assert (store.add("n", 2), store.get("key"), store.check(["key", "n"])) == (2, b"value", True)
    assert store.compare_set("key", "value", "new") == b"new"
    store.wait(["key"], timedelta(seconds=1))
    assert store.multi_get(["key", "n"]) == [b"new", b"2"]
    assert store.delete_key("key")
    assert store.num_keys() == 1


def test_more_keys_than_one_transaction_takes_are_read(meeting: Meeting) -> None:
    keys = [f"rank/{number}" for number in range(250)]
    store: Any = meeting.store
    store.multi_set(keys, [str(number) for number in range(250)])
    assert store.multi_get(keys)[-1] == b"249"


# -- what lies there --


def test_all_keys_lie_under_the_attempt_and_its_lease_and_go_with_it(
    etcd: Etcd, attempt: str, meeting: Meeting
) -> None:
    meeting.backend.set_state(state_with("node-a", "node-b"))
    meeting.store.set("standing", "here")
    meeting.store.add("count", 1)
    keys = etcd.keys(f"/torch/elastic/{attempt}/")
    assert {key.split("/")[4] for key in keys} == {"state", "summary", "kv", "receipts"}
    lease = etcd.lease_of(f"/torch/elastic/{attempt}/state")
    assert all(key in etcd.say("lease", "timetolive", lease, "--keys") for key in keys)
    meeting.clear()
    assert etcd.keys(f"/torch/elastic/{attempt}/") == {}
    assert lease not in etcd.leases()


def test_the_summary_tells_an_operator_who_is_in(etcd: Etcd, attempt: str, meeting: Meeting) -> None:
    def summary() -> str:
        return etcd.keys(f"/torch/elastic/{attempt}/")[f"/torch/elastic/{attempt}/summary"]

    assert summary().startswith("nobody has joined, since 20")
    forming = meeting.backend.set_state(state_with("node-a"))
    assert forming is not None
    assert summary().startswith("round 1, forming, since 20")
    assert summary().endswith(", members node-a")
    complete = meeting.backend.set_state(state_with("node-a", "node-b", complete=True), forming[1])
    assert complete is not None
    assert summary().endswith(", members node-a=0 node-b=1")


def test_attempts_whose_names_begin_alike_do_not_meet(etcd: Etcd, attempt: str, meeting: Meeting) -> None:
    with meet(etcd, f"{attempt}/2") as other:
        other.store.set("key", "value")
        meeting.clear()
        assert other.store.get("key") == b"value"


# -- when it is away --


@pytest.fixture
def own_etcd(etcd: Etcd, tmp_path: Path) -> Iterator[Etcd]:
    with run_etcd(tmp_path, etcd.binary) as server:
        yield server


def test_a_silent_etcd_is_said_and_never_an_old_state(own_etcd: Etcd, attempt: str) -> None:
    with meet(own_etcd, attempt) as meeting:
        written = meeting.backend.set_state(state_with("a"))
        assert written is not None
        own_etcd.freeze()
        with pytest.raises(RendezvousConnectionError, match=own_etcd.endpoint):
            wait_until(lambda: meeting.backend.get_state() is None, what="an error")
        own_etcd.thaw()
        wait_until(lambda: answers(meeting), what="etcd to be heard again")
        assert meeting.backend.get_state() == written[:2]


def answers(meeting: Meeting) -> bool:
    try:
        return meeting.backend.get_state() is not None
    except RendezvousConnectionError:
        return False


def test_a_restart_loses_nothing_and_news_come_again(own_etcd: Etcd, attempt: str) -> None:
    with meet(own_etcd, attempt) as meeting, meet(own_etcd, attempt) as other:
        written = meeting.backend.set_state(state_with("a"))
        assert written is not None
        own_etcd.kill()
        with pytest.raises(RendezvousConnectionError):
            meeting.backend.set_state(state_with("b"), written[1])
        own_etcd.restart()
        wait_until(lambda: answers(meeting), what="etcd to be heard again")
        changed = meeting.backend.set_state(state_with("b"), written[1])
        assert changed is not None
        assert changed[2]
        wait_until(lambda: answers(other) and other.backend.get_state() == changed[:2], what="the news")


def test_the_store_waits_for_an_etcd_that_comes_back(own_etcd: Etcd, attempt: str) -> None:
    with meet(own_etcd, attempt, read_timeout="60") as meeting:
        meeting.store.add("count", 1)
        own_etcd.kill()
        back = threading.Timer(1.0, own_etcd.start)
        back.start()
        assert meeting.store.add("count", 1) == 2
        back.join()
        assert meeting.store.get("count") == b"2"


@pytest.mark.parametrize("how", ["revoked", "emptied"])
def test_keys_that_vanished_are_written_again_by_those_who_know_them(
    own_etcd: Etcd, attempt: str, how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with meet(own_etcd, attempt) as meeting:
        written = meeting.backend.set_state(state_with("a"))
        meeting.store.set("standing", "here")
        if how == "revoked":
            own_etcd.say("lease", "revoke", own_etcd.lease_of(f"/torch/elastic/{attempt}/state"))
        else:
            own_etcd.say("del", "--prefix", "/torch/elastic/")
        path = f"/torch/elastic/{attempt}"
        wait_until(
            lambda: f"{path}/kv/standing" in own_etcd.say("get", f"{path}/kv/standing"),
            what="the keys to be written again",
        )
        assert written is not None
        wait_until(lambda: answers(meeting), what="the state")
        state = meeting.backend.get_state()
        assert state is not None
        assert state[0] == written[0]
        assert own_etcd.keys()[f"{path}/summary"].endswith("members a")
        assert len(own_etcd.leases()) == 1
    assert f"{path}/ in etcd had vanished; they are written again" in capfd.readouterr().out
