//! CAKE in whole experiments: as a shaper on a wire and on the air, with shares by host and by category.

use super::lab::execute;

/// Datagrams for stations `a`, with four flows, and `b`, with one. Each flow has more than the queue sends.
fn downloads(queue: &str, more: &str) -> contend_lab::experiment::results::Outcome {
    execute(&format!(
        "duration = \"12s\"\nwarmup = \"4s\"\n[wifi]\nstandard = \"802.11n\"\n{more}\n[ap]\nqueue = {queue}\n\
            [[station]]\nname = \"a\"\n[[station]]\nname = \"b\"\n\
            [[flow]]\nname = \"four\"\ncount = 4\nfrom = \"server\"\nto = \"a\"\nudp = {{ rate = \"8Mbps\" }}\n\
            [[flow]]\nname = \"one\"\nfrom = \"server\"\nto = \"b\"\nudp = {{ rate = \"8Mbps\" }}\n"
    ))
}

fn goodput(o: &contend_lab::experiment::results::Outcome, flow: &str) -> f64 {
    o.runs[0].flows.iter().filter(|f| f.group == flow).map(|f| f.goodput_bps).sum()
}

/// 8 Mb/s at an access point that could do much more, with and without aggregates: the shaper decides the rate and who
/// gets it. Of 1500 B, 1472 B are payload.
#[test]
fn an_access_point_shapes_and_shares_among_stations() {
    for more in ["ampdu = {}", "ampdu = \"off\""] {
        let of = |mode: &str| {
            let queue = format!("{{ kind = \"cake\", bandwidth = \"8Mbps\", flow_mode = \"{mode}\" }}");
            let o = downloads(&queue, more);
            let (four, one) = (goodput(&o, "four"), goodput(&o, "one"));
            let total = four + one;
            assert!((total / (8e6 * 1472.0 / 1500.0) - 1.0).abs() < 0.002, "{more} {mode}: {total}");
            four / one
        };
        let (hosts, flows) = (of("triple"), of("flows"));
        assert!((hosts - 1.0).abs() < 0.01, "{more}: {hosts}");
        assert!((flows - 4.0).abs() < 0.04, "{more}: {flows}");
    }
}

/// A flow of voice and one of best effort on a wire: of the shaper's 4 Mb/s, voice has priority for a quarter, which is
/// more than it sends, and waits for one packet of 3 ms at most.
#[test]
fn voice_has_its_own_tin_on_a_wire() {
    let delay = |diffserv: &str| {
        let o = execute(&format!(
            "duration = \"10s\"\nwarmup = \"2s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n\
                [[link]]\nname = \"w\"\nfrom = \"a\"\nto = \"b\"\nrate = \"100Mbps\"\ndelay = \"5ms\"\n\
                queue = {{ kind = \"cake\", bandwidth = \"4Mbps\", diffserv = \"{diffserv}\", \
                flow_mode = \"flowblind\" }}\n\
                [[flow]]\nname = \"be\"\nfrom = \"a\"\nto = \"b\"\ntcp = \"cubic\"\n\
                [[flow]]\nname = \"vo\"\nfrom = \"a\"\nto = \"b\"\nac = \"vo\"\n\
                udp = {{ rate = \"80kbps\", packet = \"200B\" }}\n"
        ));
        let vo = o.runs[0].flows.iter().find(|f| f.name == "vo").unwrap();
        [vo.delay_s.mean.unwrap(), vo.delay_s.p99.unwrap()]
    };
    let ([mean, most], [shared, _]) = (delay("diffserv4"), delay("besteffort"));
    // Propagation 5 ms, at most one packet of 1500 B at 4 Mb/s before it, and its own 16 us and what the packet before
    // it takes on the wire.
    assert!((0.005..0.0081).contains(&mean) && most < 0.0082, "{mean} {most}");
    // In one queue with it, the voice waits for longer than COBALT's target.
    assert!(shared > 0.01, "{shared}");
}

/// While the limit on pending airtime leaves no room below, nobody asks the discipline, and its deadline passes. The
/// run would not end if the network woke for it.
#[test]
fn a_shaper_above_a_full_air_does_not_wake_the_network() {
    let more = "access = \"edca\"\nampdu = { hw_queue = 2 }";
    let o = execute(&format!(
        "duration = \"1s\"\nwarmup = \"500ms\"\n[wifi]\nstandard = \"802.11ac\"\n{more}\n[ap]\n\
            queue = {{ kind = \"cake\", bandwidth = \"10Mbps\" }}\n\
            aql = {{ low = \"0.1ms\", high = \"100ms\", total = \"4ms\" }}\n\
            [[flow]]\nname = \"be\"\ncount = 3\nfrom = \"server\"\nto = \"station\"\nudp = {{ rate = \"30Mbps\" }}\n\
            [[flow]]\nname = \"vi\"\nfrom = \"server\"\nto = \"station\"\nac = \"vi\"\nudp = {{ rate = \"200Mbps\" }}\n\
            [[flow]]\nname = \"up\"\ncount = 2\nfrom = \"station\"\nto = \"server\"\ntcp = \"cubic\"\n"
    ));
    // Each category has its own queue and so its own shaper. Best effort gets less, because the uploads fill the air.
    let of = |flow: &str| goodput(&o, flow) / (10e6 * 1472.0 / 1500.0);
    assert!((0.9..1.01).contains(&of("vi")) && of("be") < 1.01, "{} {}", of("vi"), of("be"));
    // A network that wakes without end would have many more events.
    assert!(o.runs[0].events < 1_000_000, "{}", o.runs[0].events);
}
