"""Cut this node off from the hub for a while. Its runners and workers do not need the hub, and go on."""

from __future__ import annotations

import time

from ...wire.commands import CutNode
from ..gate import Cut, gate
from ..outcome import Done
from .node import Node


def carry_out(command: CutNode, node: Node) -> Done:
    """The end of the cut stands on the disk: a node agent that is started meanwhile sees it out."""
    with node.faults.running(command.id) as ending:
        cut = _cut_by(command) or _begin(command, node)
        ending.wait(gate.left_s)
        gate.open()
    healed_at = min(time.time(), cut.until)
    says = f"{node.name} was cut off from the hub for {healed_at - cut.cut_at:.1f} s and is back."
    return Done(says, {"cut_at": round(cut.cut_at, 4), "healed_at": round(healed_at, 4)})


def _cut_by(command: CutNode) -> Cut | None:
    """The cut that an earlier node agent began for this very command."""
    return gate.newest if gate.newest is not None and gate.newest.command == command.id else None


def _begin(command: CutNode, node: Node) -> Cut:
    """Once the hub knows of it, since it will hear nothing for a while."""
    says = f"{node.name} cuts itself off from the hub for {command.seconds:g} s; what trains there goes on."
    node.faults.say_begun(command.id, says)
    node.faults.await_told()
    return gate.shut(command.id, command.seconds)
