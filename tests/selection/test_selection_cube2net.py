"""The paper's method: it learns, it is never below greedy, and its policy can be kept."""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from cube2net._util.arrays import Array
from cube2net.apps.cli.options import configure
from cube2net.errors import InputError, ParameterError
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.model.selection import Budget, CallableObjective, Selection, Weights
from cube2net.model.vectors import Vectors
from cube2net.selection.greedy import Greedy
from cube2net.selection.objectives import Jaccard
from cube2net.selection.rl import cube2net as learner
from cube2net.selection.rl.cube2net import Cube2net, Trained, draw_curve
from cube2net.selection.rl.episodes import PRESETS

from toys import random_cube, toy_cube


def vectors_of(values: Array) -> Vectors:
    return Vectors(values.astype(np.float32), blocks=(0, values.shape[1]), names=("place",))


def points(cube: Cube, seed: int = 0, width: int = 4) -> Vectors:
    """Return random vectors for the cells of a cube."""
    return vectors_of(np.random.default_rng(seed).normal(size=(len(cube.cells), width)))


def agent(cube: Cube, **options: Any) -> Cube2net:
    options = {"trajectories": 8, "updates": 4, "k": 3, **options}
    return Cube2net(**options).with_vectors(points(cube))


def ask(method: Cube2net, cube: Cube, query: Query, *, n_cells: int = 3, seed: int = 0, **limits: Any) -> Selection:
    weights = Jaccard().weigh(query, len(cube.objects))
    return method.select(cube, query, weights=weights, budget=Budget(n_cells=n_cells, **limits), seed=seed)


def case(seed: int) -> tuple[Cube, Query]:
    cube = random_cube(seed, cells=15)
    rng = np.random.default_rng(seed)
    return cube, Query(np.sort(rng.choice(len(cube.objects), size=8, replace=False)))


def planted() -> tuple[Cube, Query, Vectors]:
    """Return 100 cells on a grid; the ten of one corner hold the query, the others strangers and one of the query."""
    members, places = [], []
    for i in range(10):
        for j in range(10):
            good = i == 9
            own = [2 * j, 2 * j + 1] if good else [int(np.random.default_rng(10 * i + j).integers(20))]
            members.append([*own, *range(20 + 5 * len(members), 25 + 5 * len(members))][: 2 if good else 6])
            places.append([float(i), float(j)])
    return toy_cube(members, objects=600), Query(np.arange(20)), vectors_of(np.array(places))


def test_it_finds_the_best_pair_by_hand_where_greedy_does_not() -> None:
    # Greedy takes the cell of three and one stranger first; the two cells of two each hold the whole query.
    cube = toy_cube([[0, 1, 2, 4], [0, 1], [2, 3]], objects=5)
    query = Query(np.array([0, 1, 2, 3]))
    weights = Jaccard().weigh(query, 5)
    assert Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=2)).value == pytest.approx(0.8)
    found = ask(agent(cube, trajectories=20, updates=5, k=1), cube, query, n_cells=2)
    assert (sorted(found.cells.tolist()), found.value) == ([1, 2], 1.0)


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_it_is_never_below_greedy_nor_above_the_best(seed: int) -> None:
    cube, query = case(seed)
    weights = Jaccard().weigh(query, len(cube.objects))
    found = ask(agent(cube), cube, query, seed=seed)
    best = max(
        weights.value(np.unique(np.concatenate([cube.cells.members[c] for c in some])))
        for size in (1, 2, 3)
        for some in combinations(range(len(cube.cells)), size)
    )
    assert Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=3)).value <= found.value <= best + 1e-12


def neighbours(objects: Array) -> float:
    """Return a value that no counts add up to: pairs of neighbouring rows for each object, and five more."""
    return len(np.intersect1d(objects, objects + 1)) / (5 + len(objects))


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([None, 20]))
def test_it_is_never_below_greedy_for_a_function_either(seed: int, best_prefix: bool, max_nodes: int | None) -> None:
    cube, query = case(seed)
    judge, budget = (
        CallableObjective(neighbours, len(cube.objects)),
        Budget(n_cells=3, max_nodes=max_nodes, best_prefix=best_prefix),
    )
    found = agent(cube, updates=1).select(cube, query, weights=judge, budget=budget, seed=seed)
    assert found.value >= Greedy().select(cube, query, weights=judge, budget=budget).value


