"""The report is one page that needs nothing else, whatever the names in it, and its files are whole or not there."""

import base64
import csv
import hashlib
import html
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from cube2net.errors import InputError
from cube2net.evaluation.report.page import Report, make_environment, render_page, write_report_files
from cube2net.evaluation.report.tables import make_cell_table
from cube2net.evaluation.statistics import compute_all_estimates
from cube2net.evaluation.verdict import judge_comparison
from cube2net.model.comparison import Comparison
from cube2net.model.network import Drawing

from comparisons import (
    ALONE,
    EXACT,
    GREEDY,
    PEER,
    WHY,
    clustering,
    found_again,
    hidden_links,
    in_one_cluster,
    network,
)

NASTY = {
    0: "</script><script>alert(1)</script>",
    1: "<img src=https://example.org/x.png onerror=alert(1)>",
    2: 'Ann "&" O\'Neil & <b>Sons</b>',
    3: "网络 데이터 ネットワーク",
    4: "W" * 300,
    5: "</style></title>--><!--",
}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--virtual-time-budget=6000",
)


def fingerprint(script: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def report(comparison: Comparison) -> Report:
    links = [(0, 6), (1, 6), (2, 3), (4, 5), (0, 7), (3, 7), (0, 8), (3, 8), (5, 8)]
    labels = ["<x>", "<x>", "<x>", "y & z", "y & z", "y & z"]
    made = network(links, labels, others=2, cells=[("200X", "</td>KDD")], names=NASTY)
    return Report(
        comparison,
        judge_comparison(comparison),
        compute_all_estimates(comparison, resamples=50),
        drawings=[Drawing(made, np.random.default_rng(1).random((9, 2)), "greedy & <co>")],
        cells=make_cell_table(made),
        command='cube2net compare cube --query "a & b.csv" > </pre>',
        title="Labs & <areas>",
    )


@cache
def clustering_page() -> str:
    return render_page(report(clustering()))


class Tags(HTMLParser):
    """Collects tags with their attributes, the text of headings and of scripts, and tags left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in ("meta", "path", "circle", "rect", "br", "img"):
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("path", "circle", "rect"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts[self.open[-1]][-1] += data


def test_every_tag_is_closed_and_no_name_becomes_a_tag() -> None:
    found = Tags(clustering_page())
    assert found.open == []
    kinds = {tag for tag, _ in found.tags}
    assert not kinds & {"img", "iframe", "link", "object", "embed", "form", "b-", "x", "co", "areas"}
    assert not any(name.startswith("on") for _, attributes in found.tags for name in attributes)
    scripts = [attributes for tag, attributes in found.tags if tag == "script"]
    figures = sum(attributes.get("class") == "plot" for _, attributes in found.tags)
    assert len([script for script in scripts if "type" not in script]) == 2
    assert len([script for script in scripts if script.get("type") == "application/json"]) == figures + 1


def test_templates_escape_all_but_what_was_made_safe_before() -> None:
    folder = Path(str(resources.files("cube2net.evaluation.report"))) / "templates"
    safe = [
        found for path in sorted(folder.iterdir()) for found in re.findall(r"(\S+) \| safe", path.read_text("utf-8"))
    ]
    assert sorted(safe) == ["each.name", "palette", "plot.data", "script", "style"]
    assert not re.search(r"autoescape|Markup", "".join(path.read_text("utf-8") for path in folder.iterdir()))
    made = make_environment().from_string('<p title="{{ name }}">{{ name }}{{ name | upper }}</p>')
    assert made.render(name="<'\"&\x01") == (
        '<p title="&lt;&#39;&#34;&amp;␁">&lt;&#39;&#34;&amp;␁&lt;&#39;&#34;&amp;␁</p>'
    )


def test_importing_the_evaluation_loads_nothing_that_only_a_report_needs() -> None:
    program = "import sys, cube2net.evaluation; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"jinja2", "markupsafe", "plotly", "matplotlib", "scipy", "numba"} & set(done.stdout.split())


def test_the_same_report_is_the_same_page_and_no_name_is_a_template() -> None:
    made = replace(report(clustering()), title="{{ 7 * 7 }}{% raw %}")
    assert render_page(made) == render_page(made)
    assert "<title>{{ 7 * 7 }}{% raw %} · cube2net</title>" in render_page(made)


def test_the_verdict_is_the_first_heading() -> None:
    made = report(clustering())
    found = Tags(render_page(made))
    headings = [tag for tag, _ in found.tags if re.fullmatch(r"h\d", tag)]
    assert headings[0] == "h1" and headings.count("h1") == 1
    assert found.texts["h1"] == [made.verdict.sentence]
    assert "greedy · linked · cells · n_cells 20 helps" in made.verdict.sentence


def test_the_page_loads_nothing_from_elsewhere() -> None:
    found = Tags(clustering_page())
    ids = {attributes["id"] for _, attributes in found.tags if "id" in attributes}
    for _, attributes in found.tags:
        assert not {"src", "srcset", "data", "action", "poster", "background"} & set(attributes)
        if "href" in attributes:
            assert attributes["href"].startswith("#") and attributes["href"][1:] in ids
        assert "url(" not in attributes.get("style", "")
    assert "url(" not in found.texts["style"][0] and "@import" not in found.texts["style"][0]


def test_the_policy_lets_only_the_two_scripts_of_the_page_run() -> None:
    found = Tags(clustering_page())
    policy = next(a["content"] for tag, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and "connect-src" not in rules
    scripts = [t for t in found.tags if t[0] == "script"]
    run = [text for (_, a), text in zip(scripts, found.texts["script"], strict=True) if not a]
    assert rules["script-src"].split() == [fingerprint(script) for script in run] and len(run) == 2
    assert not re.search(r"https?:|\*|unsafe-eval", policy)
    assert '"sendChartToCloud"' not in run[1] and 'plotlyServerURL: ""' in run[1]


def test_figures_are_data_that_reads_back_with_its_names() -> None:
    found = Tags(clustering_page())
    scripts = [t for t in found.tags if t[0] == "script"]
    data = [json.loads(text) for (_, a), text in zip(scripts, found.texts["script"], strict=True) if a]
    texts = [text for figure in data for trace in figure.get("data", []) for text in trace.get("text") or []]
    assert any("&lt;/script&gt;&lt;script&gt;alert(1)" in text for text in texts)
    assert any("网络 데이터 ネットワーク" in text for text in texts)
    assert max(map(len, texts)) < 400


def test_the_page_says_everything_in_order() -> None:
    found = Tags(clustering_page())
    assert found.texts["h2"] == [
        "What was compared",
        "Over the query alone",
        "Scores",
        "How many cells",
        "Time and size",
        "The network",
        "The cells it chose",
        "To do it again",
    ]
    assert found.texts["code"] == ['cube2net compare cube --query "a & b.csv" > </pre>']
    assert WHY in found.texts["span"]
    assert any(text.startswith("pagerank, same size") for text in found.texts["th"])


def test_the_page_begins_with_f1_and_nmi_and_tells_what_is_in_one_cluster(tmp_path: Path) -> None:
    made = report(in_one_cluster(PEER))
    found = Tags(render_page(made))
    names = ["its F1", "F1 of the query alone", "its NMI", "NMI of the query alone"]
    assert [text for text in found.texts["dt"] if text in names] == names
    (note,) = made.verdict.notes.values()
    assert any(note in text for text in found.texts["p"])
    write_report_files(made, tmp_path)
    told = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    (flag,) = told["degenerate"]
    assert (flag["configuration"], flag["largest_cluster"], flag["has_links"]) == (PEER.name, 1.0, False)
    assert (flag["note"], flag["nmi"]) == (note, 0.0)


def test_a_page_without_a_network_or_a_gain_is_whole() -> None:
    comparison = clustering(wrong={ALONE: 0, GREEDY[1]: 4}, models=("line",))
    made = Report(comparison, judge_comparison(comparison), compute_all_estimates(comparison, resamples=20))
    found = Tags(render_page(made))
    assert found.open == [] and "not shown to help" in found.texts["span"]
    assert "The network" not in found.texts["h2"]


def test_links_show_the_panels() -> None:
    comparison = hidden_links()
    found = Tags(
        render_page(Report(comparison, judge_comparison(comparison), compute_all_estimates(comparison, resamples=20)))
    )
    assert "Links found again" in found.texts["h2"]
    assert {"Precision at K", "Recall at K", "Seconds", "Network size"} <= set(found.texts["h3"])
    headings = [text for text in found.texts["th"] if "@" in text or text == "AUC"]
    assert headings == ["P@5", "R@5", "AUC"]
    assert not any("dashed line is popularity" in text for text in found.texts["p"])


def test_the_page_of_links_tells_the_floor() -> None:
    comparison = hidden_links(models={"popularity": 0.05, "ease": 0.2, "als": 0.1})
    found = Tags(
        render_page(Report(comparison, judge_comparison(comparison), compute_all_estimates(comparison, resamples=20)))
    )
    assert re.search(r"; popularity on the query alone: P@5 0\.0\d\d$", found.texts["h1"][0])
    assert any("The dashed line is popularity on the query alone" in text for text in found.texts["p"])
    assert any("P@5 (all models but popularity)" in text for text in found.texts["p"])
    assert any("popularity on the query alone" in text for text in found.texts["button"])


def test_hidden_links_of_the_query_have_a_page_of_their_own_words(tmp_path: Path) -> None:
    text = render_page(report(found_again()))
    assert "<dt>task</dt><dd>finding hidden links of the query again</dd>" in text
    assert "<dt>hidden links</dt><dd>412 in all runs</dd>" in text and "<dt>measures</dt><dd>AUC</dd>" in text
    assert "AUC for 412 hidden links of the query, different ones in each run</h1>" in text
    assert 'id="panels"' not in text and "<dt>query</dt>" not in text
    few = render_page(report(found_again(pairs=24)))
    assert "<h1>24 hidden links are too few to tell whether adding helps (at least 30 are needed): " in few
    assert '<span class="mean">+0.200</span></td>' in few and '<span class="pill">not shown to help</span>' in few
    write_report_files(report(found_again(pairs=24)), tmp_path)
    told = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert (told["task"], told["measures"], told["settings"]) == ("hidden", ["AUC"], {"pairs": 24})
    assert [(each["low"], each["p_value"], each["is_significant"]) for each in told["differences"]] == [
        (None, None, False)
    ] * 2
    lines = list(csv.DictReader((tmp_path / "trials.csv").open(encoding="utf-8")))
    assert len(lines) == 18 and {line["AUC"] for line in lines} == {"0.6", "0.8", "0.7"}


def test_a_best_one_made_as_large_as_another_is_shown_as_one() -> None:
    comparison = clustering(wrong={ALONE: 4, GREEDY[1]: 5, PEER: 0})
    made = Report(comparison, judge_comparison(comparison), compute_all_estimates(comparison, resamples=20))
    found = Tags(render_page(made))
    assert made.verdict.best == PEER
    assert found.texts["h1"][0].startswith("pagerank at 32 nodes helps: F1 +")
    assert PEER.name in found.texts["dd"] and "32" in found.texts["dd"]
    chosen = [place for place, (tag, a) in enumerate(found.tags) if tag == "tr" and "chosen" in a.get("class", "")]
    assert len(chosen) == 2


def test_the_files_hold_every_trial_and_every_number(tmp_path: Path) -> None:
    made = report(clustering())
    files = write_report_files(made, tmp_path / "new" / "report")
    assert sorted(path.name for path in files) == [
        "cells.csv", "costs.csv", "report.html", "results.json", "scores.csv", "trials.csv"
    ]  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "new" / "report").iterdir()) == sorted(p.name for p in files)
    with (tmp_path / "new" / "report" / "trials.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == len(made.comparison.trials)
    for row, trial in zip(rows, made.comparison.trials, strict=True):
        assert (row["configuration"], row["model"], int(row["seed"])) == (
            trial.configuration.name,
            trial.model,
            trial.seed,
        )
        assert row["reason"] == trial.reason
        assert row["F1"] == (str(trial.scores["F1"]) if trial.scores else "")
        assert row["like"] == trial.configuration.like
    results = json.loads((tmp_path / "new" / "report" / "results.json").read_text(encoding="utf-8"))
    assert results["verdict"]["sentence"] == made.verdict.sentence and results["verdict"]["helps"] is True
    assert results["failed"] == {EXACT.name: [WHY]}
    assert len(results["estimates"]) == len(made.estimates)
    assert [each["other"] for each in results["same_size"]] == [PEER.name]
    assert results["settings"] == {"seed": 0, "n_cells": [10, 20]}
    assert results["models"] == results["deciding"] == ["deepwalk", "line"]
    with (tmp_path / "new" / "report" / "scores.csv").open(encoding="utf-8", newline="") as lines:
        assert [row["runs"] for row in csv.DictReader(lines)] == ["4", "4", "4", "4", ""]


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot make the folder .*file/report.*: not a directory"):
        write_report_files(report(clustering()), tmp_path / "file" / "report")


PROBE = """
setTimeout(function () {
  var page = document.documentElement;
  parent.postMessage(JSON.stringify({
    wide: page.scrollWidth, window: page.clientWidth, heading: document.querySelector("h1,h2,h3,h4,h5,h6").textContent,
    points: document.querySelectorAll(".plot .point path, .plot path.point").length,
    plots: document.querySelectorAll(".plot").length, drawn: document.querySelectorAll(".plot .main-svg").length,
    spill: Array.prototype.filter.call(document.querySelectorAll(".plot svg.main-svg"), function (drawing) {
      return drawing.getBoundingClientRect().right > page.clientWidth;
    }).length
  }), "*");
}, 3000);
"""
FRAME = """<body style="margin:0"><iframe src="report.html" style="border:0" width="{}" height="900"></iframe><script>
addEventListener("message", function (event) {{ document.body.dataset.seen = event.data; }});</script>"""


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [1280, 400])
def test_chromium_draws_the_page_and_it_is_no_wider_than_the_window(width: int, tmp_path: Path) -> None:
    made = report(clustering())
    text = render_page(made).replace("script-src ", f"script-src {html.escape(fingerprint(PROBE))} ", 1)
    (tmp_path / "report.html").write_text(
        text.replace("</body>", f"<script>{PROBE}</script></body>"), encoding="utf-8", newline="\n"
    )
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(width), encoding="utf-8")
    command = [
        str(CHROMIUM),
        *FLAGS,
        f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1300,1000",
        "--dump-dom",
    ]
    dumped = subprocess.run([*command, frame.as_uri()], capture_output=True, text=True, timeout=120, check=True).stdout
    found = re.search(r'data-seen="([^"]*)"', dumped)
    assert found is not None, dumped[:500]
    seen = json.loads(html.unescape(found[1]))
    assert seen["heading"] == made.verdict.sentence
    assert seen["window"] == width and seen["wide"] <= width and seen["spill"] == 0
    assert seen["plots"] >= 5 and seen["drawn"] >= seen["plots"]
    assert seen["points"] >= 9
