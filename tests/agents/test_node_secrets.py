"""A job's secrets on a node: in the environment of its workers, and in nothing that is written or shown."""

from __future__ import annotations

import base64
import hashlib
import json
import signal
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from agents import procs
from agents.runner.launch import with_password
from agents.wire.commands import StartRunner, StopRunner
from agents.wire.rdzv import PASSWORD
from agents.wire.sealing import name_of, public_text, seal
from tests.agents.node_harness import Agent, Hub, Valkey, incarnate, new_id, start_command
from tests.waiting import wait_until

WORD = "s3cr3t-4711"
SECRETS = {"TEAM_WORD": f"{WORD}-marked", "API_TOKEN": f"{WORD}-named", "STORE": f"s3://user:{WORD}@host/x"}
DIGEST = hashlib.sha256("".join(SECRETS.values()).encode()).hexdigest()
SHOW = f"""
import hashlib, os
digest = hashlib.sha256("".join(os.environ.get(name, "") for name in {tuple(SECRETS)}).encode()).hexdigest()
"""
TRAIN = f"{SHOW}import time\nprint(digest, flush=True)\ntime.sleep(600)\n"
ENTRY = "import sys\nfrom agents.node.cli import main\nsys.exit(main())\n"
"""The node agent of this tree, with the real runner."""


def key_of(hub: Hub) -> str:
    return str(hub.wait_for("node_started")["facts"]["secrets_key"])


def give(command: StartRunner, key: str) -> StartRunner:
    """The command with the secrets sealed for whoever has that key."""
    message = command.message
    text = json.dumps({"env": SECRETS, "rdzv_conf": {}})
    sealed = seal(text, key, name_of(message.attempt, message.node))
    spec = replace(message.spec, secret_env=("TEAM_WORD",))
    return replace(command, message=replace(message, sealed=sealed, spec=spec))


@pytest.fixture
def real(own_valkey: Valkey, start_agent: Callable[..., Agent], tmp_path: Path) -> Agent:
    entry = tmp_path / "entry.py"
    entry.write_text(ENTRY)
    return start_agent(own_valkey, entry=entry)


def said(agent: Agent, attempt: str, incarnation: int = 1) -> str:
    logs = agent.bundle(attempt, incarnation).folder.glob("rounds/*/rank-0/stdout.log")
    return "".join(log.read_text() for log in logs)


def find_word(agent: Agent) -> list[str]:
    """The files of the node agent that hold it, as it is or in base 64, whole or from the second byte on."""
    words = [WORD.encode(), *(base64.b64encode(WORD.encode()[at:])[:-4] for at in range(3))]
    files = [path for path in [*agent.data.rglob("*"), agent.log] if path.is_file()]
    assert len(files) > 5
    return [str(path) for path in files if any(word in path.read_bytes() for word in words)]


def commands_of(agent: Agent) -> list[str]:
    mark = str(agent.data)
    lines = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    return [line for line in lines if mark in line]


def test_workers_have_them_again_after_the_death_of_agent_and_runner_and_no_file_has(
    real: Agent, own_valkey: Valkey, tmp_path: Path
) -> None:
    hub, script, ended = Hub(own_valkey.redis, real.name), tmp_path / "train.py", tmp_path / "ended"
    script.write_text(TRAIN)
    hook = tmp_path / "hook.py"
    hook.write_text(f"{SHOW}open({str(ended)!r}, 'w').write(digest)\n")
    key = key_of(hub)
    command = start_command(
        real.name, script=str(script), preload=("torch.distributed",), on_end=(f"python3 {hook}",)
    )
    first = give(command, key)
    attempt = first.message.attempt
    assert hub.carry_out(first)["outcome"] == "done"
    worker = psutil.Process(hub.worker(attempt).pid)
    wait_until(lambda: DIGEST in said(real, attempt), what="the first worker to tell what it has")
    assert {name: worker.environ()[name] for name in SECRETS} == SECRETS
    real.kill()
    runner = real.bundle(attempt).process()
    assert runner is not None
    procs.send_signal(runner, signal.SIGKILL)
    real.start()
    hub.wait_for("runner_settled", attempt=attempt, incarnation=1)
    assert hub.carry_out(give(incarnate(command, 2), key))["outcome"] == "done"
    wait_until(lambda: DIGEST in said(real, attempt, 2), what="the second worker to tell what it has")
    assert any("boot.py" in line for line in commands_of(real))
    assert [line for line in commands_of(real) if WORD in line] == []
    assert hub.carry_out(StopRunner(id=new_id(), attempt=attempt, grace_s=5))["outcome"] == "done"
    hub.wait_for("hook_ended", hook="on_end", incarnation=2)
    assert ended.read_text() == DIGEST
    assert find_word(real) == []
    path = real.data / "secrets_key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {record["facts"]["secrets_key"] for record in hub.found("node_started")} == {key}


def test_what_was_sealed_for_another_node_is_refused_and_nothing_is_started(agent: Agent, hub: Hub) -> None:
    command = give(start_command(agent.name), public_text(X25519PrivateKey.generate()))
    ended = hub.carry_out(command)
    assert ended["outcome"] == "refused"
    assert "cannot be opened" in ended["reason"]
    assert "Restart its node agent" in ended["reason"]
    assert agent.bundle(command.message.attempt).process() is None


def test_a_key_that_is_none_keeps_the_agent_from_starting_with_a_sentence(agent: Agent, hub: Hub) -> None:
    key_of(hub)
    agent.kill()
    (agent.data / "secrets_key").write_bytes(b"short")
    agent.start()
    assert agent.process.wait(30) == 2
    assert "holds no key of a node agent" in agent.log.read_text()


def test_the_password_of_etcd_is_taken_from_the_environment_and_not_left_there() -> None:
    environ = {PASSWORD: WORD, "PATH": "/bin"}
    conf = {"user": "trainer"}
    command = start_command("node-1", rdzv_backend="etcd", rdzv_endpoint="etcd-1", rdzv_conf=conf)
    spec = with_password(command.message, environ).spec
    assert spec.rdzv_conf == {"user": "trainer", "password": WORD}
    assert environ == {"PATH": "/bin"}
