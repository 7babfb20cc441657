"""A store keeper from its first line to its last record, whatever happens in between.

Standard library only until everything that can be said without torch is said.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..bundle import KeeperBundle
from ..journal import Journal
from ..output import forgive_full_disks
from ..procs import ref_of_child
from ..runner.interpreter import say_no_torch, torch_version
from ..runner.stopping import StopRequest, StopRequested
from ..wire.events import KeeperFinished, KeeperStarted
from ..wire.rdzv import ConfError, read_rdzv_conf
from ..wire.spec import StartMessage


@dataclass(frozen=True)
class Ending:
    outcome: Literal["ended", "failed", "stopped"]
    reason: str


def main(argv: list[str]) -> int:
    """Exit status: 0 for ended or stopped, 1 for failed, 2 without a start message."""
    parser = argparse.ArgumentParser(prog="boot.py", description="Keeps the rendezvous store of one attempt.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--warm", action="store_true", help="this process was forked from a warm one")
    parser.add_argument("--store-fd", type=int, required=True, help="a socket bound to the store's address")
    args = parser.parse_args(argv)
    forgive_full_disks()
    stop = StopRequest()
    stop.install()
    bundle = KeeperBundle(args.bundle.absolute())
    message = bundle.message()
    if message is None:
        print(
            f"The start message {bundle.folder / 'start.json'} cannot be read.", file=sys.stderr, flush=True
        )
        return 2
    return Launch(bundle, message, stop).run(args.store_fd)


class Launch:
    def __init__(self, bundle: KeeperBundle, message: StartMessage, stop: StopRequest) -> None:
        self._bundle, self._message, self._stop = bundle, message, stop
        self._journal = Journal(bundle.journal, bundle.source(), attempt=message.attempt, node=message.node)

    def run(self, store_fd: int) -> int:
        ending = Ending("failed", "The store keeper ended for a reason of its own, which keeper.log tells.")
        try:
            self._record_started()
            ending = self._keep(store_fd)
        except StopRequested as request:
            ending = Ending("stopped", str(request))
        except ConfError as problem:
            ending = Ending("failed", str(problem))
        except BaseException as error:  # noqa: BLE001 - the last record must be written
            traceback.print_exc(file=sys.stderr)
            ending = Ending("failed", _say_fault(error))
        finally:
            self._journal.record(KeeperFinished, outcome=ending.outcome, reason=ending.reason)
        return 1 if ending.outcome == "failed" else 0

    def _keep(self, store_fd: int) -> Ending:
        conf = read_rdzv_conf(self._message.spec.rdzv_conf, self._message.spec.rdzv_backend)
        host = _address_of(store_fd)
        try:
            from .keeping import keep
        except Exception as error:  # noqa: BLE001 - a broken installation raises anything
            traceback.print_exc(file=sys.stderr)
            return Ending("failed", say_no_torch(error))
        self._stop.check()
        return Ending("ended", keep(self._bundle, conf, host, store_fd, self._stop.pause))

    def _record_started(self) -> None:
        me = ref_of_child(os.getpid())
        self._journal.record(
            KeeperStarted,
            pid=me.pid,
            start_time=me.start_time,
            boot_id=me.boot_id,
            python=sys.executable,
            torch_version=torch_version(),
            endpoint=self._message.endpoint,
        )


def _say_fault(error: BaseException) -> str:
    """For what nobody foresaw."""
    return f"The store keeper failed: {type(error).__name__}: {error}. Its traceback is in keeper.log."


def _address_of(store_fd: int) -> str:
    """The one address that the socket is bound to."""
    with socket.socket(fileno=os.dup(store_fd)) as store:
        return str(store.getsockname()[0])
