//! Looks at the kernel's senders of the file's flows: window, threshold, round-trip time, retransmissions, timeouts and
//! marks go into the meters at the gate, as a simulated sender would tell them.

use crate::host::Asking;
use crate::plan::Plan;
use contend_core::FlowId;
use contend_core::window::CaState;
use contend_sim::net::Net;
use contend_sim::tcp::SenderState;
use contend_tools::sock_diag::{Identity, SockDiag};
use contend_tools::tcp_info::TcpInfo;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::net::SocketAddr;

/// The senders of one run.
#[derive(Debug)]
pub(crate) struct Watch {
    /// By host with a sender.
    kernels: BTreeMap<usize, SockDiag>,
    senders: Vec<Sender>,
    /// The sender that is searched next, if several are not known.
    turn: usize,
}

#[derive(Debug)]
struct Sender {
    flow: FlowId,
    host: usize,
    /// Where its data go to.
    to: SocketAddr,
    socket: Option<Identity>,
    timeouts: Total,
    delivered_ce: Total,
}

/// A count of the sockets of one sender.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    /// Of those that are closed.
    before: u64,
    /// Of the present one.
    now: u64,
}

impl Total {
    /// The socket counts `now`. Returns the count of all.
    fn at(&mut self, now: u32) -> u64 {
        self.now = now.into();
        self.before + self.now
    }

    /// The socket is closed.
    fn close(&mut self) {
        *self = Total { before: self.before + self.now, now: 0 };
    }
}

impl Watch {
    /// Opens what it asks the kernel with. A kernel that does not answer leaves the states unknown.
    pub(crate) fn new(plan: &Plan, hosts: &Asking) -> Watch {
        let (mut kernels, mut senders) = (BTreeMap::new(), Vec::new());
        for known in plan.flows.iter().filter(|k| k.protocol == crate::plan::TCP) {
            if let Entry::Vacant(new) = kernels.entry(known.from) {
                match hosts.at(known.from, || SockDiag::open().map_err(io::Error::other)) {
                    Ok(kernel) => drop(new.insert(kernel)),
                    Err(_) => continue,
                }
            }
            let to = (plan.hosts[known.to].ip, known.port).into();
            let (timeouts, delivered_ce) = Default::default();
            let flow = FlowId(known.flow);
            senders.push(Sender { flow, host: known.from, to, socket: None, timeouts, delivered_ce });
        }
        Watch { kernels, senders, turn: 0 }
    }

    /// Searches a sender that is not known, which takes some hundred microseconds.
    pub(crate) fn search(&mut self, net: &mut Net) {
        let Some(gate) = net.gate() else { return };
        let open = |s: &Sender| s.socket.is_none() && gate.meter(s.flow).is_some_and(|m| m.arrived > 0);
        let n = self.senders.len();
        if let Some(i) = (0..n).map(|i| (self.turn + i) % n).find(|i| open(&self.senders[*i])) {
            self.turn = i + 1;
            let sender = &mut self.senders[i];
            let all = self.kernels.get_mut(&sender.host).and_then(|kernel| kernel.all().ok()).unwrap_or_default();
            sender.socket = all.iter().find(|s| s.id.peer() == sender.to).map(|s| s.id);
        }
    }

    /// Reads all senders that are known, which takes some microseconds each, after a search.
    pub(crate) fn look(&mut self, net: &mut Net) {
        self.search(net);
        let Some(gate) = net.gate() else { return };
        for sender in &mut self.senders {
            let (Some(id), Some(kernel)) = (&sender.socket, self.kernels.get_mut(&sender.host)) else { continue };
            match kernel.one(id) {
                Ok(Some(found)) => {
                    let meter = gate.meter_mut(sender.flow);
                    let Some(info) = found.info else { continue };
                    meter.state = Some(state(&info));
                    meter.delivered_ce = Some(sender.delivered_ce.at(info.delivered_ce));
                    if let Some(n) = info.timeouts {
                        meter.timeouts = Some(sender.timeouts.at(n.into()));
                    }
                }
                // It is closed. Its last state stays, and the flow may open another.
                _ => {
                    sender.socket = None;
                    sender.timeouts.close();
                    sender.delivered_ce.close();
                }
            }
        }
    }
}

/// What a simulated sender would tell.
fn state(info: &TcpInfo) -> SenderState {
    SenderState {
        snd_cwnd: info.cwnd,
        snd_ssthresh: info.ssthresh,
        srtt_us: info.rtt_us,
        rttvar_us: info.rttvar_us,
        rto_us: info.rto_us,
        bytes_acked: info.bytes_acked,
        inflight: info.unacked.saturating_sub(info.sacked).saturating_sub(info.lost),
        retrans: u64::from(info.retransmitted),
        ca_state: match info.ca_state {
            1 => CaState::Disorder,
            2 => CaState::Cwr,
            3 => CaState::Recovery,
            4 => CaState::Loss,
            _ => CaState::Open,
        },
    }
}
