"""Tables with nothing said: labels go before numbers, cells suit their size, and every column is said in words."""

import numpy as np
import pyarrow as pa

from cube2net.cube.building.labels import parse_bins
from cube2net.design.propose import describe_columns, propose
from cube2net.model.corpus import MENTIONS, OBJECTS, Corpus, table
from cube2net.model.suggestion import Suggestion


def rows(source: dict[str, object] | None = None, **columns: object) -> Corpus:
    """Return a corpus whose objects are the rows of a table."""
    ids = [f"row {row}" for row in range(len(next(iter(columns.values()))))]
    every = np.arange(len(ids), dtype=np.int32)
    return Corpus(
        table(OBJECTS, object=ids, name=ids, kind=["node"] * len(ids)),
        pa.table({"item": pa.array(ids, pa.string()), **columns}),
        table(MENTIONS, item=every, object=every),
        source=source or {},
    )


def proposed(corpus: Corpus, **options: object) -> Suggestion:
    return propose(corpus, parse_bins, **options)


def named(found: Suggestion) -> list[str]:
    return [spec.attribute for spec in found.dimensions]


def prices(count: int) -> list[float]:
    return [float(price) for price in np.random.default_rng(0).lognormal(3, 1, count).round(2)]


def test_numbers_make_a_dimension_only_where_no_labels_do() -> None:
    cities = [f"city {row % 8}" for row in range(160)]
    both = proposed(rows(city=cities, price=prices(160)))
    assert named(both) == ["city"]
    (price,) = (each for each in both.attributes if each.name == "price")
    assert price.reason.endswith(": labels make the dimensions, and numbers none beside them")
    assert [each.name for each in both.attributes if each.dimension is not None] == ["city", "price"]
    alone = proposed(rows(price=prices(160)))
    assert named(alone) == ["price"]


def test_cells_become_smaller_where_else_there_are_none_unless_their_size_was_said() -> None:
    pairs = rows(city=[f"city {row // 2}" for row in range(120)])
    assert (proposed(pairs).min_objects, named(proposed(pairs))) == (2, ["city"])
    kept = proposed(pairs, min_objects=3)
    assert (kept.min_objects, named(kept)) == (3, [])


def test_a_column_is_said_to_be_what_it_was_taken_for() -> None:
    roles = {"nodes.id": "who", "links.source": "who", "links.target": "knows"}
    corpus = rows({"columns": roles}, city=[f"city {row % 8}" for row in range(80)], sure=["yes"] * 80)
    found = proposed(corpus)
    said = {each["column"]: each["what"] for each in describe_columns(corpus, found, found.dimensions)}
    assert said == {
        "who": "identifier",
        "knows": "links: names other rows",
        "city": "dimension",
        "sure": "kept, no dimension",
    }