def test_without_a_floor_the_answer_is_what_the_agent_met_and_a_policy_has_none() -> None:
    cube, query = case(5)
    judge = CallableObjective(neighbours, len(cube.objects))
    greedy = Greedy().select(cube, query, weights=judge, budget=Budget(n_cells=3)).value
    free = agent(cube, floor=False).select(cube, query, weights=judge, budget=Budget(n_cells=3))
    assert free.value < greedy
    assert free.note == ""
    held = agent(cube).select(cube, query, weights=judge, budget=Budget(n_cells=3))
    assert held.value == greedy
    assert held.note == "learning found nothing better than what greedy chose, which this is"
    learned = agent(cube).fit(cube, query, weights=judge, budget=Budget(n_cells=3))
    assert not learned.has_floor(judge)
    assert replace(learned, floor=True).has_floor(judge)
    assert learned.has_floor(Jaccard().weigh(query, len(cube.objects)))


def test_greedy_by_calls_tells_how_far_it_is() -> None:
    said: list[tuple[str, int, int | None]] = []

    def watch(stage: str, done: int, total: int | None = None) -> None:
        said.append((stage, done, total))

    cube = toy_cube([[0, 1], [1, 2], [2, 3]], objects=4)
    judge = CallableObjective(neighbours, 4)
    Greedy(progress=watch).select(cube, Query(np.arange(4)), weights=judge, budget=Budget(n_cells=2))
    assert [(done, total) for _, done, total in said] == [(i, 5) for i in range(1, 6)]
    assert said[-1][0] == "greedy calls the objective 'neighbours': cell 2 of 2"


def test_its_trajectories_get_better_where_only_the_place_tells_which_cells_are_good() -> None:
    cube, query, vectors = planted()
    weights = Jaccard().weigh(query, len(cube.objects))
    method = Cube2net(k=1, directions=2, trajectories=40, updates=40, patience=40).with_vectors(vectors)
    learned = method.fit(cube, query, weights=weights, budget=Budget(n_cells=8)).policy
    assert isinstance(learned, Trained)
    means = [mean for mean, _ in learned.curve]
    assert len(means) == 40
    assert np.mean(means[-5:]) > 1.3 * np.mean(means[:5])


def test_the_same_seed_gives_the_same_cells() -> None:
    cube, query = case(3)
    first, again = (ask(agent(cube), cube, query, seed=5) for _ in range(2))
    assert first.cells.tolist() == again.cells.tolist()
    assert first.values.tolist() == again.values.tolist()


def test_the_generators_and_the_threads_of_the_caller_are_left_alone() -> None:
    cube, query = case(1)
    torch.set_num_threads(2)
    before = torch.get_rng_state().tolist()
    ask(agent(cube), cube, query)
    assert torch.get_rng_state().tolist() == before
    assert torch.get_num_threads() == 2


def test_a_policy_goes_through_a_file_and_plans_the_same(tmp_path: Path) -> None:
    cube, query = case(2)
    path = tmp_path / "policy.safetensors"
    method = agent(cube)
    ask(replace(method, save=str(path)), cube, query)
    kept = method.fit(cube, query, weights=Jaccard().weigh(query, len(cube.objects)), budget=Budget(n_cells=3))
    assert method.policy is None
    assert isinstance(kept.policy, Trained)
    loaded = Trained.load(path)
    for name, array in kept.policy.arrays.items():
        assert loaded.arrays[name].tolist() == array.tolist()
    assert loaded.curve == kept.policy.curve
    assert loaded.card == kept.policy.card
    assert loaded.card["cube"] == repr(cube)
    assert [each["objects"] for each in loaded.card["queries"]] == [len(query)]
    other = Query(np.array([1, 5, 9]))
    by_file = ask(replace(method, policy=str(path), updates=0), cube, other)
    by_hand = ask(replace(kept, updates=0), cube, other)
    assert by_file.cells.tolist() == by_hand.cells.tolist()


def test_planning_twice_gives_the_same_answer_and_changes_nothing() -> None:
    cube, query = case(2)
    kept = agent(cube).fit(cube, query, weights=Jaccard().weigh(query, len(cube.objects)), budget=Budget(n_cells=3))
    assert isinstance(kept.policy, Trained)
    before = {name: array.copy() for name, array in kept.policy.arrays.items()}
    plans = [ask(replace(kept, updates=0), cube, query, seed=seed).cells.tolist() for seed in (0, 1)]
    assert plans[0] == plans[1]
    assert all((before[name] == array).all() for name, array in kept.policy.arrays.items())


