"""Who is waited for, who may take a free place, and what a node that goes leaves behind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from agents.runner.rendezvous.places import (
    LEFT,
    all_are_in,
    expected,
    is_deserted,
    leave,
    next_spares,
    supersede,
)
from agents.runner.rendezvous.plain_state import State, decode, encode
from agents.runner.torch_hooks import RendezvousSettings, RendezvousTimeout, _NodeDesc

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SETTINGS = RendezvousSettings("1.1", 1, 3, RendezvousTimeout(), timedelta(seconds=1), 3)


def node(name: str, pid: int = 1) -> _NodeDesc:
    return _NodeDesc(name, pid, 0)


def formed(*names: str, waiting: str = "", spares: str = "", absent: str = "") -> State:
    """A round that has formed. Each letter of the rest is a node."""
    state = State()
    state.complete = True
    state.members = tuple(names)
    state.participants = {node(name): rank for rank, name in enumerate(names)}
    state.wait_list, state.redundancy_list = set(map(node, waiting)), set(map(node, spares))
    state.absent = dict.fromkeys(absent, LEFT)
    state.last_heartbeats = dict.fromkeys(map(node, (*names, *waiting, *spares)), NOON)
    return state


def re_form(state: State, *names: str) -> State:
    """These have ended their workers and wait for the next round."""
    for name in names:
        del state.participants[node(name)]
        state.wait_list.add(node(name))
    return state


def test_the_members_of_the_last_round_are_waited_for_though_nobody_was_told_of_them() -> None:
    state = formed("a", "b", waiting="c", absent="d")
    assert expected(state, frozenset("ad"), 3) == frozenset("abc")


def test_a_round_with_a_node_twice_is_not_yet_whole() -> None:
    state = formed("a", "b")
    assert all_are_in(state, frozenset("ab"), 3)
    state.participants[node("b", pid=2)] = 2
    assert not all_are_in(state, frozenset("ab"), 3)


def test_a_spare_moves_only_when_a_place_is_free_for_good() -> None:
    assert next_spares(formed("a", "b", "c", spares="yz"), 3) == []
    assert next_spares(re_form(formed("a", "b", "c", spares="yz"), "a"), 3) == []
    left = formed("a", "b", "c", spares="yz")
    assert leave(left, node("b"), SETTINGS)
    assert next_spares(left, 3) == [node("y")]
    assert expected(left, frozenset(), 3) == frozenset("acy")
    assert next_spares(formed("a", waiting="y", spares="z"), 3) == [node("z")]
    assert next_spares(formed("a", "b", waiting="y", spares="z"), 3) == []


def test_a_new_runner_removes_its_predecessor_and_nobody_else() -> None:
    state = formed("a", "b")
    supersede(state, node("b", pid=2), SETTINGS)
    assert list(state.participants) == list(state.last_heartbeats) == [node("a")]
    assert state.complete


def test_who_leaves_is_waited_for_by_nobody_and_leaving_twice_is_once() -> None:
    state = formed("a", "b")
    assert leave(state, node("b"), SETTINGS)
    assert (list(state.participants), state.absent) == ([node("a")], {"b": LEFT})
    assert not leave(state, node("b"), SETTINGS)
    assert leave(state, node("c"), SETTINGS), "it was assigned and has not come yet"
    assert expected(state, frozenset("abc"), 3) == frozenset("a")


def test_who_leaves_late_says_nothing_of_its_successor() -> None:
    state = formed("a")
    state.participants[node("b", pid=2)] = 1
    state.last_heartbeats[node("b", pid=2)] = NOON
    assert not leave(state, node("b", pid=1), SETTINGS)
    assert state.absent == {}


def test_a_round_is_over_when_the_last_one_has_left_it() -> None:
    state = formed("a", spares="b")
    leave(state, node("a"), SETTINGS)
    assert (state.complete, state.round, is_deserted(state)) == (False, 1, False)
    leave(state, node("b"), SETTINGS)
    assert is_deserted(state)


def test_a_node_between_two_rounds_is_still_there() -> None:
    state = formed("a")
    del state.participants[node("a")]
    assert not is_deserted(state)


def test_the_state_survives_the_store() -> None:
    state = formed("a", "b", waiting="c", spares="d", absent="e")
    again = decode(encode(state))
    assert vars(again) == vars(state)
