"""Three clicks from a spreadsheet to the explorer: choose, make, and name somebody."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from workbook_files import workbook

from browser.explorers import Explorer, Tab, unnamed_controls

pytestmark = pytest.mark.browser

CLUB = Path(__file__).parents[2] / "docs" / "start" / "data" / "mitglieder.csv"
SLOW = 40_000


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Explorer]:
    """An explorer that was started without a cube, in a folder of its own."""
    explorer = Explorer(None, folder=tmp_path)
    yield explorer
    explorer.close()


def test_a_spreadsheet_is_chosen_understood_corrected_and_explored(bare: Explorer, tab: Tab, tmp_path: Path) -> None:
    page = tab.page
    page.goto(bare.address)
    expect(page.get_by_role("button", name="Choose a data file")).to_be_visible()
    expect(page.get_by_text("The files stay on this computer")).to_be_visible()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a data file").click()
    chooser.value.set_files(CLUB)
    expect(page.locator("[data-dimensions]")).to_have_text("Stadt × Branche", timeout=SLOW)
    page.get_by_label("What Branche is").select_option(label="information only")
    expect(page.locator("[data-dimensions]")).to_have_text("Stadt", timeout=SLOW)
    page.get_by_label("What Stadt is").select_option(label="information only")
    expect(page.locator("[data-lacking]")).to_contain_text("Choose at least one column as a group")
    expect(page.get_by_label("What Stadt is")).to_have_value("kept")
    expect(page.get_by_role("button", name="Build the cube")).to_be_disabled()
    page.get_by_label("What Stadt is").select_option(label="group")
    expect(page.locator("[data-lacking]")).to_be_hidden(timeout=SLOW)
    page.get_by_role("button", name="Reset to the guess").click()
    expect(page.locator("[data-dimensions]")).to_have_text("Stadt × Branche", timeout=SLOW)
    assert unnamed_controls(page) == []
    page.get_by_role("button", name="Build the cube").click()
    expect(page.get_by_role("heading", name="Whose network?")).to_be_visible(timeout=SLOW)
    assert [path.name for path in tmp_path.iterdir()] == ["mitglieder-cube"]
    page.get_by_role("button", name="What was read of mitglieder.csv").click()
    expect(page.locator("[data-panel=read] [data-column=Kennt]")).to_contain_text("links: names other rows")
    page.get_by_role("tab", name="Network").click()
    page.get_by_label("Names of the query").fill("Jan Pflüger")
    page.get_by_role("button", name="Make the network").click()
    tab.ready()
    page.get_by_role("button", name="Open data").click()
    page.get_by_role("button", name="mitglieder-cube").click(timeout=SLOW)
    expect(page.get_by_role("heading", name="Whose network?")).to_be_visible(timeout=SLOW)


PAPERS = "Title,Authors,Venue\n" + "".join(
    f"Paper {n},Ann {n % 7} # Bo {n % 5},{('ACL', 'KDD', 'VLDB')[n % 7 % 3]}\n" for n in range(40)
)


def test_a_separator_is_chosen_beside_sample_values_and_going_back_keeps_it(
    bare: Explorer, tab: Tab, tmp_path: Path
) -> None:
    page, table = tab.page, tmp_path / "papers.csv"
    table.write_text(PAPERS.replace(" # ", ";"))
    page.goto(bare.address)
    page.locator("[data-do=files]").set_input_files(table)
    expect(page.locator("[data-size]")).to_contain_text("12 objects (author) in 40 records", timeout=SLOW)
    authors, venue = page.locator("[data-row=Authors]"), page.locator("[data-row=Venue]")
    expect(authors.locator(".samples span")).to_have_text(["Ann 0;Bo 0", "Ann 1;Bo 1", "Ann 2;Bo 2"])
    expect(authors.locator("[data-outcome]")).to_have_text("12 objects in 40 records")
    expect(venue.locator("[data-outcome]")).to_have_text("3 groups")
    page.get_by_label("Separator of Authors").focus()
    page.get_by_label("Separator of Authors").select_option(label="| bar")
    expect(page.locator("[data-no-links]")).to_contain_text("choose their separator", timeout=SLOW)
    expect(page.get_by_label("Separator of Authors")).to_be_focused()
    page.get_by_label("Separator of Authors").select_option(label="; semicolon")
    expect(page.locator("[data-no-links]")).to_have_count(0, timeout=SLOW)
    page.get_by_label("Smallest group").fill("1")
    page.get_by_label("Smallest group").press("Tab")
    expect(page.get_by_label("Smallest group")).to_have_value("1", timeout=SLOW)
    page.get_by_role("button", name="Build the cube").click()
    expect(page.get_by_role("heading", name="Whose network?")).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Open data").click()
    expect(page.locator("[data-size]")).to_contain_text("12 objects (author) in 40 records", timeout=SLOW)
    expect(page.get_by_label("Smallest group")).to_have_value("1")
    assert unnamed_controls(page) == []


RECORDS = "".join(
    f"TY  - JOUR\nTI  - Study {n} of rivers\nAU  - Ek, Ann {'ABCDE'[n % 5]}.\nAU  - Ott, Bo {'FGH'[n % 3]}.\n"
    f"PY  - {2010 + n % 4}\nT2  - {('Rivers', 'Lakes')[n % 2]}\nER  - \n\n"
    for n in range(30)
)


def test_citation_exports_are_dropped_and_shown_with_sample_values_and_duplicates(bare: Explorer, tab: Tab) -> None:
    page = tab.page
    page.goto(bare.address)
    tab.drop_on(page.locator("main"), "export.ris", RECORDS)
    expect(page.locator("[data-size]")).to_contain_text("8 objects (author) in 30 records", timeout=SLOW)
    expect(page.locator("[data-row=title] .samples span")).to_have_text([f"Study {n} of rivers" for n in range(3)])
    expect(page.get_by_label("Separator of title")).to_have_count(0)
    tab.drop_on(page.locator("main"), "again.ris", RECORDS[: len(RECORDS) // 2])
    expect(page.locator("[data-left-out]")).to_contain_text("duplicates with the same title", timeout=SLOW)
    page.get_by_label("What year is").select_option(label="group")
    expect(page.locator("[data-dimensions]")).to_contain_text("year", timeout=SLOW)
    page.get_by_role("button", name="Build the cube").click()
    expect(page.get_by_role("heading", name="Whose network?")).to_be_visible(timeout=SLOW)


def test_the_sheet_of_a_workbook_is_chosen(bare: Explorer, tab: Tab, tmp_path: Path) -> None:
    page, book = tab.page, tmp_path / "book.xlsx"
    rows = [line.split(",") for line in PAPERS.replace(" # ", ";").splitlines()]
    book.write_bytes(workbook({"About": [["made by us"]], "Papers": rows, "Few": rows[:22]}))
    page.goto(bare.address)
    page.locator("[data-do=files]").set_input_files(book)
    sheet = page.get_by_label("Sheet", exact=True)
    expect(sheet).to_have_value("Papers", timeout=SLOW)
    expect(sheet.locator("option")).to_contain_text(["About (no table)", "Papers (40 rows: Paper 0", "Few (21 rows"])
    sheet.select_option("Few")
    expect(page.locator("[data-size]")).to_contain_text("in 21 records", timeout=SLOW)
    expect(sheet).to_have_value("Few")


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
    expect(tab.page.get_by_role("alert").first).to_contain_text("Found no dimensions for a cube", timeout=SLOW)
    tab.page.get_by_role("button", name="Without <img").click()
    chooser.set_input_files(CLUB)
    expect(tab.page.locator("[data-dimensions]")).to_have_text("Stadt × Branche", timeout=SLOW)


def test_every_column_has_a_list_and_missing_links_are_said_with_what_helps(
    bare: Explorer, tab: Tab, tmp_path: Path
) -> None:
    page, table = tab.page, tmp_path / "firmen.csv"
    rows = [f"{one};Firma {one};{'Bonn' if one % 2 else 'Ulm'};Laden {one % 5}" for one in range(1, 13)]
    table.write_text("\n".join(["Kd-Nr;Firma;Ort;Liefert an", *rows]))
    page.goto(bare.address)
    page.locator("[data-do=files]").set_input_files(table)
    expect(page.locator("[data-no-links]")).to_contain_text("for a column such as a manager", timeout=SLOW)
    expect(page.get_by_label("What Kd-Nr is")).to_have_value("nodes.id")
    expect(page.locator("tr select[data-column]")).to_have_count(4)
    for each in page.locator("tr select[data-column]").all():
        assert {"links to other rows", "objects (people, things)"} <= set(each.locator("option").all_inner_texts())
    page.get_by_label("What Liefert an is").select_option(label="links to other rows")
    expect(page.locator("[data-not-taken], [data-no-links]")).to_be_visible(timeout=SLOW)
    page.get_by_label("What Firma is").select_option(label="identifier of each row")
    expect(page.get_by_label("What Firma is")).to_have_value("nodes.id", timeout=SLOW)
    expect(page.get_by_label("What Kd-Nr is")).to_be_enabled()
    page.get_by_label("Smallest group").fill("3")
    page.get_by_label("Smallest group").press("Tab")
    expect(page.get_by_label("Smallest group")).to_have_value("3", timeout=SLOW)
    page.get_by_text("All columns, what was left out").click()
    expect(page.locator(".reading")).to_contain_text("each with at least 3 objects", timeout=SLOW)


def test_a_file_that_is_chosen_takes_the_place_of_one_that_was_refused_and_another_is_added(
    bare: Explorer, tab: Tab, tmp_path: Path
) -> None:
    page = tab.page
    page.goto(bare.address)
    chooser, empty = page.locator("[data-do=files]"), tmp_path / "leer.csv"
    empty.write_text("")
    chooser.set_input_files(empty)
    expect(page.get_by_role("alert").first).to_contain_text("leer.csv is empty", timeout=SLOW)
    chooser.set_input_files(CLUB)
    expect(page.locator("[data-dimensions]")).to_have_text("Stadt × Branche", timeout=SLOW)
    expect(page.locator(".chip")).to_have_text(["mitglieder.csv×"])
    with page.expect_file_chooser() as added:
        page.get_by_role("button", name="Add another file").click()
    added.value.set_files(empty)
    expect(page.locator(".chip")).to_have_text(["mitglieder.csv×", "leer.csv×"], timeout=SLOW)
    with page.expect_file_chooser() as instead:
        page.get_by_role("button", name="Choose a data file").click()
    instead.value.set_files(CLUB)
    expect(page.locator(".chip")).to_have_text(["mitglieder.csv×"], timeout=SLOW)


def test_a_window_says_that_another_one_opened_another_cube(
    bare: Explorer, new_tab: Callable[[], Tab], tmp_path: Path
) -> None:
    first, second = new_tab(), new_tab()
    for one, tab in (("eins", first), ("zwei", second)):
        table = tmp_path / f"{one}.csv"
        table.write_bytes(CLUB.read_bytes())
        tab.page.goto(f"{bare.address}#open")
        tab.page.locator("[data-do=files]").set_input_files(table)
        tab.page.get_by_role("button", name="Build the cube").click(timeout=SLOW)
        expect(tab.page.get_by_role("heading", name=f"{one}-cube")).to_be_visible(timeout=SLOW)
    first.page.get_by_label("Names of the query").fill("Jan Pflüger")
    first.page.get_by_role("button", name="Make the network").click()
    expect(first.page.locator(".moved")).to_contain_text("Another cube was opened in another window: reload the page.")
    assert unnamed_controls(first.page) == []
    first.page.get_by_role("button", name="Reload").click()
    expect(first.page.get_by_role("heading", name="zwei-cube")).to_be_visible(timeout=SLOW)
    first.page.get_by_label("Names of the query").fill("Jan Pflüger")
    first.page.get_by_role("button", name="Make the network").click()
    first.ready()
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
