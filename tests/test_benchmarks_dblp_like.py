from __future__ import annotations

import hashlib

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dblp_like_corpus
from cube2net.errors import ParameterError, SourceError
from cube2net.io.tables.table_source import Tables
from cube2net.model.corpus import Corpus
from dblp_like_corpus import TABLES, Shape, make_dblp_like, open_dblp_like, team_sizes


def same(one: Corpus, other: Corpus) -> bool:
    return all(getattr(one, name).combine_chunks().equals(getattr(other, name).combine_chunks()) for name in TABLES)


def digests(folder) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@settings(max_examples=25)
@given(
    papers=st.integers(1, 400),
    first=st.integers(1900, 2000),
    span=st.integers(0, 60),
    authors=st.floats(1.1, 8.0),
    newcomers=st.none() | st.floats(0, 1),
    venues=st.none() | st.integers(1, 50),
    topics=st.integers(1, 20),
    seed=st.integers(0, 2**40),
)
def test_a_corpus_of_any_settings_is_whole(papers, first, span, authors, newcomers, venues, topics, seed):
    corpus = make_dblp_like(
        papers,
        years=(first, first + span),
        authors=authors,
        newcomers=newcomers,
        venues=venues,
        topics=topics,
        seed=seed,
    )
    item, thing = corpus.mentions["item"].to_numpy(), corpus.mentions["object"].to_numpy()
    assert corpus.items["item"].to_pylist() == [str(number) for number in range(papers)]
    assert len(set(corpus.objects["object"].to_pylist())) == corpus.objects.num_rows
    assert np.array_equal(np.unique(item), np.arange(papers))
    assert np.array_equal(np.unique(thing), np.arange(corpus.objects.num_rows))
    assert len(np.unique(item.astype(np.int64) * corpus.objects.num_rows + thing)) == len(item)
    years = corpus.items["year"].to_numpy()
    assert first <= years.min() <= years.max() <= first + span
    assert (np.diff(years) >= 0).all()
    assert set(corpus.items["venue"].to_pylist()) <= set(corpus.labels["label"].to_pylist())
    assert set(corpus.items["topic"].to_pylist()) <= {f"topic {number}" for number in range(topics)}


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another():
    one, again, other = (make_dblp_like(500, seed=seed) for seed in (3, 3, 4))
    assert same(one, again)
    assert not one.mentions.equals(other.mentions)


def test_the_size_of_a_chunk_changes_nothing(monkeypatch):
    whole = make_dblp_like(700)
    monkeypatch.setattr(dblp_like_corpus, "CHUNK", 13)
    assert same(whole, make_dblp_like(700))


def test_a_folder_holds_the_corpus_byte_for_byte_each_time(tmp_path):
    made = make_dblp_like(900, out=tmp_path / "one", seed=1)
    assert same(made, make_dblp_like(900, seed=1))
    assert same(made, open_dblp_like(tmp_path / "one"))
    make_dblp_like(900, out=tmp_path / "two", seed=1)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    assert sorted(digests(tmp_path / "one")) == sorted(
        f"{name}.{kind}" for name in TABLES for kind in ("arrow", "parquet")
    )
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["one", "two"]


def test_the_parquet_tables_are_read_as_any_tables(tmp_path):
    made = make_dblp_like(300, out=tmp_path / "made")
    names = ("objects", "items", "mentions")
    read = Tables().read([tmp_path / "made" / f"{name}.parquet" for name in names])
    assert read.objects.equals(made.objects)
    assert read.items["venue"].to_pylist() == made.items["venue"].to_pylist()
    pairs = [
        set(zip(*(table[end].to_pylist() for end in ("item", "object")), strict=True))
        for table in (read.mentions, made.mentions)
    ]
    assert pairs[0] == pairs[1]
    assert not read.dropped
    for name in TABLES:
        assert pq.read_table(tmp_path / "made" / f"{name}.parquet").equals(getattr(made, name))


