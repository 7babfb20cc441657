"""One plain sentence for each kind of record. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Body = dict[str, Any]
FEW = 8
"""So many ranks are named one by one."""


def says(kind: str, body: Body) -> str:
    """The record in words. A kind without words of its own is named by its kind."""
    make = _SENTENCES.get(kind)
    if make is None:
        return f"A record of kind {kind}."
    try:
        return make(body)
    except (KeyError, TypeError, IndexError):
        return f"A record of kind {kind}, of which fields are missing."


def _and(items: Any) -> str:
    words = [str(item) for item in items]
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words)


def _of_ranks(ranks: Sequence[int]) -> str:
    """``rank 3``, ``ranks 0 and 1``, ``64 ranks (0, 1, 2 …)``."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if len(ranks) <= FEW:
        return f"ranks {_and(ranks)}"
    return f"{len(ranks)} ranks ({', '.join(str(rank) for rank in ranks[:3])} …)"


def _runner_started(b: Body) -> str:
    host = " The store is kept on its node." if b["hosts_store"] else ""
    return f"The runner on {b['node']} started as pid {b['pid']} with torch {b['torch_version']}.{host}"


def _begun(b: Body) -> str:
    because = {
        "start": "for the first round",
        "failure": "after a failure",
        "membership": "because membership changes",
    }
    without = gone_gpus(b.get("gone_gpus", ()))
    return f"{b['node']} sets out to join, {because.get(b['cause'], 'for a new round')}{without}."


def gone_gpus(uuids: Sequence[str]) -> str:
    """That so many workers are fewer for it; empty where none is gone."""
    are = "is" if len(uuids) == 1 else "are"
    return f", with fewer workers, as {_and(uuids)} {are} gone" if uuids else ""


def _joined(b: Body) -> str:
    missing = [node for node in b["expected"] if node not in b["joined"]]
    waits = f"; {_and(missing)} still to come" if missing else ""
    return (
        f"{b['node']} is in the rendezvous: {len(b['joined'])} of {len(b['expected'])} nodes joined{waits}."
    )


def _completed(b: Body) -> str:
    charged = f" It is charged to {b['charged']}." if b.get("charged") else ""
    without = "".join(f" Without {node}: {why}." for node, why in b.get("absent", {}).items())
    formed = f"Round {b['round']} formed: world size {b['world_size']} on {_and(b['nodes'])}."
    return f"{formed}{without}{charged}"


def _starting(b: Body) -> str:
    return f"{b['node']} starts {_of_ranks(b['ranks'])} of round {b['round']}."


def _started(b: Body) -> str:
    pids = _and(f"rank {w['rank']} as pid {w['pid']}" for w in b["workers"])
    return f"{b['node']} started {pids}."


def _exited(b: Body) -> str:
    said = str(b["said"]).rstrip(".")
    was = "was " if said.startswith(("killed", "stopped")) else ""
    return f"Rank {b['worker']['rank']} on {b['node']} (pid {b['worker']['pid']}) {was}{said}."


def _restart(b: Body) -> str:
    if b["cause"] == "failure":
        failed = _of_ranks(b["failed_ranks"]) if b["failed_ranks"] else "a worker"
        return f"{b['node']} leaves round {b['round']}: {failed} ended badly."
    return f"{b['node']} leaves round {b['round']} because membership changes."


def _progress(b: Body) -> str:
    steps = [report["step"] for report in b["ranks"]]
    return f"{b['node']}: step {min(steps):,}."


def _activity(b: Body) -> str:
    return f"{b['node']}: workers last wrote at {b['last_output_at']}."


def _torch_metrics(b: Body) -> str:
    count = sum(each["count"] for each in b["metrics"])
    return f"{b['node']}: torch's elastic agent told {count:,} values of {len(b['metrics'])} metrics."


def _checkpoint(b: Body) -> str:
    return f"Rank {b['rank']} saved a checkpoint of step {b['step']:,}: {b['path']}."


def _resumed(b: Body) -> str:
    return f"Rank {b['rank']} resumed from step {b['step']:,}: {b['path']}."


_MILESTONES = {
    "group_begun": ("called init_process_group", "called init_process_group"),
    "group_up": ("has a process group", "have a process group"),
    "checkpoint_loaded": ("goes on from a checkpoint", "go on from a checkpoint"),
    "first_step": ("has done a step", "have done a step"),
    "pace_regained": ("is as fast as before the restart", "are as fast as before the restart"),
}
"""Of one rank, and of several."""


def _reached(b: Body) -> str:
    by_what: dict[str, list[int]] = {}
    for each in b["reached"]:
        by_what.setdefault(each["what"], []).append(each["rank"])
    told = (f"{_of_ranks(ranks)} {_did(what, len(ranks))}" for what, ranks in by_what.items())
    return f"{b['node']}: {'; '.join(told)}."


