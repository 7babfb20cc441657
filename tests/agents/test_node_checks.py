"""Checks before a launch, each broken on its own: what the node says of it, and what it leaves behind."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agents.node import checks
from agents.node.checks import checkpoints, endpoint
from agents.wire import streams
from agents.wire.checks import CheckNode, CheckNodeAnswer, Finding, Step
from agents.wire.codec import read_answer_as, to_json
from tests.agents.node_harness import Agent, Valkey, new_id
from tests.waiting import wait_until


class Disk(NamedTuple):
    total: int
    used: int
    free: int


def request(step: Step = "look", **values: Any) -> CheckNode:
    usual: dict[str, Any] = {
        "script": __file__,
        "nodes": ("node-a",),
        "local_addr": "127.0.0.1",
        "is_one_machine": True,
    }
    return CheckNode(**{"id": new_id(), "run": "r1", "step": step, **usual, **values})


def look(tmp_path: Path, step: Step = "look", **values: Any) -> CheckNodeAnswer:
    return checks.answer_check(request(step, **values), tmp_path, "node-a", sys.executable)


def found(answer: CheckNodeAnswer, check: str) -> Finding:
    (finding,) = [finding for finding in answer.findings if finding.check == check]
    return finding


def failing(answer: CheckNodeAnswer) -> set[str]:
    return {finding.check for finding in answer.findings if finding.verdict == "fail"}


def assert_broken(answer: CheckNodeAnswer, check: str, says: str) -> None:
    """It alone fails, says so, and says what to do."""
    finding = found(answer, check)
    assert (finding.verdict, says in finding.says) == ("fail", True), finding
    assert finding.what_to_do
    assert failing(answer) == {check}


def test_a_node_that_is_well_fails_nothing_and_tells_its_versions(tmp_path: Path) -> None:
    answer = look(tmp_path, checkpoint_dir=str(tmp_path / "new"))
    assert failing(answer) == set()
    assert answer.python == sys.version.split()[0]
    assert answer.torch.startswith("2.")


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    assert_broken(look(tmp_path, python="/nowhere/python"), "python", "does not exist on node-a")


def test_an_interpreter_without_torch(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    assert_broken(look(tmp_path, python=str(bare)), "python", "has no torch")


def test_an_interpreter_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.interpreter, "LIMIT_S", 0.2)
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o755)
    assert_broken(look(tmp_path, python=str(slow)), "python", "it took longer than")


def test_a_module_that_is_not_installed_and_one_in_the_workdir(tmp_path: Path) -> None:
    missing = look(tmp_path, script=None, module="no_such_module_here.train")
    assert_broken(missing, "python", "has no module no_such_module_here")
    (tmp_path / "of_the_user.py").touch()
    there = look(tmp_path, script=None, module="of_the_user", workdir=str(tmp_path))
    assert failing(there) == set()


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    answer = look(tmp_path, script="train.py", workdir=str(tmp_path))
    assert_broken(answer, "script", f"{tmp_path}/train.py does not exist on node-a")


def test_a_program_that_is_not_in_the_path(tmp_path: Path) -> None:
    answer = look(tmp_path, script="no-such-program", no_python=True)
    assert_broken(answer, "script", "no-such-program is not in the PATH")
    assert failing(look(tmp_path, script="sh", no_python=True)) == set()


def test_a_workdir_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    answer = look(tmp_path, workdir=str(tmp_path / "file"))
    assert_broken(answer, "workdir", "is not a folder on node-a")


def test_a_checkpoint_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    answer = look(tmp_path, checkpoint_dir=str(tmp_path / "file" / "checkpoints"))
    assert_broken(answer, "checkpoints", "Nothing can be written")


def test_a_checkpoint_folder_that_is_not_the_same_on_all_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "SEEN_S", 0.2)
    both: dict[str, Any] = {"checkpoint_dir": str(tmp_path), "nodes": ("node-a", "node-b")}
    look(tmp_path, **both)
    assert_broken(look(tmp_path, "meet", **both), "checkpoints", "does not see")
    # What is there from another run is not what was written for this one.
    (tmp_path / ".regroup-check-r1-node-b").write_text("r0")
    assert failing(look(tmp_path, "meet", **both)) == {"checkpoints"}
    (tmp_path / ".regroup-check-r1-node-b").write_text("r1")
    assert failing(look(tmp_path, "meet", **both)) == set()


def test_what_a_check_leaves_is_removed_when_asked_and_when_it_is_old(tmp_path: Path) -> None:
    old = tmp_path / ".regroup-check-r0-node-b"
    old.touch()
    os.utime(old, (time.time() - 3600,) * 2)
    (tmp_path / "step-100.pt").touch()
    look(tmp_path, checkpoint_dir=str(tmp_path))
    look(tmp_path, "clear", checkpoint_dir=str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["step-100.pt"]


def test_the_name_of_a_run_leads_into_no_other_folder(tmp_path: Path) -> None:
    look(tmp_path, checkpoint_dir=str(tmp_path / "a"), run="../../x")
    assert [path.name for path in (tmp_path / "a").iterdir()] == [".regroup-check-x-node-a"]


def test_an_address_that_resolves_to_nothing(tmp_path: Path) -> None:
    assert_broken(look(tmp_path, local_addr="no-such-host.invalid"), "address", "cannot resolve")


def test_a_loopback_address_is_none_for_several_machines(tmp_path: Path) -> None:
    several: dict[str, Any] = {"nodes": ("node-a", "node-b"), "is_one_machine": False}
    assert_broken(look(tmp_path, **several), "address", "which is loopback")
    assert failing(look(tmp_path, nodes=("node-a", "node-b"))) == set()


def test_an_interface_that_is_not_there(tmp_path: Path) -> None:
    answer = look(tmp_path, env={"GLOO_SOCKET_IFNAME": "ib9"})
    assert_broken(answer, "interface", "GLOO_SOCKET_IFNAME is ib9, and node-a has no such interface")
    assert failing(look(tmp_path, env={"NCCL_SOCKET_IFNAME": "ib9,eth99"})) == {"interface"}
    assert failing(look(tmp_path, env={"NCCL_SOCKET_IFNAME": "^ib9", "GLOO_SOCKET_IFNAME": "lo"})) == set()


def test_an_interface_that_the_job_asks_for_and_the_node_does_not_have(tmp_path: Path) -> None:
    answer = look(tmp_path, interface="203.0.113.0/24")
    assert_broken(answer, "interface", "interface is 203.0.113.0/24, and no network interface of node-a")
    both = {"NCCL_SOCKET_IFNAME": "lo", "GLOO_SOCKET_IFNAME": "lo"}
    assert failing(look(tmp_path, interface="203.0.113.0/24", env=both)) == set()
    there = found(look(tmp_path, interface="auto"), "interface")
    assert there.says == "NCCL_SOCKET_IFNAME is =lo and GLOO_SOCKET_IFNAME is lo, which is there."


def test_a_full_disk_and_a_small_shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.disk_usage

    def usage(path: Path) -> object:
        return Disk(1 << 40, 1 << 40, 1 << 20) if path == tmp_path else real(path)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    assert_broken(look(tmp_path), "disk", "has 1 MiB for logs")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Disk(64 << 20, 0, 64 << 20))
    finding = found(look(tmp_path), "shm")
    assert (finding.verdict, "--shm-size" in finding.what_to_do) == ("warn", True)


def test_the_host_of_the_store_listens_until_it_is_told_otherwise(tmp_path: Path) -> None:
    answer = look(tmp_path, endpoint="127.0.0.1:0")
    assert found(look(tmp_path, "meet", endpoint=answer.endpoint), "endpoint").verdict == "ok"
    look(tmp_path, "clear")
    refused = found(look(tmp_path, "meet", endpoint=answer.endpoint), "endpoint")
    assert (refused.verdict, "connection refused" in refused.says) == ("fail", True)


def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        answer = look(tmp_path, endpoint=f"127.0.0.1:{taken.getsockname()[1]}")
    assert_broken(answer, "endpoint", "is taken on node-a")
    assert answer.endpoint == ""


def test_an_endpoint_that_nobody_answers_at_is_told_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "CONNECT_S", 0.2)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        good = f"127.0.0.1:{other.getsockname()[1]}"
        answer = found(look(tmp_path, "meet", endpoint=f"{good},no-such-host.invalid:2379"), "endpoint")
        assert (answer.verdict, "no-such-host.invalid:2379" in answer.says) == ("warn", True)
    assert failing(look(tmp_path, "meet", endpoint="no-such-host.invalid:2379")) == {"endpoint"}


def ask(valkey: Valkey, agent: Agent, step: Step, **values: Any) -> CheckNodeAnswer:
    asked = request(step, **values)
    valkey.redis.rpush(streams.requests(agent.name), to_json(asked))
    answer = wait_until(lambda: valkey.redis.lpop(streams.answer(asked.id)), what=f"{agent.name} to answer")
    return read_answer_as(CheckNodeAnswer, str(answer))


def test_two_node_agents_find_that_they_share_a_folder_and_reach_each_other(
    valkey: Valkey, start_agent: Callable[..., Agent], tmp_path: Path
) -> None:
    first, second = start_agent(valkey), start_agent(valkey, flags=("--labels", "disk=nvme"))
    both: dict[str, Any] = {"nodes": (first.name, second.name), "checkpoint_dir": str(tmp_path / "shared")}
    listening = ask(valkey, first, "look", endpoint="127.0.0.1:0", **both).endpoint
    ask(valkey, second, "look", **both)
    for agent in (first, second):
        answer = ask(valkey, agent, "meet", endpoint=listening, **both)
        assert {finding.check: finding.verdict for finding in answer.findings} == {
            "checkpoints": "ok",
            "endpoint": "ok",
        }
    for agent in (first, second):
        ask(valkey, agent, "clear", **both)
    assert list((tmp_path / "shared").iterdir()) == []
