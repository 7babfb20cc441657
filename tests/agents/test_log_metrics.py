"""Progress read from what a script prints, whatever the pattern costs and whatever the lines are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.runner.log_watch import Rank, number
from agents.runner.log_watcher import LogWatcher
from agents.runner.progress import Coalescer, read_report
from agents.wire.log_metrics import LONGEST, MOST, why_not_patterns
from agents.wire.runner_events import RankProgress
from tests.waiting import wait_until

STEPS = r"step (?P<step>[\d,]+)(?: of (?P<total>[\d,]+))?"
LOSS = r"loss[ =](?P<loss>\S+)"
EVIL = r"(?P<evil>(a+)+)b"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        (" 12 ", 12.0),
        ("12,480", 12480.0),
        ("1,234,567.5", 1234567.5),
        ("-3e-4", -3e-4),
        ("1,5", None),
        ("nan", None),
        ("inf", None),
        ("3k", None),
        ("", None),
    ],
)
def test_a_text_is_a_finite_number_or_none(text: str, value: float | None) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    ("patterns", "says"),
    [
        ((), ""),
        ((STEPS, LOSS), ""),
        ((LOSS,), "has a group named step"),
        ((r"step \d+",), "without a named group"),
        ((r"step (?P<step>\d+",), "no regular expression"),
        ((f"(?P<step>{'x' * LONGEST})",), "characters"),
        ((STEPS,) * (MOST + 1), f"at most {MOST}"),
    ],
)
def test_patterns_that_cannot_be_used_are_refused_in_words(patterns: tuple[str, ...], says: str) -> None:
    why = why_not_patterns(patterns)
    assert says in why
    assert bool(why) == bool(says)


def test_what_is_no_step_is_no_progress() -> None:
    rank = Rank("/nowhere")
    assert rank.take({"step": -1.0, "total": 2.5, "loss": 1.0})
    assert (rank.step, rank.total, rank.metrics) == (None, None, {"loss": 1.0})


def test_what_a_script_reports_counts_before_what_is_read_from_its_output() -> None:
    coalescer = Coalescer()
    coalescer.add(RankProgress(rank=0, step=5, total=9, metrics={"loss": 2.0, "lr": 0.1}), is_from_log=True)
    coalescer.add(RankProgress(rank=0, step=6, metrics={"loss": 1.0}))
    coalescer.add(RankProgress(rank=0, step=5, total=9, metrics={"loss": 3.0, "lr": 0.2}), is_from_log=True)
    assert coalescer.take(10.0) == (RankProgress(rank=0, step=6, total=9, metrics={"loss": 1.0, "lr": 0.2}),)


class Output:
    """What one rank writes, and what is read from it by a process of its own."""

    def __init__(self, folder: Path, *patterns: str) -> None:
        self.folder = folder / "rank-0"
        self.folder.mkdir()
        self.watcher = LogWatcher(patterns)

    def write(self, data: bytes, stream: str = "stdout") -> Output:
        with (self.folder / f"{stream}.log").open("ab") as file:
            file.write(data)
        return self

    def reports(self) -> list[RankProgress]:
        path = self.folder / "report.jsonl"
        lines = path.read_bytes().splitlines() if path.exists() else []
        told = [read_report(line, 0) for line in lines]
        return [one.report for one in told if one is not None and isinstance(one.report, RankProgress)]

    def wait_for(self, **fields: object) -> RankProgress:
        """The newest report, once it has these."""

        def found() -> RankProgress | None:
            newest = self.reports()[-1] if self.reports() else None
            return (
                newest
                if all(getattr(newest, name, None) == value for name, value in fields.items())
                else None
            )

        return wait_until(found, 20, f"a report with {fields}; the newest are {self.reports()[-3:]}")


@pytest.fixture
def outputs() -> Iterator[list[Output]]:
    made: list[Output] = []
    yield made
    for output in made:
        process = output.watcher._process
        if process is not None:
            process.kill()
            process.wait(10)


def begin(outputs: list[Output], folder: Path, *patterns: str) -> Output:
    output = Output(folder, *patterns)
    outputs.append(output)
    output.watcher.watch({0: output.folder})
    return output


def test_lines_of_both_streams_become_reports_with_the_newest_of_each(
    outputs: list[Output], tmp_path: Path
) -> None:
    output = begin(outputs, tmp_path, STEPS, LOSS)
    output.write(b"hello\nloss=9.5\n").write(b"\x1b[32mstep 1,200 of 50,000\x1b[0m | loss 1.25\n", "stderr")
    newest = output.wait_for(step=1200, total=50000)
    assert newest.metrics["loss"] in (1.25, 9.5)
    # A progress bar ends its lines with a carriage return; a line without an end may still grow.
    output.write(b"\rstep 1,201 loss=nan\rstep 1,202 loss=0.5\rstep 1,203")
    assert output.wait_for(step=1202).metrics == {"loss": 0.5}
    output.watcher.catch_up()
    assert output.reports()[-1].step == 1202


def test_catching_up_waits_for_the_last_line(outputs: list[Output], tmp_path: Path) -> None:
    output = begin(outputs, tmp_path, STEPS)
    output.write(b"step 1\n").wait_for(step=1)
    for step in range(2, 12):
        output.write(b"step %d\n" % step)
        output.watcher.catch_up()
        assert output.reports()[-1].step == step


def test_a_pattern_that_takes_for_ever_is_given_up_and_the_others_go_on(
    outputs: list[Output], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    output = begin(outputs, tmp_path, EVIL, STEPS)
    for step in range(6):
        output.write(b"a" * 1500 + b"\nstep %d\n" % step)
    output.wait_for(step=5)
    assert "takes too long, and is not looked for any more" in capfd.readouterr().err


def test_bad_bytes_and_endless_lines_harm_nothing(outputs: list[Output], tmp_path: Path) -> None:
    output = begin(outputs, tmp_path, STEPS)
    output.write(bytes(range(256)) * 100).write(b"x" * 3_000_000).write(b"\nstep 7\n")
    output.wait_for(step=7)


def test_one_that_dies_is_begun_anew_and_reads_on(
    outputs: list[Output], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.runner.log_watcher.AGAIN_S", 0.0)
    output = begin(outputs, tmp_path, STEPS)
    output.write(b"step 1\n").wait_for(step=1)
    first = output.watcher._process
    assert first is not None
    first.kill()
    first.wait(10)
    output.write(b"step 2\n")
    output.watcher.keep()
    output.wait_for(step=2)


def test_it_ends_with_whoever_began_it(outputs: list[Output], tmp_path: Path) -> None:
    output = begin(outputs, tmp_path, STEPS)
    process = output.watcher._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(10) == 0


def test_the_next_round_is_read_from_its_beginning(outputs: list[Output], tmp_path: Path) -> None:
    output = begin(outputs, tmp_path, STEPS)
    output.write(b"step 40\n").wait_for(step=40)
    output.folder = tmp_path / "round-2"
    output.folder.mkdir()
    output.write(b"step 30\n")
    output.watcher.watch({0: output.folder})
    assert output.wait_for(step=30).total is None
    text = (output.folder / "report.jsonl").read_text()
    assert json.loads(text)["at"] > 0
    assert (output.folder / "report.jsonl").stat().st_mode & 0o777 == 0o600
