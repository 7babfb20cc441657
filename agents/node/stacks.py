"""Where workers stand in their code: all of a node are tried at once, and none takes longer than its time.

``py-spy`` reads a worker's memory from outside, also while it stands still. Where that is not allowed, a
worker that listens to the signal of ``stack_signal.py`` writes its stacks itself.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import procs, stack_signal
from ..bundle import Bundle, find_bundles
from ..wire.commands import TakeStacks
from ..wire.stacks import Frame, Method, RankStacks, StacksAnswer, ThreadStack
from .faulthandler_text import read_faulthandler
from .workers import NodeWorker, workers_of

LIMIT_S = 2.0
"""For all ranks of the node together."""
SPY_S, SIGNAL_S = 1.3, 0.5
"""For each of the two ways: together less than ``LIMIT_S``."""
NOT_PERMITTED = (
    "Not permitted: the node agent may not read the memory of this process. Give it the capability "
    "SYS_PTRACE (in Docker --cap-add=SYS_PTRACE), run it as the user of the workers, or import "
    "regroup_report in the script."
)


def take_stacks(request: TakeStacks, data: Path, node: str) -> StacksAnswer:
    """Never raises for what is asked: ``problem`` says in words why there is nothing."""
    bundles = find_bundles(data, request.attempt)
    if not bundles:
        return StacksAnswer(problem=f"{node} knows no attempt {request.attempt!r}.")
    for bundle in bundles:
        there = workers_of(bundle, request.round)
        if workers := [w for w in there if not request.ranks or w.rank in request.ranks]:
            return StacksAnswer(ranks=_take_all(workers, bundle, request.round))
    return StacksAnswer(problem=f"No such worker of round {request.round} runs on {node}.")


def _take_all(workers: Sequence[NodeWorker], bundle: Bundle, number: int) -> tuple[RankStacks, ...]:
    """At the same time, each in a thread of its own: one that hangs is left behind."""
    found: dict[int, RankStacks] = {}

    def take(worker: NodeWorker) -> None:
        found[worker.rank] = _take(worker, bundle.rank_folder(number, worker.rank) / stack_signal.FILE)

    threads = [threading.Thread(target=take, args=(w,), name=f"stack-{w.rank}", daemon=True) for w in workers]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + LIMIT_S
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return tuple(found.get(w.rank) or _no_answer(w) for w in sorted(workers, key=lambda w: w.rank))


def _no_answer(worker: NodeWorker) -> RankStacks:
    return _rank(worker, problem=f"No answer within {LIMIT_S:g} s.")


def _rank(
    worker: NodeWorker,
    method: Method = "",
    threads: tuple[ThreadStack, ...] = (),
    problem: str | None = None,
) -> RankStacks:
    pid = worker.ref.pid
    return RankStacks(
        rank=worker.rank,
        pid=pid,
        state=procs.state_of(pid) or "",
        waits_in=_waits_in(pid),
        method=method,
        threads=threads,
        problem=problem,
    )


def _waits_in(pid: int) -> str:
    try:
        name = Path(f"/proc/{pid}/wchan").read_text().strip()
    except OSError:
        return ""
    return "" if name == "0" else name


def _take(worker: NodeWorker, file: Path) -> RankStacks:
    if not procs.is_alive(worker.ref):
        return _rank(worker, problem="This process has ended.")
    threads, problem = _spy(worker.ref.pid)
    if threads:
        return _rank(worker, "py-spy", threads)
    written = _ask(worker, file)
    return _rank(worker, "faulthandler", written) if written else _rank(worker, problem=problem)


# -- from outside --------------------------------------------------------------------------


def find_py_spy() -> str | None:
    """The program beside the node agent's interpreter, or in PATH."""
    beside = Path(sys.executable).parent / "py-spy"
    return str(beside) if beside.exists() else shutil.which("py-spy")


def _spy(pid: int) -> tuple[tuple[ThreadStack, ...], str]:
    """The stacks, or why there are none."""
    program = find_py_spy()
    if program is None:
        return (), "py-spy is not installed beside the node agent. Install it there: pip install py-spy."
    words = [program, "dump", "--nonblocking", "--full-filenames", "--json", "--pid", str(pid)]
    try:
        done = subprocess.run(words, capture_output=True, timeout=SPY_S, check=False)
        return (_read_spy(json.loads(done.stdout)), "") if done.returncode == 0 else ((), _why(done.stderr))
    except subprocess.TimeoutExpired:
        return (), f"py-spy has not answered within {SPY_S:g} s."
    except (OSError, ValueError, KeyError, TypeError) as error:
        return (), f"py-spy's answer cannot be used: {error}"


def _why(stderr: bytes) -> str:
    said = stderr.decode("utf-8", "replace")
    if "ermission" in said or "not permitted" in said:
        return NOT_PERMITTED
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "it did not say why")
    return f"py-spy cannot read it: {last[:300]}"


def _read_spy(threads: list[dict[str, Any]]) -> tuple[ThreadStack, ...]:
    """The main thread, whose number is the process's, comes first."""
    ordered = sorted(threads, key=lambda one: one["os_thread_id"] != one["pid"])
    return tuple(
        ThreadStack(
            name=str(one.get("thread_name") or ""),
            frames=tuple(
                Frame(name=frame["name"], file=frame["filename"], line=frame["line"])
                for frame in one["frames"]
            ),
        )
        for one in ordered
    )


# -- from inside ---------------------------------------------------------------------------


def _ask(worker: NodeWorker, file: Path) -> tuple[ThreadStack, ...]:
    """What the worker writes itself; nothing where it does not listen."""
    behind = stack_signal.size_of(file)
    try:
        if not stack_signal.ask(worker.ref):
            return ()
    except PermissionError:
        return ()
    return read_faulthandler(stack_signal.answer(file, behind, SIGNAL_S))
