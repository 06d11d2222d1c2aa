//! The file of `contend tool monitor`: a line for each change of a TCP sender, as comma-separated values.

use crate::tcp_info::TcpInfo;
use contend_core::Refusal;
use std::fmt::Write as _;

/// Why the window of a sender falls (Arai et al. 2008 §III.B; marks are ours), or what else happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// The first sample of a socket.
    Open,
    /// The socket is gone.
    Close,
    /// Duplicate ACKs or SACK told of a loss: TCP_CA_Recovery.
    DupackSack,
    /// The sender's own device or queue was full: TCP_CA_CWR.
    LocalCongestion,
    /// A mark told of congestion: TCP_CA_CWR, and more marks were counted.
    Marked,
    /// The retransmission timer expired: TCP_CA_Loss.
    Timeout,
}

impl Event {
    /// Every event with its word in the file.
    pub const ALL: [(Event, &'static str); 6] = [
        (Event::Open, "open"),
        (Event::Close, "close"),
        (Event::DupackSack, "dupack_sack"),
        (Event::LocalCongestion, "local_congestion"),
        (Event::Marked, "marked"),
        (Event::Timeout, "timeout"),
    ];

    /// Its word in the file.
    pub fn word(self) -> &'static str {
        Event::ALL.iter().find(|e| e.0 == self).map_or("", |e| e.1)
    }

    /// What happened between two samples of a sender.
    pub fn between(before: &TcpInfo, now: &TcpInfo) -> Option<Event> {
        let entered = |state: u8| now.ca_state == state && before.ca_state != state;
        let timed_out = match (before.timeouts, now.timeouts) {
            (Some(a), Some(b)) => b != a,
            _ => entered(LOSS),
        };
        // A recovery that began and ended between the samples shows in the count of retransmissions.
        let resent = now.retransmitted != before.retransmitted && ![RECOVERY, LOSS].contains(&before.ca_state);
        if timed_out {
            Some(Event::Timeout)
        } else if entered(RECOVERY) || (resent && now.ca_state != LOSS) {
            Some(Event::DupackSack)
        } else if entered(CWR) {
            Some(if now.delivered_ce == before.delivered_ce { Event::LocalCongestion } else { Event::Marked })
        } else {
            None
        }
    }
}

const CWR: u8 = 2;
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;

/// A line of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Seconds since the monitor began.
    pub t_s: f64,
    /// The connection: own address, `>`, the peer's.
    pub flow: String,
    /// Its congestion control.
    pub congestion: String,
    /// What happened since the line before.
    pub event: Option<Event>,
    /// What the kernel says.
    pub info: TcpInfo,
}

/// The columns after `t_s`, `flow`, `cc`, `event`: name, reading, writing.
type Column = (&'static str, fn(&TcpInfo) -> u64, fn(&mut TcpInfo, u64));

macro_rules! columns {
    ($($name:literal $field:ident: $type:ty),* $(,)?) => {
        [$(($name, |i| u64::from(i.$field), |i, v| i.$field = <$type>::try_from(v).unwrap_or(<$type>::MAX))),*]
    };
}

const COLUMNS: [Column; 22] = columns![
    "state" state: u8,
    "ca_state" ca_state: u8,
    "cwnd_segments" cwnd: u32,
    "ssthresh_segments" ssthresh: u32,
    "unacked_segments" unacked: u32,
    "sacked_segments" sacked: u32,
    "lost_segments" lost: u32,
    "rtt_us" rtt_us: u32,
    "rttvar_us" rttvar_us: u32,
    "rto_us" rto_us: u32,
    "mss_bytes" mss: u32,
    "retransmitted_segments" retransmitted: u32,
    "data_segments_out" data_segments_out: u32,
    "segments_in" segments_in: u32,
    "delivered_segments" delivered: u32,
    "delivered_ce_segments" delivered_ce: u32,
    "bytes_sent" bytes_sent: u64,
    "bytes_acked" bytes_acked: u64,
    "bytes_received" bytes_received: u64,
    "pacing_bytes_per_s" pacing: u64,
    "delivery_rate_bytes_per_s" delivery_rate: u64,
    "since_ack_ms" since_ack_ms: u32,
];

/// The column of timeouts, which is empty if the kernel does not count them.
const TIMEOUTS: &str = "timeouts";

/// The first line of the file.
pub fn heading() -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|c| c.0).collect();
    format!("t_s,flow,cc,event,{},{TIMEOUTS}\n", names.join(","))
}

impl Sample {
    /// The line of the file.
    pub fn line(&self) -> String {
        let mut out =
            format!("{:.6},{},{},{}", self.t_s, self.flow, self.congestion, self.event.map_or("", Event::word));
        for (_, read, _) in &COLUMNS {
            let _ = write!(out, ",{}", read(&self.info));
        }
        let _ = writeln!(out, ",{}", self.info.timeouts.map_or(String::new(), |n| n.to_string()));
        out
    }
}

/// What to do about a file that is no trace.
pub const OURS: &str = "give a file that `contend tool monitor FILE` has written, or a capture: tcpdump -w FILE tcp";

/// Reads a file, line by line.
#[derive(Debug)]
pub struct Reader {
    /// For each field of a line, the column that it is, if it is one of ours.
    fields: Vec<String>,
    line: usize,
}

