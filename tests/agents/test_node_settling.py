"""Runners that go: what they leave is ended, their journals completed, their slots free."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agents import procs
from agents.bundle import Bundle
from agents.node.journal import NodeJournal
from agents.node.runs import Run
from agents.node.settle import Ending, last_record, settle
from agents.wire.commands import StopRunner
from tests.agents.node_harness import Agent, Hub, new_id, start_command
from tests.waiting import wait_until


def marked(agent: Agent, attempt: str) -> list[procs.ProcessRef]:
    return procs.find_marked(agent.bundle(attempt).mark)


def start_with_grandchild(agent: Agent, hub: Hub, *args: str) -> str:
    """Runner, worker and a grandchild in another session, all running."""
    command = start_command(agent.name, *args)
    assert hub.carry_out(command)["outcome"] == "done"
    attempt = command.message.attempt
    wait_until(lambda: len(marked(agent, attempt)) == 3, what="runner, worker and grandchild")
    return attempt


def test_a_killed_runner_leaves_no_process_and_gets_a_last_record(agent: Agent, hub: Hub) -> None:
    attempt = start_with_grandchild(agent, hub)
    runner = agent.bundle(attempt).process()
    assert runner is not None
    left = {ref.pid for ref in marked(agent, attempt)} - {runner.pid}
    os.kill(runner.pid, signal.SIGKILL)
    settled = hub.wait_for("runner_settled", attempt=attempt)
    assert set(settled["ended_pids"]) == left
    assert settled["unkillable_pids"] == []
    assert settled["exit_code"] == -signal.SIGKILL
    assert marked(agent, attempt) == []
    finished = hub.wait_for("runner_finished", attempt=attempt)
    assert finished["inferred"] is True
    assert finished["outcome"] == "failed"
    assert finished["reason"] == f"The runner on {agent.name} was killed (SIGKILL)."
    hub.wait_free(2)


def test_a_torn_last_line_is_cut_and_counted(agent: Agent, hub: Hub) -> None:
    attempt = start_with_grandchild(agent, hub, "torn")
    bundle = agent.bundle(attempt)
    wait_until(lambda: bundle.journal.read_bytes().endswith(b'"se'), what="the torn line")
    runner = bundle.process()
    assert runner is not None
    os.kill(runner.pid, signal.SIGKILL)
    repaired = hub.wait_for("journal_repaired", repaired=bundle.source())
    assert repaired["cut_bytes"] == len('{"kind":"progress","se')
    hub.wait_for("runner_finished", attempt=attempt, inferred=True)


def test_a_runner_that_dies_at_once_is_explained_by_its_last_words(agent: Agent, hub: Hub) -> None:
    command = start_command(agent.name, "die")
    hub.carry_out(command)
    finished = hub.wait_for("runner_finished", attempt=command.message.attempt)
    assert finished["outcome"] == "failed"
    assert "ended with exit status 1" in finished["reason"]
    assert "the stand-in was told to die" in finished["reason"]
    hub.wait_free(2)


def test_a_stop_is_done_when_nothing_is_left(agent: Agent, hub: Hub) -> None:
    attempt = start_with_grandchild(agent, hub)
    ended = hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=20))
    assert ended["outcome"] == "done"
    assert "ended after SIGTERM" in ended["reason"]
    assert marked(agent, attempt) == []
    finished = hub.wait_for("runner_finished", attempt=attempt)
    assert (finished["outcome"], finished["inferred"]) == ("stopped", False)


def test_a_stop_that_is_not_heard_ends_in_sigkill(agent: Agent, hub: Hub) -> None:
    attempt = start_with_grandchild(agent, hub, "deaf")
    ended = hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=0))
    assert ended["outcome"] == "done"
    assert "had to be killed (SIGKILL)" in ended["reason"]
    assert len(ended["evidence"]["ended_pids"].split()) == 2
    finished = hub.wait_for("runner_finished", attempt=attempt)
    assert (finished["outcome"], finished["inferred"]) == ("stopped", True)


def test_a_stop_of_what_does_not_run_changes_nothing(agent: Agent, hub: Hub) -> None:
    ended = hub.carry_out(StopRunner(id=new_id(), attempt="never-heard-of"))
    assert (ended["outcome"], ended["reason"]) == ("done", f"Nothing of that attempt runs on {agent.name}.")


def test_processes_that_do_not_end_are_named_and_waited_for(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path / "bundles" / "a-1")
    bundle.create(start_command("node-a").message)
    journal = NodeJournal(tmp_path, "node-a")
    answers = [([7, 8], [8]), ([8], [8]), ([8], [])]
    freed_after = []

    def end_all(_bundle: Bundle) -> tuple[list[int], list[int]]:
        freed_after.append(bundle.is_settled())
        return answers[len(freed_after) - 1]

    settle(bundle, Ending(node="node-a", exit_code=-9), journal, end_all)
    assert freed_after == [False, False, False]
    assert bundle.is_settled()
    assert '"unkillable_pids":[8]' in journal.path.read_text()


@pytest.mark.parametrize(
    ("ending", "outcome", "words"),
    [
        (Ending(node="a", exit_code=-9), "failed", "The runner on a was killed (SIGKILL)."),
        (Ending(node="a", exit_code=None), "unknown", "exit status not known"),
        (Ending(node="a", exit_code=-15, stop_asked=True), "stopped", "was stopped"),
        (Ending(node="a", exit_code=-9, stop_asked=True, leave_asked=True), "stopped", "asked to leave"),
        (Ending(node="a", exit_code=2, last_words="no torch"), "failed", "Its last words: no torch"),
        (Ending(node="a", exit_code=None, was_started=False), "failed", "was never started"),
    ],
)
def test_the_last_record_says_what_is_known(ending: Ending, outcome: str, words: str) -> None:
    assert last_record(ending)[0] == outcome
    assert words in last_record(ending)[1]


LOSES_ITS_MAIN_THREAD = """
import ctypes, platform, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)
"""


def test_a_child_runs_until_its_last_thread_has_gone_and_its_status_is_known(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", LOSES_ITS_MAIN_THREAD])
    run = Run(Bundle(tmp_path), ref=procs.ref_of_child(process.pid), process=process)
    try:
        wait_until(lambda: procs.state_of(process.pid) == "Z", what="the main thread to end")
        assert run.is_running()
    finally:
        process.kill()
    wait_until(lambda: not run.is_running(), what="it to end")
    assert process.returncode == -signal.SIGKILL
