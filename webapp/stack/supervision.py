"""The supervisor process: started as a child, asked over its control socket, ended politely."""

from __future__ import annotations

import ctypes
import http.client
import shutil
import signal
import subprocess
import tempfile
import xmlrpc.client
from pathlib import Path
from typing import Any

from supervisor.xmlrpc import SupervisorTransport

from .options import ROOT, StackOptions
from .programs import supervisor_config
from .secret_files import write_private
from .valkey import ValkeyServer

SOCKET_PATH_LIMIT = 90
"""The kernel allows 108 bytes; the supervisor adds its process id while it opens the socket."""

PR_SET_PDEATHSIG = 1
SUPERVISORD = "webapp.stack.supervisord"


def _end_with_parent() -> None:
    """Ask the kernel for a SIGTERM when the process that started this one is gone, even by SIGKILL."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Supervisor:
    """One supervisor with all programs of the stack as its children."""

    def __init__(
        self, options: StackOptions, valkey: ValkeyServer | None, environment: dict[str, str]
    ) -> None:
        self._options = options
        self._environment = environment
        self._short_folder: Path | None = None
        self._socket = self._choose_socket()
        self._config = options.run / "supervisord.conf"
        write_private(self._config, supervisor_config(options, valkey, self._socket))
        self._process: subprocess.Popen[bytes] | None = None

    def _choose_socket(self) -> Path:
        socket = self._options.run / "supervisor.sock"
        if len(str(socket).encode()) <= SOCKET_PATH_LIMIT:
            return socket
        self._short_folder = Path(tempfile.mkdtemp(prefix="regroup-"))
        return self._short_folder / "supervisor.sock"

    def start(self) -> None:
        """Start it in a session of its own, so that a Ctrl-C in the terminal reaches only us."""
        with self._options.log_of("supervisor-output").open("ab") as output:
            self._process = subprocess.Popen(
                [self._options.python, "-m", SUPERVISORD, str(self._options.data), "-c", str(self._config)],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=_end_with_parent,  # safe: this process has one thread only
            )

    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def states(self) -> dict[str, str]:
        """Name of each program → the supervisor's word for its state. Empty: no answer."""
        transport = SupervisorTransport(None, None, f"unix://{self._socket}")
        proxy = xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport)
        try:
            answer: Any = proxy.supervisor.getAllProcessInfo()
        except (OSError, xmlrpc.client.Error, http.client.HTTPException):
            return {}
        finally:
            transport.close()
        return {info["name"]: info["statename"] for info in answer}

    def ask_to_end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def tidy(self) -> None:
        if self._short_folder is not None:
            shutil.rmtree(self._short_folder, ignore_errors=True)
