from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cube2net.errors import InputError, ParameterError
from cube2net.mining.bipartite import make_bipartite
from cube2net.model.network import Network

from bare_networks import bare_network

# objects 0–5 of the cube: users 0, 2 and 5, films 1, 3 and 4
KINDS = ["user", "film", "user", "film", "film", "user"]
Link = tuple[int, int, float]


def network(
    query: list[int], others: list[int], links: list[Link], kinds: list[str] = KINDS, cells: int = 0
) -> Network:
    """Return a network of objects by row, whose links name positions of nodes; cells come last."""
    return bare_network(
        [link[:2] for link in links],
        query=len(query),
        objects=[*query, *others],
        cells=[(f"label {cell}",) for cell in range(cells)],
        weights=[link[2] for link in links],
        ids=[f"o{row}" for row in range(len(kinds))],
        kinds=kinds,
    )


def test_users_are_rows_and_items_columns_and_the_query_comes_first() -> None:
    # nodes: 0 = user 0, 1 = film 3, 2 = user 5, then brought: 3 = film 1, 4 = user 2, 5 = film 4
    made = network([0, 3, 5], [1, 2, 4], [(0, 1, 7.0), (1, 2, 2.0), (3, 0, 5.0), (5, 4, 1.0)])
    found = make_bipartite(made)
    assert found.users.tolist() == [0, 5, 2]
    assert found.items.tolist() == [3, 1, 4]
    assert found.matrix.toarray().tolist() == [[7, 5, 0], [2, 0, 0], [0, 0, 1]]
    assert (found.query_users, found.query_items) == (2, 1)
    assert repr(found) == "Bipartite(3 users × 3 items, 4 links, 2 × 1 in the query)"


def test_links_between_two_users_or_two_items_are_left_out_and_counted() -> None:
    made = network([0, 1, 2, 3], [], [(0, 2, 1.0), (1, 3, 1.0), (0, 3, 4.0)])
    found = make_bipartite(made)
    assert found.matrix.toarray().tolist() == [[0, 4], [0, 0]]
    assert found.left_out == 2


def test_a_link_of_weight_zero_stays_a_link() -> None:
    assert make_bipartite(network([0, 1], [], [(0, 1, 0.0)])).matrix.nnz == 1


def test_memberships_of_cells_are_left_out_and_counted() -> None:
    made = network([0, 1], [2], [(0, 1, 9.0), (0, 3, 1.0), (1, 3, 1.0), (2, 4, 1.0)], cells=2)
    found = make_bipartite(made)
    assert (found.users.tolist(), found.items.tolist(), found.left_out) == ([0, 2], [1], 3)
    assert found.matrix.toarray().tolist() == [[9], [0]]


def test_links_weigh_what_they_weigh_in_the_cube_where_the_network_damps_them() -> None:
    made = network([0, 1], [2], [(0, 1, 9.0), (2, 1, 0.5), (0, 3, 1.0)], cells=1)
    damped = replace(made, given=np.array([9.0, 2.0], dtype=np.float32))
    assert make_bipartite(damped).matrix.toarray().tolist() == [[9], [2]]


def test_one_kind_of_items_may_be_named_among_several() -> None:
    made = network([0, 1, 2], [], [(0, 1, 1.0), (0, 2, 1.0)], kinds=["user", "film", "city"])
    assert make_bipartite(made).items.tolist() == [1, 2]
    only = make_bipartite(made, items="city")
    assert only.items.tolist() == [2]
    assert only.left_out == 1
    assert make_bipartite(made, users="film", items="user").matrix.toarray().tolist() == [[1]]


def test_hidden_links_take_the_shape_of_the_known_ones() -> None:
    found = make_bipartite(network([0, 3, 5], [1, 2], [(0, 1, 7.0)]))
    hidden = found.links(np.array([5, 5]), np.array([3, 3]))
    assert hidden.toarray().tolist() == [[0, 0], [1, 0], [0, 0]]
    assert found.links(np.empty(0, int), np.empty(0, int)).nnz == 0


def test_links_that_are_not_of_the_query_are_refused() -> None:
    found = make_bipartite(network([0, 3, 5], [1, 2], [(0, 1, 7.0)]))
    with pytest.raises(InputError, match="1 links have users that are not users of the query: rows 2"):
        found.links(np.array([2, 0]), np.array([3, 3]))
    with pytest.raises(InputError, match="2 links have items that are not items of the query: rows 1, 0"):
        found.links(np.array([0, 5]), np.array([1, 0]))
    with pytest.raises(InputError, match="links have 2 users and 1 items, expected as many of both"):
        found.links(np.array([0, 5]), np.array([3]))


def test_kinds_that_are_not_there_are_refused() -> None:
    made = network([0, 1], [], [])
    with pytest.raises(ParameterError, match="unknown kind of objects 'users': choose one of film, user"):
        make_bipartite(made, users="users")
    with pytest.raises(ParameterError, match="users and items are both of the kind 'user', expected objects of two"):
        make_bipartite(made, items="user")
    with pytest.raises(ParameterError, match="users and items are both of the kind 'user', expected objects of two"):
        make_bipartite(network([0, 2], [], []))
