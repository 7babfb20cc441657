"""The local stack as ``make run`` starts it, in a folder of its own, for tests that use it from outside."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from tests.waiting import LENIENCE, wait_until
from webapp.stack.leftovers import find_marked, kill_all, mark_of

ROOT = Path(__file__).resolve().parents[2]
WORDS = {
    "web": "webapp.web",
    "ingest": "manage.py ingest",
    "worker": "webapp.beat:app worker",
    "valkey": "run/valkey.conf",
    "node-1": "--name node-1 ",
    "node-2": "--name node-2 ",
    "node-3": "--name node-3 ",
    "supervisor": "webapp.stack.supervisord",
}
"""What tells a program's command line from the others'."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def line_of(process: psutil.Process) -> str:
    """Its command line; empty for one that has just gone."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@dataclass
class Stack:
    data: Path
    port: int
    nodes: int
    slots: int
    process: subprocess.Popen[bytes] | None = None
    settings: dict[str, str] = field(default_factory=dict)
    """Environment variables of ours that it is started with."""
    host: str = "127.0.0.1"
    """Where it listens."""
    reached_at: str = ""
    """Where the test reaches it, when that is elsewhere."""
    prefix: tuple[str, ...] = ()
    """What its command line begins with, to run it on another machine."""
    _tokens: dict[tuple[str, str], str] = field(default_factory=dict)
    _session: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://{self.reached_at or self.host}:{self.port}"

    @property
    def output(self) -> str:
        """What it has told the person at the terminal so far."""
        return (self.data.parent / f"{self.data.name}.out").read_text()

    @property
    def password(self) -> str:
        return (self.data / "operator_password").read_text().strip()

    def processes(self) -> list[psutil.Process]:
        """Every process that belongs to this stack, runners and workers included."""
        return find_marked(mark_of(self.data))

    def process_of(self, program: str) -> psutil.Process | None:
        """The process that runs as ``web``, ``ingest``, ``supervisor`` …; None: it does not run."""
        words = WORDS.get(program, program)
        return next((p for p in self.processes() if words in line_of(p)), None)

    def start(self) -> None:
        """Start it and wait until it says that it runs."""
        command = [*self.prefix, sys.executable, "-m", "webapp.stack", "--data", str(self.data)]
        command += ["--host", self.host, "--port", str(self.port)]
        command += ["--nodes", str(self.nodes), "--slots", str(self.slots)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("REGROUP_")}
        # Three processes with torch imported are dear where little is launched.
        environment |= {"REGROUP_WARM": "off"} | self.settings
        with (self.data.parent / f"{self.data.name}.out").open("wb") as output:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
            )
        wait_until(self._is_up, 90, "Regroup to come up")

    def _is_up(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"Regroup ended instead of coming up: {self.output}"
        return f"Regroup runs at {self.url}" in self.output

    def end(self, number: int = signal.SIGTERM, timeout_s: float = 15.0) -> int:
        """Ask it to end; gives its exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(LENIENCE * timeout_s)

    def token(self, name: str, role: str) -> str:
        """As ``make token`` prints it, once for each name."""
        if (name, role) not in self._tokens:
            self._tokens[name, role] = self._make_token(name, role)
        return self._tokens[name, role]

    def session(self) -> dict[str, str]:
        """Cookies of the first operator, logged in once: a password is slow to check."""
        with httpx.Client(base_url=self.url, cookies=self._session, timeout=15 * LENIENCE) as client:
            if client.get("/api/session").status_code != 200:
                body = {"username": "operator", "password": self.password}
                client.cookies.clear()
                assert client.post("/api/session", json=body).status_code == 200
            self._session = {cookie.name: cookie.value or "" for cookie in client.cookies.jar}
        return self._session

    def _make_token(self, name: str, role: str) -> str:
        command = [
            sys.executable,
            "-m",
            "webapp.stack.admin",
            str(self.data),
            "make_token",
            name,
            "--role",
            role,
        ]
        made = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60 * LENIENCE
        )
        return made.stdout.strip()

    def client(self, name: str, role: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token(name, role)}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=15 * LENIENCE)


@contextmanager
def run_stack(folder: Path, nodes: int = 3, slots: int = 2, **settings: str) -> Iterator[Stack]:
    """A stack that runs; ended afterwards, and nothing of it may be left."""
    with keep_running(Stack(folder / "data", free_port(), nodes, slots, settings=settings)) as stack:
        yield stack


@contextmanager
def keep_running(stack: Stack) -> Iterator[Stack]:
    """The same for a stack of one's own making."""
    stack.data.mkdir(parents=True)
    try:
        stack.start()
        yield stack
    finally:
        if stack.process is not None and stack.process.poll() is None:
            try:
                stack.end(timeout_s=30)
            finally:
                left = kill_all(mark_of(stack.data))
            assert left == [], f"processes of the stack were left: {left}"
