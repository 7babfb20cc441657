"""Plays the node agent: writes bundles, starts runners, and reads what they record."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from agents.bundle import Bundle
from agents.procs import ProcessRef, find_marked, ref_of_child, wait_gone
from agents.wire.spec import JobSpec, StartMessage, parse_nnodes
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
BOOT = ROOT / "agents" / "runner" / "boot.py"
MINIMAL = str(ROOT / "examples" / "minimal.py")

Record = dict[str, Any]


class Runner:
    """One runner process and its bundle."""

    def __init__(self, bundle: Bundle, listener: socket.socket | None, env: dict[str, str]) -> None:
        self.bundle = bundle
        fds = [listener.fileno()] if listener else []
        store = ["--store-fd", str(fds[0])] if fds else []
        with bundle.runner_log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(BOOT), str(bundle.folder), *store],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=fds,
                start_new_session=True,
                cwd="/",
                env={**os.environ, **env},
            )
        self.ref = ref_of_child(self.process.pid)

    def records(self, *kinds: str) -> list[Record]:
        try:
            text = self.bundle.journal.read_text()
        except FileNotFoundError:
            return []
        found = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        return [record for record in found if not kinds or record["kind"] in kinds]

    def wait_for(self, kind: str, timeout_s: float = 30.0, **fields: Any) -> Record:
        """The first record of that kind with those fields."""

        def found() -> list[Record]:
            wanted = fields.items()
            return [record for record in self.records(kind) if all(record[k] == v for k, v in wanted)]

        try:
            return wait_until(found, timeout_s, f"{kind} {fields}")[0]
        except AssertionError as error:
            said = "\n".join(json.dumps(record) for record in self.records()[-12:])
            raise AssertionError(f"{error}\n{said}\n{self.bundle.runner_log.read_text()[-3000:]}") from None

    def wait_for_step(self, round_number: int, beyond: int = 0) -> Record:
        """A record of progress of that round in which some rank is beyond that step."""

        def found() -> list[Record]:
            return [
                record
                for record in self.records("progress")
                if record["round"] == round_number and any(rank["step"] > beyond for rank in record["ranks"])
            ]

        return wait_until(found, 30.0, f"step beyond {beyond} of round {round_number}")[0]

    def workers(self, round_number: int) -> dict[int, ProcessRef]:
        """By global rank."""
        record = self.wait_for("workers_started", round=round_number)
        boot = self.records("runner_started")[0]["boot_id"]
        return {one["rank"]: ProcessRef(one["pid"], one["start_time"], boot) for one in record["workers"]}

    def kill(self, round_number: int, rank: int, signum: int = signal.SIGKILL) -> None:
        os.kill(self.workers(round_number)[rank].pid, signum)

    def finish(self, timeout_s: float = 40.0) -> Record:
        """Wait for the end; the last record, which must be the last."""
        record = self.wait_for("runner_finished", timeout_s)
        self.process.wait(timeout_s)
        assert self.records()[-1] == record
        return record

    def marked(self) -> list[ProcessRef]:
        return [ref for ref in find_marked(self.bundle.mark) if ref != self.ref]


class Attempt:
    """The runners of one attempt, all on this machine. Ends whatever is left when it is left."""

    def __init__(self, folder: Path, **spec: Any) -> None:
        fields: dict[str, Any] = {"nproc_per_node": 2, "max_restarts": 3, "script": MINIMAL, "grace_s": 5.0}
        self.spec = JobSpec(**{**fields, **spec})
        self._folder = folder
        self.runners: dict[str, Runner] = {}

    def __enter__(self) -> Attempt:
        return self

    def start(self, *nodes: str, env: dict[str, str] | None = None, **changes: Any) -> list[Runner]:
        """Start a runner on each of these nodes; the first hosts the store."""
        low, high = parse_nnodes(self.spec.nnodes)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            message = StartMessage(
                attempt=f"{self._folder.name}-1",
                job=1,
                job_name="test",
                number=1,
                node=nodes[0],
                nodes=nodes,
                min_nodes=low,
                max_nodes=high,
                endpoint=f"127.0.0.1:{listener.getsockname()[1]}",
                hosts_store=True,
                local_addr="127.0.0.1",
                spec=self.spec,
            )
            message = replace(message, **changes)
            for node in nodes:
                hosts = node == nodes[0] and message.hosts_store
                bundle = Bundle(self._folder / node / message.attempt)
                bundle.create(replace(message, node=node, hosts_store=hosts))
                takes = listener if hosts and "endpoint" not in changes else None
                self.runners[node] = Runner(bundle, takes, env or {})
        return [self.runners[node] for node in nodes]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for runner in self.runners.values():
            if runner.process.poll() is None:
                runner.process.kill()
            runner.process.wait(10)
            left = runner.marked()
            for ref in left:
                os.kill(ref.pid, signal.SIGKILL)
            wait_gone(left, 10)


def write_script(folder: Path, text: str) -> str:
    path = folder / "train.py"
    path.write_text(text)
    return str(path)
