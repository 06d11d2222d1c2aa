"""Environments of Gymnasium: a network that an agent steps.

    import contend.gym

    env = contend.gym.Env("hotspot", agent="queue", at="ap", step="100ms", episode="10s", reward="power")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Agents are places in the network where a number can be set while it runs: a sender's window (`window`) or pacing rate
(`rate`), a queue's limit (`queue`) or probability of marks (`mark`), a station's contention window (`access`), FCWA's
margin (`fcwa`). The same seed and actions give the same episode, to the bit. Needs gymnasium and numpy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union, cast

import gymnasium
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from . import _contend
from ._experiment import Experiment, Value, _changes, load

Array = NDArray[np.float64]
# What a step was like, for rewards: goodput in bit/s and mean delay in seconds, each networks x flows.
Reward = Callable[[Array, Array], Array]

_AGENTS = {about[0]: about for about in _contend.agents()}


def agents() -> dict[str, str]:
    """The kinds of agent: names, and what their actions are."""
    return {
        name: f"{action[0]} ({action[1]}, {action[2]:g} to {action[3]:g}); sees "
        + ", ".join(f"{what} ({unit})" for what, unit in sees)
        for name, _, _, action, sees in _AGENTS.values()
    }


def _goodput(goodput: Array, delay: Array) -> Array:
    total: Array = goodput.sum(axis=-1) / 1e6
    return total


def _fair(goodput: Array, delay: Array) -> Array:
    logs: Array = np.log2(goodput / 1e6 + 1e-3).mean(axis=-1)
    return logs


def _power(goodput: Array, delay: Array) -> Array:
    waited = np.where(delay > 0, delay, np.nan)
    # A network in which nothing arrives has the delay of a long wait.
    mean = np.array([np.nanmean(row) if np.any(row > 0) else 10.0 for row in waited])
    power: Array = np.log2(goodput.sum(axis=-1) / 1e6 + 1e-3) - np.log2(mean / 1e-3)
    return power


REWARDS: dict[str, Reward] = {"goodput": _goodput, "fair": _fair, "power": _power}


def _box(low: float, high: float, size: int) -> gymnasium.spaces.Space[Array]:
    box: Any = gymnasium.spaces.Box(low, high, shape=(size,), dtype=np.float64)
    return cast("gymnasium.spaces.Space[Array]", box)


class _Networks:
    """What both environments share: networks, spaces, rewards."""

    def __init__(
        self,
        experiment: Experiment | str | os.PathLike[str],
        agent: str,
        at: str,
        step: str,
        episode: str,
        warmup: str,
        reward: str | Reward,
        low: float | None,
        high: float | None,
        normalized: bool,
        set: Mapping[str, Value] | None,
        count: int,
        jobs: int | None,
    ) -> None:
        if agent not in _AGENTS:
            raise ValueError(f"there is no agent {agent!r}; use one of {', '.join(_AGENTS)}")
        _, algorithm, key, (_, _, least, most), sees = _AGENTS[agent]
        if isinstance(reward, str) and reward not in REWARDS:
            raise ValueError(f"there is no reward {reward!r}; use one of {', '.join(REWARDS)}, or a function")
        self.reward = REWARDS[reward] if isinstance(reward, str) else reward
        e = load(experiment) if not isinstance(experiment, Experiment) else experiment
        value: Value = {"cc": {"kind": algorithm}} if key == "tcp" else algorithm
        # What an episode lasts is decided here, so the file may be shorter.
        settings = {"duration": "1000000s", "warmup": "0s", **(set or {}), f"{at}.{key}": value}
        base = e._name, e._text, e._settings + _changes(None, settings, None, None, None)
        self.native = _contend.Episodes(base, agent, _contend.span(step), count, jobs or 0)
        self.step_ns, self.warmup_ns = _contend.span(step), _contend.span(warmup)
        self.steps = max(1, round(_contend.span(episode) / self.step_ns))
        self.low, self.high = least if low is None else low, most if high is None else high
        if not self.low < self.high:
            raise ValueError(f"low is {self.low} and high is {self.high}: low must be the smaller one")
        self.normalized, self.count, self.sees = normalized, count, sees
        n, flows = self.native.agents, len(self.native.flows)
        self.shape, self.flows = (count, n, len(sees)), (count, flows)
        bounds = (-1.0, 1.0) if normalized else (self.low, self.high)
        self.action_space = _box(*bounds, n)
        self.observation_space = _box(0.0, np.inf, n * len(sees))

    def actions(self, given: Any) -> bytes:
        """The actions in their units. Normalized ones from -1 to 1 are spread over the logarithm of the range, if it
        has one."""
        actions = np.asarray(given, dtype=np.float64).reshape(self.count, self.shape[1])
        if self.normalized:
            share = (np.clip(actions, -1, 1) + 1) / 2
            if self.low > 0:
                actions = self.low * (self.high / self.low) ** share
            else:
                actions = self.low + (self.high - self.low) * share
        return np.ascontiguousarray(np.clip(actions, self.low, self.high)).tobytes()

    def read(self, arrays: tuple[bytes, ...], count: int) -> tuple[Array, Array, Array, Array]:
        """Observations, goodput, delay and time as arrays, without a copy."""
        seen, goodput, delay, time = (np.frombuffer(part, dtype=np.float64) for part in arrays)
        return seen.reshape(count, -1), goodput.reshape(count, -1), delay.reshape(count, -1), time


class Env(gymnasium.Env[Array, Array]):
    """One network. An episode ends by truncation after `episode`.

    `experiment`: an example, a file, or an `Experiment` of one point. `agent`: see `agents()`. `at`: the table of the
    file that has it: "ap", "wifi", "station.slow", "flow.up". Each member of a table with a count is an agent of its
    own: an action has one number for each, an observation what each sees. `step`, `episode`, `warmup`: times.
    `reward`: "goodput" (Mb/s in all), "fair" (mean logarithm of goodput), "power" (logarithm of goodput over delay), or
    a function of goodput and delay (bit/s and seconds, networks x flows) that returns a number for each network. `low`,
    `high`: range of the action in its unit. `normalized`: actions from -1 to 1, as most libraries want.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        experiment: Experiment | str | os.PathLike[str],
        agent: str,
        at: str,
        step: str = "100ms",
        episode: str = "10s",
        warmup: str = "0s",
        reward: str | Reward = "power",
        low: float | None = None,
        high: float | None = None,
        normalized: bool = False,
        set: Mapping[str, Value] | None = None,
    ) -> None:
        self._networks = _Networks(
            experiment, agent, at, step, episode, warmup, reward, low, high, normalized, set, 1, 1
        )
        self.action_space = self._networks.action_space
        self.observation_space = self._networks.observation_space
        self._done = 0

    @property
    def agents(self) -> int:
        """Number of agents in the network."""
        return self._networks.native.agents

    @property
    def sees(self) -> list[str]:
        """What each agent sees, in the order of the observation."""
        return [name for name, _ in self._networks.sees]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begins an episode. Without a seed the next one follows from the first."""
        super().reset(seed=seed)
        self._done = 0
        number = int(self.np_random.integers(1, 1 << 53)) if seed is None else seed
        arrays = self._networks.native.reset(0, number, self._networks.warmup_ns)
        seen, goodput, delay, time = self._networks.read(arrays, 1)
        return seen[0], self._info(goodput, delay, time)

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One step: acts, lets the time pass, and returns what the agents have seen."""
        arrays = self._networks.native.step(self._networks.actions(action))
        seen, goodput, delay, time = self._networks.read(arrays, 1)
        self._done += 1
        reward = float(np.asarray(self._networks.reward(goodput, delay)).reshape(-1)[0])
        return seen[0], reward, False, self._done >= self._networks.steps, self._info(goodput, delay, time)

    def _info(self, goodput: Array, delay: Array, time: Array) -> dict[str, Any]:
        return {"time": float(time[0]), "goodput": goodput[0], "delay": delay[0], "flows": self._networks.native.flows}

    @property
    def digest(self) -> str:
        """The digest of the episode up to now: equal digests mean equal episodes."""
        return self._networks.native.digest(0) or ""


