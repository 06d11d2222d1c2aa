//! The keys before the tables, `[param]` and `[sweep]`.

use super::{Case, GOOD, each_has_its_message, message};
use contend_lab::reading::file::parse;

const CASES: &[Case] = &[
    (
        "[wifi]",
        "[wfi]",
        "t.toml:5:2: there is no key `wfi`\
            \n  help: did you mean `wifi`? Write one of: wifi, ap, station, flow, wire, link, node, param, \
            contention, model, field, wall, stack, title, cite, notes, dials, test, duration, warmup, \
            seeds, decide, sample, show, sweep, readings, claim, check, figure, program, search",
    ),
    (
        "title = \"t\"",
        "titel = \"t\"",
        "t.toml:1:1: there is no key `titel`\
            \n  help: did you mean `title`? Write one of: wifi, ap, station, flow, wire, link, node, param, \
            contention, model, field, wall, stack, title, cite, notes, dials, test, duration, warmup, \
            seeds, decide, sample, show, sweep, readings, claim, check, figure, program, search",
    ),
    (
        "duration = \"70s\"",
        "duration = 70",
        "t.toml:2:12: `duration` has no unit: 70\n  help: write a duration like \"15ms\" (units: s, ms, us, \
            ns)",
    ),
    (
        "duration = \"70s\"",
        "duration = \"70\"",
        "t.toml:2:12: `duration` has no unit: 70\n  help: write a duration like \"15ms\" (units: s, ms, us, \
            ns)",
    ),
    (
        "duration = \"70s\"",
        "duration = \"70 sec\"",
        "t.toml:2:12: `duration` has an unknown unit: `sec`\
            \n  help: write a duration like \"15ms\" (units: s, ms, us, ns); did you mean `s`?",
    ),
    (
        "duration = \"70s\"",
        "duration = \"70kB\"",
        "t.toml:2:12: `duration` must be a duration, but 70000B is a number of bytes\n  help: write a duration like \
            \"15ms\" (units: s, ms, us, ns)",
    ),
    (
        "duration = \"70s\"",
        "duration = \"-70s\"",
        "t.toml:2:12: `duration` is negative: -70s\n  help: write a duration like \"15ms\" (units: s, ms, us, ns)",
    ),
    (
        "duration = \"70s\"",
        "duration = \"2e6s\"",
        "t.toml:2:12: `duration` is too large: 2000000s\n  help: write at most 1000000s",
    ),
    (
        "duration = \"70s\"",
        "duration = \"0s\"",
        "t.toml:2:12: `duration` is zero\n  help: write a duration of at least 1ns",
    ),
    ("duration = \"70s\"", "", "t.toml: the file needs `duration`\n  help: write duration = \"70s\""),
    (
        "duration = \"70s\"",
        "duration = 1979-05-27",
        "t.toml:2:12: an experiment cannot use a date\n  help: write a string or a number",
    ),
    (
        "duration = \"70s\"",
        "duration =",
        "t.toml:2:11: this is not TOML: string values must be quoted, expected literal string\
            \n  help: write strings in double quotes and tables in [brackets]; see https://toml.io",
    ),
    (
        "duration = \"70s\"",
        "duration = \"70s",
        "t.toml:2:16: this is not TOML: invalid basic string, expected `\"`\
            \n  help: write strings in double quotes and tables in [brackets]; see https://toml.io",
    ),
    (
        "duration = \"70s\"",
        "duration = \"= 10s*m\"",
        "t.toml:2:19: `duration` cannot be computed: there is no `m`\
            \n  help: an expression may use numbers with units, + - * / \
            min max floor, and names from [param]",
    ),
    (
        "warmup = \"10s\"",
        "warmup = \"70s\"",
        "t.toml:3:10: `warmup` is 70s, but the whole run is 70s: nothing is left to measure\n  help: write a shorter \
            warmup or a longer duration",
    ),
    (
        "warmup = \"10s\"",
        "warmup = \"10s\"\nseeds = 5",
        "t.toml:4:9: `seeds` must be a string, not a bare number\n  help: write \"1..5\" for the seeds 1, 2, 3, 4 and \
            5, \"7\" for one, or a list",
    ),
    (
        "warmup = \"10s\"",
        "warmup = \"10s\"\nseeds = \"5..1\"",
        "t.toml:4:9: `seeds` is empty: \"5..1\"\n  help: write \"1..5\" for the seeds 1, 2, 3, 4 and 5, \"7\" for \
            one, or a list",
    ),
    (
        "warmup = \"10s\"",
        "warmup = \"10s\"\nseeds = \"1..999999999\"",
        "t.toml:4:9: `seeds` has more than 100000 seeds\n  help: use fewer",
    ),
    (
        "warmup = \"10s\"",
        "warmup = \"10s\"\nsample = \"1ns\"",
        "t.toml:4:10: `sample` makes more than 10000000 samples of a run\n  help: write a longer step",
    ),
    (
        "\"flow.0.count\"",
        "\"flow.1.count\"",
        "t.toml:19:1: `flow.1.count`: the list has no member `1`\n  help: write 0, the number of its only member",
    ),
    (
        "\"flow.0.count\"",
        "\"flow.0.cuont\"",
        "t.toml:19:1: there is no key `flow.0.cuont`\n  help: did you mean `count`? Write one of: name, count, from, \
            to, delay, udp, packet, tcp, window, ack, ack_delay, quick_acks, gro, autotuning, encrypted, estimate, \
            traffic, emulate, ac, overhead, start, stop, size",
    ),
    (
        "\"flow.0.count\"",
        "\"flw.0.count\"",
        "t.toml:19:1: there is no key `flw`\
            \n  help: did you mean `flow`? Write one of: stack, param, wifi, field, wall, ap, node, station, link, \
            wire, flow",
    ),
    (
        "\"flow.0.count\"",
        "\"duration\"",
        "t.toml:19:1: `duration` is the same at every point\n  help: vary a key of the network, like \"flow.0.count\" \
            or \"wifi.slot\"",
    ),
    (
        "\"flow.0.count\"",
        "\"flow..count\"",
        "t.toml:19:1: `flow..count` is not a key path\n  help: write it like \"flow.0.count\" or \"wifi.slot\"",
    ),
    (
        "\"flow.0.count\"",
        "\"flow.0.count.x\"",
        "t.toml:19:1: `flow.0.count.x`: there is no key `x` in a bare number\n  help: shorten the key path",
    ),
    (
        "[1, 2]",
        "[]",
        "t.toml:19:18: `sweep.\"flow.0.count\"` is an empty list\n  help: write at least one value, or remove the key",
    ),
    ("[1, 2]", "[1, 1]", "t.toml:19:22: `sweep.\"flow.0.count\"` has the value 1 twice\n  help: remove one of the two"),
    (
        "[1, 2]",
        "3",
        "t.toml:19:18: `sweep.\"flow.0.count\"` must be a list, not a bare number\n  help: write the list of values \
            to try, [1, 2, 4]",
    ),
    (
        "[1, 2]",
        "[\"a\"]",
        "t.toml:19:19: `flow.0.count` must be a whole number, not \"a\"\n  help: write a whole number like 5",
    ),
    (
        "[1, 2]",
        "[1, 200000]",
        "t.toml:19:22: `flow.0.count` is too large: 200000\n  help: write a value from 0 to 100000",
    ),
    (
        "[1, 2]",
        "[1, 2, 1]\n\"wifi.slot\" = [\"9us\", \"9us\", \"9us\"]\nzip = [[\"flow.0.count\", \"wifi.slot\"]]",
        "t.toml:19:25: `sweep.\"flow.0.count\"` with `sweep.\"wifi.slot\"` has the value 1 with \"9us\" twice\n  \
            help: remove one of the two",
    ),
    (
        "[1, 2]",
        "[1, 2]\nzip = [[\"flow.0.count\", \"wifi.slot\"]]",
        "t.toml:20:25: `sweep.zip.0.1` names a key that [sweep] does not have: `wifi.slot`\
            \n  help: write one of: flow.0.count",
    ),
    (
        "[1, 2]",
        "[1, 2]\n\"wifi.slot\" = [\"9us\"]\nzip = [[\"flow.0.count\", \"wifi.slot\"]]",
        "t.toml:21:25: `sweep.zip.0.1` pairs lists of different length: 2 and 1 values\
            \n  help: give both keys the same number of values",
    ),
    (
        "[1, 2]",
        "[1, 2]\n[param]\nk = 3",
        "t.toml:21:1: `param.k` cannot be the name of a number\n  help: use letters, digits and _; `k` is the number \
            of a member",
    ),
];

