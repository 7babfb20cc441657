"""Starting a runner so that it outlives the daemon: its own session, files for pipes, its bundle's mark."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from .. import procs
from ..bundle import Bundle
from ..procs import ProcessRef
from ..wire.spec import StartMessage
from .config import SECRETS
from .interface import socket_variables
from .outcome import Refused


def runner_environment(agent: Mapping[str, str], message: StartMessage) -> dict[str, str]:
    """The agent's own environment without its secrets, with the job's; the mark wins over both.

    The node's network interface is named to the workers where neither names one.
    """
    inherited = {key: value for key, value in agent.items() if not key.startswith(SECRETS)}
    mark = {procs.MARK: f"{message.attempt}/{message.node}"}
    return socket_variables(message.local_addr) | inherited | message.spec.env | mark


def spawn_runner(
    bundle: Bundle, message: StartMessage, python: str, boot: Path, store: socket.socket | None
) -> subprocess.Popen[bytes]:
    """Start it and note at once who it is. Killed in between, the next daemon finds it by its mark.

    Raises:
        OSError: the interpreter cannot be executed.
    """
    command = [python, str(boot), str(bundle.folder)]
    if store is not None:
        command += ["--store-fd", str(store.fileno())]
    with bundle.runner_log.open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=bundle.folder,
            env=runner_environment(os.environ, message),
            pass_fds=() if store is None else (store.fileno(),),
            start_new_session=True,
        )
    bundle.write_runner(procs.ref_of_child(process.pid))
    return process


def find_unrecorded_runner(bundle: Bundle) -> ProcessRef | None:
    """The runner of a daemon that was killed between starting it and noting its pid.

    Its workers carry the same mark, but only the runner was given the bundle's folder.
    """
    folder = os.fsencode(bundle.folder)
    for ref in procs.find_marked(bundle.mark):
        with contextlib.suppress(OSError):
            if folder in Path(f"/proc/{ref.pid}/cmdline").read_bytes().split(b"\0"):
                return ref
    return None


def open_store(message: StartMessage) -> tuple[StartMessage, socket.socket | None]:
    """For a store host whose port is left open: a listening socket, and the message with its real endpoint.

    Raises:
        Refused: this node has no such address.
    """
    host, _, port = message.endpoint.rpartition(":")
    if not message.hosts_store or port != "0":
        return message, None
    try:
        store = _listen(message.local_addr)
    except OSError as error:
        raise Refused(
            f"{message.node} cannot host the store on {message.local_addr}: {error.strerror}. "
            "Start its node agent with an --address that belongs to this machine."
        ) from error
    return replace(message, endpoint=f"{host}:{store.getsockname()[1]}"), store


def _listen(address: str) -> socket.socket:
    """A listening TCP socket on a free port."""
    family, kind, protocol, _, where = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.bind(where)
        listener.listen(1024)
    except OSError:
        listener.close()
        raise
    return listener
