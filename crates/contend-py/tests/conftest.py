"""What the tests share."""

from pathlib import Path

import matplotlib
import pytest

import contend

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[3]

SMALL = """
title = "Two downloads"
duration = "3s"
warmup = "1s"
seeds = "1..2"
sample = "500ms"

[wifi]
standard = "802.11g"

[ap]
queue = { kind = "fifo", limit = "100p" }

[[flow]]
count = 2
from = "server"
to = "station"
tcp = "newreno"
delay = "10ms"

[sweep]
"ap.queue.limit" = ["20p", "100p"]

[[claim]]
id = "C1"
paper = "more than nothing"
metric = "goodput.total"
expect = { at_least = "1Mbps" }
verdict = "reproduced"
"""


@pytest.fixture(scope="session")
def small():
    return contend.load(SMALL)


@pytest.fixture(scope="session")
def results(small):
    return small.run()
