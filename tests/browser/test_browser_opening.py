"""Three clicks from a spreadsheet to the explorer: choose, make, and name somebody."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.explorers import Explorer, Tab, unnamed_controls

CLUB = Path(__file__).parents[2] / "docs" / "start" / "data" / "mitglieder.csv"
SLOW = 120_000


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Explorer]:
    """An explorer that was started without a cube, in a folder of its own."""
    explorer = Explorer(None, folder=tmp_path)
    yield explorer
    explorer.close()


def test_a_spreadsheet_is_chosen_understood_corrected_and_explored(bare: Explorer, tab: Tab, tmp_path: Path) -> None:
    page = tab.page
    page.goto(bare.address)
    expect(page.get_by_role("button", name="Choose a spreadsheet")).to_be_visible()
    expect(page.get_by_text("The files stay on this computer")).to_be_visible()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a spreadsheet").click()
    chooser.value.set_files(CLUB)
    expect(page.locator("[data-dimensions]")).to_have_text("Stadt × Branche", timeout=SLOW)
    page.get_by_label("What Branche is").select_option(label="kept as information")
    expect(page.locator("[data-dimensions]")).to_have_text("Stadt", timeout=SLOW)
    page.get_by_label("What Stadt is").select_option(label="kept as information")
    expect(page.locator("[data-lacking]")).to_contain_text("Choose at least one group")
    expect(page.get_by_label("What Stadt is")).to_have_value("kept")
    expect(page.get_by_role("button", name="Make the cube")).to_be_disabled()
    page.get_by_label("What Stadt is").select_option(label="a group for cells")
    expect(page.locator("[data-lacking]")).to_be_hidden(timeout=SLOW)
    page.get_by_role("button", name="As it was guessed").click()
    expect(page.locator("[data-dimensions]")).to_have_text("Stadt × Branche", timeout=SLOW)
    assert unnamed_controls(page) == []
    page.get_by_role("button", name="Make the cube").click()
    expect(page.get_by_role("heading", name="Whose network?")).to_be_visible(timeout=SLOW)
    assert [path.name for path in tmp_path.iterdir()] == ["mitglieder-cube"]
    page.get_by_role("button", name="What was read of mitglieder.csv").click()
    expect(page.locator("[data-panel=read] [data-column=Kennt]")).to_contain_text("names other rows: the links")
    page.get_by_role("tab", name="Network").click()
    page.get_by_label("Names of the query").fill("Jan Pflüger")
    page.get_by_role("button", name="Make the network").click()
    tab.ready()
    page.get_by_role("button", name="Open another").click()
    page.get_by_role("button", name="mitglieder-cube").click(timeout=SLOW)
    expect(page.get_by_role("heading", name="Whose network?")).to_be_visible(timeout=SLOW)


def test_a_bad_file_is_said_in_a_sentence_and_another_can_be_chosen(
    bare: Explorer, new_tab: Callable[[], Tab], tmp_path: Path
) -> None:
    tab = new_tab()
    tab.page.goto(bare.address)
    bad = tmp_path / "brief.pdf"
    bad.write_bytes(b"%PDF")
    chooser = tab.page.locator("[data-do=files]")
    chooser.set_input_files(bad)
    expect(tab.page.get_by_role("alert")).to_contain_text("'brief.pdf' is no table that can be read")
    names = tmp_path / "<img src=x onerror=alert(1)>.csv"
    names.write_text("Name\nEva\nMax\n")
    chooser.set_input_files(names)
    expect(tab.page.get_by_role("alert")).to_contain_text("Found no dimensions for a cube", timeout=SLOW)
    tab.page.get_by_role("button", name="Without <img").click()
    chooser.set_input_files(CLUB)
    expect(tab.page.locator("[data-dimensions]")).to_have_text("Stadt × Branche", timeout=SLOW)


def test_a_window_says_that_another_one_opened_another_cube(
    bare: Explorer, new_tab: Callable[[], Tab], tmp_path: Path
) -> None:
    first, second = new_tab(), new_tab()
    for one, tab in (("eins", first), ("zwei", second)):
        table = tmp_path / f"{one}.csv"
        table.write_bytes(CLUB.read_bytes())
        tab.page.goto(f"{bare.address}#open")
        tab.page.locator("[data-do=files]").set_input_files(table)
        tab.page.get_by_role("button", name="Make the cube").click(timeout=SLOW)
        expect(tab.page.get_by_role("heading", name=f"{one}-cube")).to_be_visible(timeout=SLOW)
    first.page.get_by_label("Names of the query").fill("Jan Pflüger")
    first.page.get_by_role("button", name="Make the network").click()
    expect(first.page.locator(".moved")).to_contain_text("Another cube was opened in another window: reload the page.")
    assert unnamed_controls(first.page) == []
    first.page.get_by_role("button", name="Reload").click()
    expect(first.page.get_by_role("heading", name="zwei-cube")).to_be_visible(timeout=SLOW)
    first.page.get_by_label("Names of the query").fill("Jan Pflüger")
    first.page.get_by_role("button", name="Make the network").click()
    first.ready(seconds=120)
    assert all("another cube was opened" in slip for slip in first.slips), first.slips
    first.slips.clear()


def test_files_are_named_as_they_are_kept_and_those_taken_back_leave_room(bare: Explorer, tab: Tab) -> None:
    tab.page.goto(bare.address)
    chooser = tab.page.locator("[data-do=files]")
    for number in range(10):
        given = {"name": f" mit:glieder {number}.csv", "mimeType": "text/csv", "buffer": CLUB.read_bytes()}
        chooser.set_input_files([given])
        expect(tab.page.locator(".chip")).to_have_text([f"mit_glieder {number}.csv×"], timeout=SLOW)
        if number < 9:
            tab.page.get_by_role("button", name=f"Without mit_glieder {number}.csv").click()
            expect(tab.page.locator(".chip")).to_be_hidden()
    expect(tab.page.locator("[data-dimensions]")).to_have_text("Stadt × Branche", timeout=SLOW)
