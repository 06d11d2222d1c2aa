//! The words of `[[flow]]`.

use super::{CELL, first, flow_names, read, tcp};
use contend_core::registry::Amount;
use contend_core::{Ecn, Span, Time};
use contend_sim::scenario::{EcnEcho, Handshake, Start, TcpSpec, Transport, UdpSpec};
use serde_json::json;

#[test]
fn the_defaults_of_the_rfcs_are_those_of_the_table() {
    let r = first(&read(&format!(
        "stack = \"rfc\"\n{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n"
    )));
    let t = tcp(&r, 0);
    assert_eq!((t.name.as_str(), t.cc.entry.name, t.recovery.entry.name), ("newreno", "reno", "newreno"));
    assert_eq!((t.window, t.ack, t.ack_delay), (Amount::Packets(1000), 1, Span::from_millis(100)));
    assert_eq!((t.handshake, t.limited_transmit), (Handshake::Tcp, true));
    assert_eq!((t.initial_window, t.initial_ssthresh), (10, None));
    assert_eq!((t.sack, t.timestamps, t.window_scaling, t.ecn), (false, None, true, EcnEcho::Off));
    assert_eq!(
        (t.rto.min, t.rto.initial, t.rto.max, t.rto.granularity, t.rto.backoff_after),
        (Span::from_secs(1), Span::from_secs(1), Span::from_secs(60), Span::from_millis(1), 1)
    );
    assert_eq!(flow_names(&r), ["down"], "a flow without count bears the name of its group");
    assert_eq!((r.scenario.flows[0].ends.packet, r.scenario.flows[0].ends.traffic.entry.name), (1500, "bulk"));
}

#[test]
fn a_flow_has_the_defaults_of_linux_and_keeps_what_it_says() {
    let flow = |tcp: &str| {
        let text = format!("{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = {tcp}\n");
        first(&read(&text))
    };
    let r = flow("\"cubic\"");
    let t = tcp(&r, 0);
    assert_eq!((t.ack, t.ack_delay, t.quick_acks), (2, Span::from_millis(40), 16));
    assert_eq!((t.recovery.entry.name, t.sack, t.timestamps), ("rack", true, Some(Span::from_millis(1))));
    assert_eq!(
        (t.rto.min, t.rto.initial, t.rto.max),
        (Span::from_millis(200), Span::from_secs(1), Span::from_secs(120))
    );
    assert_eq!((t.cc.args.word("form"), t.cc.args.word("hystart"), t.cc.args.integer("abc")), ("linux", "linux", 0));
    let r = flow("{ kind = \"cubic\", cc = { abc = 2 }, recovery = \"sack\", rto = { min = \"1s\" } }");
    let t = tcp(&r, 0);
    assert_eq!((t.cc.args.integer("abc"), t.cc.args.word("form"), t.rto.min), (2, "linux", Span::from_secs(1)));
    assert_eq!((t.recovery.entry.name, t.recovery.args.word("halve_from")), ("sack", "cwnd"));
    let r = flow("\"reno\"");
    assert_eq!(tcp(&r, 0).cc.args.word("hystart"), "off", "HyStart is CUBIC's");
    // A variant that is named after its recovery, or needs one of its own, keeps it.
    for (name, recovery) in [("newreno", "newreno"), ("reno", "rack"), ("vegas", "vegas"), ("bbr", "rack")] {
        assert_eq!(tcp(&flow(&format!("\"{name}\"")), 0).recovery.entry.name, recovery, "{name}");
    }
    assert_eq!(tcp(&flow("{ pacing = true }"), 0).name, "cubic", "a table without a kind");
}

#[test]
fn senders_at_stations_have_small_queues_unless_they_say_otherwise() {
    let shift = |stack: &str, ends: &str, tcp: &str| {
        let text = format!("{stack}{CELL}[[flow]]\n{ends}\ntcp = {tcp}\n");
        super::tcp(&first(&read(&text)), 0).tsq.map(|q| q.shift)
    };
    let (up, down) = ("from = \"station\"\nto = \"server\"", "from = \"server\"\nto = \"station\"");
    assert_eq!(shift("", up, "\"cubic\""), Some(7));
    assert_eq!(shift("", up, "{ kind = \"reno\", tsq = { shift = 10 } }"), Some(10));
    assert_eq!(shift("", up, "{ kind = \"cubic\", tsq = \"off\" }"), None);
    assert_eq!(shift("", down, "\"cubic\""), None);
    assert_eq!(shift("stack = \"rfc\"\n", up, "\"cubic\""), None);
}

