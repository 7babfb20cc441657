"""A fork server and its workers end with their runner, and its own end is called by its name."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from agents.procs import ProcessRef, ref_of, start_time
from agents.runner.preload.forked import Forked
from agents.runner.preload.halt.sitecustomize import LOOK_MS, LOOKS, is_time
from agents.runner.preload.halted import Command, Halted
from tests.agents.preload_harness import Way, spec_of
from tests.agents.runner_harness import Attempt, Runner, write_script
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("cold_runners")

STEPS = """
import os, signal, time
import regroup_report
signal.signal(signal.SIGUSR1, lambda *_: print("saved", flush=True))
step = 0
while True:
    step += 1
    regroup_report.step(step)
    time.sleep(0.02)
"""

DIES_WHILE_IMPORTED = """
import os, sys
print("the library is broken", file=sys.stderr)
os.abort()
"""

WAITS_WHILE_IMPORTED = """
import pathlib, time
pathlib.Path(__file__).with_name("importing").touch()
time.sleep(600)
"""

WAITS_FOR_GO = """
import pathlib, time
while not pathlib.Path(__file__).with_name("go").exists():
    time.sleep(0.02)
"""


def fork_server(runner: Runner) -> ProcessRef | None:
    """The child of the runner that is none of its workers."""
    for ref in runner.marked():
        fields = Path(f"/proc/{ref.pid}/stat").read_text().rsplit(")", 1)[1].split()
        if int(fields[1]) == runner.process.pid:
            return ref
    return None


def resident(ref: ProcessRef) -> int:
    """Its memory in bytes."""
    return psutil.Process(ref.pid).memory_info().rss


def is_gone(ref: ProcessRef) -> bool:
    return start_time(ref.pid) != ref.start_time


def test_only_workers_show_the_script_and_they_begin_with_torch(tmp_path: Path) -> None:
    script = write_script(tmp_path, "import sys\nprint('torch' in sys.modules, flush=True)\n" + STEPS)
    with Attempt(tmp_path, script=script, args=("--local", "${local_rank}")) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        server = fork_server(runner)
        assert server is not None
        assert Path(f"/proc/{server.pid}/cmdline").read_bytes().strip(b"\0") == b"regroup fork server"
        for rank, worker in runner.workers(1).items():
            words = Path(f"/proc/{worker.pid}/cmdline").read_text().strip("\0").split("\0")
            assert words[1:] == ["-u", script, "--local", str(rank)]
            assert runner.bundle.log(1, rank, "stdout").read_text() == "True\n"


SAYS_WHAT_IS_THERE = """
import os, sys
print('torch._dynamo' in sys.modules, open(f"/proc/{os.getppid()}/statm").read().split()[1], flush=True)
"""


@pytest.mark.parametrize(
    ("free_cores", "looks", "expected"),
    [(1.5, 1, True), (0.9, 1, True), (0.5, 1, False), (0.0, LOOKS - 1, False), (0.0, LOOKS, True)],
)
def test_what_can_wait_waits_for_a_free_core_but_not_for_ever(
    free_cores: float, looks: int, expected: bool
) -> None:
    assert is_time(free_cores * LOOK_MS, looks) is expected


def test_workers_of_restarts_find_what_optimizers_import_and_no_thread_more(tmp_path: Path) -> None:
    script = write_script(tmp_path, SAYS_WHAT_IS_THERE + STEPS)

    def said(number: int) -> tuple[str, int]:
        """Whether it was imported, and the memory of the fork server then."""
        found, pages = runner.bundle.log(number, 0, "stdout").read_text().split()
        return found, int(pages) * os.sysconf("SC_PAGE_SIZE")

    with Attempt(tmp_path, script=script, nproc_per_node=1) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        server = fork_server(runner)
        assert server is not None
        threads = psutil.Process(server.pid).num_threads()
        found, before = said(1)
        assert found == "False"
        wait_until(lambda: resident(server) > before + 30_000_000, 180, "the import when all is quiet")
        runner.kill(1, rank=0)
        runner.wait_for_step(2)
        assert said(2)[0] == "True"
        assert fork_server(runner) == server
        assert psutil.Process(server.pid).num_threads() == threads


@pytest.mark.parametrize("start", ["preload", "exec"])
def test_a_runner_that_is_killed_leaves_nothing(start: str, tmp_path: Path) -> None:
    with Attempt(tmp_path, script=write_script(tmp_path, STEPS), start=start) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        assert len(runner.marked()) == (3 if start == "preload" else 2)
        runner.process.kill()
        runner.process.wait()
        wait_until(lambda: not runner.marked(), what="the end of all its processes")


def test_a_runner_that_is_killed_while_its_fork_server_begins_leaves_nothing(tmp_path: Path) -> None:
    for _ in range(3):
        with Attempt(tmp_path, script=write_script(tmp_path, STEPS)) as attempt:
            (runner,) = attempt.start("node-a")
            wait_until(runner.marked, what="its fork server")
            runner.process.kill()
            runner.process.wait()
            wait_until(lambda runner=runner: not runner.marked(), what="the end of all")  # type: ignore[misc]


def test_the_end_of_the_fork_server_is_one_failure_and_is_called_by_its_name(tmp_path: Path) -> None:
    with Attempt(tmp_path, script=write_script(tmp_path, STEPS), max_restarts=1, preload=()) as attempt:
        (runner,) = attempt.start("node-a")
        for number in (1, 2):
            runner.wait_for_step(number)
            server = fork_server(runner)
            assert server is not None
            os.kill(server.pid, signal.SIGKILL)
            for worker in runner.workers(number).values():
                wait_until(lambda worker=worker: is_gone(worker), what="its end")  # type: ignore[misc]
        last = runner.finish()
        exits = runner.records("worker_exited")
        assert {one["said"] for one in exits} == {"ended with the fork server, which was killed by SIGKILL"}
        assert [(one["role"], one["exit_code"], one["signal"]) for one in exits] == [
            ("unknown", None, None)
        ] * 4
        second = runner.records("rendezvous_completed")[1]
        assert (second["cause"], second["charged"], second["world_size"]) == ("failure", "node-a", 2)
        assert (last["outcome"], last["charged"]) == ("failed", 1)
        assert last["reason"] == (
            "The fork server on node-a was killed by SIGKILL, "
            "and node-a has no failure restarts left (1 of 1 spent)."
        )


def test_a_module_that_cannot_be_imported_is_told_of_and_left_to_the_script(tmp_path: Path) -> None:
    (tmp_path / "shaky.py").write_text("print('half of it')\nraise RuntimeError('no licence')\n")
    script = write_script(tmp_path, "import sys\nprint('shaky' in sys.modules, 'json' in sys.modules)\n")
    with Attempt(tmp_path, script=script, preload=("shaky", "no.such", "json"), nproc_per_node=1) as attempt:
        (runner,) = attempt.start("node-a")
        assert runner.finish()["outcome"] == "succeeded"
        said = runner.bundle.own_log.read_text()
        assert "shaky is not preloaded: RuntimeError: no licence" in said
        assert "no.such is not preloaded: ModuleNotFoundError: No module named 'no'" in said
        assert runner.bundle.log(1, 0, "stdout").read_text() == "False True\n"


def test_fork_servers_that_die_of_a_module_end_the_attempt_with_its_words(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(DIES_WHILE_IMPORTED)
    with Attempt(tmp_path, script=write_script(tmp_path, STEPS), preload=("broken",)) as attempt:
        (runner,) = attempt.start("node-a")
        last = runner.finish()
        assert last["outcome"] == "failed"
        assert "The fork server on node-a was killed by SIGABRT, 3 times before it could" in last["reason"]
        assert "(the library is broken)" in last["reason"]


def test_a_stop_does_not_wait_for_the_imports(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(WAITS_WHILE_IMPORTED)
    with Attempt(tmp_path, script=write_script(tmp_path, STEPS), preload=("slow",)) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for("workers_starting")
        wait_until((tmp_path / "importing").exists, what="the import")
        runner.process.terminate()
        assert runner.finish()["reason"] == "stopped on request (SIGTERM)"
        wait_until(lambda: not runner.marked(), what="the end of all its processes")


def test_a_signal_for_the_workers_reaches_forked_ones(tmp_path: Path) -> None:
    with Attempt(tmp_path, script=write_script(tmp_path, STEPS), preload=()) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for_step(1)
        runner.process.send_signal(signal.SIGUSR1)
        for rank in (0, 1):
            log = runner.bundle.log(1, rank, "stdout")
            wait_until(lambda log=log: log.read_text() == "saved\n", what="what the handler says")  # type: ignore[misc]
        assert all(ref_of(worker.pid) == worker for worker in runner.workers(1).values())


def test_a_worker_asked_for_after_the_fork_server_died_comes_from_the_next(tmp_path: Path) -> None:
    way = Way("preload", tmp_path, spec_of(tmp_path, "import time\ntime.sleep(600)"))
    first, _ = way.start()
    parent = int(Path(f"/proc/{first.pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(parent, signal.SIGKILL)
    second, _ = way.start()
    assert isinstance(first, Forked)
    assert first.wait(30) == -signal.SIGKILL
    assert (first.lost_with, second.poll()) == ("was killed by SIGKILL", None)
    way.end()
    assert second.wait(30) == -signal.SIGKILL


def test_a_module_that_starts_threads_is_left_to_the_script(tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait).start()\n"
    )
    script = write_script(tmp_path, "import sys\nprint('busy' in sys.modules)\n")
    with Attempt(tmp_path, script=script, preload=("busy",), nproc_per_node=1) as attempt:
        (runner,) = attempt.start("node-a")
        assert runner.finish()["outcome"] == "succeeded"
        assert "busy is not preloaded: it starts threads" in runner.bundle.own_log.read_text()
        assert runner.bundle.log(1, 0, "stdout").read_text() == "False\n"


def test_nothing_is_imported_by_the_runner_when_a_worker_fails_first(tmp_path: Path) -> None:
    with Attempt(tmp_path, script=write_script(tmp_path, STEPS), preload=()) as attempt:
        (runner,) = attempt.start("node-a", env={"PYTHONPROFILEIMPORTTIME": "1"})
        runner.wait_for_step(1)
        before = runner.bundle.own_log.read_text()
        runner.kill(1, rank=0)
        runner.wait_for_step(2)
        after = runner.bundle.own_log.read_text().removeprefix(before)
        assert ("import time:" in before, "import time:" in after) == (True, False)


def test_a_job_without_its_workdir_is_refused_with_that_reason(tmp_path: Path) -> None:
    with Attempt(tmp_path, script="train.py", workdir=str(tmp_path / "gone")) as attempt:
        (runner,) = attempt.start("node-a")
        assert f"The workdir {tmp_path / 'gone'} is not a folder" in runner.finish()["reason"]


def test_one_that_cannot_be_started_leaves_nothing_open(tmp_path: Path) -> None:
    """It is tried again for as long as the job runs."""
    what = Command(("/nowhere/python",), 0, dict(os.environ), str(tmp_path), "", ())
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(FileNotFoundError):
        Halted(what, tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_it_is_ready_once_all_is_imported(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "", preload=("slow",))
    (tmp_path / "job" / "slow.py").write_text(WAITS_FOR_GO)
    way = Way("preload", tmp_path, spec)
    assert way.server is not None
    assert (way.server.has_begun, way.server.wait_ready(0.2)) == (False, False)
    (tmp_path / "job" / "go").touch()
    assert way.server.wait_ready(60)
    assert way.run().code == 0
    way.end()


def test_one_that_dies_of_a_module_is_never_ready(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, "", preload=("broken",))
    (tmp_path / "job" / "broken.py").write_text(DIES_WHILE_IMPORTED)
    way = Way("preload", tmp_path, spec)
    assert way.server is not None
    assert not way.server.wait_ready(60)
    way.end()
