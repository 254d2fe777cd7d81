"""PPO: it learns something trivial, repeats by its seed, and makes none of the mistakes of earlier code."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from cube2net.errors import ParameterError
from cube2net.selection.rl import ppo

QUICK = ppo.Settings(epochs=10, hidden=32, learning_rate=3e-3, spread=0.5)


class Aim:
    """Four steps, each paid −‖a − target(s)‖²; the target depends on what is seen. The best return is 0."""

    steps, observations, actions = 4, 3, 2

    def __init__(self, batch: int = 32) -> None:
        angle = torch.arange(batch) * (2 * math.pi / batch)
        self.places = torch.stack([angle.cos(), angle.sin()], dim=1)

    def reset(self) -> Tensor:
        self.step_number = 0
        return self.seen()

    def seen(self) -> Tensor:
        late = torch.full((len(self.places), 1), self.step_number / self.steps)
        return torch.cat([self.places, late], dim=1)

    def target(self) -> Tensor:
        return torch.stack([1.5 * self.places[:, 1] - 0.5, self.places[:, 0] * self.places[:, 1]], dim=1)

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        rewards = -(actions - self.target()).square().sum(1)
        self.step_number += 1
        return self.seen(), rewards


class Reusing(Aim):
    """The same, but what is seen and paid always lies in the same room."""

    def reset(self) -> Tensor:
        self.room, self.pay = torch.zeros(len(self.places), 3), torch.zeros(len(self.places))
        self.room.copy_(super().reset())
        return self.room

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        seen, rewards = super().step(actions)
        self.room.copy_(seen)
        self.pay.copy_(rewards)
        return self.room, self.pay


def trained(seed: int, updates: int = 3, batch: int = 8) -> tuple[ppo.Policy, list[ppo.Update]]:
    environment = Aim(batch)
    policy, generator = ppo.start(environment, QUICK, seed=seed)
    return policy, list(ppo.train(environment, policy, QUICK, generator, updates=updates))


def planned(environment: ppo.Environment, policy: ppo.Policy) -> float:
    return float(ppo.roll_out(environment, policy, None).rewards.sum(0).mean())


def weights(policy: ppo.Policy) -> list[Tensor]:
    return [value.clone() for value in policy.state_dict().values()]


def same(first: list[Tensor], second: list[Tensor]) -> bool:
    return all(map(torch.equal, first, second))


@pytest.mark.slow
def test_it_learns_to_aim() -> None:
    environment = Aim()
    policy, generator = ppo.start(environment, QUICK, seed=0)
    before = planned(environment, policy)
    updates = list(ppo.train(environment, policy, QUICK, generator, updates=50))
    assert before < -5.0
    assert planned(environment, policy) > -0.1
    assert updates[0].mean_return < -6.0 < -0.6 < updates[-1].mean_return
    assert updates[-1].spread < 0.5 * QUICK.spread


@pytest.mark.peers
def test_the_reference_implementation_learns_to_aim_too() -> None:
    """Stable-Baselines3, the same network sizes and as many steps: both come close to the best return."""
    gymnasium = pytest.importorskip("gymnasium")
    reference = pytest.importorskip("stable_baselines3")

    class One(gymnasium.Env):  # type: ignore[misc, name-defined]
        observation_space = gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float32)
        action_space = gymnasium.spaces.Box(-4.0, 4.0, (2,), np.float32)

        def __init__(self, place: int) -> None:
            self.aim = Aim()
            self.aim.places = self.aim.places[place : place + 1]

        def reset(self, *, seed: int | None = None, options: object = None) -> tuple[object, dict[str, object]]:
            return self.aim.reset()[0].numpy(), {}

        def step(self, action: object) -> tuple[object, float, bool, bool, dict[str, object]]:
            seen, rewards = self.aim.step(torch.as_tensor(action)[None])
            return seen[0].numpy(), float(rewards[0]), self.aim.step_number == self.aim.steps, False, {}

    from stable_baselines3.common.vec_env import DummyVecEnv

    environments = DummyVecEnv([lambda place=place: One(place) for place in range(32)])
    model = reference.PPO(
        "MlpPolicy",
        environments,
        n_steps=4,
        batch_size=128,
        n_epochs=QUICK.epochs,
        learning_rate=QUICK.learning_rate,
        gae_lambda=1.0,
        seed=0,
        device="cpu",
        policy_kwargs={"net_arch": [QUICK.hidden, QUICK.hidden], "log_std_init": math.log(QUICK.spread)},
    )
    model.learn(50 * 4 * 32)
    environment = Aim()
    total = torch.zeros(32)
    seen = environment.reset()
    for _ in range(environment.steps):
        action, _ = model.predict(seen.numpy(), deterministic=True)
        seen, rewards = environment.step(torch.as_tensor(action))
        total += rewards
    assert float(total.mean()) > -0.15


def test_the_same_seed_learns_the_same_and_another_one_something_else() -> None:
    (first, updates), (second, again), (other, _) = trained(3), trained(3), trained(4)
    assert same(weights(first), weights(second))
    assert updates == again
    assert not any(map(torch.equal, weights(first)[::2], weights(other)[::2]))


def test_learning_never_moves_the_global_generators() -> None:
    torch_before = torch.get_rng_state()
    numpy_before = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]  # noqa: NPY002
    trained(0)
    assert torch.equal(torch.get_rng_state(), torch_before)
    assert np.random.get_state()[1].tolist() == numpy_before  # type: ignore[index, union-attr]  # noqa: NPY002


def test_planning_twice_gives_the_same_answer_and_changes_nothing() -> None:
    environment = Aim()
    policy, generator = ppo.start(environment, QUICK, seed=1)
    before, drawn = weights(policy), generator.get_state()
    first, second = (ppo.roll_out(environment, policy, None) for _ in range(2))
    assert torch.equal(first.actions, second.actions)
    assert torch.equal(first.rewards, second.rewards)
    assert same(weights(policy), before)
    assert torch.equal(generator.get_state(), drawn)
    assert torch.equal(first.actions[0], policy(environment.reset())[0])
    assert not any(value.requires_grad for value in vars(first).values())


@pytest.mark.parametrize("kind", [Aim, Reusing])
def test_recorded_states_are_distinct_arrays(kind: type[Aim]) -> None:
    environment = kind(5)
    policy, generator = ppo.start(environment, QUICK, seed=0)
    rollout = ppo.roll_out(environment, policy, generator)
    assert rollout.seen[:, :, 2].tolist() == [[step / 4] * 5 for step in range(4)]
    target = environment.target()
    paid = [-(rollout.actions[step] - target).square().sum(1) for step in range(4)]
    assert torch.equal(rollout.rewards, torch.stack(paid))
    kept = rollout.seen.clone(), rollout.rewards.clone()
    ppo.roll_out(environment, policy, generator)
    assert torch.equal(rollout.seen, kept[0])
    assert torch.equal(rollout.rewards, kept[1])


@pytest.mark.parametrize("batch", [1, 3, 40, 257])
def test_the_ratio_is_exactly_one_before_the_first_update(batch: int) -> None:
    environment = Aim(batch)
    policy, generator = ppo.start(environment, ppo.Settings(), seed=2)
    rollout = ppo.roll_out(environment, policy, generator)
    mean, value = policy(rollout.seen.flatten(0, 1))
    new = ppo.log_density(rollout.actions.flatten(0, 1), mean, policy.log_spread)
    assert torch.equal((new - rollout.log_densities.flatten()).exp(), torch.ones(4 * batch))
    assert torch.equal(value, rollout.values.flatten())
    step = [policy(state)[0] for state in rollout.seen]
    plain = torch.stack([ppo.log_density(a, m, policy.log_spread) for a, m in zip(rollout.actions, step, strict=True)])
    assert torch.allclose(rollout.log_densities, plain, atol=1e-5)
    once = ppo.Settings(epochs=1)
    losses = ppo.update(policy, torch.optim.Adam(policy.parameters()), rollout, once)
    assert float(losses["distance"]) == 0.0


@given(st.integers(0, 9999), st.integers(1, 6))
def test_the_density_is_that_of_a_normal_distribution_divided_by_its_spread(seed: int, width: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    actions, mean = (3 * torch.randn(5, width, generator=generator) for _ in range(2))
    log_spread = torch.randn(width, generator=generator)
    expected = torch.distributions.Normal(mean, log_spread.exp()).log_prob(actions).sum(-1)
    assert torch.allclose(ppo.log_density(actions, mean, log_spread), expected, rtol=1e-4, atol=1e-4)


def test_actions_are_drawn_with_the_spread_of_the_policy() -> None:
    environment = Aim(20000)
    policy, generator = ppo.start(environment, ppo.Settings(spread=0.3, hidden=8), seed=0)
    rollout = ppo.roll_out(environment, policy, generator)
    mean = policy(rollout.seen.flatten(0, 1))[0].view(rollout.actions.shape)
    noise = (rollout.actions - mean).detach()
    assert float(noise.std()) == pytest.approx(0.3, rel=0.02)
    assert float(noise.mean()) == pytest.approx(0.0, abs=0.01)


def test_the_advantage_of_a_hand_worked_trajectory_is_exact() -> None:
    rewards, values = torch.tensor([[1.0], [-2.0], [4.0]]), torch.tensor([[3.0], [0.5], [1.0]])
    # 1 − 2/2 + 4/4 − 3, then −2 + 4/2 − 1/2, then 4 − 1: nothing comes after the end.
    assert ppo.advantages(rewards, values, 0.5).tolist() == [[-2.0], [-0.5], [3.0]]


@given(st.integers(0, 9999), st.integers(1, 12), st.integers(1, 4), st.sampled_from([0.0, 0.5, 0.99, 1.0]))
def test_advantages_equal_a_plain_recomputation(seed: int, steps: int, batch: int, discount: float) -> None:
    rng = np.random.default_rng(seed)
    rewards, values = rng.normal(size=(steps, batch)), rng.normal(size=(steps, batch))
    plain = [
        [
            sum(discount ** (later - t) * rewards[later, b] for later in range(t, steps)) - values[t, b]
            for b in range(batch)
        ]
        for t in range(steps)
    ]
    found = ppo.advantages(torch.from_numpy(rewards), torch.from_numpy(values), discount)
    assert found.numpy() == pytest.approx(np.array(plain), abs=1e-12)


def test_advantages_equal_those_of_the_reference_implementation() -> None:
    buffers = pytest.importorskip("stable_baselines3.common.buffers")
    from gymnasium.spaces import Box

    rng = np.random.default_rng(0)
    steps, batch = 20, 6
    rewards, values = (rng.normal(size=(steps, batch)).astype(np.float32) for _ in range(2))
    space = Box(-1.0, 1.0, (1,))
    buffer = buffers.RolloutBuffer(steps, space, space, "cpu", gae_lambda=1.0, gamma=0.99, n_envs=batch)
    nothing = np.zeros((batch, 1), dtype=np.float32)
    for t in range(steps):
        first = np.full(batch, t == 0)
        buffer.add(nothing, nothing, rewards[t], first, torch.from_numpy(values[t])[:, None], torch.zeros(batch))
    buffer.compute_returns_and_advantage(torch.full((batch, 1), 9.0), np.ones(batch))
    ours = ppo.advantages(torch.from_numpy(rewards), torch.from_numpy(values), 0.99).numpy()
    assert ours == pytest.approx(buffer.advantages, abs=1e-5)
    assert ours + values == pytest.approx(buffer.returns, abs=1e-5)


def test_the_value_target_is_the_advantage_plus_the_value() -> None:
    environment = Aim(8)
    policy, generator = ppo.start(environment, QUICK, seed=5)
    with torch.no_grad():
        policy.worth[2].bias.fill_(3.0)
    rollout = ppo.roll_out(environment, policy, generator)
    advantage = ppo.advantages(rollout.rewards, rollout.values, 0.99)
    losses = ppo.update(policy, torch.optim.Adam(policy.parameters()), rollout, ppo.Settings(epochs=1))
    assert float(losses["value_loss"]) == pytest.approx(float(advantage.square().mean()), rel=1e-5)


def test_the_misprinted_target_is_the_advantage_minus_the_value() -> None:
    environment = Aim(8)
    policy, generator = ppo.start(environment, QUICK, seed=5)
    with torch.no_grad():
        policy.worth[2].bias.fill_(3.0)
    rollout = ppo.roll_out(environment, policy, generator)
    off = ppo.advantages(rollout.rewards, rollout.values, 0.99) - 2 * rollout.values
    printed = ppo.Settings(epochs=1, printed_target=True)
    losses = ppo.update(policy, torch.optim.Adam(policy.parameters()), rollout, printed)
    assert float(losses["value_loss"]) == pytest.approx(float(off.square().mean()), rel=1e-5)


@pytest.mark.parametrize("printed", [False, True])
def test_the_end_and_the_misprinted_exponent_are_as_the_paper_has_them(printed: bool) -> None:
    # Two steps, T = 2: r0 + γ·r1 + γ²·ν2 at t = 0, and r1 + γ·ν2 at t = 1; as printed the last reward has γ^{T−t+1}.
    environment = Aim(8)
    policy, generator = ppo.start(environment, QUICK, seed=5)
    environment.steps = 2
    rollout = ppo.roll_out(environment, policy, generator)
    g, (first, last), end = 0.9, rollout.rewards, rollout.end
    assert end.tolist() == pytest.approx(policy(environment.seen())[1].tolist(), abs=1e-6)
    at_0 = first + (g**3 if printed else g) * last + g**2 * end
    at_1 = (g**2 if printed else 1.0) * last + g * end
    wanted = torch.stack([at_0, at_1]) - rollout.values
    settings = ppo.Settings(epochs=1, discount=g, end_value=True, printed_exponent=printed)
    losses = ppo.update(copy.deepcopy(policy), torch.optim.Adam(policy.parameters()), rollout, settings)
    assert float(losses["value_loss"]) == pytest.approx(float(wanted.square().mean()), rel=1e-5)


def test_mini_batches_hold_every_sample_once_in_an_order_that_the_generator_draws() -> None:
    samples = torch.arange(10), 10 * torch.arange(10)
    generators = [torch.Generator().manual_seed(seed) for seed in (1, 1, 2)]
    orders = []
    for generator in generators:
        batches = list(ppo._batches(samples, 4, generator))
        assert [len(batch[0]) for batch in batches] == [3, 3, 2, 2]
        assert all((10 * one).tolist() == other.tolist() for one, other in batches)
        orders.append(torch.cat([batch[0] for batch in batches]).tolist())
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[2]) == list(range(10))
    assert [batch[0].tolist() for batch in ppo._batches(samples, 1, None)] == [list(range(10))]
    with pytest.raises(ParameterError) as caught:
        list(ppo._batches(samples, 4, None))
    assert str(caught.value) == "4 mini-batches are drawn: give the generator that draws them"


@pytest.mark.slow
def test_one_spread_is_one_number_and_learns_as_the_others_do() -> None:
    environment = Aim(8)
    paper = ppo.Settings(
        epochs=10, hidden=32, learning_rate=3e-3, one_spread=True, minibatches=4, whiten=False, largest_gradient=None
    )
    policy, generator = ppo.start(environment, paper, seed=0)
    assert policy.log_spread.shape == (1,)
    before = planned(environment, policy)
    list(ppo.train(environment, policy, paper, generator, updates=40))
    assert planned(environment, policy) > 0.5 * before
    assert float(policy.log_spread.detach()) != pytest.approx(math.log(paper.spread))


def test_the_loss_is_the_clipped_one_and_its_gradient_is_cut() -> None:
    environment = Aim(16)
    policy, generator = ppo.start(environment, QUICK, seed=6)
    rollout = ppo.roll_out(environment, policy, generator)
    one, two = (ppo.Settings(epochs=epochs, clip=0.1, largest_gradient=0.01) for epochs in (1, 2))
    moved, twice = copy.deepcopy(policy), copy.deepcopy(policy)
    before = weights(policy)
    ppo.update(moved, torch.optim.SGD(moved.parameters(), lr=100.0), rollout, one)
    length = math.sqrt(sum(float((a - b).square().sum()) for a, b in zip(weights(moved), before, strict=True)))
    assert length == pytest.approx(100.0 * 0.01, rel=1e-3)
    losses = ppo.update(twice, torch.optim.SGD(twice.parameters(), lr=100.0), rollout, two)

    advantage = ppo.advantages(rollout.rewards, rollout.values, 0.99).flatten().tolist()
    middle, spread = float(np.mean(advantage)), float(np.std(advantage))
    mean, value = moved(rollout.seen.flatten(0, 1))
    new = ppo.log_density(rollout.actions.flatten(0, 1), mean, moved.log_spread).tolist()
    ratios = [math.exp(a - b) for a, b in zip(new, rollout.log_densities.flatten().tolist(), strict=True)]
    assert min(ratios) < 0.9 < 1.1 < max(ratios)
    terms = []
    for ratio, raw in zip(ratios, advantage, strict=True):
        better = (raw - middle) / spread
        terms.append(min(ratio * better, min(max(ratio, 0.9), 1.1) * better))
    assert float(losses["policy_loss"]) == pytest.approx(-float(np.mean(terms)), abs=1e-4)
    targets = (np.array(advantage) + rollout.values.flatten().numpy()).tolist()
    errors = [(a - b) ** 2 for a, b in zip(value.tolist(), targets, strict=True)]
    assert float(losses["value_loss"]) == pytest.approx(float(np.mean(errors)), rel=1e-4)


def test_actor_and_critic_share_their_first_hidden_layer_only() -> None:
    policy, _ = ppo.start(Aim(), ppo.Settings(), seed=0)
    sizes = {name: tuple(value.shape) for name, value in policy.named_parameters() if name.endswith("weight")}
    assert sizes == {
        "shared.0.weight": (256, 3),
        "mean.0.weight": (256, 256),
        "mean.2.weight": (2, 256),
        "worth.0.weight": (256, 256),
        "worth.2.weight": (1, 256),
    }


def test_the_form_of_the_paper_has_sigmoids_on_every_layer() -> None:
    policy, _ = ppo.start(Aim(), ppo.Settings(hidden_layer="sigmoid", output_layer="sigmoid"), seed=0)
    with torch.no_grad():
        means, values = policy(100 * torch.randn(50, 3, generator=torch.Generator().manual_seed(0)))
    assert 0 <= float(means.min()) <= float(means.max()) <= 1
    assert 0 <= float(values.min()) <= float(values.max()) <= 1
    assert sum(isinstance(module, torch.nn.Sigmoid) for module in policy.modules()) == 5


def test_one_episode_of_one_step_can_be_learned_from() -> None:
    environment = Aim(1)
    environment.steps = 1  # type: ignore[misc]
    policy, generator = ppo.start(environment, QUICK, seed=0)
    list(ppo.train(environment, policy, QUICK, generator, updates=2))
    assert all(bool(value.isfinite().all()) for value in weights(policy))


def test_a_policy_whose_numbers_are_lost_is_said_to_be() -> None:
    environment = Aim(4)
    wild = ppo.Settings(learning_rate=1e35, hidden=8)
    policy, generator = ppo.start(environment, wild, seed=0)
    with pytest.raises(ParameterError) as caught:
        list(ppo.train(environment, policy, wild, generator, updates=5))
    assert str(caught.value) == (
        "the policy is lost in update 1, its numbers are no longer finite: learn in smaller steps "
        "(learning_rate is 1e+35)"
    )


def test_a_learning_rate_of_0_changes_nothing() -> None:
    environment, settings = Aim(4), replace(QUICK, learning_rate=0.0)
    policy, generator = ppo.start(environment, settings, seed=0)
    before = weights(policy)
    assert len(list(ppo.train(environment, policy, settings, generator, updates=2))) == 2
    assert same(weights(policy), before)


def test_no_updates_change_nothing_and_fewer_are_refused() -> None:
    environment = Aim(4)
    policy, generator = ppo.start(environment, QUICK, seed=0)
    before = weights(policy)
    assert list(ppo.train(environment, policy, QUICK, generator, updates=0)) == []
    assert same(weights(policy), before)
    with pytest.raises(ParameterError, match="^updates is -1, expected 0 or more$"):
        next(ppo.train(environment, policy, QUICK, generator, updates=-1))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("epochs", 0, "epochs is 0, expected a whole number of 1 or more"),
        ("hidden", 0, "hidden is 0, expected 1 or more units"),
        ("clip", 0.0, "clip is 0.0, expected a finite number above 0"),
        ("spread", math.nan, "spread is nan, expected a finite number above 0"),
        ("learning_rate", -1.0, "learning_rate is -1.0, expected a finite number of 0 or more"),
        ("largest_gradient", math.inf, "largest_gradient is inf, expected a finite number above 0"),
        ("value_weight", -0.5, "value_weight is -0.5, expected a finite number of 0 or more"),
        ("entropy_weight", math.nan, "entropy_weight is nan, expected a finite number of 0 or more"),
        ("discount", 1.5, "discount is 1.5, expected a number from 0 to 1"),
        (
            "hidden_layer",
            "tan",
            "unknown hidden_layer 'tan': choose one of linear, sigmoid, tanh (did you mean 'tanh'?)",
        ),
        ("output_layer", "", "unknown output_layer '': choose one of linear, sigmoid, tanh"),
    ],
)
def test_settings_out_of_their_range_are_refused(name: str, value: object, sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        ppo.Settings(**{name: value})  # type: ignore[arg-type]
    assert str(caught.value) == sentence
