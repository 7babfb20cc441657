"""Reports a training script's progress to Regroup; reaches workers as the module ``regroup_report``.

Importing it is enough for Regroup to know when the process group is up. Standard library only. Outside
Regroup every call does nothing; no call ever raises into training.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import fcntl
import functools
import importlib.util
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

_INTERVAL_S = 0.05
"""Steps are written at most this often; the newest is written this long after its call at the latest."""
_lock = threading.Lock()
_file: int | None = None
_waiting: dict[str, object] | None = None
_written_at = 0.0


def step(step: int, total: int | None = None, **metrics: float) -> None:
    """Say that ``step`` is done, out of ``total``, with numbers such as ``loss=0.3``."""
    global _waiting
    if "REGROUP_REPORT" not in os.environ:
        return
    with _lock:
        is_scheduled = _waiting is not None
        _waiting = {"kind": "step", "step": step, "total": total, "metrics": metrics, "at": time.time()}
        left_s = _written_at + _INTERVAL_S - time.monotonic()
        if left_s <= 0 or not _written_at:
            _write_waiting()
        elif not is_scheduled:
            _write_later(left_s)


@contextlib.contextmanager
def saving(step: int, path: str | None = None) -> Iterator[None]:
    """Around what saves a checkpoint of ``step``: the pause is then no stall. With ``path`` it is said to be
    complete there, once that has been left without an error."""
    _say_now({"kind": "saving", "step": step})
    yield
    if path is not None:
        checkpoint(step, path)


def checkpoint(step: int, path: str) -> None:
    """Say that a checkpoint of ``step`` is complete at ``path``."""
    _say_now({"kind": "checkpoint", "step": step, "path": str(path)})


def resumed(step: int, path: str) -> None:
    """Say that training goes on from the checkpoint of ``step`` at ``path``."""
    _say_now({"kind": "resumed", "step": step, "path": str(path)})


def _say_now(values: dict[str, object]) -> None:
    if "REGROUP_REPORT" in os.environ:
        values["at"] = time.time()
        with _lock:
            _write_waiting()
            _write(values)


def _write_later(seconds: float) -> None:
    timer = threading.Timer(seconds, _flush)
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError:  # the interpreter is ending, or there are no threads left
        _write_waiting()


def _flush() -> None:
    with _lock:
        _write_waiting()


def _write_waiting() -> None:
    global _waiting, _written_at
    if _waiting is not None:
        values, _waiting, _written_at = _waiting, None, time.monotonic()
        _write(values)


def _write(values: dict[str, object]) -> None:
    global _file
    try:
        line = json.dumps({**values, "rank": int(os.environ.get("RANK", "0"))}, default=float)
        if _file is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            _file = os.open(os.environ["REGROUP_REPORT"], flags, 0o600)
        os.write(_file, line.encode() + b"\n")
    except Exception:  # noqa: BLE001 - reporting must never end the training
        return


# -- when the process group is up --

_DISTRIBUTED = "torch.distributed.distributed_c10d"
_NAME = "init_process_group"
_ALSO = ("torch.distributed", "torch.distributed.device_mesh")
"""Modules that hold the same function under the same name."""


def _told(make: Any) -> Any:
    """The same function, which says when it was called and when it had done its work."""

    @functools.wraps(make)
    def init_process_group(*args: Any, **kwargs: Any) -> Any:
        _say_now({"kind": "group_begun"})
        made = make(*args, **kwargs)
        _say_now({"kind": "group_up"})
        return made

    return init_process_group


def _watch(module: Any) -> None:
    make = getattr(module, _NAME, None)
    if make is None or hasattr(make, "__wrapped_by_regroup__"):
        return
    told = _told(make)
    told.__wrapped_by_regroup__ = True
    for name in (_DISTRIBUTED, *_ALSO):
        held = sys.modules.get(name)
        if held is not None and getattr(held, _NAME, None) is make:
            setattr(held, _NAME, told)


class _WhenImported:
    """Asked by Python for each module until torch's is imported: others import from it what is watched."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name != _DISTRIBUTED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            _watch(module)

        loader.exec_module = exec_module


# -- what hangs can be looked at --

_STACKS = "REGROUP_STACKS"
_STACKS_SIGNAL = signal.SIGRTMAX - 7
"""See ``agents/stack_signal.py``."""


def _let_look() -> None:
    """Write all stacks into a file when a signal asks for it. A forked worker does so already."""
    path = os.environ.get(_STACKS)
    if path is None or os.path.exists(path) or threading.current_thread() is not threading.main_thread():
        return
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        # Out of the way of those that the script opens.
        aside = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 100)
        os.close(file)
        faulthandler.register(_STACKS_SIGNAL, aside, all_threads=True, chain=False)
    except (OSError, RuntimeError):
        return


_let_look()
if _DISTRIBUTED in sys.modules:
    _watch(sys.modules[_DISTRIBUTED])
else:
    sys.meta_path.insert(0, _WhenImported())
atexit.register(_flush)