def test_a_policy_is_refused_where_it_does_not_belong(tmp_path: Path) -> None:
    cube, query = case(2)
    weights = Jaccard().weigh(query, len(cube.objects))
    kept = agent(cube).fit(cube, query, weights=weights, budget=Budget(n_cells=3))
    with pytest.raises(InputError) as caught:
        ask(kept.with_vectors(points(cube, seed=1)), cube, query)
    assert str(caught.value) == (
        "the policy was learned with preset 'default' among other cells or vectors: use it for other "
        "queries of the same cube, with the same vectors and directions"
    )
    bad = tmp_path / "bad.safetensors"
    with pytest.raises(InputError, match="there is no policy at"):
        ask(agent(cube, policy=str(bad)), cube, query)
    bad.write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"bad\.safetensors' is no policy: "):
        ask(agent(cube, policy=str(bad)), cube, query)


@pytest.mark.parametrize(
    ("about", "weight", "text"),
    [
        ({"curve": "[" * 100_000}, 1.0, "its learning curve cannot be read"),
        ({"curve": "[[NaN, 1]]"}, 1.0, "its learning curve cannot be read"),
        ({"curve": "[[1, 1e999]]"}, 1.0, "its learning curve cannot be read"),
        ({"curve": f"[[1, {10**400}]]"}, 1.0, "its learning curve cannot be read"),
        ({"curve": '[["1", true]]'}, 1.0, "its learning curve cannot be read"),
        ({"curve": "5"}, 1.0, "its learning curve cannot be read"),
        ({"card": "[]"}, 1.0, "its card cannot be read"),
        ({"card": "{" * 100_000}, 1.0, "its card cannot be read"),
        ({}, float("nan"), "its weights 'w' are not finite numbers"),
        ({}, float("inf"), "its weights 'w' are not finite numbers"),
    ],
)
def test_a_policy_file_with_odd_values_is_refused_in_a_sentence(
    about: dict[str, str], weight: float, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "odd.safetensors"
    save_file({"w": np.full(3, weight, np.float32)}, path, {"format": learner.FORMAT, **about})
    with pytest.raises(InputError) as caught:
        Trained.load(path)
    assert str(caught.value) == f"{str(path)!r} is no policy: {text}"


def test_the_paper_preset_takes_the_nearest_of_all_cells_for_exactly_m_steps() -> None:
    assert PRESETS["paper"].k == 1
    assert not PRESETS["paper"].only_useful
    cube, query = case(4)
    method = Cube2net(preset="paper", trajectories=4, updates=2).with_vectors(points(cube))
    assert len(ask(method, cube, query, n_cells=5).cells) == 5


def test_the_papers_answer_is_what_the_learned_policy_plans_and_has_no_floor() -> None:
    cube, query = case(4)
    weights = Jaccard().weigh(query, len(cube.objects))
    method = Cube2net(preset="paper", trajectories=4, updates=2).with_vectors(points(cube))
    learned = method.fit(cube, query, weights=weights, budget=Budget(n_cells=3))
    plan = ask(replace(learned, updates=0), cube, query)
    assert ask(method, cube, query).cells.tolist() == plan.cells.tolist()
    assert plan.value < Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=3)).value
    met = ask(replace(method, switches={"answer": "met"}), cube, query)
    assert met.value > plan.value
    held = ask(replace(method, floor=True), cube, query)
    assert held.value == Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=3)).value


def test_every_departure_is_a_switch_and_the_paper_is_the_default_with_all_of_them() -> None:
    paper, default = asdict(PRESETS["paper"]), asdict(PRESETS["default"])
    same = {name for name in paper if paper[name] == default[name]}
    assert same == {"trajectories", "discount", "printed_exponent", "printed_target"}
    printed = asdict(PRESETS["printed"])
    assert {name for name in paper if printed[name] != paper[name]} == {"printed_exponent", "printed_target"}
    assert Cube2net(switches=paper).settings == PRESETS["paper"]
    assert Cube2net(preset="paper", k=3, epochs=2).settings == replace(PRESETS["paper"], k=3, epochs=2)
    cube, query = case(4)
    quick = {"trajectories": 2, "updates": 1, "epochs": 1}
    for name, value in paper.items():
        switches = {**quick, name: value} if name not in quick else quick
        assert len(ask(Cube2net(switches=switches).with_vectors(points(cube)), cube, query).cells) > 0
    for switches, sentence in (
        (
            {"scales": "none"},
            "unknown switch 'scales': choose one of answer, at_a_price, directions, discount, each_step, ",
        ),
        ({"floor": "maybe"}, "switch 'floor' is 'maybe', expected true or false"),
        ({"answer": "all"}, "unknown answer 'all': choose one of met, plan"),
    ):
        with pytest.raises(ParameterError) as caught:
            Cube2net(switches=switches)
        assert str(caught.value).startswith(sentence)


