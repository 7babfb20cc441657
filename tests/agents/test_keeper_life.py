"""The store keeper beside real runners: it outlives them, goes with the last, and its loss is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.node.journal import NodeJournal
from agents.node.settle import Ending, settle
from agents.node.store_socket import bind_store
from agents.procs import find_marked
from agents.runner.endpoint import split_endpoint
from tests.agents.listening import addresses_listening_on
from tests.agents.runner_harness import Attempt, Keeper, write_script
from tests.waiting import wait_until

SLEEPER = "import time\nprint('up', flush=True)\ntime.sleep(600)\n"


def keeper_of(attempt: Attempt) -> Keeper:
    assert attempt.keeper is not None
    return attempt.keeper


def endpoint_of(keeper: Keeper) -> tuple[str, int]:
    return split_endpoint(keeper.records("keeper_started")[0]["endpoint"])


def require_gone(keeper: Keeper) -> None:
    """No process, and nobody listens any more."""
    assert keeper.process.poll() is not None
    assert find_marked(keeper.bundle.mark) == []
    assert addresses_listening_on(endpoint_of(keeper)[1]) == []


def test_a_killed_runner_on_the_store_host_takes_nobody_along_and_may_come_back(tmp_path: Path) -> None:
    script = write_script(tmp_path, SLEEPER)
    conf = {"last_call_timeout": "600"}
    with Attempt(tmp_path, nnodes="1:2", nproc_per_node=1, rdzv_conf=conf, script=script) as attempt:
        a, b = attempt.start("node-a", "node-b")
        assert b.wait_for("rendezvous_completed")["nodes"] == ["node-a", "node-b"]
        a.process.kill()
        alone = b.wait_for("rendezvous_completed", round=2)
        assert (alone["nodes"], alone["cause"], alone["charged"]) == (["node-b"], "membership", None)
        assert b.wait_for("workers_started", round=2)

        again = attempt.start_on("node-a")
        both = b.wait_for("rendezvous_completed", round=3)
        assert (both["nodes"], both["cause"]) == (["node-a", "node-b"], "membership")
        assert again.wait_for("workers_started", round=3)
        assert keeper_of(attempt).records("keeper_finished") == []


@pytest.mark.usefixtures("cold")
def test_a_lost_keeper_ends_every_runner_and_its_node_is_named(tmp_path: Path) -> None:
    script = write_script(tmp_path, SLEEPER)
    with Attempt(tmp_path, nnodes="2", nproc_per_node=1, script=script) as attempt:
        runners = attempt.start("node-a", "node-b")
        for runner in runners:
            runner.wait_for("workers_started")
        keeper_of(attempt).process.kill()
        for runner in runners:
            last = runner.finish()
            assert last["outcome"] == "failed"
            assert last["reason"].startswith("The store host node-a was lost"), last["reason"]
        wait_until(lambda: not [ref for one in runners for ref in one.marked()], what="all to go")


@pytest.mark.parametrize(
    ("script", "outcome", "others"),
    [("print('done')\n", "succeeded", "succeeded"), ("raise ValueError('no')\n", "failed", "stopped")],
)
def test_it_goes_with_the_last_runner(tmp_path: Path, script: str, outcome: str, others: str) -> None:
    with Attempt(
        tmp_path, nnodes="2", nproc_per_node=1, max_restarts=0, script=write_script(tmp_path, script)
    ) as attempt:
        runners = attempt.start("node-a", "node-b")
        outcomes = {runner.finish()["outcome"] for runner in runners}
        assert outcome in outcomes
        assert outcomes <= {outcome, others}
        keeper = keeper_of(attempt)
        last = keeper.finish(15)
        assert (last["outcome"], last["inferred"]) == ("ended", False)
        assert last["reason"] == "the attempt has ended, and every runner has left"
        require_gone(keeper)


def test_it_stays_while_one_node_leaves_and_goes_when_all_are_asked_to_stop(tmp_path: Path) -> None:
    script = write_script(tmp_path, SLEEPER)
    conf = {"last_call_timeout": "600"}
    with Attempt(tmp_path, nnodes="1:2", nproc_per_node=1, rdzv_conf=conf, script=script) as attempt:
        a, b = attempt.start("node-a", "node-b")
        b.wait_for("workers_started")
        a.process.terminate()
        assert a.finish()["outcome"] == "stopped"
        assert b.wait_for("rendezvous_completed", round=2)["nodes"] == ["node-b"]
        keeper = keeper_of(attempt)
        assert keeper.records("keeper_finished") == []
        b.process.terminate()
        assert b.finish()["outcome"] == "stopped"
        assert keeper.finish(15)["outcome"] == "ended"
        require_gone(keeper)


@pytest.mark.usefixtures("cold_runners")
def test_a_stop_before_anybody_came_ends_it_soon(tmp_path: Path) -> None:
    with Attempt(tmp_path, nnodes="2") as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for("runner_started")
        runner.process.kill()
        runner.process.wait(10)
        keeper = keeper_of(attempt)
        keeper.bundle.write_stopping(by="anna")
        assert keeper.finish(30)["reason"] == "the attempt is over, and no runner is left"
        require_gone(keeper)


@pytest.mark.usefixtures("cold_runners")
def test_it_does_not_wait_for_ever_for_the_first_runner(tmp_path: Path) -> None:
    with Attempt(tmp_path, rdzv_conf={"join_timeout": "1"}) as attempt:
        (runner,) = attempt.start("node-a")
        runner.process.kill()
        keeper = keeper_of(attempt)
        assert keeper.finish()["reason"] == "no runner of the attempt came within 1 s (join_timeout)"
        require_gone(keeper)


@pytest.mark.usefixtures("cold")
def test_sigterm_ends_it_at_once(tmp_path: Path) -> None:
    script = write_script(tmp_path, SLEEPER)
    with Attempt(tmp_path, nproc_per_node=1, script=script) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for("workers_started")
        keeper = keeper_of(attempt)
        keeper.process.terminate()
        last = keeper.finish()
        assert (last["outcome"], last["reason"]) == ("stopped", "stopped on request (SIGTERM)")
        assert keeper.process.returncode == 0
        assert runner.finish()["reason"].startswith("The store host node-a was lost")


def test_it_listens_on_one_address_only(tmp_path: Path) -> None:
    with Attempt(tmp_path, nnodes="2") as attempt:
        (runner,) = attempt.start("node-a", nodes=("node-a", "node-b"))
        runner.wait_for("rendezvous_joined")
        assert addresses_listening_on(endpoint_of(keeper_of(attempt))[1]) == ["127.0.0.1"]


def test_an_interpreter_without_a_working_torch_is_named(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libtorch.so is not there')\n")
    with Attempt(tmp_path) as attempt:
        attempt.start("node-a", env={"PYTHONPATH": f"{tmp_path}{os.pathsep}"})
        last = keeper_of(attempt).finish()
    assert last["outcome"] == "failed"
    assert "torch cannot be used by the interpreter" in last["reason"]
    assert "libtorch.so is not there" in last["reason"]


@pytest.mark.usefixtures("cold_runners")
def test_a_keeper_that_fails_before_anybody_came_is_not_waited_for(tmp_path: Path) -> None:
    with Attempt(tmp_path, nnodes="2") as attempt:
        (runner,) = attempt.start("node-a")
        keeper = keeper_of(attempt)
        keeper.process.kill()
        runner.wait_for("runner_started")
        ending = Ending(node="node-a", what="store keeper", exit_code=-9)
        settle(keeper.bundle, ending, NodeJournal(tmp_path, "node-a"))
        reason = runner.finish()["reason"]
    assert reason == (
        "The rendezvous store on node-a is gone, so nobody can meet: The store keeper on node-a was killed "
        "(SIGKILL)."
    )


def test_the_port_of_a_store_that_was_lost_is_free_for_the_next_one(tmp_path: Path) -> None:
    """At once, although the kernel still knows connections to it: a named endpoint is used again."""
    script = write_script(tmp_path, SLEEPER)
    with Attempt(tmp_path, nproc_per_node=1, script=script) as attempt:
        (runner,) = attempt.start("node-a")
        runner.wait_for("workers_started")
        keeper = keeper_of(attempt)
        keeper.process.kill()
        runner.finish()
        message = keeper.bundle.message()
        assert message is not None
        bound, store = bind_store(message)
        with store:
            assert bound.endpoint == message.endpoint
