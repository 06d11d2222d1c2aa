//! What a trace says of each sender: how often it sends, how long it is silent, which errors it had (Arai et al. 2008
//! §III.B: a sender in the low state sends rarely, loses little, and its window falls seldom).

use super::trace::{Event, OURS, Reader, Sample};
use contend_core::Refusal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufRead;

/// What a trace says of one sender.
#[derive(Clone, Debug, PartialEq)]
pub struct Sender {
    /// Own address, `>`, the peer's.
    pub flow: String,
    /// The congestion control it had last.
    pub congestion: String,
    /// Seconds of its first and last line.
    pub span_s: (f64, f64),
    /// Congestion window in segments: smallest, mean over time, largest.
    pub cwnd: (u32, f64, u32),
    /// Largest smoothed round-trip time, in microseconds.
    pub rtt_max_us: u32,
    /// How often each event happened.
    pub events: BTreeMap<Event, u64>,
    /// Segments with data that were sent, with retransmissions.
    pub sent: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Bytes acknowledged.
    pub acked: u64,
    /// The longest time without data, in seconds.
    pub silence_s: f64,
    /// Times between acknowledgments of new data, in seconds, the smallest first. Two that came between the same two
    /// samples are one.
    pub ack_gaps_s: Vec<f64>,
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
            congestion: String::new(),
            span_s: (s.t_s, s.t_s),
            cwnd: (s.info.cwnd, 0.0, s.info.cwnd),
            rtt_max_us: s.info.rtt_us,
            events: BTreeMap::new(),
            sent: 0,
            retransmitted: 0,
            acked: 0,
            silence_s: 0.0,
            ack_gaps_s: Vec::new(),
        };
        Building { sender, window_seconds: 0.0, sent_at: s.t_s, acked_at: s.t_s, first: s.clone(), last: s }
    }

    fn add(&mut self, s: Sample) {
        let x = &mut self.sender;
        self.window_seconds += f64::from(self.last.info.cwnd) * (s.t_s - self.last.t_s).max(0.0);
        x.span_s.1 = x.span_s.1.max(s.t_s);
        x.cwnd = (x.cwnd.0.min(s.info.cwnd), 0.0, x.cwnd.2.max(s.info.cwnd));
        x.rtt_max_us = x.rtt_max_us.max(s.info.rtt_us);
        if let Some(event) = s.event {
            *x.events.entry(event).or_default() += 1;
        }
        if s.info.data_segments_out != self.last.info.data_segments_out {
            x.silence_s = x.silence_s.max(s.t_s - self.sent_at);
            self.sent_at = s.t_s;
        }
        if s.info.bytes_acked != self.last.info.bytes_acked {
            x.ack_gaps_s.push(s.t_s - self.acked_at);
            self.acked_at = s.t_s;
        }
        self.last = s;
    }

    fn end(self) -> Sender {
        let mut x = self.sender;
        let span = x.span_s.1 - x.span_s.0;
        let (first, last) = (&self.first.info, &self.last.info);
        x.cwnd.1 = if span > 0.0 { self.window_seconds / span } else { f64::from(last.cwnd) };
        x.silence_s = x.silence_s.max(x.span_s.1 - self.sent_at);
        x.sent = u64::from(last.data_segments_out.wrapping_sub(first.data_segments_out));
        x.retransmitted = u64::from(last.retransmitted.wrapping_sub(first.retransmitted));
        x.acked = last.bytes_acked.wrapping_sub(first.bytes_acked);
        x.congestion.clone_from(&self.last.congestion);
        x.ack_gaps_s.sort_by(f64::total_cmp);
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

impl Sender {
    /// Seconds between the first and the last line.
    pub fn seconds(&self) -> f64 {
        self.span_s.1 - self.span_s.0
    }

    /// `n` each second; 0 if the trace has only one instant.
    fn per_second(&self, n: u64) -> f64 {
        if self.seconds() > 0.0 { n as f64 / self.seconds() } else { 0.0 }
    }

    /// The part of the segments that were retransmissions.
    pub fn retransmitted_share(&self) -> f64 {
        self.retransmitted as f64 / self.sent.max(1) as f64
    }

    /// The gap that a part `q` of the gaps between acknowledgments does not exceed, in seconds.
    pub fn ack_gap_s(&self, q: f64) -> Option<f64> {
        let last = self.ack_gaps_s.len().checked_sub(1)?;
        self.ack_gaps_s.get((q * last as f64).round() as usize).copied()
    }

    /// How often an event happened.
    pub fn count(&self, event: Event) -> u64 {
        self.events.get(&event).copied().unwrap_or(0)
    }

    /// The object of `--format json`.
    pub fn to_json(&self) -> Value {
        let events = Event::ALL.iter().skip(2).map(|(e, w)| ((*w).to_owned(), json!(self.count(*e))));
        json!({
            "flow": self.flow,
            "cc": self.congestion,
            "from_s": self.span_s.0,
            "seconds": self.seconds(),
            "goodput_bps": 8.0 * self.per_second(self.acked),
            "cwnd": {"min": self.cwnd.0, "mean": self.cwnd.1, "max": self.cwnd.2},
            "rtt_max_us": self.rtt_max_us,
            "segments_per_s": self.per_second(self.sent),
            "segments": self.sent,
            "retransmitted": self.retransmitted,
            "retransmitted_share": self.retransmitted_share(),
            "events": Value::Object(events.collect()),
            "longest_silence_s": self.silence_s,
            "ack_gap_s": {"p50": self.ack_gap_s(0.5), "p95": self.ack_gap_s(0.95), "p99": self.ack_gap_s(0.99),
                "max": self.ack_gap_s(1.0)},
        })
    }

    /// The first line of the comma-separated form.
    pub fn csv_heading() -> String {
        let events: Vec<&str> = Event::ALL.iter().skip(2).map(|e| e.1).collect();
        format!(
            "flow,cc,from_s,seconds,goodput_bps,cwnd_mean,segments,retransmitted,{},longest_silence_s,ack_gap_p50_s\n",
            events.join(",")
        )
    }

    /// Its line.
    pub fn csv(&self) -> String {
        let events: Vec<String> = Event::ALL.iter().skip(2).map(|e| self.count(e.0).to_string()).collect();
        format!(
            "{},{},{},{},{},{},{},{},{},{},{}\n",
            self.flow,
            self.congestion,
            self.span_s.0,
            self.seconds(),
            8.0 * self.per_second(self.acked),
            self.cwnd.1,
            self.sent,
            self.retransmitted,
            events.join(","),
            self.silence_s,
            self.ack_gap_s(0.5).map_or(String::new(), |s| s.to_string())
        )
    }

    /// Its part of the table.
    pub fn table(&self) -> String {
        let mut out = format!("{} ({})\n", self.flow, self.congestion);
        if self.sent == 0 {
            return out + &format!("  sent no data in {:.3} s\n", self.seconds());
        }
        let mut line = |name: &str, text: String| {
            let _ = writeln!(out, "  {name:<14} {text}");
        };
        line("time", format!("{:.3} s from {:.3} s on", self.seconds(), self.span_s.0));
        line("goodput", format!("{:.3} Mb/s", 8.0 * self.per_second(self.acked) / 1e6));
        line("window", format!("{:.1} segments on average, {} to {}", self.cwnd.1, self.cwnd.0, self.cwnd.2));
        line(
            "segments",
            format!(
                "{:.1} per s, {:.3} % retransmitted",
                self.per_second(self.sent),
                100.0 * self.retransmitted_share()
            ),
        );
        let errors: Vec<String> = Event::ALL.iter().skip(2).map(|(e, w)| format!("{} {w}", self.count(*e))).collect();
        line("errors", errors.join(", "));
        let ms = |q| self.ack_gap_s(q).map_or("-".to_owned(), |s| format!("{:.1}", 1e3 * s));
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
        assert_eq!((s.span_s, s.sent, s.retransmitted, s.acked), ((1.0, 9.0), 21, 3, 5000));
        // (10 + 20 + 3 x 10 + 30 + 1 + 1) segment seconds in 8 s.
        assert_eq!(s.cwnd, (1, 92.0 / 8.0, 30));
        assert_eq!((s.silence_s, s.count(Event::DupackSack), s.count(Event::Timeout)), (4.0, 1, 1));
        assert_eq!(s.ack_gaps_s, [1.0, 1.0, 5.0]);
        assert_eq!((s.ack_gap_s(0.5), all[1].ack_gap_s(0.5)), (Some(1.0), None));
        assert!(s.table().contains("0 local_congestion") && s.to_json()["goodput_bps"] == 5000.0);
    }

    #[test]
    fn other_files_are_errors() {
        assert!(read("<html>".as_bytes()).is_err() && read("".as_bytes()).is_err());
        assert!(read((heading() + "1,2,3\n").as_bytes()).unwrap_err().what.starts_with("line 2"));
    }
}
