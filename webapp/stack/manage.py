"""Short-lived ``manage.py`` commands of the stack: run as processes, their output kept in the logs."""

from __future__ import annotations

import subprocess

from .options import ROOT, CannotStart, StackOptions
from .readiness import last_lines
from .secret_files import keep_secret

OPERATOR = "operator"


def start_manage(
    options: StackOptions, environment: dict[str, str], *arguments: str
) -> subprocess.Popen[bytes]:
    """Start ``manage.py`` in a session of its own: Ctrl-C in the terminal is for us to pass on."""
    with options.log_of(arguments[0]).open("ab") as log:
        return subprocess.Popen(
            [options.python, "manage.py", *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def run_manage(options: StackOptions, environment: dict[str, str], *arguments: str) -> None:
    """Run ``manage.py`` to its end.

    Raises:
        CannotStart: it failed; shows the end of what it said.
    """
    code = start_manage(options, environment, *arguments).wait()
    if code != 0:
        log = options.log_of(arguments[0])
        raise CannotStart(
            f"manage.py {arguments[0]} failed with exit status {code} on the data folder {options.data}. "
            f"Its last lines, from {log}:\n{last_lines(log)}"
        )


def prepare(options: StackOptions, environment: dict[str, str]) -> str | None:
    """Bring the database up to date and, on the first run, make an operator with a generated password.

    Gives the password then, later None. The password is written before the account is made, and the mark
    after it: a run that was killed in between makes the account with the same password.

    Raises:
        CannotStart: it failed.
    """
    made = options.data / "operator_made"
    if made.exists():
        run_manage(options, environment, "prepare")
        return None
    file = options.data / "operator_password"
    password = keep_secret(file, size_bytes=12)
    run_manage(options, environment, "prepare", "--operator", OPERATOR, "--password-file", str(file))
    made.touch()
    return password
