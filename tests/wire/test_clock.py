"""A clock is measured as well as the quickest answer allows, and never better than that."""

from __future__ import annotations

import pytest

from agents.wire.clock import TRIES, Offset, OwnClock, Reading, between, offset_of, read_once


def test_the_quickest_answer_counts_and_half_its_way_is_the_error() -> None:
    slow = Reading(sent=100.0, server=98.9, received=101.0)
    quick = Reading(sent=200.0, server=198.2, received=200.02)
    found = offset_of([slow, quick])
    assert found is not None
    assert found.offset_s == pytest.approx(1.81)
    assert found.error_s == pytest.approx(0.01)


@pytest.mark.parametrize("read_after_s", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("ahead_s", [-3.0, 0.0, 0.25])
def test_the_true_offset_is_within_the_error_wherever_on_the_way_the_server_looked(
    ahead_s: float, read_after_s: float
) -> None:
    reading = Reading(sent=50 + ahead_s, server=50 + read_after_s, received=50.4 + ahead_s)
    found = offset_of([reading])
    assert found is not None
    assert abs(found.offset_s - ahead_s) <= found.error_s + 1e-9


def test_an_answer_before_its_question_says_nothing() -> None:
    set_back = Reading(sent=100.0, server=50.0, received=90.0)
    assert offset_of([set_back]) is None
    assert offset_of([set_back, Reading(100.0, 100.0, 100.0)]) == Offset(0.0, 0.0)


def test_two_clocks_measured_from_the_same_redis_are_compared() -> None:
    apart = between(Offset(1.5, 0.01), Offset(-0.25, 0.02))
    assert apart.offset_s == 1.75
    assert apart.error_s == pytest.approx(0.03)


def test_one_question_reads_the_own_clock_before_and_after() -> None:
    own = iter([10.0, 10.5])
    assert read_once(lambda: (9, 250_000), lambda: next(own)) == Reading(10.0, 9.25, 10.5)


def test_the_clock_is_asked_again_only_when_redis_was_lost() -> None:
    asked: list[int] = []

    def ask_time() -> tuple[int, int]:
        asked.append(1)
        return 0, 0

    clock = OwnClock()
    assert clock.offset(ask_time) == clock.offset(ask_time)
    assert len(asked) == TRIES
    clock.forget()
    clock.offset(ask_time)
    assert len(asked) == 2 * TRIES