#[test]
fn tcp_d_has_the_recovery_and_the_initial_window_of_its_thesis_and_one_name() {
    let flow = |tcp: &str| {
        first(&read(&format!("stack = \"rfc\"\n{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = {tcp}\n")))
    };
    // Starzetz 2006 §10.2, §10.3: NS2's Reno, two segments.
    for text in
        ["\"tcp_d\"", "{ cc = { kind = \"tcp_d\", k = 4 } }", "{ kind = \"tcp_d\", cc = { epsilon_1000 = 900 } }"]
    {
        let r = flow(text);
        let t = tcp(&r, 0);
        assert_eq!(
            (t.name.as_str(), t.cc.entry.name, t.recovery.entry.name, t.initial_window),
            ("tcp_d", "tcp_d", "reno", 2),
            "{text}"
        );
    }
    assert_eq!(tcp(&flow("{ kind = \"tcp_d\", initial_window = 4 }"), 0).initial_window, 4);
}

#[test]
fn parameters_without_a_kind_are_those_of_the_variant() {
    let tcp_of = |text: &str| {
        tcp(&first(&read(&format!("{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = {text}\n"))), 0).clone()
    };
    let t = tcp_of("{ kind = \"tahoe\", recovery = { guard = \"always\" }, cc = { count = \"acks\" } }");
    assert_eq!(
        (t.name.as_str(), t.recovery.entry.name, t.recovery.args.word("guard"), t.cc.args.word("count")),
        ("tahoe", "tahoe", "always", "acks")
    );
}

#[test]
fn an_encrypted_flow_may_name_the_bytes_that_encryption_adds() {
    let of = |encrypted: &str| {
        let r = first(&read(&format!(
            "{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n{encrypted}\n"
        )));
        tcp(&r, 0).encrypted
    };
    assert_eq!(
        [of(""), of("encrypted = false"), of("encrypted = true"), of("encrypted = \"60B\"")],
        [None, None, Some(0), Some(60)]
    );
}

#[test]
fn tcp_variants_are_pairs() {
    let of = |tcp_value: &str| {
        let r = first(&read(&format!(
            "stack = \"rfc\"\n{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = {tcp_value}\n"
        )));
        let t = tcp(&r, 0);
        (t.name.clone(), t.cc.entry.name, t.recovery.entry.name, t.sack, t.timestamps.is_some())
    };
    assert_eq!(of("\"tahoe\""), ("tahoe".into(), "reno", "tahoe", false, false));
    assert_eq!(of("\"sack\""), ("sack".into(), "reno", "sack", true, false));
    assert_eq!(of("\"cubic\""), ("cubic".into(), "cubic", "sack", true, true));
    assert_eq!(
        of("{ cc = \"cubic\" }"),
        ("cubic".into(), "cubic", "sack", true, true),
        "a controller alone starts from the variant of its name"
    );
    assert_eq!(
        of("{ kind = \"newreno\", cc = \"cubic\" }"),
        ("cubic+newreno".into(), "cubic", "newreno", false, false)
    );
    assert_eq!(of("{ recovery = \"reno\", timestamps = \"10ms\" }"), ("reno".into(), "reno", "reno", false, true));
    assert_eq!(of("{ kind = \"cubic\", timestamps = false }"), ("cubic".into(), "cubic", "sack", true, false));
}

