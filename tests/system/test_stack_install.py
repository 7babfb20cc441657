"""An installation that was killed is not trusted, one that is complete is not repeated."""

from __future__ import annotations

from pathlib import Path

import node
import pytest
from stamps import Stamps, hash_of


@pytest.mark.parametrize(
    ("version", "is_fit"),
    [
        ("v20.19.0", True),
        ("v22.12.0", True),
        ("v24.19.0", True),
        ("v20.18.3", False),
        ("v21.7.0", False),
        ("v22.11.0", False),
        ("v18.20.0", False),
        ("", False),
    ],
)
def test_a_node_that_is_too_old_for_the_build_is_passed_over(version: str, is_fit: bool) -> None:
    assert node.fits(version) is is_fit


def test_a_step_that_was_cut_short_leaves_no_stamp(tmp_path: Path) -> None:
    stamps = Stamps(tmp_path)
    stamps.write("packages", "before")
    with pytest.raises(KeyboardInterrupt), stamps.renewing("packages", "after"):
        raise KeyboardInterrupt
    assert stamps.read("packages") is None


def test_an_interrupted_installation_is_remembered_and_a_failed_one_is_not(tmp_path: Path) -> None:
    stamps = Stamps(tmp_path)
    with pytest.raises(KeyboardInterrupt), stamps.under_way("packages"):
        raise KeyboardInterrupt
    assert stamps.was_interrupted("packages")
    with pytest.raises(RuntimeError), stamps.under_way("packages"):
        raise RuntimeError
    assert not stamps.was_interrupted("packages")


def test_a_changed_or_new_file_is_a_reason_to_do_the_step_again(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("one")
    before = hash_of([tmp_path])
    assert hash_of([tmp_path]) == before
    (tmp_path / "a.ts").write_text("two")
    changed = hash_of([tmp_path])
    (tmp_path / "b.ts").touch()
    assert len({before, changed, hash_of([tmp_path])}) == 3
