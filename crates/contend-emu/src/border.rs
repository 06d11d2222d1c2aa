//! The border between real packets and the simulated network: packets enter with their bytes beside them, and leave
//! with what the network has changed written into their bytes.

use crate::bytes::{self, Changes, Refused};
use crate::opened::Openings;
use crate::plan::Plan;
use crate::ties::Ties;
use contend_core::packet::Ecn;
use contend_core::{Body, Packet, Segment, Time};
use contend_lab::experiment::results::Opened;
use contend_sim::net::{Net, addresses};
use contend_sim::payloads::Payloads;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Packets whose bytes are kept, the latest that entered: at least, which takes 100 MB and lasts for five seconds of
/// 150 Mb/s, and at most, which takes 400 MB. A packet that waits for longer loses its bytes; the verdict says so.
const RING: [u32; 2] = [65_536, 262_144];

/// The border of one run.
#[derive(Debug)]
pub struct Border {
    ring: Payloads<Entry>,
    ties: Ties,
    /// Names of the hosts.
    names: Vec<String>,
    /// Hosts by address.
    hosts: BTreeMap<Ipv4Addr, usize>,
    /// Hosts by the address of the simulated network.
    homes: Vec<usize>,
    /// By flow of the file: the largest window that its receiver may advertise, in bytes.
    windows: Vec<u32>,
    /// By host: true if what its programs send is for L4S, as its flows of the file are.
    l4s: Vec<bool>,
    /// What hosts opened beside the flows of the file.
    opened: Openings,
    /// The packet that leaves.
    buffer: Vec<u8>,
    /// What has happened so far.
    pub tally: Tally,
}

/// A packet as it entered.
#[derive(Debug, Default)]
struct Entry {
    packet: Option<Packet>,
    bytes: Vec<u8>,
}

/// Counts of packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets that entered.
    pub entered: u64,
    /// Packets that left.
    pub left: u64,
    /// Refused packets, by [`Refused`].
    pub refused: [u64; Refused::ALL.len()],
    /// Packets whose bytes were overwritten before they left.
    pub overwritten: u64,
}

impl Border {
    /// The border of `plan`, in a network of `flows` flows.
    pub fn new(plan: &Plan, net: &Net) -> Border {
        let [least, most] = RING;
        let ring = u32::try_from(plan.under_way()).unwrap_or(most).clamp(least, most);
        let mut homes = vec![usize::MAX; 2 * net.flows()];
        for f in &plan.flows {
            let [sender, receiver] = addresses(f.flow as usize);
            (homes[sender.0 as usize], homes[receiver.0 as usize]) = (f.from, f.to);
        }
        homes.extend(0..plan.hosts.len());
        let mut windows = vec![u32::MAX; net.flows()];
        plan.flows.iter().for_each(|f| windows[f.flow as usize] = f.window);
        Border {
            ring: Payloads::new(ring),
            ties: Ties::new(net.flows(), plan.flows.clone(), net.host_address(0)),
            names: plan.hosts.iter().map(|h| h.name.clone()).collect(),
            hosts: plan.hosts.iter().enumerate().map(|(i, h)| (h.ip, i)).collect(),
            homes,
            windows,
            l4s: plan.hosts.iter().map(|h| h.l4s).collect(),
            opened: Openings::new(net.flows() as u32),
            buffer: Vec::with_capacity(bytes::MTU),
            tally: Tally::default(),
        }
    }

    /// Host `from` sends a packet of `whole` bytes, of which `b` has at least the headers. All events up to `at` run;
    /// then the packet enters, unless it is refused.
    ///
    /// # Errors
    /// Why it is refused; it is counted.
    pub fn enter(&mut self, net: &mut Net, at: Time, from: usize, b: &[u8], whole: usize) -> Result<(), Refused> {
        net.world.advance(at);
        let entered = self.tied(net, at, from, b, whole);
        match entered {
            Ok(p) => {
                self.tally.entered += 1;
                net.hand_in(at, &p);
                Ok(())
            }
            Err(why) => {
                self.tally.refused[why as usize] += 1;
                Err(why)
            }
        }
    }