def test_the_tuned_paper_keeps_the_papers_policy_state_and_answer() -> None:
    paper, tuned = PRESETS["paper"], PRESETS["paper-tuned"]
    kept = ("only_useful", "k", "at_a_price", "sees_left", "each_step", "whole", "answer", "floor", "one_spread")
    assert [getattr(tuned, name) for name in kept] == [getattr(paper, name) for name in kept]


def test_switches_are_read_from_text_and_a_policy_knows_them() -> None:
    method = configure(Cube2net, {"preset": "paper", "switches": "k:3,whiten:true,scale:blocks"}, "method 'cube2net'")
    assert method.switches == {"k": 3, "whiten": True, "scale": "blocks"}
    assert method.title == "paper with k 3, scale blocks, whiten True"
    assert method.vector_options == {"words": {"scale": "blocks"}}
    cube, query = case(2)
    weights = Jaccard().weigh(query, len(cube.objects))
    kept = agent(cube).fit(cube, query, weights=weights, budget=Budget(n_cells=3))
    with pytest.raises(InputError, match="the policy was learned with preset 'default' among other cells"):
        ask(replace(kept, switches={"whiten": False}), cube, query)


def test_a_function_is_asked_once_for_every_trajectory_beside_the_start_and_the_answer() -> None:
    cube, query = case(5)
    inside = set(query.objects.tolist())
    asked = []

    def overlap(objects: Any) -> float:
        asked.append(len(objects))
        return len(inside & set(objects.tolist())) / len(inside | set(objects.tolist()))

    judge = CallableObjective(overlap, len(cube.objects))
    found = agent(cube, floor=False).select(cube, query, weights=judge, budget=Budget(n_cells=3))
    trajectories = 8 * 4 + 1
    prefixes = 3 + 1
    assert trajectories <= len(asked) <= trajectories + prefixes + 1
    assert found.value == pytest.approx(Jaccard().weigh(query, len(cube.objects)).value(found.objects))


def test_a_function_that_says_nan_is_refused_by_name() -> None:
    cube, query = case(5)

    def strange(objects: Any) -> float:
        return float("nan")

    with pytest.raises(InputError, match=r"the objective 'strange' gave nan for \d+ objects, expected a finite number"):
        agent(cube).select(cube, query, weights=CallableObjective(strange, len(cube.objects)), budget=Budget(n_cells=3))


def test_several_queries_are_learned_in_turn_and_their_policy_goes_on_with_another() -> None:
    cube = random_cube(7, cells=15)
    queries = [Query(np.arange(i, i + 8)) for i in (0, 8, 16)]
    weights = [Jaccard().weigh(query, len(cube.objects)) for query in queries]
    kept = agent(cube, updates=5).fit(cube, queries, weights=weights, budget=Budget(n_cells=3))
    assert isinstance(kept.policy, Trained)
    assert len(kept.policy.curve) == 5
    other = Query(np.arange(24, 32))
    fresh = agent(cube, updates=0).fit(cube, other, weights=Jaccard().weigh(other, 40), budget=Budget(n_cells=3)).policy
    gone_on = (
        replace(kept, updates=0).fit(cube, other, weights=Jaccard().weigh(other, 40), budget=Budget(n_cells=3)).policy
    )
    assert isinstance(fresh, Trained)
    assert isinstance(gone_on, Trained)
    for name, array in kept.policy.arrays.items():
        assert gone_on.arrays[name].tolist() == array.tolist()
    assert any(fresh.arrays[name].tolist() != array.tolist() for name, array in kept.policy.arrays.items())
    with pytest.raises(ParameterError) as caught:
        agent(cube).fit(cube, queries, weights=weights[:2], budget=Budget(n_cells=3))
    assert str(caught.value) == "got 3 queries and 2 weights, expected one for each"


