//! `[[claim]]`, `[[check]]`, `[[figure]]` and `[search]`.

use super::{Case, each_has_its_message};

const CASES: &[Case] = &[
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"",
        "t.toml:20:1: `claim.0` needs `expect`\n  help: write expect = { between = [1.2, 2.2] }",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { between = [2, 1] }",
        "t.toml:23:22: `claim.0.expect.between` has its lower end above its upper end\n  help: write [low, high]",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_lest = 2 }",
        "t.toml:23:12: there is no key `claim.0.expect.at_lest`\
            \n  help: did you mean `at_least`? Write one of: between, at_least, at_most, near, increasing, \
            decreasing, order, within, along",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 2, at_most = 3 }",
        "t.toml:23:10: `claim.0.expect` must have exactly one expectation\
            \n  help: write one of between = [1.2, 2.2], at_least = \
            0.9, at_most = \"10ms\", near = 1.5, perhaps with within = \"5%\", increasing = true or decreasing = true \
            with along = \"flow.0.count\", order = [\"a\", \"b\"] with along",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nsource = \"spec\"\nmetric = \"jain\"\nexpect = { near = 1 }",
        "t.toml:22:10: `claim.0.source` cannot be \"spec\"\n  help: write one of: paper, specification, beyond",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain / 2\"\npool = true\nless = { \"flow.0.count\" = 1 }\n\
            expect = { near = 1 }",
        "t.toml:20:1: `claim.0` has `pool` beside `less`\n  help: remove `pool`: a mean of differences needs none",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { near = 1, wihtin = \"1%\" }",
        "t.toml:23:22: there is no key `claim.0.expect.wihtin`\n  help: did you mean `within`? Write one of: between, \
            at_least, at_most, near, increasing, decreasing, order, within, along",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { near = \"2ms\", within = \"1Mbps\" }",
        "t.toml:23:35: `claim.0.expect.within` is a rate, but the other value is a duration\
            \n  help: write both in the same kind of unit",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { increasing = true, along = \"wifi.slot\" }",
        "t.toml:23:39: `claim.0.expect.along` names a key that is not swept: `wifi.slot`\
            \n  help: write one of: flow.0.count",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nwhen = { \"flow.0.count\" = 3 }",
        "t.toml:24:27: `claim.0.when.\"flow.0.count\"` is not a value of the sweep: 3\n  help: values of flow.0.count: \
            1, 2",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nverdict = \"not reproduced\"",
        "t.toml:20:1: `claim.0` is recorded as \"not reproduced\" but has no reason\n  help: write reason = \"why \
            the paper's value is not met\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nover = { \"ap.queu\" = \"fifo\" \
            }",
        "t.toml:24:10: there is no key `ap.queu`\
            \n  help: did you mean `queue`? Write one of: name, queue, ampdu, amsdu, mac_queue, aql, \
            access, control, beacon, position, channel, observe",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nwhen = { \"flow.0.count\" = 2 \
            }\nover = { \"flow.0.count\" = 1, \"ap.queu\" = \"fifo\" }",
        "t.toml:25:30: there is no key `ap.queu`\
            \n  help: did you mean `queue`? Write one of: name, queue, ampdu, amsdu, mac_queue, aql, \
            access, control, beacon, position, channel, observe",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\n[[claim]]\nid = \"a\"\nmetric = \
            \"jain\"\nexpect = { at_least = 1 }",
        "t.toml:24:1: `claim.1` has the id of another claim: \"a\"\n  help: give each [[claim]] its own id",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[check]]\nmetric = \"jain\"\nexpect = { at_least = 1 }",
        "t.toml:20:1: `check.0` needs `what`\n  help: write what = \"calls below 30 ms\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[check]]\nwhat = \"w\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nverdict = \"reproduced\"",
        "t.toml:24:1: there is no key `check.0.verdict`\n  help: write one of: what, id, bound, why, \
            informative, metric, expect, over, less, when, each, pool",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"flow.0.count\"\ny = \"jain\"\nlog = \"z\"",
        "t.toml:23:7: `figure.0.log` cannot be \"z\"\n  help: did you mean `x`? Write one of: x, y, xy",
    ),
    (
        "[1, 2]",
        "[0, 2]\n[[figure]]\nx = \"flow.0.count\"\ny = \"jain\"\nlog = \"x\"",
        "t.toml:23:7: `figure.0.log` needs values above zero on a logarithmic axis\n  help: select the other values \
            with `when`, or write log = \"y\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"time\"\ny = \"jain\"\nlog = \"xy\"",
        "t.toml:23:7: `figure.0.log` makes the axis of flows or time logarithmic\n  help: write log = \"y\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n\"ap.queue\" = [\"fifo\", \"codel\"]\n[[figure]]\nx = \"ap.queue\"\ny = \"jain\"\nlog = \"x\"",
        "t.toml:24:7: `figure.0.log` makes an axis of names logarithmic\n  help: write log = \"y\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"time\"\ny = \"jain\"\nby = \"flow.0.cuont\"",
        "t.toml:23:6: `figure.0.by` names a key that is not swept: `flow.0.cuont`\
            \n  help: did you mean `flow.0.count`? Write one of: flow.0.count",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"flow.0.count\"\ny = \"jain\"\nby = \"flow.0.count\"",
        "t.toml:23:6: `figure.0.by` is the key along `x` too: `flow.0.count`\n  help: name another swept key, or \
            remove it",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"time\"\ny = \"jain\"\nby = [\"flow.0.count\", \"flow.0.count\"]",
        "t.toml:23:23: `figure.0.by.1` names `flow.0.count` twice\n  help: name each key once",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"flow.0.count\"\nvalues = [1, 2]\ny = \"jain\"",
        "t.toml:22:10: `figure.0.values` cannot be used in a figure over `flow.0.count`\
            \n  help: remove them, or write a new name as `x`, \"window\", and use point(\"window\") in `y`",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[figure]]\nx = \"window\"\nvalues = [1, \"fifo\"]\ny = \"jain\"",
        "t.toml:22:14: `figure.0.values.1` must be a number or a quantity, not \"fifo\"\n  help: write a number or a \
            quantity like 0.95 or \"15ms\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[search]\nkey = \"flow.0.window\"\nfrom = \"1p\"\nto = \"1ms\"\nuntil = \"jain > 1\"",
        "t.toml:23:6: `search.to` is a duration, but the other value is a number of packets\
            \n  help: write both in the same kind of unit",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[readings]\nwinf = { a = { \"flow.0.count\" = 1 } }\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\n\
            expect = { at_least = 1 }\nreading = \"wimf\"",
        "t.toml:26:11: `claim.0.reading` names readings that do not exist: \"wimf\"\n  help: did you mean `winf`?",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nreading = {}",
        "t.toml:24:11: `claim.0.reading` has no reading\n  help: write { printed = { \"flow.0.window\" = \"1p\" } }",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nreading = { r = {}, s = {} }\n\
            verdict = { r = \"reproduced\" }",
        "t.toml:25:11: `claim.0.verdict` has no verdict under \"s\"\n  help: add s = \"reproduced\"",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nreading = { r = {}, s = {} }\n\
            verdict = { r = \"reproduced\", verdict_t = \"reproduced\" }",
        "t.toml:25:43: `claim.0.verdict.verdict_t` is no reading of this claim\n  help: write one of r, s",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[[claim]]\nid = \"a\"\nmetric = \"jain\"\nexpect = { at_least = 1 }\nverdict = {}",
        "t.toml:24:11: `claim.0.verdict` has no verdict\n  help: write verdict = \"reproduced\"",
    ),
];

#[test]
fn every_bad_claim_check_figure_and_search_has_its_message() {
    each_has_its_message(CASES);
}
