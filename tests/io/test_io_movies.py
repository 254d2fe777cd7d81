"""The reader of films and ratings, on small data made by hand in all its forms, on bad data, and on the real one."""

import gzip
import json
import os
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
from archives import tar, write_files, zipped
from hypothesis import example, given
from hypothesis import strategies as st

from cube2net.errors import ParameterError, SourceError
from cube2net.io import files as input_files
from cube2net.io.reviews import movies
from cube2net.io.reviews.link_tasks import find_matching_items
from cube2net.io.reviews.movies import FilmTexts, Movies, normalize_title
from cube2net.model.corpus import Corpus

from fuzz import check_corpus_or_sentence, damaged

FILMS = """0000001::The Matrix (1999)::Action|Sci-Fi
0000002::Léon (1994)::Crime|Drama
0000003::Nameless::
""".encode()
RATINGS = b"""7::0000001::9::1365029107
7::0000002::0::1365029108
8::0000001::6::1365029109
"""
TEXTS: list[dict[str, Any]] = [
    {"title": "The Matrix", "year": 1999, "cast": ["Keanu Reeves"], "genres": ["Action"], "extract": " A hacker. "},
    {"title": "Leon", "year": 1995, "cast": [], "genres": [], "extract": "A cleaner."},
    {"title": "Untold", "year": 1994, "cast": [], "genres": []},
]
FILES = {
    "ratings.dat": RATINGS,
    "movies.dat": FILMS,
    "movies-1990s.json": json.dumps(TEXTS).encode(),
    "users.dat": b"7::123\n8::124\n",
    "genres.json": b"[",
    "README.md": b"",
}
LENS = {
    "ratings.csv": b"userId,movieId,rating,timestamp\r\n"
    b"1,10,3.5,964982703\r\n1,11,0.5,964982704\r\n2,10,5.0,964982705\r\n",
    "movies.csv": b'movieId,title,genres\r\n10,"Matrix, The (1999)",Action|Sci-Fi\r\n'
    b'11,"Seven (a.k.a. Se7en) (1995) ",(no genres listed)\r\n12,Up,Comedy\r\n',
    "tags.csv": b"userId,movieId,tag,timestamp\n",
    "links.csv": b"movieId,imdbId,tmdbId\n",
}


def links(corpus: Corpus) -> set[tuple[str, str, float]]:
    assert corpus.links is not None
    ids = corpus.objects["object"].to_pylist()
    return {(ids[row["source"]], ids[row["target"]], row["weight"]) for row in corpus.links.to_pylist()}


def test_a_folder_becomes_films_users_and_links_by_hand(tmp_path: Path) -> None:
    made = Movies(strict=True).read_reviews([write_files(tmp_path, FILES)])
    corpus = made.corpus
    assert [tuple(row.values()) for row in corpus.objects.to_pylist()] == [
        ("film:0000001", "The Matrix (1999)", "film"),
        ("film:0000002", "Léon (1994)", "film"),
        ("film:0000003", "Nameless", "film"),
        ("user:7", "user 7", "user"),
        ("user:8", "user 8", "user"),
    ]
    assert [tuple(row.values()) for row in corpus.items.to_pylist()] == [
        ("0000001", "The Matrix", 1999, ["Action", "Sci-Fi"], "A hacker."),
        ("0000002", "Léon", 1994, ["Crime", "Drama"], None),
        ("0000003", "Nameless", None, [], None),
    ]
    assert links(corpus) == {
        ("film:0000001", "user:7", 9.0),
        ("film:0000002", "user:7", 0.0),
        ("film:0000001", "user:8", 6.0),
    }
    mentions = sorted(tuple(row.values()) for row in corpus.mentions.to_pylist())
    assert mentions == [(0, 0), (0, 3), (0, 4), (1, 1), (1, 3), (2, 2)]
    assert made.reviews["time"][0].as_py() == datetime(2013, 4, 3, 22, 45, 7)
    assert [str(spec) for spec in corpus.dimensions] == ["decade=year@decades", "genre", "topic"]
    assert "MovieTweetings" in corpus.attribution and "Wikipedia" in corpus.attribution
    assert corpus.dropped == {"films of the text table without a text": 1}


def test_a_link_weighs_its_rating_or_one(tmp_path: Path) -> None:
    path = write_files(tmp_path, FILES)
    assert {weight for _, _, weight in links(Movies(weights="one").read([path]))} == {1.0}
    with pytest.raises(ParameterError, match="unknown weights 'stars': choose one of one, rating"):
        Movies(weights="stars")


