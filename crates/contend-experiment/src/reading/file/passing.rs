//! Checks that every queue with a limit in bytes has room for one packet of each flow that passes it. A queue that
//! drops all packets of a flow would make its results zero.

use super::choice::choice;
use super::error::FileError;
use super::reader::{ReadContext, Val};
use super::tree::NodeKind;
use crate::reading::roster::QDISCS;
use contend_core::packet::{Body, Flags, Packet, Segment};
use contend_core::qdisc::{self, Link, Sink};
use contend_core::registry::{Amount, Choice, Value};
use contend_core::{FlowId, Span, Time};
use contend_sim::net::{QueueAt, queues_passed};
use contend_sim::rng;
use contend_sim::scenario::{FlowSpec, Scenario, Transport};
use contend_sim::tcp::{SegmentFormat, udp};

type Queue = Choice<qdisc::Build>;

/// Refuses the first queue of `scenario` that drops each packet of a flow even when empty; `root` is the file.
pub(crate) fn check(root: &Val, scenario: &Scenario) -> Result<(), FileError> {
    // A limit in packets is at least one packet, so it needs no check.
    let cell = scenario.cell.iter().flat_map(|c| c.members()).map(|s| &s.queue);
    let wires = scenario.links.iter().flat_map(|l| [&l.forward.queue, &l.reverse.queue]);
    if !cell.chain(wires).any(counts_bytes) {
        return Ok(());
    }
    // Ends that are drawn differ from seed to seed; those of one seed have to do.
    let scenario = &scenario.with_seed(1);
    // Other errors of the scenario are reported when the network is built.
    let Ok(passed) = queues_passed(scenario) else { return Ok(()) };
    let mut seen: Vec<(&Queue, Packet)> = vec![];
    for (flow, [there, back]) in scenario.flows.iter().zip(&passed) {
        let Some((data, answer)) = packets(flow) else { continue };
        let answers = back.iter().filter_map(|at| Some((at, answer?)));
        for (at, packet) in there.iter().map(|at| (at, data)).chain(answers) {
            let Some(queue) = queue_at(scenario, *at).filter(|q| counts_bytes(q)) else { continue };
            if seen.iter().any(|(q, p)| same(q, queue) && *p == packet) {
                continue;
            }
            if !takes(queue, packet) {
                return Err(refusal(root, *at, queue, packet, flow));
            }
            seen.push((queue, packet));
        }
    }
    Ok(())
}

fn counts_bytes(queue: &Queue) -> bool {
    queue.entry.params.iter().any(|p| matches!(queue.args.get(p.name), Some(Value::Amount(Amount::Bytes(_)))))
}

fn same(a: &Queue, b: &Queue) -> bool {
    a.entry.name == b.entry.name && a.args == b.args
}

fn queue_at(scenario: &Scenario, at: QueueAt) -> Option<&Queue> {
    match at {
        QueueAt::Ap(i) => scenario.cell.as_ref()?.aps.get(i).map(|ap| &ap.station.queue),
        QueueAt::Station(i) => scenario.cell.as_ref()?.stations.get(i).map(|s| &s.queue),
        QueueAt::Link { link, forward } => {
            scenario.links.get(link).map(|l| if forward { &l.forward.queue } else { &l.reverse.queue })
        }
    }
}

/// The first data packet of `flow`, and for TCP an acknowledgment. `None` when the source sends nothing.
fn packets(flow: &FlowSpec) -> Option<(Packet, Option<Packet>)> {
    let headers = match &flow.ends.transport {
        Transport::Udp(udp) => udp::headers(flow.ends.packet, udp.control.as_deref()).ok()?,
        Transport::Tcp(spec) => SegmentFormat::new(flow.ends.packet, spec).ok()?.headers,
    };
    let full = flow.ends.packet.saturating_sub(headers);
    let mut rng = rng::stream(0, &flow.name, "arrivals");
    let mut source = (flow.ends.traffic.entry.build)(&flow.ends.traffic.args).ok()?;
    let first = source.next(&mut contend_core::Cx { now: Time::ZERO, rng: &mut rng }, full)?.bytes;
    let written = if first == 0 { u64::from(full) } else { first.min(flow.ends.size.unwrap_or(u64::MAX)) };
    let payload = written.min(u64::from(full)) as u32;
    let packet = |size: u32, body: Body| Packet::new(FlowId(0), size, Time::ZERO, body);
    Some(match flow.ends.transport {
        // The datagram's length is the length of the write.
        Transport::Udp(_) => (packet(headers + written.min(u64::from(u16::MAX)) as u32, Body::Udp { seq: 0 }), None),
        Transport::Tcp(_) => {
            let segment = |len: u32| Body::Tcp(Segment { len, flags: Flags::ACK, ..Segment::default() });
            (packet(headers + payload, segment(payload)), Some(packet(headers, segment(0)).reversed()))
        }
    })
}