#[test]
fn an_overlay_reaches_into_a_tcp_named_by_a_word() {
    let e = read(&format!(
        "{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n[[claim]]\nid = \"C\"\nmetric = \
            \"goodput.down\"\nexpect = {{ at_least = \"1Mbps\" }}\n\
         over = {{ \"flow.0.tcp.cc\" = \"cubic\" }}\nreading = {{ printed = {{ \"flow.0.tcp.echo\" = \"latch\", \
         flow.0.tcp.rto.min = \"200ms\" }} }}\n"
    ));
    let claim = &e.claims[0];
    let over = e.scenario(&e.points[0], claim.requirement.over.as_ref().unwrap()).unwrap();
    assert_eq!(
        (tcp(&over, 0).cc.entry.name, tcp(&over, 0).recovery.entry.name),
        ("cubic", "newreno"),
        "only the controller changes"
    );
    let printed = &claim.readings[0].settings;
    assert_eq!(
        (claim.readings[0].name.as_str(), json!(printed.settings())),
        ("printed", json!({"flow.0.tcp.echo": "latch", "flow.0.tcp.rto.min": "200ms"}))
    );
    let both = e.scenario(&e.points[0], &printed.then(claim.requirement.over.as_ref().unwrap())).unwrap();
    assert_eq!(
        (tcp(&both, 0).ecn, tcp(&both, 0).rto.min, tcp(&both, 0).cc.entry.name),
        (EcnEcho::Latch, Span::from_millis(200), "cubic")
    );
}

#[test]
fn members_differ_by_lists_and_expressions() {
    let r = first(&read(&format!(
        "{CELL}[param]\nn = 4\nstep = \"2ms\"\n[[flow]]\nname = \"f\"\ncount = \"= n\"\nfrom = \"server\"\nto = \
            \"station\"\ntcp = [\"newreno\", {{ cc = \"cubic\", initial_window = \"= 2p*k\" }}]\n\
         delay = \"= 10ms + step*(k-1)\"\nwindow = \"= floor(100/n)*1p\"\nstart = \"stagger(1s, 10s)\"\nsize = \
         [\"31p\", \"10MB\"]\n"
    )));
    let delays: Vec<u64> = r.scenario.links.iter().map(|l| l.forward.delay.as_micros()).collect();
    assert_eq!(delays, [10_000, 12_000, 14_000, 16_000]);
    assert_eq!(tcp(&r, 3).initial_window, 8);
    assert_eq!(
        (tcp(&r, 0).name.as_str(), tcp(&r, 1).name.as_str(), tcp(&r, 0).window),
        ("newreno", "cubic", Amount::Packets(25))
    );
    assert_eq!(r.scenario.flows[2].ends.start, Start::At(Time::from_nanos(21_000_000_000)));
    let sizes: Vec<Option<u64>> = r.scenario.flows.iter().map(|f| f.ends.size).collect();
    assert_eq!(
        sizes,
        [Some(31 * 1448), Some(10_000_000), Some(31 * 1448), Some(10_000_000)],
        "31p is 31 full segments"
    );
}

#[test]
fn overhead_is_a_duration_or_drawn_from_an_interval() {
    let flow = |overhead: &str| {
        let keys = format!("from = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n{overhead}");
        let r = first(&read(&format!("{CELL}[[flow]]\ncount = 2\n{keys}\n")));
        r.scenario
            .flows
            .iter()
            .map(|f| f.ends.overhead.map(|o| (o.low.as_micros(), o.high.as_micros())))
            .collect::<Vec<_>>()
    };
    assert_eq!(flow(""), [None, None]);
    assert_eq!(flow("overhead = \"0s\""), [None, None]);
    assert_eq!(flow("overhead = \"100us\""), [Some((100, 100)); 2]);
    assert_eq!(flow("overhead = \"uniform(0s, 1ms*k)\""), [Some((0, 1000)), Some((0, 2000))]);
    assert_eq!(flow("overhead = [\"uniform(50us, 1ms)\", \"0s\"]"), [Some((50, 1000)), None]);
}

#[test]
fn datagrams_have_no_ecn_field_unless_the_file_gives_one() {
    let ecn = |ect: &str| {
        let r = first(&read(&format!(
            "{CELL}[[flow]]\nfrom = \"station\"\nto = \"server\"\nudp = {{ rate = \"2Mbps\"{ect} }}\n"
        )));
        let Transport::Udp(udp) = &r.scenario.flows[0].ends.transport else { panic!("{ect}") };
        udp.ecn
    };
    let all = ["", ", ect = \"ect0\"", ", ect = \"ect1\""].map(ecn);
    assert_eq!(all, [Ecn::NotEct, Ecn::Ect, Ecn::Ect1]);
}

