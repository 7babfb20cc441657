"""A runner from its first line to its last record, whatever happens in between.

Standard library only until everything that can be said without torch is said.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import traceback
from collections.abc import MutableMapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..bundle import Bundle
from ..journal import Journal
from ..output import forgive_full_disks
from ..procs import ref_of_child
from ..wire import streams
from ..wire.rdzv import PASSWORD, ConfError, RdzvConf, read_rdzv_conf
from ..wire.runner_events import RunnerFinished, RunnerStarted
from ..wire.spec import StartMessage, workers_on
from ..wire.store import keeps_store
from .command import environment
from .ending import Ending, say_fault
from .endpoint import StoreError
from .interpreter import say_no_torch, torch_version
from .preload.server import ForkServer, fork_server_for
from .stopping import StopRequest, StopRequested, ends_attempt


def main(argv: list[str]) -> int:
    """Exit status: 0 for succeeded or stopped, 1 for failed, 2 without a start message."""
    parser = argparse.ArgumentParser(prog="boot.py", description="Runs one node's part of one attempt.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--warm", action="store_true", help="this process was forked from a warm one")
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
    return Launch(bundle, with_password(message, os.environ), stop, args.warm).run()


def with_password(message: StartMessage, environ: MutableMapping[str, str]) -> StartMessage:
    """``rdzv_conf`` with the password that the environment has; from there on nobody inherits it."""
    password = environ.pop(PASSWORD, "")
    if not password:
        return message
    spec = message.spec
    return replace(message, spec=replace(spec, rdzv_conf={**spec.rdzv_conf, "password": password}))


def begins_at_once(workers: int, cores: int) -> bool:
    """Whether the fork server is there for the first workers already.

    Where torch is not imported here yet, both processes import it at the same time. Where it is, the first
    workers are executed, and reach their first line at once; but more of them than there are cores would
    import torch one after the other, and the fork server imports it once.
    """
    return "torch" not in sys.modules or workers > cores


class Launch:
    def __init__(self, bundle: Bundle, message: StartMessage, stop: StopRequest, is_warm: bool) -> None:
        self._bundle, self._message, self._stop, self._is_warm = bundle, message, stop, is_warm
        source = streams.runner_source(message.attempt, message.node, message.incarnation)
        self._journal = Journal(bundle.journal, source, attempt=message.attempt, node=message.node)
        self._facts: dict[str, Any] = {"round": None, "charged": message.spent, "torch_counter": 0}

    def run(self) -> int:
        ending = Ending("failed", "The runner ended for a reason of its own, which runner.log tells.")
        try:
            ending = self._run()
        except StopRequested as request:
            ending = Ending("stopped", str(request), is_requested=True)
        except StoreError as problem:
            ending = Ending("failed", str(problem), is_infrastructure=True)
        except ConfError as problem:
            ending = Ending("failed", str(problem))
        except BaseException as error:  # noqa: BLE001 - the last record must be written
            traceback.print_exc(file=sys.stderr)
            ending = Ending("failed", say_fault(error))
        finally:
            self._record_finished(ending)
        return 1 if ending.outcome == "failed" else 0

    def _run(self) -> Ending:
        spec = self._message.spec
        conf = read_rdzv_conf(spec.rdzv_conf, spec.rdzv_backend)
        self._record_started()
        self._bundle.lib.mkdir(exist_ok=True)
        shutil.copyfile(Path(__file__).parent.parent / "report.py", self._bundle.lib / "regroup_report.py")
        os.environ.update(environment(self._bundle, self._message, dict(os.environ)))
        at_once = begins_at_once(workers_on(self._message), len(os.sched_getaffinity(0)))
        with fork_server_for(self._bundle, self._message, self._stop, at_once) as fork_server:
            return self._take_part(conf, fork_server)

    def _take_part(self, conf: RdzvConf, fork_server: ForkServer | None) -> Ending:
        try:
            from .attempt import Attempt
            from .rendezvous.venues import open_venue
        except Exception as error:  # noqa: BLE001 - a broken installation raises anything
            traceback.print_exc(file=sys.stderr)
            return Ending("failed", say_no_torch(error))
        self._stop.check()
        attempt = Attempt(self._message, self._bundle, self._journal, conf, self._stop, fork_server)
        try:
            return attempt.run(open_venue(self._message.endpoint, self._message.spec, conf))
        finally:
            self._facts = attempt.facts

    def _record_finished(self, ending: Ending) -> None:
        self._journal.record(
            RunnerFinished,
            outcome=ending.outcome,
            reason=ending.reason,
            has_left=ending.is_requested and not ends_attempt(self._bundle),
            is_infrastructure=ending.is_infrastructure,
            **self._facts,
        )

    def _record_started(self) -> None:
        me = ref_of_child(os.getpid())
        self._journal.record(
            RunnerStarted,
            pid=me.pid,
            start_time=me.start_time,
            boot_id=me.boot_id,
            python=sys.executable,
            torch_version=torch_version(),
            endpoint=self._message.endpoint,
            hosts_store=keeps_store(self._message),
            start="warm" if self._is_warm else "cold",
        )
