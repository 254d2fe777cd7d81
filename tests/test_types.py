"""A type checker finds the mistakes of callers, and knows what comes back."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = """\
import cube2net as c2n
from cube2net import methods

cube = c2n.open("acl")
network = c2n.construct(cube, ["Graham Neubig"], methods.Greedy(by="price"), max_nodes=3)
c2n.construct(cube, ["Graham Neubig"], "gredy")
c2n.construct(cube, ["Graham Neubig"], max_node=3)
c2n.construct(cube, ["Graham Neubig"], form="cell")
c2n.construct(cube, ["Graham Neubig"], objective="jacard")
c2n.compare(cube, ["Graham Neubig"], "cluster")
c2n.NetworkOptions(membership_weights="odd")
reveal_type(network)
reveal_type(network.explain())
reveal_type(network.without("x").network)
reveal_type(network.save("a.csv"))
reveal_type(c2n.build("a.csv"))
reveal_type(c2n.compare(cube, ["a"]).verdict().helps)
reveal_type(c2n.contrast(cube, ["a"], ["b"]))
reveal_type(c2n.suggest("a.csv").dimensions)
"""
FOUND = """\
6: Argument 3 to "construct" has incompatible type
7: Unexpected keyword argument "max_node" for "construct"; did you mean "max_nodes"?
8: Argument "form" to "construct" has incompatible type
9: Argument "objective" to "construct" has incompatible type
10: Argument 3 to "compare" has incompatible type
11: Argument "membership_weights" to "NetworkOptions" has incompatible type
"""


@pytest.mark.slow  # mypy reads the whole package
def test_mypy_finds_the_mistakes_of_callers_and_no_result_is_any(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    options = ["--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache")]
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "program.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ended.stdout.splitlines()
    errors = [re.sub(r"^program\.py:(\d+): error: ", r"\1: ", line) for line in lines if ": error: " in line]
    assert len(errors) == len(FOUND.splitlines()), ended.stdout
    assert all(error.startswith(part) for error, part in zip(errors, FOUND.splitlines(), strict=True))
    revealed = re.findall(r'Revealed type is "(.+)"', ended.stdout)
    assert len(revealed) == PROGRAM.count("reveal_type") and "Any" not in revealed
    assert revealed[0] == "cube2net.model.network.Network"
