"""Reviews of businesses and films as a corpus, and tasks of link prediction in which the latest of them are hidden."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array
from cube2net._util.progress import Progress, silent
from cube2net._util.random import stream
from cube2net.errors import ParameterError, QueryError, SourceError, unknown_name
from cube2net.io.dropped import MAX_EXAMPLES, Dropped
from cube2net.model.corpus import LABELS, LINKS, MENTIONS, OBJECTS, Corpus, table
from cube2net.model.dimension import DimensionSpec

REVIEWS = {"thing": pa.int32(), "user": pa.int32(), "time": pa.timestamp("s"), "stars": pa.float32()}
NO_TIME = -(2**63)
MAX_TIME = 253_402_300_799


@dataclass(frozen=True, eq=False)
class ReviewCorpus:
    """A corpus of things that users review, and every review: of what, by whom, when, with how many stars.

    The things come first among the objects and the users after them; row i of the items is about object i.
    ``reviews(thing, user, time, stars)`` names both by the rows of the corpus' objects; a time or stars
    that nobody gave are missing.
    """

    corpus: Corpus
    reviews: pa.Table

    def __post_init__(self) -> None:
        if dict(zip(self.reviews.schema.names, self.reviews.schema.types, strict=True)) != REVIEWS:
            raise SourceError(f"reviews have columns {self.reviews.schema.names}, expected {list(REVIEWS)}")
        things, objects = self.corpus.items.num_rows, self.corpus.objects.num_rows
        for column, low, high in (("thing", 0, things), ("user", things, objects)):
            ends = pc.min_max(self.reviews[column]).as_py()
            if self.reviews.num_rows and not low <= ends["min"] <= ends["max"] < high:
                raise SourceError(f"reviews name rows {ends['min']:,} to {ends['max']:,} as {column}s: not all are")

    def __repr__(self) -> str:
        return f"Reviewed({self.corpus!r}, {self.reviews.num_rows:,} reviews)"


@dataclass(frozen=True, eq=False)
class Things:
    """What is reviewed: its kind, ids and names, and a table with one item about each."""

    kind: str
    ids: Sequence[str]
    names: Sequence[str]
    items: pa.Table


class Reviews:
    """Takes reviews one at a time, before or after what they are about is known; each costs 20 bytes."""

    def __init__(self) -> None:
        self.things: dict[str, int] = {}
        self.users: dict[str, int] = {}
        self.first: list[tuple[str, int]] = []
        self.thing, self.user = array("i"), array("i")
        self.time, self.stars = array("q"), array("f")

    def __len__(self) -> int:
        return len(self.thing)

    def add(self, place: tuple[str, int], thing: str, user: str, time: int | None, stars: float) -> int:
        """Take a review that stands on a line of a file, and return the number of the thing it is about."""
        row = self.things.setdefault(thing, len(self.things))
        if row == len(self.first):
            self.first.append(place)
        self.thing.append(row)
        self.user.append(self.users.setdefault(user, len(self.users)))
        self.time.append(NO_TIME if time is None else time)
        self.stars.append(stars)
        return row

    def build_corpus(
        self,
        things: Things,
        dropped: Dropped,
        *,
        names: dict[int, str],
        keep_all: bool,
        weights: str,
        dimensions: tuple[DimensionSpec, ...],
        attribution: str,
    ) -> ReviewCorpus:
        """Return the corpus of the things and of the users who reviewed them.

        Reviews of other things are left out. Unless ``keep_all``, only the latest review of a pair stands.
        The weight of a link is the number of its reviews (``weights="count"``) or its stars ("stars").
        """
        thing, user, time, stars = self._select_known(things, dropped)
        if not len(thing):
            why = describe_left_out(dropped)
            raise SourceError(f"no review is about one of the {len(things.ids):,} {things.kind} records{why}")
        count = len(things.ids)
        codes, user = np.unique(user, return_inverse=True)
        pairs = thing.astype(np.int64) * len(codes) + user
        if not keep_all:
            kept = _find_latest(pairs, time)
            dropped.leave_out("reviews that a later one of the same user replaces", len(pairs) - len(kept))
            thing, user, time, stars, pairs = thing[kept], user[kept], time[kept], stars[kept], pairs[kept]
        found, first, number = np.unique(pairs, return_index=True, return_counts=True)
        source, target = (end.astype(np.int32) for end in np.divmod(found, len(codes)))
        rows = np.arange(count, dtype=np.int32)
        known = list(self.users)
        people = [known[code] for code in codes.tolist()]
        called = [names.get(code, "") or f"user {known[code]}" for code in codes.tolist()]
        reviews = {
            "thing": thing,
            "user": (user + count).astype(np.int32),
            "time": _build_times(time),
            "stars": _build_stars(stars),
        }
        corpus = Corpus(
            objects=table(
                OBJECTS,
                object=[f"{things.kind}:{key}" for key in things.ids] + [f"user:{key}" for key in people],
                name=[*things.names, *called],
                kind=[things.kind] * count + ["user"] * len(people),
            ),
            items=things.items,
            mentions=table(
                MENTIONS, item=np.concatenate([rows, source]), object=np.concatenate([rows, target + np.int32(count)])
            ),
            links=table(
                LINKS,
                source=source,
                target=target + np.int32(count),
                weight=(number if weights == "count" else stars[first]).astype(np.float32),
            ),
            labels=table(LABELS),
            dimensions=dimensions,
            dropped=dict(dropped.counts),
            attribution=attribution,
        )
        return ReviewCorpus(corpus, table(REVIEWS, **reviews))

    def _select_known(self, things: Things, dropped: Dropped) -> tuple[Array, Array, Array, Array]:
        """Return the columns of the reviews of known things, by the things' rows."""
        rows = np.full(len(self.things) + 1, -1, dtype=np.int32)
        for row, key in enumerate(things.ids):
            rows[self.things.get(key, -1)] = row
        rows[-1] = -1
        thing = rows[np.frombuffer(self.thing, np.int32)] if len(self) else np.empty(0, np.int32)
        user = np.frombuffer(self.user, np.int32) if len(self) else thing
        time = np.frombuffer(self.time, np.int64) if len(self) else np.empty(0, np.int64)
        stars = np.frombuffer(self.stars, np.float32) if len(self) else np.empty(0, np.float32)
        good = thing >= 0
        if not good.all():
            strange = [(self.first[row], key) for key, row in self.things.items() if rows[row] < 0][:MAX_EXAMPLES]
            shown = [f"{file} line {line:,}: there is no {things.kind} {key!r}" for (file, line), key in strange]
            dropped.drop(f"reviews of a {things.kind} that is not there", int((~good).sum()), shown)
        return thing[good], user[good], time[good], stars[good]


