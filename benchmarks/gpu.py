"""Selections that grow on a GPU: the same cells as plain torch and NumPy take, and how many a second.

    python benchmarks/gpu.py [OUT] [--problem PROBLEM.npz] [--parts check,games,…]

Needs torch with CUDA, Triton and NumPy, and nothing else that cube2net needs. Inputs are drawn afresh in every run (the
seed is printed). OUT is a folder for ``gpu.json``. PROBLEM.npz holds a real choice among cells, as ``save_problem``
writes it; without one the training is on a synthetic choice of the same size.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

SOURCE = Path(__file__).parents[1] / "src"
sys.path.insert(0, str(SOURCE))
# Without pyarrow or numba the package and its room cannot be imported whole; the modules of tensors can.
if not all(map(find_spec, ("pyarrow", "numba", "lazy_loader"))):
    for name in ("cube2net", "cube2net.selection"):
        room = types.ModuleType(name)
        room.__path__ = [str(SOURCE.joinpath(*name.split(".")))]
        sys.modules[name] = room

from cube2net.kernels.rollout import torch_rollout as rollout  # noqa: E402
from cube2net.kernels.rollout import triton_launch as compiled  # noqa: E402
from cube2net.selection.rl import ppo  # noqa: E402
from cube2net.selection.rl.gpu_trajectories import GpuTrajectories  # noqa: E402

WAYS = {compiled.HELD: "held", compiled.GROUPED: "grouped", compiled.STREAMED: "streamed"}
STEPS = 20


@dataclass
class Rows:
    """Rows of different lengths: offsets and entries."""

    indptr: Any
    indices: Any

    def transposed(self, count: int) -> Rows:
        """Return the rows that each entry stands in."""
        order = np.argsort(self.indices, kind="stable")
        rows = np.repeat(np.arange(len(self.indptr) - 1, dtype=np.int32), np.diff(self.indptr))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(self.indices, minlength=count))])
        return Rows(indptr, rows[order])


@dataclass
class Choice:
    """What ``Problem`` and ``Space`` hold of a choice among cells."""

    points: Any
    members: Rows
    object_cells: Rows
    gain: Any
    cost: Any
    nodes: Any
    gain0: float
    cost0: float
    unit: float
    reach: int
    start: float = 0.0

    def __len__(self) -> int:
        return len(self.points)

    @property
    def directions(self) -> int:
        """How many numbers a point has."""
        return int(self.points.shape[1])

    def ratio(self, gain: float, cost: float) -> float:
        """Return the value at given sums."""
        return (self.gain0 + gain) / (self.cost0 + cost) if self.cost0 + cost > 0 else 0.0

    def held(self, cells: Any) -> Any:
        """Return the groups that some cells hold."""
        at = self.members.indptr
        return np.unique(np.concatenate([self.members.indices[at[c] : at[c + 1]] for c in cells]))

    def value(self, cells: Any) -> float:
        """Return what some cells are worth together."""
        groups = self.held(cells)
        return self.ratio(float(self.gain[groups].sum()), float(self.cost[groups].sum()))

    def tables(self, where: str) -> rollout.CellTables:
        """Return the choice in tensors."""
        members, object_cells = self.members, self.object_cells
        return rollout.tables(
            self.points, members.indptr, members.indices, object_cells.indptr, object_cells.indices,
            self.gain, self.cost, self.nodes, device=where,
        )  # fmt: skip


def save_problem(path: Path, problem: Any, space: Any, start: float) -> None:
    """Write a ``Problem`` and the ``Space`` of its cells; ``start`` is the value of greedy's choice."""
    np.savez_compressed(
        path, points=space.points, unit=space.unit, reach=space.reach, start=start,
        members_indptr=problem.members.indptr, members=problem.members.indices,
        object_cells_indptr=problem.object_cells.indptr, object_cells=problem.object_cells.indices,
        gain=problem.gain, cost=problem.cost, nodes=problem.nodes, gain0=problem.gain0, cost0=problem.cost0,
    )  # fmt: skip


