"""A network as text, on the command line."""

from pathlib import Path

import cube2net as c2n


def test_a_network_is_printed_as_text_within_a_budget(tool, cube: Path, names: Path) -> None:
    asked = ("query", cube, "--query", names, "--quiet")
    status, out, err = tool(*asked, "--text")
    made = c2n.construct(opened := c2n.open(cube), c2n.read_query(opened, names))
    assert (status, out, err) == (0, made.to_text() + "\n", "")
    status, out, _ = tool(*asked, "--text", "--max-tokens", 60)
    assert (status, out) == (0, made.to_text(60) + "\n")
    assert out.startswith("# Network around a query of 12 objects") and "more objects" in out


def test_a_text_is_not_json_and_a_budget_needs_a_text(tool, cube: Path, names: Path) -> None:
    asked = ("query", cube, "--query", names, "--quiet")
    refused = {
        ("--text", "--json"): "--text and --json both say what is printed: give one of them",
        ("--max-tokens", 60): "--max-tokens 60 limits what --text prints: add --text",
        ("--text", "--max-tokens", -1): "max_tokens is -1, expected 0 or more tokens",
    }
    for words, sentence in refused.items():
        assert tool(*asked, *words) == (2, "", f"cube2net: {sentence}\n")


def test_a_text_says_which_part_of_the_cube_was_asked(tool, cube: Path, names: Path) -> None:
    asked = ("query", cube, "--query", names, "--quiet", "--text")
    head = tool(*asked, "--where", "city=Ghent")[1].splitlines()
    assert head[2] == r"Of the cube: only city: Ghent; 20 of its 60 objects may be brought."
    assert tool(*asked, "--roll-up", "trade=*")[1].splitlines()[2].startswith("Of the cube: trade")
    assert "Of the cube" not in tool(*asked)[1]
