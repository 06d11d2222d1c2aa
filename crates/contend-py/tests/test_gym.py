"""Environments of Gymnasium."""

import json
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import contend
import contend.gym
from contend.gym import Env, VectorEnv, cross_entropy

PLACES = [
    ("window", "flow.down", 10),
    ("rate", "flow.up", 2),
    ("queue", "ap", 1),
    ("mark", "ap", 1),
    ("access", "wifi", 13),
    ("fcwa", "ap", 1),
]


@pytest.mark.parametrize("agent, at, count", PLACES)
def test_every_agent_is_an_environment(agent, at, count):
    env = Env("hotspot", agent=agent, at=at, episode="1s", normalized=True)
    assert env.agents == count and env.observation_space.shape == (count * len(env.sees),)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env, skip_render_check=True)
    assert agent in contend.gym.agents()


def played(env, actions, seed=5):
    env.reset(seed=seed)
    return [env.step(action)[:2] for action in actions]


def test_equal_seeds_give_equal_episodes_alone_and_in_a_vector():
    limits = [[10.0], [300.0], [20.0], [5.0]]
    options = dict(agent="queue", at="ap", step="250ms")
    one = Env("hotspot", **options)
    first, digest = played(one, limits), one.digest
    again = played(one, limits)
    assert one.digest == digest and all(np.array_equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(first, again))
    played(one, limits, seed=6)
    assert one.digest != digest
    many = VectorEnv("hotspot", num_envs=3, **options)
    many.reset(seed=[4, 5, 6])
    for limit, (seen, reward) in zip(limits, first):
        all_seen, rewards, *_ = many.step(np.full((3, 1), limit))
        assert np.array_equal(all_seen[1], seen) and rewards[1] == reward
    assert many.digests()[1] == digest


def test_an_episode_ends_by_truncation_and_a_vector_begins_anew():
    env = VectorEnv("hotspot", agent="queue", at="ap", num_envs=2, step="100ms", episode="300ms")
    env.reset(seed=1)
    ended = [env.step(env.action_space.sample())[3].tolist() for _ in range(4)]
    assert ended == [[False, False], [False, False], [True, True], [False, False]]
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP


def test_rewards_and_actions():
    env = Env("hotspot", agent="queue", at="ap", episode="1s", warmup="1s", low=10, high=1000, normalized=True)
    seen, info = env.reset(seed=1)
    assert info["time"] == 1.0 and len(info["goodput"]) == len(info["flows"]) == 12 and seen[0] > 0
    # The middle of the range on a logarithmic scale.
    for _ in range(15):
        seen, *_ = env.step(np.zeros(1))
    assert seen[0] <= 100
    own = Env("hotspot", agent="queue", at="ap", reward=lambda goodput, delay: -delay.max(axis=-1))
    own.reset(seed=1)
    assert [own.step(np.array([100.0]))[1] for _ in range(5)][-1] < 0


def test_packets_wait_less_in_a_small_queue():
    def wait(limit):
        env = Env("hotspot", agent="queue", at="ap", warmup="1s", episode="2s")
        env.reset(seed=1)
        return np.mean([env.step(np.array([limit]))[0][env.sees.index("wait")] for _ in range(20)])

    assert wait(5.0) < 0.2 * wait(500.0)


def test_cross_entropy_beats_the_default_queue():
    """The access point of the hotspot has 100 packets; power asks for much goodput over little delay."""
    options = dict(agent="queue", at="ap", episode="3s", warmup="1s", normalized=True, reward="power")
    policy, history = cross_entropy(VectorEnv("hotspot", num_envs=96, **options), generations=6)
    test = VectorEnv("hotspot", num_envs=16, **options)

    def mean(act):
        seen, _ = test.reset(seed=9000)
        total = 0.0
        for _ in range(30):
            seen, reward, *_ = test.step(act(seen))
            total += reward.mean()
        return total / 30

    default = np.full((16, 1), 2 * np.log(100) / np.log(1000) - 1)
    assert mean(policy) > mean(lambda _: default) + 0.2 and len(history) == 6


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(agent="qeue"), "no agent 'qeue'; use one of window, "),
        (dict(at="flow.up"), "flow.*queue"),
        (dict(step="soon"), "write it like"),
        (dict(step="0ms"), "no length"),
        (dict(reward="best"), "no reward 'best'; use one of goodput"),
        (dict(low=5, high=5), "low must be the smaller one"),
    ],
)
def test_wrong_environments(change, message):
    with pytest.raises(ValueError, match=message):
        Env("hotspot", **{"agent": "queue", "at": "ap", **change})


def test_other_wrong_calls():
    with pytest.raises(contend.Error, match="the experiment has 2 points"):
        Env(contend.load("hotspot").with_settings(sweep={"ap.queue.limit": ["5p", "9p"]}), agent="window", at="flow.up")
    env = Env("hotspot", agent="queue", at="ap")
    with pytest.raises(contend.Error, match="reset it first"):
        env.step(np.array([5.0]))
    with pytest.raises(ValueError, match="normalized=True"):
        cross_entropy(VectorEnv("hotspot", agent="queue", at="ap", num_envs=16))
    with pytest.raises(ValueError, match="at least 16"):
        cross_entropy(VectorEnv("hotspot", agent="queue", at="ap", num_envs=8, normalized=True))


def test_an_agent_is_explained_like_any_algorithm():
    assert "a program outside sets" in contend.explain("agent_window")
    results = contend.load("hotspot").run(seeds="1", set={"ap.queue": "agent_queue", "duration": "6s"})
    assert json.dumps(results.to_dict())
