//! `[[flow]]`, `[[link]]` and `[[node]]`.

use super::{Case, each_has_its_message, set};
use contend_lab::reading::file::parse;

const CASES: &[Case] = &[
    (
        "count = 2",
        "cuont = 2",
        "t.toml:13:1: there is no key `flow.0.cuont`\n  help: did you mean `count`? Write one of: name, count, from, \
            to, delay, udp, packet, tcp, window, ack, ack_delay, quick_acks, gro, autotuning, encrypted, estimate, \
            traffic, emulate, ac, overhead, start, stop, size",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nwindow = \"64Kb\"",
        "t.toml:17:10: `flow.0.window` has an unknown unit: `Kb`\
            \n  help: write an amount of packets or bytes like \"100p\" or \"150kB\" (units: p, B, kB, MB); did you \
            mean `kB`?",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nac = \"voice\"",
        "t.toml:17:6: `flow.0.ac` cannot be \"voice\"\n  help: write one of: vo, vi, be, bk",
    ),
    (
        "to = \"station\"",
        "to = \"sta\"",
        "t.toml:15:6: `flow.0.to` names an unknown station or node: \"sta\"\
            \n  help: write one of: server, station, ap, slow",
    ),
    (
        "to = \"station\"",
        "to = \"slwo\"",
        "t.toml:15:6: `flow.0.to` names an unknown station or node: \"slwo\"\
            \n  help: did you mean `slow`? Write one of: server, station, ap, slow",
    ),
    (
        "to = \"station\"",
        "to = \"slow[2..4]\"",
        "t.toml:15:6: `flow.0.to` names stations that do not exist: \"slow[2..4]\"\n  help: `slow` has members 1 to \
            3: write \"slow[1..3]\"",
    ),
    (
        "to = \"station\"",
        "to = \"server\"",
        "t.toml:15:6: `flow.0.to` is also the start of the flow\n  help: name two different places",
    ),
    (
        "to = \"station\"",
        "to = \"ap\"",
        "t.toml:15:6: `flow.0.to` is an access point: a flow cannot end there\
            \n  help: write \"server\" for a host behind \
            it, or \"station\"",
    ),
    (
        "to = \"station\"",
        "to = 3",
        "t.toml:15:6: `flow.0.to` must be a string, not a bare number\n  help: write it in double quotes",
    ),
    ("to = \"station\"", "", "t.toml:12:1: `flow.0` needs `to`\n  help: write to = \"station\" or \"server\""),
    (
        "tcp = \"newreno\"",
        "",
        "t.toml:12:1: `flow.0` has no transport protocol\n  help: write tcp = \"newreno\" or udp = { rate = \
            \"1Mbps\" }",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newrno\"",
        "t.toml:16:7: `flow.0.tcp` names an unknown TCP variant: \"newrno\"\
            \n  help: did you mean `newreno`? Write one of: {variants}",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = { cc = \"reno\", recovry = \"sack\" }",
        "t.toml:16:22: there is no key `flow.0.tcp.recovry`\
            \n  help: did you mean `recovery`? Write one of: kind, cc, recovery, sack, timestamps, window_scaling, \
            handshake, initial_window, initial_ssthresh, echo, accecn, ect, ect_all, limited_transmit, \
            pacing, tsq, rto",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = { recovery = \"sack\", sack = false }",
        "t.toml:16:35: `flow.0.tcp.sack` is false, but the recovery \"sack\" needs it\n  help: write recovery = \
            \"newreno\", or remove sack",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = { window_scaling = false }\nwindow = \"100p\"",
        "t.toml:17:10: `flow.0.window` is too large without window scaling: 144800B\n  help: write at most 65535B, or \
            window_scaling = true in tcp",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = { rto = { min = \"2s\", max = \"1s\" } }",
        "t.toml:16:15: `flow.0.tcp.rto` has min 2s above max 1s\n  help: write a smaller min or a larger max",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = { echo = \"lach\" }",
        "t.toml:16:16: `flow.0.tcp.echo` cannot be \"lach\"\
            \n  help: did you mean `latch`? Write one of: off, latch, per_packet, accurate",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nudp = { rate = \"1Mbps\" }",
        "t.toml:17:7: `flow.0.udp` cannot be used with tcp: a flow uses one of the two\n  help: remove one of the two",
    ),
    (
        "tcp = \"newreno\"",
        "udp = { rate = \"1Mbps\" }\ntraffic = \"bulk\"",
        "t.toml:16:16: `flow.0.udp.rate` contradicts the flow's traffic\n  help: remove one of the two",
    ),
    (
        "tcp = \"newreno\"",
        "udp = { rate = \"1Mbps\" }\nwindow = \"42p\"",
        "t.toml:17:10: `flow.0.window` has no meaning for udp\n  help: remove it, or write tcp instead of udp",
    ),
    (
        "tcp = \"newreno\"",
        "udp = { rate = \"1Mbps\" }\nencrypted = true",
        "t.toml:17:13: `flow.0.encrypted` has no meaning for udp\n  help: remove it, or write tcp instead of udp",
    ),
    (
        "tcp = \"newreno\"",
        "udp = {}",
        "t.toml:16:7: `flow.0.udp` has no rate and no traffic\n  help: write udp = { rate = \"1Mbps\" }, or a \
            traffic source in the flow",
    ),
    (
        "tcp = \"newreno\"",
        "udp = {}\ntraffic = \"bulk\"",
        "t.toml:16:7: `flow.0.udp` cannot carry \"bulk\": a sender of datagrams needs a rate\n  help: write \
            udp = { rate = \"1Mbps\" }, or another traffic source",
    ),
    (
        "tcp = \"newreno\"",
        "udp = {}\ntraffic = { kind = \"web\", size = \"50kB\" }",
        "t.toml:16:7: `flow.0.udp` cannot carry \"web\": its next page waits for an acknowledgment\n  help: write \
            udp = { rate = \"1Mbps\" }, or another traffic source",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nwindow = \"0p\"",
        "t.toml:17:10: `flow.0.window` is zero: nothing could be sent\n  help: write at least \"1p\"",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nwindow = 42",
        "t.toml:17:10: `flow.0.window` has no unit: 42\n  help: write an amount of packets or bytes like \
            \"100p\" or \"150kB\" (units: p, B, kB, MB)",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\npacket = \"9000B\"",
        "t.toml:17:10: `flow.0.packet` is too large for an 802.11 frame: 9000B\n  help: write at most 2296B",
    ),
    (
        "tcp = \"newreno\"",
        "udp = {}\ntraffic = { kind = \"files\", size = \"3p\" }",
        "t.toml:17:11: `flow.0.traffic` writes datagrams of 4444B with their headers: too large for an 802.11 \
            frame\n  help: write at most 2268B of payload, or tcp instead of udp",
    ),
    (
        "tcp = \"newreno\"",
        "udp = {}\ntraffic = { kind = \"poisson\", rate = \"1Mbps\", packet = \"2269B\" }",
        "t.toml:17:11: `flow.0.traffic` writes datagrams of 2297B with their headers: too large for an 802.11 \
            frame\n  help: write at most 2268B of payload, or tcp instead of udp",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\npacket = \"40B\"",
        "t.toml:17:10: `flow.0.packet` is invalid: a packet of 40 B has no room for payload after 52 B of headers\
            \n  help: write at least 53 B",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nstart = \"uniform(2s, 1s)\"",
        "t.toml:17:9: `flow.0.start` begins after it ends\n  help: write the earlier time first",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nstart = \"stager(0s, 1s)\"",
        "t.toml:17:9: `flow.0.start` cannot be \"stager\"\n  help: write \"5s\", \"uniform(0s, 2s)\" (an instant \
            drawn between the two) or \"stagger(0s, 10s)\" (the first member's, and the step to the next)",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nstart = \"uniform(1s)\"",
        "t.toml:17:9: `flow.0.start` takes two times\n  help: write \"5s\", \"uniform(0s, 2s)\" (an instant drawn \
            between the two) or \"stagger(0s, 10s)\" (the first member's, and the step to the next)",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\noverhead = \"stagger(0s, 1ms)\"",
        "t.toml:17:12: `flow.0.overhead` cannot be \"stagger\"\n  help: write \"100us\" or \"uniform(0s, 1ms)\" (a \
            time drawn between the two for each packet)",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\noverhead = \"uniform(2ms, 1ms)\"",
        "t.toml:17:12: `flow.0.overhead` begins after it ends\n  help: write the earlier time first",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nstart = \"stagger(0s, 80s)\"",
        "t.toml:17:9: `flow.0.start` is too late for member 2: the run ends at 70s\n  help: write an earlier \
            start, or a longer duration",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nstart = \"5s\"\nstop = \"5s\"",
        "t.toml:18:8: `flow.0.stop` is not after the flow's start\n  help: write a later time",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\ndelay = \"= 10ms + 2*k\"",
        "t.toml:17:12: `flow.0.delay` cannot be computed: a duration and a plain number have different units\
            \n  help: give both the same unit, as in `10ms + 2ms*(k-1)`",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\ndelay = []",
        "t.toml:17:9: `flow.0.delay` is an empty list\n  help: write at least one value",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\ntraffic = \"cbr\"",
        "t.toml:17:11: `flow.0.traffic` cannot use cbr: cbr needs a rate or a schedule\n  help: write rate = \"1Mbps\"",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\ntraffic = { kind = \"cbr\", schedule = [[\"5s\", \"1s\", \"2Mbps\"]] }",
        "t.toml:17:46: `flow.0.traffic.schedule.0.1` is not after the beginning of its interval\n  help: write a \
            later time",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\ntraffic = { kind = \"exponential\" }",
        "t.toml:17:11: `flow.0.traffic` needs `rate` for exponential: payload bits per second while on\n  help: write \
            { kind = \"exponential\", rate = \"1Mbps\" }",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\n\n[[flow]]\nname = \"near\"\nfrom = \"station\"\nto = \"slow\"\ntcp = \"reno\"\ndelay = \
            \"1ms\"",
        "t.toml:23:9: `flow.1.delay` is the delay of the wire to \"server\", but neither end is \"server\"\
            \n  help: set the \
            delay of a [[link]] instead",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nname = \"f\"\n[[flow]]\nname = \"f\"\nfrom = \"station\"\nto = \"server\"\ntcp = \"reno\"",
        "t.toml:19:8: `flow.1.name` is used by two flows\n  help: give each [[flow]] its own name",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\n[[node]]\nname = \"r\"\nkind = \"router\"\n[[flow]]\nfrom = \"r\"\nto = \"station\"\ntcp \
            = \"reno\"",
        "t.toml:21:8: `flow.1.from` is a router: a flow cannot end there\
            \n  help: name a host, or write kind = \"host\" in \
            its [[node]]",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\n[[node]]\nname = \"h\"\n[[flow]]\nfrom = \"h\"\nto = \"station\"\ntcp = \"reno\"",
        "t.toml:20:8: `flow.1.from` has no path to the other end of the flow\n  help: connect the two with [[link]] \
            tables",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\n[[link]]\nfrom = \"ap\"\nto = \"rr\"",
        "t.toml:19:6: `link.0.to` names an unknown node: \"rr\"\n  help: write one of: ap",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\n[[link]]\nfrom = \"ap\"\nto = \"slow\"",
        "t.toml:19:6: `link.0.to` names an unknown node: \"slow\"\n  help: write one of: ap",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = { kind = \"newreno\", timestamps = false }\nestimate = [\"ts_are\"]",
        "t.toml:17:13: `flow.0.estimate.0` needs timestamps, but this connection has none\n  help: write tcp = { ..., \
            timestamps = \"1us\" }",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nestimate = [\"are\", \"are\"]",
        "t.toml:17:20: `flow.0.estimate.1` is the second estimator called \"are\"\n  help: give it its own name: \
            [\"are\", { kind = \"are\", filter = 2, name = \"are2\" }]",
    ),
    (
        "tcp = \"newreno\"",
        "tcp = \"newreno\"\nestimate = [\"arr\"]",
        "t.toml:17:13: `flow.0.estimate.0` names an unknown estimator: \"arr\"\
            \n  help: did you mean `are`? Write one of: are, ts_are, westwood, westwood_nr, westwood_plus, tsw, csfq",
    ),
];

#[test]
fn every_bad_flow_has_its_message() {
    each_has_its_message(CASES);
}

#[test]
fn a_rate_that_changes_is_given_once_and_in_order() {
    let wired = |rate: &str| {
        let text = format!(
            "duration = \"1s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\n\
            rate = {rate}\n[[flow]]\nfrom = \"a\"\nto = \"b\"\ntcp = \"reno\"\n"
        );
        parse("t.toml", &text, &[]).map_or_else(|e| e.render(false), |_| "(no error)\n".into())
    };
    assert_eq!(wired("{ schedule = [[\"0s\", \"10Mbps\"], [\"5s\", \"0bps\"]] }"), "(no error)\n");
    let cases = [
        ("{}", "t.toml:9:8: `link.0.rate` needs `trace` or `schedule`"),
        ("{ trace = \"a\", schedule = [] }", "`link.0.rate.schedule` and `trace` give the rate twice"),
        ("{ schedule = [] }", "`link.0.rate.schedule` is not at time 0"),
        ("{ schedule = [[\"0s\"]] }", "t.toml:9:22: `link.0.rate.schedule.0` must have two values"),
        ("{ schedule = [[\"1s\", \"1Mbps\"]] }", "`link.0.rate.schedule.0` is not at time 0"),
        ("{ schedule = [[\"0s\", \"0bps\"]] }", "without a rate above zero"),
        (
            "{ schedule = [[\"0s\", \"1Mbps\"], [\"0s\", \"2Mbps\"]] }",
            "t.toml:9:39: `link.0.rate.schedule.1` is not later than the entry before it",
        ),
        ("{ schedule = [[0, \"1Mbps\"]] }", "`link.0.rate.schedule.0.0` has no unit"),
    ];
    for (rate, message) in cases {
        let wrong = wired(rate);
        assert!(wrong.contains(message) && wrong.contains("help: "), "{rate}: {wrong}");
    }
}

#[test]
fn a_call_that_is_none_names_the_calls_that_are() {
    for (key, value) in [("flow.0.start", "rand(0,2)"), ("flow.0.overhead", "rand(0s, 1ms)")] {
        let e = set(key, value);
        assert!(e.contains("cannot be \"rand\"") && e.contains("uniform(0s, "), "{e}");
    }
}

#[test]
fn a_window_is_no_time() {
    assert_eq!(
        set("flow.0.window", "42ms"),
        "--set:1:15: `flow.0.window` is a time, 42ms, but a window is in packets or bytes\n  help: write how much may \
            be under way, like \"42p\" or \"64kB\"; a time belongs to `delay`\n"
    );
}
