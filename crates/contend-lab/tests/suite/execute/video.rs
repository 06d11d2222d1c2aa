//! Video over a wire.

use super::lab::{execute, wire};
use contend_lab::experiment::results::Flow;

fn video(ends: &str, more: &str) -> Flow {
    let flow = format!("{ends}\ntraffic = {{ kind = \"video\", rate = \"4Mbps\", shape = 10{more} }}");
    execute(&wire("", &flow, "")).runs.swap_remove(0).flows.swap_remove(0)
}

#[test]
fn udp_and_tcp_carry_the_same_frames() {
    // 600 frames whose sizes have a deviation of 12 %: the mean is within 1.5 % (three standard errors).
    let (udp, tcp) = (video("udp = {}", ""), video("tcp = \"newreno\"", ""));
    assert!((udp.goodput_bps / 4e6 - 1.0).abs() < 0.015, "{}", udp.goodput_bps);
    assert!((tcp.goodput_bps / udp.goodput_bps - 1.0).abs() < 2e-3, "{} {}", tcp.goodput_bps, udp.goodput_bps);
}

#[test]
fn the_packets_of_a_frame_wait_for_each_other_unless_they_are_spread() {
    let mean = |f: Flow| f.delay_s.mean.unwrap();
    let (at_once, spread) = (mean(video("udp = {}", "")), mean(video("udp = {}", ", spread = 0.5")));
    // A full packet takes 0.12 ms at 100 Mb/s, and the wire 1 ms. A frame has 12 packets, which leave 1.4 ms apart.
    assert!((spread - 1.12e-3).abs() < 0.02e-3, "{spread}");
    assert!((at_once - spread - 5.5 * 0.12e-3).abs() < 0.1e-3, "{at_once}");
}
