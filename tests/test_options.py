import typing
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from cube2net.apps.cli.options import configure, split_settings
from cube2net.cube.engines.spark import Spark
from cube2net.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class Everything:
    count: int = 1
    share: float = 0.5
    limit: int | None = None
    bold: bool = False
    groups: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    kind: typing.Literal["fine", "coarse"] = "fine"
    where: str | None = None


@dataclass(frozen=True)
class Nothing:
    pass


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("count=7", "count", 7),
        ("share=0.25", "share", 0.25),
        ("limit=none", "limit", None),
        ("limit=3", "limit", 3),
        ("bold=yes", "bold", True),
        ("groups=a, b", "groups", ("a", "b")),
        ("names=source:from,target:to", "names", {"source": "from", "target": "to"}),
        ('names={"genres": ","}', "names", {"genres": ","}),
        ('names={"a:b": " ", "c": ""}', "names", {"a:b": " ", "c": ""}),
        ("names={}", "names", {}),
        ("names=", "names", {}),
        ("names=time:12:30", "names", {"time": "12:30"}),
        ('groups=["a, b", "c"]', "groups", ("a, b", "c")),
        ("groups=[]", "groups", ()),
        ("sizes=1,2", "sizes", (1, 2)),
        ('sizes=["1", "2"]', "sizes", (1, 2)),
        ("where={a}", "where", "{a}"),
        ("kind=coarse", "kind", "coarse"),
        ("where=a=b", "where", "a=b"),
    ],
)
def test_a_parameter_is_read_as_its_type_says(text: str, name: str, value: object) -> None:
    assert getattr(configure(Everything, split_settings([text]), "thing"), name) == value


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        (Everything, "cuont=7", "unknown parameter of thing 'cuont': choose one of .*did you mean 'count'"),
        (Everything, "count=seven", "parameter 'count' of thing is 'seven', expected a whole number"),
        (Everything, "limit=x", "parameter 'limit' of thing is 'x', expected a whole number or none"),
        (Everything, "bold=perhaps", "expected true or false"),
        (Everything, "kind=rough", "expected one of fine, coarse"),
        (Everything, "count", "cannot read the parameter 'count': write name=value"),
        (Everything, "names=genres", "'names' of thing is 'genres', expected name:value pairs with commas or JSON"),
        (Everything, "names=genres:,", "'names' of thing is 'genres:,', expected name:value pairs with commas or JSON"),
        (Everything, "names=a:b,:c", r'expected name:value pairs with commas or JSON such as {"name": "value"}'),
        (Everything, 'names={"genres"', "'names' of thing is .*, expected name:value pairs"),
        (Everything, 'names=["genres"]', "expected name:value pairs with commas or JSON"),
        (Everything, 'names={"genres": 1}', "expected name:value pairs with commas or JSON"),
        (Everything, 'names={"a": "x", "a": "y"}', "expected name:value pairs with commas or JSON"),
        (Everything, "names=a:x,a:y", "expected name:value pairs with commas or JSON"),
        (Everything, 'groups=["a",', r'expected a text, several with commas, or JSON such as \["one", "two"\]'),
        (Everything, "groups=[1]", "expected a text, several with commas, or JSON such as"),
        (Everything, 'groups={"a": "b"}', "expected a text, several with commas, or JSON such as"),
        pytest.param(Everything, "groups=" + "[" * 100_000, "expected a text, several with commas", id="deep"),
        (Everything, 'sizes=["x"]', "expected a whole number, several with commas"),
        (Nothing, "count=1", "thing takes no parameters, got 'count'"),
    ],
)
def test_a_parameter_that_cannot_be_read_says_what_was_expected(kind: type, text: str, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        configure(kind, split_settings([text]), "thing")


def test_a_parameter_called_settings_is_handed_over_as_any_other() -> None:
    handed = {"spark.ui.enabled": "false"}
    assert configure(Spark, {"master": "local[2]"}, "engine 'spark'", settings=handed).settings == handed
