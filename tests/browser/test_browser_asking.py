"""Asking: what is typed, pasted or dropped is resolved before anything runs, and nobody is taken for somebody else."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from browser.explorers import Explorer, Tab, townspeople

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
    expect(trouble.locator(".candidates button")).to_have_count(2)
    trouble.locator(".candidates button").nth(1).click()
    expect(trouble).to_have_count(0)
    assert chips(opened) == ["Ann Smith"]
    opened.button("Make the network").click()
    opened.ready()
    assert opened.ask["query"] in (["p8"], ["p193"])


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


def test_a_csv_that_is_dropped_brings_names_and_labels(opened: Tab) -> None:
    opened.drop(FIELD, "query.csv", "object,label\np1,first\nBob Baker,second\np3,first\n")
    expect(opened.page.locator('[aria-label="Objects of the query"] .chip')).to_have_count(3)
    opened.button("Make the network").click()
    opened.ready()
    assert opened.ask["query"] == ["p1", "p14", "p3"]
    assert opened.ask["labels"] == ["first", "second", "first"]
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
    opened.drop(FIELD, "long.csv", "Ann Archer\n" * 100_000)
    refused = page.locator(".trouble .bad")
    expect(refused).to_have_text("The file long.csv has 1,100,000 letters; at most 1,000,000 are taken at once.")
    opened.drop(FIELD, "huge.csv", "x" * 4_000_001)
    expect(refused).to_have_text("The file huge.csv has 4,000,001 bytes; a list has at most 1,000,000 letters.")
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
    start.get_by_role("button", name="And another cell").click()
    expect(start.get_by_label("Label of city")).to_have_value("")
    label("trade", "iron")
    expect(start).to_contain_text(f"2 cells hold {len(both)} objects.")
    # The part that is looked at counts; it is told where it is chosen.
    page.evaluate("void window.cube2net.store.move({ where: { year: ['1991'] } })")
    expect(start).to_contain_text(f"2 cells hold {len(late)} objects.")
    expect(start).to_contain_text("Within the part of the cube that is chosen under Steer.")
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
    assert set(alba) < set(opened.ask["query"]) <= set(both)
    # No more than the server lists at once.
    page.evaluate("window.cube2net.store.cube.limits.members = 30")
    label("city", "Alba")
    expect(start).to_contain_text(f"1 cell holds {len(alba)} objects, of which at most 30 are taken at once.")
    expect(start.get_by_role("button", name="Add the 30 with most items")).to_be_enabled()
    # A label that the cube does not have is refused in a sentence.
    label("city", "Nowhere")
    expect(start).to_contain_text("Nowhere")
