"""An etcd with users, over plain http."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from torch.distributed.elastic.rendezvous import RendezvousConnectionError

from agents.runner.endpoint import StoreError
from agents.runner.rendezvous.etcd.venue import EtcdVenue
from agents.runner.rendezvous.meeting import Meeting
from tests.etcd import BINARIES, Etcd, add_user, run_etcd
from tests.waiting import wait_until


@pytest.fixture(params=BINARIES, ids=lambda path: path.parent.parent.name)
def etcd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Etcd]:
    with run_etcd(tmp_path, request.param) as server:
        add_user(server, "trainer", "pass word", "/torch/elastic/")
        yield server


@pytest.fixture
def meeting(etcd: Etcd) -> Iterator[Meeting]:
    conf = {"user": "trainer", "password": "pass word", "read_timeout": "60"}
    meeting = EtcdVenue(etcd.endpoint, conf, 30).open("attempt", lambda seconds: None)
    yield meeting
    meeting.close()


def has_state(meeting: Meeting, state: bytes) -> bool:
    try:
        found = meeting.backend.get_state()
    except RendezvousConnectionError:
        return False
    return found is not None and found[0] == state


def test_a_login_that_a_restarted_etcd_has_forgotten_is_made_anew(etcd: Etcd, meeting: Meeting) -> None:
    written = meeting.backend.set_state(b"first")
    assert written is not None
    etcd.kill()
    etcd.restart()
    meeting.store.set("key", "value")
    changed = meeting.backend.set_state(b"second", written[1])
    assert changed is not None
    assert changed[2]
    wait_until(lambda: has_state(meeting, b"second"), what="the watch to go on")


def test_a_login_from_before_a_change_of_the_users_is_made_anew(etcd: Etcd, meeting: Meeting) -> None:
    meeting.store.set("key", "value")
    etcd.say("user", "add", "somebody:else")
    meeting.store.set("key", "other")
    assert meeting.store.get("key") == b"other"
    meeting.backend.set_state(b"state")
    wait_until(lambda: has_state(meeting, b"state"), what="the watch to go on")


def test_a_meeting_is_removed_by_a_user_with_rights_on_its_keys_alone(etcd: Etcd, meeting: Meeting) -> None:
    meeting.backend.set_state(b"state")
    assert etcd.keys() != {}
    meeting.clear()
    assert etcd.keys() == {}
    assert etcd.leases() == []


def test_who_does_not_say_who_it_is_gets_told(etcd: Etcd) -> None:
    with pytest.raises(StoreError, match="asks who is there"):
        EtcdVenue(etcd.endpoint, {}, 2).open("attempt", lambda seconds: None)