def _did(what: str, ranks: int) -> str:
    return _MILESTONES.get(what, (what, what))[ranks > 1]


def _finished(b: Body) -> str:
    by_whom = " (written by the node agent)" if b.get("inferred") else ""
    reason = str(b["reason"]).rstrip(".")
    return (
        f"The runner on {b['node']} {b['outcome']}: {reason}.{by_whom}"
        if reason
        else f"The runner {b['outcome']}."
    )


def _keeper_finished(b: Body) -> str:
    by_whom = " (written by the node agent)" if b.get("inferred") else ""
    reason = str(b["reason"]).rstrip(".")
    return f"The store keeper on {b['node']} {_KEEPER[b['outcome']]}: {reason}.{by_whom}"


_KEEPER = {"ended": "ended", "stopped": "was stopped", "failed": "failed", "unknown": "ended"}


def _command_ended(b: Body) -> str:
    reason = str(b["reason"]).rstrip(".")
    return f"{b['node']}: command {b['outcome']}{f': {reason}' if reason else ''}."


def _settled(b: Body) -> str:
    ended = f" {len(b['ended_pids'])} left-over processes were ended." if b.get("ended_pids") else ""
    stuck = f" Pids {_and(b['unkillable_pids'])} cannot be killed." if b.get("unkillable_pids") else ""
    return f"Nothing of attempt {b['attempt']} is left on {b['node']}.{ended}{stuck}"


def _evidence_kept(b: Body) -> str:
    stacks = f", with stacks of {_of_ranks(b['stacks'])}" if b["stacks"] else ""
    dropped = f" What it had of round {_and(b['dropped'])} made room for it." if b["dropped"] else ""
    return f"{b['node']} keeps evidence of round {b['round']}{stacks}.{dropped}"


def _hook_ended(b: Body) -> str:
    which = f"Command {b['index'] + 1} of {b['hook']} for round {b['round']}"
    return f"{which} {str(b['said']).rstrip('.')} on {b['node']}, after {b['took_s']:.1f} s."


def _scale_asked(b: Body) -> str:
    nodes = "1 node" if b["nodes"] == 1 else f"{b['nodes']} nodes"
    return f"{b['by']} asked for {nodes} instead of {b['before']}{_because(b)}."


def _drain_asked(b: Body) -> str:
    return f"{b['by']} drains {b['node']}{_because(b)}. {b['forecast']}"


def _because(b: Body) -> str:
    reason = str(b.get("reason", "")).strip().rstrip(".")
    return f": {reason}" if reason else ""


_SENTENCES: dict[str, Callable[[Body], str]] = {
    "runner_started": _runner_started,
    "rendezvous_begun": _begun,
    "rendezvous_joined": _joined,
    "rendezvous_completed": _completed,
    "workers_starting": _starting,
    "workers_started": _started,
    "worker_exited": _exited,
    "restart_begun": _restart,
    "progress": _progress,
    "torch_metrics": _torch_metrics,
    "activity": _activity,
    "checkpoint_begun": lambda b: f"Rank {b['rank']} begins to save the checkpoint of step {b['step']}.",
    "checkpoint_saved": _checkpoint,
    "resumed": _resumed,
    "workers_reached": _reached,
    "workers_finished": lambda b: f"All workers of {b['node']} ended with 0; it waits for the others.",
    "runner_finished": _finished,
    "keeper_started": lambda b: (
        f"The store keeper on {b['node']} started as pid {b['pid']}; the store is at {b['endpoint']}."
    ),
    "keeper_finished": _keeper_finished,
    "node_started": lambda b: f"The node agent on {b['node']} started as pid {b['pid']}.",
    "node_stopping": lambda b: f"The node agent on {b['node']} ends ({b['reason']}); its runners go on.",
    "command_received": lambda b: f"{b['node']} has received a command.",
    "command_ended": _command_ended,
    "fault_begun": lambda b: str(b["says"]),
    "runner_adopted": lambda b: (
        f"The node agent on {b['node']} adopted the runner of {b['attempt']} (pid {b['pid']})."
    ),
    "runner_settled": _settled,
    "evidence_kept": _evidence_kept,
    "hook_ended": _hook_ended,
    "scale_asked": _scale_asked,
    "drain_asked": _drain_asked,
    "set_aside": lambda b: f"A record of {b['node']} could not be used and was set aside: {b['why']}",
    "journal_repaired": lambda b: (
        f"The journal {b['repaired']} was repaired: {b['cut_bytes']} bytes were cut."
    ),
}
