"""The tables say what the trials say, in the paper's forms, in three ways of writing."""

import csv
import io
import math
from dataclasses import replace

import pytest

from cube2net.evaluation.report.figures import link_panels, score_by_size, sweep
from cube2net.evaluation.report.tables import (
    Row,
    Table,
    TableColumn,
    best_first,
    cell_table,
    cost_table,
    deciding,
    difference_table,
    main_configurations,
    ordered,
    score_table,
    shown,
)
from cube2net.evaluation.statistics import ALL, Difference, Estimate, all_estimates
from cube2net.model.comparison import Comparison, Configuration, Trial

from comparisons import ALONE, EXACT, GREEDY, PEER, WHY, clustering, hidden_links, html_table, network


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_peers_stand_after_the_configuration_whose_size_they_have() -> None:
    comparison = clustering()
    assert ordered(comparison) == [ALONE, GREEDY[0], GREEDY[1], PEER, EXACT]
    lost = Configuration(method="hops", like="greedy · jaccard · objects · n_cells 3")
    alone = Comparison("links", ("AUC",), (Trial(lost, "als", 0, {"AUC": 0.5}), Trial(ALONE, "als", 0, {"AUC": 0.5})))
    assert ordered(alone) == [ALONE, lost]


def test_table_two_has_every_measure_and_model_with_intervals_and_failures_with_reasons() -> None:
    comparison = clustering()
    table = score_table(comparison, all_estimates(comparison, resamples=50), best=GREEDY[1])
    assert [column.key for column in table.columns[:5]] == [
        "configuration",
        "runs",
        "F1: all",
        "F1: deepwalk",
        "F1: line",
    ]
    assert len(table.columns) == 1 + 3 * 3 + 1
    rows = {row.cells[0]: row for row in table.rows}
    assert rows[GREEDY[1].name].cells[2] == Estimate(1.0, 1.0, 1.0, 4)
    assert rows[GREEDY[1].name].chosen and not rows["none"].chosen
    assert rows[PEER.name].short == "pagerank, same size"
    assert rows[EXACT.name].reason == WHY and set(rows[EXACT.name].cells[1:]) == {None}
    lines = read(table.csv())
    assert float(lines[0]["F1: all low"]) <= float(lines[0]["F1: all"]) <= float(lines[0]["F1: all high"])
    assert lines[-1]["reason"] == WHY and lines[-1]["F1: all"] == ""
    assert lines[0]["reason"] == ""
    assert [line["runs"] for line in lines] == ["4", "4", "4", "4", ""]
    assert table.notes[0].startswith("Means over the runs of each row, with 95 % intervals.")


def test_a_row_without_every_model_has_no_mean_over_all_and_is_shown_with_its_runs() -> None:
    whole = clustering()
    lost = {(GREEDY[1], "line", seed) for seed in range(4)} | {(GREEDY[0], "line", 0)}
    kept = tuple(trial for trial in whole.trials if (trial.configuration, trial.model, trial.seed) not in lost)
    comparison = replace(whole, trials=kept)
    known = all_estimates(comparison, resamples=20)
    table = score_table(comparison, known, measures=["F1"])
    rows = {row.cells[0]: row.cells[1:] for row in table.rows}
    runs, every, deepwalk, line = rows[GREEDY[1].name]
    assert every is None and line is None and runs == 4
    assert isinstance(deepwalk, Estimate) and deepwalk.mean == 1.0
    assert rows[GREEDY[0].name][0] == "3 to 4"
    assert GREEDY[1] not in best_first(comparison, known)
    assert [row.cells[0] for row in table.rows] == [config.name for config in ordered(comparison)]
    page = html_table(table)
    assert (
        '<th scope="row">greedy · linked · cells · n_cells 20</th><td class="n">4</td><td class="n first">–</td>'
        in page
    )
    assert (
        table.notes[1] == "“all” is the mean over deepwalk, line, run by run; runs that lack one of them are left out."
    )


def test_a_row_of_another_size_is_not_called_of_the_same() -> None:
    whole = clustering()
    trials = [replace(trial, nodes=28) if trial.configuration == PEER else trial for trial in whole.trials]
    comparison = replace(whole, trials=tuple(trials))
    rows = {row.cells[0]: row for row in score_table(comparison, all_estimates(comparison, resamples=10)).rows}
    assert rows[PEER.name].short == "pagerank, 28 nodes"


