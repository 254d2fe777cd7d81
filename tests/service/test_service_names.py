"""Names as people have them: found, ambiguous, missing with the nearest, repeated; and completed as one types."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.apps.service.names import NameIndex, fold_text
from cube2net.apps.service.service import CubeService
from cube2net.errors import ParameterError
from levels_by_hand import by_hand, every_cell, levelled_cube


def test_pasted_names_are_found_ambiguous_missing_and_repeated(service: CubeService) -> None:
    answer = service.answer("names", {"text": "Ada Lovelace\n# a remark\n\nWei Li\nIvan Vulic\no5\nNobody at all\n"})
    states = {row["given"]: row["state"] for row in answer["rows"]}
    assert states == {
        "Ada Lovelace": "found",
        "Wei Li": "ambiguous",
        "Ivan Vulic": "missing",
        "o5": "repeated",
        "Nobody at all": "missing",
    }
    rows = {row["given"]: row for row in answer["rows"]}
    assert rows["Ada Lovelace"]["id"] == "o5"
    assert [one["id"] for one in rows["Wei Li"]["candidates"]] == ["o2", "o3"]
    assert rows["Ivan Vulic"]["candidates"][0]["name"] == "Ivan Vulić"
    assert rows["Nobody at all"]["candidates"] == []
    assert (answer["found"], answer["ambiguous"], answer["missing"], answer["repeated"]) == (1, 1, 2, 1)
    assert answer["sentence"] == (
        '1 of 5 names found; "Wei Li" is the name of 2 objects: choose one; no match for "Ivan Vulic" (did you mean '
        '"Ivan Vulić"?); no match for "Nobody at all"; 1 name repeated'
    )


@pytest.mark.parametrize("text", ["Lovelace, Ada", "Lovelace\tAda", "Ada\tLovelace", "Lovelace , Ada"])
def test_a_name_as_a_sheet_has_it_is_turned_around_and_that_is_said(service: CubeService, text: str) -> None:
    answer = service.answer("names", {"text": text})
    (row,) = answer["rows"]
    assert (row["given"], row["state"], row["id"]) == (text, "found", "o5")
    assert answer["sentence"] == "1 of 1 name found; 1 name read as 'First Last' instead of 'Last, First'"
    assert service.cube.query([text]).ids.to_pylist() == ["o5"]


@pytest.mark.parametrize("text", ["ada lovelace", "ADA LOVELACE", "lovelace, ada", "Zoe\u0308 A\u030angstro\u0308m"])
def test_a_name_that_one_object_bears_with_other_capitals_is_found_and_spelled_right(
    service: CubeService, text: str
) -> None:
    answer = service.answer("names", {"text": text})
    (row,) = answer["rows"]
    assert (row["state"], row["name"]) == ("found", "Zoë Ångström" if text.startswith("Z") else "Ada Lovelace")
    assert answer["sentence"].startswith("1 of 1 name found")


def test_a_name_without_its_accents_or_that_several_bear_with_other_capitals_is_not_taken(service: CubeService) -> None:
    answer = service.answer("names", {"text": "ivan vulic\nwei li"})
    assert [row["state"] for row in answer["rows"]] == ["missing", "missing"]
    assert [len(row["candidates"]) for row in answer["rows"]] == [1, 2]


@pytest.mark.parametrize(
    "line",
    [
        "Ada Lovelace; Ivan Vulić; Nobody",
        "Ada Lovelace, Ivan Vulić, Nobody, Nemo",
        "Ada Lovelace\tIvan Vulić\tNobody",
        "Ada Lovelace; Ivan Vulić, o2 | o3",
        '"Ada Lovelace", "Ivan Vulić"',
    ],
)
def test_names_on_one_line_are_split_where_two_of_them_are_known(service: CubeService, line: str) -> None:
    rows = service.answer("names", {"text": line})["rows"]
    assert [row["name"] for row in rows[:2]] == ["Ada Lovelace", "Ivan Vulić"], rows
    assert not any(mark in row["given"] for row in rows[2:] for mark in ";,|\t")


def test_the_examples_share_a_cell_and_are_linked(service: CubeService) -> None:
    ids = [one["id"] for one in service.answer("cube", {})["examples"]]
    assert len(ids) == 3
    network = service.answer("construct", {"request": {"query": ids}})
    assert network["cells"]
    rows = service.cube.objects.find(ids).rows
    assert set(rows[1:].tolist()) <= set(service.cube.links.neighbours(int(rows[0])).tolist())


def test_a_name_turned_around_that_several_bear_is_to_be_chosen(service: CubeService) -> None:
    answer = service.answer("names", {"text": "Li, Wei\nVulić, Ivan\nLi, Nobody"})
    assert [row["state"] for row in answer["rows"]] == ["ambiguous", "found", "missing"]
    assert [one["id"] for one in answer["rows"][0]["candidates"]] == ["o2", "o3"]


def test_candidates_are_told_apart_by_their_items_and_usual_labels(service: CubeService) -> None:
    (row,) = service.answer("names", {"text": "Wei Li"})["rows"]
    for one in row["candidates"]:
        items, year, venue, topic = one["about"].split(" · ")
        assert items.endswith("items")
        assert year.isdigit()
        assert venue.startswith("venue ")
        assert topic.startswith("topic ")


@pytest.mark.parametrize(
    "text",
    [
        "object,label\nAda Lovelace,red\no1,blue\n",
        "object;label\nAda Lovelace;red\no1;blue\n",
        "Label\tName\nred\tAda Lovelace\nblue\to1\n",
        "Ada Lovelace\tred\no1\tblue",
        "red,Ada Lovelace\nblue,o1",
    ],
)
def test_a_table_gives_labels_whatever_its_columns_are_called(service: CubeService, text: str) -> None:
    answer = service.answer("names", {"text": text})
    assert answer["labelled"]
    assert [(row["id"], row["label"]) for row in answer["rows"]] == [("o5", "red"), ("o1", "blue")]


def test_names_with_commas_are_names_and_not_a_table(service: CubeService) -> None:
    answer = service.answer("names", {"text": "Lovelace, Ada\nAda Byron\n"})
    assert not answer["labelled"]
    assert [row["given"] for row in answer["rows"]] == ["Lovelace, Ada", "Ada Byron"]
    assert answer["rows"][0]["id"] == "o5"


def test_only_labels_of_names_that_are_found_are_counted(service: CubeService) -> None:
    answer = service.answer("names", {"text": "object,label\nAda Lovelace,red\no1,blue\nNobody at all,green\n"})
    assert answer["sentence"] == '2 of 3 names found; no match for "Nobody at all"; 2 labels'
    assert service.answer("names", {"text": "object,label\nNobody,green\n"})["sentence"] == 'no match for "Nobody"'


def test_a_name_that_several_bear_says_how_many(service: CubeService) -> None:
    rows = service.answer("names", {"text": "Wei Li\nAda Byron\nNobody at all"})["rows"]
    assert [row.get("bearers") for row in rows] == [2, None, None]


def test_a_name_guarded_for_spreadsheets_is_the_name_itself(service: CubeService) -> None:
    (row,) = service.answer("names", {"text": "'=1+1"})["rows"]
    assert (row["id"], row["state"]) == ("o4", "found")


def test_a_text_of_nothing_names_nothing(service: CubeService) -> None:
    answer = service.answer("names", {"text": " \n# only a remark\n"})
    assert answer["rows"] == []
    assert answer["sentence"] == "0 of 0 names found"


@pytest.mark.parametrize("typed", ["ang", "ÅNGST", "zoe a", "angstrom zo", "Zoë Ångström"])
def test_typing_finds_any_word_of_a_name_whatever_its_accents_and_capitals(service: CubeService, typed: str) -> None:
    assert [one["id"] for one in service.answer("complete", {"text": typed})["candidates"]] == ["o0"]


def test_what_is_typed_is_completed_by_the_best_known_first(service: CubeService) -> None:
    found = service.answer("complete", {"text": "obj", "most": 100})["candidates"]
    items = [int(one["about"].split()[0]) for one in found]
    assert len(found) == 100
    assert items == sorted(items, reverse=True)
    assert service.answer("complete", {"text": " ·"})["candidates"] == []


def test_more_names_than_can_be_read_are_not_offered(service: CubeService) -> None:
    with pytest.raises(ParameterError, match=r"^most is 101, expected 1 to 100 names$"):
        service.answer("complete", {"text": "a", "most": 101})


TEXTS = st.text(st.sampled_from("aAáÁbBçñß -.7"), max_size=9)


@given(st.lists(TEXTS, min_size=1, max_size=12), TEXTS, st.integers(1, 5))
def test_completing_finds_what_looking_through_all_names_finds(names: list[str], typed: str, most: int) -> None:
    known = np.arange(len(names))[::-1].copy()
    found = NameIndex.of(pa.array(names, pa.string()), known).find_by_prefix(typed, most).tolist()

    def words(text: str) -> list[str]:
        return "".join(sign if sign.isalnum() else " " for sign in fold_text(text)).split()

    parts = words(typed)
    fits = [
        row
        for row, name in enumerate(names)
        if parts and all(any(word.startswith(part) for word in words(name)) for part in parts)
    ]
    same = " ".join(fold_text(typed).split())
    assert found == sorted(fits, key=lambda row: (fold_text(names[row]) != same, row))[:most]


def test_the_index_says_how_much_memory_it_takes(service: CubeService) -> None:
    assert repr(service.names).startswith("NameIndex(200 names, ")
    assert service.names is service.names
    assert service.names.nbytes > 200 * 8


def test_members_are_the_objects_of_cells_at_any_levels() -> None:
    cube = levelled_cube(3)
    service = CubeService(cube)
    ids = cube.objects.ids(np.arange(len(cube.objects))).to_pylist()
    for cell in every_cell(cube)[:60]:
        answer = service.answer("members", {"cells": [list(cell.names(cube))]})
        assert {ids.index(key) for key in answer["ids"]} == by_hand(cube, cell)
        assert answer["objects"] == len(answer["ids"]) == len(set(answer["ids"]))


def test_members_of_several_cells_are_there_once_and_those_with_most_items_first(service: CubeService) -> None:
    cells = [["∗", "venue 0", "∗"], ["∗", "∗", "topic 1"]]
    answer = service.answer("members", {"cells": cells})
    each = [set(service.answer("members", {"cells": [cell]})["ids"]) for cell in cells]
    assert set(answer["ids"]) == each[0] | each[1]
    index = service.cube.items()  # type: ignore[misc]
    labels = np.concatenate([service.cube.cells.labels, service.cube.small.labels])
    venue, topic = service.cube.dimensions[1].number("venue 0"), service.cube.dimensions[2].number("topic 1")
    inside = (labels[:, 1] == venue) | (labels[:, 2] == topic)
    counts = dict.fromkeys(answer["ids"], 0)
    ids = service.cube.objects.ids(np.arange(len(service.cube.objects))).to_pylist()
    for item in range(len(index)):
        if inside[index.cells[item]].any():
            for row in index.objects[item].tolist():
                counts[ids[row]] += 1
    times = [counts[key] for key in answer["ids"]]
    assert times == sorted(times, reverse=True)
    few = service.answer("members", {"cells": cells, "most": 3})
    assert few["ids"] == answer["ids"][:3]
    assert few["sentence"] == (
        f"⟨∗ · venue 0 · ∗⟩, ⟨∗ · ∗ · topic 1⟩ hold {answer['objects']:,} objects, of which the first 3 are here"
    )


def test_members_of_no_cell_are_refused(service: CubeService) -> None:
    with pytest.raises(ParameterError, match="expected the labels of at least one cell"):
        service.answer("members", {"cells": []})
    with pytest.raises(ParameterError, match="a cell has a label or ∗ for each of year, venue, topic"):
        service.answer("members", {"cells": [["venue 0"]]})


def test_a_view_limits_the_members(service: CubeService) -> None:
    cell = {"cells": [["∗", "venue 0", "∗"]]}
    all_of_them = set(service.answer("members", cell)["ids"])
    some = set(service.answer("members", cell | {"where": {"topic": ["topic 2"]}})["ids"])
    assert some < all_of_them
    assert some == set(service.answer("members", {"cells": [["∗", "venue 0", "topic 2"]]})["ids"])
    assert c2n.api.members(service.cube, [None]).size >= len(all_of_them)


def test_all_names_that_hold_the_words_of_a_text_are_offered_however_long_they_are() -> None:
    firms = [
        f"{name} Maschinenbau {kind}"
        for name in ("Sauer", "Haas", "Vogt", "Raab", "Hahn")
        for kind in ("AG", "OHG", "KG")
    ]
    firms = [firm for firm in firms if not firm.startswith("Haas")] + [
        "Haas Maschinenbau AG",
        "Haas Maschinenbau GmbH & Co. KG",
    ]
    index = NameIndex.of(pa.array(firms), np.ones(len(firms)))
    assert {firms[row] for row in index.find_similar("Haas Maschinenbau", 5)} >= set(firms[-2:])
