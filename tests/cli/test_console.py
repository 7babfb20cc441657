"""What is shown of a worker's output is what torchrun lets through."""

from __future__ import annotations

import pytest

from agents.cli.console import Console, read_choice

CASES = [
    (Console(), "stdout", 0, ""),
    (Console(redirects="3"), "stderr", 0, None),
    (Console(redirects="1"), "stderr", 0, ""),
    (Console(redirects="0:1,1:2"), "stdout", 1, ""),
    (Console(redirects="0:1,1:2"), "stderr", 1, None),
    (Console(tee="3"), "stdout", 1, "[default1]:"),
    (Console(tee="1:2", role="trainer"), "stderr", 1, "[trainer1]:"),
    (Console(tee="3", redirects="3", template="${rank} "), "stdout", 1, "5 "),
    (Console(local_ranks_filter="0"), "stdout", 1, None),
    (Console(tee="3", local_ranks_filter="0,1"), "stdout", 1, "[default1]:"),
]


@pytest.mark.parametrize(("console", "stream", "local_rank", "prefix"), CASES)
def test_a_line_has_the_prefix_of_torchrun(
    console: Console, stream: str, local_rank: int, prefix: str | None
) -> None:
    assert console.prefix(stream, 4 + local_rank, local_rank) == prefix


def test_ranks_are_chosen_by_number_and_range() -> None:
    assert read_choice("") is None
    assert read_choice("0,4-6") == frozenset({0, 4, 5, 6})
    with pytest.raises(ValueError, match="x"):
        read_choice("0,x")
