"""A runner from its first line to its last record, whatever happens in between.

Standard library only until everything that can be said without torch is said.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import os
import shutil
import sys
import traceback
from pathlib import Path
from typing import Any

from ..bundle import Bundle
from ..journal import Journal
from ..output import forgive_full_disks
from ..procs import ref_of_child
from ..wire import streams
from ..wire.events import RunnerFinished, RunnerStarted
from ..wire.spec import RdzvConf, SpecError, StartMessage, read_rdzv_conf
from .command import environment
from .ending import Ending, say_fault
from .endpoint import StoreError, join_endpoint, listen, port_of, split_endpoint
from .stopping import StopRequest, StopRequested


def main(argv: list[str]) -> int:
    """Exit status: 0 for succeeded or stopped, 1 for failed, 2 without a start message."""
    parser = argparse.ArgumentParser(prog="boot.py", description="Runs one node's part of one attempt.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--store-fd", type=int, default=None)
    args = parser.parse_args(argv)
    forgive_full_disks()
    stop = StopRequest()
    stop.install()
    bundle = Bundle(args.bundle.absolute())
    message = bundle.message()
    if message is None:
        print(
            f"The start message {bundle.folder / 'start.json'} cannot be read.", file=sys.stderr, flush=True
        )
        return 2
    return Launch(bundle, message, stop).run(args.store_fd)


class Launch:
    def __init__(self, bundle: Bundle, message: StartMessage, stop: StopRequest) -> None:
        self._bundle, self._message, self._stop = bundle, message, stop
        source = streams.runner_source(message.attempt, message.node, incarnation=1)
        self._journal = Journal(bundle.journal, source, attempt=message.attempt, node=message.node)
        self._facts: dict[str, Any] = {"round": None, "charged": message.spent, "torch_counter": 0}

    def run(self, store_fd: int | None) -> int:
        ending = Ending("failed", "The runner ended for a reason of its own, which runner.log tells.")
        try:
            ending = self._run(store_fd)
        except StopRequested as request:
            ending = Ending("stopped", str(request))
        except (SpecError, StoreError) as problem:
            ending = Ending("failed", str(problem))
        except BaseException as error:  # noqa: BLE001 - the last record must be written
            traceback.print_exc(file=sys.stderr)
            ending = Ending("failed", say_fault(error))
        finally:
            self._journal.record(RunnerFinished, outcome=ending.outcome, reason=ending.reason, **self._facts)
        return 1 if ending.outcome == "failed" else 0

    def _run(self, store_fd: int | None) -> Ending:
        conf = read_rdzv_conf(self._message.spec.rdzv_conf)
        host, port, listen_fd = self._place(conf, store_fd)
        self._record_started(join_endpoint(host, port), hosts_store=listen_fd is not None)
        self._bundle.lib.mkdir(exist_ok=True)
        shutil.copyfile(Path(__file__).parent.parent / "report.py", self._bundle.lib / "regroup_report.py")
        os.environ.update(environment(self._bundle, self._message, dict(os.environ)))
        try:
            from .attempt import Attempt, Place
        except Exception as error:  # noqa: BLE001 - a broken installation raises anything
            traceback.print_exc(file=sys.stderr)
            return Ending("failed", _say_no_torch(error))
        self._stop.check()
        attempt = Attempt(self._message, self._bundle, self._journal, conf, self._stop)
        try:
            return attempt.run(Place(host, port, listen_fd))
        finally:
            self._facts = attempt.facts

    def _place(self, conf: RdzvConf, store_fd: int | None) -> tuple[str, int, int | None]:
        """Where the store is, and a listening socket for it where this runner hosts it."""
        host, port = split_endpoint(self._message.endpoint)
        if not self._message.hosts_store or conf.is_host is False:
            return host, port, None
        listen_fd = store_fd if store_fd is not None else listen(host, port)
        return host, port_of(listen_fd), listen_fd

    def _record_started(self, endpoint: str, hosts_store: bool) -> None:
        me = ref_of_child(os.getpid())
        self._journal.record(
            RunnerStarted,
            pid=me.pid,
            start_time=me.start_time,
            boot_id=me.boot_id,
            python=sys.executable,
            torch_version=_torch_version(),
            endpoint=endpoint,
            hosts_store=hosts_store,
        )


def _torch_version() -> str:
    """The installed version, without the second that importing torch takes; '' when there is none."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version("torch")
    return ""


def _say_no_torch(error: Exception) -> str:
    return (
        f"torch cannot be used by the interpreter {sys.executable}: {type(error).__name__}: {error}. "
        "Install torch 2.13 or later for it, or give the job another interpreter (python)."
    )
