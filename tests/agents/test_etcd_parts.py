"""The pure parts of the way into etcd, and the lease."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.runner.rendezvous.etcd.client import Client
from agents.runner.rendezvous.etcd.endpoint import parse_endpoints
from agents.runner.rendezvous.etcd.folder import Folder
from agents.runner.rendezvous.etcd.lease import Lease
from agents.runner.rendezvous.etcd.settings import read_settings
from agents.runner.rendezvous.etcd.summary import describe, facts_of
from agents.runner.rendezvous.plain_state import State
from agents.runner.torch_hooks import _NodeDesc
from tests.etcd import BINARIES, Etcd, run_etcd

A, B, C = (_NodeDesc(name, 1, 0) for name in ("node-a", "node-b", "node-c"))


@pytest.mark.parametrize(
    ("text", "members", "protocol"),
    [
        ("etcd-a", ["etcd-a:2379"], None),
        ("etcd-a:4001, etcd-b ,10.0.0.3", ["etcd-a:4001", "etcd-b:2379", "10.0.0.3:2379"], None),
        ("[::1]:2380", ["[::1]:2380"], None),
        ("https://etcd-a/,https://[fe80::1%lo]", ["etcd-a:2379", "[fe80::1%lo]:2379"], "https"),
        ("HTTP://etcd-a", ["etcd-a:2379"], "http"),
        ("etcd-a,etcd-a:2379", ["etcd-a:2379"], None),
    ],
)
def test_endpoints_are_read_with_etcds_own_port(text: str, members: list[str], protocol: str | None) -> None:
    read = parse_endpoints(text)
    assert ([str(member) for member in read.members], read.protocol) == (members, protocol)


@pytest.mark.parametrize("text", ["", ",", "::1", "etcd-a:port", "etcd-a,https://etcd-b", "unix:///etcd"])
def test_what_is_no_endpoint_is_refused_with_the_right_form(text: str) -> None:
    with pytest.raises(ValueError, match="Write "):
        parse_endpoints(text)


def test_a_round_that_forms_lists_who_is_in() -> None:
    state = State()
    state.round, state.participants = 1, {B: 1, A: 0}
    state.wait_list = {C}
    facts = facts_of(state)
    assert describe(facts, "since T") == "round 2, forming, since T, members node-a node-b, waiting node-c"


def test_a_complete_round_lists_ranks_and_a_closed_one_says_so() -> None:
    state = State()
    state.participants, state.complete = {A: 1, B: 0}, True
    assert describe(facts_of(state), "since T") == "round 1, complete, since T, members node-b=0 node-a=1"
    state.closed = True
    assert describe(facts_of(state), "since T").startswith("round 1, closed, since T")


def test_a_round_without_members_says_so() -> None:
    assert describe(facts_of(State()), "since T") == "round 1, forming, since T, members none"


@pytest.fixture
def etcd(tmp_path: Path) -> Iterator[Etcd]:
    with run_etcd(tmp_path, BINARIES[0]) as server:
        yield server


def test_a_lease_that_lapsed_is_registered_anew_and_said(etcd: Etcd) -> None:
    said: list[str] = []
    client = Client(read_settings(etcd.endpoint, {}))
    folder = Folder(client, "/torch/elastic", "attempt")
    lease = Lease(folder, said.append)
    assert folder.grant()
    lease.keep()
    assert said == []
    (number,) = etcd.leases()
    etcd.say("lease", "revoke", number)
    lease.keep()
    assert said == ["the lease of /torch/elastic/attempt/ in etcd had lapsed; it is registered anew"]
    assert etcd.leases() == [number]
    client.close()


def test_a_lease_that_is_there_is_given_all_its_time(etcd: Etcd) -> None:
    client = Client(read_settings(etcd.endpoint, {}))
    folder = Folder(client, "/torch/elastic", "attempt")
    client.call(lambda connection: connection.lease(5, lease_id=folder.lease))
    assert not folder.grant()
    assert folder.keep_lease()
    client.close()
