//! What a network has that says little of itself, and what the results say if that misleads.

use super::lab::execute;

/// One download over 802.11ax with 80 MHz, two streams and MCS 11.
fn download(more: &str) -> String {
    format!(
        "duration = \"6s\"\nwarmup = \"2s\"\n[wifi]\nstandard = \"802.11ax\"\nband = \"5GHz\"\nwidth = \"80MHz\"\n\
            streams = 2\nmcs = 11\n{more}[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"cubic\"\n\
            window = \"3000p\"\n"
    )
}

#[test]
fn from_802_11n_on_stations_aggregate_and_no_wire_limits_them() {
    let usual = execute(&download(""));
    // 1201 Mb/s of the PHY; aggregates of 256 MPDUs leave 60 % and more of it to the payload.
    let goodput = usual.runs[0].metrics["goodput.down"] / 1e6;
    assert!((600.0..1000.0).contains(&goodput), "{goodput} Mb/s");
    assert!(usual.warnings.is_empty(), "{:?}", usual.warnings);
    let stated = execute(&download("ampdu = {}\n[wire]\nrate = \"infinite\"\n"));
    assert_eq!(usual.runs[0].digest, stated.runs[0].digest);
    // One packet of 1500 B for each access to the medium.
    let alone = execute(&download("ampdu = \"off\"\n")).runs[0].metrics["goodput.down"] / 1e6;
    assert!((20.0..60.0).contains(&alone), "{alone} Mb/s");
}

#[test]
fn before_802_11n_nothing_aggregates_and_wires_have_100_mbps() {
    let g = |more: &str| {
        let flow = "[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"newreno\"\n";
        execute(&format!("duration = \"3s\"\n[wifi]\nstandard = \"802.11g\"\n{more}{flow}")).runs[0].digest.clone()
    };
    assert_eq!(g(""), g("ampdu = \"off\"\n[wire]\nrate = \"100Mbps\"\n"));
}

#[test]
fn a_wire_that_is_full_beside_the_air_is_told_with_the_key_to_set() {
    let full = execute(&download("[wire]\nrate = \"100Mbps\"\n"));
    let [warning] = full.warnings.as_slice() else { panic!("{:?}", full.warnings) };
    assert!(warning.starts_with("The wire down.wire was busy ") && warning.contains("set wire.rate"), "{warning}");
    assert!(full.runs[0].transmitters.iter().any(|t| t.name == "down.wire" && t.busy.is_some_and(|b| b > 0.95)));
    assert!(execute(&download("[wire]\nrate = \"10Gbps\"\n")).warnings.is_empty());
}

/// Data packets of the only flow for each acknowledgment.
fn together(text: &str) -> f64 {
    let flow = &execute(text).runs[0].flows[0];
    flow.sent as f64 / (flow.entered - flow.sent) as f64
}

#[test]
fn an_aggregate_is_acknowledged_once_and_with_gro_off_every_second_packet_of_it() {
    // MCS 3 sends 5.484 ms of 68.8 Mb/s at most, which is 31 packets; a window of 100 has no loss.
    let download = |flow: &str| {
        let text = download("").replace("80MHz", "20MHz").replace("mcs = 11", "mcs = 3").replace("3000p", "100p");
        text.replace("warmup = \"2s\"", "warmup = \"0s\"") + flow
    };
    let once = together(&download(""));
    assert!((25.0..31.5).contains(&once), "{once}");
    let each = together(&download("gro = false\n"));
    assert!((1.95..2.05).contains(&each), "{each}");
    // What comes alone is acknowledged as ever.
    let g = |gro: &str| {
        let flow = "[[flow]]\nfrom = \"server\"\nto = \"station\"\ntcp = \"cubic\"\n";
        execute(&format!("duration = \"3s\"\n[wifi]\nstandard = \"802.11g\"\n{flow}{gro}")).runs[0].digest.clone()
    };
    assert_eq!(g(""), g("gro = false\n"));
}
