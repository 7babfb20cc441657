"""One state word and one true sentence for whatever the members last said."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agents.wire.events import Progress, RendezvousBegun, RendezvousJoined, WorkerExited
from agents.wire.lifecycle import Phase, RunnerState, fold
from tests.webapp.journals import BEGAN, RunnerJournal
from webapp.jobs.situation import (
    JobFacts,
    MemberFacts,
    RoundFacts,
    first_to_break,
    why_end_the_rest,
)
from webapp.jobs.standing import Standing, stand

NODES = ("node-1", "node-2")


def fold_all(journal: RunnerJournal) -> RunnerState:
    state = RunnerState()
    for event in journal.events:
        state = fold(state, event, journal.node)  # type: ignore[arg-type]  # runner records only
    return state


def journals() -> list[RunnerJournal]:
    return [RunnerJournal("a", node, NODES) for node in NODES]


def up(steps: int = 0) -> list[RunnerJournal]:
    found = [journal.start().form().come_up() for journal in journals()]
    return [journal.progress(steps) for journal in found] if steps else found


def facts(members: list[RunnerJournal], rounds: int = 0, why: str = "", **more: Any) -> JobFacts:
    newest = RoundFacts(
        number=rounds,
        world_size=4,
        nodes=NODES,
        cause="failure" if why else "start",
        why=why,
        formed_at=BEGAN,
    )
    return JobFacts(
        members=tuple(MemberFacts(node=journal.node, runner=fold_all(journal)) for journal in members),
        rounds=(newest,) if rounds else (),
        **{"max_restarts": 3, "max_nodes": 2, "nodes_wanted": 2, **more},
    )


def change(seen: JobFacts, node: str, **more: Any) -> JobFacts:
    """The same with something else known of that node."""
    members = [replace(m, **more) if m.node == node else m for m in seen.members]
    return replace(seen, members=tuple(members))


def says(standing: Standing) -> tuple[str, str]:
    return standing.state.value, standing.reason


def test_a_job_without_an_attempt_is_queued_with_the_reason_of_placement() -> None:
    assert says(stand(JobFacts(queue_reason="No node has 4 free slots."))) == (
        "queued",
        "No node has 4 free slots.",
    )


def test_a_job_stopped_before_it_started_is_stopped() -> None:
    state, reason = says(stand(JobFacts(wants_stop=True, stopped_by="anna", stop_reason="wrong data")))
    assert state == "stopped"
    assert "anna" in reason
    assert "wrong data" in reason


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


def test_while_runners_are_launched_it_waits_for_them_by_name() -> None:
    state, reason = says(stand(facts(journals())))
    assert state == "waiting"
    assert "node-1 and node-2" in reason


def test_a_node_that_has_not_joined_is_named() -> None:
    first, second = journals()
    first.start().add(RendezvousBegun, cause="start")
    first.add(RendezvousJoined, joined=("node-1",), expected=NODES, min_nodes=1, max_nodes=2)
    state, reason = says(stand(facts([first, second.start()])))
    assert state == "waiting"
    assert "1 of 2 nodes joined" in reason
    assert "node-2" in reason


def test_a_first_round_is_told_plainly() -> None:
    state, reason = says(stand(facts(up(3), rounds=1)))
    assert (state, reason) == ("training", "Round 1 since 14:00:00 UTC: 4 ranks on 2 nodes.")


def test_without_progress_reports_it_is_running_and_not_training() -> None:
    state, reason = says(stand(facts(up(), rounds=1)))
    assert state == "running"
    assert "no progress" in reason.lower()


def test_workers_that_are_being_started_are_starting() -> None:
    first, second = up()
    second.events.pop()
    assert stand(facts([first, second], rounds=1)).state.value == "starting"


def killed() -> list[RunnerJournal]:
    first, second = up(5)
    return [first, second.exit(1, "cause", "killed by SIGKILL", signal="SIGKILL")]


def test_a_killed_worker_ends_the_training_at_once() -> None:
    members = facts(killed(), rounds=1, next_why="Rank 3 on node-2 was killed by SIGKILL")
    state, reason = says(stand(members))
    assert state == "restarting"
    assert reason.startswith("Rank 3 on node-2 was killed by SIGKILL.")


def test_without_budget_a_killed_worker_does_not_promise_a_restart() -> None:
    assert stand(facts(killed(), rounds=1, max_restarts=0)).state.value == "stopping"


def test_a_restart_names_its_cause_until_the_next_round() -> None:
    first, second = killed()
    second.restart()
    why = "Rank 3 on node-2 was killed by SIGKILL"
    assert says(stand(facts([first, second], rounds=1, next_why=why)))[0] == "restarting"
    first.restart("failure")
    second.form("failure", "node-2")
    # The first member has heard of round 2, the second has not reported it yet: no flicker.
    assert stand(facts([first, second], rounds=2, why=why)).state.value in {"restarting", "forming"}


def test_a_later_round_says_who_died_and_from_where_all_go_on() -> None:
    members = killed()
    for journal in members:
        journal.restart().form("failure", "node-2").come_up().resumed(4).progress(6)
    why = "Rank 3 on node-2 was killed by SIGKILL by anna (to see it)"
    state, reason = says(stand(facts(members, rounds=2, why=why)))
    assert state == "training"
    assert reason.startswith(f"Round 2 since 14:00:00 UTC. {why}; all 4 ranks")
    assert "resumed from step 4" in reason


def test_when_every_rank_ended_with_0_it_has_succeeded_whatever_an_agent_says_last() -> None:
    first, second = up(5)
    first.finish_well().end("succeeded", "all ranks ended with 0")
    second.finish_well().end("failed", "The store host node-1 was lost.")
    assert stand(facts([first, second], rounds=1)).state.value == "succeeded"


def test_a_node_that_is_done_is_finishing_while_another_works() -> None:
    first, second = up(5)
    state, reason = says(stand(facts([first.finish_well(), second], rounds=1)))
    assert (state, reason) == ("finishing", "node-1 is done; it waits for node-2, which still trains.")


def failed() -> list[RunnerJournal]:
    first, second = killed()
    first.end("failed", "Rank 3 failed; the rendezvous was closed by another node.")
    second.end("failed", "Rank 3 on node-2 was killed by SIGKILL, and node-2 has no failure restarts left.")
    return [first, second]


def test_a_failure_is_told_by_the_node_that_had_the_cause() -> None:
    state, reason = says(stand(facts(failed(), rounds=1)))
    assert state == "failed"
    assert reason.startswith("Rank 3 on node-2 was killed by SIGKILL")


def test_while_others_are_stopped_after_a_failure_it_is_stopping_with_the_reason() -> None:
    first, second = failed()
    first.events.pop()
    state, reason = says(stand(facts([first, second], rounds=1)))
    assert state == "stopping"
    assert reason.startswith("Rank 3 on node-2 was killed by SIGKILL")


@pytest.mark.parametrize(("outcome", "state"), [("stopped", "stopped"), ("failed", "stopped")])
def test_a_wanted_stop_ends_as_stopped(outcome: str, state: str) -> None:
    members = [journal.end(outcome, "stopped on request") for journal in up(5)]
    stopped = stand(facts(members, rounds=1, wants_stop=True, stopped_by="anna", stop_reason="enough"))
    assert says(stopped) == (state, "Stopped by anna: enough.")


def test_a_wanted_stop_says_how_long_the_workers_have() -> None:
    state, reason = says(stand(facts(up(5), rounds=1, wants_stop=True, stopped_by="anna", grace_s=7.0)))
    assert state == "stopping"
    assert "anna" in reason
    assert "7 s" in reason


def test_when_nobody_knows_how_it_ended_it_is_lost() -> None:
    members = [journal.end("unknown", "The runner ended, exit status not known.") for journal in up(5)]
    assert stand(facts(members, rounds=1)).state.value == "lost"


def silent(silences: tuple[float | None, ...]) -> JobFacts:
    known = facts(up(5), rounds=1)
    members = [
        replace(member, silence_s=silence, is_unheard=silence is None or silence > 3)
        for member, silence in zip(known.members, silences, strict=True)
    ]
    return replace(known, members=tuple(members))


def test_one_silent_node_is_said_and_changes_no_state() -> None:
    state, reason = says(stand(silent((0.0, 20.0))))
    assert state == "training"
    assert "node-2 is not heard" in reason


@pytest.mark.parametrize("silences", [(15.0, 16.0), (None, None)])
def test_when_all_are_silent_nothing_is_claimed(silences: tuple[float | None, ...]) -> None:
    state, reason = says(stand(silent(silences)))
    assert state == "unknown"
    assert "node-1 and node-2" in reason


def test_no_sentence_is_empty_at_any_point_of_a_life() -> None:
    members = killed()
    for journal in members:
        journal.restart().form("failure", "node-2").come_up().progress(6).finish_well().end("succeeded", "ok")
    kinds = {type(event) for journal in members for event in journal.events}
    assert {Progress, WorkerExited} <= kinds
    longest = max(len(journal.events) for journal in members)
    for cut in range(longest + 1):
        for other in range(max(0, cut - 3), min(longest, cut + 3) + 1):
            parts = []
            for journal, end in zip(members, (cut, other), strict=True):
                part = RunnerJournal("a", journal.node, NODES)
                part.events = journal.events[:end]
                parts.append(part)
            states = [fold_all(part) for part in parts]
            rounds = max(state.round or 0 for state in states)
            assert stand(facts(parts, rounds=rounds)).reason