#[test]
fn every_bad_key_of_the_file_has_its_message() {
    each_has_its_message(CASES);
}

#[test]
fn too_many_stations_and_flows_are_refused_before_they_are_made() {
    // The sweep would give the flow another count.
    let (good, _) = GOOD.split_once("[sweep]").unwrap();
    let both = "count = 60000\nfrom = \"station\"\nto = \"station\"";
    let more = "tcp = \"newreno\"\n[[flow]]\ncount = 100000\nfrom = \"slow\"\nto = \"server\"\ntcp = \"reno\"";
    for (from, to, told) in [
        // Each of these flows has a station at both ends.
        ("count = 2\nfrom = \"server\"\nto = \"station\"", both, "`flow.0.to` makes more than 100000 stations"),
        ("count = 3", "count = 99999", "`flow.0.to` makes more than 100000 stations"),
        ("tcp = \"newreno\"", more, "`flow.1` makes more than 100000 flows"),
    ] {
        let wrong = parse("t.toml", &good.replacen(from, to, 1), &[]).unwrap_err().render(false);
        assert!(wrong.contains(told) && wrong.contains("help: write a smaller count"), "{wrong}");
    }
}

#[test]
fn a_remedy_names_what_was_meant() {
    for (from, to, told) in [
        ("tcp = \"newreno\"", "tpc = \"cubic\"", "there is no key `flow.0.tpc`\n  help: did you mean `tcp`?"),
        (
            "title = \"t\"",
            "rts_threshold = \"0B\"",
            "t.toml:1:1: there is no key `rts_threshold`\n  help: did you mean `wifi.rts_threshold`?",
        ),
        ("title = \"t\"", "titel = \"t\"", "there is no key `titel`\n  help: did you mean `title`?"),
        (
            "name = \"slow\"",
            "name = \"__proto__\"",
            "t.toml:9:8: `station.0.name` cannot be \"__proto__\"\n  help: a name",
        ),
        ("count = 2", "name = \"-f\"", "t.toml:13:8: `flow.0.name` cannot be \"-f\""),
        (
            "standard = \"802.11g\"\n\n[[station]]",
            "standard = \"802.11g\"\n[field]\nrange = \"250m\"\n[ap]\nposition = [\"-5m\", \"0m\"]\n[[station]]",
            "`ap.position` has a negative coordinate: (-5m, 0m)\n  help: write lengths from \"0m\" on",
        ),
    ] {
        let wrong = message(from, to);
        assert!(wrong.contains(told), "{wrong}");
    }
}

#[test]
fn small_queues_of_a_sender_on_wires_are_refused_at_their_place() {
    let text = "duration = \"1s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\n\
        [[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = { kind = \"newreno\", tsq = {} }\n";
    let wrong = parse("t.toml", text, &[]).unwrap_err().render(false);
    assert!(
        wrong.starts_with("t.toml:10:8: `flow.0.from` has tcp.tsq") && wrong.contains("help: write tsq = "),
        "{wrong}"
    );
}

#[test]
fn a_count_leaves_out_stations_and_their_flows_together() {
    let text = GOOD.split_once("[sweep]").unwrap().0.replace("count = 3", "count = 0");
    let flow = "[[flow]]\nname = \"none\"\ncount = 0\nfrom = \"server\"\nto = \"slow\"\ntcp = \"reno\"\n";
    parse("t.toml", &format!("{text}{flow}"), &[]).unwrap();
    let wrong = parse("t.toml", &format!("{text}{}", flow.replace("count = 0", "count = 1")), &[]).unwrap_err();
    assert!(wrong.to_string().contains("names stations, but there are none"), "{wrong}");
}