def test_years_may_be_apart_where_that_is_asked(tmp_path: Path) -> None:
    path = write_files(tmp_path, FILES)
    assert Movies(years_apart=1).read([path]).items["text"].to_pylist() == ["A hacker.", "A cleaner.", None]
    with pytest.raises(ParameterError, match="years_apart is -1, expected 0 to 5 years"):
        Movies(years_apart=-1)


def test_movielens_is_read_from_csv_with_its_titles_and_genres(tmp_path: Path) -> None:
    table = json.dumps([*TEXTS, {"title": "Se7en (1995 film)", "year": 1995, "extract": "Sins."}]).encode()
    corpus = Movies(strict=True).read(
        [write_files(tmp_path / "l", LENS), write_files(tmp_path / "t", {"movies.json": table})]
    )
    assert [tuple(row.values()) for row in corpus.items.to_pylist()] == [
        ("10", "Matrix, The", 1999, ["Action", "Sci-Fi"], "A hacker."),
        ("11", "Seven (a.k.a. Se7en)", 1995, [], "Sins."),
        ("12", "Up", None, ["Comedy"], None),
    ]
    assert links(corpus) == {("film:10", "user:1", 3.5), ("film:11", "user:1", 0.5), ("film:10", "user:2", 5.0)}
    assert "MovieLens" in corpus.attribution
    without = Movies().read([tmp_path / "l"])
    assert [spec.name for spec in without.dimensions] == ["decade", "genre"] and "Wiki" not in without.attribution


def test_columns_are_found_by_the_header_and_latin_1_is_said(tmp_path: Path) -> None:
    files = {
        "ratings.csv": b"timestamp,rating,movieId,userId\n5,4,1,2\n",
        "movies.dat": "1::Léon (1994)::Drama".encode("latin-1"),
    }
    said: list[str] = []
    path = write_files(tmp_path, files)
    corpus = Movies().read([path], progress=lambda stage, done, total=None: said.append(stage))
    assert links(corpus) == {("film:1", "user:2", 4.0)}
    assert corpus.items["title"].to_pylist() == ["Léon"]
    assert "1 lines are not UTF-8 and are read as Latin-1" in said


def test_every_way_to_hold_the_files_gives_the_same_corpus(tmp_path: Path) -> None:
    truth = Movies().read([write_files(tmp_path / "plain", FILES)])
    ratings = {f"./{name}": FILES[name] for name in ("ratings.dat", "movies.dat", "users.dat")}
    texts = {name: FILES[name] for name in ("movies-1990s.json", "genres.json")}
    held = zipped({f"ml/{name}": content for name, content in FILES.items()})
    two = write_files(tmp_path / "two", {"a.tar.xz": tar(ratings, "w:xz"), "b.tar.bz2": tar(texts, "w:bz2")})
    ways = [
        [two],
        [two / "b.tar.bz2", two / "a.tar.xz"],
        [write_files(tmp_path / "mixed", texts | {"a.tar.xz": tar(ratings, "w:xz"), "notes.txt": b""})],
        [write_files(tmp_path / "zip", {"a.zip": held}) / "a.zip"],
        [write_files(tmp_path / "gz", {f"{name}.gz": gzip.compress(text) for name, text in FILES.items()})],
        [tmp_path / "plain" / name for name in ("movies-1990s.json", "ratings.dat", "movies.dat")],
    ]
    for paths in ways:
        made = Movies(strict=True).read(paths)
        assert made.objects.equals(truth.objects) and made.items.equals(truth.items), paths
        assert made.links is not None and made.links.equals(truth.links), paths


def test_of_two_ratings_of_a_pair_the_latest_counts(tmp_path: Path) -> None:
    files = FILES | {"ratings.dat": RATINGS + b"7::0000001::2::9\n8::0000001::1::1999999999\n"}
    made = Movies(strict=True).read_reviews([write_files(tmp_path, files)])
    assert ("film:0000001", "user:7", 9.0) in links(made.corpus)
    assert ("film:0000001", "user:8", 1.0) in links(made.corpus)
    assert made.reviews.num_rows == 3
    assert made.corpus.dropped["reviews that a later one of the same user replaces"] == 2


