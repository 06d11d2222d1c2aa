//! What a trace or a capture says of each sender: how often it sends, how long it is silent, which errors it had
//! (Arai et al. 2008 §III.B: a sender in the low state sends rarely, loses little, and its window falls seldom).

use super::trace::{Event, OURS, Reader, Sample};
use contend_core::Refusal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufRead;

/// What a trace or a capture says of one sender. What it does not say is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sender {
    /// Own address, `>`, the peer's.
    pub flow: String,
    /// The congestion control it had last.
    pub congestion: Option<String>,
    /// Seconds of its first and last line or packet.
    pub span_s: (f64, f64),
    /// Congestion window in segments: smallest, mean over time, largest.
    pub cwnd: Option<(u32, f64, u32)>,
    /// Largest smoothed round-trip time, in microseconds.
    pub rtt_max_us: Option<u32>,
    /// How often each event happened. One that is missing is unknown.
    pub events: BTreeMap<Event, u64>,
    /// Segments with data that were sent, with retransmissions.
    pub sent: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Bytes acknowledged.
    pub acked: Option<u64>,
    /// The longest time without data, in seconds.
    pub silence_s: f64,
    /// Times between acknowledgments of new data. Two that came between the same two samples are one.
    pub ack_gaps: Gaps,
    /// What only a capture says; `None` for a trace.
    pub captured: Option<Captured>,
}

/// What a capture says of a sender, and a trace does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Captured {
    /// Bytes in flight: mean over time, largest.
    pub in_flight: Option<(f64, u64)>,
    /// Bytes of a full segment. Larger ones are super-segments, which the network card splits.
    pub mss: Option<u32>,
    /// True if `mss` comes from the handshake; otherwise it is the largest segment in an IP packet of at most 1500
    /// bytes.
    pub handshake: bool,
    /// Bytes that were sent, but are not in the capture.
    pub unseen: u64,
}

/// Lengths of time, each counted to four digits: memory is bounded, however many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// How many there are of each length in nanoseconds.
    counts: BTreeMap<u64, u64>,
    number: u64,
    largest: u64,
}

impl Gaps {
    /// Counts one of `ns` nanoseconds.
    pub fn add(&mut self, ns: u64) {
        let unit = 10_u64.pow(ns.max(1).ilog10().saturating_sub(3)).max(1000);
        let length = ns.saturating_add(unit / 2) / unit * unit;
        *self.counts.entry(length).or_default() += 1;
        self.number += 1;
        self.largest = self.largest.max(ns);
    }

    /// The length that a part `q` of them does not exceed, in seconds.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let last = self.number.checked_sub(1)?;
        if q >= 1.0 {
            return Some(self.largest as f64 / 1e9);
        }
        let mut before = (q * last as f64).round() as u64;
        self.counts.iter().find_map(|(ns, n)| {
            let found = (before < *n).then_some(*ns as f64 / 1e9);
            before = before.saturating_sub(*n);
            found
        })
    }
}

/// A sender while its lines are read.
struct Building {
    sender: Sender,
    first: Sample,
    last: Sample,
    /// Sum of window x time.
    window_seconds: f64,
    sent_at: f64,
    acked_at: f64,
}

impl Building {
    fn new(s: Sample) -> Building {
        let sender = Sender {
            flow: s.flow.clone(),
            congestion: None,
            span_s: (s.t_s, s.t_s),
            cwnd: Some((s.info.cwnd, 0.0, s.info.cwnd)),
            rtt_max_us: Some(s.info.rtt_us),
            events: Event::ALL.map(|e| (e.0, 0)).into(),
            sent: 0,
            retransmitted: 0,
            acked: None,
            silence_s: 0.0,
            ack_gaps: Gaps::default(),
            captured: None,
        };
        Building { sender, window_seconds: 0.0, sent_at: s.t_s, acked_at: s.t_s, first: s.clone(), last: s }
    }

    fn add(&mut self, s: Sample) {
        let x = &mut self.sender;
        self.window_seconds += f64::from(self.last.info.cwnd) * (s.t_s - self.last.t_s).max(0.0);
        x.span_s.1 = x.span_s.1.max(s.t_s);
        x.cwnd = x.cwnd.map(|(least, _, most)| (least.min(s.info.cwnd), 0.0, most.max(s.info.cwnd)));
        x.rtt_max_us = x.rtt_max_us.max(Some(s.info.rtt_us));
        if let Some(event) = s.event {
            *x.events.entry(event).or_default() += 1;
        }
        if s.info.data_segments_out != self.last.info.data_segments_out {
            x.silence_s = x.silence_s.max(s.t_s - self.sent_at);
            self.sent_at = s.t_s;
        }
        if s.info.bytes_acked != self.last.info.bytes_acked {
            x.ack_gaps.add(((s.t_s - self.acked_at).max(0.0) * 1e9).round() as u64);
            self.acked_at = s.t_s;
        }
        self.last = s;
    }