def test_a_policy_learned_on_other_queries_finds_what_a_function_wants_in_one_call() -> None:
    # The function wants the cells beside those of the query, one step to the right: no count of the query tells.
    rows, columns = 6, 12
    members = [[5 * (i * columns + j) + n for n in range(5)] for i in range(rows) for j in range(columns)]
    cube = toy_cube(members, objects=5 * rows * columns)
    places = vectors_of(np.array([[float(i), float(j)] for i in range(rows) for j in range(columns)]))

    def task(row: int, column: int) -> tuple[Query, CallableObjective]:
        own, beside = members[row * columns + column], set(members[row * columns + column + 3])
        reached = sorted({*own, *(one for c in range(columns) for one in members[row * columns + c][:1])})

        def wanted(objects: Any) -> float:
            return len(beside & set(objects.tolist())) / len(beside | set(objects.tolist()))

        return Query(np.array(reached)), CallableObjective(wanted, len(cube.objects))

    past = [task(row, column) for row in range(5) for column in (1, 4, 7)]
    method = Cube2net(k=1, directions=2, trajectories=30, updates=150, floor=False).with_vectors(places)
    learned = method.fit(
        cube, [query for query, _ in past], weights=[judge for _, judge in past], budget=Budget(n_cells=2)
    )
    new = [task(5, column) for column in (1, 4, 7)]

    def planned(by: Cube2net) -> float:
        found = [by.select(cube, query, weights=judge, budget=Budget(n_cells=2)).value for query, judge in new]
        return float(np.mean(found))

    assert planned(replace(learned, updates=0)) > planned(replace(method, updates=0))


def test_it_stops_when_nothing_improves() -> None:
    cube = toy_cube([[0, 1], [2, 3]], objects=4)
    query = Query(np.arange(4))
    kept = agent(cube, updates=30, patience=2).fit(
        cube, query, weights=Jaccard().weigh(query, 4), budget=Budget(n_cells=2)
    )
    assert isinstance(kept.policy, Trained)
    assert len(kept.policy.curve) == 3


def test_progress_shows_the_curve() -> None:
    said: list[tuple[str, int, int | None]] = []

    def watch(stage: str, done: int, total: int | None = None) -> None:
        said.append((stage, done, total))

    cube, query = case(3)
    ask(agent(cube).with_progress(watch), cube, query)
    assert [(done, total) for _, done, total in said] == [(i, 4) for i in (1, 2, 3, 4)]
    assert said[0][0].startswith("learning: █ mean 0.")
    assert draw_curve([3.0, 1.0, 2.0]) == "█▁▅"


def test_bad_parameters_are_refused_in_a_sentence() -> None:
    cube, query = case(3)
    for options, sentence in (
        (
            {"preset": "papr"},
            "unknown preset 'papr': choose one of default, paper, paper-tuned, printed (did you mean 'paper'?)",
        ),
        ({"device": "gpu"}, "unknown device 'gpu': choose one of cpu, cuda (did you mean 'cpu'?)"),
        ({"k": 0}, "k is 0, expected 1 or more cells, or none"),
        ({"seconds": 0.0}, "seconds is 0.0, expected a number above 0, or none"),
    ):
        with pytest.raises(ParameterError) as caught:
            Cube2net(**options)  # type: ignore[arg-type]
        assert str(caught.value) == sentence
    with pytest.raises(ParameterError) as caught:
        ask(Cube2net(), cube, query)
    assert str(caught.value) == (
        "vectors are 'words', a name: give Vectors here, or ask through construct, which makes them"
    )
    with pytest.raises(ParameterError) as caught:
        ask(Cube2net().with_vectors(vectors_of(np.ones((3, 2)))), cube, query)
    assert str(caught.value) == "vectors are of 3 cells, and the cube has 15"


def test_weights_that_are_no_ratio_work_as_well() -> None:
    cube, query = case(6)
    inside = np.isin(np.arange(len(cube.objects)), query.objects)
    weights = Weights(gain=inside - 0.03125 * ~inside, cost=np.zeros(len(cube.objects)), cost0=8.0)
    found = agent(cube, updates=6).select(cube, query, weights=weights, budget=Budget(n_cells=3))
    assert (
        found.value >= Greedy().select(cube, query, weights=weights, budget=Budget(n_cells=3, best_prefix=True)).value
    )
