"""Reports a training script's progress to Regroup; reaches workers as the module ``regroup_report``.

Standard library only. Outside Regroup every call does nothing; no call ever raises into training.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
import time

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
        _waiting = {"kind": "step", "step": step, "total": total, "metrics": metrics}
        left_s = _written_at + _INTERVAL_S - time.monotonic()
        if left_s <= 0 or not _written_at:
            _write_waiting()
        elif not is_scheduled:
            _write_later(left_s)


def checkpoint(step: int, path: str) -> None:
    """Say that a checkpoint of ``step`` is complete at ``path``."""
    _say_now({"kind": "checkpoint", "step": step, "path": str(path)})


def resumed(step: int, path: str) -> None:
    """Say that training goes on from the checkpoint of ``step`` at ``path``."""
    _say_now({"kind": "resumed", "step": step, "path": str(path)})


def _say_now(values: dict[str, object]) -> None:
    if "REGROUP_REPORT" in os.environ:
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


atexit.register(_flush)
