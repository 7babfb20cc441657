"""The hub's processes on the tests' own database and Valkey server, as they run in earnest."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from django.conf import settings
from django.db import connection

from tests.valkey import free_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]


def _database_environment(folder: Path) -> dict[str, str]:
    """What makes a process use the very database that this process uses."""
    if connection.vendor == "sqlite":
        link = folder / "regroup.sqlite3"
        if not link.is_symlink():
            link.symlink_to(connection.settings_dict["NAME"])
        return {}
    url = urlsplit(os.environ["REGROUP_DATABASE_URL"])
    return {"REGROUP_DATABASE_URL": url._replace(path=f"/{connection.settings_dict['NAME']}").geturl()}


@dataclass
class Hub:
    """Starts processes that read the same environment; their output lies in the folder."""

    folder: Path

    def environment(self) -> dict[str, str]:
        # Each process has its own default.
        inherited = {k: v for k, v in os.environ.items() if k != "REGROUP_DATABASE_WAIT_S"}
        own = {"REGROUP_REDIS_URL": settings.REDIS_URL, "REGROUP_DATA": str(self.folder)}
        return {**inherited, **own, **_database_environment(self.folder)}

    def start(self, name: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        with self.log_of(name).open("ab") as output:
            return subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=self.environment() | environment,
                stdout=output,
                stderr=output,
            )

    @contextmanager
    def ingest(self, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
        with ended(self.start("ingest", "manage.py", "ingest", **environment)) as process:
            yield process

    @contextmanager
    def web(self) -> Iterator[str]:
        """Gives the URL under which it answers."""
        port = free_port()
        with ended(self.start("web", "-m", "webapp.web", "--port", str(port))) as process:
            url = f"http://127.0.0.1:{port}"
            wait_until(lambda: process.poll() is not None or _answers(url), 60, "the web process to answer")
            assert process.poll() is None, self.log_of("web").read_text()
            yield url

    @contextmanager
    def worker(self) -> Iterator[None]:
        """Celery, beat included."""
        celery = ("-m", "celery", "-A", "webapp.beat:app")
        worker = (*celery, "worker", "--pool", "threads", "--without-gossip", "--without-mingle")
        with ended(self.start("worker", *worker)):
            yield

    def log_of(self, name: str) -> Path:
        return self.folder / f"{name}.log"


@contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
