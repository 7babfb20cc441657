"""What a job stands at while its nodes come, leave, die and are waited for."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agents.wire.lifecycle import Phase, RunnerState
from agents.wire.runner_events import RendezvousBegun, RendezvousJoined
from tests.webapp.journals import BEGAN
from tests.webapp.situations import NODES, change, facts, journals, killed, says, up
from webapp.jobs.situation import (
    JobFacts,
    MemberFacts,
    first_to_break,
    why_end_the_rest,
)
from webapp.jobs.standing import stand


def alone_in_round_2(second_says: str) -> JobFacts:
    """node-2 was cut off, node-1 re-formed without it, and then node-2 says how it ended."""
    first, second = up(steps=5)
    first.restart("membership", counter=0)
    first.nodes = ("node-1",)
    first.form("membership").come_up().progress(6)
    second.restart("membership", counter=0).end("failed", second_says)
    seen = facts([first, second], rounds=2)
    return replace(seen, rounds=(replace(seen.rounds[0], nodes=("node-1",), world_size=2),))


def test_a_node_that_was_left_behind_and_failed_takes_nobody_along() -> None:
    seen = alone_in_round_2("The store host node-1 was lost from sight.")
    state, reason = says(stand(seen))
    assert state == "training"
    assert "node-2 was left behind and is over: The store host node-1 was lost from sight." in reason
    assert first_to_break(seen) is None
    in_it = replace(seen, rounds=(replace(seen.rounds[0], nodes=NODES, number=1),))
    broken = first_to_break(in_it)
    assert broken is not None
    assert broken.node == "node-2"


KILLED = "The runner on node-2 was killed (SIGKILL)."


def with_a_dead_runner(**more: Any) -> JobFacts:
    first, second = up(steps=5)
    second.end("failed", KILLED, inferred=True)
    return facts([first, second], rounds=1, **more)


def test_a_runner_that_died_is_started_again_and_takes_nobody_along() -> None:
    seen = with_a_dead_runner(min_nodes=2)
    assert first_to_break(seen) is None
    assert says(stand(seen)) == (
        "restarting",
        f"Round 1 has lost node-2; round 2 follows. {KILLED} It is being started again.",
    )
    launched = change(seen, "node-2", runner=RunnerState(), incarnation=2)
    assert says(stand(launched)) == (
        "restarting",
        "Round 1 has lost node-2; round 2 follows. The runner on node-2 is being started again.",
    )


def test_a_runner_that_died_on_a_node_that_takes_no_jobs_is_done_without() -> None:
    seen = change(with_a_dead_runner(), "node-2", is_out=True)
    assert first_to_break(seen) is None
    state, reason = says(stand(seen))
    assert state == "restarting"
    assert f"{KILLED} The others form a round without node-2." in reason


def test_the_only_runner_of_a_job_is_started_again_too() -> None:
    seen = with_a_dead_runner()
    alone = replace(seen, members=seen.members[1:], rounds=(replace(seen.rounds[0], nodes=("node-2",)),))
    state, reason = says(stand(alone))
    assert state == "restarting"
    assert f"{KILLED} It is being started again." in reason
    assert says(stand(replace(alone, is_fixed=True))) == ("failed", KILLED)


def test_with_static_the_death_of_a_runner_ends_the_attempt() -> None:
    broken = first_to_break(with_a_dead_runner(is_fixed=True))
    assert broken is not None
    assert broken.node == "node-2"


@pytest.mark.parametrize(("earlier_s", "is_hopeless"), [((20, 40), True), ((20, 70), False), ((20,), False)])
def test_three_deaths_within_a_minute_end_the_attempt(earlier_s: tuple[int, ...], is_hopeless: bool) -> None:
    seen = with_a_dead_runner()
    died_at = seen.members[1].runner.since
    assert died_at is not None
    deaths = tuple(died_at - timedelta(seconds=seconds) for seconds in earlier_s)
    seen = change(seen, "node-2", deaths=deaths)
    assert (first_to_break(seen) is not None) is is_hopeless
    if is_hopeless:
        told = "The runner on node-2 died three times within a minute, so that it is not started again."
        assert says(stand(seen)) == (
            "stopping",
            f"{told} {KILLED} Its workers on node-1 are being stopped.",
        )


def test_a_failure_of_the_jobs_own_is_not_undone_by_a_runner_that_died_as_well() -> None:
    first, second = killed()
    second.end("failed", "Rank 3 on node-2 was killed by SIGKILL, and no failure restarts are left.")
    first.end("failed", "The runner on node-1 was killed (SIGKILL).", inferred=True)
    state, reason = says(stand(facts([first, second], rounds=1)))
    assert (state, reason.startswith("Rank 3 on node-2")) == ("failed", True)


def test_a_node_that_left_on_request_neither_fails_nor_stops_the_job() -> None:
    seen = alone_in_round_2("The store host node-1 was lost from sight.")
    left = replace(seen.members[1].runner, outcome="stopped", has_left=True, reason="it left")
    seen = change(seen, "node-2", runner=left, leaves_at=BEGAN, leaves_why="scaled down by anna")
    assert first_to_break(seen) is None
    assert stand(seen).state.value == "training"
    leaving = change(seen, "node-2", runner=replace(left, phase=Phase.RESTARTING))
    assert stand(leaving).reason.endswith("node-2 is leaving: scaled down by anna.")


def test_when_the_last_node_has_left_on_request_the_job_is_stopped() -> None:
    members = [journal.end("stopped", "it left", has_left=True) for journal in up(5)]
    seen = facts(members, rounds=1)
    assert says(stand(seen))[0] == "failed"
    for node in NODES:
        seen = change(seen, node, leaves_at=BEGAN, leaves_why="node-1 was drained by anna")
    assert says(stand(seen)) == (
        "stopped",
        "The last node, node-1, has left: node-1 was drained by anna.",
    )


def in_rendezvous_alone(**more: Any) -> JobFacts:
    """node-1 waits for a second node; node-2 was up in round 1 when it was heard last."""
    first, second = up(steps=5)
    first.restart("membership", counter=0).add(RendezvousBegun, cause="membership", previous_round=1)
    first.add(RendezvousJoined, joined=("node-1",), expected=NODES, min_nodes=2, max_nodes=2)
    seen = facts([first, second], rounds=1, min_nodes=2, **more)
    return change(seen, "node-2", is_unheard=True, silence_s=9.0, heard_at=BEGAN, slots=2)


def test_below_its_minimum_a_job_says_for_whom_it_waits() -> None:
    assert stand(in_rendezvous_alone()).reason.startswith(
        "Round 2 waits for 1 more node: node-2 is gone since 14:00:00 UTC."
    )
    state, reason = says(stand(in_rendezvous_alone(has_no_room=True)))
    assert state == "waiting"
    assert "node-2 is gone since 14:00:00 UTC; no other node has 2 free slots." in reason


def test_below_its_minimum_a_job_that_gets_a_node_by_itself_is_restarting() -> None:
    heard = change(in_rendezvous_alone(), "node-2", is_unheard=False, silence_s=0.1)
    assert stand(heard).state.value == "restarting"
    enough = replace(in_rendezvous_alone(), min_nodes=1)
    assert stand(enough).state.value == "restarting"


def test_a_node_that_stands_by_is_said_to() -> None:
    seen = facts(up(3), rounds=1)
    spare = MemberFacts(node="node-3", runner=RunnerState(phase=Phase.RENDEZVOUS, is_spare=True))
    seen = replace(seen, members=(*seen.members, spare))
    assert says(stand(seen)) == (
        "training",
        "Round 1 since 14:00:00 UTC: 4 ranks on 2 nodes. node-3 stands by as a spare.",
    )


def test_a_node_that_is_new_is_said_to_come_while_the_others_train() -> None:
    seen = facts(up(3), rounds=1)
    seen = replace(seen, members=(*seen.members, MemberFacts(node="node-3", runner=RunnerState())))
    assert says(stand(seen)) == (
        "training",
        "Round 1 since 14:00:00 UTC: 4 ranks on 2 nodes. node-3 is being started, to join.",
    )


def test_who_comes_when_all_is_done_is_ended() -> None:
    first, late = journals()
    first.nodes = ("node-1",)
    first.start().form().come_up().progress(9)
    for rank in range(2):
        first.exit(rank, "finished", "ended with exit status 0")
    late.start().add(RendezvousBegun, cause="start")
    seen = facts([first, late], rounds=1)
    seen = replace(seen, rounds=(replace(seen.rounds[0], nodes=("node-1",), world_size=2),))
    assert why_end_the_rest(seen) is None
    first.end("succeeded", "all ranks ended with 0")
    seen = replace(seen, members=facts([first, late], rounds=1).members)
    assert why_end_the_rest(seen) == "the other nodes have finished the job"
    assert says(stand(seen)) == (
        "finishing",
        "All ranks ended with exit status 0; node-2, too late to join, is ended.",
    )
