"""``regroup logs``: what the workers of a round wrote; with ``-f``, what they and the next ones write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .attendance import Attendance
from .hub import Hub
from .interrupts import Interrupts
from .outputs import STREAMS, Output, Outputs
from .reading import Reading, say_missing, show
from .refusals import ExitCode, Refusal
from .voice import Voice

Json = dict[str, Any]


@dataclass(frozen=True)
class Choice:
    """None: all ranks, the newest attempt and its newest round, both streams, all lines."""

    ranks: frozenset[int] | None = None
    attempt: int | None = None
    round: int | None = None
    stream: str | None = None
    tail: int | None = None

    @property
    def streams(self) -> tuple[str, ...]:
        return STREAMS if self.stream is None else (self.stream,)

    def prefix(self, output: Output) -> str:
        """Lines of several ranks say whose they are."""
        return "" if self.ranks is not None and len(self.ranks) == 1 else f"[{output.rank}]: "


def show_logs(hub: Hub, job_id: int, choice: Choice, voice: Voice) -> ExitCode:
    """All of it once, rank by rank."""
    found = _find(hub, hub.get(f"/jobs/{job_id}"), choice)
    code = ExitCode.OK
    for output in sorted(found.open, key=lambda one: (one.rank, STREAMS.index(one.stream))):
        reading = Reading(output, over_since=0.0, tail=choice.tail)
        _read_all(hub, job_id, reading, choice, voice)
        if missing := say_missing(reading):
            voice.insist(missing)
            code = ExitCode.FAILED if reading.problem else code
    return code


def _read_all(hub: Hub, job_id: int, reading: Reading, choice: Choice, voice: Voice) -> None:
    """Show it page by page, to its end or to the first problem."""
    is_tail = reading.tail is not None
    while True:
        pieces = reading.take(hub.get(f"/jobs/{job_id}/logs", **reading.question()), 0.0, 0.0)
        if pieces:
            show(voice, reading.output, pieces, choice.prefix(reading.output))
        if is_tail or not pieces:
            return


def follow_logs(hub: Hub, job_id: int, choice: Choice, voice: Voice) -> ExitCode:
    """The newest round, and then on until the job is over. Ctrl-C ends the looking, never the job."""
    if choice.attempt is not None or choice.round is not None:
        raise Refusal(
            "-f follows the newest round and those that come. Leave out --attempt and --round, or -f.",
            ExitCode.USAGE,
        )
    job = hub.get(f"/jobs/{job_id}")
    outputs = _newest(job, choice)
    attendance = Attendance(hub, job, outputs, voice, choice.prefix, job["last_event"], choice.tail)
    with Interrupts() as interrupts:
        try:
            attendance.attend(interrupts, lambda _: False)
        except KeyboardInterrupt:
            return ExitCode.INTERRUPTED
        return ExitCode.OK if interrupts.came is None else ExitCode.INTERRUPTED


def _find(hub: Hub, job: Json, choice: Choice) -> Outputs:
    """Raises ``Refusal`` where there was no such attempt, round or rank."""
    is_newest = choice.attempt is None and choice.round is None
    outputs = _newest(job, choice) if is_newest else _earlier(hub, job, choice)
    if not outputs.open:
        raise Refusal(_say_none(job, choice), ExitCode.NOT_FOUND)
    return outputs


def _newest(job: Json, choice: Choice) -> Outputs:
    outputs = Outputs(choice.ranks, choice.streams)
    for worker in job["workers"]:
        outputs.add(job["attempt"], worker["round"], worker["node"], [worker])
    return outputs


def _earlier(hub: Hub, job: Json, choice: Choice) -> Outputs:
    """By the lives of the workers on the nodes that were in that round; some may have left since."""
    outputs, number = Outputs(choice.ranks, choice.streams), choice.attempt or job["attempt"]
    if number is None:
        return outputs
    rounds = hub.get(f"/jobs/{job['id']}/timeline", attempt=number)["rounds"]
    wanted = [one for one in rounds if choice.round in (None, one["number"])][-1:]
    for one in wanted:
        lanes = hub.get(f"/jobs/{job['id']}/timeline/ranks", node=one["nodes"], attempt=number)["items"]
        for lane in lanes:
            if one["number"] in [span["round"] for span in lane["spans"]]:
                worker = {"rank": lane["rank"], "local_rank": 0}
                outputs.add(number, one["number"], lane["node"], [worker])
    return outputs


def _say_none(job: Json, choice: Choice) -> str:
    asked = {"attempt": choice.attempt, "round": choice.round}
    where = "".join(f" in {name} {value}" for name, value in asked.items() if value is not None)
    ranks = "" if choice.ranks is None else f" of rank {', '.join(map(str, sorted(choice.ranks)))}"
    return (
        f"Job {job['id']} {job['name']} has no output{ranks}{where}: it is {job['state']}, "
        f"{'with no round yet' if job['round'] is None else 'in round ' + str(job['round'])}."
    )
