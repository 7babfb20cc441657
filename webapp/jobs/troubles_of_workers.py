"""Troubles that the last words of workers tell: network interfaces, shared memory, imports.

Pure. The patterns are what gloo, NCCL and torch write; whatever else they write is left to the failure card.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from .troubles import Trouble, TroubleFacts, WorkerEnd
from .words import ended

AT_ONCE_S = 2.0
"""Who ends so soon after its start has hardly done more than import."""
SOURCES = {"": "the record of the end", "exit status": "the exit status", "error file": "the error file"}
NO_WORDS = "wrote nothing to stderr"
"""How a runner says that a worker left no word."""

_GLOO_NAME = re.compile(r"Unable to find (?:address|interface) for:? ?(?P<name>\S+)")
_GLOO_LOOPBACK = re.compile(r"remote=\[?(?P<name>127\.[\d.]+|::1)")
_NCCL_NONE = re.compile(r"no socket interface found|neither AF_INET\(2\) nor AF_INET6\(10\)")
_NCCL_CONNECT = re.compile(
    r"socketStartConnect: Connect to (?P<name>[^\s<]+)<\d+> failed : (?P<why>(?!Connection refused)[^\n]+)"
)
_SHARED_MEMORY = re.compile(
    r"out of shared memory|insufficient shared memory|shared memory\(shm\)"
    r"|(?:write to|mmap \d+ bytes from) file </torch_|Error while creating shared memory "
    r"segment|/dev/shm/nccl"
)
_LOOK = 'Run "ip -br address" on {node} to see its interfaces.'
Rule = Callable[[WorkerEnd, TroubleFacts], Trouble | None]


def troubles_of_workers(facts: TroubleFacts) -> list[Trouble]:
    """One of each kind: the first cause tells before those who lost a peer."""
    ends = sorted(facts.ends, key=lambda end: not end.is_cause)
    found = (_first(rule, ends, facts) for rule in RULES)
    kinds = {trouble.kind: trouble for trouble in found if trouble is not None}
    return list(kinds.values())


def _first(rule: Rule, ends: Iterable[WorkerEnd], facts: TroubleFacts) -> Trouble | None:
    return next((trouble for end in ends if (trouble := rule(end, facts)) is not None), None)


def _source(end: WorkerEnd) -> str:
    return f"{SOURCES.get(end.source, end.source)} of rank {end.rank} on {end.node}"


# -- network interfaces ----------------------------------------------------------------------


def _gloo_name(end: WorkerEnd, facts: TroubleFacts) -> Trouble | None:
    match = _GLOO_NAME.search(end.text)
    if match is None:
        return None
    name = match["name"]
    return _network(
        end,
        f"gloo finds no interface or address {name} on {end.node}.{_set_to('GLOO_SOCKET_IFNAME', facts)}",
        "Set GLOO_SOCKET_IFNAME in the job's environment to the one interface through which the nodes "
        "reach each other, by its plain name: gloo takes no list and no pattern, as NCCL does.",
    )


def _nccl_none(end: WorkerEnd, facts: TroubleFacts) -> Trouble | None:
    if _NCCL_NONE.search(end.text) is None:
        return None
    return _network(
        end,
        f"NCCL finds no network interface to use on {end.node}.{_set_to('NCCL_SOCKET_IFNAME', facts)}",
        "Set NCCL_SOCKET_IFNAME in the job's environment to an interface that each node has, such as eth0 "
        "or ens, which stands for all whose names begin so. Or leave it out: then NCCL picks one.",
    )


def _nccl_connect(end: WorkerEnd, facts: TroubleFacts) -> Trouble | None:
    match = _NCCL_CONNECT.search(end.text)
    if match is None:
        return None
    return _network(
        end,
        f"NCCL on {end.node} could not connect to another rank at {match['name']}: {match['why'].strip()}."
        f"{_set_to('NCCL_SOCKET_IFNAME', facts)}",
        f"See on which interface of which node {match['name']} is. Where the other nodes do not reach "
        "that, as with a bridge of containers, set NCCL_SOCKET_IFNAME to the interface that they do reach.",
    )


def _gloo_loopback(end: WorkerEnd, facts: TroubleFacts) -> Trouble | None:
    """Between machines; on one machine loopback is the right way."""
    match = _GLOO_LOOPBACK.search(end.text)
    if match is None or len({member.machine for member in facts.members}) < 2:
        return None
    return _network(
        end,
        f"gloo on {end.node} looked for a rank of another machine at {match['name']}, which is {end.node} "
        f"itself: a host's own name stands for loopback there.{_set_to('GLOO_SOCKET_IFNAME', facts)}",
        "Set GLOO_SOCKET_IFNAME in the job's environment to the interface through which the nodes reach each "
        "other, or let each host's own name stand for its address in /etc/hosts.",
    )


def _network(end: WorkerEnd, sentence: str, what_to_do: str) -> Trouble:
    look = _LOOK.format(node=end.node)
    return Trouble(
        kind="network_interface", sentence=sentence, source=_source(end), what_to_do=f"{what_to_do} {look}"
    )


def _set_to(variable: str, facts: TroubleFacts) -> str:
    value = facts.env.get(variable)
    return f" The job sets {variable} to {value}." if value else ""


# -- shared memory, imports --------------------------------------------------------------------


def _shared_memory(end: WorkerEnd, facts: TroubleFacts) -> Trouble | None:
    if _SHARED_MEMORY.search(end.text) is None:
        return None
    return Trouble(
        kind="shared_memory",
        sentence=f"{ended(end.rank, end.node, end.said)}. Its last words say that /dev/shm on {end.node} "
        "has not enough room.",
        source=_source(end),
        what_to_do=f'Run "df -h /dev/shm" on {end.node} to see its size. In a container give it more: with '
        "docker --shm-size 8g or --ipc host, in Kubernetes an emptyDir with medium Memory at /dev/shm. Fewer "
        "DataLoader workers need less.",
    )


def _died_at_import(end: WorkerEnd, facts: TroubleFacts) -> Trouble | None:
    is_soon = end.lived_s is not None and end.lived_s < AT_ONCE_S
    if not (is_soon and end.is_cause and end.exit_code and NO_WORDS in end.said):
        return None
    return Trouble(
        kind="died_at_import",
        sentence=f"{ended(end.rank, end.node, end.said)}, {end.lived_s:.1f} s after its start.",
        source=_source(end),
        what_to_do="Look at its stdout in the Logs tab: some scripts write their errors there. If that is "
        f'empty too, run the script by hand on {end.node} with "python -v -X faulthandler": the last import '
        "that it names is where it ends. sys.exit and os._exit leave no traceback.",
    )


RULES: tuple[Rule, ...] = (
    _gloo_loopback,
    _nccl_connect,
    _nccl_none,
    _gloo_name,
    _shared_memory,
    _died_at_import,
)
"""Of several that tell of the same kind, the last one counts: it is the one that knows most."""
