"""From the words after ``regroup run`` to a job at the hub."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .hub import Hub
from .line import variables_for
from .refusals import ExitCode, Refusal, Unreachable
from .uploading import script_in, upload

Json = dict[str, Any]


@dataclass(frozen=True)
class Wishes:
    """What is asked for beside torchrun's words."""

    name: str = ""
    env: Sequence[str] = ()
    python: str | None = None
    workdir: Path | None = None
    fields: Sequence[str] = ()
    """``FIELD=VALUE`` for what torchrun has no flag for."""
    upload: Path | None = None
    """A script, a zip or a folder, which goes along as the job's code."""


def launch(hub: Hub, words: Sequence[str], wishes: Wishes, say: Callable[[str], None]) -> Json:
    """Create the job. Raises ``Refusal`` when the words make none."""
    workdir = (wishes.workdir or Path.cwd()).absolute()
    spec = _read(hub, workdir, words, say)
    body = job_of(spec, workdir, wishes, os.environ)
    if wishes.upload is not None:
        code = upload(hub, wishes.upload, say)
        script = script_in(code, wishes.upload, spec.get("script"))
        body |= {"code": code["digest"], "script": script, "workdir": _named(wishes.workdir)}
    try:
        return hub.post("/jobs", body)
    except Unreachable as error:
        raise Unreachable(
            f"{error} Whether the job was created is not known: look with regroup ls --mine."
        ) from error


def _read(hub: Hub, workdir: Path, words: Sequence[str], say: Callable[[str], None]) -> Json:
    """The hub reads the line, as it does what is pasted into the page."""
    command = " ".join([*_defaults(os.environ), shlex.join(["torchrun", *words])])
    try:
        answer = hub.post("/torchrun/parse", {"command": command, "workdir": str(workdir)})
    except Refusal as error:
        if error.code is not ExitCode.NOT_FOUND:
            raise
        raise Refusal(
            f"The hub at {hub.url} cannot read torchrun's command lines; it is older than this regroup. "
            "Update it, or launch from its page.",
            error.code,
        ) from error
    for note in answer["stripped"]:
        say(f"{note['flag']}: {note['message']}")
    if answer["problems"]:
        raise Refusal("\n".join(say_problem(command, one) for one in answer["problems"]), ExitCode.USAGE)
    spec: Json = answer["spec"]
    return {**spec, "name": answer["name"]} if answer.get("name") else spec


def _defaults(environment: Mapping[str, str]) -> list[str]:
    """torchrun's own way to give its flags other defaults."""
    return [f"{name}={shlex.quote(value)}" for name, value in environment.items() if name.startswith("PET_")]


def say_problem(command: str, problem: Mapping[str, Any]) -> str:
    """The sentence, and below it the place in the line that it is about."""
    position = problem.get("position")
    if position is None:
        return str(problem["message"])
    begin = max(0, position - 40)
    place = command[begin : begin + 76]
    return f"{problem['message']}\n  {place}\n  {' ' * (position - begin)}^"


def job_of(spec: Json, workdir: Path, wishes: Wishes, environment: Mapping[str, str]) -> Json:
    """The body of the launch. Raises ``Refusal`` for a wish that cannot be read."""
    fields = dict(_field(text) for text in wishes.fields)
    job = {**spec, "workdir": str(workdir), "script": _absolute(spec, workdir)}
    if fields.get("code"):
        # It lies in what was uploaded before, and not in this shell's folder.
        job |= {"workdir": _named(wishes.workdir), "script": spec.get("script")}
    job["env"] = {**_variables(wishes.env, environment), **spec.get("env", {})}
    if wishes.name:
        job["name"] = wishes.name
    if wishes.python:
        job["python"] = wishes.python
    return {**job, **fields}


def _named(workdir: Path | None) -> str | None:
    """Of code that was uploaded the folder is its own, unless another one is asked for."""
    return str(workdir.absolute()) if workdir else None


def _absolute(spec: Json, workdir: Path) -> str | None:
    """The nodes have no idea of this shell's folder. A bare program is looked for in PATH instead."""
    script: str | None = spec.get("script")
    if not script or (spec.get("no_python") and "/" not in script):
        return script
    return os.path.normpath(workdir / script)


def _variables(asked: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    try:
        return variables_for(asked, environment)
    except KeyError as error:
        raise Refusal(
            f"--env {error.args[0]} hands on a variable that is not set here. Set it, or write its =VALUE.",
            ExitCode.USAGE,
        ) from error


def _field(text: str) -> tuple[str, Any]:
    name, is_given, value = text.partition("=")
    if not is_given or not name:
        raise Refusal(f"--set {text!r} sets nothing. Write FIELD=VALUE, such as spares=1.", ExitCode.USAGE)
    try:
        return name.replace("-", "_"), json.loads(value)
    except ValueError:
        return name.replace("-", "_"), value
