"""The life of the local stack: brought up, watched, and ended with nothing left behind."""

from __future__ import annotations

import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import leftovers, manage, other_machines
from .checks import require_built, require_free_port, require_redis_password
from .environment import stack_environment
from .options import ROOT, CannotStart, StackOptions
from .readiness import find_missing, last_lines
from .stop_signals import StopSignals
from .supervision import Supervisor
from .valkey import configure

START_TIMEOUT_S = 60.0
SUPERVISOR_MIN_LIFE_S = 5.0
"""A supervisor that was started again and ends sooner than that is given up."""
JOBS_TIMEOUT_S = 9
"""What the nodes have to end the training jobs."""
JOBS_BUDGET_S = 11.0
"""The same with the start of the command that asks for it."""
PROGRAMS_BUDGET_S = 14.0
"""By then all programs have ended by themselves; all these are counted from the request to stop."""


def say(text: str) -> None:
    """A line for the terminal. A terminal that is gone is no reason to stop in the middle."""
    with suppress(OSError):
        print(text, flush=True)  # noqa: T201 - this is the output of the command


@dataclass(frozen=True)
class LocalStack:
    """All parts of one run, configured but not yet started."""

    options: StackOptions
    signals: StopSignals
    supervisor: Supervisor
    environment: dict[str, str]
    redis_url: str
    mark: str

    def run(self, password: str | None) -> int:
        """Start everything, wait for a request to stop, end everything. Gives the exit status.

        Raises:
            CannotStart: the supervisor does not run here; nothing has been left running.
        """
        try:
            self.supervisor.start()
            if self._wait_until_up():
                self._report(password)
            self._watch()
        finally:
            clean = self._end()
        return 0 if clean else 1

    def _wait_until_up(self) -> bool:
        """Wait for all parts, or for a request to stop. Says what is missing when it takes long."""
        say(f"Starting Regroup with {self.options.nodes} nodes of {self.options.slots} slots …")
        deadline = time.monotonic() + START_TIMEOUT_S
        while missing := find_missing(self.options, self.supervisor, self.redis_url):
            if self.signals.wait(0.2):
                return False
            if self.supervisor.has_ended():
                raise self._without_supervisor()
            if time.monotonic() > deadline:
                self._say_missing(missing)
                deadline += START_TIMEOUT_S
        return True

    def _say_missing(self, missing: dict[str, str]) -> None:
        for name, reason in missing.items():
            log = self.options.log_of(name)
            say(f"{name} has not come up: {reason}. Its last lines, from {log}:\n{last_lines(log)}")
        say("Waiting on; Ctrl-C ends Regroup.")

    def _without_supervisor(self) -> CannotStart:
        log = self.options.log_of("supervisor-output")
        return CannotStart(
            f"The supervisor ended right after its start. Its last lines, from {log}:\n{last_lines(log)}"
        )

    def _report(self, password: str | None) -> None:
        file = self.options.data / "operator_password"
        say(f"\nRegroup runs at {self.options.url}")
        if password:
            say(f"Log in as {manage.OPERATOR} with the password {password} (kept in {file}).")
        else:
            say(f"Log in as {manage.OPERATOR}; the password of the first run is in {file}.")
        for line in other_machines.how_to_join(self.options):
            say(line)
        say(f"Logs are in {self.options.logs}. Ctrl-C stops all jobs and ends Regroup.")

    def _watch(self) -> None:
        """Wait for a request to stop. The supervisor restarts what dies; we restart the supervisor."""
        started = 0.0
        while not self.signals.wait(1.0):
            if not self.supervisor.has_ended():
                continue
            if time.monotonic() - started < SUPERVISOR_MIN_LIFE_S:
                raise self._without_supervisor()
            say("The supervisor has ended unexpectedly; ending its programs and starting it again.")
            leftovers.end_services(self.mark)
            self.supervisor.start()
            started = time.monotonic()

    def _end(self) -> bool:
        """The ladder: stop the jobs, end the programs, kill what is left. Whether nothing had to be killed.

        A further Ctrl-C cuts the present rung short.
        """
        begun = time.monotonic()
        say("\nStopping the jobs …")
        self._stop_jobs(begun + JOBS_BUDGET_S)
        say("Ending Regroup …")
        self._end_programs(begun + PROGRAMS_BUDGET_S)
        killed = leftovers.kill_all(self.mark)
        self.supervisor.tidy()
        if killed:
            say("Had to kill what did not end by itself: " + ", ".join(killed))
        say(f"Ended after {time.monotonic() - begun:.1f} s; no process is left.")
        return not killed

    def _stop_jobs(self, deadline: float) -> None:
        """Ask the hub to stop all jobs, and wait for the evidence and for the store keepers to follow."""
        if self.supervisor.has_ended():
            return
        seen = self.signals.count
        command = manage.start_manage(
            self.options,
            self.environment,
            *("stop_jobs", "--reason", "make run was ended", "--timeout", str(JOBS_TIMEOUT_S)),
        )
        while command.poll() is None and time.monotonic() < deadline:
            if self.signals.wait(0.1, seen):
                break
        self._report_jobs(command, self.options.log_of("stop_jobs"))
        while leftovers.find_keepers(self.mark) and time.monotonic() < deadline:
            if self.signals.wait(0.1, seen):
                break

    def _report_jobs(self, command: subprocess.Popen[bytes], log: Path) -> None:
        if command.poll() is None:
            command.kill()
            command.wait()
            say("The jobs did not stop in time; their processes will be killed.")
        elif command.returncode != 0:
            say(f"Not all jobs could be stopped. The last lines, from {log}:\n{last_lines(log, 3)}")

    def _end_programs(self, deadline: float) -> None:
        seen = self.signals.count
        self.supervisor.ask_to_end()
        while not self.supervisor.has_ended() and time.monotonic() < deadline:
            if self.signals.wait(0.05, seen):
                break
        self.supervisor.kill()


def _end_leftovers(mark: str) -> None:
    ended = leftovers.end_services(mark)
    if ended:
        say(f"Ended {len(ended)} processes that an earlier run on this data folder had left behind.")
    running = leftovers.find_runners(mark)
    if running:
        pids = ", ".join(str(process.pid) for process in running)
        say(
            f"Training goes on in {len(running)} runners of an earlier run (pid {pids}); "
            "the nodes take them over."
        )


def run_stack(options: StackOptions) -> int:
    """Run Regroup on this machine until it is asked to stop. Gives the exit status.

    The data folder must be prepared and held by this process.

    Raises:
        CannotStart: what is needed is missing; nothing has been left running.
    """
    signals = StopSignals()
    mark = leftovers.mark_of(options.data)
    _end_leftovers(mark)
    require_built(ROOT)
    require_free_port(options.address, options.port)
    require_redis_password(options)
    valkey = None if options.redis_url else configure(options)
    redis_url = valkey.url if valkey else str(options.redis_url)
    other_machines.write_url(options, valkey)
    environment = stack_environment(options, redis_url)
    password = manage.prepare(options, environment)
    supervisor = Supervisor(options, valkey, environment)
    return LocalStack(options, signals, supervisor, environment, redis_url, mark).run(password)
