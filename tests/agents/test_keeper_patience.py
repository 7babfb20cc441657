"""How long a store is kept that nobody uses, by the keeper's own clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.keeper.patience import ENDED, STOPPED_S, Look, Patience

JOIN_S, AWAY_S = 30.0, 120.0
THERE, AWAY = Look(True, False), Look(False, False)


def ends_after(patience: Patience, look: Look, began: float, longest_s: float = 1000.0) -> float | None:
    """Seconds of looking, five times a second, until it says that it is over."""
    for now in _times(began, longest_s):
        if patience.why_over(look, now) is not None:
            return now - began
    return None


def _times(began: float, longest_s: float) -> Iterator[float]:
    return (began + step / 5 for step in range(1, int(longest_s * 5)))


def test_the_first_runner_may_take_as_long_as_joining_may_take() -> None:
    assert ends_after(Patience(JOIN_S, AWAY_S, 0.0), AWAY, 0.0) == pytest.approx(JOIN_S, abs=0.5)


def test_runners_that_were_there_may_be_away_longer_than_they_look_for_the_store() -> None:
    patience = Patience(JOIN_S, AWAY_S, 0.0)
    assert patience.why_over(THERE, 1.0) is None
    assert ends_after(patience, AWAY, 1.0) == pytest.approx(AWAY_S, abs=0.5)


def test_while_somebody_is_there_it_never_ends() -> None:
    for look in (THERE, Look(True, True), Look(True, True, True)):
        assert ends_after(Patience(JOIN_S, AWAY_S, 0.0), look, 0.0) is None


def test_who_comes_back_is_waited_for_anew() -> None:
    patience = Patience(JOIN_S, AWAY_S, 0.0)
    assert patience.why_over(THERE, 1.0) is None
    assert ends_after(patience, AWAY, 1.0, AWAY_S - 5) is None
    assert patience.why_over(THERE, AWAY_S) is None
    assert ends_after(patience, AWAY, AWAY_S) == pytest.approx(AWAY_S, abs=0.5)


def test_an_ended_attempt_is_over_once_all_have_left() -> None:
    patience = Patience(JOIN_S, AWAY_S, 0.0)
    assert patience.why_over(Look(True, True), 0.2) is None
    assert patience.why_over(Look(False, True), 0.4) == ENDED


def test_a_stopped_attempt_is_not_waited_for_long() -> None:
    patience = Patience(JOIN_S, AWAY_S, 0.0)
    assert patience.why_over(THERE, 0.2) is None
    assert ends_after(patience, Look(False, False, is_stopping=True), 0.2) == pytest.approx(
        STOPPED_S, abs=0.5
    )


def test_a_pause_of_the_keeper_itself_is_nobodys_absence() -> None:
    patience = Patience(JOIN_S, AWAY_S, 0.0)
    assert patience.why_over(THERE, 1.0) is None
    assert patience.why_over(AWAY, 10_000.0) is None
    assert ends_after(patience, AWAY, 10_000.0) == pytest.approx(AWAY_S - 1, abs=1.0)
