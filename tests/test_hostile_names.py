"""Whatever data, files and arguments hold, no command lets it steer the terminal."""

import json
from pathlib import Path

import pytest
import typer

from cube2net import cli
from cube2net.terminal import json_text, line

import hostile

EVERY = [*hostile.NAMES, hostile.SURROGATE, hostile.FOLDER, hostile.ARGUMENT]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> hostile.World:
    return hostile.World.make(tmp_path_factory.mktemp("hostile"))


def test_every_command_is_fed_with_hostile_names() -> None:
    assert set(hostile.CALLS) == set(typer.main.get_command(cli.app).commands)


@pytest.mark.parametrize("command", hostile.CALLS)
def test_no_sign_of_the_data_steers_the_terminal(
    command: str, world: hostile.World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good = 0
    for words in hostile.CALLS[command](world):
        ended = hostile.run(words)
        said = f"{words}: {ended}"
        assert hostile.harmful(ended.out) == hostile.harmful(ended.err) == [], said
        assert ended.status in (0, 1, 2) and b"Traceback" not in ended.err, said
        assert len(ended.out) + len(ended.err) < 40_000, said
        good += ended.status == 0
        if "--json" in words and ended.status < 2:
            json.loads(ended.out)
    assert good or command in ("task", "demo")


@pytest.mark.parametrize("words", hostile.ALONE, ids=range(len(hostile.ALONE)))
def test_what_is_no_command_is_shown_harmless(words: list[str]) -> None:
    ended = hostile.run(words)
    assert (ended.status, hostile.harmful(ended.out), hostile.harmful(ended.err)) == (2, [], [])
    assert b"Usage: cube2net" in ended.out + ended.err


@pytest.mark.parametrize("command", ["build", "info", "query", "verify"])
def test_nor_does_it_where_there_are_bars_and_styles(
    command: str, world: hostile.World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = b""
    for words in list(hostile.CALLS[command](world))[:5]:
        ended = hostile.run_on_terminal(words)
        assert hostile.harmful(ended.out, styles=True) == [], f"{words}: {ended}"
        shown += ended.out
    assert (b"\x1b[?25l" in shown) == (command in ("build", "query"))
    assert (b"\x1b[1m" in shown) == (command in ("info", "query"))


@pytest.mark.parametrize("name", EVERY, ids=ascii)
def test_json_holds_the_same_name_without_its_signs(name: str) -> None:
    for only_ascii in (False, True):
        text = json_text({name: [name]}, only_ascii=only_ascii)
        assert json.loads(text) == {name: [name]}
        assert hostile.harmful(text.encode()) == []


@pytest.mark.parametrize("name", EVERY, ids=ascii)
def test_a_name_is_one_harmless_line(name: str) -> None:
    assert "\n" not in line(name)
    assert hostile.harmful(line(name).encode()) == []
    assert hostile.harmful(repr(name).encode()) == []


def test_names_of_people_stay_as_they_are() -> None:
    for name in ("Zoë Müller", "王小明", "Ολυμπία", "עברית", "हिन्दी", "Tab\u00a0le", "a\u3000b", "😀"):
        assert line(name) == name and json.loads(json_text(name)) == name and name in json_text(name)
