"""Plays the node agent: writes bundles, starts runners, and reads what they record."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from agents.bundle import Bundle, KeeperBundle, bundle_of
from agents.node.config import KEEPER_BOOT, RUNNER_BOOT
from agents.node.settle import LAST
from agents.procs import ProcessRef, find_marked, ref_of_child, wait_gone
from agents.wire.spec import JobSpec, StartMessage, parse_nnodes
from tests.agents.preloading import preload_of
from tests.agents.warm_start import fork_warm
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
MINIMAL = str(ROOT / "examples" / "minimal.py")
"""For ranks that must meet, or feel the loss of one."""
STEPPING = str(Path(__file__).with_name("stepping.py"))

PATIENCE_S = 90.0
"""Importing torch takes that long on a machine that is busy enough."""

Record = dict[str, Any]
Env = dict[str, str]


def attempt_in(folder: Path) -> str:
    """The attempt's name; processes are found by it, so that no other test may come to the same."""
    return f"{folder.name}-{zlib.crc32(str(folder).encode()):08x}"


class Process:
    """The process of a bundle, and what it records."""

    def __init__(self, bundle: Bundle, boot: Path, env: Env, store: socket.socket | None = None) -> None:
        self.bundle = bundle
        environment = {**os.environ, **env}
        forked = fork_warm(bundle, boot, environment, store)
        self.process = forked or _start_cold(bundle, boot, environment, store)
        self.ref = forked.ref if forked else ref_of_child(self.process.pid)

    def records(self, *kinds: str) -> list[Record]:
        try:
            text = self.bundle.journal.read_text()
        except FileNotFoundError:
            return []
        found = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        return [record for record in found if not kinds or record["kind"] in kinds]

    def wait_for(self, kind: str, timeout_s: float = PATIENCE_S, **fields: Any) -> Record:
        """The first record of that kind with those fields."""

        def found() -> list[Record]:
            wanted = fields.items()
            return [record for record in self.records(kind) if all(record[k] == v for k, v in wanted)]

        return self._wait(found, timeout_s, f"{kind} {fields}")

    def _wait(self, found: Callable[[], list[Record]], timeout_s: float, what: str) -> Record:
        """The first that is found, else an error with all that this process has to say."""
        try:
            return wait_until(found, timeout_s, what)[0]
        except AssertionError as error:
            said = "\n".join(json.dumps(record) for record in self.records()[-12:])
            raise AssertionError(f"{error}\n{said}\n{self.bundle.own_log.read_text()[-3000:]}") from None

    def finish(self, timeout_s: float = PATIENCE_S) -> Record:
        """Wait for the end; the last record, which must be the last."""
        record = self.wait_for(LAST[type(self.bundle)].kind, timeout_s)
        self.process.wait(timeout_s)
        assert self.records()[-1] == record
        return record

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)


