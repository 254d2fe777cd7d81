"""The tables say what the trials say, in the paper's forms, in three ways of writing."""

import csv
import io
import math

import pytest

from cube2net.records import Comparison, Setup, Trial
from cube2net.referee.page_html import html_table
from cube2net.referee.page_table import Column, Row, Table, shown
from cube2net.referee.statistics import ALL, Difference, Estimate
from cube2net.referee.tables import (
    all_estimates,
    cell_table,
    cost_table,
    difference_table,
    main_setups,
    ordered,
    score_table,
)

from comparisons import ALONE, EXACT, GREEDY, PEER, WHY, clustering, hidden_links, network


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_peers_stand_after_the_setup_whose_size_they_have() -> None:
    comparison = clustering()
    assert ordered(comparison) == [ALONE, GREEDY[0], GREEDY[1], PEER, EXACT]
    lost = Setup(method="hops", like="greedy · jaccard · objects · m 3")
    alone = Comparison("links", ("AUC",), (Trial(lost, "als", 0, {"AUC": 0.5}), Trial(ALONE, "als", 0, {"AUC": 0.5})))
    assert ordered(alone) == [ALONE, lost]


def test_table_two_has_every_measure_and_miner_with_intervals_and_failures_with_reasons() -> None:
    comparison = clustering()
    table = score_table(comparison, all_estimates(comparison, resamples=50), best=GREEDY[1])
    assert [column.key for column in table.columns[:4]] == ["setup", "F1: all", "F1: deepwalk", "F1: line"]
    assert len(table.columns) == 1 + 3 * 3
    rows = {row.cells[0]: row for row in table.rows}
    assert rows[GREEDY[1].name].cells[1] == Estimate(1.0, 1.0, 1.0, 4)
    assert rows[GREEDY[1].name].chosen and not rows["none"].chosen
    assert rows[PEER.name].short == "pagerank, same size"
    assert rows[EXACT.name].reason == WHY and set(rows[EXACT.name].cells[1:]) == {None}
    lines = read(table.csv())
    assert float(lines[0]["F1: all low"]) <= float(lines[0]["F1: all"]) <= float(lines[0]["F1: all high"])
    assert lines[-1]["reason"] == WHY and lines[-1]["F1: all"] == ""
    assert lines[0]["reason"] == ""


def test_one_miner_has_no_column_for_all() -> None:
    comparison = clustering(miners=("line",))
    table = score_table(comparison, all_estimates(comparison, resamples=10), measures=["NMI"])
    assert [column.key for column in table.columns] == ["setup", "NMI: line"]


def test_table_three_splits_seconds_and_counts_links_once_and_twice() -> None:
    comparison = clustering()
    line = read(cost_table(comparison, all_estimates(comparison, resamples=10)).csv())[2]
    assert line["setup"] == GREEDY[1].name
    making = "seconds to make the network"
    parts = [line[f"{making}: {name}"] for name in ("select", "train", "links", "in all")]
    assert parts == ["0.75", "1.0", "0.125", "1.875"]
    assert [line[f"seconds to mine it: {miner}"] for miner in ("deepwalk", "line")] == ["4.0", "2.0"]
    sizes = [line[f"network: {name}"] for name in ("nodes", "links", "links, both ends", "loose")]
    assert sizes == ["32", "50", "100", "0"]


def test_table_four_ranks_the_cells_by_the_order_chosen() -> None:
    made = network([(0, 3), (1, 3), (0, 4), (2, 4)], ["a", "b"], others=1, cells=[("200X", "KDD"), ("199X", "ACL")])
    table = cell_table(made)
    assert table.csv() == (
        "rank,decade,venue,objects,in the query,value so far\n1,200X,KDD,,2,0.1\n2,199X,ACL,,1,0.5\n"
    )


def test_differences_are_rows_with_their_chances() -> None:
    found = Difference(GREEDY[0], ALONE, ALL, "F1", 0.25, 0.125, 0.375, 0.0001, 0.0625, math.inf, 5)
    table = difference_table([found], "Differences")
    assert table.markdown().splitlines()[2:5] == [
        "| setup | difference | p after Holm: t-test | p after Holm: Wilcoxon | effect | runs | sure |",
        "| :--- | ---: | ---: | ---: | ---: | ---: | :--- |",
        "| greedy · linked · cells · m 10 | +0.250 [+0.125, +0.375] | &lt; 0.001 | 0.062 | ∞ | 5 | yes |",
    ]
    assert "F1 (all miners)" in table.notes[0]
    assert difference_table([found], "", peers=True).rows[0].cells[0] == "none"
    assert difference_table([], "").notes == ()


def test_main_rows_are_the_best_with_its_peers_and_the_best_of_every_method() -> None:
    comparison = clustering()
    assert main_setups(comparison, all_estimates(comparison, resamples=10)) == [ALONE, GREEDY[1], PEER, EXACT]


def test_a_long_table_is_folded_and_keeps_every_row() -> None:
    rows = tuple(Row((f"row {number}", number), main=number < 3) for number in range(40))
    table = Table("Long", (Column("setup"), Column("nodes", style="count")), rows)
    page = html_table(table)
    shown_first, folded = page.split("<details>")
    assert shown_first.count('scope="row"') == 3 and folded.count('scope="row"') == 37
    assert "The other 37 rows" in folded
    assert "<details>" not in html_table(Table("Short", table.columns, rows[:25]))


@pytest.mark.parametrize(
    ("cell", "style", "text"),
    [
        (None, "score", "–"),
        (math.nan, "chance", "–"),
        (-math.inf, "change", "−∞"),
        (-0.25, "change", "−0.250"),
        (0.001, "seconds", "< 0.01"),
        (0, "seconds", "0.00"),
        (123.4, "seconds", "123"),
        (12.34, "seconds", "12.3"),
        (12.5, "count", "12.5"),
        (1234.5, "count", "1,234"),
        ("<b>", "text", "<b>"),
    ],
)
def test_numbers_are_written_as_people_read_them(cell: float | str | None, style: str, text: str) -> None:
    assert shown(cell, style) == text


def test_html_escapes_everything_and_marks_the_best() -> None:
    columns = (Column("<setup>"), Column("F1", "“a” & <b>", "score", "high"))
    rows = (
        Row(("</td><script>", Estimate(0.5, 0.4, 0.6, 3)), reason='one run failed: "<i>"'),
        Row(("b", Estimate(0.75, 0.7, 0.8, 3)), short="short & sweet"),
        Row(("c", None), reason="</table>"),
    )
    page = html_table(Table("<title>", columns, rows, ("note <u>",)))
    for raw in ("<script>", "<i>", "<b>", "</table></td>", "<title>", "<u>", "<setup>"):
        assert raw not in page
    assert page.count("</table>") == 1
    assert '<td class="n best">' in page.split("short &amp; sweet")[1]
    assert page.count(" best") == 1


def test_markdown_keeps_bars_and_tags_inside_their_cells() -> None:
    table = Table("", (Column("setup"), Column("F1", style="score")), (Row(("a|b <c>\nd", None), reason="x|y"),))
    assert table.markdown() == "| setup | F1 |\n| :--- | ---: |\n| a\\|b &lt;c&gt; d | – (x\\|y) |\n"


def test_links_have_their_measures_too() -> None:
    comparison = hidden_links()
    table = score_table(comparison, all_estimates(comparison, resamples=10))
    assert [column.group for column in table.columns[1:]] == list(comparison.measures)
