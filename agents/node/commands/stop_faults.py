"""End all faults that run on this node."""

from __future__ import annotations

from ..outcome import Done, Failed
from .node import Node

ENDED_S = 20.0


def carry_out(node: Node) -> Done:
    stopped, left = node.faults.stop_all(ENDED_S)
    if left:
        late = f"still run {ENDED_S:.0f} s after they were told to end"
        raise Failed(f"{left} of {stopped} faults on {node.name} {late}.")
    if not stopped:
        return Done(f"No fault ran on {node.name}.", {"stopped": 0})
    faults = "1 fault was" if stopped == 1 else f"{stopped} faults were"
    return Done(f"{faults} ended on {node.name}; none runs there any more.", {"stopped": stopped})
