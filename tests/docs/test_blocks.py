"""Every block of every page runs and shows its real output, or states why not."""

from collections import Counter
from pathlib import Path

import matplotlib
import pytest

from page_blocks import DATA, INDENTED, KINDS, RUN, SHOWN, blocks, name_of, pages, stray_marks
from page_runs import PageRun, difference
from stage import EXAMPLES, SECTIONS, Stage, finds_topics, put_data
from tested_versions import OTHERWISE, installed, pinned, shows_the_same

PAGES = pages()
WITH_BLOCKS = [page for page in PAGES if any(block.runs for block in blocks(page)) and page != EXAMPLES]
SLOW_PAGES = {f"docs/{name}.md" for name in ("start/five-minutes", "explanation/cube", "explanation/evaluation")}
"""Pages whose commands find topics or compare many networks."""


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] * (name_of(page) in SLOW_PAGES)) for page in WITH_BLOCKS],
    ids=name_of,
)
def test_the_blocks_of_a_page_run_and_show_what_comes(page: Path, stage: Stage, tmp_path: Path) -> None:
    matplotlib.use("agg")
    all_blocks = blocks(page)
    text = "\n".join(block.text for block in all_blocks if block.runs)
    usual = stage.set(text, tmp_path)
    put_data(page, text, tmp_path)
    with PageRun(tmp_path, compare=usual) as run:
        for block in all_blocks:
            run.run(block)
    assert not run.drifts, "\n".join(run.drifts)
    if not usual:
        pytest.skip(OTHERWISE)


def test_the_page_of_the_examples_makes_what_the_other_pages_use(stage: Stage) -> None:
    assert {block.section for block in blocks(EXAMPLES)} == set(SECTIONS)
    for section, names in SECTIONS.items():
        drifts = stage.make(section)
        assert all((stage.folder / name).exists() for name in names)
        if section == "Papers" and not stage.usual:
            assert not shows_the_same(), "the papers have other cells than the pages show: write these anew"
            pytest.skip(OTHERWISE)
        assert not drifts, "\n".join(drifts)


def test_versions_that_are_tested_are_found() -> None:
    assert installed("no-such-package") == ""
    assert "+" not in installed("torch")
    assert pinned()["torch"] == "2.13.0"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_has_a_language_and_only_what_would_run_is_marked(page: Path) -> None:
    assert not stray_marks(page), "a mark stands on the line before its block"
    for block in blocks(page):
        assert block.language != INDENTED, f"{block.place}: put it between fences, with its language"
        assert block.language in (*RUN, SHOWN, *DATA), f"{block.place}: language {block.language!r}"
        if block.why is not None:
            assert block.language in RUN, f"{block.place}: a block that is never run needs no mark"
            assert block.kind in KINDS, f"{block.place}: {block.kind!r} is none of {', '.join(KINDS)}"


def test_nearly_all_blocks_that_can_run_do() -> None:
    can = [block for page in PAGES for block in blocks(page) if block.language in RUN]
    left_out = Counter(block.kind for block in can if block.why is not None)
    assert sum(left_out.values()) <= len(can) // 4, left_out


def test_pages_that_find_topics_themselves_are_known() -> None:
    ran = {page: "\n".join(block.text for block in blocks(page) if block.runs) for page in PAGES}
    finding = {name_of(page) for page, text in ran.items() if finds_topics(text)}
    assert finding == {"docs/start/five-minutes.md", "docs/explanation/topics.md"}
    assert finds_topics("c2n.build(c2n.load_bundled())")
    assert not finds_topics("c2n.build(c2n.load_bundled(), ['year', 'venue'])")


def test_left_out_parts_match_and_others_do_not() -> None:
    printed = "one\ntwo\nthree four\nfive\n"
    assert difference("one\n…\nfive", printed) is None
    assert difference("…\nthree …\nfive", printed) is None
    assert difference("one\nthree four\nfive", printed) is not None
    assert difference("one\n…", "one\n") is None
    assert difference("on…", printed) is not None
    assert difference("one\ntwo\nthree\nfour\nfive", printed) is None
    assert difference("one two\nthree four\nfive", printed) is not None
