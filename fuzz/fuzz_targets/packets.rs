//! Packets of hosts: any bytes enter the emulated network or are refused, and what leaves can be read again.
#![no_main]

use contend_core::Span;
use contend_emu::border::Border;
use contend_emu::bytes;
use contend_emu::plan::Plan;
use contend_lab::reading::file::{Overlay, parse};
use contend_sim::net::Net;
use libfuzzer_sys::fuzz_target;

const FILE: &str = include_str!("packets.toml");

// A record is: host (1 byte), microseconds since the last record (2), size of the packet (2), the packet.
fuzz_target!(|records: &[u8]| {
    let Ok(e) = parse("packets.toml", FILE, &[]) else { panic!("the file is wrong") };
    let Ok(resolved) = e.scenario(&e.points[0], &Overlay::default()) else { panic!("the network is wrong") };
    let plan = Plan::new(&resolved.scenario, &resolved.members).expect("Reno is in every kernel");
    let mut net = Net::with_outside(&resolved.scenario, &plan.outside).expect("the network is right");
    let mut border = Border::new(&plan, &net);
    let (mut rest, mut left) = (records, Vec::new());
    while let [host, a, b, c, d, packets @ ..] = rest {
        let size = usize::from(u16::from_le_bytes([*c, *d])).min(packets.len());
        let (packet, after) = packets.split_at(size);
        rest = after;
        let now = net.world.now() + Span::from_micros(u16::from_le_bytes([*a, *b]).into());
        let _ = border.enter(&mut net, now, usize::from(host % 4), packet, packet.len());
        net.take_left(&mut left);
        for (_, p) in &left {
            if let Some((_, packet)) = border.leave(p) {
                assert!(bytes::read(packet, packet.len()).is_ok());
            }
        }
    }
    net.run_until(net.world.now() + Span::from_secs(1));
    border.opened(&mut net);
});
