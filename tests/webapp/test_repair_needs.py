"""What an attempt needs, decided from what is known of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agents.wire.lifecycle import Phase, RunnerState, WorkerState
from agents.wire.runner_events import WorkerRef
from webapp.jobs.needs import Add, LetGo, Replace, StartAgain, TellToLeave, decide, may_return
from webapp.jobs.situation import JobFacts, MemberFacts, RoundFacts

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
DEAD = {"outcome": "failed", "reason": "It was killed.", "died": True, "since": NOW}


def up(node: str, order: int = 0, **more: Any) -> MemberFacts:
    """A node that trains in round 1."""
    return MemberFacts(node=node, order=order, runner=RunnerState(phase=Phase.UP, round=1), **more)


def in_phase(member: MemberFacts, phase: Phase, **more: Any) -> MemberFacts:
    return replace(member, runner=replace(member.runner, phase=phase, **more))


def dead(node: str, **more: Any) -> MemberFacts:
    return in_phase(up(node, **{"is_settled": True, **more}), Phase.ENDED, **DEAD)


def silent(member: MemberFacts, seconds: float = 10.0) -> MemberFacts:
    return replace(member, is_unheard=True, silence_s=seconds)


def new(node: str, order: int = 9, **more: Any) -> MemberFacts:
    return MemberFacts(node=node, order=order, runner=RunnerState(), **more)


def leaving(member: MemberFacts) -> MemberFacts:
    return replace(member, leaves_at=NOW, leaves_why="scaled down by anna")


def job(*members: MemberFacts, round_nodes: Sequence[str] = (), number: int = 1, **more: Any) -> JobFacts:
    nodes = tuple(round_nodes) or tuple(m.node for m in members if m.runner.round is not None)
    newest = RoundFacts(
        number=number, world_size=len(nodes), nodes=nodes, cause="start", why="", formed_at=NOW
    )
    wanted = {"nodes_wanted": len(nodes), "max_nodes": 4, "min_nodes": 1, **more}
    return JobFacts(members=members, rounds=(newest,), **wanted)


# -- nothing to do --


def test_a_job_that_has_what_it_wants_needs_nothing() -> None:
    assert decide(job(up("a"), up("b"))) == []


@pytest.mark.parametrize("more", [{"wants_stop": True}, {"is_fixed": True}])
def test_a_job_that_is_stopped_or_fixed_is_left_alone(more: dict[str, Any]) -> None:
    assert decide(job(up("a"), dead("b"), nodes_wanted=3, **more)) == []


def test_a_job_that_ends_is_left_alone() -> None:
    failed = in_phase(up("b"), Phase.ENDED, outcome="failed", reason="Rank 1 failed.")
    assert decide(job(up("a"), failed, nodes_wanted=3)) == []


def test_a_job_all_of_whose_ranks_ended_well_is_left_alone() -> None:
    worker = WorkerState(WorkerRef(rank=0, local_rank=0, pid=1, start_time=1), state="finished")
    assert decide(job(in_phase(up("a"), Phase.FINISHING, workers=(worker,)), nodes_wanted=2)) == []


@pytest.mark.parametrize("outcome", ["stopped", "succeeded"])
def test_an_attempt_that_a_node_was_told_the_end_of_gets_no_node_more(outcome: str) -> None:
    ended = in_phase(up("b", is_settled=True), Phase.ENDED, outcome=outcome, since=NOW)
    assert decide(job(up("a"), ended)) == []
    left = in_phase(ended, Phase.ENDED, has_left=True, outcome="stopped")
    assert decide(job(up("a"), left)) == [Add()]


# -- a runner that died --


def test_a_runner_that_died_on_a_live_node_is_started_again() -> None:
    assert decide(job(up("a"), dead("b"))) == [StartAgain("b")]


def test_the_only_runner_is_started_again_too() -> None:
    assert decide(job(dead("a"))) == [StartAgain("a")]


def test_not_before_nothing_of_it_is_left_and_nobody_takes_its_place_meanwhile() -> None:
    assert decide(job(up("a"), dead("b", is_settled=False))) == []


def test_not_while_its_node_is_not_heard_and_then_another_one_takes_its_place() -> None:
    assert decide(job(up("a"), silent(dead("b"), 5.0))) == []
    assert decide(job(up("a"), silent(dead("b"), 20.0))) == [Add()]


def test_not_on_a_node_that_takes_no_jobs() -> None:
    assert decide(job(up("a"), dead("b", is_out=True))) == [Add()]


def test_not_one_that_was_to_leave() -> None:
    assert decide(job(up("a"), leaving(dead("b")), nodes_wanted=1)) == []


def test_three_deaths_within_a_minute_are_enough() -> None:
    earlier = (NOW - timedelta(seconds=50), NOW - timedelta(seconds=20))
    assert decide(job(up("a"), dead("b", deaths=earlier))) == []
    assert decide(job(up("a"), dead("b", deaths=earlier[1:]))) == [StartAgain("b")]


# -- a node that is gone --


def left_behind(**more: Any) -> JobFacts:
    """The others are in round 2; the last that was heard of b is that it trained in round 1."""
    ahead = replace(up("a"), runner=RunnerState(phase=Phase.UP, round=2))
    return job(ahead, silent(up("b")), round_nodes=("a",), number=2, **{"nodes_wanted": 2, **more})


def test_a_silent_node_without_which_a_round_has_formed_is_replaced() -> None:
    assert decide(left_behind()) == [Replace("b")]


def test_a_node_that_is_just_not_heard_is_not() -> None:
    assert decide(job(up("a"), silent(up("b"), 60.0))) == []


def test_one_that_is_heard_and_was_left_behind_may_join_again_by_itself() -> None:
    seen = left_behind()
    heard = replace(seen.members[1], is_unheard=False, silence_s=0.1)
    assert decide(replace(seen, members=(seen.members[0], heard))) == []


def alone_in_the_rendezvous(silence_s: float, **of_b: Any) -> JobFacts:
    waiting = in_phase(up("a"), Phase.RENDEZVOUS, joined=("a",))
    return job(waiting, silent(up("b", **of_b), silence_s), min_nodes=2, max_nodes=2)


def test_one_without_whom_the_others_meet_is_replaced_once_its_keep_alive_has_lapsed() -> None:
    assert decide(alone_in_the_rendezvous(4.0)) == []
    assert decide(alone_in_the_rendezvous(7.0)) == [Replace("b")]


def test_the_one_that_keeps_the_store_is_not_replaced_while_the_others_meet() -> None:
    assert decide(alone_in_the_rendezvous(7.0, hosts_store=True)) == []


@pytest.mark.parametrize(("silence_s", "steps"), [(7.0, []), (15.0, [Replace("b")])])
def test_a_newcomer_that_is_silent_for_a_moment_is_not_replaced(
    silence_s: float, steps: list[Replace]
) -> None:
    assert decide(job(up("a"), silent(new("b"), silence_s), nodes_wanted=2)) == steps


def test_while_the_others_are_silent_as_well_nobody_is_gone() -> None:
    seen = alone_in_the_rendezvous(60.0)
    assert decide(replace(seen, members=tuple(silent(member) for member in seen.members))) == []


def test_a_node_that_returns_after_its_place_was_taken_is_told_to_leave_first() -> None:
    seen = left_behind(nodes_wanted=3)
    returned = leaving(replace(seen.members[1], is_unheard=False, silence_s=0.0))
    steps = decide(replace(seen, members=(seen.members[0], returned)))
    assert steps == [TellToLeave("b"), Add(), Add()]


# -- as many as wanted --


def test_a_job_that_wants_more_gets_more() -> None:
    assert decide(job(up("a"), nodes_wanted=3)) == [Add(), Add()]
    assert decide(job(up("a"), new("b"), nodes_wanted=3)) == [Add()]


def test_a_spare_is_kept_only_beyond_what_a_round_takes_in() -> None:
    assert decide(job(up("a"), up("b"), max_nodes=2, spares=1)) == [Add()]
    assert decide(job(up("a"), up("b"), max_nodes=3, spares=1)) == []


def test_a_standalone_job_gets_no_other_node() -> None:
    assert decide(job(dead("a", is_out=True), up("b"), is_standalone=True, nodes_wanted=2)) == []


def test_nobody_comes_while_the_others_are_about_to_finish() -> None:
    assert decide(job(in_phase(up("a"), Phase.FINISHING), up("b"), nodes_wanted=3)) == []


def test_a_job_that_wants_fewer_lets_the_newest_go_and_never_the_host_of_the_store() -> None:
    members = (up("a", 1), up("b", 2), up("c", 3, hosts_store=True))
    why = "scaled down by anna"
    assert decide(job(*members, nodes_wanted=2, scaled_why=why)) == [LetGo("b", why)]
    assert decide(job(*members, nodes_wanted=1, scaled_why=why)) == [LetGo("b", why), LetGo("a", why)]


def test_of_two_that_may_go_the_spare_goes() -> None:
    spare = MemberFacts(node="c", runner=RunnerState(phase=Phase.RENDEZVOUS, is_spare=True))
    steps = decide(job(up("a", 1, hosts_store=True), up("b", 5), spare, nodes_wanted=2))
    assert steps == [LetGo("c", "2 nodes are wanted")]


# -- leaving --


def test_who_is_to_leave_is_told_so() -> None:
    assert decide(job(up("a"), leaving(up("b")), nodes_wanted=1)) == [TellToLeave("b")]


def test_whose_place_is_taken_by_another_stays_until_that_one_has_met_the_rest() -> None:
    assert decide(job(up("a"), leaving(up("b")))) == [Add(), TellToLeave("b")]
    assert decide(job(up("a"), leaving(up("b")), new("c"))) == []
    met = in_phase(new("c"), Phase.RENDEZVOUS, is_spare=True)
    assert decide(job(up("a"), leaving(up("b")), met)) == [TellToLeave("b")]


def test_it_does_not_wait_for_one_that_cannot_be_started() -> None:
    refused = in_phase(new("c", is_settled=True), Phase.ENDED, outcome="failed", since=NOW)
    assert TellToLeave("b") in decide(job(up("a"), leaving(up("b")), refused))
    assert TellToLeave("b") in decide(job(up("a"), leaving(up("b")), silent(new("c"))))


def test_a_newcomer_that_could_not_start_takes_nobody_along() -> None:
    refused = in_phase(new("c", is_settled=True), Phase.ENDED, outcome="failed", since=NOW)
    assert decide(job(up("a"), refused, nodes_wanted=2)) == [Add()]


# -- who may come back --


@pytest.mark.parametrize(
    ("member", "may"),
    [
        (leaving(in_phase(dead("b"), Phase.ENDED, outcome="stopped")), True),
        (in_phase(dead("b"), Phase.ENDED, since=NOW - timedelta(seconds=40)), True),
        (dead("b"), False),
        (dead("b", is_settled=False), False),
        (leaving(dead("b", is_out=True)), False),
        (up("b"), False),
    ],
)
def test_who_left_on_request_may_come_back_at_once_and_who_failed_later(
    member: MemberFacts, may: bool
) -> None:
    assert may_return(member, NOW) is may
