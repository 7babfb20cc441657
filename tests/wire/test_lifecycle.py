"""What one runner's records add up to."""

from __future__ import annotations

import pytest

from agents.wire.lifecycle import JobState, Phase, RunnerState, fold
from agents.wire.runner_events import (
    CheckpointSaved,
    Progress,
    RankProgress,
    RendezvousCompleted,
    Resumed,
    RunnerFinished,
    RunnerStarted,
    WorkerExited,
    WorkersFinished,
)
from tests.wire.records import NODE, OTHER, RESTART, UP, fold_all, history, record


def test_a_runner_that_was_not_heard_of_is_launching() -> None:
    assert RunnerState().phase is Phase.LAUNCHING
    assert RunnerState().round is None


def test_a_first_round_comes_up() -> None:
    state = fold_all(history(*UP))
    assert (state.phase, state.round, state.world_size, state.nodes) == (Phase.UP, 1, 4, (NODE, OTHER))
    assert [(w.ref.rank, w.ref.pid, w.state) for w in state.workers] == [
        (0, 1000, "running"),
        (1, 1001, "running"),
    ]
    assert not state.reports_progress


def test_a_killed_worker_is_named_and_the_next_round_has_new_ones() -> None:
    killed = fold_all(history(*UP, WorkerExited))
    assert [w.state for w in killed.workers] == ["running", "cause"]
    assert "killed by SIGKILL" in killed.failure
    back = fold_all(history(*UP, *RESTART))
    assert (back.phase, back.round) == (Phase.UP, 2)
    assert [(w.ref.pid, w.state) for w in back.workers] == [(2000, "running"), (2001, "running")]


def test_a_new_round_begins_without_the_progress_of_the_last() -> None:
    before = fold_all(history(*UP, Progress, CheckpointSaved, Resumed))
    assert (before.reports_progress, before.workers[0].step, before.resumed_step) == (True, 7, 10)
    after = fold_all(history(*UP, Progress, CheckpointSaved, Resumed, *RESTART))
    assert (after.reports_progress, after.workers[0].step, after.resumed_step) == (False, None, None)
    assert after.checkpoint_step == 10


@pytest.mark.parametrize(("charged", "spent"), [(NODE, 1), (OTHER, 0), (None, 0)])
def test_a_node_pays_only_for_rounds_that_are_charged_to_it(charged: str | None, spent: int) -> None:
    state = fold_all(history(*UP, *RESTART[:4]))
    completed = record(RendezvousCompleted, state.last_seq + 1, 2, cause="failure", charged=charged)
    assert fold(state, completed, NODE).charged == spent


def test_the_phase_keeps_the_time_when_it_began() -> None:
    up = fold_all(history(*UP))
    later = fold(up, record(Progress, up.last_seq + 1), NODE)
    assert later.since == up.since == record(UP[-1], len(UP)).at


def test_workers_whose_end_was_never_reported_are_unknown_when_the_runner_has_gone() -> None:
    state = fold_all(history(*UP, WorkerExited, RunnerFinished))
    assert state.phase is Phase.ENDED
    assert [w.state for w in state.workers] == ["unknown", "cause"]
    assert (state.outcome, state.reason) == ("failed", "The workers failed.")


def test_a_runner_that_never_spoke_can_be_ended() -> None:
    state = fold_all(history(RunnerFinished))
    assert (state.phase, state.outcome) == (Phase.ENDED, "failed")


def test_a_node_that_is_done_waits_for_the_others_until_it_must_form_again() -> None:
    waiting = fold_all(history(*UP, WorkersFinished))
    assert waiting.phase is Phase.FINISHING
    again = fold_all(history(*UP, WorkersFinished, *RESTART[1:]))
    assert (again.phase, again.round, again.out_of_order) == (Phase.UP, 2, 0)


def test_the_pace_is_known_after_two_reports_and_forgotten_with_the_round() -> None:
    once = fold_all(history(*UP, Progress))
    assert once.pace is None
    further = record(Progress, once.last_seq + 1, ranks=(RankProgress(rank=0, step=17),))
    twice = fold(once, further, NODE)
    assert twice.pace == pytest.approx(10.0)
    assert fold_all(history(*UP, Progress, Progress, *RESTART)).pace is None


def test_a_second_start_is_out_of_order() -> None:
    state = fold_all(history(RunnerStarted, RunnerStarted))
    assert (state.phase, state.out_of_order, state.last_seq) == (Phase.IDLE, 1, 2)


def test_exactly_four_job_states_are_final() -> None:
    final = {state.value for state in JobState if state.is_terminal}
    assert final == {"succeeded", "failed", "stopped", "lost"}
