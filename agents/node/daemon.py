"""Wires the daemon together, and holds the order of its start and of its end."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from ..bundle import list_bundles
from ..wire.events import NodeStarted, NodeStopping
from .commands import Node
from .config import Config, ConfigError
from .disk import Disk
from .evidence import Evidence
from .faults import Faults
from .gate import gate
from .heartbeat import Heartbeat
from .inbox import Inbox
from .journal import NodeJournal
from .ledger import Ledger
from .link import connect, keep_doing, start_loop
from .log_caps import LogCaps
from .probes import gpus
from .probes.facts import find_addresses, gather_facts
from .probes.gpu_usage import GpuUsage
from .requests import Requests
from .secrets import keep_key
from .shipper import Shipper
from .spawn import node_environment
from .supervisor import Supervisor
from .tail import needs_shipping, tail_node
from .trimming import Trimming
from .troubles import Troubles
from .usage import Usage
from .warm import Warm

log = logging.getLogger("regroup.agent")

LAST_WORDS_S = 1.0
"""What the daemon's own last record may take to reach Redis."""


def count_slots(config: Config) -> int:
    """Call once, first of all: it takes the node's share of the GPUs.

    Raises:
        ConfigError: one for each GPU is asked for, and there is none.
    """
    gpus.take_share(*config.gpu_share)
    if isinstance(config.slots, int):
        return config.slots
    found, note = gpus.find_gpus()
    if found:
        return len(found)
    if config.slots == "gpus":
        raise ConfigError(
            f"--slots is gpus, and the GPUs of this machine are: {note}. Write a number instead."
        )
    return len(os.sched_getaffinity(0))


def _warm(config: Config) -> Warm:
    """For jobs that bring neither an interpreter nor an environment of their own."""
    environment = node_environment(os.environ, find_addresses(config)[0])
    return Warm(config.python, environment, config.data)


class Daemon:
    def __init__(self, config: Config, slots: int) -> None:
        self._config = config
        self._slots = slots
        self._stopping = threading.Event()
        self._troubles = Troubles()
        gate.load(config.data)
        keep_key(config.data)
        self._journal = NodeJournal(config.data, config.name)
        ledger = Ledger(config.data)
        self._trimming = Trimming(config.data, config.keep_days, self._journal, ledger)
        self._shipper = Shipper(
            connect(config.redis_url), config.name, tail_node(self._journal), self._trimming.trim_journal
        )
        self._journal.on_record = self._shipper.wake
        self._warm = _warm(config) if config.warm else None
        self._supervisor = Supervisor(config, slots, self._journal, self._shipper.add, self._warm)
        node = Node(config, self._supervisor, Faults(self._journal))
        self._inbox = Inbox(connect(config.redis_url), node, self._journal, ledger)
        self._disk = Disk(config.data, self._troubles, self._flush)

    def run(self) -> int:
        """Returns once a signal asks for the end. Runners are left as they are."""
        signals = _watch_signals()
        log.info("node agent started node=%s pid=%s slots=%s", self._config.name, os.getpid(), self._slots)
        self._start()
        name = signal.Signals(os.read(signals, 1)[0]).name
        self._stop(name)
        log.info("node agent ends, its runners go on node=%s signal=%s", self._config.name, name)
        return 0

    def _start(self) -> None:
        config, stopping = self._config, self._stopping
        heartbeat = Heartbeat(
            connect(config.redis_url),
            config.name,
            self._slots,
            self._words,
            stopping,
        )
        requests = Requests(
            connect(config.redis_url),
            config.name,
            config.data,
            config.python,
            config.environments,
            config.hub_url,
        )
        # Adopting comes first, so that the first heartbeat already tells the slots that are free.
        self._supervisor.adopt_all()
        self._loop(lambda: self._disk.step(stopping), "watch of the disk")
        self._loop(heartbeat.step, "heartbeat")
        self._ship()
        self._loop(self._supervisor.step, "supervisor")
        self._loop(requests.step, "requests")
        usage = Usage(
            connect(config.redis_url), config.name, self._supervisor.bundles, GpuUsage(stopping), stopping
        )
        self._loop(usage.step, "usage of the workers")
        self._loop(lambda: self._trimming.step(stopping), "trimming")
        evidence = Evidence(config.data, self._journal)
        self._loop(lambda: evidence.step(stopping), "evidence")
        caps = LogCaps(config.data, self._troubles)
        self._loop(lambda: caps.step(stopping), "log caps")
        threading.Thread(target=self._record_facts, name="facts", daemon=True).start()
        self._inbox.resume()
        self._supervisor.settle_unstarted()
        self._loop(self._inbox.step, "inbox")
        if self._warm is not None:
            self._loop(partial(self._warm.step, stopping), "warm process")

    def _loop(self, step: Callable[[], None], name: str) -> threading.Thread:
        return start_loop(step, self._stopping, name, self._troubles)

    def _words(self) -> dict[str, Any]:
        """What each sign of life tells."""
        free, attempts = self._supervisor.load()
        return {
            "free": free,
            "attempts": attempts,
            "troubles": self._troubles.texts(),
            "journal": self._journal.source,
            "seq": self._journal.last_seq,
        }

    def _flush(self) -> bool:
        return all([self._journal.flush(), self._inbox.flush()])

    def _ship(self) -> None:
        for bundle in list_bundles(self._config.data):
            if needs_shipping(bundle):
                self._shipper.add(bundle)
        self._shipping = self._loop(self._shipper.step, "shipper")

    def _record_facts(self) -> None:
        facts = gather_facts(self._config, self._slots)
        self._journal.record(NodeStarted, pid=os.getpid(), facts=facts)

    def _stop(self, signal_name: str) -> None:
        self._journal.record(NodeStopping, reason=f"The node agent was asked to end ({signal_name}).")
        self._stopping.set()
        self._shipper.wake()
        last = threading.Thread(target=self._ship_last, name="last", daemon=True)
        last.start()
        last.join(LAST_WORDS_S)

    def _ship_last(self) -> None:
        self._shipping.join()
        done = threading.Event()

        def ship() -> None:
            self._shipper.ship_last()
            done.set()

        keep_doing(ship, done, "last words", self._troubles)


def _watch_signals() -> int:
    """The end of a pipe from which the number of each signal that ends the daemon can be read.

    A pipe, because a handler may not take the locks that an event or a queue would need.
    """
    reader, writer = os.pipe()

    def note(number: int, _frame: object) -> None:
        os.write(writer, bytes([number]))

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, note)
    return reader