impl Reader {
    /// Begins with the first line.
    ///
    /// # Errors
    /// When a needed column is missing: what is missing.
    pub fn new(heading: &str) -> Result<Reader, Refusal> {
        let fields: Vec<String> = heading.trim_end().split(',').map(str::to_owned).collect();
        let needed = ["t_s", "flow", "cc", "event", TIMEOUTS].into_iter().chain(COLUMNS.iter().map(|c| c.0));
        match needed.into_iter().find(|n| !fields.iter().any(|f| f == n)) {
            Some(missing) => Err(Refusal::new(format!("the first line has no column `{missing}`"), OURS)),
            None => Ok(Reader { fields, line: 1 }),
        }
    }

    /// Reads the next line.
    ///
    /// # Errors
    /// When a value cannot be read: the number of the line and the column.
    pub fn read(&mut self, line: &str) -> Result<Sample, Refusal> {
        self.line += 1;
        let mut s =
            Sample { t_s: 0.0, flow: String::new(), congestion: String::new(), event: None, info: TcpInfo::default() };
        let values: Vec<&str> = line.trim_end_matches(['\n', '\r']).split(',').collect();
        if values.len() != self.fields.len() {
            let what =
                format!("line {} has {} values, and the first line {}", self.line, values.len(), self.fields.len());
            return Err(Refusal::new(what, OURS));
        }
        for (name, value) in self.fields.iter().zip(values) {
            let wrong = || {
                let value: String = value.chars().take(40).collect();
                Refusal::new(format!("line {}: `{value}` is no {name}", self.line), OURS)
            };
            let number = || value.parse::<u64>().map_err(|_| wrong());
            match name.as_str() {
                "t_s" => s.t_s = value.parse().ok().filter(|t: &f64| t.is_finite()).ok_or_else(wrong)?,
                "flow" => value.clone_into(&mut s.flow),
                "cc" => value.clone_into(&mut s.congestion),
                "event" if value.is_empty() => {}
                "event" => s.event = Some(Event::ALL.iter().find(|e| e.1 == value).ok_or_else(wrong)?.0),
                TIMEOUTS if value.is_empty() => {}
                TIMEOUTS => s.info.timeouts = Some(u16::try_from(number()?).unwrap_or(u16::MAX)),
                other => {
                    if let Some((_, _, write)) = COLUMNS.iter().find(|c| c.0 == other) {
                        write(&mut s.info, number()?);
                    }
                }
            }
        }
        Ok(s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Sample {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut info = TcpInfo::read(&bytes);
        info.since_sent_ms = 0;
        Sample {
            t_s: 1.5,
            flow: "1.2.3.4:5>6.7.8.9:80".into(),
            congestion: "reno".into(),
            event: Some(Event::Timeout),
            info,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut reader = Reader::new(&heading()).unwrap();
        let s = sample();
        assert_eq!(reader.read(&s.line()).unwrap(), s);
        let old = Sample { info: TcpInfo { timeouts: None, ..s.info }, event: None, ..s };
        assert_eq!(reader.read(&old.line()).unwrap(), old);
    }

    #[test]
    fn errors_name_line_and_column() {
        assert!(Reader::new("t_s,flow").unwrap_err().what.contains("`cc`"));
        let mut reader = Reader::new(&heading()).unwrap();
        let line = sample().line();
        assert!(reader.read("1,2\n").unwrap_err().what.starts_with("line 2 has 2 values"));
        assert!(reader.read(&line.replace("timeout", "fire")).unwrap_err().what.contains("line 3: `fire` is no event"));
        assert!(reader.read(&line.replacen("1.5", "nan", 1)).unwrap_err().what.contains("no t_s"));
    }

    #[test]
    fn each_kind_of_error_is_told_from_the_others() {
        let at = |ca_state, retransmitted, timeouts, delivered_ce| TcpInfo {
            ca_state,
            retransmitted,
            timeouts,
            delivered_ce,
            ..TcpInfo::default()
        };
        let open = at(0, 0, Some(0), 0);
        assert_eq!(Event::between(&open, &open), None);
        assert_eq!(Event::between(&open, &at(3, 1, Some(0), 0)), Some(Event::DupackSack));
        assert_eq!(Event::between(&open, &at(0, 2, Some(0), 0)), Some(Event::DupackSack), "between two samples");
        assert_eq!(Event::between(&at(3, 1, Some(0), 0), &at(3, 2, Some(0), 0)), None, "the same recovery");
        assert_eq!(Event::between(&open, &at(2, 0, Some(0), 0)), Some(Event::LocalCongestion));
        assert_eq!(Event::between(&open, &at(2, 0, Some(0), 5)), Some(Event::Marked));
        assert_eq!(Event::between(&open, &at(4, 1, Some(1), 0)), Some(Event::Timeout));
        assert_eq!(Event::between(&at(4, 1, Some(1), 0), &at(4, 2, Some(2), 0)), Some(Event::Timeout), "the next one");
        assert_eq!(Event::between(&at(0, 0, None, 0), &at(4, 1, None, 0)), Some(Event::Timeout), "an older kernel");
    }
}
