"""Every column of a spreadsheet says what it is used as, and what else the reader would take it for."""

from pathlib import Path

import networkx as nx
import pytest

from cube2net.api.spreadsheets import read_spreadsheet, sheet_reader

CLUB = Path(__file__).parents[2] / "docs" / "start" / "data" / "mitglieder.csv"
FIRMS = "Nr;Firma;Ort;Liefert an\n" + "".join(
    f"{number};Firma {number};{'Bonn' if number % 2 else 'Ulm'};Firma {number % 5 + 1}\n" for number in range(1, 13)
)
PROJECTS = "Projekt;Bereich;Team\n" + "".join(
    f"P{number};{'IT' if number % 2 else 'Bau'};Eva {number % 4}; Jan {number % 3}\n".replace("; Jan", "|Jan")
    for number in range(1, 13)
)


def uses_of(paths: list[Path], columns: dict[str, str] | None = None) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return the role and the possible roles of every column."""
    reader = sheet_reader(paths, {"columns": columns} if columns else {})
    found = read_spreadsheet(reader, paths, min_objects=2).uses()
    assert len({use["column"] for use in found}) == len(found)
    return {use["column"]: (use["role"], tuple(use["may"])) for use in found}


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    """Firms that name each other by name, where a number tells them apart."""
    place = tmp_path / "firmen.csv"
    place.write_text(FIRMS)
    return place


def test_every_column_of_the_file_is_there_those_that_make_the_name_among_them() -> None:
    found = uses_of([CLUB])
    header = CLUB.read_text(encoding="cp1252").splitlines()[0].split(";")
    assert set(found) == set(header)
    assert found["Vorname"] == found["Nachname"] == ("nodes.name", ("nodes.name",))
    assert found["Kennt"][0] == "links.target"
    assert {"nodes.id", "nodes.name", "nodes.text", "links.target", "mentions.object"} <= set(found["Firma"][1])


def test_a_column_that_loses_its_role_stays_in_the_list(firms: Path) -> None:
    before, after = uses_of([firms], {"nodes.id": "Nr"}), uses_of([firms], {"nodes.id": "Firma"})
    assert set(before) == set(after) == {"Nr", "Firma", "Ort", "Liefert an"}
    assert before["Nr"][0] == "nodes.id"
    assert (after["Nr"][0], after["Firma"][0], after["Liefert an"][0]) == ("", "nodes.id", "links.target")


def test_rows_that_bring_people_together_have_the_roles_of_records(tmp_path: Path) -> None:
    place = tmp_path / "projekte.csv"
    place.write_text(PROJECTS)
    found = uses_of([place], {"items.item": "Projekt", "mentions.object": "Team"})
    assert (found["Projekt"][0], found["Team"][0], found["Bereich"][0]) == ("items.item", "mentions.object", "")
    assert all(may == ("items.item", "mentions.object", "name", "text") for _, may in found.values())


def test_columns_of_links_that_are_not_used_may_be_weight_kind_and_time(tmp_path: Path) -> None:
    people, knows = tmp_path / "nodes.csv", tmp_path / "links.csv"
    people.write_text("id,city\n" + "".join(f"a{number},{'Bonn' if number % 2 else 'Ulm'}\n" for number in range(12)))
    knows.write_text(
        "source,target,where\n" + "".join(f"a{number},a{number - 1},bar {number}\n" for number in range(1, 12))
    )
    found = uses_of([people, knows])
    assert found["where"] == ("", ("links.source", "links.target", "links.weight", "links.kind", "links.time"))
    assert found["source"][0] == "links.source"
    assert "links.target" not in found["city"][1]


def test_columns_of_a_graph_have_no_roles(tmp_path: Path) -> None:
    graph = nx.path_graph(12)
    nx.set_node_attributes(graph, {node: "Bonn" if node % 2 else "Ulm" for node in graph}, "city")
    nx.write_graphml(graph, tmp_path / "graph.graphml")
    assert uses_of([tmp_path / "graph.graphml"])["city"] == ("", ())


def test_a_column_whose_name_has_a_comma_is_one_column(tmp_path: Path) -> None:
    place = tmp_path / "firmen.csv"
    place.write_text(FIRMS.replace("Liefert an", "Liefert an, oft"))
    assert uses_of([place])["Liefert an, oft"][0] == "links.target"


def test_columns_of_labels_beside_a_network_are_listed_and_have_one_role(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,city\n" + "".join(f"a{at},{'B' if at % 2 else 'U'}\n" for at in range(12)))
    (tmp_path / "links.csv").write_text("source,target\n" + "".join(f"a{at},a{at - 1}\n" for at in range(1, 12)))
    (tmp_path / "labels.csv").write_text("attribute,label,full_name\ncity,B,Bonn\ncity,U,Ulm\n")
    found = uses_of([tmp_path])
    assert (found["full_name"], found["city"][0]) == (("labels.full_name", ()), "")


def test_a_network_whose_links_start_in_a_column_called_like_the_ids_is_no_single_table(tmp_path: Path) -> None:
    people, knows = tmp_path / "nodes.csv", tmp_path / "links.csv"
    people.write_text("id,city\n" + "".join(f"a{at},{'Bonn' if at % 2 else 'Ulm'}\n" for at in range(12)))
    knows.write_text("id,other\n" + "".join(f"a{at},a{at - 1}\n" for at in range(1, 12)))
    reader = sheet_reader([people, knows], {"columns": {"links.source": "id", "links.target": "other"}})
    uses = read_spreadsheet(reader, [people, knows], min_objects=2).uses()
    assert [use["may"] for use in uses if use["column"] == "city"] == [
        ["nodes.id", "nodes.name", "nodes.kind", "nodes.text"]
    ]
