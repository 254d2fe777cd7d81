"""The reader of Yelp's challenge, on small data made by hand in the forms of its rounds, and on bad data."""

import gzip
import json
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from archives import tar, write_files, zipped
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import ParameterError, QueryError, SourceError
from cube2net.io import text_records
from cube2net.io.reviews.link_tasks import ReviewCorpus, Task, find_matching_items, make_link_task
from cube2net.io.reviews.yelp import ITEMS, Yelp, label_cities, parse_attributes, parse_seconds
from cube2net.model.corpus import Corpus

from fuzz import check_corpus_or_sentence, damaged

BUSINESSES: list[dict[str, Any]] = [
    {
        "business_id": "b1",
        "name": "Thai  Basil",
        "city": "Urbana",
        "state": "IL",
        "stars": 4.5,
        "categories": ["Restaurants", "Thai"],
        "attributes": {"GoodForKids": True, "BusinessParking": {"garage": False, "lot": True}, "Alcohol": "full_bar"},
    },
    {
        "business_id": "b2",
        "name": "Café",
        "city": "URBANA",
        "state": "IL",
        "stars": 3,
        "categories": "Coffee & Tea, Restaurants",
        "attributes": [
            "GoodForKids: False",
            "RestaurantsTakeOut: True",
            "Ambience: {'hipster': True, 'casual': False}",
        ],
    },
    {"business_id": "b3", "name": "Bar", "city": "Las Vegas", "state": "NV", "categories": None, "attributes": None},
]
REVIEWS: list[dict[str, Any]] = [
    {"review_id": "r1", "business_id": "b1", "user_id": "u1", "stars": 5, "date": "2015-03-01", "text": "Great curry."},
    {"review_id": "r2", "business_id": "b1", "user_id": "u1", "stars": 1, "date": "2017-03-01", "text": "Not again."},
    {"review_id": "r3", "business_id": "b1", "user_id": "u2", "stars": 4, "date": "2016-01-01 10:00:01", "text": "ok"},
    {"review_id": "r4", "business_id": "b2", "user_id": "u2", "stars": 3, "date": "2014-01-01", "text": "Fine ☕"},
]
USERS: list[dict[str, Any]] = [
    {"user_id": "u1", "name": "Ann", "friends": ["u2"]},
    {"user_id": "u2", "name": "Bob"},
    {"user_id": "u9", "name": "Nobody"},
]
TIP = {"business_id": "b1", "user_id": "u1", "text": "Try the soup", "compliment_count": 0}


