"""Asking: what is typed, pasted or dropped is resolved before anything runs, and nobody is taken for somebody else."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Route, expect
from workbook_files import workbook

from browser.explorers import Explorer, Tab, townspeople

pytestmark = pytest.mark.browser

FIELD = "Names of the query"


@pytest.fixture
def opened(tab: Tab, town: Explorer) -> Tab:
    """Return a tab with the town and no question."""
    tab.open(town.address)
    assert tab.said["state"] == "empty"
    return tab


def typed(tab: Tab, text: str) -> None:
    """Type a name and finish it."""
    field = tab.page.get_by_label(FIELD)
    field.fill(text)
    field.press("Enter")


def chips(tab: Tab) -> list[str]:
    """Return the names of the query to be."""
    return tab.page.locator('[aria-label="Objects of the query"] .name').all_inner_texts()


def test_a_name_is_completed_as_one_types_and_taken_by_keys_alone(opened: Tab) -> None:
    field = opened.page.get_by_label(FIELD)
    field.focus()
    opened.page.keyboard.type("dora ba")
    option = opened.page.get_by_role("option", name="Dora Baker")
    expect(option).to_be_visible()
    assert field.get_attribute("aria-expanded") == "true"
    opened.page.keyboard.press("ArrowDown")
    expect(option).to_have_attribute("aria-selected", "true")
    opened.page.keyboard.press("Enter")
    expect(opened.page.get_by_role("option")).to_have_count(0)
    assert chips(opened) == ["Dora Baker"]
    assert field.input_value() == ""
    assert opened.said["state"] == "empty", "nothing runs before it is asked"


def test_a_name_of_two_people_must_be_chosen(opened: Tab) -> None:
    typed(opened, "Ann Smith")
    trouble = opened.page.locator('[data-given="Ann Smith"]')
    expect(trouble).to_be_visible()
    assert chips(opened) == []
    expect(trouble.locator("option:enabled")).to_have_count(2)
    trouble.locator("select").select_option(index=2)
    expect(trouble).to_have_count(0)
    assert chips(opened) == ["Ann Smith"]
    opened.button("Make the network").click()
    opened.ready()
    assert opened.request["query"] in (["p8"], ["p193"])


def test_a_name_that_is_not_there_shows_the_nearest_and_runs_nothing(opened: Tab) -> None:
    typed(opened, "Dora Bakr")
    trouble = opened.page.locator('[data-given="Dora Bakr"]')
    expect(trouble).to_be_visible()
    expect(opened.button("Make the network")).to_be_disabled()
    assert opened.said["state"] == "empty"
    trouble.get_by_role("button", name="Dora Baker").click()
    assert chips(opened) == ["Dora Baker"]


def test_a_list_that_is_pasted_is_resolved_name_by_name(opened: Tab) -> None:
    opened.paste(FIELD, "Ann Archer\nBob Baker\nNobody Here\n")
    expect(opened.page.locator('[data-given="Nobody Here"]')).to_be_visible()
    assert chips(opened) == ["Ann Archer", "Bob Baker"]


@pytest.mark.parametrize("text", ["Ann Archer; Bob Baker; Cid Cooper", "Ann Archer\tBob Baker\tCid Cooper"])
def test_a_line_of_several_names_is_split(opened: Tab, text: str) -> None:
    opened.paste(FIELD, text)
    expect(opened.page.get_by_text("3 names found.")).to_be_visible()
    assert chips(opened) == ["Ann Archer", "Bob Baker", "Cid Cooper"]


def test_unknown_names_are_repaired_in_one_table(opened: Tab) -> None:
    page = opened.page
    opened.paste(FIELD, "Ann Archer; Dora Bakr; Bob Bakr; Ann Smith; Nobody Here; Cid Cooper")
    table = page.locator("table.repair")
    expect(table.locator("tbody tr")).to_have_count(4)
    expect(page.get_by_text("2 of 6 names found.")).to_be_visible()
    expect(table.get_by_role("button", name="Accept")).to_have_count(2)
    opened.button("Accept 2 suggestions").click()
    assert chips(opened) == ["Ann Archer", "Dora Baker", "Bob Baker", "Cid Cooper"]
    expect(table.locator("tbody tr")).to_have_count(2)
    expect(opened.button("Make the network of 4")).to_be_enabled()
    opened.button("Undo").click()
    expect(table.locator("tbody tr")).to_have_count(4)
    opened.button("Remove all 4").click()
    expect(table).to_have_count(0)


def test_the_network_is_made_of_pasted_names_that_are_still_looked_up(opened: Tab) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    opened.page.route("**/api/v1/names", hold)
    with opened.page.expect_request("**/api/v1/names"):
        opened.paste(FIELD, "Ann Archer\nBob Baker\n")
    make = opened.button("Make the network")
    expect(make).to_be_enabled()
    make.click()
    assert (len(held), opened.said["state"]) == (1, "empty")
    held[0].continue_()
    opened.ready()
    assert opened.request["query"] == ["p1", "p14"]


def test_a_csv_that_is_dropped_brings_names_and_labels(opened: Tab) -> None:
    opened.drop(FIELD, "query.csv", "object,label\np1,first\nBob Baker,second\np3,first\n")
    expect(opened.page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(3)
    opened.button("Make the network").click()
    opened.ready()
    assert opened.request["query"] == ["p1", "p14", "p3"]
    assert opened.request["labels"] == ["first", "second", "first"]
    nodes = opened.network["nodes"]
    assert dict(zip(nodes["id"][:3], nodes["label"], strict=False)) == {"p1": "first", "p14": "second", "p3": "first"}
    legend = opened.page.get_by_label("Labels of the query").first
    assert "first" in legend.inner_text() and "second" in legend.inner_text()


def test_an_object_is_taken_out_of_the_query_again(opened: Tab) -> None:
    typed(opened, "Ann Archer")
    typed(opened, "Bob Baker")
    expect(opened.page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(2)
    opened.button("Remove Ann Archer").click()
    assert chips(opened) == ["Bob Baker"]


def test_a_list_that_nobody_answers_to_is_put_back_and_taken_when_it_is_tried_again(opened: Tab) -> None:
    page, field = opened.page, opened.page.get_by_label(FIELD)
    page.route("**/api/v1/names", lambda route: route.abort())
    typed(opened, "Ann Archer")
    expect(page.locator(".trouble .bad")).to_contain_text("The explorer does not answer")
    expect(field).to_have_value("Ann Archer")
    busy = {"error": {"sentence": "the explorer is busy", "kind": "busy"}}
    page.unroute("**/api/v1/names")
    page.route("**/api/v1/names", lambda route: route.fulfill(status=429, json=busy))
    opened.paste(FIELD, "Bob Baker\nCid Cooper\n")
    expect(page.locator(".trouble .bad")).to_contain_text("The explorer is busy.")
    expect(field).to_have_value("Bob Baker\nCid Cooper\nAnn Archer")
    opened.button("Make the network").click()
    expect(field).to_have_value("Bob Baker\nCid Cooper\nAnn Archer")
    assert opened.said["state"] == "empty"
    page.unroute("**/api/v1/names")
    opened.button("Make the network").click()
    opened.ready()
    assert field.input_value() == ""
    assert chips(opened) == ["Bob Baker", "Cid Cooper", "Ann Archer"]
    expect(page.locator(".trouble .bad")).to_have_count(0)


def test_a_list_that_is_too_long_is_refused_before_it_is_sent(opened: Tab) -> None:
    page, sent = opened.page, []
    page.on("request", lambda request: sent.append(request.url))
    opened.paste(FIELD, "Ann Archer\n" * 100_000)
    refused = page.locator(".trouble .bad")
    expect(refused).to_have_text("This list has 1,100,000 letters; at most 1,000,000 are accepted at once.")
    opened.drop(FIELD, "huge.csv", "x" * 2_900_001)
    expect(refused).to_have_text("The file huge.csv has 2,900,001 bytes; a file of names has at most 2,900,000.")
    assert [url for url in sent if url.endswith("names")] == []


def test_a_query_starts_from_several_cells_of_the_part_that_is_looked_at(opened: Tab) -> None:
    page = opened.page
    page.get_by_text("Start from cells").click()
    start = page.locator("details.start")

    def label(dimension: str, text: str) -> None:
        field = start.get_by_label(f"Label of {dimension}")
        field.fill(text)
        field.press("Enter")

    people = townspeople()
    alba = [key for key, _, city, _, _ in people if city == "Alba"]
    both = [key for key, _, city, trade, _ in people if city == "Alba" or trade == "iron"]
    late = [key for key, _, city, trade, year in people if (city == "Alba" or trade == "iron") and year == "1991"]
    label("city", "Alba")
    expect(start).to_contain_text(f"1 cell holds {len(alba)} objects.")
    start.get_by_role("button", name="Add another cell").click()
    expect(start.get_by_label("Label of city")).to_have_value("")
    label("trade", "iron")
    expect(start).to_contain_text(f"2 cells hold {len(both)} objects.")
    # The part that is looked at counts; it is told where it is chosen.
    page.evaluate("void window.cube2net.store.move({ where: { year: ['1991'] } })")
    expect(start).to_contain_text(f"2 cells hold {len(late)} objects.")
    expect(start).to_contain_text("Only the part of the cube that is chosen under Settings.")
    page.evaluate("void window.cube2net.store.move({ where: null })")
    expect(start).to_contain_text(f"2 cells hold {len(both)} objects.")
    # So many as are wanted, or all.
    start.get_by_label("How many of their objects").fill("7")
    start.get_by_role("button", name="Add the 7 with most items").click()
    expect(page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(7)
    expect(start).to_contain_text("7 objects added.")
    label("city", "Alba")
    start.get_by_label("How many of their objects").fill("3")
    start.get_by_role("button", name=f"All {len(alba)}").click()
    start.get_by_role("button", name=f"Add {len(alba)} objects").click()
    expect(start).to_contain_text(f"{len(alba)} objects added.")
    opened.button("Make the network").click()
    opened.ready()
    assert set(alba) < set(opened.request["query"]) <= set(both)
    # No more than the server lists at once.
    page.evaluate("window.cube2net.store.cube.limits.members = 30")
    label("city", "Alba")
    expect(start).to_contain_text(f"1 cell holds {len(alba)} objects, of which at most 30 are taken at once.")
    expect(start.get_by_role("button", name="Add the 30 with most items")).to_be_enabled()
    # A label that the cube does not have is refused in a sentence.
    label("city", "Nowhere")
    expect(start).to_contain_text("Nowhere")


MANY = ["Ann Archer", "Bob Baker", "Cid Cooper", "Dora Dyer", "Emil Fisher", "Fay Mason", "Gus Potter", "Hana Tanner"]


def made(tab: Tab, names: list[str]) -> None:
    """Make the network of some people."""
    tab.paste(FIELD, "\n".join(names) + "\n")
    expect(tab.page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(len(names))
    tab.button("Make the network").click()
    tab.ready()


def test_a_workbook_and_a_list_in_an_old_encoding_are_dropped_like_any_other(opened: Tab) -> None:
    opened.drop(FIELD, "list.xlsx", workbook({"People": [["Name", "Group"], ["Ann Archer", "x"], ["Bob Baker", "y"]]}))
    expect(opened.page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(2)
    assert chips(opened) == ["Ann Archer", "Bob Baker"]
    opened.drop(FIELD, "old.csv", "Name,Group\nCid Cooper,x\nSøren Dyer,y\n".encode("latin-1"))
    expect(opened.page.locator('[data-given="Søren Dyer"]')).to_be_visible()


def test_a_file_that_names_nobody_says_so_in_one_sentence(opened: Tab) -> None:
    refused = opened.page.locator(".trouble .bad")
    opened.drop(FIELD, "me.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(99))
    expect(refused).to_contain_text("The file me.png is a picture: expected a list of names (.txt) or a table")
    opened.drop(FIELD, "none.csv", b"")
    expect(refused).to_contain_text("The file none.csv is empty")
    opened.drop(FIELD, "head.csv", b"Name,Group\n")
    expect(refused).to_contain_text("The file head.csv has a header (Name, Group) and no row below it")
    assert chips(opened) == []


def test_the_column_of_a_table_in_which_nobody_is_known_is_chosen(opened: Tab) -> None:
    page = opened.page
    opened.drop(FIELD, "table.csv", "Group,Surname,First\nA,Archerr,Ann\nB,Bakerr,Bob\n")
    column = page.get_by_label("Column of the names")
    expect(column).to_be_focused()
    expect(page.get_by_text("No column of table.csv contains names of this cube")).to_be_visible()
    expect(page.locator(".trouble tr")).to_have_count(0)
    column.select_option("Surname")
    expect(page.locator('[data-given="Archerr"]')).to_be_visible()
    column.select_option("First")
    expect(page.locator('[data-given="Bob"]')).to_be_visible()
    expect(page.locator('[data-given="Archerr"]')).to_have_count(0)
    opened.drop(FIELD, "ok.csv", "Group,Name,Friend\nA,Ann Archer,Bob Baker\n")
    expect(column).to_have_value("Name")
    column.select_option("Friend")
    expect(page.locator('[aria-label="Objects of the query"] .name')).to_have_text(["Bob Baker"])


def test_enter_takes_the_first_suggestion_and_nothing_covers_the_button_afterwards(opened: Tab) -> None:
    page, field = opened.page, opened.page.get_by_label(FIELD)
    options = page.locator("[role=option]:visible")  # without those of lists in the repair table
    field.focus()
    page.keyboard.type("dora ba")
    expect(options.first).to_be_visible()
    page.keyboard.press("Enter")
    expect(options).to_have_count(0)
    assert chips(opened) == ["Dora Baker"]
    # A whole name is looked up: it may be that of two.
    page.keyboard.type("Ann Smith")
    expect(options).to_have_count(2)
    page.keyboard.press("Enter")
    expect(page.locator('[data-given="Ann Smith"]')).to_be_visible()
    expect(options).to_have_count(0)
    opened.button("Remove Ann Smith").click()
    page.keyboard.type("bob ba")
    expect(options.first).to_be_visible()
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    assert field.input_value() == "bob ba"
    page.keyboard.type("k")
    expect(options.first).to_be_visible()
    field.fill("")
    expect(options).to_have_count(0)
    page.keyboard.type("Bob Baker")
    expect(options.first).to_be_visible()
    page.keyboard.press("Control+Enter")
    opened.ready()
    expect(options).to_have_count(0)
    assert opened.request["query"] == ["p38", "p14"]


def test_edits_of_the_list_are_undone_and_the_network_of_before_is_told(opened: Tab) -> None:
    page = opened.page
    made(opened, MANY)
    stale = page.locator(".stale")
    expect(stale).to_be_hidden()
    opened.button("Remove all").click()
    assert chips(opened) == []
    expect(stale).to_contain_text("The network shown is for the previous 8 objects.")
    opened.button("Undo").click()
    assert chips(opened) == MANY
    expect(stale).to_be_hidden()
    opened.button("Redo").click()
    assert chips(opened) == []
    opened.button("Restore them").click()
    assert chips(opened) == MANY
    opened.button("Remove Bob Baker").click()
    before = opened.fingerprint
    opened.button("Update the network").click()
    opened.ready(but=before)
    expect(stale).to_be_hidden()
    assert len(opened.request["query"]) == 7
    opened.button("Undo").click()
    expect(page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(8)


def test_a_move_made_while_the_list_was_edited_takes_the_edited_list(opened: Tab) -> None:
    page = opened.page
    made(opened, MANY)
    opened.button("Remove Bob Baker").click()
    page.evaluate("void window.cube2net.store.move({ n_cells: 5 })")
    page.wait_for_function("() => window.cube2net.store.network.request.n_cells === 5 && !window.cube2net.store.busy")
    assert "p14" not in opened.request["query"] and len(opened.request["query"]) == 7
    assert "Bob Baker" not in chips(opened)
    expect(page.locator(".stale")).to_be_hidden()
    # An emptied list asks for nothing: it stays empty, and the network stays that of before.
    opened.button("Remove all").click()
    page.evaluate("void window.cube2net.store.move({ n_cells: 4 })")
    page.wait_for_function("() => window.cube2net.store.network.request.n_cells === 4 && !window.cube2net.store.busy")
    assert len(opened.request["query"]) == 7 and chips(opened) == []
    expect(page.locator(".stale")).to_contain_text("The network shown is for the previous 7 objects.")


def test_a_small_query_brings_fifteen_near_objects_unless_another_number_is_said(opened: Tab) -> None:
    page = opened.page
    made(opened, MANY[:3])
    assert opened.request["n_neighbors"] == 15
    page.get_by_role("tab", name="Settings").click()
    expect(page.get_by_text("15, because the query is small.")).to_be_visible()
    before = opened.fingerprint
    page.locator('[data-auto="n_neighbors"]').click()
    opened.ready(but=before)
    assert "n_neighbors" not in opened.request
    page.get_by_role("tab", name="Query").click()
    typed(opened, MANY[3])
    expect(page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(4)
    before = opened.fingerprint
    opened.button("Make the network").click()
    opened.ready(but=before)
    assert "n_neighbors" not in opened.request, "it was taken back by hand"


def test_a_query_that_is_no_longer_small_says_nothing_of_near_objects(opened: Tab) -> None:
    made(opened, MANY[:3])
    opened.paste(FIELD, "\n".join(MANY[3:]) + "\n")
    expect(opened.page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(8)
    before = opened.fingerprint
    opened.button("Make the network").click()
    opened.ready(but=before)
    assert "n_neighbors" not in opened.request


def test_a_name_mended_to_somebody_with_another_label_says_which_label_is_kept(opened: Tab) -> None:
    opened.drop(FIELD, "q.csv", "object,label\nDora Baker,Edinburgh\nDora Bakr,Paris\n")
    opened.page.locator('[data-given="Dora Bakr"]').get_by_role("button", name="Dora Baker").click()
    expect(
        opened.page.get_by_text("Dora Baker was given twice with different labels; the label Edinburgh is kept.")
    ).to_be_visible()
    assert chips(opened) == ["Dora Baker"]


def test_somebody_whose_name_others_bear_can_be_changed_for_one_of_these(opened: Tab) -> None:
    page = opened.page
    typed(opened, "Ann Smith")
    page.locator('[data-given="Ann Smith"] select').select_option(index=1)
    mark = opened.button("1 of 2 with this name")
    mark.click()
    choice = page.locator(".choice .candidates button")
    expect(choice).to_have_count(2)
    expect(choice.first).to_have_attribute("aria-pressed", "true")
    choice.nth(1).click()
    expect(choice).to_have_count(0)
    assert chips(opened) == ["Ann Smith"]
    opened.button("Make the network").click()
    opened.ready()
    assert opened.request["query"] == ["p193"]


def test_labels_of_names_that_are_not_found_are_not_counted(opened: Tab) -> None:
    opened.drop(FIELD, "q.csv", "object,label\nAnn Archer,x\nNobody Here,z\n")
    expect(opened.page.get_by_text("1 of 2 names found; 1 label.")).to_be_visible()


def test_names_of_the_command_that_are_unclear_stand_on_the_page_to_be_mended(
    tab: Tab, town: Explorer, tmp_path: Path
) -> None:
    path = tmp_path / "query.csv"
    path.write_text("object,label\nAnn Archer,x\nDora Bakr,y\nAnn Smith,x\nBob Baker,y\n")
    explorer = Explorer(town.cube, "--query", str(path))
    try:
        tab.open(explorer.address)
        tab.ready()
        assert chips(tab) == ["Ann Archer", "Bob Baker"]
        expect(tab.page.locator('[data-given="Ann Smith"] option:enabled')).to_have_count(2)
        tab.page.locator('[data-given="Dora Bakr"]').get_by_role("button", name="Dora Baker").click()
        assert chips(tab) == ["Ann Archer", "Bob Baker", "Dora Baker"]
        expect(tab.page.locator(".stale")).to_contain_text("The network shown is for the previous 2 objects.")
        before = tab.fingerprint
        tab.button("Make the network of 3").click()
        tab.ready(but=before)
        assert tab.request["labels"] == ["x", "y", "y"]
    finally:
        explorer.close()