    fn end(self) -> Sender {
        let mut x = self.sender;
        let span = x.span_s.1 - x.span_s.0;
        let (first, last) = (&self.first.info, &self.last.info);
        let mean = if span > 0.0 { self.window_seconds / span } else { f64::from(last.cwnd) };
        x.cwnd = x.cwnd.map(|(least, _, most)| (least, mean, most));
        x.silence_s = x.silence_s.max(x.span_s.1 - self.sent_at);
        x.sent = u64::from(last.data_segments_out.wrapping_sub(first.data_segments_out));
        x.retransmitted = u64::from(last.retransmitted.wrapping_sub(first.retransmitted));
        x.acked = Some(last.bytes_acked.wrapping_sub(first.bytes_acked));
        x.congestion = Some(self.last.congestion);
        x
    }
}

/// Reads a trace. Senders come in the order of their first lines.
///
/// # Errors
/// When the text is no trace: the line and what is wrong with it.
pub fn read(mut input: impl BufRead) -> crate::Result<Vec<Sender>> {
    let mut line = String::new();
    let mut next = |line: &mut String| {
        line.clear();
        input.read_line(line).map_err(|e| Refusal::new(e.to_string(), OURS))
    };
    next(&mut line)?;
    let mut reader = Reader::new(&line)?;
    let mut order: Vec<Building> = Vec::new();
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    while next(&mut line)? > 0 {
        // The last line of a monitor that was killed is cut off.
        if !line.ends_with('\n') {
            break;
        }
        let sample = reader.read(&line)?;
        match index.get(&sample.flow) {
            // An address pair that is used again is another connection.
            Some(&i) if sample.event != Some(Event::Open) => order[i].add(sample),
            _ => {
                index.insert(sample.flow.clone(), order.len());
                order.push(Building::new(sample));
            }
        }
    }
    Ok(order.into_iter().map(Building::end).collect())
}

/// A time in seconds, to a microsecond.
fn to_us(s: f64) -> f64 {
    (s * 1e6).round() / 1e6
}

fn to_thousandth(x: f64) -> f64 {
    (x * 1e3).round() / 1e3
}

/// What is known, or nothing: the comma-separated form.
fn known(x: Option<impl ToString>) -> String {
    x.map_or(String::new(), |x| x.to_string())
}

/// What is known, or a dash: the table.
fn shown(x: Option<impl ToString>) -> String {
    x.map_or("-".to_owned(), |x| x.to_string())
}