#[test]
fn udp_is_a_constant_bit_rate_unless_traffic_says_otherwise() {
    let r = first(&read(&format!(
        "{CELL}[[flow]]\nfrom = \"station\"\nto = \"server\"\nudp = {{ rate = \"2Mbps\", packet = \"1000B\" }}\n\
         [[flow]]\nname = \"v\"\nfrom = \"station\"\nto = \"server\"\nudp = {{}}\ntraffic = {{ kind = \"cbr\", \
         schedule = [[\"1s\", \"5s\", \"2Mbps\"], [\"5s\", \"= 3*3s\", \"1Mbps\"]] }}\n"
    )));
    let flow = &r.scenario.flows[0];
    assert!(matches!(flow.ends.transport, Transport::Udp(UdpSpec { control: None, .. })));
    assert_eq!(
        (flow.ends.packet, flow.ends.traffic.entry.name, flow.ends.traffic.args.rate("rate")),
        (1000, "cbr", 2_000_000)
    );
    assert_eq!(
        r.scenario.flows[1].ends.traffic.args.schedule("schedule")[1],
        (Time::from_nanos(5_000_000_000), Time::from_nanos(9_000_000_000), 1_000_000)
    );
}

#[test]
fn versions_of_jersey_and_westwood_are_variants() {
    let word = |t: &TcpSpec, name: &str| t.cc.args.word(name).to_owned();
    let variant = |tcp_text: &str| {
        let e =
            read(&format!("stack = \"rfc\"\n{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = {tcp_text}\n"));
        tcp(&first(&e), 0).clone()
    };
    let t = variant("\"jersey\"");
    assert_eq!(
        (t.cc.entry.name, t.recovery.entry.name, t.ecn, t.timestamps),
        ("jersey", "newreno", EcnEcho::Latch, Some(Span::from_micros(1)))
    );
    assert_eq!((word(&t, "estimator").as_str(), word(&t, "timeout").as_str()), ("ts_are", "differentiated"));
    let t = variant("\"jersey-orig\"");
    assert_eq!(
        (t.name.as_str(), t.recovery.entry.name, t.ecn, t.timestamps),
        ("jersey-orig", "reno", EcnEcho::Latch, None)
    );
    assert_eq!((word(&t, "estimator").as_str(), word(&t, "timeout").as_str()), ("are", "standard"));
    // A table with parameters of the controller changes these parameters only; the others keep the variant's values.
    let t = variant("{ kind = \"jersey-orig\", cc = { kind = \"jersey\", filter = 2 }, echo = \"per_packet\" }");
    assert_eq!(
        (t.name.as_str(), word(&t, "estimator").as_str(), t.cc.args.integer("filter"), t.ecn),
        ("jersey-orig", "are", 2, EcnEcho::PerPacket)
    );
    assert_eq!(
        variant("{ kind = \"jersey-orig\", cc = { kind = \"jersey\", timeout = \"differentiated\" } }").name,
        "jersey+reno"
    );
    let named = |text: &str| (variant(text).name, word(&variant(text), "filter"));
    assert_eq!(named("\"westwood-nr\""), ("westwood-nr".into(), "nr".into()));
    assert_eq!(named("\"westwood+\""), ("westwood+".into(), "plus".into()));
    assert_eq!(
        named("{ cc = { kind = \"westwood\", filter = \"nr\" }, recovery = \"newreno\" }"),
        ("westwood-nr".into(), "nr".into())
    );
    let t = variant("{ kind = \"aiad-phi\", timestamps = true }");
    assert_eq!((t.name.as_str(), t.timestamps), ("aiad-phi", Some(Span::from_micros(1))));
}

#[test]
fn a_flow_names_what_watches_it() {
    let text = "estimate = [\"are\", \"ts-are\", { kind = \"are\", filter = 2, name = \"are2\" }]";
    let e = read(&format!(
        "{CELL}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = {{ kind = \"reno\", timestamps = \"1us\" }}\n\
            {text}\n"
    ));
    let t = tcp(&first(&e), 0).clone();
    let watched: Vec<(&str, &str, i64)> =
        t.estimates.iter().map(|(name, c)| (name.as_str(), c.entry.name, c.args.integer("filter"))).collect();
    assert_eq!(watched, [("are", "are", 1), ("ts_are", "ts_are", 1), ("are2", "are", 2)]);
}