def test_a_corpus_is_replaced_by_a_new_one_and_by_nothing_half_written(tmp_path, monkeypatch):
    make_dblp_like(100, out=tmp_path / "made")
    make_dblp_like(200, out=tmp_path / "made")
    assert open_dblp_like(tmp_path / "made").items.num_rows == 200

    def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(dblp_like_corpus, "_numbered", broken)
    for place in ("made", "other"):
        with pytest.raises(KeyboardInterrupt):
            make_dblp_like(300, out=tmp_path / place)
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    assert open_dblp_like(tmp_path / "made").items.num_rows == 200


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(SourceError) as error:
        make_dblp_like(10, out=tmp_path)
    assert (
        str(error.value) == f"{str(tmp_path)!r} exists and is not a made-up corpus: choose another place or remove it"
    )
    assert (tmp_path / "thesis.txt").read_text() == "all of it"


def test_what_is_not_a_made_up_corpus_cannot_be_opened(tmp_path):
    with pytest.raises(SourceError, match="is not a made-up corpus: cannot read 'objects.arrow' .*; make one with"):
        open_dblp_like(tmp_path / "nowhere")
    make_dblp_like(10, out=tmp_path / "made")
    (tmp_path / "made" / "items.arrow").write_bytes(b"nothing like it")
    with pytest.raises(SourceError, match="cannot read 'items.arrow'"):
        open_dblp_like(tmp_path / "made")


def test_the_tails_are_long():
    corpus = make_dblp_like(20_000)
    written = np.bincount(corpus.mentions["object"].to_numpy())
    teams = np.bincount(corpus.mentions["item"].to_numpy())
    assert 0.5 < (written == 1).mean() < 0.75
    assert written.max() > 20 * written.mean()
    assert 3.3 < teams.mean() < 3.7
    assert teams.max() > 20
    venues = np.unique(corpus.items["venue"].to_numpy(zero_copy_only=False), return_counts=True)[1]
    assert venues.max() > 20 * np.median(venues)
    years = np.bincount(corpus.items["year"].to_numpy())
    assert years[2017] > 10 * years[1985] > 0


def test_topics_and_venues_come_and_go():
    shape = Shape(papers=100_000, years=(1950, 2017), authors=3.5, venues=400, topics=50, seed=0)
    early, late = (np.diff(shape.topic_sums(year), prepend=0) for year in (1960, 2010))
    assert np.abs(early / early.sum() - late / late.sum()).sum() > 0.5
    there = [set(np.flatnonzero(np.diff(shape.venue_sums(year)[0], prepend=0)).tolist()) for year in (1960, 2010)]
    assert 0 in there[0] & there[1]
    assert len(there[0]) < len(there[1]) < 400
    assert set(shape.kinds) == {"conference", "journal", "workshop"}


@pytest.mark.parametrize("authors", [1.1, 2.0, 3.5, 10.0, 20.0])
def test_teams_have_the_mean_asked_for_and_grow(authors):
    counts = np.array([100, 200, 400])
    shares = team_sizes(counts, authors)
    sizes = (np.diff(shares, axis=1, prepend=0) * np.arange(1, shares.shape[1] + 1)).sum(axis=1)
    assert counts @ sizes / counts.sum() == pytest.approx(authors, abs=0.02)
    assert (np.diff(sizes) > 0).all()
    assert (np.diff(shares, axis=1) >= 0).all()


@pytest.mark.parametrize(
    ("papers", "options", "text"),
    [
        (0, {}, "papers is 0, expected a whole number of 1 to 50,000,000"),
        (-5, {}, "papers is -5, expected a whole number of 1 to 50,000,000"),
        (2.5, {}, "papers is 2.5, expected a whole number of 1 to 50,000,000"),
        (10, {"years": (2000, 1990)}, "years are (2000, 1990), expected the first and the last"),
        (10, {"years": (20, 1990)}, "a year is 20, expected a whole number of 1,500 to 2,100"),
        (10, {"authors": 1.0}, "authors is 1.0, expected 1.1 to 20 in the mean of all papers"),
        (10, {"newcomers": float("nan")}, "newcomers is nan, expected a share from 0 to 1"),
        (10, {"venues": 0}, "venues is 0, expected a whole number of 1 or more"),
        (10, {"topics": 0}, "topics is 0, expected a whole number of 1 to 10,000"),
        (10, {"venues": 10**6}, "1,000,000 venues × 100 topics are too many, expected 10,000,000 at most"),
        (10, {"seed": -1}, "seed is -1, expected a whole number of 0 or more"),
    ],
)
def test_a_setting_out_of_range_is_one_clear_sentence(papers, options, text):
    with pytest.raises(ParameterError) as error:
        make_dblp_like(papers, **options)
    assert str(error.value) == text
