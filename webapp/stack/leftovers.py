"""Every process of a stack carries a mark in its environment, so that none can be lost from sight.

The mark belongs to the data folder: it also finds what an earlier run left behind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import psutil

from .secret_files import keep_secret

MARK = "REGROUP_STACK"
BUNDLE_MARK = "REGROUP_BUNDLE"
"""Carried by runners, store keepers and workers. A warm process keeps room for it, and is part of no job."""
ROOM = "_"
"""What that room is filled with."""
RUNNER, KEEPER = "runner/boot.py", "keeper/boot.py"
"""In the command line of every runner, and of every store keeper."""


def mark_of(data: Path) -> str:
    """The mark of the stack with that data folder; a copy of the folder elsewhere has another one."""
    identity = keep_secret(data / "stack_id")
    return hashlib.sha256(f"{identity}:{data.resolve()}".encode()).hexdigest()[:24]


def find_marked(mark: str, with_jobs: bool = True) -> list[psutil.Process]:
    """Live processes with that mark, oldest first; without those of training jobs when asked."""
    found = []
    for process in psutil.process_iter():
        try:
            environ = process.environ()
            if environ.get(MARK) != mark or process.status() == psutil.STATUS_ZOMBIE:
                continue
        except (psutil.Error, OSError):
            continue
        if with_jobs or not bundle_in(environ):
            found.append(process)
    return sorted(found, key=lambda process: process.create_time())


def bundle_in(environ: Mapping[str, str]) -> str:
    """The bundle that a process with that environment belongs to; empty for one that is of no job."""
    return environ.get(BUNDLE_MARK, "").strip(ROOM)


def find_runners(mark: str) -> list[psutil.Process]:
    """Runners of training jobs, without their workers."""
    return [process for process in find_marked(mark) if RUNNER in _words(process)]


def find_keepers(mark: str) -> list[psutil.Process]:
    """Store keepers of training jobs, which go by themselves right after the runners."""
    return [process for process in find_marked(mark) if KEEPER in _words(process)]


def _words(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def describe(process: psutil.Process) -> str:
    try:
        return f"{process.pid} ({' '.join(process.cmdline())[:80]})"
    except psutil.Error:
        return str(process.pid)


def _each(processes: list[psutil.Process], act: str) -> None:
    for process in processes:
        try:
            getattr(process, act)()
        except psutil.Error:
            continue


def end_services(mark: str, timeout_s: float = 8.0) -> list[str]:
    """End what an earlier run left of web, ingest, nodes …, but no training job: the node agents adopt those.

    The supervisor is the oldest and so is told first: it starts nothing again.
    Gives what was found, in words.
    """
    found = find_marked(mark, with_jobs=False)
    named = [describe(process) for process in found]
    _each(found, "terminate")
    psutil.wait_procs(found, timeout=timeout_s)
    kill_all(mark, with_jobs=False)
    return named


def kill_all(mark: str, timeout_s: float = 2.0, with_jobs: bool = True) -> list[str]:
    """SIGKILL everything that carries the mark, again until nothing does. Gives what there was, in words."""
    named: dict[int, str] = {}
    for _ in range(5):
        found = find_marked(mark, with_jobs)
        if not found:
            break
        named |= {process.pid: describe(process) for process in found}
        _each(found, "kill")
        psutil.wait_procs(found, timeout=timeout_s / 5)
    return list(named.values())
