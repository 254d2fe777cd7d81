"""Slips in a notebook: what is refused says so in a sentence, and a closed widget shows what it showed last."""

from __future__ import annotations

from typing import Any

import pytest

import cube2net as c2n
from cube2net.errors import ParameterError

from toys import two_communities

pytest.importorskip("anywidget")
CUBE, QUERY = two_communities(5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metod": "greedy"}, "explore takes no 'metod': did you mean 'method'?"),
        ({"progress": True}, "explore takes no progress: the page itself shows how far long work is"),
    ],
)
def test_a_wrong_option_of_explore_is_told_with_the_one_meant(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError) as refused:
        c2n.explore(CUBE, QUERY, **options)
    assert str(refused.value) == said


def test_what_a_widget_cannot_be_set_to_is_refused_and_a_closed_one_shows_and_does_not_move() -> None:
    widget = c2n.explore(CUBE, QUERY, n_cells=2)
    with pytest.raises(ParameterError, match=r"^request is \['o3'\], expected a request such as"):
        widget.request = ["o3"]
    with pytest.raises(
        ParameterError, match=r"^the widget has no attribute 'n_cells': set request, node or query, here widget.request"
    ):
        widget.n_cells = 3
    widget.close()
    data = widget._repr_mimebundle_()
    assert "The page is closed" in data["text/html"] and "<img" in data["text/html"]
    with pytest.raises(ParameterError, match="^the widget is closed and does not move"):
        widget.query = ["o3"]


def test_a_query_without_labels_shows_its_first_objects_and_counts_are_singular() -> None:
    assert "o3, o5" in str(CUBE.query(["o3", "o5"])._repr_html_())
    assert "1 cell," in str(c2n.construct(CUBE, QUERY, n_cells=1).selection._repr_html_())
