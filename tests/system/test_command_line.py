"""``regroup`` in a shell, on the real stack: beside plain torchrun, and for a job's whole life."""

from __future__ import annotations

import json
import logging
import os
import pty
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from agents.cli.main import main
from tests.system.jobs import job, wait_job
from tests.system.stack import ROOT, Stack
from tests.waiting import LENIENCE, wait_until

MEET = """
import os, signal, sys, time
from pathlib import Path

rank, folder = int(os.environ["RANK"]), Path(sys.argv[1])

def others_are_here():
    folder.joinpath(str(rank)).touch()
    while len(list(folder.iterdir())) < int(os.environ["WORLD_SIZE"]):
        time.sleep(0.02)
"""
SCRIPTS = {
    "success": """
print("rank", rank, "of", os.environ["WORLD_SIZE"], sys.argv[2:])
print("a warning of", rank, file=sys.stderr)
""",
    "exception": """
others_are_here()
print("before", rank)
if rank == 1:
    raise ValueError("rank 1 does not want to")
time.sleep(600)
""",
    "exit-code-7": """
others_are_here()
if rank == 0:
    print("leaving with 7", flush=True)
    sys.exit(7)
time.sleep(600)
""",
    "killed": """
print("before the kill", rank, flush=True)
others_are_here()
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(600)
""",
    "import-error": """
print("importing", flush=True)
import there_is_no_such_module
""",
    "ignores-sigterm": """
signal.signal(signal.SIGTERM, lambda *_: print("not impressed", flush=True))
others_are_here()
if rank == 1:
    sys.exit(3)
while True:
    time.sleep(0.1)
""",
}
"""What each does is in its name; two workers run it."""
FLAGS = ["--standalone", "--nproc-per-node=2", "--shutdown_timeout", "1"]
OF_TORCHRUN = re.compile(r"^[EWIF]\d{4} \d\d:\d\d:\d\d")

TICKS = """
import os, sys, time
number = 0
print("round", int(os.environ["TORCHELASTIC_RESTART_COUNT"]) + 1, flush=True)
while True:
    number += 1
    print("tick", number, flush=True)
    time.sleep(0.02)
"""