def load_problem(path: Path) -> Choice:
    with np.load(path) as file:
        found = dict(file)
    numbers = {name: found[name].item() for name in ("gain0", "cost0", "unit", "reach", "start")}
    members, object_cells = (Rows(found[f"{name}_indptr"], found[name]) for name in ("members", "object_cells"))
    return Choice(found["points"], members, object_cells, found["gain"], found["cost"], found["nodes"], **numbers)


def synthetic(
    rng: np.random.Generator,
    cells: int,
    objects: int,
    each: float,
    query: int,
    *,
    directions: int = 8,
    span: float | None = None,
    parts: int = 1,
) -> Choice:
    """Return cells of heavy-tailed sizes (``each`` on average) with objects of heavy-tailed fame."""
    sizes = rng.pareto(2.2, cells) + 0.25
    sizes = np.clip(sizes * (each / sizes.mean()), 1, objects // 2).astype(np.int64)
    fame = np.cumsum(rng.pareto(3.0, objects) + 0.3)
    drawn = np.minimum(np.searchsorted(fame, rng.random(int(sizes.sum() * 1.08)) * fame[-1]), objects - 1)
    rows = np.repeat(np.arange(cells), np.ceil(sizes * 1.08).astype(np.int64))[: len(drawn)]
    pairs = np.unique(rows * objects + drawn[: len(rows)])
    rows, entries = np.divmod(pairs, objects)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=cells))])
    members = Rows(indptr, entries.astype(np.int32))
    reach = int((2**31 / directions) ** 0.5 / 2)
    flat = rng.normal(size=(cells, directions)) * np.linspace(2.0, 0.5, directions)
    unit = reach / (2 * np.abs(flat).max()) if span is None else span
    inside = np.zeros(objects)
    inside[rng.choice(objects, query, replace=False)] = 1.0
    gain = np.where(inside > 0, rng.integers(1, parts + 1, objects) / parts, 0.0)
    points = np.rint(flat * unit).astype(np.int16)
    return Choice(
        points,
        members,
        members.transposed(objects),
        gain,
        1.0 - inside,
        1.0 - inside,
        0.0,
        float(query),
        unit,
        reach,
        0.02,
    )


def draw_points(rng: np.random.Generator, choice: Choice, steps: int, batch: int) -> Any:
    """Return points around random cells, as a policy with some spread would aim."""
    at = choice.points[rng.integers(0, len(choice), (steps, batch))].astype(np.float64)
    at += rng.normal(size=at.shape) * 0.7 * choice.unit
    return np.clip(np.rint(at), -choice.reach, choice.reach).astype(np.int16)


def by_hand(choice: Choice, points: Any, k: int, price: float, pass_over: bool, room: float) -> Any:
    """Return what one selection takes, in NumPy."""
    covered = np.zeros(len(choice.gain), dtype=bool)
    free = np.ones(len(choice), dtype=bool)
    rows = np.repeat(np.arange(len(choice)), np.diff(choice.members.indptr))
    spots = choice.points.astype(np.int64)
    taken = []
    for point in points:
        open_ = ~covered[choice.members.indices]
        gains, costs = (
            np.bincount(rows, weights=part[choice.members.indices] * open_, minlength=len(choice))
            for part in (choice.gain, choice.cost)
        )
        far = ((spots - point) ** 2).sum(1)
        while True:
            cell = -1
            if free.any():
                order = np.sort(far[free])
                near = free & (far <= order[min(k, len(order)) - 1])
                worth = np.where(near, gains - price * costs, -np.inf)
                cell = int(worth.argmax())
                if pass_over and worth[cell] <= 0:
                    cell = -1
            if cell < 0:
                break
            groups = choice.members.indices[choice.members.indptr[cell] : choice.members.indptr[cell + 1]]
            new = groups[~covered[groups]]
            more = choice.nodes[new].sum()
            free[cell] = False
            if more <= room:
                room -= more
                covered[groups] = True
                break
        taken.append(cell)
    return np.array(taken)


