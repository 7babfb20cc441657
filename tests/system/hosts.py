"""Other machines for tests: network namespaces, each in two networks, that of the hub and that of training.

Needs root, and ``ip`` and ``bridge`` (iproute2); tests are skipped where there can be no such hosts.
A host is cut off by closing its ports on the bridge: what is sent just vanishes, as with a pulled cable, and
nobody is told.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

PREFIX = "rgt"
"""Begins all names, followed by the process id of the test run and a letter for what it is."""
FORWARDING, DISABLED = 3, 0
"""States of a bridge's port."""


def ip(*arguments: str, check: bool = True) -> str:
    return _tool("ip", *arguments, check=check)


def _tool(*command: str, check: bool = True) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except FileNotFoundError:
        raise AssertionError(f"{command[0]} is not there; install iproute2") from None
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout


@dataclass
class Host:
    name: str
    """The node's name, such as node-a."""
    namespace: str
    ports: Mapping[str, str]
    """Network → the port of its bridge that leads to this host."""
    addresses: Mapping[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where other hosts reach it for training. The hub is not in that network."""
        return self.addresses["train"]

    @property
    def prefix(self) -> tuple[str, ...]:
        """What a command line begins with to run there."""
        return ("ip", "netns", "exec", self.namespace)

    def run(self, *command: str, log: Path, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a process there; it ends with the host at the latest."""
        with log.open("ab") as output:
            process = subprocess.Popen(
                [*self.prefix, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, **(env or {})},
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def cut(self, *networks: str) -> None:
        """Let nothing through any more, on all its networks or on these."""
        self._set_ports(networks, DISABLED)

    def mend(self, *networks: str) -> None:
        self._set_ports(networks, FORWARDING)

    def _set_ports(self, networks: tuple[str, ...], state: int) -> None:
        for network in networks or self.ports:
            _tool("bridge", "link", "set", "dev", self.ports[network], "state", str(state))

    def end(self) -> None:
        """Kill whatever runs there, runners and workers included, and take the namespace away."""
        for pid in ip("netns", "pids", self.namespace, check=False).split():
            with suppress(psutil.NoSuchProcess):
                psutil.Process(int(pid)).kill()
        for process in self.processes:
            process.wait(10)
        ip("netns", "del", self.namespace, check=False)


@dataclass
class Hosts:
    """Two networks that this machine has made, and the hosts in them."""

    mark: str
    hub_address: str
    """This machine's own address in the hub's network; it has none in that of training."""
    subnets: Mapping[str, str]
    hosts: list[Host] = field(default_factory=list)

    def add(self, name: str) -> Host:
        number = len(self.hosts) + 2
        namespace = f"{self.mark}-{name}"
        ports = {network: f"{self.mark}{network[0]}{number}" for network in self.subnets}
        addresses = {network: f"{subnet}.{number}" for network, subnet in self.subnets.items()}
        host = Host(name, namespace, ports, addresses)
        self.hosts.append(host)
        ip("netns", "add", namespace)
        ip("-n", namespace, "link", "set", "lo", "up")
        for network, port in ports.items():
            ip("link", "add", port, "type", "veth", "peer", "name", network, "netns", namespace)
            ip("link", "set", port, "master", _bridge(self.mark, network), "up")
            ip("-n", namespace, "addr", "add", f"{addresses[network]}/24", "dev", network)
            ip("-n", namespace, "link", "set", network, "up")
        return host

    def end(self) -> None:
        for host in self.hosts:
            host.end()
        for network in self.subnets:
            ip("link", "del", _bridge(self.mark, network), check=False)


def why_not() -> str:
    """Why there can be no such hosts here; empty: there can be."""
    mark = f"{PREFIX}{os.getpid()}"
    namespace, bridge = f"{mark}-try", f"{mark}x"
    try:
        _tool("bridge", "-V")
        ip("netns", "add", namespace)
        ip("link", "add", bridge, "type", "bridge")
    except AssertionError as problem:
        hint = "" if os.geteuid() == 0 else " Network namespaces need root."
        return f"There can be no hosts of their own here: {problem}.{hint}"
    else:
        return ""
    finally:
        with suppress(AssertionError):
            ip("link", "del", bridge, check=False)
            ip("netns", "del", namespace, check=False)


def _bridge(mark: str, network: str) -> str:
    return f"{mark}{network[0]}"


@contextmanager
def make_hosts(*names: str) -> Iterator[Hosts]:
    """The networks with these hosts; gone afterwards, whatever happened. Without them the test is skipped."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    _remove_stale()
    number = os.getpid() % 254
    mark = f"{PREFIX}{os.getpid()}"
    # Addresses that are kept for tests of networks, so that they belong to nobody.
    subnets = {"hub": f"198.18.{number}", "train": f"198.19.{number}"}
    hosts = Hosts(mark, f"{subnets['hub']}.1", subnets)
    try:
        for network in subnets:
            ip("link", "add", _bridge(mark, network), "type", "bridge")
            ip("link", "set", _bridge(mark, network), "up")
        ip("addr", "add", f"{hosts.hub_address}/24", "dev", _bridge(mark, "hub"))
        for name in names:
            hosts.add(name)
        yield hosts
    finally:
        hosts.end()


def _remove_stale() -> None:
    """What test runs left that were killed."""
    for line in ip("netns", "list").splitlines():
        name = line.split()[0]
        pid = name.removeprefix(PREFIX).partition("-")[0]
        if name.startswith(PREFIX) and pid.isdecimal() and not psutil.pid_exists(int(pid)):
            Host(name, name, {}, {}).end()
    for name in psutil.net_if_addrs():
        pid = name.removeprefix(PREFIX)[:-1]
        if name.startswith(PREFIX) and pid.isdecimal() and not psutil.pid_exists(int(pid)):
            ip("link", "del", name, check=False)
