"""Who is heard: read from real leases, noted on the rows, shown with its age."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.utils import timezone

from agents.wire import streams
from agents.wire.clock import Offset
from tests.webapp.api_client import Api
from tests.webapp.factories import make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet.leases import Lease, Noted, note_leases, read_leases, state_after, troubles_from
from webapp.fleet.models import Node


def lease(bus: redis.Redis, node: str, silent_s: float = 0.0, **told: Any) -> None:
    px = int((streams.LEASE_S - silent_s) * 1000)
    bus.set(streams.lease(node), json.dumps({"node": node, **told}), px=px)


def silent(**nodes: float) -> dict[str, Lease]:
    return {name.replace("_", "-"): Lease(silence_s) for name, silence_s in nodes.items()}


def test_silence_is_what_is_missing_from_the_lease(bus: redis.Redis, db: None) -> None:
    for name in ("node-1", "node-2", "node-3"):
        make_node(name)
    lease(bus, "node-1", 0)
    lease(bus, "node-2", 5)
    leases = read_leases()
    assert leases["node-1"].silence_s == pytest.approx(0, abs=1)
    assert leases["node-2"].silence_s == pytest.approx(5, abs=1)
    assert leases["node-3"].silence_s is None


def test_the_names_whose_word_changed_are_told_once(db: None) -> None:
    for name in ("node-1", "node-2"):
        make_node(name, silent_s=1)
    soon = timezone.now() + timedelta(seconds=5)
    assert note_leases(silent(node_1=0.2, node_2=4.0), now=soon).states == {"node-2"}
    assert note_leases(silent(node_1=0.2, node_2=5.0), now=soon + timedelta(seconds=1)).states == set()
    assert note_leases(silent(node_1=0.2, node_2=0.1), now=soon + timedelta(seconds=2)).states == {"node-2"}


def test_without_an_answer_everybody_just_grows_older(db: None) -> None:
    make_node("node-1", silent_s=1)
    now = timezone.now()
    assert note_leases({}, now=now + timedelta(seconds=4)).states == {"node-1"}
    assert note_leases({}, now=now + timedelta(seconds=16)).states == {"node-1"}
    assert Node.objects.get().state == "lost"


@pytest.mark.parametrize(
    ("silence", "word"), [(0.0, "online"), (2.9, "online"), (3.0, "unheard"), (15.0, "lost"), (None, "lost")]
)
def test_each_silence_has_its_word(silence: float | None, word: str) -> None:
    assert state_after(silence) == word


def test_nodes_are_shown_with_their_age_their_jobs_and_free_slots(operator: Api, anna: Account) -> None:
    make_node("node-1", slots=4)
    make_node("node-2", silent_s=7)
    job = make_running_job(anna, ["node-1"], ranks_per_node=3)
    first, second = operator.get("/api/nodes").body["items"]
    assert (first["state"], first["slots"], first["slots_free"]) == ("online", 4, 1)
    assert [(held["job"], held["name"], held["slots"]) for held in first["jobs"]] == [(job.id, "char-lm", 3)]
    assert (second["state"], second["slots_free"]) == ("unheard", 2)
    assert 7 <= second["silent_s"] < 14


def test_a_clock_that_is_off_is_shown_by_the_hubs_clock_with_its_error(
    bus: redis.Redis, operator: Api
) -> None:
    for name in ("node-1", "node-2", "node-3"):
        make_node(name)
    lease(bus, "node-1", clock={"offset_s": 1.75, "error_s": 0.002})
    lease(bus, "node-2", clock=None)
    hub_clock = Offset(-0.05, 0.001)
    assert note_leases(read_leases(), hub_clock) == Noted(states=set(), others={"node-1"})
    first, second, third = operator.get("/api/nodes").body["items"]
    assert (first["clock_offset_s"], first["clock_error_s"]) == (1.8, 0.003)
    assert (second["clock_offset_s"], second["clock_error_s"]) == (None, None)
    assert (third["clock_offset_s"], third["clock_error_s"]) == (None, None)


def test_a_clock_is_told_anew_only_when_it_has_moved(bus: redis.Redis, operator: Api) -> None:
    make_node("node-1")
    exact = Offset(0.0, 0.0)
    for offset_s, told in ((0.5, {"node-1"}), (0.501, set()), (0.9, {"node-1"})):
        lease(bus, "node-1", clock={"offset_s": offset_s, "error_s": 0.001})
        assert note_leases(read_leases(), exact).others == told
    bus.delete(streams.lease("node-1"))
    assert note_leases(read_leases(), exact).others == set()
    assert operator.get("/api/nodes").body["items"][0]["clock_offset_s"] == 0.9


@pytest.mark.parametrize("told", [{}, {"clock": "late"}, {"clock": {"offset_s": "x", "error_s": 0}}])
def test_a_lease_without_a_readable_clock_says_nothing_of_it(
    bus: redis.Redis, db: None, told: dict[str, Any]
) -> None:
    make_node("node-1")
    lease(bus, "node-1", **told)
    assert read_leases()["node-1"].clock is None


def test_nodes_come_in_pages(operator: Api) -> None:
    for number in range(3):
        make_node(f"node-{number}")
    page = operator.get("/api/nodes?limit=2").body
    assert [node["name"] for node in page["items"]] == ["node-0", "node-1"]
    rest = operator.get(f"/api/nodes?limit=2&cursor={page['next']}").body
    assert ([node["name"] for node in rest["items"]], rest["next"]) == (["node-2"], None)


def test_what_troubles_a_node_is_shown_until_it_is_over(bus: redis.Redis, operator: Api) -> None:
    make_node("node-1")
    lease(bus, "node-1", troubles=["The disk of the data folder is full."])
    assert note_leases(read_leases()).others == {"node-1"}
    assert operator.get("/api/nodes").body["items"][0]["troubles"] == ["The disk of the data folder is full."]
    lease(bus, "node-1", troubles=[])
    assert note_leases(read_leases()).others == {"node-1"}
    assert operator.get("/api/nodes").body["items"][0]["troubles"] == []


@pytest.mark.parametrize("text", ["", "[]", "{", '{"troubles": 3}', '{"troubles": null}'])
def test_a_lease_that_makes_no_sense_tells_of_no_trouble(text: str) -> None:
    assert troubles_from(text) == ()
