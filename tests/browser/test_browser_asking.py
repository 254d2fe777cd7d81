"""Asking: what is typed, pasted or dropped is resolved before anything runs, and nobody is taken for somebody else."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from browser.explorers import Explorer, Tab

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
