"""Who is heard: read from real leases, noted on the rows, shown with its age."""

from __future__ import annotations

from datetime import timedelta

import pytest
import redis
from django.utils import timezone

from agents.wire import streams
from tests.webapp.api_client import Api
from tests.webapp.factories import make_node, make_running_job
from webapp.accounts.models import Account
from webapp.fleet.leases import note_heard, read_leases, state_after
from webapp.fleet.models import Node


def lease(bus: redis.Redis, node: str, silent_s: float) -> None:
    bus.set(streams.lease(node), "1", px=int((streams.LEASE_S - silent_s) * 1000))


def test_silence_is_what_is_missing_from_the_lease(bus: redis.Redis, db: None) -> None:
    for name in ("node-1", "node-2", "node-3"):
        make_node(name)
    lease(bus, "node-1", 0)
    lease(bus, "node-2", 5)
    silences = read_leases()
    assert silences["node-1"] == pytest.approx(0, abs=1)
    assert silences["node-2"] == pytest.approx(5, abs=1)
    assert silences["node-3"] is None


def test_the_names_whose_word_changed_are_told_once(db: None) -> None:
    for name in ("node-1", "node-2"):
        make_node(name, silent_s=1)
    soon = timezone.now() + timedelta(seconds=5)
    assert note_heard({"node-1": 0.2, "node-2": 4.0}, soon) == {"node-2"}
    assert note_heard({"node-1": 0.2, "node-2": 5.0}, soon + timedelta(seconds=1)) == set()
    assert note_heard({"node-1": 0.2, "node-2": 0.1}, soon + timedelta(seconds=2)) == {"node-2"}


def test_without_an_answer_everybody_just_grows_older(db: None) -> None:
    make_node("node-1", silent_s=1)
    now = timezone.now()
    assert note_heard({}, now + timedelta(seconds=4)) == {"node-1"}
    assert note_heard({}, now + timedelta(seconds=16)) == {"node-1"}
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
    assert second["silent_s"] == pytest.approx(7, abs=1)


def test_nodes_come_in_pages(operator: Api) -> None:
    for number in range(3):
        make_node(f"node-{number}")
    page = operator.get("/api/nodes?limit=2").body
    assert [node["name"] for node in page["items"]] == ["node-0", "node-1"]
    rest = operator.get(f"/api/nodes?limit=2&cursor={page['next']}").body
    assert ([node["name"] for node in rest["items"]], rest["next"]) == (["node-2"], None)