def test_the_floor_is_told_apart_from_the_models_that_decide() -> None:
    comparison = hidden_links(models={"popularity": 0.1, "als": 0.2, "ease": 0.3})
    known = all_estimates(comparison, resamples=10)
    table = score_table(comparison, known, measures=["P@5"])
    assert [column.name for column in table.columns] == ["configuration", "runs", "all", "popularity", "als", "ease"]
    assert table.notes[1].startswith("“all” is the mean over als, ease, run by run")
    assert table.notes[2] == "popularity is the floor: it recommends to all users the same."
    assert known[ALONE, ALL, "P@5"].mean == pytest.approx(0.25, abs=0.02)
    assert deciding(comparison) == "all models but popularity"
    two = hidden_links(models={"popularity": 0.1, "ease": 0.3})
    names = [column.name for column in score_table(two, all_estimates(two, resamples=10), measures=["P@5"]).columns]
    assert names == ["configuration", "runs", "ease", "popularity"]
    assert deciding(two) == "ease" and deciding(clustering()) == "all models"


@pytest.mark.parametrize("task", ["clustering", "links"])
def test_trials_that_all_failed_are_rows_that_say_why(task: str) -> None:
    trials = [Trial(config, "line", seed, reason="no links") for config in (ALONE, PEER, EXACT) for seed in range(2)]
    comparison = Comparison(task, ("F1", "NMI"), tuple(trials), truth=("a", "b"))
    known = all_estimates(comparison, resamples=10)
    for table in (score_table(comparison, known), cost_table(comparison, known)):
        assert [row.reason for row in table.rows] == ["no links"] * 3
        assert "no links" in html_table(table) and "no links" in table.csv() and "no links" in table.markdown()
    assert score_by_size(comparison, known).layout.xaxis.type == "log"
    assert sweep(comparison, known) is None
    assert len(link_panels(comparison, known)) == 4


def test_one_model_has_no_column_for_all() -> None:
    comparison = clustering(models=("line",))
    table = score_table(comparison, all_estimates(comparison, resamples=10), measures=["NMI"])
    assert [column.key for column in table.columns] == ["configuration", "runs", "NMI: line"]


def test_table_three_splits_seconds_and_counts_links_once_and_twice() -> None:
    comparison = clustering()
    line = read(cost_table(comparison, all_estimates(comparison, resamples=10)).csv())[2]
    assert line["configuration"] == GREEDY[1].name
    making = "seconds to make the network"
    parts = [line[f"{making}: {name}"] for name in ("select", "train", "links", "in all")]
    assert parts == ["0.75", "1.0", "0.125", "1.875"]
    assert [line[f"seconds to mine it: {model}"] for model in ("deepwalk", "line")] == ["4.0", "2.0"]
    sizes = [line[f"network: {name}"] for name in ("nodes", "links", "links, both ends", "loose")]
    assert sizes == ["32", "50", "100", "0"]


def test_table_four_ranks_the_cells_by_the_order_chosen() -> None:
    made = network([(0, 3), (1, 3), (0, 4), (2, 4)], ["a", "b"], others=1, cells=[("200X", "KDD"), ("199X", "ACL")])
    table = cell_table(made)
    assert table.csv() == (
        "rank,decade,venue,objects,in the query,value so far\n1,200X,KDD,,2,0.1\n2,199X,ACL,,1,0.5\n"
    )


def test_differences_are_rows_with_their_p_values() -> None:
    found = Difference(GREEDY[0], ALONE, ALL, "F1", 0.25, 0.125, 0.375, 0.5, 0.0625, math.inf, 5, 0.0001)
    table = difference_table([found], "Differences")
    assert table.markdown().splitlines()[2:5] == [
        "| configuration | difference | p after Holm: bootstrap | p after Holm: t-test | p after Holm: Wilcoxon "
        "| effect | runs | significant |",
        "| :--- | ---: | ---: | ---: | ---: | ---: | ---: | :--- |",
        "| greedy · linked · cells · n_cells 10 | +0.250 [+0.125, +0.375] | &lt; 0.001 | 0.500 | 0.062 | ∞ | 5 | yes |",
    ]
    assert table.notes[0] == (
        "Differences of F1 (all models), paired by run, with the 95 % interval: a difference is sure when its interval "
        "excludes 0. The effect is Cohen's d of the differences."
    )
    assert "with the 95 % interval corrected for the 2 compared: a diff" in difference_table([found] * 2, "").notes[0]
    assert table.notes[1] == "Networks that are the same in every run stand here once."
    assert "F1 (ease)" in difference_table([found], "", models="ease").notes[0]
    assert difference_table([found], "", peers=True).rows[0].cells[0] == "none"
    assert difference_table([], "").notes == ()


