"""One state word and one true sentence for whatever the members last said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.wire.runner_events import Progress, RendezvousBegun, RendezvousJoined, WorkerExited
from tests.webapp.journals import RunnerJournal
from tests.webapp.situations import NODES, facts, fold_all, journals, killed, says, up
from webapp.jobs.situation import (
    JobFacts,
)
from webapp.jobs.standing import stand


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
