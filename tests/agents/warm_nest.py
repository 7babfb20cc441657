"""Where the warm processes of all tests' node agents come from: one process that imports torch once.

``warm_nest.py --socket-fd N`` stands in for a warm process of a node agent. It hands the agent's socket to
the nest, which forks what serves it: the real warm process, that has nothing more to import. The nest is
``warm_nest.py`` alone, with the listening socket for its standard input.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any, NoReturn

NEST = "TESTS_WARM_NEST"
"""The environment variable with the path of its socket."""
MESSAGE_BYTES = 1 << 20
LOOK_S = 1.0
BOOT = Path(__file__).parents[2] / "agents" / "runner" / "boot.py"


def stand_in(agent: int) -> None:
    """Until the warm process has ended."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as nest:
        nest.connect(os.environ[NEST])
        socket.send_fds(nest, [json.dumps(dict(os.environ)).encode()], [agent, sys.stderr.fileno()])
        os.close(agent)
        nest.recv(1)


def load() -> Any:
    """The module of the warm process, with all that it imports. Boots as a runner does."""
    spec = importlib.util.spec_from_file_location("boot", BOOT)
    assert spec is not None
    assert spec.loader is not None
    boot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(boot)
    boot.load_package(__file__)
    server = importlib.import_module(f"{boot.PACKAGE}.warm.server")
    for module in server.IMPORTS:
        importlib.import_module(f"{boot.PACKAGE}.{module}")
    gc.collect()
    gc.freeze()
    return server


def serve(listener: socket.socket, tests: int) -> None:
    """Until the process with that pid, that of the tests, has gone."""
    server = load()
    while os.getppid() == tests:
        if select.select([listener], [], [], LOOK_S)[0]:
            asker, _ = listener.accept()
            if os.fork() == 0:
                become_warm(server, asker)
            asker.close()
        reap()


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def become_warm(server: Any, asker: socket.socket) -> NoReturn:
    # In the place of the listening socket.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    text, (agent, log), _, _ = socket.recv_fds(asker, MESSAGE_BYTES, 2)
    os.setsid()
    for fd in (1, 2):
        os.dup2(log, fd)
    os.close(log)
    os.environ.clear()
    os.environ.update(json.loads(text))
    for signum in (signal.SIGINT, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    os._exit(server.Server(socket.socket(fileno=agent)).run())


if __name__ == "__main__":
    if "--socket-fd" in sys.argv:
        stand_in(int(sys.argv[sys.argv.index("--socket-fd") + 1]))
    else:
        serve(socket.socket(fileno=0), os.getppid())
