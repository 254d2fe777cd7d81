"""The sentence of a change says what has changed, and nothing else."""

from dataclasses import replace

import pytest

from cube2net.api.construct import construct
from cube2net.model.change import Change, NamedNode
from cube2net.model.node_names import Node

from toys import toy_cube

NETWORK = construct(toy_cube([[0, 1], [1, 2]], objects=3, links=[(0, 1)]), ["o0", "o1"])
A, B, C, D = (NamedNode(Node("cell", number), f"⟨{label}⟩", (label,)) for number, label in enumerate("abcd"))
X, Y, Z = (NamedNode(Node("object", number), name, name) for number, name in enumerate(["Xenia", "Yves", "Zoë"]))
CHANGE = Change(NETWORK, "cover", before=285.0, value=281.0, merely=281.0, without=(A,), left=(A,))
SAME = replace(CHANGE, value=285.0 + 1e-13, merely=285.0, left=())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (CHANGE, "without ⟨a⟩ the cover falls from 285 to 281: nothing takes its place"),
        (
            replace(CHANGE, entered=(B,), left=(A, X, Y, Z), merely=279.0),
            "without ⟨a⟩ the cover falls from 285 to 281: ⟨b⟩ takes its place, 3 neighbours leave, "
            "with nothing chosen anew it would be 279",
        ),
        (
            replace(CHANGE, entered=(B, C), left=(A, D, X)),
            "without ⟨a⟩ the cover falls from 285 to 281: ⟨b⟩ and ⟨c⟩ take its place, ⟨d⟩ leaves, Xenia leaves",
        ),
        (
            replace(CHANGE, without=(A, B), left=(A, B), value=285.0, merely=285.0, proven_before=True, bound=285.0),
            "without ⟨a⟩ and ⟨b⟩ the cover stays 285: nothing takes their places; no longer proven best, at most 285",
        ),
        (
            replace(CHANGE, without=(), with_=(B,), entered=(B, X), left=(), value=286.0, merely=286.0, proven=True),
            "with ⟨b⟩ the cover rises from 285 to 286: Xenia comes in; now proven best",
        ),
        (
            replace(CHANGE, objective="jaccard", before=0.25, value=0.2, merely=0.125, without=(X,), left=(X,)),
            "without Xenia the jaccard falls from 0.2500 to 0.2000: with nothing chosen anew it would be 0.1250",
        ),
        (
            replace(CHANGE, known=(A,), left=(D,), entered=(B,)),
            "without ⟨a⟩ the cover falls from 285 to 281: ⟨b⟩ comes in, ⟨d⟩ leaves",
        ),
        (replace(SAME, known=(A,)), "⟨a⟩ is not in the network: nothing changes"),
        (
            replace(SAME, with_=(X,), known=(A, X)),
            "⟨a⟩ is not in the network, Xenia is in the network already: nothing changes",
        ),
    ],
)
def test_a_change_is_said_in_one_sentence(change: Change, sentence: str) -> None:
    assert str(change) == change.sentence == sentence


def test_a_value_that_only_just_changes_is_said_with_enough_digits() -> None:
    small = replace(CHANGE, objective="jaccard", before=0.123456, value=0.123451, merely=0.123451)
    assert "falls from 0.12346 to 0.12345" in small.sentence


def test_a_hostile_name_does_not_break_the_sentence() -> None:
    odd = replace(CHANGE, without=(NamedNode(Node("object", 0), "a\x1b[2J\nb", "a"),), left=())
    assert odd.sentence.isprintable()