def test_bad_lines_are_counted_with_their_numbers_and_stop_when_strict(tmp_path: Path) -> None:
    bad = [
        ("ratings.dat", b"7::1", "lines with too few fields", "has 2, expected userid::movieid::rating::timestamp"),
        ("ratings.dat", b"7::::1::2", "ratings without a user or film", "holds ['7', '', '1', '2']"),
        ("ratings.dat", b"7::0000001::good::2", "ratings that are no numbers", "the rating is 'good', expected a"),
        ("ratings.dat", b"7::0000001::nan::2", "ratings that are no numbers", "the rating is 'nan', expected a"),
        ("ratings.dat", b"7::0000001::-1::2", "ratings that are no numbers", "the rating is '-1', expected a"),
        ("ratings.dat", b"9::0000001::1::x", "times that cannot be read", "the time is 'x', expected seconds"),
        ("ratings.dat", b"7::0000009::1::2", "reviews of a film that is not there", "there is no film '0000009'"),
        ("movies.dat", b"0000001::Again (2000)::", "films named twice", "film '0000001' was there before"),
        ("movies.dat", b"0000004:: ::", "films without an id or title", "expected movieid::title::genres"),
    ]
    for number, (file, line, reason, sentence) in enumerate(bad):
        path = write_files(tmp_path / str(number), FILES | {file: FILES[file] + line + b"\n"})
        said: list[str] = []
        corpus = Movies().read([path], progress=lambda stage, done, total=None, said=said: said.append(stage))
        assert corpus.dropped[reason] == 1, reason
        told = [stage for stage in said if f"{file} line 4: " in stage]
        assert len(told) == 1 and reason in told[0] and sentence in told[0], said
        with pytest.raises(SourceError) as error:
            Movies(strict=True).read([path])
        assert str(error.value).startswith(f"{file} line 4: ") and sentence in str(error.value)


def test_data_without_a_use_is_refused_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases: list[tuple[dict[str, bytes], str]] = [
        ({"ratings.dat": RATINGS}, "there is no file of movies: expected ratings.dat"),
        ({"movies.dat": FILMS}, "there is no file of ratings: expected ratings.dat"),
        (FILES | {"movies.dat": b"x"}, "movies.dat holds no film, expected lines such as movieid::title::genres (left"),
        (FILES | {"ratings.dat": b""}, "no review is about one of the 3 film records"),
        (LENS | {"movies.csv": b"id,name\n1,x"}, "movies.csv line 1 has no column 'movieid': it has 'id', 'name'"),
        (FILES | {"movies-1990s.json": b"[{]"}, "movies-1990s.json is not JSON (Expecting property name"),
        (FILES | {"movies-1990s.json": b"{}"}, "movies-1990s.json holds no list, expected one of films"),
        (FILES | {"ratings.csv": LENS["ratings.csv"]}, "'ratings.dat' and 'ratings.csv' both hold ratings"),
    ]
    for number, (files, sentence) in enumerate(cases):
        with pytest.raises(SourceError) as error:
            Movies().read([write_files(tmp_path / str(number), files)])
        assert sentence in str(error.value)
    monkeypatch.setattr(movies, "MAX_TEXT_BYTES", 20)
    with pytest.raises(SourceError, match=r"movies-1990s.json has more than 20 bytes"):
        Movies().read([write_files(tmp_path / "big", FILES)])


def test_bad_texts_are_counted(tmp_path: Path) -> None:
    table = json.dumps([*TEXTS, 7, {"title": "x"}, {"title": 1, "year": 2}, {"title": "Nameless", "year": "1999"}])
    path = write_files(tmp_path, FILES | {"movies-1990s.json": table.encode()})
    assert Movies().read([path]).dropped["film texts without a title or year"] == 4
    with pytest.raises(SourceError, match=r"movies-1990s.json film 4: lacks 'title' or 'year'"):
        Movies(strict=True).read([path])


def test_an_archive_is_never_unpacked_outside_its_place(tmp_path: Path) -> None:
    files = {"../../ratings.dat": RATINGS, "movies.dat": FILMS}
    (tmp_path / "a.tar.xz").write_bytes(tar(files, "w:xz"))
    with pytest.raises(SourceError, match="a path that leads out of the archive"):
        Movies().read([tmp_path / "a.tar.xz"])
    (tmp_path / "a.tar.gz").write_bytes(tar(files, "w:gz"))
    assert Movies().read([tmp_path / "a.tar.gz"]).items.num_rows == 3
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.tar.gz", "a.tar.xz"]


def test_a_member_that_is_too_big_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "MAX_MEMBER_BYTES", 1_000)
    (tmp_path / "a.tar.xz").write_bytes(tar({"ratings.dat": bytes(1_001)}, "w:xz"))
    with pytest.raises(SourceError, match=r"ratings\.dat takes 1,001 bytes or more unpacked"):
        Movies().read([tmp_path / "a.tar.xz"])


def test_a_title_is_found_however_it_is_written() -> None:
    texts = FilmTexts()
    for title in ("The Matrix", "Léon: The Professional", "Tom & Jerry", "Crash (2004 film)", "???", "$9.99"):
        texts.add(title, 2000, title)
    for title, found in {
        "the matrix": "The Matrix",
        "Matrix, The": "The Matrix",
        "Matrix": None,
        "Leon - The Professional (a.k.a. The Professional)": "Léon: The Professional",
        "Professional, The (Léon: The Professional)": "Léon: The Professional",
        "Tom and Jerry": "Tom & Jerry",
        "Crash": "Crash (2004 film)",
        "!!!": None,
        "": None,
    }.items():
        assert texts.find(title, 2000) == found, title
        assert texts.find(title, 2001) is None and texts.find(title, None) is None


