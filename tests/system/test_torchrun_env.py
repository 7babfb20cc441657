"""A worker finds what torchrun would have given it: one script is started both ways, and compared."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents import stack_signal
from tests.agents.runner_harness import Attempt

FACTS = """
import ctypes, json, locale, os, resource, signal, sys, threading

def open_files():
    found = {}
    for fd in sorted(os.listdir("/proc/self/fd"), key=int):
        try:
            found[fd] = os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))
        except OSError:
            pass
    return found

status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
# Signals 32 and 33, which nobody can send, are handled once a library that is imported has had a thread.
OF_THE_C_LIBRARY = 3 << 31
kept = ("SigBlk", "SigIgn", "ShdPnd", "Uid", "Gid", "Groups", "CapEff", "NoNewPrivs", "Seccomp",
        "Cpus_allowed_list", "Threads", "Name")
streams = [[one.name, one.encoding, one.errors, one.line_buffering, one.write_through, one.isatty()]
           for one in (sys.stdin, sys.stdout, sys.stderr)]
limits = {name: resource.getrlimit(getattr(resource, name))
          for name in dir(resource) if name.startswith("RLIMIT_")}
print(json.dumps({
    "environ": dict(os.environ), "argv": sys.argv, "orig_argv": sys.orig_argv, "path": sys.path,
    "flags": repr(sys.flags), "executable": [sys.executable, sys.prefix], "cwd": os.getcwd(),
    "name": __name__, "file": __file__, "files": open_files(), "streams": streams, "limits": limits,
    "status": {name: status[name].strip() for name in kept}, "umask": os.umask(0o22), "nice": os.nice(0),
    "caught": int(status["SigCgt"], 16) & ~OF_THE_C_LIBRARY,
    "oom": open("/proc/self/oom_score_adj").read(), "cmdline": open("/proc/self/cmdline").read(),
    "leads": [os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid()],
    "cgroup": open("/proc/self/cgroup").read(),
    "signals": {one.name: str(signal.getsignal(one)).split(" at 0x")[0] for one in signal.Signals},
    "locale": [locale.getpreferredencoding(), locale.setlocale(0)], "threads": threading.active_count(),
    "parent": open(f"/proc/{os.getppid()}/comm").read().strip(),
}), flush=True)
"""

SHELL = """#!/bin/sh
while read -r line; do case $line in Sig[BIC]*) echo "$line" ;; esac; done < /proc/$$/status
umask
ulimit -a
env | cut -d= -f1 | grep -E '^[A-Z_]+$' | sort
"""

OTHER_VALUES = {
    "TORCHELASTIC_RUN_ID": "each attempt has an id of its own",
    "TORCHELASTIC_ERROR_FILE": "it is in the folder of the rank's logs",
    "MASTER_ADDR": "the node's address, where torchrun takes the host's name",
    "MASTER_PORT": "a free port, picked anew",
    "PYTHONPATH": "one folder more, behind all others: regroup_report",
}
OURS = {
    "REGROUP_BUNDLE": "by this mark the worker's processes are found",
    "REGROUP_ROUND": "for regroup_report",
    "REGROUP_REPORT": "for regroup_report",
    "REGROUP_STACKS": "where the worker writes its stacks when a signal asks for them",
    "PYTHONUNBUFFERED": "lines come at once from Python behind a shell script, too",
}

Facts = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    nodes: int
    nproc: int

    @property
    def ranks(self) -> int:
        return self.nodes * self.nproc


def environment(folder: Path) -> dict[str, str]:
    """What both are started with on top of the tests' own."""
    return {
        "PYTHONPATH": str(folder / "theirs"),
        "GREETING": "hello",
        "PYTHONHASHSEED": "7",
        "PYTEST_CURRENT_TEST": "",
    }


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def under_torchrun(folder: Path, shape: Shape, words: list[str]) -> list[str]:
    """The stdout of each rank, by rank where there is one node."""
    logs = folder / "torchrun"
    command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={shape.nproc}"]
    command += [f"--nnodes={shape.nodes}", "--max-restarts=3", "--redirects=3"]
    if shape.nodes > 1:
        command += ["--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{free_port()}", "--rdzv-id=compared"]
        command += ["--local-addr=127.0.0.1"]
    started = [
        subprocess.Popen(
            [*command, f"--log-dir={logs / str(number)}", *words],
            cwd=folder,
            env={**os.environ, **environment(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in range(shape.nodes)
    ]
    for one in started:
        output, _ = one.communicate(timeout=180)
        assert one.returncode == 0, output
    return [path.read_text() for path in sorted(logs.glob("**/stdout.log"))]


def under_regroup(folder: Path, shape: Shape, start: str, **spec: Any) -> list[str]:
    nodes = [f"node-{number}" for number in range(shape.nodes)]
    fields = {"nnodes": str(shape.nodes), "nproc_per_node": shape.nproc, "workdir": str(folder)}
    with Attempt(folder / start, **fields, start=start, **spec) as attempt:
        runners = attempt.start(*nodes, env=environment(folder))
        for runner in runners:
            assert runner.finish(120)["outcome"] == "succeeded"
    return [path.read_text() for one in runners for path in sorted(one.bundle.folder.glob("**/stdout.log"))]


def facts_by_rank(outputs: list[str]) -> dict[str, Facts]:
    facts = [json.loads(output) for output in outputs]
    return {one["environ"]["RANK"]: one for one in facts}


def write_script(folder: Path, text: str) -> Path:
    path = folder / "train.py"
    path.write_text(text)
    path.chmod(0o755)
    return path


def split_environment(facts: Facts) -> tuple[dict[str, str], dict[str, str]]:
    """What must be the same, and the rest."""
    environ: dict[str, str] = facts.pop("environ")
    special = {name: environ.pop(name) for name in (OTHER_VALUES | OURS) if name in environ}
    return environ, special


def compare(theirs: Facts, ours: Facts, start: str) -> None:
    theirs.pop("parent")
    assert (ours.pop("parent") == "fork-server") == (start == "preload")
    same, special = split_environment(theirs)
    our_same, our_special = split_environment(ours)
    assert our_same == same
    assert our_special.keys() - special.keys() == OURS.keys()
    assert special.keys() <= our_special.keys()
    library = our_special["PYTHONPATH"].removeprefix(special["PYTHONPATH"] + ":")
    assert Path(library).name == "lib"
    ours["path"].remove(library)
    if start == "preload":
        leave_out_stacks(ours)
    assert ours == theirs


def leave_out_stacks(ours: Facts) -> None:
    """A forked worker listens to one signal more, and has a file open that it is answered into."""
    assert ours["files"].pop("100") == stack_signal.FILE
    bit = 1 << (stack_signal.NUMBER - 1)
    assert ours["caught"] & bit
    ours["caught"] ^= bit


@pytest.fixture(scope="module", autouse=True)
def nothing_set() -> Iterator[None]:
    """What a worker has from Regroup alone is not in the environment of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in OURS:
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="module", params=[Shape(1, 2), Shape(2, 1)], ids=["1x2", "2x1"])
def torchrun(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Shape, list[str]]:
    """The script, and what became of it under torchrun."""
    folder, shape = tmp_path_factory.mktemp("compared"), request.param
    script = write_script(folder, FACTS)
    return script, shape, under_torchrun(folder, shape, [str(script), "--lr", "0.1 x"])


@pytest.mark.parametrize("start", ["exec", "preload"])
def test_a_script_finds_what_torchrun_gives(torchrun: tuple[Path, Shape, list[str]], start: str) -> None:
    script, shape, outputs = torchrun
    theirs = facts_by_rank(outputs)
    spec = {"script": str(script), "args": ("--lr", "0.1 x")}
    ours = facts_by_rank(under_regroup(script.parent, shape, start, **spec))
    assert sorted(theirs) == sorted(ours) == [str(rank) for rank in range(shape.ranks)]
    for rank in theirs:
        compare(theirs[rank], ours[rank], start)


def test_a_program_that_is_no_python_finds_it_too(tmp_path: Path) -> None:
    script, shape = write_script(tmp_path, SHELL), Shape(1, 2)
    theirs = under_torchrun(tmp_path, shape, ["--no-python", str(script)])
    ours = under_regroup(tmp_path, shape, "exec", script=str(script), no_python=True)
    assert len(theirs) == len(ours) == 2
    names = set(OURS)
    for their_lines, our_lines in zip(theirs, ours, strict=True):
        assert [line for line in our_lines.splitlines() if line not in names] == their_lines.splitlines()
