import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import QueryError
from cube2net.network import assemble
from cube2net.records import Objects, Selection

from toys import toy_cube


@given(st.text(max_size=12))
def test_any_text_may_be_looked_for(text: str) -> None:
    objects = Objects.of(pa.table({"object": ["a"], "name": ["“Foo” Bar"], "kind": ["x"]}))
    assert isinstance(objects.near(text), list)
    assert len(objects.find([text]).rows) == 1


def test_a_name_that_several_bear_comes_with_their_ids() -> None:
    cube = toy_cube([[0, 1]], objects=3)
    table = cube.objects.table.set_column(1, "name", pa.array(["Wei", "Wei", "Ada"]))
    from dataclasses import replace

    with pytest.raises(QueryError, match=r"that several objects bear: 'Wei' \(use an id, for 'Wei' 'o0', 'o1'\)"):
        replace(cube, objects=Objects.of(table)).query(["Wei"])


def test_a_cell_never_has_the_id_of_an_object() -> None:
    cube = toy_cube([[0, 1]], objects=2)
    from dataclasses import replace

    table = cube.objects.table.set_column(0, "object", pa.array(["cell:label 0", "o1"]))
    cube = replace(cube, objects=Objects.of(table))
    chosen = Selection(np.array([0, 1]), 1.0, cells=np.array([0]), values=np.array([1.0]))
    nodes = assemble(cube, cube.query([0]), chosen, "both").nodes
    assert nodes["id"].to_pylist() == ["cell:label 0", "o1", "cell:label 0 (2)"]
