"""Scorecards, and an own controller in a suite."""

import json
import os
import subprocess

import pytest

import contend


def test_a_scorecard_is_that_of_the_command(tmp_path):
    card = contend.evaluate("bloat", cc="cubic", seeds="1..2")
    (test,) = card.tests
    assert (card.suite, test["id"], test["verdict"]) == ("cc-1", "bloat", "pass")
    assert card.passes and card.counts["pass"] == 1 and "cubic" in repr(card)
    assert card.citation.startswith("contend ") and "@misc{" in card.bibtex
    call = [os.environ["CONTEND"], "evaluate", "--cc", "cubic", "bloat", "--seeds", "1..2", "--format", "json"]
    theirs = subprocess.run([*call, "--no-results"], cwd=tmp_path, check=True, stdout=subprocess.PIPE)
    assert json.loads(theirs.stdout)["tests"][0]["checks"] == test["checks"]
    assert "<h1>cubic under suite cc-1</h1>" in card.report(tmp_path / "card.html").read_text()
    assert "| bloat |" in card.markdown() and "bloat" in str(card)


def test_an_own_controller_is_evaluated():
    class Stubborn(contend.Controller):
        """Opens its window and never reduces it."""

        def on_ack(self, cx, w, ack):
            w.cwnd += ack.acked

        def on_congestion(self, cx, w, ack, why):
            return contend.Response(w.cwnd, w.cwnd)

    card = contend.evaluate("shallow", cc=Stubborn, seeds="1..2", decide=2)
    assert not card.passes and card.tests[0]["verdict"] == "fail"


def test_a_wrong_subject_has_a_remedy():
    with pytest.raises(contend.Error, match="did you mean `cubic`"):
        contend.evaluate(cc="cubik")
    with pytest.raises(TypeError, match="one subject"):
        contend.evaluate(cc="cubic", ap="fifo")
    with pytest.raises(contend.Error, match="has no test `nosuch`"):
        contend.evaluate("nosuch", cc="cubic")