def check(rng: np.random.Generator, where: str, first: int, every: int) -> list[dict[str, Any]]:
    """Compare the kernels with plain torch on the same device and with NumPy, on fresh inputs."""
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = []
    small = {"cells": 700, "objects": 3000, "each": 20, "query": 200}
    middle = {"cells": 6000, "objects": 20000, "each": 40, "query": 800}
    large = {"cells": 30000, "objects": 100000, "each": 40, "query": 3000}
    for way in (compiled.HELD, compiled.STREAMED):
        cases += [(small | {"parts": 1024}, {"way": way, "k": k}) for k in (1, 64, 300, 5000)]
        cases += [(small | {"span": 1.5, "directions": 3}, {"way": way, "k": 50})]
        cases += [(small | {"directions": 20}, {"way": way, "k": 50, "pass_over": True})]
        cases += [(small, {"way": way, "k": 64, "room": 60.0}), (small, {"way": way, "k": 700, "room": -1.0})]
        cases += [(middle, {"way": way, "k": 64, "pass_over": True, "price": 0.05})]
    for options in ({"k": 64}, {"k": 1}, {"k": 200}, {"k": 64, "room": 300.0}, {"k": 64, "pass_over": True}):
        cases += [(large, {"way": compiled.GROUPED} | options), (middle, {"way": compiled.GROUPED} | options)]
    cases += [(large | {"span": 1.5}, {"way": compiled.GROUPED, "k": 64})]
    cases += [(large, {"way": compiled.STREAMED, "k": 12000}), (large, {"way": compiled.STREAMED, "k": 64})]
    cases += [(middle | {"cells": 1}, {"way": compiled.HELD, "k": 3}), (small | {"cells": 15}, {"way": 0, "k": 4})]
    table = []
    for shape, options in cases[first::every]:
        table.append(check_one(rng, where, shape, options))
        print(json.dumps(table[-1]), flush=True)
    return table