@given(st.text(max_size=20))
def test_a_title_with_a_letter_always_finds_itself(title: str) -> None:
    texts = FilmTexts()
    texts.add(title, 1999, "it")
    assert (texts.find(title, 1999) == "it") == bool(normalize_title(title)) or "(" in title


def test_tasks_by_genre_and_decade_are_one_call(tmp_path: Path) -> None:
    films = b"".join(b"%d::Film %d (%d)::Sci-Fi|Drama\n" % (film, film, 1996 + film) for film in range(10))
    ratings = b"".join(b"%d::%d::5::%d\n" % (user, film, user * film) for film in range(10) for user in range(5))
    path = write_files(tmp_path, {"movies.dat": films, "ratings.dat": ratings})
    made = Movies().read_reviews([path])
    assert find_matching_items(made.corpus, {"genre": "Sci-Fi", "year": (2000, 2009)}).tolist() == [4, 5, 6, 7, 8, 9]
    task = Movies().read_task([path], "scifi00")
    assert len(task.query) == 3 + 4 and task.hidden.num_rows == round(0.2 * 12)
    times = task.hidden["time"].to_pylist()
    assert times == sorted(times)
    with pytest.raises(ParameterError, match="unknown task 'scify': choose one of drama10, scifi00"):
        Movies().read_task([path], "scify")


def check_bytes(files: dict[str, bytes], name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = write_files(Path(place), files)
        check_corpus_or_sentence(lambda: Movies(years_apart=1).read_reviews([path / name]).corpus)


@given(
    st.sampled_from(["ratings.dat", "movies.dat", "movies-1990s.json"]).flatmap(
        lambda name: st.tuples(st.just(name), st.binary(max_size=100) | damaged(FILES[name]))
    )
)
def test_whatever_a_file_holds_a_corpus_or_one_sentence_comes_back(change: tuple[str, bytes]) -> None:
    check_bytes(FILES | dict([change]), "")


@given(
    st.sampled_from(["ratings.csv", "movies.csv"]).flatmap(
        lambda name: st.tuples(
            st.just(name), st.text('",\r\n\x001a', max_size=30).map(str.encode) | damaged(LENS[name])
        )
    )
)
@example(("ratings.csv", b"," + LENS["ratings.csv"]))
def test_whatever_a_csv_file_holds_a_corpus_or_one_sentence_comes_back(change: tuple[str, bytes]) -> None:
    name, content = change
    check_bytes(LENS | {name: LENS[name] + content}, "")
    check_bytes(LENS | {name: content}, "")


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.just("\ud800")
FILM = st.fixed_dictionaries({}, optional={"title": LEAVES, "year": LEAVES | st.just(1999), "extract": LEAVES})


@given(st.lists(FILM | LEAVES, max_size=4))
def test_whatever_a_table_of_texts_holds_a_corpus_or_one_sentence_comes_back(films: list[Any]) -> None:
    named = [{**film, "title": "The Matrix"} if isinstance(film, dict) else film for film in films]
    check_bytes(FILES | {"movies-1990s.json": json.dumps(films + named).encode()}, "")


@given(st.sampled_from([tar(FILES), tar(FILES, "w:gz"), tar(FILES, "w:xz")]).flatmap(damaged))
def test_whatever_an_archive_holds_a_corpus_or_one_sentence_comes_back(content: bytes) -> None:
    check_bytes({"a.tar.xz": content}, "a.tar.xz")


DATA = Path(os.environ.get("CUBE2NET_DATA", "")) / "movies"


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("CUBE2NET_DATA") or not DATA.is_dir(),
    reason="the environment variable CUBE2NET_DATA names no folder with MovieTweetings and film texts in movies/",
)
def test_the_whole_of_movietweetings_has_the_films_users_and_texts_it_should_have() -> None:
    made = Movies(strict=True).read_reviews([DATA])
    kinds = made.corpus.objects["kind"].to_pylist()
    assert (kinds.count("film"), kinds.count("user"), made.reviews.num_rows) == (10_506, 16_554, 100_000)
    told = np.asarray(pc.is_valid(made.corpus.items["text"]))
    assert int(told.sum()) == 4_660
    assert int(told[made.reviews["thing"].to_numpy()].sum()) == 78_836
    packed = [next(DATA.glob("wikipedia-movie-data*.tar.xz")), next(DATA.glob("movietweetings*.tar.xz"))]
    assert Movies(strict=True).read(packed).items.equals(made.corpus.items)