def lines(records: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


FILES = {"business.json": lines(BUSINESSES), "review.json": lines(REVIEWS), "user.json": lines(USERS)}


def facts(corpus: Corpus) -> dict[str, Any]:
    assert corpus.links is not None
    ids = corpus.objects["object"].to_pylist()
    return {
        "objects": {(row["object"], row["name"], row["kind"]) for row in corpus.objects.to_pylist()},
        "items": corpus.items.to_pylist(),
        "mentions": {
            (corpus.items["item"][row["item"]].as_py(), ids[row["object"]]) for row in corpus.mentions.to_pylist()
        },
        "links": {(ids[row["source"]], ids[row["target"]], row["weight"]) for row in corpus.links.to_pylist()},
    }


def test_a_folder_becomes_businesses_users_and_links_by_hand(tmp_path: Path) -> None:
    corpus = Yelp(strict=True).read([write_files(tmp_path, FILES)])
    made = facts(corpus)
    assert made["objects"] == {
        ("business:b1", "Thai Basil", "business"),
        ("business:b2", "Café", "business"),
        ("business:b3", "Bar", "business"),
        ("user:u1", "Ann", "user"),
        ("user:u2", "Bob", "user"),
    }
    assert made["items"][0] == {
        "item": "b1",
        "city": "Urbana",
        "state": "IL",
        "category": ["Restaurants", "Thai"],
        "feature": ["good for kids", "business parking: lot", "alcohol: full bar"],
        "stars": 4.5,
        "text": "Great curry.\nNot again.\nok",
    }
    assert made["items"][1]["city"] == "Urbana"
    assert made["items"][1]["category"] == ["Coffee & Tea", "Restaurants"]
    assert made["items"][1]["feature"] == ["take out", "ambience: hipster"]
    assert made["items"][2] == {
        **{"item": "b3", "city": "Las Vegas", "state": "NV", "category": [], "feature": []},
        **{"stars": None, "text": None},
    }
    assert made["links"] == {
        ("business:b1", "user:u1", 2.0),
        ("business:b1", "user:u2", 1.0),
        ("business:b2", "user:u2", 1.0),
    }
    assert made["mentions"] == {(key, f"business:{key}") for key in ("b1", "b2", "b3")} | {
        (business.removeprefix("business:"), user) for business, user, _ in made["links"]
    }
    assert corpus.dropped == {"users who wrote no review": 1}
    assert [str(spec) for spec in corpus.dimensions] == ["city/state", "category", "topic"]
    assert "Yelp Open Dataset" in corpus.attribution


def test_every_way_to_hold_the_files_gives_the_same_corpus(tmp_path: Path) -> None:
    truth = facts(Yelp().read([write_files(tmp_path / "plain", FILES)]))
    named = {f"yelp_academic_dataset_{name}": content for name, content in FILES.items()}
    typed = [
        {**record, "type": kind}
        for kind, records in (("review", REVIEWS), ("user", USERS), ("business", BUSINESSES))
        for record in records
    ]
    inside = {f"round9/{name}": content for name, content in reversed(named.items())}
    (tmp_path / "a.tgz").write_bytes(tar(inside | {"._user.json": b"x"}, "w:gz"))
    ways: list[list[Path]] = [
        [write_files(tmp_path / "named", named)],
        [write_files(tmp_path / "packed", {f"{name}.gz": gzip.compress(content) for name, content in FILES.items()})],
        [tmp_path / "plain" / name for name in ("review.json", "user.json", "business.json")],
        [write_files(tmp_path / "one", {"yelp_academic_dataset.json": lines(typed)}) / "yelp_academic_dataset.json"],
        [tmp_path / "a.tgz"],
    ]
    for paths in ways:
        made = facts(Yelp(strict=True).read(paths))
        assert {key: made[key] for key in ("objects", "mentions", "links")} == {
            key: truth[key] for key in ("objects", "mentions", "links")
        }, paths
        assert made["items"] == truth["items"], paths


def test_tips_and_other_files_are_passed_over_even_when_strict(tmp_path: Path) -> None:
    more = {"yelp_academic_dataset_tip.json": b"not looked at", "checkin.json": b"[", "photos.json": b"]"}
    corpus = Yelp(strict=True).read([write_files(tmp_path, FILES | more)])
    assert corpus.dropped == {"users who wrote no review": 1}
    mixed = {"multiple.json": b"".join(FILES.values()) + lines([TIP, {"type": "checkin", "business_id": "b1"}])}
    corpus = Yelp(strict=True).read([write_files(tmp_path / "mixed", mixed)])
    assert corpus.dropped["records of other kinds, such as tips"] == 2


def test_a_text_is_never_longer_than_max_text(tmp_path: Path) -> None:
    path = write_files(tmp_path, FILES)
    for most in (0, 1, 5, 12, 13, 14, 25, 100):
        texts = Yelp(max_text=most).read([path]).items["text"].to_pylist()
        whole = "Great curry.\nNot again.\nok"
        assert (texts[0] or "") in (whole[:most], whole[:most].strip())
    with pytest.raises(ParameterError, match=r"max_text is -1, expected 0 or more characters"):
        Yelp(max_text=-1)


def test_the_attributes_of_all_rounds_become_the_same_labels() -> None:
    early = {"Good For Kids": True, "Take-out": True, "Parking": {"garage": True, "lot": False}, "Wi-Fi": "free"}
    middle = ["GoodForKids: True", "RestaurantsTakeOut: True", "Parking: {'garage': True, 'lot': False}", "WiFi: free"]
    late = {"GoodForKids": "True", "RestaurantsTakeOut": "True", "Parking": "{u'garage': True}", "WiFi": "u'free'"}
    labels = ["good for kids", "take out", "parking: garage", "wi fi: free"]
    assert parse_attributes(early) == parse_attributes(middle) == parse_attributes(late) == labels
    assert parse_attributes({"RestaurantsPriceRange2": 2, "Price Range": "2"}) == ["price range: 2"]
    for nothing in (None, {}, [], "x", 7, {"Alcohol": "u'none'"}, {"A": None}, {"A": {}}, ["B: False"], {"": True}):
        assert parse_attributes(nothing) == []


def test_a_city_has_one_spelling_in_a_state_and_one_state() -> None:
    assert label_cities(["Urbana", "urbana", "Urbana"], ["OH", "IL", "IL"])[0] == "Urbana, OH"
    assert label_cities([], []) == []


@given(st.lists(st.tuples(st.none() | st.sampled_from("aAbB"), st.sampled_from(["IL", "NV"]))))
def test_a_citys_label_always_has_a_single_state(places: list[tuple[str | None, str]]) -> None:
    cities, states = [city for city, _ in places], [state for _, state in places]
    home: dict[str, str] = {}
    for city, label, state in zip(cities, label_cities(cities, states), states, strict=True):
        assert (city is None) == (label is None)
        if label is not None:
            assert home.setdefault(label, state) == state


def test_bad_lines_are_counted_with_their_numbers_and_stop_when_strict(tmp_path: Path) -> None:
    bad = [
        (b"{nonsense", "lines that are no JSON objects", "is not a JSON object"),
        (b"[1]", "lines that are no JSON objects", "an object is expected"),
        (b'{"review_id": "\xff"}', "lines that are not UTF-8", "byte 0xff is not UTF-8"),
        (b'{"a": 1}', "objects of no known kind", "holds 'a', expected 'business_id' or 'user_id'"),
        (lines([{**REVIEWS[0], "user_id": 7}]), "reviews without an id", "'user_id' is 7, expected an id"),
        (lines([{**REVIEWS[0], "business_id": " "}]), "reviews without an id", "'business_id' is ' ', expected an id"),
        (lines([{**REVIEWS[0], "date": "n.d."}]), "dates that cannot be read", "'date' is 'n.d.', expected one such"),
        (lines([{**REVIEWS[0], "stars": "five"}]), "stars that are no numbers", "'stars' is 'five', expected a number"),
        (lines([{**REVIEWS[0], "business_id": "b8"}]), "reviews of a business that is not there", "no business 'b8'"),
        (lines([BUSINESSES[0]]), "businesses named twice", "business 'b1' was there before"),
        (lines([{"user_id": None}]), "users without an id", "'user_id' is None, expected an id"),
    ]
    for number, (line, reason, sentence) in enumerate(bad):
        files = FILES | {"review.json": FILES["review.json"] + line.rstrip() + b"\n" + lines([REVIEWS[3]])}
        path = write_files(tmp_path / str(number), files)
        said: list[str] = []
        corpus = Yelp().read([path], progress=lambda stage, done, total=None, said=said: said.append(stage))
        assert corpus.dropped[reason] == 1, reason
        told = [stage for stage in said if "review.json line 5: " in stage]
        assert len(told) == 1 and reason in told[0] and sentence in told[0], said
        with pytest.raises(SourceError) as error:
            Yelp(strict=True).read([path])
        assert str(error.value).startswith("review.json line 5: ") and sentence in str(error.value)


def test_data_without_a_use_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no business: expected Yelp's"):
        Yelp().read([write_files(tmp_path / "r", {"review.json": FILES["review.json"]})])
    with pytest.raises(SourceError, match="no review is about one of the 3 business records"):
        Yelp().read([write_files(tmp_path / "b", {"business.json": FILES["business.json"]})])
    twice = write_files(tmp_path / "t", FILES | {"review.json.gz": gzip.compress(FILES["review.json"])})
    with pytest.raises(SourceError, match=r"'review.json' is there twice \('review.json' and 'review.json.gz'\)"):
        Yelp().read([twice])


def test_a_line_without_end_is_passed_over_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_files(tmp_path, FILES | {"review.json": b"{" * 5_000 + b"\n" + FILES["review.json"]})
    monkeypatch.setattr(text_records, "MAX_LINE_BYTES", 1_000)
    assert Yelp().read([path]).dropped["lines longer than 16 MiB"] == 1
    with pytest.raises(SourceError, match=r"review.json line 1: the line is longer than 16 MiB"):
        Yelp(strict=True).read([path])


def test_progress_is_told_in_bytes_and_never_goes_back(tmp_path: Path) -> None:
    many = [{**REVIEWS[0], "user_id": f"u{number}"} for number in range(25_000)]
    path = write_files(tmp_path, FILES | {"review.json": lines(many)})
    told: list[tuple[str, int, int | None]] = []
    Yelp().read([path], progress=lambda stage, done, total=None: told.append((stage, done, total)))
    done = [much for stage, much, _ in told if stage.startswith("reading")]
    total = sum(file.stat().st_size for file in path.iterdir())
    assert len(done) == 5 and done == sorted(done) and done[-1] == total
    assert {whole for stage, _, whole in told if stage.startswith("reading")} == {total}


def make_reviews(pairs: list[tuple[int, int, str | None]], *, things: int, kids: set[int]) -> ReviewCorpus:
    """Return businesses in Illinois, some good for kids, and reviews (business, user, date)."""
    businesses = [
        {"business_id": f"b{row}", "state": "IL", "city": "x", "attributes": {"GoodForKids": row in kids}}
        for row in range(things)
    ]
    reviews = [
        {"review_id": f"r{row}", "business_id": f"b{business}", "user_id": f"u{user}", "stars": 1, "date": when}
        for row, (business, user, when) in enumerate(pairs)
    ]
    with tempfile.TemporaryDirectory() as place:
        path = write_files(Path(place), {"business.json": lines(businesses), "review.json": lines(reviews)})
        return Yelp().read_reviews([path])


ILKID = {"state": "IL", "feature": "good for kids"}


def pairs_of(table: pa.Table, corpus: Corpus, one: str = "source", other: str = "target") -> set[tuple[str, str]]:
    ids = corpus.objects["object"].to_pylist()
    return {(ids[row[one]].split(":")[1], ids[row[other]].split(":")[1]) for row in table.to_pylist()}


def test_a_link_task_by_hand() -> None:
    early = [(0, 0, "2010-01-01"), (0, 1, "2012-01-01"), (1, 2, "2011-01-01")]
    late = [(0, 0, "2019-01-01"), (1, 1, "2015-01-01"), (2, 2, "2018-01-01")]
    data = make_reviews([*early, *late], things=3, kids={0, 1})
    assert find_matching_items(data.corpus, ILKID).tolist() == [0, 1]
    task = make_link_task(data, ILKID, things=1, users=1, hidden=0.25, seed=3)
    assert repr(task).startswith("Task(5 objects in the query, 1 hidden links, Corpus(6 objects, 3 items, 4 links)")
    assert task.query == ("business:b0", "business:b1", "user:u0", "user:u1", "user:u2")
    assert pairs_of(task.hidden, data.corpus) == {("b1", "u1")}
    assert task.hidden["time"].to_pylist() == [datetime(2015, 1, 1)]
    assert task.corpus.links is not None
    assert pairs_of(task.corpus.links, data.corpus) == {("b0", "u0"), ("b0", "u1"), ("b1", "u2"), ("b2", "u2")}
    seen = {(row["item"], row["object"]) for row in task.corpus.mentions.to_pylist()}
    before = {(row["item"], row["object"]) for row in data.corpus.mentions.to_pylist()}
    assert before - seen == {(1, 4)} and seen < before
    assert task.corpus.dropped["links hidden for a task"] == 1
    assert task.corpus.items is data.corpus.items and task.corpus.objects is data.corpus.objects


TRIPLES = st.tuples(
    st.integers(0, 5),
    st.integers(0, 5),
    st.one_of(st.just("n.d."), st.integers(1, 28).map(lambda day: f"2016-02-{day:02d}")),
)


@given(st.lists(TRIPLES, min_size=1, max_size=30), st.integers(0, 3), st.sampled_from([0.2, 0.5, 1.0]))
def test_a_hidden_link_leaves_no_trace_and_is_never_older_than_a_link_that_stays(
    pairs: list[tuple[int, int, str | None]], seed: int, share: float
) -> None:
    data = make_reviews(pairs, things=6, kids={0, 1, 2, 3})
    try:
        task = make_link_task(data, ILKID, users=share, hidden=share, seed=seed)
    except (QueryError, SourceError):
        return
    query, corpus = {key.split(":")[1] for key in task.query}, task.corpus
    assert corpus.links is not None and data.corpus.links is not None
    hidden = pairs_of(task.hidden, corpus)
    left = pairs_of(corpus.links, corpus)
    assert hidden and not hidden & left and hidden | left == pairs_of(data.corpus.links, corpus)
    assert all(business in query and user in query for business, user in hidden)
    mentioned = {
        (f"b{corpus.items['item'][row['item']].as_py()[1:]}", corpus.objects["object"][row["object"]].as_py())
        for row in corpus.mentions.to_pylist()
    }
    assert mentioned == {(business, f"user:{user}") for business, user in left} | {
        (f"b{row}", f"business:b{row}") for row in range(6)
    }
    first: dict[tuple[str, str], str] = {}
    for business, user, when in pairs:
        key, date = (f"b{business}", f"u{user}"), "" if when == "n.d." else str(when)
        first[key] = min(first.get(key, "9"), date)
    inside = [first[pair] for pair in left if pair[0] in query and pair[1] in query]
    assert min(first[pair] for pair in hidden) >= max(inside, default="")
    again = make_link_task(data, ILKID, users=share, hidden=share, seed=seed)
    assert again.query == task.query and again.hidden.equals(task.hidden)


def test_shares_are_those_of_the_paper_and_other_seeds_choose_others() -> None:
    rng = np.random.default_rng(0)
    pairs = [(business, int(user), "2016-01-01") for business in range(100) for user in rng.integers(0, 400, 5)]
    data = make_reviews(list(pairs), things=100, kids=set(range(80)))
    task = make_link_task(data, ILKID)
    chosen = {int(key.removeprefix("business:b")) for key in task.query if key.startswith("business")}
    users = {int(key.removeprefix("user:u")) for key in task.query if key.startswith("user")}
    assert len(chosen) == 40 and chosen < set(range(80))
    reviewers = {user for business, user, _ in pairs if business in chosen}
    assert users < reviewers and len(users) == round(0.8 * len(reviewers))
    links = {(business, user) for business, user, _ in pairs if business in chosen and user in users}
    assert task.hidden.num_rows == round(0.2 * len(links))
    assert make_link_task(data, ILKID, seed=1).query != task.query


def test_the_tasks_of_the_paper_are_one_call(tmp_path: Path) -> None:
    task = Yelp().read_task([write_files(tmp_path, FILES)], "ilkid")
    assert isinstance(task, Task) and task.query[0] == "business:b1" and task.hidden.num_rows == 1
    with pytest.raises(ParameterError, match="unknown task 'ilkids': choose one of ilkid, nvout"):
        Yelp().read_task([tmp_path], "ilkids")
    with pytest.raises(QueryError, match="no item has state 'NV' and feature 'take out'"):
        Yelp().read_task([tmp_path], "nvout")


def test_a_task_that_cannot_be_set_says_why() -> None:
    data = make_reviews([(0, 0, "n.d."), (1, 0, "2016-01-01")], things=3, kids={0, 2})
    with pytest.raises(ParameterError, match="users is 1.5, expected a share above 0 and at most 1"):
        make_link_task(data, ILKID, users=1.5)
    with pytest.raises(ParameterError, match="unknown attribute 'stat': choose one of category, city"):
        make_link_task(data, {"stat": "IL"})
    with pytest.raises(ParameterError, match="attribute 'stars' holds float, which is never 'many'"):
        make_link_task(data, {"stars": "many"})
    with pytest.raises(SourceError, match="none of the 1 links of the query has a date"):
        make_link_task(data, ILKID, things=1)
    with pytest.raises(QueryError, match="nobody reviewed one of the 1 items chosen among 1"):
        make_link_task(make_reviews([(0, 0, None)], things=2, kids={1}), ILKID)
    with pytest.raises(SourceError, match=r"reviews name rows 0 to 1 as users: not all are"):
        ReviewCorpus(data.corpus, data.reviews.set_column(1, "user", pa.array([0, 1], pa.int32())))


def test_dates_of_all_rounds_are_read() -> None:
    assert parse_seconds("2016-05-28") == 1464393600
    assert parse_seconds("2016-05-28 04:00:09") == 1464393600 + 4 * 3600 + 9
    assert parse_seconds("2016-05-28 12:34:") == 1464393600
    for bad in (None, 7, "", "2016-13-01", "28 May 2016"):
        assert parse_seconds(bad) is None


def check_bytes(files: dict[str, bytes], name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = write_files(Path(place), files)
        check_corpus_or_sentence(lambda: Yelp(max_text=50).read_reviews([path / name]).corpus)


KEYS = st.sampled_from(
    ["business_id", "user_id", "review_id", "type", "stars", "date", "text", *ITEMS, "categories", "attributes"]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["b1", "u1", "review", "business", "2016-05-28", "{'a': True}", "\ud800", "{'", "u'a"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | KEYS, inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.lists(st.dictionaries(KEYS, VALUES, max_size=8), max_size=5).map(lines)


@given(st.one_of(st.binary(max_size=100), damaged(FILES["review.json"]), RECORDS))
def test_whatever_a_file_holds_a_corpus_or_one_sentence_comes_back(content: bytes) -> None:
    check_bytes(FILES | {"more.json": content}, "")
    check_bytes({"review.json": content, "business.json": FILES["business.json"]}, "")


@given(st.sampled_from([tar(FILES), tar(FILES, "w:gz"), tar(FILES, "w:xz"), zipped(FILES)]).flatmap(damaged))
def test_whatever_an_archive_holds_a_corpus_or_one_sentence_comes_back(content: bytes) -> None:
    check_bytes({"a.tar": content}, "a.tar")
