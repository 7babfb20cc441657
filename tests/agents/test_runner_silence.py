"""Silence on the way between nodes: it holds up nobody for long, and who was cut off comes back."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from agents.runner.endpoint import split_endpoint
from agents.runner.rendezvous.c10d import C10dVenue
from agents.runner.rendezvous.handler import Handler
from agents.wire.rdzv import read_rdzv_conf
from tests.agents.runner_harness import Attempt, write_script
from tests.waiting import wait_until


def test_a_peer_that_dies_after_joining_is_left_behind(tmp_path: Path) -> None:
    script = write_script(tmp_path, "import time\ntime.sleep(600)\n")
    conf = {"last_call_timeout": "1"}
    with Attempt(tmp_path, nnodes="1:2", nproc_per_node=1, rdzv_conf=conf, script=script) as attempt:
        (runner,) = attempt.start("node-a", nodes=("node-a", "node-b"), min_nodes=2)
        runner.wait_for("rendezvous_joined")
        message = runner.bundle.message()
        assert message is not None
        peer = Handler(
            C10dVenue(*split_endpoint(message.endpoint), read_rdzv_conf({})).open(
                message.attempt, time.sleep
            ),
            replace(message, node="node-b", hosts_store=False),
            read_rdzv_conf({}),
            time.sleep,
            lambda names: None,
        )
        peer._join(time.monotonic() + 20)
        peer._stop_heartbeats()
        assert peer.joined == ("node-a", "node-b")
        runner.wait_for("rendezvous_joined", joined=["node-a", "node-b"])
        joined = partial(runner.records, "rendezvous_joined")
        wait_until(lambda: joined()[-1]["joined"] == ["node-a"], what="node-a alone")
        said = "the round is given up: node-b left while the round formed"
        assert said in runner.bundle.own_log.read_text()
        assert runner.records("rendezvous_completed") == []


def test_a_node_that_loses_the_store_from_sight_joins_anew_once_it_answers(tmp_path: Path) -> None:
    script = write_script(tmp_path, "import time\ntime.sleep(600)\n")
    conf = {"last_call_timeout": "1", "read_timeout": "2"}
    with Attempt(tmp_path, nnodes="2", nproc_per_node=1, rdzv_conf=conf, script=script) as attempt:
        host, other = attempt.start("node-a", "node-b")
        first = other.workers(1)
        assert attempt.keeper is not None
        attempt.keeper.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: "timed out after 2000ms" in other.bundle.own_log.read_text(), what="silence")
        attempt.keeper.process.send_signal(signal.SIGCONT)
        given_up = other.wait_for("restart_begun")
        assert (given_up["round"], given_up["cause"]) == (1, "membership")
        second = other.wait_for("rendezvous_completed", round=2)
        assert (second["cause"], second["charged"]) == ("membership", None)
        assert second["nodes"] == ["node-a", "node-b"]
        assert other.workers(2) != first
        assert host.wait_for("workers_started", round=2)
        assert (host.records("runner_finished"), other.records("runner_finished")) == ([], [])