def describe_left_out(dropped: Dropped) -> str:
    """Return what was left out, in brackets, to end the sentence that says why nothing remains.

    >>> dropped = Dropped()
    >>> dropped.leave_out("films named twice", 2)
    >>> describe_left_out(dropped)
    ' (left out: 2 films named twice)'
    """
    return f" (left out: {', '.join(dropped.reasons)})" if dropped.counts else ""


def _find_latest(pairs: Array, time: Array) -> Array:
    """Return where the latest review of every pair stands, in the order of the file."""
    order = np.lexsort((np.arange(len(pairs)), time, pairs))
    last = np.ones(len(order), dtype=bool)
    last[:-1] = pairs[order[1:]] != pairs[order[:-1]]
    return np.sort(order[last])


def _build_times(time: Array) -> pa.Array:
    return pc.cast(pa.array(time, pa.int64(), mask=time == NO_TIME), pa.timestamp("s"))


def _build_stars(stars: Array) -> pa.Array:
    return pa.array(stars, pa.float32(), mask=np.isnan(stars))


HIDDEN = {"source": pa.int32(), "target": pa.int32(), "time": pa.timestamp("s")}
Where = Mapping[str, str | int | tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Task:
    """What is left of a corpus, the ids of the query's objects, and the links to be found again.

    ``hidden(source, target, time)`` are links between objects of the query, by row number, oldest first.
    """

    corpus: Corpus
    query: tuple[str, ...]
    hidden: pa.Table

    def __repr__(self) -> str:
        return f"Task({len(self.query):,} objects in the query, {self.hidden.num_rows:,} hidden links, {self.corpus!r})"


class ReviewSource:
    """A source of reviews, which gives a corpus or a task; ``tasks`` are those of the paper's kind by name."""

    tasks: ClassVar[Mapping[str, Where]]

    def read_reviews(self, paths: Sequence[Path], *, progress: Progress = silent) -> ReviewCorpus:
        """Return the corpus of the files, and every review with its time and stars."""
        raise NotImplementedError

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the files."""
        return self.read_reviews(paths, progress=progress).corpus

    def read_task(self, paths: Sequence[Path], name: str, *, seed: int = 0, progress: Progress = silent) -> Task:
        """Return a task in the manner of the paper: things with some labels, and the users who review them."""
        if name not in self.tasks:
            raise unknown_name("task", name, self.tasks)
        return make_link_task(self.read_reviews(paths, progress=progress), self.tasks[name], seed=seed)


def make_link_task(
    data: ReviewCorpus,
    where: Where,
    *,
    things: float = 0.5,
    users: float = 0.8,
    hidden: float = 0.2,
    seed: int = 0,
) -> Task:
    """Return the task of the paper: things chosen by attributes, their users, and the latest links hidden.

    The query is a random share ``things`` of the items with the attributes in ``where`` (a label, a number, or the
    lowest and highest number) and a random share ``users`` of their reviewers. Of the links among them, the share
    ``hidden`` with the latest first reviews is hidden: removed from the links, and the user from the mentions of the
    item, since both would otherwise share all cells of the item. Texts still contain the words of hidden reviews.
    """
    for name, share in (("things", things), ("users", users), ("hidden", hidden)):
        if not 0 < share <= 1:
            raise ParameterError(f"{name} is {share!r}, expected a share above 0 and at most 1")
    corpus = data.corpus
    rng = stream(seed, "sources", "link task")
    thing, user, time = _find_first_reviews(data)
    found = find_matching_items(corpus, where)
    if not len(found):
        raise QueryError(f"no item has {' and '.join(f'{name} {value!r}' for name, value in where.items())}")
    chosen = _sample(rng, found, things)
    inside = np.isin(thing, chosen)
    if not inside.any():
        raise QueryError(f"nobody reviewed one of the {len(chosen):,} items chosen among {len(found):,}")
    people = _sample(rng, np.unique(user[inside]), users)
    links = np.flatnonzero(inside & np.isin(user, people) & (time != NO_TIME))
    among = int((inside & np.isin(user, people)).sum())
    if not len(links):
        raise SourceError(f"none of the {among:,} links of the query has a date: the latest cannot be found")
    order = links[np.lexsort((rng.random(len(links)), time[links]))]
    late = order[len(order) - min(len(order), max(1, round(hidden * among))) :]
    return Task(
        _remove_links(corpus, thing[late], user[late]),
        tuple(corpus.objects["object"].take(pa.array(np.concatenate([chosen, people]))).to_pylist()),
        pa.table(
            {"source": thing[late], "target": user[late], "time": pa.array(time[late]).cast(pa.timestamp("s"))},
            schema=pa.schema(list(HIDDEN.items())),
        ),
    )


def find_matching_items(corpus: Corpus, where: Where) -> Array:
    """Return the rows of the items that have all of some attributes.

    >>> from cube2net.model.corpus import MENTIONS, OBJECTS, table
    >>> films = pa.table({"item": ["a", "b"], "year": [1999, 2004], "genre": [["War", "Drama"], ["Drama"]]})
    >>> corpus = Corpus(table(OBJECTS), films, table(MENTIONS))
    >>> find_matching_items(corpus, {"genre": "Drama", "year": (2000, 2009)}).tolist()
    [1]
    """
    fits = np.ones(corpus.items.num_rows, dtype=bool)
    for name, value in where.items():
        if name not in corpus.attributes:
            raise unknown_name("attribute", name, corpus.attributes)
        column = corpus.items[name]
        rows = np.arange(len(column))
        if pa.types.is_list(column.type):
            rows = np.repeat(rows, np.asarray(pc.fill_null(pc.list_value_length(column), 0)))
            column = pc.list_flatten(column)
        low, high = value if isinstance(value, tuple) else (value, value)
        try:
            within = pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            raise ParameterError(f"attribute {name!r} holds {column.type}, which is never {value!r}") from None
        has = np.zeros(len(fits), dtype=bool)
        has[rows[np.asarray(pc.fill_null(within, False))]] = True
        fits &= has
    return np.flatnonzero(fits)


def _find_first_reviews(data: ReviewCorpus) -> tuple[Array, Array, Array]:
    """Return the thing, the user and the time of the first review of every pair; undated ones come before all."""
    rows = data.reviews
    thing, user = (rows[name].to_numpy().astype(np.int32) for name in ("thing", "user"))
    time = pc.fill_null(pc.cast(rows["time"], pa.int64()), NO_TIME).to_numpy()
    order = np.lexsort((time, user, thing))
    thing, user, time = thing[order], user[order], time[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (thing[1:] != thing[:-1]) | (user[1:] != user[:-1])
    return thing[new], user[new], time[new]


def _sample(rng: np.random.Generator, rows: Array, share: float) -> Array:
    """Return a share of the rows, at least one, ascending."""
    return np.sort(rng.choice(rows, size=max(1, round(share * len(rows))), replace=False))


def _remove_links(corpus: Corpus, thing: Array, user: Array) -> Corpus:
    """Return the corpus without some links, and without their users in the items about their things."""
    width = corpus.objects.num_rows
    pairs = thing.astype(np.int64) * width + user

    def left(rows: pa.Table, one: str, other: str) -> pa.Table:
        keys = rows[one].to_numpy().astype(np.int64) * width + rows[other].to_numpy()
        return rows.filter(pa.array(~np.isin(keys, pairs)))

    dropped = {**corpus.dropped, "links hidden for a task": len(pairs)}
    return replace(
        corpus,
        links=None if corpus.links is None else left(corpus.links, "source", "target"),
        mentions=left(corpus.mentions, "item", "object"),
        dropped=dropped,
    )
