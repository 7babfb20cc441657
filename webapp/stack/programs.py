"""The programs of the stack, and the supervisor's configuration that runs them. Pure: text in, text out."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from .options import ROOT, StackOptions
from .valkey import ValkeyServer


@dataclass(frozen=True)
class Program:
    name: str
    command: tuple[str, ...]
    is_node: bool = False
    """A node agent is signalled alone: its runners go on without it, and it settles its other children."""


def hub_programs(options: StackOptions) -> list[Program]:
    python = options.python
    web = (
        *(python, "-m", "webapp.web"),
        *("--host", options.address, "--port", str(options.port)),
    )
    worker = (
        *(python, "-m", "celery", "-A", "webapp.beat:app", "worker", "--pool", "threads"),
        *("--concurrency", "2", "--without-gossip", "--without-mingle", "--loglevel", "INFO"),
    )
    return [
        Program("web", web),
        Program("ingest", (python, "manage.py", "ingest")),
        Program("worker", worker),
    ]


def node_programs(options: StackOptions) -> list[Program]:
    agent = str(Path(options.python).parent / "regroup-agent")
    many = len(options.node_names)
    # Where other machines take part, the nodes here must not tell them to come to 127.0.0.1.
    address = ("--address", options.reached_at) if options.takes_other_machines else ()
    return [
        Program(
            name,
            (
                agent,
                "--name",
                name,
                "--data",
                str(options.data / "nodes" / name),
                "--slots",
                str(options.slots),
                "--gpu-share",
                f"{number}/{many}",
                *address,
            ),
            is_node=True,
        )
        for number, name in enumerate(options.node_names, start=1)
    ]


def _quoted(text: str) -> str:
    """A value of the supervisor's configuration file, where ``%`` opens an expansion."""
    return text.replace("%", "%%")


def _in_data(options: StackOptions, path: Path) -> Path:
    """Relative to the data folder, where the supervisor runs: some of its values are expanded twice."""
    return path.relative_to(options.data)


def _section(options: StackOptions, program: Program, priority: int) -> str:
    """What is killed while it runs comes back at once; what ends within 3 s waits longer each time."""
    return f"""
[program:{program.name}]
command={_quoted(shlex.join(program.command))}
directory={_quoted(str(ROOT))}
priority={priority}
autorestart=true
startsecs=3
startretries=1000000
stopwaitsecs=3
killasgroup={"false" if program.is_node else "true"}
redirect_stderr=true
stdout_logfile={_in_data(options, options.log_of(program.name))}
stdout_logfile_maxbytes=10MB
stdout_logfile_backups=3
"""


def supervisor_config(options: StackOptions, valkey: ValkeyServer | None, socket: Path) -> str:
    """The supervisor's configuration. Valkey starts first and ends last; all the others go together."""
    programs = hub_programs(options) + node_programs(options)
    text = f"""\
[supervisord]
nodaemon=true
silent=true
logfile={_in_data(options, options.log_of("supervisor"))}
logfile_maxbytes=10MB
logfile_backups=3
pidfile={_in_data(options, options.run / "supervisor.pid")}
childlogdir={_in_data(options, options.logs)}
{"user=root" if os.geteuid() == 0 else ""}

[unix_http_server]
file={_quoted(str(socket))}
chmod=0700

[supervisorctl]
serverurl=unix://{_quoted(str(socket))}

[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface

[group:regroup]
programs={",".join(program.name for program in programs)}
priority=2
"""
    if valkey is not None:
        server = Program("valkey", (valkey.binary, str(valkey.config)))
        text += _section(options, server, priority=1)
    return text + "".join(_section(options, program, priority=2) for program in programs)
