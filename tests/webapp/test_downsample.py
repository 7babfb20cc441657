"""However stretches are joined and thinned, extremes, counts and sums stay, and each moment counts once."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webapp.jobs.bands import COUNT, LEVELS_S, MAX, MIN, SUM, Stretch, coarser, join, note
from webapp.jobs.downsample import Run, Spell, downsample, parts, plan, with_rates

RUN = Run(1, 1)
values = st.floats(-1e6, 1e6)
reports = st.lists(st.tuples(st.integers(0, 500), values, st.integers(0, 7)), min_size=1, max_size=60)


def spells(told: list[tuple[int, float, int]]) -> list[Spell]:
    """One for each of the shortest stretches, of reports (slot, loss, rank)."""
    found: dict[int, Stretch] = {}
    for slot, value, rank in told:
        stretch = found.setdefault(slot, Stretch())
        stretch.reports += 1
        stretch.seconds += 1.0
        note(stretch.bands, "loss", value, rank)
    return [Spell(RUN, float(2 * slot), 2, stretch) for slot, stretch in sorted(found.items())]


@given(reports, st.integers(1, 300))
def test_downsampling_keeps_extremes_counts_and_sums(told: list[tuple[int, float, int]], width: int) -> None:
    points = downsample(spells(told), 2 * width)
    losses = [value for _, value, _ in told]
    bands = [point.told.bands["loss"] for point in points]
    assert min(float(band[MIN] or 0) for band in bands) == min(losses)
    assert max(float(band[MAX] or 0) for band in bands) == max(losses)
    assert sum(int(band[COUNT] or 0) for band in bands) == len(told)
    assert sum(float(band[SUM] or 0) for band in bands) == pytest.approx(sum(losses), abs=1e-3)
    assert all(point.begin_s <= point.at_s <= point.begin_s + point.width_s for point in points)
    assert [point.begin_s for point in points] == sorted({point.begin_s for point in points})


@given(reports, st.integers(1, len(LEVELS_S) - 1))
def test_longer_stretches_say_what_the_shortest_do(told: list[tuple[int, float, int]], level: int) -> None:
    wide: dict[int, Stretch] = {}
    for spell in spells(told):
        slot, later_s = coarser(int(spell.begin_s) // 2, level)
        wide[slot] = join(wide.get(slot, Stretch()), spell.told, later_s)
    long_s = LEVELS_S[level]
    direct = downsample(spells(told), long_s)
    stepwise = [Spell(RUN, float(slot * long_s), long_s, stretch) for slot, stretch in sorted(wide.items())]
    assert [(one.begin_s, one.told.reports) for one in direct] == [
        (one.begin_s, one.told.reports) for one in stepwise
    ]
    assert [one.at_s for one in direct] == pytest.approx([one.at_s for one in stepwise])
    for one, other in zip(direct, stepwise, strict=True):
        assert one.told.bands["loss"][MIN] == other.told.bands["loss"][MIN]
        assert one.told.bands["loss"][MAX] == other.told.bands["loss"][MAX]


@given(
    st.integers(0, len(LEVELS_S) - 1),
    st.integers(1_700_000_000, 1_700_100_000),
    st.integers(0, 40_000_000),
    st.integers(0, 40_000_000),
)
def test_each_moment_of_a_question_is_read_from_one_length(
    level: int, begin: int, span: int, age: int
) -> None:
    end = begin + span
    found = parts(level, begin, end, newest_s=float(end + age))
    lengths = [(LEVELS_S[part.level] * part.first, LEVELS_S[part.level] * part.after) for part in found]
    assert all(older[1] == newer[0] for newer, older in pairwise(lengths))
    if span:
        assert lengths[0][1] >= end
        assert lengths[-1][0] <= begin
        assert all(low < high for low, high in lengths)


@given(st.floats(0.5, 1e8), st.integers(2, 2000))
def test_an_answer_reads_few_rows_and_has_few_points(span_s: float, points: int) -> None:
    planned = plan(0.0, span_s, points)
    assert span_s / planned.width_s <= points
    assert planned.width_s % LEVELS_S[planned.level] == 0
    if planned.level < len(LEVELS_S) - 1:
        assert span_s / LEVELS_S[planned.level] <= 8 * points


def _stepped(run: Run, begin_s: float, step: float) -> Spell:
    return Spell(run, begin_s, 2, Stretch(1, 1.0, {"step": [1, step, step, step, 0, 0]}))


def test_a_rate_is_between_reports_of_one_round_and_never_below_nothing() -> None:
    later = Run(1, 2)
    told = with_rates(
        [
            _stepped(RUN, 0, 10),
            _stepped(RUN, 2, 20),
            _stepped(RUN, 4, 24),
            _stepped(later, 6, 18),
            _stepped(later, 8, 12),
            _stepped(later, 10, 16),
        ]
    )
    rates = [spell.told.bands.get("rate", [None] * 6)[MIN] for spell in told]
    assert rates == [None, 5.0, 2.0, None, None, 2.0]
    (point, _) = downsample(told, 100)
    assert point.told.bands["rate"][:4] == [4.0, 14.0, 2.0, 5.0]


def test_a_rate_that_the_job_reports_is_left_as_it_is() -> None:
    told = [_stepped(RUN, 0, 10), _stepped(RUN, 2, 20)]
    note(told[1].told.bands, "rate", 7.0, 3)
    assert with_rates(told)[1].told.bands["rate"] == [1, 7.0, 7.0, 7.0, 3, 3]
