"""The warm process: it imports what runners and store keepers need, and forks one for each request.

It is asked over a socket that keeps messages apart, each one JSON object. Request: ``module``, ``command``,
``folder``, ``mark`` and ``variables``, with the descriptors of the log and, for a keeper, of the store's
socket. It says ``ready`` or ``cannot`` once, ``started`` for each request and ``ended`` for each that has
ended. When the node agent has gone it ends; what it has forked goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any

from ..procs import MARK, ref_of_child
from ..runner.interpreter import say_no_torch
from .areas import show_command, show_variable

IMPORTS = ("runner.attempt", "runner.rendezvous.venues", "keeper.keeping")
MESSAGE_BYTES = 65536


@dataclass(frozen=True)
class Request:
    module: str
    command: list[str]
    folder: str
    mark: str
    variables: dict[str, str]
    """What its environment has besides that of this process, such as its GPUs."""
    fds: tuple[int, ...]


def main(argv: list[str]) -> int:
    """Exit status: 0 when the node agent has gone, 1 when torch cannot be imported."""
    parser = argparse.ArgumentParser(prog="boot.py", description="Waits for runners to fork.")
    parser.add_argument("--socket-fd", type=int, required=True)
    parser.add_argument("--room", help="is written over with the command of what is forked")
    args = parser.parse_args(argv)
    for signum in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)  # of a terminal: what runs here is the node agent's to end
    return Server(socket.socket(fileno=args.socket_fd)).run()


class Server:
    def __init__(self, agent: socket.socket) -> None:
        self._agent = agent
        self._wake, self._signalled = os.pipe()
        os.set_blocking(self._signalled, False)
        os.set_blocking(self._wake, False)

    def run(self) -> int:
        try:
            self._import()
        except Exception as error:  # noqa: BLE001 - a broken installation raises anything
            self._say(cannot=say_no_torch(error))
            return 1
        signal.signal(signal.SIGCHLD, lambda signum, frame: None)
        signal.set_wakeup_fd(self._signalled)
        self._say(ready=os.getpid())
        while (request := self._next_request()) is not None:
            if self._fork(request):
                return _become(request)
        return 0

    def _import(self) -> None:
        package = __package__.rpartition(".")[0]
        for module in IMPORTS:
            importlib.import_module(f"{package}.{module}")
        # What is shared with the children stays shared: the collector would write into all of it.
        gc.collect()
        gc.freeze()

    def _next_request(self) -> Request | None:
        """Waits; tells meanwhile of those that have ended. None: the node agent has gone."""
        while True:
            ready, _, _ = select.select([self._agent.fileno(), self._wake], [], [])
            if self._wake in ready:
                os.read(self._wake, 4096)
                self._reap()
            if self._agent.fileno() in ready:
                return self._read()

    def _read(self) -> Request | None:
        text, fds, _, _ = socket.recv_fds(self._agent, MESSAGE_BYTES, 2)
        return Request(fds=tuple(fds), **json.loads(text)) if text else None

    def _fork(self, request: Request) -> bool:
        """Whether this is the child."""
        parent, child = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            self._leave(parent)
            _show(request)
            _wait_for_word(child)
            return True
        child.close()
        me = ref_of_child(pid)
        # Once it has shown who it is; so it is found whenever this process dies from here on.
        with parent, contextlib.suppress(OSError):
            parent.recv(1)
            if self._is_heard():
                parent.send(b"!")
        for fd in request.fds:
            os.close(fd)
        self._say(started=me.pid, start_time=me.start_time)
        return False

    def _is_heard(self) -> bool:
        """Whether who asked still lives. If not, the next node agent may have looked for the fork in vain."""
        poller = select.poll()
        poller.register(self._agent.fileno(), 0)
        return not poller.poll(0)

    def _leave(self, parent: socket.socket) -> None:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for signum in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
            signal.signal(signum, signal.SIG_DFL)
        self._agent.close()
        parent.close()
        os.close(self._wake)
        os.close(self._signalled)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._say(ended=pid, code=os.waitstatus_to_exitcode(status))

    def _say(self, **words: Any) -> None:
        try:
            self._agent.send(json.dumps(words).encode())
        except OSError:  # nobody hears it any more, which the next read shows
            return


def _wait_for_word(child: socket.socket) -> None:
    """Without one this process was never there: whoever forked it died before it could tell of it."""
    with child:
        child.send(b"!")
        if not child.recv(1):
            os._exit(0)


def _show(request: Request) -> None:
    show_variable(MARK, request.mark)
    show_command(request.command)


def _become(request: Request) -> int:
    """From here on like a process that was started with that command; gives its exit status."""
    log, *others = request.fds
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    os.chdir(request.folder)
    os.environ.update(request.variables | {MARK: request.mark})
    _, boot, *arguments = request.command
    sys.argv = [boot, *arguments]
    sys.orig_argv = list(request.command)
    store = ["--store-fd", str(others[0])] if others else []
    package = __package__.rpartition(".")[0]
    module = importlib.import_module(f"{package}.{request.module}")
    code: int = module.main([*arguments, "--warm", *store])
    return code
