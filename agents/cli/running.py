"""``regroup run`` once the job is created: it is followed to its end, and the command ends like torchrun."""

from __future__ import annotations

import signal
import sys
from typing import Any

from .attendance import Attendance, Prefix
from .console import Console, console_of
from .hub import Hub
from .interrupts import Interrupts
from .outputs import Outputs
from .refusals import ExitCode, Refusal, Unreachable
from .voice import Voice
from .watching import is_over, say_ranks

Json = dict[str, Any]


def prefix_of(console: Console) -> Prefix:
    """As torchrun would put it."""
    return lambda output: console.prefix(output.stream, output.rank, output.local_rank)


def run(hub: Hub, job: Json, ranks: frozenset[int] | None, voice: Voice) -> ExitCode:
    """Follow a job that was just created, and end as it does."""
    url = hub.page_of(job["id"])
    voice.say(f"job {job['id']} {job['name']} is launched; see {url}")
    if voice.as_json:
        voice.document({"kind": "job", "id": job["id"], "name": job["name"], "url": url})
    attendance = Attendance(hub, job, Outputs(ranks), voice, prefix_of(console_of(job["spec"])))
    asked = Asked(hub, voice)
    with Interrupts() as interrupts:
        try:
            ended = attendance.attend(interrupts, lambda now: asked.decide(now.job, interrupts))
        except KeyboardInterrupt:
            voice.insist(f"No longer waiting. {asked.say_left(job['id'])}")
            return ExitCode.INTERRUPTED
        except Refusal:
            voice.insist(asked.say_left(job["id"]))
            raise
    if not is_over(ended):
        voice.insist(asked.say_left(job["id"]))
        return ExitCode.INTERRUPTED
    return _end(ended, voice, asked.was_stopped)


def _end(job: Json, voice: Voice, was_stopped: bool) -> ExitCode:
    code = ExitCode.OK if job["state"] == "succeeded" else ExitCode.FAILED
    code = ExitCode.INTERRUPTED if was_stopped and job["state"] == "stopped" else code
    if voice.as_json:
        voice.document(
            {"kind": "end", "state": job["state"], "says": job["state_reason"], "exit_code": int(code)}
        )
    return code


class Asked:
    """What becomes of the job at Ctrl-C: on a terminal the person is asked, else it is stopped."""

    def __init__(self, hub: Hub, voice: Voice) -> None:
        self._hub, self._voice = hub, voice
        self.was_stopped = False

    def decide(self, job: Json, interrupts: Interrupts) -> bool:
        """Whether to go on following. ``KeyboardInterrupt`` in here leaves the job as it is."""
        if self.was_stopped:
            return False
        answer = self._ask(job) if interrupts.came is signal.SIGINT and sys.stdin.isatty() else "s"
        if answer == "s":
            self._stop(job, "Ctrl-C" if interrupts.came is signal.SIGINT else "SIGTERM")
        interrupts.forget()
        return answer != "l"

    def _ask(self, job: Json) -> str:
        self._voice.hide()
        sys.stderr.write(
            f"\nStop job {job['id']} {job['name']} ({say_ranks(job)}), leave it running, or "
            "follow on? [s]top, [l]eave, [f]ollow (Ctrl-C leaves it running): "
        )
        sys.stderr.flush()
        while (answer := sys.stdin.readline()[:1].lower()) not in ("s", "l", "f", ""):
            sys.stderr.write("Type s, l or f: ")
            sys.stderr.flush()
        return answer or "l"

    def _stop(self, job: Json, why: str) -> None:
        try:
            self._hub.post(f"/jobs/{job['id']}/stop", {"reason": f"{why} in regroup run"})
        except Unreachable as error:
            raise Unreachable(f"Job {job['id']} could not be stopped. {error}") from error
        except Refusal as refusal:
            # It has just ended by itself, or this token may not stop it.
            self._voice.insist(str(refusal))
            return
        self.was_stopped = True
        self._voice.insist(f"job {job['id']} is being stopped; another Ctrl-C waits no longer.")

    def say_left(self, job: int) -> str:
        if self.was_stopped:
            return f"Job {job} is being stopped, which goes on by itself: regroup show {job}"
        return f"Job {job} goes on: regroup logs -f {job} follows it again, regroup stop {job} stops it."


def print_launched(hub: Hub, job: Json, voice: Voice) -> None:
    """For ``--detach``: the id alone, so that a script can go on with it."""
    if voice.as_json:
        voice.document({"id": job["id"], "name": job["name"], "url": hub.page_of(job["id"])})
        return
    voice.say(f"job {job['id']} {job['name']} is launched; see {hub.page_of(job['id'])}")
    voice.output("stdout", [f"{job['id']}\n"])
