"""The bundle: whoever finds the folder can go on from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agents.bundle import (
    Bundle,
    bundle_of,
    find_bundle,
    find_bundles,
    list_bundles,
    read_json,
    write_aside,
)
from agents.procs import ProcessRef
from agents.wire.spec import JobSpec, StartMessage

MESSAGE = StartMessage(
    attempt="a-1",
    job=1,
    job_name="one",
    number=1,
    node="node-a",
    nodes=("node-a", "node-b"),
    min_nodes=1,
    max_nodes=2,
    endpoint="10.0.0.1:29400",
    hosts_store=True,
    local_addr="10.0.0.1",
    spec=JobSpec(script="/s.py", args=("--steps", "3"), env={"A": "b"}, nproc_per_node=2),
)


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    bundle = Bundle(tmp_path / "bundles" / "a-1")
    bundle.create(MESSAGE)
    return bundle


def test_what_was_written_is_found_again(bundle: Bundle) -> None:
    again = Bundle(bundle.folder)
    runner = ProcessRef(12, 345, "boot")
    bundle.write_process(runner)
    bundle.write_acked(7)
    bundle.write_stopping(command="c-1")
    assert again.message() == MESSAGE
    assert again.process() == runner
    assert again.acked() == 7
    assert again.stopping() == {"command": "c-1"}
    assert again.mark == "a-1/node-a"
    assert again.source() == "run/a-1/node-a/1"


def test_a_later_runner_has_a_bundle_a_mark_and_a_journal_of_its_own(bundle: Bundle, tmp_path: Path) -> None:
    later = bundle_of(Bundle, tmp_path, "a-1", 2)
    assert (later.attempt, later.incarnation, bundle.incarnation) == ("a-1", 2, 1)
    assert [found.folder for found in find_bundles(tmp_path, "a-1")] == [bundle.folder]
    later.create(replace(MESSAGE, incarnation=2))
    assert (later.mark, later.source()) == ("a-1~2/node-a", "run/a-1/node-a/2")
    assert later.folder.parent == bundle.folder.parent


def test_the_newest_runner_of_an_attempt_is_found_first(bundle: Bundle, tmp_path: Path) -> None:
    for number in (2, 10, 9):
        bundle_of(Bundle, tmp_path, "a-1", number).create(replace(MESSAGE, incarnation=number))
    bundle_of(Bundle, tmp_path, "a-10").create(replace(MESSAGE, attempt="a-10"))
    assert [found.incarnation for found in find_bundles(tmp_path, "a-1")] == [10, 9, 2, 1]
    newest = find_bundle(tmp_path, "a-1")
    assert newest is not None
    assert newest.incarnation == 10
    assert len(list_bundles(tmp_path)) == 5


def test_a_note_to_leave_is_told_from_a_stop(bundle: Bundle) -> None:
    assert not bundle.is_leaving()
    bundle.write_stopping(command="c-1", leave=True)
    assert bundle.is_leaving()
    bundle.write_stopping(command="c-2")
    assert not bundle.is_leaving()


def test_a_new_bundle_has_no_runner_and_nothing_acknowledged(bundle: Bundle) -> None:
    assert bundle.process() is None
    assert bundle.acked() == 0
    assert bundle.stopping() is None
    assert not bundle.is_settled()


def test_a_settled_bundle_says_how_it_ended(bundle: Bundle) -> None:
    bundle.write_settled(last_seq=9, exit_code=-9)
    assert bundle.is_settled()
    assert bundle.settled() == {"last_seq": 9, "exit_code": -9}


def test_a_start_message_may_be_replaced(bundle: Bundle) -> None:
    bundle.create(replace(MESSAGE, endpoint="10.0.0.1:1"))
    message = bundle.message()
    assert message is not None
    assert message.endpoint == "10.0.0.1:1"


def test_folders_without_a_start_message_are_no_bundles(bundle: Bundle, tmp_path: Path) -> None:
    (tmp_path / "bundles" / "half-made").mkdir()
    assert [found.attempt for found in list_bundles(tmp_path)] == ["a-1"]


@pytest.mark.parametrize("attempt", ["", ".", "..", "../bundles/a-1", "/etc", "a-2", "a-1\0", "a-1~1"])
def test_no_name_leads_out_of_the_folder(attempt: str, bundle: Bundle, tmp_path: Path) -> None:
    assert find_bundle(tmp_path, attempt) is None
    found = find_bundle(tmp_path, "a-1")
    assert found is not None
    assert found.folder == bundle.folder


def test_a_half_written_file_reads_as_absent(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    assert read_json(path) is None
    path.write_text('{"seq": 1')
    assert read_json(path) is None
    write_aside(path, '{"seq": 2}')
    assert read_json(path) == {"seq": 2}
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]
