"""Proximal policy optimisation, for episodes of a fixed number of steps and actions that are vectors.

One file, from top to bottom: settings, network, rollout, advantages, update, train. It knows nothing of cubes:
an environment runs many episodes side by side, in tensors on one device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from cube2net._util.random import stream
from cube2net.errors import ParameterError, check_int, unknown_name

ACTIVATIONS = {"tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "linear": nn.Identity}


class Environment(Protocol):
    """Episodes that run side by side, all of the same number of steps."""

    steps: int
    observations: int
    actions: int

    def reset(self) -> Tensor:
        """Start new episodes and return what is seen of each: (episodes, observations)."""

    def step(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Take one action in every episode, and return what is seen afterwards and the rewards (episodes,)."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The parameters of PPO; the defaults are those of the paper where it names them.

    An epoch goes through the samples in so many random ``minibatches``, a step for each. ``one_spread`` gives all
    directions of an action the same σ. ``whiten`` counts advantages in units of their own spread, so that a learning
    rate means the same whatever the rewards; ``largest_gradient`` cuts steps (None: it does not).

    ``end_value`` adds γ^{T−t}·ν(S_T) to an advantage, as if an episode went on after its last step. Two misprints of
    the paper can be had as printed: ``printed_exponent`` weighs the last reward by γ^{T−t+1} and not by γ^{T−1−t}, and
    ``printed_target`` teaches ν the advantage *minus* the value.
    """

    epochs: int = 40
    discount: float = 0.99
    clip: float = 0.2
    learning_rate: float = 3e-4
    hidden: int = 256
    spread: float = 0.5
    value_weight: float = 0.5
    entropy_weight: float = 0.0
    largest_gradient: float | None = 0.5
    minibatches: int = 1
    one_spread: bool = False
    whiten: bool = True
    end_value: bool = False
    printed_exponent: bool = False
    printed_target: bool = False
    hidden_layer: str = "tanh"
    output_layer: str = "linear"

    def __post_init__(self) -> None:
        check_int("epochs", self.epochs, 1)
        check_int("hidden", self.hidden, 1, what="units")
        check_int("minibatches", self.minibatches, 1, what="mini-batches")
        for name in ("clip", "spread", "largest_gradient"):
            if name == "largest_gradient" and self.largest_gradient is None:
                continue
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ParameterError(f"{name} is {getattr(self, name)!r}, expected a finite number above 0")
        for name in ("learning_rate", "value_weight", "entropy_weight"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise ParameterError(f"{name} is {getattr(self, name)!r}, expected a finite number of 0 or more")
        if not 0 <= self.discount <= 1:
            raise ParameterError(f"discount is {self.discount!r}, expected a number from 0 to 1")
        for name in ("hidden_layer", "output_layer"):
            if getattr(self, name) not in ACTIVATIONS:
                raise unknown_name(name, getattr(self, name), ACTIVATIONS)


class Policy(nn.Module):
    """Two networks that share their first hidden layer: the mean of the next action, and the value of a state."""

    def __init__(self, observations: int, actions: int, settings: Settings, generator: torch.Generator) -> None:
        super().__init__()
        bend, last = ACTIVATIONS[settings.hidden_layer], ACTIVATIONS[settings.output_layer]
        width = settings.hidden
        self.shared = nn.Sequential(_layer(observations, width, generator), bend())
        # Means start near 0 whatever is seen, so that the first actions explore.
        self.mean = nn.Sequential(
            _layer(width, width, generator), bend(), _layer(width, actions, generator, gain=0.01), last()
        )
        self.worth = nn.Sequential(_layer(width, width, generator), bend(), _layer(width, 1, generator), last())
        self.log_spread = nn.Parameter(torch.full((1 if settings.one_spread else actions,), math.log(settings.spread)))

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean action and the value of every state."""
        shared = self.shared(seen)
        return self.mean(shared), self.worth(shared).squeeze(-1)


def _layer(inputs: int, outputs: int, generator: torch.Generator, gain: float = 1.0) -> nn.Linear:
    """Return a linear layer with orthogonal weights; the global generator is not touched."""
    layer = nn.Linear(inputs, outputs, device="meta").to_empty(device="cpu")
    nn.init.orthogonal_(layer.weight, gain, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def log_density(actions: Tensor, mean: Tensor, log_spread: Tensor) -> Tensor:
    """Return the log-probability density of the sampled vectors: Σᵢ −½((aᵢ−μᵢ)/σᵢ)² − log σᵢ − ½ log 2π."""
    off = (actions - mean) / log_spread.exp()
    return (-0.5 * off.square() - log_spread - 0.5 * math.log(2 * math.pi)).sum(-1)


@dataclass(frozen=True, eq=False)
class Rollout:
    """What happened in a batch of episodes; the first axis is the step, the second the episode.

    ``end`` is the value of the states after the last step.
    """

    seen: Tensor
    actions: Tensor
    log_densities: Tensor
    values: Tensor
    rewards: Tensor
    end: Tensor


def roll_out(environment: Environment, policy: Policy, generator: torch.Generator | None) -> Rollout:
    """Return one batch of episodes; without a generator every action is the mean (planning).

    Densities and values are asked of all states at once, as an update asks them: sums in batches of another size
    may differ in their last digit, and a ratio of 1 would not be exactly 1.
    """
    seen, actions, rewards = [], [], []
    with torch.no_grad():
        now = torch.as_tensor(environment.reset())
        for _ in range(environment.steps):
            action = policy(now)[0]
            if generator is not None:
                noise = torch.randn(action.shape, generator=generator, device=action.device, dtype=action.dtype)
                action = action + policy.log_spread.exp() * noise
            # What an environment shows and pays may lie in room that its next step writes to.
            seen.append(now.clone())
            actions.append(action)
            now, reward = map(torch.as_tensor, environment.step(action))
            rewards.append(reward.clone())
        states, taken = torch.stack(seen), torch.stack(actions)
        means, values = policy(states.flatten(0, 1))
        densities = log_density(taken.flatten(0, 1), means, policy.log_spread)
        end = policy(now)[1]
    shape = states.shape[:2]
    return Rollout(states, taken, densities.view(shape), values.view(shape), torch.stack(rewards), end)


def advantages(rewards: Tensor, values: Tensor, discount: float, end: Tensor | None = None) -> Tensor:
    """Return −ν(S_t) + r_t + γ·r_{t+1} + … + γ^{T−1−t}·r_{T−1} + γ^{T−t}·ν(S_T).

    ``end`` is ν(S_T); without it the episode ends there, and it is 0.

    >>> advantages(torch.tensor([1.0, 0.0, 2.0]), torch.tensor([0.5, 0.5, 0.5]), 0.5).tolist()
    [1.0, 0.5, 1.5]
    >>> advantages(torch.tensor([1.0, 0.0, 2.0]), torch.tensor([0.5, 0.5, 0.5]), 0.5, torch.tensor(8.0)).tolist()
    [2.0, 2.5, 5.5]
    """
    returns = torch.empty_like(rewards)
    after = torch.zeros_like(rewards[0]) if end is None else end
    for t in range(len(rewards) - 1, -1, -1):
        after = rewards[t] + discount * after
        returns[t] = after
    return returns - values


@dataclass(frozen=True)
class Update:
    """What one update saw and did."""

    number: int
    mean_return: float
    best_return: float
    spread: float
    policy_loss: float
    value_loss: float
    distance: float


def update(
    policy: Policy,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    settings: Settings,
    generator: torch.Generator | None = None,
) -> dict[str, Tensor]:
    """Take the epochs of one update; the ratio of new to old probability is exactly 1 before the first.

    Mini-batches are drawn with the generator.
    """
    rewards = rollout.rewards
    if settings.printed_exponent:
        # γ^{T−t+1} is γ² times γ^{T−1−t}, for every t.
        rewards = torch.cat([rewards[:-1], settings.discount**2 * rewards[-1:]])
    advantage = advantages(rewards, rollout.values, settings.discount, rollout.end if settings.end_value else None)
    targets = (advantage - rollout.values if settings.printed_target else advantage + rollout.values).flatten()
    seen, actions = rollout.seen.flatten(0, 1), rollout.actions.flatten(0, 1)
    old = rollout.log_densities.flatten()
    advantage = advantage.flatten()
    if settings.whiten:
        advantage = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
    samples = seen, actions, old, advantage, targets
    losses = {}
    for _ in range(settings.epochs):
        for batch in _batches(samples, settings.minibatches, generator):
            losses = _descend(policy, optimizer, batch, settings)
    return {name: loss.detach() for name, loss in losses.items()}


def _descend(
    policy: Policy, optimizer: torch.optim.Optimizer, batch: tuple[Tensor, ...], settings: Settings
) -> dict[str, Tensor]:
    """Take one step down the loss of a batch, and return the losses before it."""
    seen, actions, old, advantage, targets = batch
    mean, value = policy(seen)
    new = log_density(actions, mean, policy.log_spread)
    ratio = (new - old).exp()
    clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
    policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
    value_loss = (value - targets).square().mean()
    entropy = policy.log_spread.expand(actions.shape[-1]).sum()
    loss = policy_loss + settings.value_weight * value_loss - settings.entropy_weight * entropy
    optimizer.zero_grad()
    loss.backward()
    if settings.largest_gradient is not None:
        nn.utils.clip_grad_norm_(policy.parameters(), settings.largest_gradient)
    optimizer.step()
    return {"policy_loss": policy_loss, "value_loss": value_loss, "distance": (old - new).mean()}


def _batches(
    samples: tuple[Tensor, ...], count: int, generator: torch.Generator | None
) -> Iterator[tuple[Tensor, ...]]:
    """Yield all samples at once, or in a random order in so many batches, as large as each other but for one sample."""
    if count == 1:
        yield samples
        return
    if generator is None:
        raise ParameterError(f"{count:,} mini-batches are drawn: give the generator that draws them")
    device = samples[0].device
    # Sorted random numbers and no permutation: a captured graph can draw them.
    order = torch.rand(len(samples[0]), generator=generator, device=device).argsort()
    for part in order.tensor_split(min(count, len(order))):
        yield tuple(one[part] for one in samples)


def start(
    environment: Environment, settings: Settings, *, seed: int, device: str = "cpu"
) -> tuple[Policy, torch.Generator]:
    """Return a fresh policy for an environment, and the generator of its actions."""
    weights = _generator(seed, "weights", "cpu")
    policy = Policy(environment.observations, environment.actions, settings, weights).to(device)
    return policy, _generator(seed, "actions", device)


def train(
    environment: Environment,
    policy: Policy,
    settings: Settings,
    generator: torch.Generator,
    *,
    updates: int,
    capture: Callable[[Callable[[], Tensor]], Callable[[], Tensor]] | None = None,
) -> Iterator[Update]:
    """Yield what every update did; the policy learns in place.

    ``capture`` makes of a function that does one update another that does the next one at every call: on a GPU, one
    that replays a graph. Without it every update is made as it comes.
    """
    if updates < 0:
        raise ParameterError(f"updates is {updates!r}, expected 0 or more")
    optimizer = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate, capturable=capture is not None)

    def once() -> Tensor:
        rollout = roll_out(environment, policy, generator)
        losses = update(policy, optimizer, rollout, settings, generator)
        returns = rollout.rewards.sum(0)
        seen = [returns.mean(), returns.max(), policy.log_spread.detach().exp().mean()]
        return torch.stack([*seen, *(losses[name] for name in ("policy_loss", "value_loss", "distance"))])

    following = once if capture is None else capture(once)
    for number in range(1, updates + 1):
        done = Update(number, *following().tolist())
        if not all(map(math.isfinite, (done.mean_return, done.spread, done.policy_loss, done.value_loss))):
            raise ParameterError(
                f"the policy is lost in update {number:,}, its numbers are no longer finite: learn in smaller steps "
                f"(learning_rate is {settings.learning_rate!r})"
            )
        yield done


def _generator(seed: int, purpose: str, device: str) -> torch.Generator:
    number = int(stream(seed, "select", "ppo", purpose).integers(2**63 - 1))
    return torch.Generator(device=device).manual_seed(number)
