"""Plain torchrun meets in etcd where the agent is installed: ``--rdzv-backend=etcd-v3``."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.agents.test_installed_agent import copy_sources
from tests.docker.fresh_venv import make_venv
from tests.etcd import FEWER, Etcd, run_etcd
from tests.waiting import wait_until

TRAIN = """
import os, sys, time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
print("sum", int(total.item()), "rank", dist.get_rank(), flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
dist.barrier()
dist.destroy_process_group()
"""

Torchrun = subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that the agent was installed into; torch and what etcd needs are lent to it."""
    folder = tmp_path_factory.mktemp("torchrun")
    copy_sources(folder / "sources")
    venv = make_venv(folder / "venv", "--no-deps", str(folder / "sources"))
    lent = Path(sysconfig.get_paths()["purelib"])
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "lent.pth").write_text(f"{lent}\n")
    return venv / "bin" / "python"


@pytest.fixture(scope="module", params=FEWER, ids=lambda path: path.parent.parent.name)
def etcd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    with run_etcd(tmp_path_factory.mktemp("etcd"), request.param) as server:
        yield server


class Run:
    """Two torchruns on this machine under one id."""

    def __init__(self, python: Path, etcd: Etcd, folder: Path) -> None:
        self._python, self._etcd, self._folder = python, etcd, folder
        self.go = folder / "go"
        self._logs = 0
        self.script = folder / "train.py"
        self.script.write_text(TRAIN)
        self.started: list[Torchrun] = []

    def start(self, run_id: str) -> tuple[Torchrun, Path]:
        self._logs += 1
        log = self._folder / f"torchrun-{self._logs}.log"
        command = [str(self._python), "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1"]
        command += ["--rdzv-backend=etcd-v3", f"--rdzv-endpoint={self._etcd.endpoint}", f"--rdzv-id={run_id}"]
        command += ["--local-addr=127.0.0.1", str(self.script), str(self.go)]
        environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
        with log.open("wb") as output:
            self.started.append(
                subprocess.Popen(command, cwd=self._folder, env=environment, stdout=output, stderr=output)
            )
        return self.started[-1], log

    def end(self) -> None:
        self.go.touch()
        for torchrun in self.started:
            if torchrun.poll() is None:
                torchrun.terminate()
            torchrun.wait(60)


@pytest.fixture
def run(python: Path, etcd: Etcd, tmp_path: Path) -> Iterator[Run]:
    run = Run(python, etcd, tmp_path)
    yield run
    run.end()


def has_met(log: Path) -> Callable[[], bool]:
    return lambda: "sum 2" in log.read_text()


def test_two_torchruns_train_and_leave_nothing_behind(run: Run, etcd: Etcd) -> None:
    first, second = run.start("first-run"), run.start("first-run")
    for _, log in (first, second):
        wait_until(has_met(log), 90, f"both ranks to have met, in {log}")
    keys = etcd.keys("/torch/elastic/first-run/")
    assert "complete" in keys["/torch/elastic/first-run/summary"]
    assert len([key for key in keys if "/members/" in key]) == 2
    run.go.touch()
    for torchrun, log in (first, second):
        assert torchrun.wait(90) == 0, log.read_text()
    assert etcd.keys("/torch/elastic/first-run/") == {}
    # The same id is free again.
    third, fourth = run.start("first-run"), run.start("first-run")
    for torchrun, log in (third, fourth):
        assert torchrun.wait(90) == 0, log.read_text()


def test_a_restart_of_etcd_hurts_neither_of_two_torchruns(run: Run, etcd: Etcd) -> None:
    both = run.start("long-run"), run.start("long-run")
    for _, log in both:
        wait_until(has_met(log), 90, f"both ranks to have met, in {log}")
    etcd.kill()
    # Long enough for torch's agent to look, which it does once a second.
    for torchrun, _ in both:
        with pytest.raises(subprocess.TimeoutExpired):
            torchrun.wait(2)
    etcd.restart()
    run.go.touch()
    for torchrun, log in both:
        assert torchrun.wait(90) == 0, log.read_text()
    assert etcd.keys("/torch/elastic/long-run/") == {}


def test_an_id_that_a_killed_run_had_closed_is_free_once_its_lease_is_gone(run: Run, etcd: Etcd) -> None:
    first, second = run.start("killed-run"), run.start("killed-run")
    for _, log in (first, second):
        wait_until(has_met(log), 90, f"both ranks to have met, in {log}")
    # One has no chance to leave; the other fails for it, and closes the rendezvous.
    for process in (psutil.Process(second[0].pid), *psutil.Process(second[0].pid).children()):
        process.kill()
    run.go.touch()
    assert first[0].wait(90) == 1, first[1].read_text()
    assert "closed" in etcd.keys("/torch/elastic/killed-run/")["/torch/elastic/killed-run/summary"]
    third, fourth = run.start("killed-run"), run.start("killed-run")
    wait_until(lambda: "An earlier run closed" in third[1].read_text(), 60, "a word about the earlier run")
    etcd.say("lease", "revoke", etcd.lease_of("/torch/elastic/killed-run/state"))
    for torchrun, log in (third, fourth):
        assert torchrun.wait(90) == 0, log.read_text()
    assert etcd.keys("/torch/elastic/killed-run/") == {}
