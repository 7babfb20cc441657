"""What a node does for the hub: one module for each kind of command, and here the table of them.

A handler looks before it acts, since a daemon that was killed may have begun the same command
before. It returns ``Done`` with evidence, or raises ``Refused`` or ``Failed`` with a sentence.
"""

from __future__ import annotations

from typing import assert_never

from ...wire.commands import (
    AnyCommand,
    CutNode,
    FreezeWorker,
    KillAgent,
    KillRunner,
    KillWorker,
    LeaveRunner,
    SlowWorker,
    StartRunner,
    StopFaults,
    StopRunner,
)
from ..outcome import Done
from . import (
    cut_node,
    freeze_worker,
    kill_agent,
    kill_runner,
    kill_worker,
    leave_runner,
    slow_worker,
    start_runner,
    stop_faults,
    stop_runner,
)
from .node import Node

__all__ = ["Node", "carry_out"]


def carry_out(command: AnyCommand, node: Node, is_resumed: bool) -> Done:
    """``is_resumed``: an earlier daemon began it and was killed before it could say how it ended.

    Raises:
        Refused, Failed: with a sentence for the operator.
    """
    match command:
        case StartRunner():
            return start_runner.carry_out(command, node)
        case StopRunner():
            return stop_runner.carry_out(command, node)
        case LeaveRunner():
            return leave_runner.carry_out(command, node)
        case KillWorker():
            return kill_worker.carry_out(command, node, is_resumed)
        case FreezeWorker():
            return freeze_worker.carry_out(command, node, is_resumed)
        case SlowWorker():
            return slow_worker.carry_out(command, node, is_resumed)
        case KillRunner():
            return kill_runner.carry_out(command, node, is_resumed)
        case KillAgent():
            return kill_agent.carry_out(command, node)
        case CutNode():
            return cut_node.carry_out(command, node)
        case StopFaults():
            return stop_faults.carry_out(node)
        case _:
            assert_never(command)
