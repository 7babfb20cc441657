"""What there is to know of this machine, gathered once at the daemon's start."""

from __future__ import annotations

import importlib.metadata
import os
import socket

from ... import procs
from ...wire.bus import server_of
from ...wire.events import NodeFacts
from ...wire.sealing import public_text
from ..config import Config
from ..interface import find_interfaces
from ..secrets import keep_key
from . import gpus
from .environments import find_environments
from .python import torch_version


def gather_facts(config: Config, slots: int) -> NodeFacts:
    """Takes as long as the interpreters need to start: no work for the heartbeat's thread."""
    found, gpu_note = gpus.find_gpus()
    return NodeFacts(
        host=socket.gethostname(),
        addresses=find_addresses(config),
        cpus=len(os.sched_getaffinity(0)),
        memory_bytes=_memory_bytes(),
        slots=slots,
        gpus=found,
        gpu_note=gpu_note,
        python=config.python,
        torch_version=torch_version(config.python),
        agent_version=agent_version(),
        boot_id=procs.boot_id(),
        kernel=os.uname().release,
        labels=config.labels,
        environments=find_environments(config.environments),
        secrets_key=public_text(keep_key(config.data)),
        interfaces=find_interfaces(),
    )


def agent_version() -> str:
    try:
        return importlib.metadata.version("regroup-agent")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def find_addresses(config: Config) -> tuple[str, ...]:
    """Addresses of this node, the one that others should use first."""
    first = config.address or _address_towards(config.redis_url)
    return tuple(dict.fromkeys([first, *_interface_addresses()]))


def _address_towards(redis_url: str) -> str:
    """The local address from which Redis is reached: other nodes reach Redis too, so they reach that one."""
    server = server_of(redis_url)
    if server is None:
        return "127.0.0.1"
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(*server, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.connect(where)  # a datagram socket sends nothing here, it only picks a route
            return str(probe.getsockname()[0])
    except OSError:
        return socket.gethostname()


def _interface_addresses() -> list[str]:
    """What the network interfaces have, without loopback ones."""
    found = [address for one in find_interfaces() for address in one.addresses]
    return [address for address in found if not address.startswith(("127.", "::1"))]