def test_a_difference_without_an_interval_is_its_mean_in_every_way_of_writing() -> None:
    found = Difference(GREEDY[0], ALONE, ALL, "F1", 0.25, math.nan, math.nan, math.nan, math.nan, math.nan, 1)
    table = difference_table([found], "Differences")
    assert "| greedy · linked · cells · n_cells 10 | +0.250 | – | – | – | – | 1 | no |" in table.markdown()
    assert '<td class="n"><span class="mean">+0.250</span></td>' in html_table(table)
    assert read(table.csv())[0]["difference low"] == ""


def test_main_rows_are_the_best_with_its_peers_and_the_best_of_every_method() -> None:
    comparison = clustering()
    known = all_estimates(comparison, resamples=10)
    assert main_configurations(comparison, known) == [ALONE, GREEDY[1], PEER, EXACT]
    first = replace(PEER, like=GREEDY[0].name)
    other = clustering(wrong={ALONE: 4, GREEDY[0]: 3, GREEDY[1]: 2, first: 0})
    assert main_configurations(other, all_estimates(other, resamples=10), first) == [ALONE, GREEDY[0], first, GREEDY[1]]


def test_a_small_table_is_this_html() -> None:
    table = Table("Sizes", (TableColumn("configuration"), TableColumn("nodes", style="count")), (Row(("none", 116)),))
    assert html_table(table).split("\n") == [
        '<div class="scroll" tabindex="0" role="region" aria-label="Sizes"><table class="configurations">',
        "<thead>",
        '<tr><th scope="col">configuration</th><th scope="col" class="n">nodes</th></tr>',
        "</thead>",
        "<tbody>",
        '<tr><th scope="row">none</th><td class="n">116</td></tr>',
        "</tbody></table></div>",
        "",
        "",
    ]


def test_a_long_table_is_folded_and_keeps_every_row() -> None:
    rows = tuple(Row((f"row {number}", number), main=number < 3) for number in range(40))
    table = Table("Long", (TableColumn("configuration"), TableColumn("nodes", style="count")), rows)
    page = html_table(table)
    shown_first, folded = page.split("<details>")
    assert shown_first.count('scope="row"') == 3 and folded.count('scope="row"') == 37
    assert "The other 37 rows" in folded
    assert "<details>" not in html_table(Table("Short", table.columns, rows[:25]))


@pytest.mark.parametrize(
    ("cell", "style", "text"),
    [
        (None, "score", "–"),
        (math.nan, "p-value", "–"),
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
    columns = (TableColumn("<configuration>"), TableColumn("F1", "“a” & <b>", "score", "high"))
    rows = (
        Row(("</td><script>", Estimate(0.5, 0.4, 0.6, 3)), reason='one run failed: "<i>"'),
        Row(("b", Estimate(0.75, 0.7, 0.8, 3)), short="short & sweet"),
        Row(("c", None), reason="</table>"),
    )
    page = html_table(Table("<title>", columns, rows, ("note <u>",)))
    for raw in ("<script>", "<i>", "<b>", "</table></td>", "<title>", "<u>", "<configuration>"):
        assert raw not in page
    assert page.count("</table>") == 1
    assert '<td class="n best">' in page.split("short &amp; sweet")[1]
    assert page.count(" best") == 1


def test_markdown_keeps_bars_and_tags_inside_their_cells() -> None:
    table = Table(
        "", (TableColumn("configuration"), TableColumn("F1", style="score")), (Row(("a|b <c>\nd", None), reason="x|y"),)
    )
    assert table.markdown() == "| configuration | F1 |\n| :--- | ---: |\n| a\\|b &lt;c&gt; d | – (x\\|y) |\n"


def test_links_have_their_measures_too() -> None:
    comparison = hidden_links()
    table = score_table(comparison, all_estimates(comparison, resamples=10))
    assert [column.group for column in table.columns[2:]] == list(comparison.measures)