impl Sender {
    /// The events that are errors, with their words.
    fn errors(&self) -> impl Iterator<Item = (&'static str, Option<u64>)> + '_ {
        Event::ALL.iter().skip(2).map(|(e, word)| (*word, self.count(*e)))
    }

    /// Seconds between the first and the last line or packet.
    pub fn seconds(&self) -> f64 {
        self.span_s.1 - self.span_s.0
    }

    /// `n` each second; unknown if there is only one instant.
    fn per_second(&self, n: u64) -> Option<f64> {
        (self.seconds() > 0.0).then(|| n as f64 / self.seconds())
    }

    /// Bits acknowledged per second.
    pub fn goodput_bps(&self) -> Option<u64> {
        self.acked.and_then(|n| self.per_second(n)).map(|x| (8.0 * x).round() as u64)
    }

    /// The part of the segments that were retransmissions.
    pub fn retransmitted_share(&self) -> Option<f64> {
        (self.sent > 0).then(|| self.retransmitted as f64 / self.sent as f64)
    }

    /// The gap that a part `q` of the gaps between acknowledgments does not exceed, in seconds.
    pub fn ack_gap_s(&self, q: f64) -> Option<f64> {
        self.ack_gaps.quantile_s(q).map(to_us)
    }

    /// How often an event happened, if that is known.
    pub fn count(&self, event: Event) -> Option<u64> {
        self.events.get(&event).copied()
    }

    /// The object of `--format json`.
    pub fn to_json(&self) -> Value {
        let events = self.errors().map(|(word, n)| (word.to_owned(), json!(n)));
        let cwnd = self.cwnd.map(|(least, mean, most)| json!({"min": least, "mean": to_thousandth(mean), "max": most}));
        let c = self.captured;
        json!({
            "flow": self.flow,
            "source": if c.is_some() { "capture" } else { "trace" },
            "cc": self.congestion,
            "from_s": to_us(self.span_s.0),
            "seconds": to_us(self.seconds()),
            "goodput_bps": self.goodput_bps(),
            "cwnd": cwnd,
            "in_flight_bytes": c.and_then(|c| c.in_flight).map(|(mean, most)| json!({"mean": mean.round() as u64,
                "max": most})),
            "rtt_max_us": self.rtt_max_us,
            "segments_per_s": self.per_second(self.sent).map(to_thousandth),
            "segments": self.sent,
            "mss_bytes": c.and_then(|c| c.mss),
            "mss_from": c.filter(|c| c.mss.is_some()).map(|c| if c.handshake { "handshake" } else { "largest" }),
            "retransmitted": self.retransmitted,
            "retransmitted_share": self.retransmitted_share().map(to_us),
            "unseen_bytes": c.map(|c| c.unseen),
            "events": Value::Object(events.collect()),
            "longest_silence_s": to_us(self.silence_s),
            "ack_gap_s": {"p50": self.ack_gap_s(0.5), "p95": self.ack_gap_s(0.95), "p99": self.ack_gap_s(0.99),
                "max": self.ack_gap_s(1.0)},
        })
    }

    /// The first line of the comma-separated form.
    pub fn csv_heading() -> String {
        let events: Vec<&str> = Event::ALL.iter().skip(2).map(|e| e.1).collect();
        format!(
            "flow,cc,from_s,seconds,goodput_bps,cwnd_mean,segments,retransmitted,{},longest_silence_s,ack_gap_p50_s,\
                in_flight_mean_bytes,in_flight_max_bytes,mss_bytes,unseen_bytes\n",
            events.join(",")
        )
    }

    /// Its line.
    pub fn csv(&self) -> String {
        let events: Vec<String> = self.errors().map(|(_, n)| known(n)).collect();
        let c = self.captured;
        let in_flight = c.and_then(|c| c.in_flight);
        format!(
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
            self.flow,
            known(self.congestion.as_ref()),
            to_us(self.span_s.0),
            to_us(self.seconds()),
            known(self.goodput_bps()),
            known(self.cwnd.map(|c| to_thousandth(c.1))),
            self.sent,
            self.retransmitted,
            events.join(","),
            to_us(self.silence_s),
            known(self.ack_gap_s(0.5)),
            known(in_flight.map(|f| f.0.round() as u64)),
            known(in_flight.map(|f| f.1)),
            known(c.and_then(|c| c.mss)),
            known(c.map(|c| c.unseen)),
        )
    }

    /// Its part of the table.
    pub fn table(&self) -> String {
        let mut out = format!("{} ({})\n", self.flow, shown(self.congestion.as_ref()));
        if self.sent == 0 {
            return out + &format!("  sent no data in {:.3} s\n", self.seconds());
        }
        let mut line = |name: &str, text: String| {
            let _ = writeln!(out, "  {name:<14} {text}");
        };
        line("time", format!("{:.3} s from {:.3} s on", self.seconds(), self.span_s.0));
        let goodput = self.goodput_bps().map(|b| format!("{:.3}", b as f64 / 1e6));
        line("goodput", format!("{} Mb/s", shown(goodput)));
        let window = |(least, mean, most)| format!("{mean:.1} segments on average, {least} to {most}");
        line("window", shown(self.cwnd.map(window)));
        if let Some(c) = self.captured {
            let kb = |n: f64| format!("{:.1} kB", n / 1e3);
            let in_flight = c.in_flight.map(|(mean, m)| format!("{} on average, {} at most", kb(mean), kb(m as f64)));
            line("in flight", shown(in_flight));
        }
        let size = self.captured.and_then(|c| Some((c.mss?, c.handshake))).map_or(String::new(), |(mss, handshake)| {
            format!(", of {mss} B ({})", if handshake { "handshake" } else { "the largest" })
        });
        line(
            "segments",
            format!(
                "{} per s, {} % retransmitted{size}",
                shown(self.per_second(self.sent).map(|x| format!("{x:.1}"))),
                shown(self.retransmitted_share().map(|x| format!("{:.3}", 100.0 * x))),
            ),
        );
        if let Some(c) = self.captured.filter(|c| c.unseen > 0) {
            line("not captured", format!("{} bytes that were sent", c.unseen));
        }
        let errors: Vec<String> = self.errors().map(|(word, n)| format!("{} {word}", shown(n))).collect();
        line("errors", errors.join(", "));
        let ms = |q| shown(self.ack_gap_s(q).map(|s| format!("{:.1}", 1e3 * s)));
        line("ACK gaps", format!("{} ms median, {} ms 99 %, {} ms largest", ms(0.5), ms(0.99), ms(1.0)));
        line("silence", format!("{:.3} s without data at most", self.silence_s));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::heading;
    use super::*;
    use crate::tcp_info::TcpInfo;

    fn sample(t_s: f64, event: Option<Event>, cwnd: u32, sent: u32, acked: u64, retransmitted: u32) -> Sample {
        let info = TcpInfo { cwnd, data_segments_out: sent, bytes_acked: acked, retransmitted, ..TcpInfo::default() };
        Sample { t_s, flow: "a>b".into(), congestion: "reno".into(), event, info }
    }

    #[test]
    fn figures_of_a_short_trace() {
        let samples = [
            sample(1.0, Some(Event::Open), 10, 0, 0, 0),
            sample(2.0, None, 20, 10, 1000, 0),
            sample(3.0, Some(Event::DupackSack), 10, 20, 3000, 2),
            // Only the window changes: four seconds of silence, and a second to the end.
            sample(6.0, None, 30, 20, 3000, 2),
            sample(7.0, Some(Event::Timeout), 1, 21, 3000, 3),
            sample(8.0, None, 1, 21, 5000, 3),
            sample(9.0, Some(Event::Close), 1, 21, 5000, 3),
            sample(11.0, Some(Event::Open), 5, 0, 0, 0),
        ];
        let text = heading() + &samples.map(|s| s.line()).concat() + "12.0,a>b,cut";
        let all = read(text.as_bytes()).unwrap();
        assert_eq!(all.len(), 2, "the second connection of the same addresses");
        let s = &all[0];
        assert_eq!((s.span_s, s.sent, s.retransmitted, s.acked), ((1.0, 9.0), 21, 3, Some(5000)));
        // (10 + 20 + 3 x 10 + 30 + 1 + 1) segment seconds in 8 s.
        assert_eq!(s.cwnd, Some((1, 92.0 / 8.0, 30)));
        assert_eq!((s.silence_s, s.count(Event::DupackSack), s.count(Event::Timeout)), (4.0, Some(1), Some(1)));
        assert_eq!([0.0, 0.5, 1.0].map(|q| s.ack_gap_s(q)), [Some(1.0), Some(1.0), Some(5.0)]);
        assert_eq!((all[1].ack_gap_s(0.5), all[1].goodput_bps(), all[1].retransmitted_share()), (None, None, None));
        assert!(s.table().contains("0 local_congestion") && s.to_json()["goodput_bps"] == 5000.0);
    }

    #[test]
    fn numbers_have_the_digits_that_were_measured() {
        let samples = [(0.1, 10, 0), (0.3, 20, 1000), (0.4, 20, 1000)];
        let lines = samples.map(|(t, cwnd, acked)| sample(t, None, cwnd, 7, acked, 1).line());
        let s = &read((heading() + &lines.concat()).as_bytes()).unwrap()[0];
        assert_eq!(
            (s.to_json()["seconds"].to_string(), s.to_json()["goodput_bps"].to_string()),
            ("0.3".into(), "26667".into())
        );
        assert_eq!(s.csv(), "a>b,reno,0.1,0.3,26667,13.333,0,0,0,0,0,0,0.3,0.2,,,,\n");
        assert_eq!(s.csv().split(',').count(), Sender::csv_heading().split(',').count());
    }

    #[test]
    fn gaps_are_counted_to_four_digits() {
        let mut gaps = Gaps::default();
        assert_eq!(gaps.quantile_s(0.5), None);
        for ns in [12_345_678, 400, 1_234_567, u64::MAX] {
            gaps.add(ns);
        }
        assert_eq!(gaps.quantile_s(0.0), Some(0.0));
        assert_eq!(gaps.quantile_s(0.34), Some(0.001_235));
        assert_eq!(gaps.quantile_s(0.67), Some(0.012_35));
        assert!(gaps.quantile_s(1.0) > Some(1e10));
    }

    #[test]
    fn other_files_are_errors() {
        assert!(read("<html>".as_bytes()).is_err() && read("".as_bytes()).is_err());
        assert!(read((heading() + "1,2,3\n").as_bytes()).unwrap_err().what.starts_with("line 2"));
    }
}