def check_one(rng: np.random.Generator, where: str, shape: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    choice = synthetic(rng, **shape)
    way, k, room = options["way"], options["k"], options.get("room", math.inf)
    price, pass_over = rollout.price_in_steps(options.get("price", 0.02)), options.get("pass_over", False)
    batch, steps = 70, 20
    points = draw_points(rng, choice, steps, batch)
    tables = choice.tables(where)
    states = [rollout.start(tables, batch) for _ in range(2)]
    for state in states:
        rollout.restart(tables, state, room)
    fast = compiled.Compiled(tables, states[0], k, steps, way=way)
    plain = rollout.Plain(tables, states[1], k)
    on_device, cost = torch.from_numpy(points).to(where), torch.tensor(price, device=where)
    same = {"pass_over": pass_over, "limited": room < math.inf}
    ours, theirs = (one.take(on_device, cost, **same).cpu().numpy() for one in (fast, plain))
    wrong = int((ours != theirs).sum())
    parts = ("left", "covered", "above", "below", "gone", "room")
    state_wrong = sum(int((getattr(states[0], part) != getattr(states[1], part)).sum()) for part in parts)
    hand_wrong = 0
    for b in range(3 if len(choice) < 10000 else 1):
        expected = by_hand(choice, points[:, b], k, price * 2.0**-24, pass_over, room)
        hand_wrong += int((expected != ours[:, b]).sum())
    taken = float((ours >= 0).mean())
    return {
        "way": WAYS[way], "cells": len(choice), "directions": choice.directions, "k": k, "room": room,
        "pass_over": pass_over, "took": round(taken, 3), "steps": ours.size, "differ_from_torch": wrong,
        "state_differs": state_wrong, "differ_from_numpy": hand_wrong,
    }  # fmt: skip


def check_games(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Compare what is seen and earned in whole games with plain torch on the same device."""
    table = []
    for sees_left, room, batch, directions in ((True, math.inf, 33, 8), (True, 400.0, 1, 3), (False, math.inf, 64, 20)):
        choice = synthetic(rng, 2500, 9000, 30, 300, directions=directions)
        dynamics: Any = Dynamics(STEPS, 100, pass_over=sees_left, sees_left=sees_left, max_nodes=room)
        ours, theirs = (game_of(choice, batch, 100, dynamics) for _ in range(2))
        theirs._at_work = rollout.Plain(theirs.tables, theirs._state, 100)
        off, paid, taken = 0.0, 0, 0
        for _ in range(2):
            off = max(off, float((ours.reset() - theirs.reset()).abs().max()))
            for _ in range(STEPS):
                actions = torch.randn((batch, directions), device="cuda")
                (seen, earned), (seen_there, earned_there) = ours.step(actions), theirs.step(actions)
                off = max(off, float((seen - seen_there).abs().max()))
                paid += int((earned != earned_there).sum())
            taken += int((ours._chosen != theirs._chosen).sum())
        same = ours.best == theirs.best and ours.best_cells.tolist() == theirs.best_cells.tolist()
        table.append({
            "sees_left": sees_left, "room": room, "batch": batch, "directions": directions, "seen_off_by": off,
            "rewards_differ": paid, "cells_differ": taken, "same_best": same, "took": len(ours.best_cells),
        })  # fmt: skip
        print(json.dumps(table[-1]), flush=True)
    return table


# Where they are not measured again: an H200, November 2026.
KNOWN = {"copy_bytes": 4.26e12, "half_flops": 7.5e14, "whole_ops": 1.67e13, "additions": 8.4e10}


def ceilings() -> dict[str, float]:
    """Measure how fast memory is copied and half-precision matrices are multiplied."""
    a = torch.randn(2**29, device="cuda")
    b = torch.empty_like(a)
    copy = timed(lambda: b.copy_(a), 20)
    c = torch.randn((8192, 8192), device="cuda", dtype=torch.float16)
    product = timed(lambda: c @ c, 10)
    write = timed(lambda: b.fill_(1.0), 20)
    sums = torch.zeros(2**20, dtype=torch.int64, device="cuda")
    places = torch.randint(0, len(sums), (2**26,), device="cuda")
    ones = torch.ones_like(places)
    add = timed(lambda: sums.index_add_(0, places, ones), 5)
    return {
        "copy_bytes": 2 * a.nbytes / copy,
        "write_bytes": a.nbytes / write,
        "half_flops": 2 * 8192**3 / product,
        "additions": len(places) / add,
        "whole_ops": torch.cuda.get_device_properties(0).multi_processor_count * 64 * 1.98e9,
    }


def timed(work: Callable[[], Any], repeats: int) -> float:
    """Return the median seconds of some work on the device, after two warm-ups."""
    for _ in range(2):
        work()
    spans = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        spans.append(begin.elapsed_time(end) / 1000)
    return statistics.median(spans)


SIZES = {
    "80,000 cells, k = 64": ({"cells": 80000, "objects": 500000, "each": 57, "query": 6000}, 64),
    "80,000 cells, k = 32,000": ({"cells": 80000, "objects": 500000, "each": 57, "query": 6000}, 32000),
    "6,000 cells, k = 64": ({"cells": 6000, "objects": 60000, "each": 57, "query": 1800}, 64),
    "2,000 cells, k = 1,000": ({"cells": 2000, "objects": 28000, "each": 86, "query": 116}, 1000),
}


def rollouts(rng: np.random.Generator, top: dict[str, float], batches: list[int], tries: list[dict[str, Any]]) -> Any:
    """Time whole episodes from given points: emptying the selections, and 20 steps that each take a cell.

    A try has settings of the kernels to time; with ``cells`` or ``k`` it is for that size only.
    """
    table = []
    known: dict[str, Any] = {}
    for name, (shape, k) in SIZES.items():
        size = {"cells": shape["cells"], "k": k}
        fit = [given for given in tries if all(given.get(part, value) == value for part, value in size.items())]
        if fit and known.get("shape") != shape:
            choice = synthetic(rng, **shape)
            known = {"shape": shape, "choice": choice, "tables": choice.tables("cuda")}
        for batch in batches if fit else []:
            sets = [torch.from_numpy(draw_points(rng, known["choice"], STEPS, batch)).cuda() for _ in range(3)]
            for given in fit:
                table.append({"size": name} | rollout_row(known["choice"], known["tables"], k, sets, given, top))
                print(json.dumps(table[-1]), flush=True)
            torch.cuda.empty_cache()
    return table


def rollout_row(
    choice: Choice, tables: rollout.CellTables, k: int, sets: list[Any], given: dict[str, Any], top: dict[str, float]
) -> dict[str, Any]:
    batch = sets[0].shape[1]
    state = rollout.start(tables, batch)
    price = torch.tensor(rollout.price_in_steps(0.02), device="cuda")
    fast = compiled.Compiled(tables, state, k, STEPS)
    for name, value in given.items():
        if name.startswith("_"):
            setattr(fast, name, value)
    row = {"way": WAYS[fast.way], "batch": batch, "with": given}
    points = sets[0].clone()

    def work() -> Any:
        rollout.restart(tables, state)
        return fast.take(points, price, pass_over=False, limited=False)

    def replay() -> None:
        points.copy_(sets[next(turn) % len(sets)])
        graph.replay()

    turn, graph = iter(range(10**6)), torch.cuda.CUDAGraph()
    try:
        chosen = work()[:, :64].T.cpu().numpy()
        as_they_come = timed(work, 5)
        with torch.cuda.graph(graph):
            work()
    except Exception as error:  # a setting that does not fit is no reason to stop
        return row | {"failed": repr(error)[:300]}
    seconds = timed(replay, 9)
    object_cells = np.diff(choice.object_cells.indptr)
    lowered = statistics.mean(float(object_cells[choice.held(cells[cells >= 0])].sum()) for cells in chosen)
    floor = floor_of(choice, k, lowered, top, grouped=fast.way == compiled.GROUPED)
    return row | {
        "a_second": batch / seconds, "over_floor": seconds / batch / floor["floor"], "seconds": seconds,
        "as_they_come": as_they_come, "parts": parts_of(work), "lowered": lowered, **floor,
    }  # fmt: skip


def parts_of(work: Callable[[], Any]) -> dict[str, float]:
    """Return the milliseconds that each kernel takes in some work."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        work()
        torch.cuda.synchronize()
    spans = {one.key[:40]: one.self_device_time_total / 1000 for one in seen.key_averages()}
    return {name: round(span, 3) for name, span in sorted(spans.items(), key=lambda one: -one[1])[:6]}


def floor_of(choice: Choice, k: int, lowered: float, top: dict[str, float], *, grouped: bool) -> dict[str, float]:
    """Return the fewest seconds a trajectory can take: bytes through memory, and operations for the distances."""
    cells, words = len(choice), len(choice.gain) / 32
    size = cells * 8 + words * 4  # written when a selection is emptied
    size += STEPS * k * 8 + lowered * 16  # what near cells add is read; what is lowered is read and written
    by_additions = lowered / top["additions"]
    operations = STEPS * cells * 2 * (32 if grouped else choice.directions)
    by_bytes = size / top["copy_bytes"]
    by_operations = operations / (top["half_flops"] if grouped else top["whole_ops"])
    floor = max(by_bytes, by_operations, by_additions)
    return {"by_bytes": by_bytes, "by_operations": by_operations, "by_additions": by_additions, "floor": floor}


@dataclass(frozen=True)
class Dynamics:
    """What ``select.rl.episodes.Dynamics`` holds."""

    n_cells: int
    k: int
    pass_over: bool = True
    whole: bool = False
    sees_left: bool = True
    own_price: bool = False
    max_nodes: float = math.inf


def game_of(choice: Choice, batch: int, k: int, given: Any = None) -> GpuTrajectories:
    problem: Any = choice
    space: Any = choice
    dynamics: Any = given or Dynamics(STEPS, k)
    return GpuTrajectories(
        problem, space, dynamics, batch=batch, price=choice.start, unit_reward=choice.start or 1.0, device="cuda"
    )


def steps(choice: Choice, k: int, batches: tuple[int, ...]) -> list[dict[str, Any]]:
    """Time an episode with everything that is seen, and with a policy in the loop."""
    table = []
    settings = ppo.Settings(epochs=10, hidden=64, learning_rate=3e-3, spread=0.7)
    for batch in batches:
        game = game_of(choice, batch, k)
        policy, generator = ppo.start(game, settings, seed=0, device="cuda")
        actions = torch.randn((STEPS, batch, game.actions), device="cuda")

        def only_steps() -> None:
            game.reset()  # noqa: B023
            for step in range(STEPS):
                game.step(actions[step])  # noqa: B023

        graph = torch.cuda.CUDAGraph()
        only_steps()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            only_steps()
        row: dict[str, Any] = {"cells": len(choice), "k": k, "batch": batch}
        row |= {"as_they_come": timed(only_steps, 5), "captured": timed(graph.replay, 5)}
        row["with_policy"] = timed(lambda: ppo.roll_out(game, policy, generator), 5)  # noqa: B023
        row["a_second"] = batch / row["captured"]
        row["parts"] = parts_of(only_steps)
        table.append(row)
        print(json.dumps(row), flush=True)
    return table


def training(
    choice: Choice, k: int, runs: dict[int, float], seeds: int, *, captured: bool = True
) -> list[dict[str, Any]]:
    """Train for some seconds from the built problem; keep the best value against time and trajectories."""
    table = []
    settings = ppo.Settings(epochs=10, hidden=64, learning_rate=3e-3, spread=0.7)
    for batch, seconds in runs.items():
        for seed in range(seeds + 1):  # the first run compiles, and does not count
            torch.cuda.synchronize()
            began = time.perf_counter()
            game = game_of(choice, batch, k)
            policy, generator = ppo.start(game, settings, seed=seed, device="cuda")
            curve = []
            capture = game.capture(generator) if captured else None
            updates = 10**6 if seed else 3
            for update in ppo.train(game, policy, settings, generator, updates=updates, capture=capture):
                best = game.best
                if best > game.price:
                    game.set_price(best)
                curve.append((time.perf_counter() - began, update.number * batch, best, update.mean_return))
                if curve[-1][0] > seconds:
                    break
            right = abs(choice.value(game.best_cells) - game.best) < 1e-12
            row = {
                "batch": batch, "captured": captured, "seed": seed, "updates": len(curve), "best": game.best,
                "seconds": curve[-1][0], "best_is_right": right, "counts": seed > 0, "curve": curve,
            }  # fmt: skip
            table.append(row)
            print(json.dumps({name: part for name, part in row.items() if name != "curve"}), flush=True)
            del game, policy
            torch.cuda.empty_cache()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--problem", type=Path)
    parser.add_argument("--parts", default="check,games,ceilings,rollouts,steps,large,training")
    parser.add_argument("--first", type=int, default=0, help="check from this case on")
    parser.add_argument("--every", type=int, default=1, help="check every n-th case only")
    parser.add_argument("--batches", default="4096,16384")
    parser.add_argument("--tries", default="[{}]", help="settings of the kernels to time, as JSON")
    parser.add_argument("--runs", default="40:1,1000:1,4000:1,16000:1", help="batch:seconds to train with")
    parser.add_argument("--near", type=float, default=0.4, help="k in training: a share of the cells, or a number")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**31)
    asked = parser.parse_args()
    parts = asked.parts.split(",")
    rng = np.random.default_rng(asked.seed)
    known = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    found: dict[str, Any] = {"seed": asked.seed, "device": known, "torch": torch.__version__}
    found["date"] = time.strftime("%Y-%m-%d")
    print(json.dumps(found), flush=True)
    if "check" in parts:
        found["check"] = check(rng, "cuda", asked.first, asked.every)
    if "games" in parts:
        found["games"] = check_games(rng)
    top = ceilings() if "ceilings" in parts else KNOWN
    found["ceilings"] = top
    print(json.dumps(top), flush=True)
    if "rollouts" in parts:
        found["rollouts"] = rollouts(rng, top, [int(b) for b in asked.batches.split(",")], json.loads(asked.tries))
    choice = load_problem(asked.problem) if asked.problem else synthetic(rng, 2000, 28000, 86, 116)
    near = math.ceil(asked.near * len(choice)) if asked.near < 1 else int(asked.near)
    if "steps" in parts:
        found["steps"] = steps(choice, near, (1000, 4000, 16000))
    if "large" in parts:
        shape, k = SIZES["80,000 cells, k = 64"]
        found["large"] = steps(synthetic(rng, **shape), k, (4000,))
    if "training" in parts:
        runs = {int(a): float(b) for a, b in (run.split(":") for run in asked.runs.split(","))}
        found["training"] = training(choice, near, runs, asked.seeds)
    if "eager" in parts:
        found["eager"] = training(choice, near, {4000: 1.0}, 1, captured=False)
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / "gpu.json").write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
