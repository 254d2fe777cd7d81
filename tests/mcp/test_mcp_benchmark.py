"""What docs/howto/assistant.md compares is comparable: lists are what they say, a name counts when it has a line."""

import math
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest

from cube2net.model.corpus import Corpus
from cube2net.network.export.text import estimate_tokens

from toys import toy_cube

FILE = Path(__file__).parents[2] / "benchmarks" / "assistant.py"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = spec_from_file_location("assistant_benchmark", FILE)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_bm25_by_hand(benchmark: ModuleType) -> None:
    titles = ["neural parsing", "parsing of speech", "speech"]
    mentions = {"item": pa.array([0, 1, 1, 2], pa.int32()), "object": pa.array([0, 1, 2, 2], pa.int32())}
    corpus = Corpus(
        pa.table({"object": ["a", "b", "c"], "name": ["Ann", "Ben", "Cid"], "kind": ["author"] * 3}),
        pa.table({"item": ["0", "1", "2"], "title": titles}),
        pa.table(mentions),
    )
    ranked = benchmark.Bm25(corpus)
    texts = {0: "ann neural parsing", 1: "ben parsing of speech", 2: "cid parsing of speech speech"}
    mean = sum(len(text.split()) for text in texts.values()) / 3

    def score(row: int, words: set[str]) -> float:
        own, total = texts[row].split(), 0.0
        for word in words & set(own):
            held = sum(word in text.split() for text in texts.values())
            rarity = math.log(1 + (3 - held + 0.5) / (held + 0.5))
            times = own.count(word)
            total += rarity * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(own) / mean))
        return total

    asked = {"parsing", "of", "speech"}
    order = ranked.ranked(None, np.array([1])).tolist()
    assert order[:2] == sorted((0, 2), key=lambda row: -score(row, asked)) and order[2] == 1
    weights = ranked.weights @ np.array([word in asked for word in ranked.words], dtype=float)
    assert weights.tolist() == pytest.approx([score(row, asked) for row in range(3)])


def test_one_hop_and_pagerank_list_others_only(benchmark: ModuleType) -> None:
    cube = toy_cube([[0, 1]], objects=6, links=[(0, 2), (1, 2), (1, 3), (3, 4)])
    known = np.array([0, 1])
    assert benchmark.one_hop(cube, known).tolist() == [2, 3]
    assert benchmark.pagerank(cube, known).tolist() == [2, 3, 4]
    text = benchmark.listing(cube, benchmark.one_hop)(known, 1_000)
    assert text.split("\n")[1:] == ['- "Object 2" 2 2', '- "Object 3" 2 1']
    assert estimate_tokens(benchmark.listing(cube, benchmark.one_hop)(known, 40)) <= 40


def test_a_name_counts_where_it_has_a_line(benchmark: ModuleType) -> None:
    text = '# Ann\n- "Ann" 3 4\n- Ben: 3 items; linked to Cid\n- "Dan" (id d) 1 1\n- "Eve 5" 1\n'
    names, ids = ["Ann", "Ben", "Cid", "Dan", "Dan", "Eve 5", "Eve"], ["a", "b", "c", "d", "x", "e", "f"]
    assert benchmark.named(text, names, ids) == [True, True, False, True, False, True, False]


def test_a_fifth_of_every_group_is_hidden_and_none_of_it_known(benchmark: ModuleType) -> None:
    groups = {"one": np.arange(30), "two": np.arange(30, 40)}
    splits = list(benchmark.Task("toy", None, None, groups).splits(3))
    assert len(splits) == 6 and [len(lost) for _, lost in splits] == [6, 2] * 3
    assert all(not np.intersect1d(known, lost).size for known, lost in splits)
    assert all(np.array_equal(np.union1d(*split), groups[("one", "two")[at % 2]]) for at, split in enumerate(splits))