class VectorEnv(gymnasium.vector.VectorEnv[Array, Array, Any]):
    """Many networks in one process, stepped together on all cores. The arguments are those of `Env`; `num_envs` is the
    number of networks, `jobs` how many are stepped at the same time. A network whose episode has ended begins anew with
    its next step, whose action is not used."""

    metadata: dict[str, Any] = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        experiment: Experiment | str | os.PathLike[str],
        agent: str,
        at: str,
        num_envs: int,
        step: str = "100ms",
        episode: str = "10s",
        warmup: str = "0s",
        reward: str | Reward = "power",
        low: float | None = None,
        high: float | None = None,
        normalized: bool = False,
        set: Mapping[str, Value] | None = None,
        jobs: int | None = None,
    ) -> None:
        if num_envs < 1:
            raise ValueError("num_envs must be 1 or more")
        self._networks = _Networks(
            experiment, agent, at, step, episode, warmup, reward, low, high, normalized, set, num_envs, jobs
        )
        self.num_envs = num_envs
        self.single_action_space = self._networks.action_space
        self.single_observation_space = self._networks.observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._done = 0

    def reset(
        self, *, seed: Union[int, Sequence[int | None], None] = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begins all episodes. Network k has the seed `seed` + k, or the kth of several."""
        first = seed if isinstance(seed, int) or seed is None else None
        super().reset(seed=first)
        self._done = 0
        seeds: list[int | None] = [None] * self.num_envs
        if isinstance(seed, int):
            seeds = [seed + k for k in range(self.num_envs)]
        elif seed is not None:
            seeds = list(seed)
        return self._begin(seeds)

    def _begin(self, seeds: Sequence[int | None]) -> tuple[Array, dict[str, Any]]:
        parts = []
        for k, seed in enumerate(seeds):
            number = int(self.np_random.integers(1, 1 << 53)) if seed is None else seed
            arrays = self._networks.native.reset(k, number, self._networks.warmup_ns)
            parts.append(self._networks.read(arrays, 1))
        seen, goodput, delay, time = (np.concatenate(column) for column in zip(*parts))
        return seen, {"time": time, "goodput": goodput, "delay": delay}

    def step(self, actions: Any) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One step of all networks."""
        no = np.zeros(self.num_envs, dtype=np.bool_)
        if self._done >= self._networks.steps:
            self._done = 0
            seen, info = self._begin([None] * self.num_envs)
            return seen, np.zeros(self.num_envs), no, no, info
        arrays = self._networks.native.step(self._networks.actions(actions))
        seen, goodput, delay, time = self._networks.read(arrays, self.num_envs)
        self._done += 1
        ended = np.full(self.num_envs, self._done >= self._networks.steps, dtype=np.bool_)
        reward = np.asarray(self._networks.reward(goodput, delay), dtype=np.float64).reshape(self.num_envs)
        return seen, reward, no, ended, {"time": time, "goodput": goodput, "delay": delay}

    def digests(self) -> list[str]:
        """The digest of each episode up to now."""
        return [self._networks.native.digest(k) or "" for k in range(self.num_envs)]


class Linear:
    """A policy: the action is a linear function of what each agent sees (logarithms, centred and scaled), squashed to
    -1 .. 1. All agents of a network share it."""

    def __init__(self, weights: Array, centre: Array, scale: Array) -> None:
        self.weights, self.centre, self.scale = weights, centre, scale

    def __call__(self, observation: Array) -> Array:
        action: Array = np.tanh(self._features(observation) @ self.weights[1:] + self.weights[0])
        return action

    def _features(self, observation: Array) -> Array:
        seen = np.log1p(observation).reshape(*observation.shape[:-1], -1, len(self.centre))
        features: Array = (seen - self.centre) / self.scale
        return features


def cross_entropy(
    env: VectorEnv,
    generations: int = 12,
    repeats: int = 4,
    elite: float = 0.2,
    seed: int = 1,
) -> tuple[Linear, list[float]]:
    """Learns a `Linear` policy by the cross-entropy method (Rubinstein 1999). Each of `num_envs / repeats` candidates
    is tried for an episode in `repeats` networks; the best share of them says where the next generation looks. All
    candidates of a generation have the same seeds, so policies are compared, not luck. Returns the policy, and for each
    generation the mean reward of a step of its best. `env` must be `normalized`. Needs numpy only.
    """
    networks = env._networks
    if not networks.normalized:
        raise ValueError("cross_entropy needs VectorEnv(..., normalized=True)")
    count = env.num_envs // repeats
    if count < 4:
        least = 4 * repeats
        raise ValueError(f"cross_entropy needs num_envs of at least {least}: four candidates, {repeats} networks each")
    used, sees = count * repeats, len(networks.sees)
    rng, agents = np.random.default_rng(seed), networks.shape[1]

    def episode(first: int, act: Callable[[Array], Array]) -> tuple[Array, list[Array]]:
        """The mean reward of a step of each network, and all that was seen."""
        seen, _ = env.reset(seed=[first + k % repeats for k in range(env.num_envs)])
        total, all_seen = np.zeros(env.num_envs), [seen]
        for _ in range(networks.steps):
            seen, reward, _, _, _ = env.step(act(seen))
            total += reward
            all_seen.append(seen)
        return total / networks.steps, all_seen

    # What agents see under all kinds of actions gives the scale of the features.
    _, looked = episode(seed, lambda _: rng.uniform(-1, 1, (env.num_envs, agents)))
    logs = np.log1p(np.concatenate(looked)).reshape(-1, sees)
    policy = Linear(np.zeros(sees + 1), logs.mean(axis=0), logs.std(axis=0) + 1e-3)
    deviation, history = np.ones(sees + 1), []
    for generation in range(generations):
        tried = policy.weights + deviation * rng.standard_normal((count, sees + 1))
        # The mean of the last generation's best is among them.
        tried[0] = policy.weights
        each = np.zeros((env.num_envs, sees + 1))
        each[:used] = np.repeat(tried, repeats, axis=0)

        def act(seen: Array, each: Array = each) -> Array:
            action: Array = np.tanh(np.einsum("nas,ns->na", policy._features(seen), each[:, 1:]) + each[:, :1])
            return action

        reward, _ = episode(seed + 1000 * (generation + 1), act)
        of_candidate = reward[:used].reshape(count, repeats).mean(axis=1)
        best = np.argsort(of_candidate)[::-1][: max(2, round(elite * count))]
        policy.weights, deviation = tried[best].mean(axis=0), tried[best].std(axis=0) + 0.2 / (generation + 1)
        history.append(float(of_candidate[best].mean()))
    return policy, history
