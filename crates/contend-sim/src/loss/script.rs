//! Scripted losses: the listed transmissions of segments, and everything during the listed intervals.

use super::Loss;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param, Unit, in_order};
use contend_core::{Body, Cx, FlowId, Packet, Time};

/// Source.
pub const CITE: &str =
    "Jersey thesis 2005 Fig. 3.1 (chosen packets and chosen retransmissions), Fig. 3.3 (a link down for 10 ms)";
/// What it does.
pub const SUMMARY: &str = "Loses exactly the listed transmissions, and everything during the outages.";
/// Parameters.
pub const PARAMS: &[Param] = &[
    Param::new(
        "drop",
        Unit::Drops,
        "transmissions that are lost: the flow; the segment, a data packet of the flow counted from 0 (all have the \
            payload of the first one seen); the copy, 0 for the first transmission",
    )
    .default("[]")
    .range(0.0, 1e9),
    Param::new(
        "outage",
        Unit::Intervals,
        "intervals in which everything is lost, in order of time: from (included), to (excluded)",
    )
    .default("[]")
    .range(0.0, 1e9),
];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the loss process.
///
/// # Errors
/// When a rule names an unknown flow, or the outages are not in order of time.
pub fn build(args: &Args, flow: &dyn Fn(&str) -> Option<FlowId>) -> Result<Box<dyn Loss>, Refusal> {
    let mut rules = Vec::new();
    for d in args.drops("drop") {
        let f = flow(&d.flow).ok_or_else(|| {
            Refusal::new(
                format!("drop names flow \"{}\", which is not in the file", d.flow),
                "write the name of a [[flow]]",
            )
        })?;
        rules.push((f, d.segment, d.copy));
    }
    rules.sort_unstable();
    let outages = args.intervals("outage").to_vec();
    in_order(outages.iter().copied(), "outage", "write outages in order of time, like [[\"1s\", \"1.01s\"]]")?;
    Ok(Box::new(Script { rules, segment: Vec::new(), outages, next: 0 }))
}

/// Scripted losses.
#[derive(Debug)]
struct Script {
    /// Flow, segment and copy; sorted.
    rules: Vec<(FlowId, u64, u8)>,
    /// For each flow that a rule names, the payload in bytes of the first data packet seen.
    segment: Vec<(FlowId, u32)>,
    outages: Vec<(Time, Time)>,
    /// The first outage that has not ended.
    next: usize,
}

impl Loss for Script {
    fn probability(&mut self, cx: &mut Cx, _: u32, packet: Option<&Packet>) -> f64 {
        let listed = !self.rules.is_empty() && packet.is_some_and(|p| self.listed(p));
        while self.outages.get(self.next).is_some_and(|&(_, to)| to <= cx.now) {
            self.next += 1;
        }
        let out = self.outages.get(self.next).is_some_and(|&(from, _)| from <= cx.now);
        f64::from(u8::from(listed || out))
    }
}

impl Script {
    fn listed(&mut self, p: &Packet) -> bool {
        // Rules are sorted by flow. A flow without a rule is therefore detected without storing anything.
        let i = self.rules.partition_point(|r| r.0 < p.flow);
        if p.is_reverse() || self.rules.get(i).is_none_or(|r| r.0 != p.flow) {
            return false;
        }
        match &p.body {
            Body::Udp { seq } => self.rules.binary_search(&(p.flow, *seq, 0)).is_ok(),
            Body::Tcp(s) if s.len == 0 => false,
            Body::Tcp(s) => {
                // A SYN takes number 0 and shifts the data by one byte; the division removes this shift.
                let segment = s.seq / u64::from(self.payload(p.flow, s.len));
                self.rules.binary_search(&(p.flow, segment, s.copy)).is_ok()
            }
        }
    }

    fn payload(&mut self, flow: FlowId, len: u32) -> u32 {
        match self.segment.iter().find(|(f, _)| *f == flow) {
            Some(&(_, known)) => known,
            None => {
                self.segment.push((flow, len));
                len
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{args, packet, some};
    use super::*;
    use contend_core::registry::{DropRule, Value};
    use contend_core::{Segment, Span};

    fn dropping(list: &[(u64, u8)]) -> Box<dyn Loss> {
        let rules = list.iter().map(|&(segment, copy)| DropRule { flow: "f".into(), segment, copy }).collect();
        build(&args(PARAMS, &[("drop", Value::Drops(rules))]), &some).unwrap()
    }

    fn data(seq: u64, len: u32, copy: u8) -> Packet {
        packet(len + 40).with_body(Body::Tcp(Segment { seq, len, copy, ..Segment::default() }))
    }

    fn lost(l: &mut dyn Loss, ms: u64, p: Option<&Packet>) -> bool {
        let mut rng = crate::rng::stream(1, "wire", "loss");
        l.probability(&mut Cx { now: Time::ZERO + Span::from_millis(ms), rng: &mut rng }, 1500, p) == 1.0
    }

    #[test]
    fn exactly_the_listed_transmissions_are_lost() {
        for syn in [0, 1] {
            let mut l = dropping(&[(3, 0), (3, 1), (5, 1)]);
            let got: Vec<_> = (0..8)
                .flat_map(|k| (0..3).map(move |c| (k, c)))
                .filter(|&(k, c)| lost(&mut *l, 0, Some(&data(syn + 1460 * k, 1460, c))))
                .collect();
            assert_eq!(got, [(3, 0), (3, 1), (5, 1)]);
        }
    }

    #[test]
    fn acknowledgments_other_flows_and_control_frames_pass() {
        let mut l = dropping(&[(0, 0)]);
        assert!(!lost(&mut *l, 0, Some(&data(0, 1460, 0).reversed())));
        let mut other = data(0, 1460, 0);
        other.flow = FlowId(1);
        assert!(!lost(&mut *l, 0, Some(&other)));
        assert!(!lost(&mut *l, 0, Some(&data(0, 0, 0))));
        assert!(!lost(&mut *l, 0, None));
        assert!(lost(&mut *l, 0, Some(&data(0, 1460, 0))));
    }

    #[test]
    fn datagrams_are_counted_by_their_number() {
        let mut l = dropping(&[(2, 0)]);
        let got: Vec<_> =
            (0..4).filter(|&seq| lost(&mut *l, 0, Some(&packet(1500).with_body(Body::Udp { seq })))).collect();
        assert_eq!(got, [2]);
    }

    #[test]
    fn an_outage_takes_everything_from_its_start_to_just_before_its_end() {
        let ms = |n| Time::ZERO + Span::from_millis(n);
        let mut l = build(
            &args(PARAMS, &[("outage", Value::Intervals(vec![(ms(10), ms(12)), (ms(12), ms(13)), (ms(20), ms(21))]))]),
            &some,
        )
        .unwrap();
        let got: Vec<_> = (0..25).filter(|&t| lost(&mut *l, t, None)).collect();
        assert_eq!(got, [10, 11, 12, 20]);
    }

    #[test]
    fn unknown_flows_and_disordered_outages_are_refused() {
        let rule = DropRule { flow: "g".into(), segment: 0, copy: 0 };
        assert!(
            build(&args(PARAMS, &[("drop", Value::Drops(vec![rule]))]), &some)
                .unwrap_err()
                .to_string()
                .contains("\"g\"")
        );
        let at = Time::from_nanos;
        for bad in [vec![(at(5), at(5))], vec![(at(5), at(9)), (at(8), at(10))]] {
            assert!(build(&args(PARAMS, &[("outage", Value::Intervals(bad))]), &some).is_err());
        }
    }
}
