"""The slice of the ACL Anthology inside the package."""

import hashlib
import json
from collections import Counter
from importlib import resources

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cube2net.api import datasets as bundled
from cube2net.api.datasets import AREA_OF_SIG, AREA_SIGS, load_areas, load_bundled, load_labs
from cube2net.errors import ParameterError, SourceError
from cube2net.model.corpus import Corpus
from cube2net.model.objects import Objects

DATA = resources.files("cube2net").joinpath("data")
MANIFEST = json.loads(DATA.joinpath("acl.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_bundled()


def test_every_file_is_the_one_the_script_wrote() -> None:
    for name, digest in MANIFEST["sha256"].items():
        assert hashlib.sha256(DATA.joinpath(name).read_bytes()).hexdigest() == digest, name


def test_the_tables_have_the_rows_that_the_script_counted(corpus: Corpus) -> None:
    assert corpus.terms is not None
    assert {name: getattr(corpus, name).num_rows for name in MANIFEST["rows"]} == MANIFEST["rows"]
    assert corpus.items.num_rows >= 15_000 and corpus.terms.num_rows >= 1_000_000


def test_the_slice_takes_at_most_8_megabytes() -> None:
    assert sum(len(DATA.joinpath(name).read_bytes()) for name in MANIFEST["sha256"]) <= 8_000_000


def test_no_paper_is_older_than_2016(corpus: Corpus) -> None:
    assert pc.min(corpus.items["year"]).as_py() == 2016


def test_there_are_facts_and_no_sentences(corpus: Corpus) -> None:
    assert corpus.items.column_names == ["item", "year", "venue", "sig", "volume", "title"]
    assert corpus.terms is not None
    words = Counter(term.count(" ") + 1 for term in corpus.terms["term"].unique().to_pylist())
    assert words[1] > words[2] > words[3] and max(words) <= 5


def test_an_item_names_a_term_once(corpus: Corpus) -> None:
    assert corpus.terms is not None
    assert pc.min(corpus.terms["count"]).as_py() == 1
    assert corpus.terms.group_by(["item", "term"]).aggregate([]).num_rows == corpus.terms.num_rows
    assert pc.count_distinct(corpus.terms["item"]).as_py() > 0.99 * corpus.items.num_rows


def test_all_116_people_are_there_and_all_but_one_have_five_papers_or_more(corpus: Corpus) -> None:
    assert Counter(Counter(load_labs().values()).values()) == {29: 4}
    found = Objects.of(corpus.objects).find(list(load_labs()))
    assert not found.missing and not found.ambiguous and len(set(found.rows.tolist())) == 116
    papers = np.bincount(corpus.mentions["object"].to_numpy(), minlength=corpus.objects.num_rows)[found.rows]
    few = [name for name, count in zip(load_labs(), papers.tolist(), strict=True) if count < 5]
    assert len(few) <= 2 and int(np.median(papers)) >= 20


def test_an_author_of_an_area_has_two_papers_in_its_volumes_none_in_the_others_and_one_elsewhere(
    corpus: Corpus,
) -> None:
    sizes = {"machine translation": 150, "dialogue": 150, "education": 150, "biomedical": 124}
    assert Counter(load_areas().values()) == sizes
    groups = [{sig.lower() for sig in own or ()} for own in corpus.items["sig"].to_pylist()]
    rows = Objects.of(corpus.objects).find(list(load_areas())).rows
    area_of = dict(zip(rows.tolist(), load_areas().values(), strict=True))
    papers: dict[int, Counter[str]] = {row: Counter() for row in area_of}
    for item, row in zip(*(corpus.mentions[name].to_pylist() for name in ("item", "object")), strict=True):
        if row in papers:
            papers[row].update([AREA_OF_SIG[sig] for sig in groups[item] if sig in AREA_OF_SIG] or ["elsewhere"])
    for row, area in area_of.items():
        assert papers[row].keys() == {area, "elsewhere"} and papers[row][area] >= 2


def test_volumes_of_groups_are_left_out_with_authors_of_nothing_else(corpus: Corpus) -> None:
    left = load_bundled(without_sigs=AREA_SIGS)
    told = {sig.lower() for own in left.items["sig"].to_pylist() for sig in own or ()}
    assert told and told.isdisjoint(AREA_SIGS)
    gone = corpus.items.num_rows - left.items.num_rows
    assert left.dropped == {"papers of groups not asked for": gone} and gone > 1_000
    ids = set(left.items["item"].to_pylist())
    wanted = [(paper, name) for paper, name in _written(corpus) if paper in ids]
    assert _written(left) == wanted
    found = Objects.of(left.objects).find([*load_labs(), *load_areas()])
    assert not found.missing and not found.ambiguous
    assert corpus.terms is not None and left.terms is not None
    before = corpus.terms.filter(pc.is_in(corpus.items["item"].take(corpus.terms["item"]), left.items["item"]))
    assert left.terms["term"].equals(before["term"]) and pc.max(left.terms["item"]).as_py() < left.items.num_rows


def _written(corpus: Corpus) -> list[tuple[str, str]]:
    """Return who wrote what, by ids."""
    papers, authors = (corpus.items["item"].to_pylist(), corpus.objects["object"].to_pylist())
    pairs = zip(*(corpus.mentions[name].to_pylist() for name in ("item", "object")), strict=True)
    return [(papers[item], authors[row]) for item, row in pairs]


def test_groups_are_named_in_any_case_and_unknown_ones_are_refused() -> None:
    assert load_bundled(["SigMT"]).items.num_rows == load_bundled(["sigmt"]).items.num_rows
    with pytest.raises(ParameterError, match=r"unknown special interest group 'sigm': choose .*did you mean 'sigmt'"):
        load_bundled(["sigm"])
    with pytest.raises(ParameterError, match=r"without_sigs is the text 'sigmt', expected a tuple such as"):
        load_bundled("sigmt")


def test_every_venue_has_a_full_name_and_a_kind_and_papers_keep_several_venues(corpus: Corpus) -> None:
    venues = corpus.labels.filter(pc.equal(corpus.labels["attribute"], "venue"))
    assert set(venues["parent"].to_pylist()) == {"conference", "journal", "workshop"}
    assert set(pc.list_flatten(corpus.items["venue"]).unique().to_pylist()) == set(venues["label"].to_pylist())
    full = dict(zip(venues["label"].to_pylist(), venues["full_name"].to_pylist(), strict=True))
    assert full["EMNLP"] == "Conference on Empirical Methods in Natural Language Processing"
    assert pc.max(pc.list_value_length(corpus.items["venue"])).as_py() >= 2


def test_years_roll_up_to_decades_and_venues_to_kinds(corpus: Corpus) -> None:
    assert [str(spec) for spec in corpus.dimensions] == ["year@years/decades", "venue/kind", "topic"]


def test_the_source_and_its_licence_are_named_in_the_corpus_and_in_the_package(corpus: Corpus) -> None:
    notice = DATA.joinpath("NOTICE.md").read_text(encoding="utf-8")
    for text in (corpus.attribution, notice):
        assert "ACL Anthology" in text and "CC BY 4.0" in text and "https://aclanthology.org" in text


def test_a_damaged_or_missing_file_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "_read_bytes", lambda name: b"PAR1 and no more")
    with pytest.raises(
        SourceError, match=r"the package's file 'acl-objects\.parquet' is damaged .*install cube2net ag"
    ):
        load_bundled()
    monkeypatch.undo()
    with pytest.raises(SourceError, match=r"the package's file 'nothing\.parquet' is missing: install cube2net again"):
        bundled._read_table("nothing.parquet")


def test_two_loads_are_the_same(corpus: Corpus) -> None:
    again = load_bundled()
    for name in ("objects", "items", "mentions", "terms", "labels"):
        one, other = getattr(corpus, name), getattr(again, name)
        assert isinstance(one, pa.Table) and one.equals(other)