/// A transmitter with one neighbour.
struct Alone;

impl Link for Alone {
    fn neighbour(&self, _: &Packet) -> u32 {
        1
    }
    fn exchange(&self, _: u32, _: u32) -> Span {
        Span::from_millis(1)
    }
    fn contention(&self, _: u32) -> Span {
        Span::ZERO
    }
    fn slot(&self) -> Span {
        Span::from_micros(20)
    }
}

/// True if the empty queue accepts `packet`.
fn takes(queue: &Queue, packet: Packet) -> bool {
    // Invalid parameters were already reported when the discipline was read.
    let Ok(mut q) = qdisc::queue(queue, &qdisc::Site::ANYBODY) else { return true };
    let mut rng = rng::stream(0, "queue", "passing");
    let mut cx = contend_core::Cx { now: Time::ZERO, rng: &mut rng };
    q.enqueue(&mut cx, &Alone, packet, &mut Sink::default());
    q.backlog().packets > 0
}

fn refusal(root: &Val, at: QueueAt, queue: &Queue, packet: Packet, flow: &FlowSpec) -> FileError {
    let what = if packet.is_reverse() { "acknowledgment" } else { "packet" };
    let message =
        format!("drops every {what} of `{}`: each has {} B, more than the queue's limit", flow.name, packet.size);
    let help = remedy(queue, packet).map_or_else(
        || "write larger limits".to_owned(),
        |(name, least)| format!("write {name} = \"{least}B\" or more"),
    );
    match place(root, at, queue) {
        Some(val) => val.error(message, help),
        None => root.error(format!("has a queue that {message}"), help),
    }
}

/// The byte limit that alone refuses `packet`, and the smallest value that accepts it.
fn remedy(queue: &Queue, packet: Packet) -> Option<(&'static str, u64)> {
    let lets_in = |name: &'static str, bytes: u64| {
        let mut larger = queue.clone();
        larger.args.set(name, Value::Amount(Amount::Bytes(bytes)));
        takes(&larger, packet)
    };
    queue.entry.params.iter().find_map(|p| {
        let Some(Value::Amount(Amount::Bytes(now))) = queue.args.get(p.name) else { return None };
        let (mut low, mut high) = (*now, (*now).max(u64::from(packet.size)));
        while !lets_in(p.name, high) {
            (low, high) = (high, high.checked_mul(2).filter(|h| *h < 1 << 40)?);
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if lets_in(p.name, middle) { high = middle } else { low = middle }
        }
        Some((p.name, high))
    })
}

/// The place of `queue` in the file.
fn place<'a>(root: &Val<'a>, at: QueueAt, queue: &Queue) -> Option<Val<'a>> {
    let tables: &[&str] = match at {
        QueueAt::Ap(_) => &["ap"],
        QueueAt::Station(_) => &["station", "wifi"],
        QueueAt::Link { .. } => &["link", "wire"],
    };
    let cx = ReadContext { member: Some((1, 1)), ..root.cx };
    let items = |val: Val<'a>| match &val.node.kind {
        NodeKind::List(list) => {
            list.iter().enumerate().map(|(i, node)| Val { cx, path: format!("{}.{i}", val.path), node }).collect()
        }
        _ => vec![val],
    };
    let below =
        |val: &Val<'a>, key: &str| Some(Val { cx, path: format!("{}.{key}", val.path), node: val.node.get(key)? });
    let all = tables.iter().filter_map(|t| Some(Val { cx, path: (*t).to_owned(), node: root.node.get(t)? }));
    let both = all.flat_map(items).flat_map(|val| {
        let reverse = below(&val, "reverse");
        [Some(val), reverse].into_iter().flatten()
    });
    let queues = both.filter_map(|val| below(&val, "queue")).flat_map(items);
    queues.into_iter().find(|val| choice(val, QDISCS.all(), "queue discipline").is_ok_and(|q| same(&q, queue)))
}