@pytest.fixture(scope="module")
def shell(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of somebody who may launch."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("REGROUP_", "PET_"))}
    home = {"HOME": str(tmp_path_factory.mktemp("home")), "PYTHONPATH": str(ROOT)}
    return kept | home | {"REGROUP_URL": stack.url, "REGROUP_TOKEN": stack.token("olga", "operator")}


@contextmanager
def regroup(
    shell: dict[str, str], *words: str, stdin: int = subprocess.DEVNULL, stdout: int = subprocess.PIPE
) -> Iterator[subprocess.Popen[str]]:
    """The command, running; ended afterwards if it has not ended by itself."""
    command = [sys.executable, "-m", "agents.cli", *words]
    # Python may not find the sources of this project by the folder that it is started in.
    process = subprocess.Popen(
        command, env=shell, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd="/tmp"
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def finish(process: subprocess.Popen[str], timeout_s: float = 60.0) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=LENIENCE * timeout_s)
    return process.returncode, out, err


@dataclass(frozen=True)
class Prompt:
    """The same shell for commands that end soon: they are run in this very process."""

    capture: pytest.CaptureFixture[str]

    def do(self, *words: str | int) -> tuple[int, str, str]:
        code = main([str(word) for word in words])
        told = self.capture.readouterr()
        return code, told.out, told.err


@pytest.fixture
def prompt(
    shell: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Prompt:
    for name in ("HOME", "REGROUP_URL", "REGROUP_TOKEN"):
        monkeypatch.setenv(name, shell[name])
    logging.getLogger("httpx").setLevel(logging.WARNING)
    capsys.readouterr()
    return Prompt(capsys)


def script_of(folder: Path, name: str) -> Path:
    script = folder / f"{name}.py"
    script.write_text(MEET + SCRIPTS[name])
    return script


def lines_for(folder: Path, way: str) -> list[list[str]]:
    """Words after torchrun, a folder to meet in for each."""
    lines = []
    for name in SCRIPTS:
        (folder / way / name).mkdir(parents=True)
        lines.append([*FLAGS, str(script_of(folder, name)), str(folder / way / name), "--name", "x y"])
    return lines


def test_run_prints_and_ends_as_torchrun_does(shell: dict[str, str], tmp_path: Path) -> None:
    ours, theirs = lines_for(tmp_path, "ours"), lines_for(tmp_path, "theirs")
    (tmp_path / "lines.json").write_text(json.dumps(theirs))
    beside = [sys.executable, str(Path(__file__).with_name("torchrun_beside.py")), str(tmp_path)]
    plain = subprocess.Popen(
        beside, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    # Three find a place at once, and the others wait their turn in the queue.
    processes = [regroup(shell, "run", *words) for words in ours]
    running = [one.__enter__() for one in processes]
    try:
        ended = dict(zip(SCRIPTS, map(finish, running), strict=True))
        assert plain.wait(LENIENCE * 60) == 0
    finally:
        plain.kill()
        for one in processes:
            one.__exit__(None, None, None)
    codes = json.loads((tmp_path / "codes.json").read_text())
    for number, (name, (code, out, err)) in enumerate(ended.items()):
        their_out = (tmp_path / f"{number}.out").read_text()
        their_err = (tmp_path / f"{number}.err").read_text()
        assert code == codes[number], f"{name}: {err}"
        assert Counter(out.splitlines()) == Counter(their_out.splitlines()), name
        assert said_by_script(err) == said_by_script(their_err), name
    assert [code for code, _, _ in ended.values()] == [0, 1, 1, 1, 1, 1]


def said_by_script(text: str) -> Counter[str]:
    lines = text.splitlines()
    return Counter(line for line in lines if not line.startswith("regroup: ") and not OF_TORCHRUN.match(line))


def ticks_of(lines: list[str]) -> list[list[int]]:
    """The numbers of each round."""
    rounds: list[list[int]] = []
    for line in lines:
        if line.startswith("round"):
            rounds.append([])
        else:
            rounds[-1].append(int(line.removeprefix("tick ")))
    return rounds


def test_a_job_is_left_followed_killed_and_stopped_from_the_shell(
    shell: dict[str, str], prompt: Prompt, stack: Stack, operator: httpx.Client, tmp_path: Path
) -> None:
    script = tmp_path / "ticks.py"
    script.write_text(TICKS)
    terminal, behind = pty.openpty()
    with regroup(shell, "run", "--max-restarts", "3", str(script), stdin=behind) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "round 1\n"
        process.send_signal(signal.SIGINT)
        os.write(terminal, b"l\n")
        code, _, err = finish(process)
    assert code == 130
    assert "leave it running" in err
    job_id = operator.get("/api/jobs?limit=1").json()["items"][0]["id"]
    assert f"regroup logs -f {job_id}" in err
    assert job(operator, job_id)["state"] == "running"

    log = tmp_path / "followed"
    words = ("logs", "-f", "--rank", "0", "--stream", "stdout", str(job_id))
    with log.open("w") as output, regroup(shell, *words, stdout=output.fileno()) as following:
        wait_until(lambda: log.stat().st_size, 30, "the first lines")
        web = stack.process_of("web")
        assert web is not None
        web.kill()
        wait_until(lambda: stack.process_of("web") not in (None, web), 30, "the hub to be started again")
        kill = ("kill", job_id, 0, "--yes", "--reason", "to see it come back")
        code, out, err = wait_until(
            lambda: (done := prompt.do(*kill))[0] != 5 and done, 30, "the hub to answer"
        )
        assert (code, err) == (0, "")
        assert "is gone after SIGKILL" in out
        wait_job(operator, job_id, "the second round", round=2, state="running")
        code, out, err = prompt.do("show", job_id, "--json")
        assert json.loads(out)["restarts"]["failure"] == 1
        code, out, err = prompt.do("stop", job_id, "--yes", "--reason", "seen enough")
        assert code == 0, err
        assert "stopped" in out
        code, _, err = finish(following)
    assert code == 0, err
    first, second = ticks_of(log.read_text().splitlines())
    assert first == list(range(1, len(first) + 1)), "no line is lost or comes twice"
    assert second == list(range(1, len(second) + 1))
    assert "The hub answers again." in err


def test_without_a_terminal_ctrl_c_stops_the_job(
    shell: dict[str, str], operator: httpx.Client, tmp_path: Path
) -> None:
    script = tmp_path / "ticks.py"
    script.write_text(TICKS)
    with regroup(shell, "run", "--json", str(script)) as process:
        assert process.stdout is not None
        job_id = json.loads(process.stdout.readline())["id"]
        wait_job(operator, job_id, "to run", state="running")
        process.send_signal(signal.SIGINT)
        code, out, _ = finish(process)
    assert code == 130
    assert json.loads(out.splitlines()[-1])["state"] == "stopped"
    found = job(operator, job_id)
    assert (found["state"], found["stop_reason"]) == ("stopped", "Ctrl-C in regroup run")


def test_a_job_is_scaled_and_a_node_is_drained_until_it_is_so(
    prompt: Prompt, operator: httpx.Client, tmp_path: Path
) -> None:
    script = tmp_path / "ticks.py"
    script.write_text(TICKS)
    code, out, err = prompt.do(
        "run", "--detach", "--nnodes=1:3", "--set", "nodes=1", "--env", "A=b", str(script)
    )
    assert code == 0, err
    job_id = int(out)
    wait_job(operator, job_id, "to run", state="running")
    code, out, err = prompt.do("scale", job_id, 2)
    assert (code, "runs on 2 nodes" in out) == (0, True), err
    node = job(operator, job_id)["workers"][0]["node"]
    code, out, err = prompt.do("drain", node, "--yes", "--json")
    assert (code, json.loads(out)["is_drained"]) == (0, True), err
    assert node in prompt.do("nodes")[1]
    assert prompt.do("drain", node, "--undo")[0] == 0
    assert prompt.do("scale", job_id, 9)[0] == 2
    # The node kept the store, so that the job goes on in a second attempt.
    assert "[0]: round 1\n" in prompt.do("logs", job_id, "--attempt", 1, "--round", 1)[1]
    assert prompt.do("stop", job_id, "--force", "--yes")[0] == 0
    assert prompt.do("stop", job_id)[0] == 0
    assert f"{job_id}" in prompt.do("ls", "--state", "stopped", "--mine")[1]
