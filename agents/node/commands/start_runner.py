"""Start the runner of an attempt, after a look at what it needs."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ...wire.commands import StartRunner
from ...wire.sealing import CannotOpen
from ...wire.spec import JobSpec, StartMessage
from ..code import code_in_place
from ..devices import Devices, devices_of
from ..interface import why_none
from ..outcome import Done, Evidence, Refused
from ..probes.environments import interpreter_for
from ..probes.python import require_torch
from ..runs import Run
from ..secrets import open_message
from ..spawn import job_environment
from .node import Node

_ATTEMPT = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$")


def carry_out(command: StartRunner, node: Node) -> Done:
    """The same message a second time finds its runner and starts no other."""
    message = command.message
    _require_meant(message, node.name)
    run = node.supervisor.run_for(message)
    if run is None:
        with code_in_place(message, node.config) as settled:
            run = _start(settled, node)
    devices = devices_of(run.bundle)
    return Done(f"The runner runs on {node.name}. {devices.said}".strip(), _evidence(run, devices))


def _start(message: StartMessage, node: Node) -> Run:
    _require_files(message.spec, node.name)
    _require_interface(message, node.name)
    try:
        environ = job_environment(os.environ, open_message(message, node.config.data))
    except CannotOpen as error:
        raise Refused(str(error)) from error
    wanted = interpreter_for(message.spec.python, node.config.python, node.config.environments, node.name)
    python = require_torch(wanted, environ, message.spec.workdir, node.name)
    return node.supervisor.start(message, python)


def _evidence(run: Run, devices: Devices) -> Evidence:
    evidence: Evidence = {}
    if run.ref is not None:
        evidence |= {"pid": run.ref.pid, "start_time": run.ref.start_time}
    message = run.bundle.message()
    if message is not None and message.hosts_store:
        evidence["endpoint"] = message.endpoint
    if devices.gpus:
        evidence["gpus"] = " ".join(devices.gpus)
    return evidence


def _require_meant(message: StartMessage, node: str) -> None:
    if message.version != 1:
        raise Refused(
            f"The start message has version {message.version}, and the node agent on {node} reads version 1. "
            "Bring both to the same release."
        )
    if message.node != node:
        raise Refused(f"The start message is meant for {message.node}, and this is {node}.")
    if not _ATTEMPT.match(message.attempt):
        raise Refused(f"{message.attempt!r} cannot be the name of an attempt.")
    if message.incarnation < 1:
        raise Refused(f"The runner's number in the attempt is {message.incarnation}. Numbers begin with 1.")


def _require_interface(message: StartMessage, node: str) -> None:
    if why := why_none(message.spec.interface, message.spec.env, message.local_addr, node):
        raise Refused(f"{why} Name one that every node has, or leave interface out.")


def _require_files(spec: JobSpec, node: str) -> None:
    if spec.workdir is not None and not Path(spec.workdir).is_dir():
        raise Refused(
            f"The working directory {spec.workdir!r} does not exist on {node}. "
            "Give a folder that exists on every node of the job."
        )
    if spec.script and not Path(spec.workdir or "/", spec.script).is_file():
        raise Refused(
            f"The script {spec.script!r} does not exist on {node}. "
            "Put it there, or give a path that every node of the job can read."
        )
