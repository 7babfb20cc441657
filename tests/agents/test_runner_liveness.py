"""A node is gone when its keep-alive has not changed for long enough while the observer was looking."""

from __future__ import annotations

from agents.runner.rendezvous.liveness import LONGEST_LENIENCE_S, Liveness


def test_a_keep_alive_that_stands_still_lapses() -> None:
    liveness = Liveness(ttl_s=3.0, gap_s=2.0)
    for now in (0.0, 1.0, 2.0, 3.0):
        assert liveness.lapsed({"a": now, "b": "still"}, now) == []
    assert liveness.lapsed({"a": 3.1, "b": "still"}, 3.1) == ["b"]


def test_a_clock_that_is_wrong_does_no_harm() -> None:
    liveness = Liveness(ttl_s=3.0, gap_s=2.0)
    assert liveness.lapsed({"a": -86400.0}, 0.0) == []
    assert liveness.lapsed({"a": -86399.0}, 2.0) == []


def test_a_pause_of_the_observer_counts_against_nobody() -> None:
    liveness = Liveness(ttl_s=3.0, gap_s=2.0)
    liveness.lapsed({"a": 1}, 0.0)
    liveness.lapsed({"a": 1}, 1.0)
    assert liveness.lapsed({"a": 1}, 60.0) == []
    assert liveness.lapsed({"a": 1}, 61.5) == []
    assert liveness.lapsed({"a": 1}, 62.5) == ["a"]


def test_while_nothing_could_be_seen_nobody_lapsed() -> None:
    liveness = Liveness(ttl_s=3.0, gap_s=2.0)
    liveness.lapsed({"a": 1}, 0.0)
    liveness.lapsed({"a": 1}, 1.0)
    liveness.be_blind()
    assert liveness.lapsed({"a": 1}, 2.9) == []
    assert liveness.lapsed({"a": 1}, 4.8) == []
    assert liveness.lapsed({"a": 1}, 5.0) == ["a"]


def test_a_node_that_comes_back_starts_afresh() -> None:
    liveness = Liveness(ttl_s=3.0, gap_s=2.0)
    liveness.lapsed({"a": 1}, 0.0)
    liveness.lapsed({}, 1.0)
    assert liveness.lapsed({"a": 1}, 2.9) == []
    assert liveness.lapsed({"a": 1}, 4.0) == []


def test_after_an_outage_each_node_has_time_to_find_its_way_back() -> None:
    liveness = Liveness(ttl_s=3.0, gap_s=2.0, settle_s=5.0)
    liveness.lapsed({"a": 1}, 0.0)
    liveness.lapsed({"a": 1}, 1.0)
    liveness.be_blind()
    for now in (2.0, 4.0, 6.0, 8.0, 10.0):
        assert liveness.lapsed({"a": 1}, now) == []
    assert liveness.lapsed({"a": 1}, 10.1) == ["a"]


def test_a_store_that_is_slow_for_ever_keeps_nobody_alive() -> None:
    liveness = Liveness(ttl_s=3.0, gap_s=2.0, settle_s=5.0)
    gone_at = None
    for now in range(120):
        liveness.be_blind()
        if liveness.lapsed({"a": 1}, float(now)):
            gone_at = gone_at or now
    assert gone_at == LONGEST_LENIENCE_S + 3 + 1


def test_a_node_whose_workers_are_well_is_patient() -> None:
    liveness = Liveness(ttl_s=3.0, gap_s=2.0)
    for now in (0.0, 2.0, 4.0, 6.0):
        assert liveness.lapsed({"a": 1}, now, patience_s=3.0) == []
    assert liveness.lapsed({"a": 1}, 6.1, patience_s=3.0) == ["a"]
