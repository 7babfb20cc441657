"""A node that dies between joining a round and saying where it stands holds up nobody for long."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from agents.runner.endpoint import split_endpoint
from agents.runner.rendezvous.handler import Handler
from agents.runner.rendezvous.store import connect_store
from agents.wire.spec import read_rdzv_conf
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
            connect_store(*split_endpoint(message.endpoint), 20.0),
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
        assert said in runner.bundle.runner_log.read_text()
        assert runner.records("rendezvous_completed") == []
