"""Starting a process so that it outlives the daemon: its own session, files for pipes, its bundle's mark."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .. import procs
from ..bundle import Bundle, KeeperBundle
from ..procs import ProcessRef
from ..wire.rdzv import PASSWORD
from ..wire.spec import StartMessage
from .config import SECRETS
from .devices import devices_of
from .interface import asked_variables, socket_variables
from .secrets import open_message
from .warm import Child, Warm

SURVIVED_S = 1.0
"""A process that is there for so long goes on."""


def node_environment(agent: Mapping[str, str], address: str) -> dict[str, str]:
    """The agent's own environment without its secrets; the network interface is named where it does not."""
    inherited = {key: value for key, value in agent.items() if not key.startswith(SECRETS)}
    return socket_variables(address) | inherited


def job_environment(agent: Mapping[str, str], message: StartMessage) -> dict[str, str]:
    """The same with what the job asks for, and with its own variables, which win."""
    asked = asked_variables(message)
    return node_environment(agent, message.local_addr) | asked | message.spec.env


def process_environment(agent: Mapping[str, str], message: StartMessage) -> dict[str, str]:
    """The same with what the process is told beside its start message, as no file may hold it."""
    password = message.spec.rdzv_conf.get("password", "")
    return job_environment(agent, message) | ({PASSWORD: password} if password else {})


def environment_of(bundle: Bundle, agent: Mapping[str, str], message: StartMessage) -> dict[str, str]:
    """The same for the bundle's process, with its devices and its mark."""
    return process_environment(agent, message) | devices_of(bundle).variables | {procs.MARK: bundle.mark}


@dataclass(frozen=True)
class Started:
    """``ref`` is None where the interpreter cannot be executed, as the bundle's own log says."""

    ref: ProcessRef | None = None
    process: subprocess.Popen[bytes] | Child | None = None
    """Tells the exit status, where that can be known."""


def start(
    bundle: Bundle,
    message: StartMessage,
    python: str,
    boot: Path,
    warm: Warm | None = None,
    store: socket.socket | None = None,
) -> Started:
    """Start the bundle's process and note at once who it is. ``store`` is handed to it.

    The job's secrets reach a runner in its environment; a store keeper needs none of them.
    Killed in between, the next daemon finds it by its mark.

    Raises:
        CannotOpen: with a sentence; nothing is started.
    """
    if not isinstance(bundle, KeeperBundle):
        message = open_message(message, bundle.data)
    child = None
    if warm is not None:
        environment = process_environment(os.environ, message)
        child = warm.fork(bundle, python, environment, boot, store)
    ref = child.ref if child else _find_survivor(bundle) if warm is not None else None
    if ref is not None:
        bundle.write_process(ref)
        return Started(ref, child)
    process = _spawn(bundle, message, python, boot, store)
    return Started(bundle.process(), process) if process else Started()


def _spawn(
    bundle: Bundle, message: StartMessage, python: str, boot: Path, store: socket.socket | None
) -> subprocess.Popen[bytes] | None:
    command = [python, str(boot), str(bundle.folder)]
    if store is not None:
        command += ["--store-fd", str(store.fileno())]
    try:
        with bundle.own_log.open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=bundle.folder,
                env=environment_of(bundle, os.environ, message),
                pass_fds=() if store is None else (store.fileno(),),
                start_new_session=True,
            )
    except OSError as error:
        bundle.own_log.write_text(f"{python} could not be executed: {error}\n")
        return None
    bundle.write_process(procs.ref_of_child(process.pid))
    return process


def _find_survivor(bundle: Bundle) -> ProcessRef | None:
    """What a warm process has forked all the same that died while it was asked.

    A fork that it had not told to go on yet ends by itself, at once.
    """
    ref = find_unrecorded(bundle)
    return ref if ref is not None and procs.wait_gone([ref], SURVIVED_S) else None


def find_unrecorded(bundle: Bundle) -> ProcessRef | None:
    """The process of a daemon that was killed between starting it and noting its pid.

    Workers carry the same mark as their runner, but only the runner was given the bundle's folder.
    """
    folder = os.fsencode(bundle.folder)
    for ref in procs.find_marked(bundle.mark):
        with contextlib.suppress(OSError):
            if folder in Path(f"/proc/{ref.pid}/cmdline").read_bytes().split(b"\0"):
                return ref
    return None