    fn tied(&mut self, net: &mut Net, at: Time, from: usize, b: &[u8], whole: usize) -> Result<Packet, Refused> {
        let h = bytes::read(b, whole)?;
        let to = *self.hosts.get(&h.dst).ok_or(Refused::Address)?;
        if self.hosts.get(&h.src) != Some(&from) || to == from {
            return Err(Refused::Address);
        }
        let tied = self.ties.packet(at, from, to, &h)?;
        let mut p = tied.packet;
        if tied.opened
            && let Some(gate) = net.gate()
            && let Some(opening) = self.ties.opening(p.flow)
        {
            self.opened.opens(p.flow, opening, std::mem::take(gate.meter_mut(p.flow)));
        }
        p.payload = self.ring.put(|slot| {
            slot.bytes.clear();
            slot.bytes.extend_from_slice(b);
            slot.packet = Some(p);
        });
        if p.segment().is_some_and(|s| s.len == 0) {
            self.ties.keep_acknowledgment(&p, p.payload);
        }
        // The kernel forgets the largest window of the route as soon as it learns how much memory packets take.
        if let Some(limit) = self.windows.get(p.flow.0 as usize)
            && p.is_reverse()
            && let Body::Tcp(s) = &mut p.body
        {
            s.window = s.window.min(*limit);
        }
        // A kernel before Linux's own prague sends ECT(0): `contend deploy ect1` rewrites it at an interface, and this
        // does so here.
        if tied.accurate && tied.l4s.unwrap_or(self.l4s[from]) && p.ecn() == Ecn::Ect {
            p.set_ecn(Ecn::Ect1);
        }
        Ok(p)
    }

    /// The packet `p` leaves: the host that gets it. `None` if its bytes were overwritten.
    pub fn leave(&mut self, p: &Packet) -> Option<usize> {
        // An acknowledgment that a control block made has the bytes of the last real one.
        let number = if p.payload == 0 { self.ties.acknowledgment_like(p).unwrap_or(0) } else { p.payload };
        let host = self.homes.get(p.dst.0 as usize).copied().filter(|host| *host != usize::MAX);
        let entry = self.ring.get(number);
        let (Some(host), Some(entry), Some(was)) = (host, entry, entry.and_then(|e| e.packet)) else {
            self.tally.overwritten += 1;
            return None;
        };
        self.buffer.clear();
        self.buffer.extend_from_slice(&entry.bytes);
        if let Some(changes) = changes(&was, p, &self.buffer) {
            bytes::write_back(&mut self.buffer, &changes);
        }
        self.tally.left += 1;
        Some(host)
    }

    /// The bytes of the packet that left last.
    pub fn packet(&self) -> &[u8] {
        &self.buffer
    }

    /// What hosts opened beside the flows of the file, after the run.
    pub fn opened(&mut self, net: &mut Net) -> Vec<Opened> {
        match net.gate() {
            Some(gate) => self.opened.read(gate, &self.names),
            None => Vec::new(),
        }
    }

    /// Flows, beside those of the file, that were open at the same time.
    pub fn flows(&self) -> usize {
        self.ties.most_open()
    }
}

/// What differs between a packet as it entered and as it leaves; `None` if nothing does.
fn changes(was: &Packet, is: &Packet, b: &[u8]) -> Option<Changes> {
    let mut changes = Changes { ecn: (was.ecn() != is.ecn()).then(|| is.ecn()), ..Changes::default() };
    if let (Body::Tcp(was), Body::Tcp(is)) = (&was.body, &is.body)
        && was != is
    {
        let read = || bytes::read(b, b.len()).ok()?.tcp;
        let ack = || Some(read()?.ack.wrapping_add(is.ack.wrapping_sub(was.ack) as u32));
        changes.ack = (was.ack != is.ack).then(ack).flatten();
        changes.window = (was.window != is.window).then(|| window(is));
        changes.flags = (was.flags != is.flags).then_some(is.flags);
    }
    (changes != Changes::default()).then_some(changes)
}

/// The window field of `s`.
fn window(s: &Segment) -> u16 {
    (s.window >> s.window_scale.min(14)).min(u32::from(u16::MAX)) as u16
}