def _start_cold(
    bundle: Bundle, boot: Path, environment: Env, store: socket.socket | None
) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(boot), str(bundle.folder)]
    with bundle.own_log.open("ab") as log:
        return subprocess.Popen(
            command if store is None else [*command, "--store-fd", str(store.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            pass_fds=() if store is None else (store.fileno(),),
            start_new_session=True,
            cwd="/",
            env=environment,
        )


class Keeper(Process):
    """Of the attempt's store."""

    def __init__(self, folder: Path, message: StartMessage, store: socket.socket, env: Env) -> None:
        bundle = bundle_of(KeeperBundle, folder, message.attempt)
        bundle.create(message)
        super().__init__(bundle, KEEPER_BOOT, env, store)


class Runner(Process):
    def __init__(self, bundle: Bundle, env: Env) -> None:
        super().__init__(bundle, RUNNER_BOOT, env)

    def wait_for_step(self, round_number: int, beyond: int = 0) -> Record:
        """A record of progress of that round in which some rank is beyond that step."""

        def found() -> list[Record]:
            return [
                record
                for record in self.records("progress")
                if record["round"] == round_number and any(rank["step"] > beyond for rank in record["ranks"])
            ]

        return self._wait(found, PATIENCE_S, f"step beyond {beyond} of round {round_number}")

    def workers(self, round_number: int) -> dict[int, ProcessRef]:
        """By global rank."""
        record = self.wait_for("workers_started", round=round_number)
        boot = self.records("runner_started")[0]["boot_id"]
        return {one["rank"]: ProcessRef(one["pid"], one["start_time"], boot) for one in record["workers"]}

    def kill(self, round_number: int, rank: int, signum: int = signal.SIGKILL) -> None:
        os.kill(self.workers(round_number)[rank].pid, signum)

    def marked(self) -> list[ProcessRef]:
        return [ref for ref in find_marked(self.bundle.mark) if ref != self.ref]

    def stop(self) -> None:
        """As the node agent does when the attempt is to end for all."""
        self.bundle.write_stopping(command="c1", by="anna", why="")
        self.process.terminate()

    def leave(self) -> None:
        """As the node agent does when this node alone is to leave."""
        self.bundle.write_stopping(command="c1", by="anna", why="", leave=True)
        self.process.terminate()

    def signal_all(self, signum: int) -> None:
        """To the runner and everything that it has started, at once."""
        for ref in (self.ref, *self.marked()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(ref.pid, signum)

    def lose(self) -> None:
        """Its node is gone from one moment to the next."""
        self.signal_all(signal.SIGKILL)
        self.process.wait(10)

    def rounds(self) -> list[tuple[Any, ...]]:
        """Of each round: its number, nodes, cause, and who was charged."""
        formed = self.records("rendezvous_completed")
        return [(one["round"], one["nodes"], one["cause"], one["charged"]) for one in formed]


class Attempt:
    """The runners of one attempt and its store keeper, all here. Ends whatever is left when it is left."""

    def __init__(self, folder: Path, **spec: Any) -> None:
        fields: dict[str, Any] = {
            "nproc_per_node": 2,
            "max_restarts": 3,
            "script": STEPPING,
            "shutdown_timeout": 5.0,
        }
        fields |= spec
        self.spec = JobSpec(**preload_of(fields["script"]) | fields)
        self._folder = folder
        self.runners: dict[str, Runner] = {}
        self.keeper: Keeper | None = None
        """Of the newest ``start``."""

    def __enter__(self) -> Attempt:
        return self

    def start(self, *nodes: str, env: Env | None = None, **changes: Any) -> list[Runner]:
        """Start a runner on each of these nodes, and on the first the store keeper.

        Without one when ``endpoint`` or ``hosts_store`` is given.
        """
        low, high = parse_nnodes(self.spec.nnodes)
        with socket.socket() as store:
            store.bind(("127.0.0.1", 0))
            message = StartMessage(
                attempt=attempt_in(self._folder),
                job=1,
                job_name="test",
                number=1,
                node=nodes[0],
                nodes=nodes,
                min_nodes=low,
                max_nodes=high,
                endpoint=f"127.0.0.1:{store.getsockname()[1]}",
                hosts_store=True,
                local_addr="127.0.0.1",
                spec=self.spec,
            )
            message = replace(message, **changes)
            if not {"endpoint", "hosts_store"} & changes.keys():
                self.keeper = Keeper(self._folder, message, store, env or {})
        self._message = message
        return [self.start_on(node, env) for node in nodes]

    def start_on(self, node: str, env: Env | None = None, **changes: Any) -> Runner:
        """A runner more for the attempt that ``start`` began, or one in the place of one that has gone."""
        message = self._message
        hosts = node == message.node and message.hosts_store
        message = replace(message, node=node, hosts_store=hosts, **changes)
        number = "" if message.incarnation == 1 else f"~{message.incarnation}"
        bundle = Bundle(self._folder / node / f"{message.attempt}{number}")
        bundle.create(message)
        self.runners[f"{node}{number}"] = Runner(bundle, env or {})
        return self.runners[f"{node}{number}"]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for runner in self.runners.values():
            runner.end()
            left = runner.marked()
            for ref in left:
                os.kill(ref.pid, signal.SIGKILL)
            wait_gone(left, 10)
        if self.keeper is not None:
            self.keeper.end()


def write_script(folder: Path, text: str) -> str:
    path = folder / "train.py"
    path.write_text(text)
    return str(path)
