//! Packets that the machine itself lost: what the kernel counts at a host. A simulated network may drop what it likes;
//! a packet that is lost anywhere else makes a run untrue.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::AddAssign;

/// Packets that never reached the emulator or the program they were for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// A host sent them, and its device was full because the emulator read too late.
    pub sent: u64,
    /// The emulator handed them to a host whose device or kernel took no more.
    pub received: u64,
    /// A socket was full because its program read too late, by [`SOCKETS`].
    pub sockets: [u64; SOCKETS.len()],
    /// Hosts whose counters could not be read.
    pub unknown: u64,
}

/// Counters of /proc/net/snmp and /proc/net/netstat: datagrams and segments that a full socket refused.
pub const SOCKETS: [(&str, &str); 4] =
    [("Udp:", "RcvbufErrors"), ("TcpExt:", "TCPBacklogDrop"), ("TcpExt:", "TCPRcvQDrop"), ("TcpExt:", "RcvPruned")];

impl Losses {
    /// What the network namespace of this thread has counted since it was made.
    ///
    /// # Errors
    /// When the kernel's counters cannot be read.
    pub fn read() -> io::Result<Losses> {
        let file = |name: &str| fs::read_to_string(format!("/proc/thread-self/net/{name}"));
        let [received, sent] = device(&file("dev")?, "tun0").unwrap_or_default();
        let (snmp, netstat) = (file("snmp")?, file("netstat")?);
        let sockets = SOCKETS.map(|(group, name)| counter(&snmp, group, name) + counter(&netstat, group, name));
        Ok(Losses { sent, received, sockets, unknown: 0 })
    }

    /// The places at which something was lost.
    pub fn by_place(&self) -> BTreeMap<String, u64> {
        let sockets = SOCKETS.iter().map(|(_, name)| *name).zip(self.sockets);
        let all = [("sent", self.sent), ("received", self.received)].into_iter().chain(sockets);
        all.filter(|(_, n)| *n > 0).map(|(place, n)| (place.to_owned(), n)).collect()
    }

    /// Why a run with these losses is not faithful, with what helps.
    pub fn why(&self) -> Vec<String> {
        let unknown = format!("what {} hosts lost is not known: their counters could not be read", self.unknown);
        let slow = "the machine is too slow for this network: take fewer flows or a lower rate";
        [
            (self.sent, "were lost between a host and the emulator", slow),
            (self.received, "were lost between the emulator and a host", slow),
            (self.sockets.iter().sum(), "were refused by a full socket", "its program reads too slowly"),
        ]
        .into_iter()
        .filter(|(n, ..)| *n > 0)
        .map(|(n, what, help)| format!("{n} packets {what} ({help})"))
        .chain((self.unknown > 0).then_some(unknown))
        .collect()
    }
}

impl AddAssign for Losses {
    fn add_assign(&mut self, other: Losses) {
        self.sent += other.sent;
        self.received += other.received;
        self.unknown += other.unknown;
        self.sockets.iter_mut().zip(other.sockets).for_each(|(sum, n)| *sum += n);
    }
}

/// Packets that the device `name` dropped on receiving and on transmitting, by /proc/net/dev.
fn device(text: &str, name: &str) -> Option<[u64; 2]> {
    let numbers = text.lines().find_map(|l| l.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
    let numbers: Vec<u64> = numbers.split_whitespace().map_while(|n| n.parse().ok()).collect();
    // Eight columns for each direction; the fourth is `drop`.
    Some([*numbers.get(3)?, *numbers.get(11)?])
}

/// The counter `name` of `group` in a file of pairs of lines: names, and below them values. 0 if it is not there.
fn counter(text: &str, group: &str, name: &str) -> u64 {
    let mut lines = text.lines().filter(|l| l.split_whitespace().next() == Some(group));
    let (Some(names), Some(values)) = (lines.next(), lines.next()) else { return 0 };
    let at = names.split_whitespace().position(|n| n == name);
    at.and_then(|at| values.split_whitespace().nth(at)?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_of_a_device_are_found_by_their_columns() {
        let text = "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop fifo frame compressed\n\
            \x20   lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  tun0:100 2 0 7 0 0 0 0 300 4 0 867 0 0 0 0\n";
        assert_eq!(device(text, "tun0"), Some([7, 867]));
        assert_eq!((device(text, "tun1"), device("", "tun0")), (None, None));
    }

    #[test]
    fn a_counter_is_found_by_its_group_and_its_name() {
        let snmp = "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: 9 9 9 9 3\n\
            UdpLite: InDatagrams RcvbufErrors\nUdpLite: 9 5\n";
        let netstat = "TcpExt: SyncookiesSent RcvPruned TCPBacklogDrop TCPRcvQDrop\nTcpExt: 9 1 2 4\n\
            IpExt: InNoRoutes\nIpExt: 9\n";
        assert_eq!(counter(snmp, "Udp:", "RcvbufErrors"), 3);
        assert_eq!(SOCKETS.map(|(group, name)| counter(netstat, group, name)), [0, 2, 4, 1]);
        assert_eq!(counter("", "Udp:", "RcvbufErrors"), 0);
    }

    #[test]
    fn each_place_has_its_reason() {
        let mut all = Losses { sent: 1, ..Losses::default() };
        assert_eq!((all.why().len(), Losses::default().why().len()), (1, 0));
        all += Losses { sent: 2, received: 4, sockets: [1, 2, 4, 1], unknown: 1 };
        let why = all.why().join("; ");
        assert!(
            ["3 packets were lost between a host", "4 packets were lost", "8 packets were refused", "1 hosts"]
                .iter()
                .all(|part| why.contains(part)),
            "{why}"
        );
    }

    #[test]
    fn this_machine_counts() {
        assert!(Losses::read().is_ok());
    }
}
