"""What changes something: kill, scale, drain, stop. Each says what it asked for, and then what came of it."""

from __future__ import annotations

from typing import Any

from .hub import Hub
from .refusals import ExitCode, Refusal
from .voice import Voice
from .waiting import ask_first, wait_for
from .watching import is_over, say_progress, say_ranks

Json = dict[str, Any]

KILL_S = 60.0
"""A kill has a deadline of its own, which the hub keeps; this is for a hub that does not come back."""

_ENDS = {"done": ExitCode.OK, "refused": ExitCode.REFUSED}


def kill(hub: Hub, job_id: int, rank: int, signal: str, reason: str, is_sure: bool, voice: Voice) -> ExitCode:
    """Signal exactly the worker that runs as that rank now; a later one is never hit."""
    job = hub.get(f"/jobs/{job_id}")
    worker = next((one for one in job["workers"] if one["rank"] == rank), None)
    if worker is None:
        raise Refusal(
            f"Job {job_id} {job['name']} is {job['state']} and has no rank {rank}.", ExitCode.NOT_FOUND
        )
    who = f"rank {rank} of job {job_id} {job['name']} (pid {worker['pid']} on {worker['node']})"
    ask_first(f"Send {signal} to {who}?", is_sure)
    seen = {"round": worker["round"], "pid": worker["pid"], "attempt": job["attempt_id"]}
    body = {"kind": "kill_worker", "rank": rank, "signal": signal, "reason": reason, "if": seen}
    command = hub.post(f"/jobs/{job_id}/faults", body)
    voice.show(f"{signal} for {who} is on its way")

    def look() -> Json | None:
        found = hub.get(f"/commands/{command['id']}")
        return found if found["is_final"] else None

    return _end_command(wait_for(look, voice, KILL_S, f"word of {who}"), voice)


def _end_command(command: Json, voice: Voice) -> ExitCode:
    if voice.as_json:
        voice.document(command)
    code: ExitCode = _ENDS.get(command["state"], ExitCode.FAILED)
    said = command["reason"] or f"The command is {command['state']}."
    if code is ExitCode.OK:
        answer(voice, said)
    else:
        voice.insist(said)
    return code


def answer(voice: Voice, sentence: str) -> None:
    """What a command found out, for people; with ``--json`` the document has it."""
    if not voice.as_json:
        voice.output("stdout", [f"{sentence}\n"])


def scale(hub: Hub, job_id: int, nodes: int, reason: str, timeout_s: float, voice: Voice) -> ExitCode:
    """Done when a round of so many nodes is formed. A timeout of 0: when it is asked for."""
    job = hub.post(f"/jobs/{job_id}/scale", {"nodes": nodes, "reason": reason})
    name = f"job {job_id} {job['name']}"
    if timeout_s:
        voice.say(f"{name} shall have {_nodes(nodes)}; it has {job['nodes']['formed']}")
        job = wait_for(
            lambda: _formed(hub, job_id, nodes, voice), voice, timeout_s, f"{name} on {_nodes(nodes)}"
        )
    if voice.as_json:
        voice.document(job)
    if is_over(job):
        raise Refusal(f"{name} has ended meanwhile: {job['headline']['sentence']}")
    has = "runs on" if timeout_s else "shall have"
    answer(voice, f"Job {job_id} {job['name']} {has} {_nodes(nodes)}. {job['headline']['sentence']}")
    return ExitCode.OK


def _formed(hub: Hub, job_id: int, nodes: int, voice: Voice) -> Json | None:
    job = hub.get(f"/jobs/{job_id}")
    voice.show(say_progress(job))
    return job if job["nodes"]["formed"] == nodes or is_over(job) else None


def _nodes(number: int) -> str:
    return f"{number} node{'s' if number != 1 else ''}"


def stop(
    hub: Hub, job_id: int, reason: str, force: bool, is_sure: bool, timeout_s: float, voice: Voice
) -> ExitCode:
    """Done when nothing of it runs any more. A timeout of 0: when it is asked for."""
    job = hub.get(f"/jobs/{job_id}")
    how = "kill" if force else "stop"
    ask_first(f"{how.capitalize()} job {job_id} {job['name']} with {say_ranks(job)}?", is_sure)
    job = hub.post(f"/jobs/{job_id}/stop", {"reason": reason, "force": force})
    if timeout_s:
        name = f"the end of job {job_id} {job['name']}"
        job = wait_for(lambda: _over(hub, job_id, voice), voice, timeout_s, name)
    if voice.as_json:
        voice.document(job)
    answer(voice, f"Job {job_id} {job['name']} is {job['state']}. {job['headline']['sentence']}")
    return ExitCode.OK


def _over(hub: Hub, job_id: int, voice: Voice) -> Json | None:
    job = hub.get(f"/jobs/{job_id}")
    voice.show(say_progress(job))
    return job if is_over(job) else None


def drain(hub: Hub, name: str, reason: str, is_sure: bool, timeout_s: float, voice: Voice) -> ExitCode:
    """Done when nothing of any job is left on the node. A timeout of 0: when it is asked for."""
    forecast = hub.get(f"/nodes/{name}/drain")
    voice.say(forecast["says"])
    ask_first(f"Drain {name}?", is_sure)
    node = hub.post(f"/nodes/{name}/drain", {"reason": reason})
    if timeout_s:
        node = wait_for(lambda: _drained(hub, name, voice), voice, timeout_s, f"{name} to be empty")
    return _answer_node(node, "is drained" if node["is_drained"] else "is being drained", voice)


def undrain(hub: Hub, name: str, voice: Voice) -> ExitCode:
    return _answer_node(hub.post(f"/nodes/{name}/undrain", {}), "gets jobs again", voice)


def _answer_node(node: Json, what: str, voice: Voice) -> ExitCode:
    if voice.as_json:
        voice.document(node)
    answer(voice, f"{node['name']} {what}. {node['takes_no_jobs']}".strip())
    return ExitCode.OK


def _drained(hub: Hub, name: str, voice: Voice) -> Json | None:
    node = find_node(hub, name)
    voice.show(node["takes_no_jobs"])
    return node if node["is_drained"] else None


def find_node(hub: Hub, name: str) -> Json:
    found = next((node for node in all_nodes(hub) if node["name"] == name), None)
    if found is None:
        raise Refusal(f"There is no node {name}.", ExitCode.NOT_FOUND)
    return found


def all_nodes(hub: Hub) -> list[Json]:
    """Page by page."""
    nodes: list[Json] = []
    cursor: str | None = None
    while True:
        page = hub.get("/nodes", cursor=cursor, limit=500)
        nodes += page["items"]
        cursor = page["next"]
        if cursor is None:
            return nodes
