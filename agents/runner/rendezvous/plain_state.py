"""torch's rendezvous state as JSON: data only, so that who can write the store can run no code."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from torch.distributed.elastic.rendezvous import RendezvousStateError

from ..torch_hooks import _NodeDesc, _RendezvousState

VERSION = 2


class State(_RendezvousState):
    """``absent``: why a node is not waited for, by its name, until it joins again.

    ``members``: the names of the nodes of the last round that formed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.absent: dict[str, str] = {}
        self.members: tuple[str, ...] = ()


def encode(state: State) -> bytes:
    """UTF-8 JSON; a node is ``[name, pid, local id]``, a time is ISO 8601."""
    values = {
        "version": VERSION,
        "round": state.round,
        "complete": state.complete,
        "deadline": state.deadline.isoformat() if state.deadline else None,
        "closed": state.closed,
        "participants": [[*_from_node(node), rank] for node, rank in state.participants.items()],
        "wait_list": sorted(map(_from_node, state.wait_list)),
        "redundancy_list": sorted(map(_from_node, state.redundancy_list)),
        "keep_alives": [[*_from_node(node), at.isoformat()] for node, at in state.last_heartbeats.items()],
        "absent": state.absent,
        "members": state.members,
    }
    return json.dumps(values, separators=(",", ":")).encode()


def decode(text: bytes) -> State:
    """Raises ``RendezvousStateError`` saying what cannot be read: bytes that this version did not write."""
    try:
        return _read(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise RendezvousStateError(
            f"The rendezvous state cannot be read: {error!r}. It begins with {text[:40]!r}. Only runners of "
            "one release of Regroup may meet under one rendezvous id."
        ) from error


def _read(values: dict[str, Any]) -> State:
    if values["version"] != VERSION:
        raise ValueError(f"version {values['version']} instead of {VERSION}")
    state = State()
    state.round, state.complete = int(values["round"]), bool(values["complete"])
    state.deadline = datetime.fromisoformat(values["deadline"]) if values["deadline"] else None
    state.closed = bool(values["closed"])
    state.participants = {_to_node(one[:3]): int(one[3]) for one in values["participants"]}
    state.wait_list = set(map(_to_node, values["wait_list"]))
    state.redundancy_list = set(map(_to_node, values["redundancy_list"]))
    state.last_heartbeats = {
        _to_node(one[:3]): datetime.fromisoformat(one[3]) for one in values["keep_alives"]
    }
    state.absent = {str(name): str(why) for name, why in values["absent"].items()}
    state.members = tuple(map(str, values["members"]))
    return state


def _from_node(node: _NodeDesc) -> list[Any]:
    return [node.addr, node.pid, node.local_id]


def _to_node(values: list[Any]) -> _NodeDesc:
    name, pid, local_id = values
    return _NodeDesc(str(name), int(pid), int(local_id))
