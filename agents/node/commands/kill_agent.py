"""Kill the node agent itself: the one that comes after it tells how that went."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from ...bundle import read_json, write_aside
from ...wire.commands import KillAgent
from ..outcome import Done
from .node import Node


def carry_out(command: KillAgent, node: Node) -> Done:
    """The note on the disk tells the next node agent that this command has been carried out.

    Without it the command could kill one node agent after the other.

    Raises:
        OSError: there can be no note; nobody is killed.
    """
    path = node.config.data / "agent_killed.json"
    note = read_json(path)
    if note is not None and note["command"] == command.id:
        return _back(note, node)
    says = f"The node agent on {node.name} (pid {os.getpid()}) kills itself (SIGKILL)."
    node.faults.say_begun(command.id, says)
    node.faults.await_told()
    _kill(command.id, path)
    raise AssertionError("SIGKILL leaves nobody who could come here")


def _kill(command_id: str, path: Path) -> None:
    write_aside(path, json.dumps({"command": command_id, "pid": os.getpid(), "at": time.time()}))
    os.kill(os.getpid(), signal.SIGKILL)
    # It takes hold when this thread returns from the kernel; nothing may be said in between.
    threading.Event().wait()


def _back(note: dict[str, Any], node: Node) -> Done:
    back_after_s = round(max(0.0, time.time() - note["at"]), 3)
    _, attempts = node.supervisor.load()
    adopted = "nothing ran on it" if not attempts else f"what ran on it was adopted ({', '.join(attempts)})"
    said = f"The node agent on {node.name} was killed and is back {back_after_s:.1f} s later; {adopted}."
    return Done(
        said,
        {
            "killed_pid": int(note["pid"]),
            "pid": os.getpid(),
            "killed_at": round(float(note["at"]), 4),
            "back_after_s": back_after_s,
            "adopted": len(attempts),
        },
    )
