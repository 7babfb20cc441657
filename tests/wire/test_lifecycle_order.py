"""Whatever order records arrive in, the state is that of the journal."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from agents.wire.lifecycle import ORDER, Phase, RunnerState, fold
from agents.wire.runner_events import (
    AnyRunnerEvent,
    Progress,
    RendezvousBegun,
    RunnerFinished,
    WorkerExited,
    WorkersFinished,
    WorkersStarted,
)
from tests.wire.records import NODE, RESTART, UP, fold_all, history, legal_histories, record
from webapp.jobs.folded import state_from_dict, state_to_dict


@given(legal_histories())
def test_every_sequence_that_the_table_allows_is_accepted(events: list[AnyRunnerEvent]) -> None:
    state = fold_all(events)
    assert state.out_of_order == 0
    assert state.last_seq == len(events)


@given(legal_histories(), st.data())
def test_records_delivered_twice_change_nothing(events: list[AnyRunnerEvent], data: st.DataObject) -> None:
    doubled: list[AnyRunnerEvent] = []
    for event in events:
        doubled.append(event)
        doubled.extend(data.draw(st.lists(st.sampled_from(doubled), max_size=3)))
    assert fold_all(doubled) == fold_all(events)


@given(legal_histories(), st.data())
def test_a_whole_stretch_delivered_again_changes_nothing(
    events: list[AnyRunnerEvent], data: st.DataObject
) -> None:
    begin = data.draw(st.integers(0, len(events)))
    assert fold_all(events + events[begin:]) == fold_all(events)


@given(legal_histories(), st.data())
def test_what_lies_behind_a_gap_waits_until_the_gap_is_filled(
    events: list[AnyRunnerEvent], data: st.DataObject
) -> None:
    begin = data.draw(st.integers(0, len(events)))
    end = data.draw(st.integers(begin, len(events)))
    before = fold_all(events[:begin])
    with_gap = fold_all(events[end:], before) if end > begin else before
    assert with_gap == before
    assert fold_all(events[begin:], with_gap) == fold_all(events)


@given(legal_histories(), st.data())
def test_a_state_kept_at_any_point_goes_on_to_the_same_end(
    events: list[AnyRunnerEvent], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(events)))
    kept = state_from_dict(state_to_dict(fold_all(events[:cut])))
    assert fold_all(events[cut:], kept) == fold_all(events)


@given(legal_histories(), st.sampled_from(sorted(ORDER, key=lambda kind: kind.__name__)), st.integers(0, 9))
def test_nothing_leads_out_of_the_end(
    events: list[AnyRunnerEvent], kind: type[AnyRunnerEvent], round_number: int
) -> None:
    ended = fold_all([*events, record(RunnerFinished, len(events) + 1)])
    after = fold(ended, record(kind, ended.last_seq + 1, round_number), NODE)
    assert after == replace(ended, last_seq=ended.last_seq + 1, out_of_order=ended.out_of_order + 1)


@given(legal_histories(), st.sampled_from(sorted(ORDER, key=lambda kind: kind.__name__)), st.integers(0, 9))
def test_a_record_that_the_table_forbids_is_counted_and_changes_nothing_else(
    events: list[AnyRunnerEvent], kind: type[AnyRunnerEvent], round_number: int
) -> None:
    state = fold_all(events)
    after = fold(state, record(kind, state.last_seq + 1, round_number), NODE)
    if state.phase not in ORDER[kind]:
        assert after == replace(state, last_seq=state.last_seq + 1, out_of_order=state.out_of_order + 1)
    else:
        assert after.out_of_order == state.out_of_order


@given(st.sampled_from([Progress, WorkerExited, WorkersFinished]), st.integers(0, 1))
def test_a_late_record_of_an_earlier_round_changes_nothing_current(
    kind: type[AnyRunnerEvent], old_round: int
) -> None:
    state = fold_all(history(*UP, *RESTART))
    late = record(kind, state.last_seq + 1, old_round)
    assert fold(state, late, NODE) == replace(state, last_seq=state.last_seq + 1)


def test_the_table_has_a_row_for_every_kind() -> None:
    assert set(ORDER) == set(get_args(AnyRunnerEvent))


def test_every_phase_but_the_end_can_be_reached_and_left() -> None:
    reached = {RunnerState().phase}
    for cut in range(len(UP) + len(RESTART) + 1):
        reached.add(fold_all(history(*UP, *RESTART)[:cut]).phase)
    reached.add(fold_all(history(*UP, WorkersFinished)).phase)
    assert reached == set(Phase) - {Phase.ENDED}
    assert all(phase in ORDER[RunnerFinished] for phase in reached)
    assert Phase.UP in ORDER[WorkerExited]
    assert Phase.STARTING in ORDER[WorkersStarted]
    assert Phase.RESTARTING in ORDER[RendezvousBegun]
