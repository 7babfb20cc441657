"""Stands in for a runner: it records, starts one worker with a grandchild, and ends politely on SIGTERM.

Where it is the store host, it stays connected to the keeper until it ends.

``spec.args`` tells what else: ``progress N`` records N times, ``torn`` leaves half a line,
``die`` ends at once with status 3, ``deaf`` ignores SIGTERM. The round has the number of the incarnation.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from agents import procs
from agents.bundle import Bundle
from agents.journal import Journal
from agents.wire.runner_events import (
    Progress,
    RankProgress,
    RunnerFinished,
    RunnerStarted,
    WorkerRef,
    WorkersStarted,
)
from agents.wire.store import keeps_store

GRANDCHILD = "import subprocess; subprocess.run(['sleep', '600'], start_new_session=True)"


def connect(endpoint: str) -> socket.socket:
    host, _, port = endpoint.rpartition(":")
    deadline = time.monotonic() + 20
    while True:
        try:
            return socket.create_connection((host, int(port)))
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def main() -> None:
    bundle = Bundle(Path(sys.argv[1]))
    message = bundle.message()
    assert message is not None
    args = message.spec.args
    if "die" in args:
        sys.exit("the stand-in was told to die")
    journal = Journal(bundle.journal, bundle.source(), attempt=message.attempt, node=message.node)
    ended: list[int] = []
    signal.signal(
        signal.SIGTERM, signal.SIG_IGN if "deaf" in args else lambda number, _: ended.append(number)
    )
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    me = procs.ref_of_child(os.getpid())
    journal.record(
        RunnerStarted,
        pid=me.pid,
        start_time=me.start_time,
        boot_id=me.boot_id,
        python=sys.executable,
        torch_version="none",
        endpoint=message.endpoint,
        hosts_store=message.hosts_store,
    )
    store = connect(message.endpoint) if keeps_store(message) else None
    worker = subprocess.Popen([sys.executable, "-S", "-c", GRANDCHILD], start_new_session=True)
    ref = procs.ref_of_child(worker.pid)
    journal.record(
        WorkersStarted,
        round=bundle.incarnation,
        workers=(WorkerRef(rank=0, local_rank=0, pid=ref.pid, start_time=ref.start_time),),
    )
    if "progress" in args:
        for step in range(int(args[args.index("progress") + 1])):
            journal.record(Progress, round=bundle.incarnation, ranks=(RankProgress(rank=0, step=step),))
    if "torn" in args:
        with bundle.journal.open("a") as file:
            file.write('{"kind":"progress","se')
    while True:
        if signal.sigwait({signal.SIGTERM}) and "deaf" not in args:
            break
    for left in procs.find_marked(bundle.mark):
        if left.pid != os.getpid():
            procs.send_signal(left, signal.SIGKILL)
    worker.wait()
    if store is not None:
        store.close()
    is_leaving = bundle.is_leaving()
    reason = f"The stand-in was asked to {'leave' if is_leaving else 'stop'}."
    journal.record(RunnerFinished, outcome="stopped", reason=reason, has_left=is_leaving)


main()
