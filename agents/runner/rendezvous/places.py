"""Who has a place in the rendezvous, who is waited for, and which spare is next. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..torch_hooks import RendezvousSettings, _NodeDesc, _remove_participant_epilogue
from .plain_state import State

LEFT = "it left"
LAPSED = "its keep-alive lapsed"


@dataclass(frozen=True)
class Gathering:
    """Who comes together for a round, as one node sees it. Names."""

    joined: tuple[str, ...]
    expected: frozenset[str]
    is_spare: bool = False
    """The round is full: the node stands by. ``joined`` are those in the round."""


def gathering(state: State, node: _NodeDesc, assigned: frozenset[str], max_nodes: int) -> Gathering | None:
    """None: ``node`` takes no part in it, or the round has formed."""
    waited_for = expected(state, assigned, max_nodes)
    if node in state.redundancy_list:
        return Gathering(_sorted_names(state.participants), waited_for, is_spare=True)
    if not state.complete and node in state.participants:
        return Gathering(_sorted_names(state.participants), waited_for)
    if state.complete and node in state.wait_list:
        return Gathering(_sorted_names(state.wait_list), waited_for)
    return None


def _sorted_names(nodes: Iterable[_NodeDesc]) -> tuple[str, ...]:
    return tuple(sorted(node.addr for node in nodes))


def names_in(state: State) -> set[str]:
    """All who have a place in the rendezvous."""
    return {other.addr for other in (*state.participants, *state.wait_list, *state.redundancy_list)}


def is_deserted(state: State) -> bool:
    """Whether nobody is left, on the way from one round to the next included."""
    return not names_in(state) and not state.last_heartbeats


def expected(state: State, assigned: frozenset[str], max_nodes: int) -> frozenset[str]:
    """Who is still to be waited for: the assigned nodes and those of the last round that are not known to
    stay away, and those that wait or are about to.

    Who waits has to be let in with this round, as it would end the next one at once.
    """
    coming = (assigned | set(state.members)) - state.absent.keys()
    return coming | {other.addr for other in (*state.wait_list, *next_spares(state, max_nodes))}


def all_are_in(state: State, assigned: frozenset[str], max_nodes: int) -> bool:
    """Whether nobody is missing from the participants, and each is there once."""
    names = [other.addr for other in state.participants]
    return len(set(names)) == len(names) and expected(state, assigned, max_nodes) <= set(names)


def next_spares(state: State, max_nodes: int) -> list[_NodeDesc]:
    """Those who stand by for whom there is a place now.

    A node on its way from the last round to the next keeps its place, so that a failed worker changes no
    membership.
    """
    held = {other.addr for other in (*state.participants, *state.wait_list)}
    held |= set(state.members) - state.absent.keys()
    return sorted(state.redundancy_list)[: max(0, max_nodes - len(held))]


def is_full(state: State, max_nodes: int) -> bool:
    """Whether the round has formed with as many nodes as it may have."""
    return state.complete and len(state.participants) >= max_nodes


# -- changes --


def take_out(state: State, node: _NodeDesc) -> bool:
    """Out of every list; whether it took part in the round."""
    state.last_heartbeats.pop(node, None)
    state.wait_list.discard(node)
    state.redundancy_list.discard(node)
    return state.participants.pop(node, None) is not None


def drop(state: State, nodes: Iterable[_NodeDesc], settings: RendezvousSettings) -> None:
    """Out of every list, with what follows for the round."""
    took_part = [take_out(state, node) for node in nodes]
    if any(took_part):
        _remove_participant_epilogue(state, settings)


def supersede(state: State, node: _NodeDesc, settings: RendezvousSettings) -> None:
    """Drop what earlier runners of the same node have left: they have gone, and hold up nobody."""
    known = {*state.last_heartbeats, *state.participants, *state.wait_list, *state.redundancy_list}
    drop(state, [other for other in known if other.addr == node.addr and other != node], settings)


def leave(state: State, node: _NodeDesc, settings: RendezvousSettings) -> bool:
    """Out of every list, and waited for by nobody; whether that has changed anything.

    Also for a node that has not come yet, as the others may wait for it.
    """
    if not _has_left_anything(state, node):
        return False
    drop(state, [node], settings)
    if node.addr not in names_in(state):
        state.absent[node.addr] = LEFT
    return True


def _has_left_anything(state: State, node: _NodeDesc) -> bool:
    if node in state.last_heartbeats or node in state.participants:
        return True
    is_known = node in state.wait_list or node in state.redundancy_list
    is_waited_for = not state.closed and node.addr not in names_in(state) and node.addr not in state.absent
    return is_known or is_waited_for
