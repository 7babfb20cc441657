"""Why a round of another membership began, in words, from what its nodes and its runners said."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents.wire.lifecycle import Phase, RunnerState
from tests.webapp.factories import make_node, make_running_job
from webapp.accounts.models import Account
from webapp.jobs.folded import state_to_dict
from webapp.jobs.models import Attempt, Member, Round
from webapp.jobs.round_why import coming_words, explain_round

pytestmark = pytest.mark.django_db

ALL = ["node-1", "node-2", "node-3"]
EARLIER = timezone.now() - timedelta(hours=1)


@pytest.fixture
def attempt(anna: Account) -> Attempt:
    for name in ALL:
        make_node(name)
    attempt = make_running_job(anna, ALL, nnodes="1:3").attempts.get()
    attempt.rounds.update(formed_at=EARLIER, nodes=ALL[:2])
    return attempt


def why(attempt: Attempt, nodes: list[str], **absent: str) -> str:
    row = Round.objects.create(
        attempt=attempt,
        number=2,
        world_size=2 * len(nodes),
        nodes=nodes,
        cause="membership",
        absent={name.replace("_", "-"): text for name, text in absent.items()},
        formed_at=timezone.now(),
    )
    explain_round(row)
    return row.why


def let(node: str, **more: Any) -> None:
    Member.objects.filter(node=node).update(**more)


def end(node: str, **more: Any) -> None:
    state = RunnerState(phase=Phase.ENDED, round=1, **more)
    let(node, phase="ended", folded=state_to_dict(state))


def test_who_joined(attempt: Attempt) -> None:
    assert why(attempt, ALL) == "node-3 joined"


def test_who_goes_on_with_fewer_workers_as_its_gpus_are_gone(attempt: Attempt) -> None:
    state = RunnerState(phase=Phase.UP, round=1, gone_gpus=("GPU-a",))
    let("node-2", folded=state_to_dict(state))
    assert why(attempt, ALL) == "node-3 joined; node-2 goes on, with fewer workers, as GPU-a is gone"


def test_who_left_on_whose_request(attempt: Attempt) -> None:
    let("node-2", leaves_at=timezone.now(), leaves_why="scaled down by anna")
    assert why(attempt, ["node-1"], node_2="it left") == "node-2 left (scaled down by anna)"


def test_who_is_gone_although_another_takes_its_place(attempt: Attempt) -> None:
    let("node-2", leaves_at=timezone.now(), leaves_why="node-3 takes its place")
    told = why(attempt, ["node-1", "node-3"], node_2="its keep-alive lapsed")
    assert told == "node-2 is gone: its keep-alive lapsed and node-3 joined"


def test_whose_runner_died_although_another_one_is_on_its_way(attempt: Attempt) -> None:
    let("node-2", incarnation=2, deaths=[timezone.now().isoformat()])
    assert why(attempt, ["node-1"], node_2="its keep-alive lapsed") == "The runner on node-2 died"


def test_whose_runner_has_been_started_again(attempt: Attempt) -> None:
    let("node-2", incarnation=2, deaths=[timezone.now().isoformat()])
    assert why(attempt, ALL[:2]) == "The runner on node-2 died and has been started again"


def test_whose_runner_has_died(attempt: Attempt) -> None:
    end("node-2", outcome="failed", died=True, reason="The runner on node-2 was killed (SIGKILL).")
    assert why(attempt, ["node-1"]) == "The runner on node-2 was killed (SIGKILL)"


def test_who_was_told_to_leave_by_something_else(attempt: Attempt) -> None:
    end("node-2", outcome="stopped", has_left=True)
    told = why(attempt, ["node-1"], node_2="it left")
    assert told == "node-2 left, as its runner was told to by something other than Regroup"


def test_that_nothing_has_changed(attempt: Attempt) -> None:
    assert why(attempt, ALL[:2]) == "The same 2 nodes formed anew"


def test_who_comes_and_goes_while_the_round_still_forms(attempt: Attempt) -> None:
    let("node-2", leaves_at=timezone.now(), leaves_why="scaled down by anna")
    let("node-3", phase="rendezvous")
    assert coming_words(attempt.rounds.get()) == "node-2 left (scaled down by anna) and node-3 joined"
