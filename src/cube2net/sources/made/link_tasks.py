"""A task of link prediction: a query, and the latest links inside it, hidden from the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.errors import ParameterError, QueryError, SourceError, unknown
from cube2net.records import Corpus
from cube2net.seeding import stream
from cube2net.sources.readers.reviews import NEVER, Reviewed

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


def link_task(
    reviewed: Reviewed,
    where: Where,
    *,
    things: float = 0.5,
    users: float = 0.8,
    hidden: float = 0.2,
    seed: int = 0,
) -> Task:
    """Return the task of the paper: things chosen by attributes, their users, and the latest links hidden.

    The query is a random share ``things`` of the items that have the attributes of ``where`` (a label, a
    number, or the lowest and highest number) and a random share ``users`` of those who reviewed one of
    them. Of the links between them the share ``hidden`` that came up last is hidden. A link comes up with its
    first review, so no earlier review of a hidden link is left to give it away. Hidden links are taken out of
    the links, and the user is no longer mentioned by the item that the link is about, for the two would else
    share all of the item's cells. Nothing else changes: texts gathered from reviews still hold the words of
    hidden ones, though not whose they are.
    """
    for name, share in (("things", things), ("users", users), ("hidden", hidden)):
        if not 0 < share <= 1:
            raise ParameterError(f"{name} is {share!r}, expected a share above 0 and at most 1")
    corpus = reviewed.corpus
    rng = stream(seed, "sources", "link task")
    thing, user, time = _first_reviews(reviewed)
    found = matching(corpus, where)
    if not len(found):
        raise QueryError(f"no item has {' and '.join(f'{name} {value!r}' for name, value in where.items())}")
    chosen = _sample(rng, found, things)
    inside = np.isin(thing, chosen)
    if not inside.any():
        raise QueryError(f"nobody reviewed one of the {len(chosen):,} items chosen among {len(found):,}")
    people = _sample(rng, np.unique(user[inside]), users)
    links = np.flatnonzero(inside & np.isin(user, people) & (time != NEVER))
    among = int((inside & np.isin(user, people)).sum())
    if not len(links):
        raise SourceError(f"none of the {among:,} links of the query has a date: the latest cannot be told")
    order = links[np.lexsort((rng.random(len(links)), time[links]))]
    late = order[len(order) - min(len(order), max(1, round(hidden * among))) :]
    return Task(
        _without(corpus, thing[late], user[late]),
        tuple(corpus.objects["object"].take(pa.array(np.concatenate([chosen, people]))).to_pylist()),
        pa.table(
            {"source": thing[late], "target": user[late], "time": pa.array(time[late]).cast(pa.timestamp("s"))},
            schema=pa.schema(list(HIDDEN.items())),
        ),
    )


def matching(corpus: Corpus, where: Where) -> Array:
    """Return the rows of the items that have all of some attributes.

    >>> from cube2net.records.corpus import MENTIONS, OBJECTS, table
    >>> films = pa.table({"item": ["a", "b"], "year": [1999, 2004], "genre": [["War", "Drama"], ["Drama"]]})
    >>> corpus = Corpus(table(OBJECTS), films, table(MENTIONS))
    >>> matching(corpus, {"genre": "Drama", "year": (2000, 2009)}).tolist()
    [1]
    """
    fits = np.ones(corpus.items.num_rows, dtype=bool)
    for name, value in where.items():
        if name not in corpus.attributes:
            raise unknown("attribute", name, corpus.attributes)
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


def _first_reviews(reviewed: Reviewed) -> tuple[Array, Array, Array]:
    """Return the thing, the user and the time of the first review of every pair; undated ones come before all."""
    rows = reviewed.reviews
    thing, user = (rows[name].to_numpy().astype(np.int32) for name in ("thing", "user"))
    time = pc.fill_null(pc.cast(rows["time"], pa.int64()), NEVER).to_numpy()
    order = np.lexsort((time, user, thing))
    thing, user, time = thing[order], user[order], time[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (thing[1:] != thing[:-1]) | (user[1:] != user[:-1])
    return thing[new], user[new], time[new]


def _sample(rng: np.random.Generator, rows: Array, share: float) -> Array:
    """Return a share of the rows, at least one, ascending."""
    return np.sort(rng.choice(rows, size=max(1, round(share * len(rows))), replace=False))


def _without(corpus: Corpus, thing: Array, user: Array) -> Corpus:
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
