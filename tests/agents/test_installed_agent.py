"""What ``pip install`` brings to a node: an agent without checkout, torch or Django of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents import procs
from agents.bundle import Bundle
from agents.wire.commands import StopRunner
from tests.agents.node_harness import ROOT, Hub, Valkey, new_id, start_command
from tests.docker.fresh_venv import make_venv
from tests.waiting import wait_until

TRAIN = """
import sys, time
from pathlib import Path
import regroup_report
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
regroup_report.step(1, total=1, sum=float(total))
print("reports by", regroup_report.__file__, flush=True)
while not Path(sys.argv[1]).exists():
    time.sleep(0.05)
dist.destroy_process_group()
"""


def copy_sources(target: Path) -> None:
    """What a commit would hold: nothing that is ignored, and nothing that a build left behind."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    copy_sources(folder)
    return folder


@pytest.fixture(scope="module")
def venv(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with nothing in it but the installed agent and what pip fetched for it."""
    return make_venv(tmp_path_factory.mktemp("node") / "venv", str(sources))


def say(venv: Path, program: str) -> str:
    """What that Python program prints in the environment, run from elsewhere."""
    command = [str(venv / "bin" / "python"), "-c", program]
    return subprocess.run(command, cwd=venv, capture_output=True, text=True, check=True).stdout.strip()


def test_the_command_explains_itself(venv: Path) -> None:
    done = subprocess.run(
        [str(venv / "bin" / "regroup-agent"), "--help"], cwd=venv, capture_output=True, text=True, check=True
    )
    assert "--redis-url" in done.stdout
    assert "--slots" in done.stdout


def test_neither_torch_nor_django_comes_with_it(venv: Path) -> None:
    looked_for = ("torch", "django", "agents", "webapp", "redis")
    found = say(
        venv, f"from importlib.util import find_spec; print([n for n in {looked_for} if find_spec(n)])"
    )
    assert found == "['redis']"


def test_every_module_of_the_agent_is_installed(venv: Path, sources: Path) -> None:
    folder = Path(say(venv, "import regroup_agent; print(regroup_agent.__path__[0])"))
    assert folder.is_relative_to(venv)
    installed = {str(file.relative_to(folder)) for file in folder.rglob("*.py")}
    written = {str(file.relative_to(sources / "agents")) for file in (sources / "agents").rglob("*.py")}
    assert installed == written, "name new packages under tool.setuptools in pyproject.toml"


@pytest.fixture
def hub(venv: Path, valkey: Valkey, tmp_path: Path) -> Iterator[Hub]:
    """The hub of a node that has the installed agent, and for jobs the interpreter of these tests."""
    hub, data = Hub(valkey.redis, f"node-{new_id()}"), tmp_path / "data"
    command = [str(venv / "bin" / "regroup-agent"), "--redis-url", valkey.url, "--name", hub.node]
    command += ["--data", str(data), "--slots", "2", "--address", "127.0.0.1", "--python", sys.executable]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with (tmp_path / "agent.log").open("wb") as output:
        agent = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=output, stderr=output)
    yield hub
    agent.terminate()
    agent.wait(10)
    for folder in (data / "bundles").glob("*"):
        procs.end_marked(Bundle(folder).mark)


def test_it_joins_and_carries_out_a_job_with_the_torch_of_another_interpreter(
    hub: Hub, venv: Path, tmp_path: Path
) -> None:
    hub.wait_for("node_started")
    hub.wait_free(2)
    script, go = tmp_path / "train.py", tmp_path / "go"
    script.write_text(TRAIN)
    command = start_command(hub.node, str(go), script=str(script), nproc_per_node=2)
    attempt = command.message.attempt
    assert hub.carry_out(command)["outcome"] == "done"
    started = hub.wait_for("runner_started", attempt=attempt)
    assert started["python"] == sys.executable
    boot = Path(f"/proc/{started['pid']}/cmdline").read_text().split("\0")[1]
    assert Path(boot).is_relative_to(venv)
    assert len(hub.wait_for("workers_started", attempt=attempt, round=1)["workers"]) == 2
    progress = wait_until(
        lambda: hub.found("progress", attempt=attempt), timeout_s=60, what="both ranks to report"
    )[0]
    assert {rank["metrics"]["sum"] for rank in progress["ranks"]} == {2.0}
    go.touch()
    finished = wait_until(
        lambda: hub.found("runner_finished", attempt=attempt), timeout_s=60, what="the job to end"
    )[0]
    assert (finished["outcome"], finished["inferred"]) == ("succeeded", False)
    hub.wait_free(2)


def test_a_stop_leaves_nothing_of_a_job_behind(hub: Hub, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import time\ntime.sleep(600)\n")
    command = start_command(hub.node, script=str(script))
    attempt = command.message.attempt
    assert hub.carry_out(command)["outcome"] == "done"
    worker = hub.worker(attempt)
    assert hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=10))["outcome"] == "done"
    assert not procs.is_alive(worker)
