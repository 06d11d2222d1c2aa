//! Address resolution between routing and the interface queue, as ns-2 does it.
//!
//! The first frame to a neighbour needs the neighbour's address, which a broadcast asks for. One packet waits for it; a
//! newer one takes its place. There is no timer: the question is repeated only with the next packet. When three
//! questions had no answer, the next packet and the one that waits are reported as failed. Every station that hears a
//! question learns the address of the one who asks. Addresses are never forgotten.
//!
//! An answered question costs a broadcast and a unicast frame before the first packet, and a burst to a new neighbour
//! loses all but its last packet. Linux holds more packets and repeats the question each second (RFC 4861 §7.2.2).

use super::{Malformed, Station};
use std::collections::BTreeMap;

/// Size of a message in bytes (RFC 826, for Ethernet and IPv4). It has no IP header.
pub const SIZE: usize = 28;
/// Questions without an answer before failure (ns-2: `ARP_MAX_REQUEST_COUNT`).
const MOST_QUESTIONS: u32 = 3;

/// Address resolution of one station for packets of type `P`.
#[derive(Debug)]
pub struct Arp<P> {
    me: Station,
    /// By number of the neighbour.
    neighbours: BTreeMap<Station, Neighbour<P>>,
}

#[derive(Debug)]
enum Neighbour<P> {
    Known,
    Asked { questions: u32, held: Option<P> },
}

/// What address resolution wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArpAction<P> {
    /// Put the packet into the interface queue, to `next`.
    Send {
        /// The packet.
        packet: P,
        /// The neighbour.
        next: Station,
    },
    /// Put a message into the interface queue.
    Tell {
        /// The message.
        message: ArpMessage,
        /// The receiver; `None`: a broadcast.
        next: Option<Station>,
    },
    /// A newer packet took the place of this one.
    Drop {
        /// The packet.
        packet: P,
    },
    /// The neighbour does not answer: routing gets the packet back as failed.
    Failed {
        /// The packet.
        packet: P,
        /// The neighbour.
        next: Station,
    },
}

impl<P: Copy> Arp<P> {
    /// Address resolution of station `me`, which knows no neighbour yet.
    pub fn new(me: Station) -> Arp<P> {
        Arp { me, neighbours: BTreeMap::new() }
    }

    /// `packet` is to go to `next`.
    pub fn send(&mut self, next: Station, packet: P, out: &mut Vec<ArpAction<P>>) {
        let unasked = Neighbour::Asked { questions: 0, held: None };
        match self.neighbours.entry(next).or_insert(unasked) {
            Neighbour::Known => out.push(ArpAction::Send { packet, next }),
            Neighbour::Asked { questions, held } if *questions >= MOST_QUESTIONS => {
                *questions = 0;
                out.extend(held.take().map(|packet| ArpAction::Failed { packet, next }));
                out.push(ArpAction::Failed { packet, next });
            }
            Neighbour::Asked { questions, held } => {
                *questions += 1;
                out.extend(held.replace(packet).map(|packet| ArpAction::Drop { packet }));
                let message = ArpMessage { is_question: true, sender: self.me, target: next };
                out.push(ArpAction::Tell { message, next: None });
            }
        }
    }

    /// A message was received.
    pub fn message(&mut self, m: ArpMessage, out: &mut Vec<ArpAction<P>>) {
        let next = m.sender;
        if let Some(Neighbour::Asked { held: Some(packet), .. }) = self.neighbours.insert(next, Neighbour::Known) {
            out.push(ArpAction::Send { packet, next });
        }
        if m.is_question && m.target == self.me {
            let message = ArpMessage { is_question: false, sender: self.me, target: next };
            out.push(ArpAction::Tell { message, next: Some(next) });
        }
    }

    /// Number of packets that wait for an address.
    pub fn held(&self) -> usize {
        self.neighbours.values().filter(|n| matches!(n, Neighbour::Asked { held: Some(_), .. })).count()
    }
}

/// A question or an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArpMessage {
    /// True for a question.
    pub is_question: bool,
    /// Who sends the message.
    pub sender: Station,
    /// Who is asked for, or who asked.
    pub target: Station,
}

/// Ethernet, IPv4, and the lengths of their addresses.
const KINDS: [u8; 6] = [0, 1, 8, 0, 6, 4];

impl ArpMessage {
    /// The bytes. The addresses of a station are its number.
    pub fn write(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let target = if self.is_question { [0; 6] } else { hardware(self.target) };
        let operation = [0, if self.is_question { 1 } else { 2 }];
        let (sender, asked) = (self.sender.to_be_bytes(), self.target.to_be_bytes());
        let fields = [&KINDS[..], &operation, &hardware(self.sender), &sender, &target, &asked];
        for (to, from) in bytes.iter_mut().zip(fields.concat()) {
            *to = from;
        }
        bytes
    }

    /// The message in `bytes`, in a network of `stations`.
    ///
    /// # Errors
    /// When the bytes are no message between two of the stations.
    pub fn read(bytes: &[u8], stations: u32) -> Result<ArpMessage, Malformed> {
        let number = |at: usize| {
            let four: Option<&[u8; 4]> = bytes.get(at..).and_then(|b| b.first_chunk());
            four.map(|b| u32::from_be_bytes(*b)).filter(|s| *s < stations).ok_or(Malformed)
        };
        let is_question = bytes.get(7) == Some(&1);
        let m = ArpMessage { is_question, sender: number(14)?, target: number(24)? };
        (m.write() == bytes).then_some(m).ok_or(Malformed)
    }
}

/// The hardware address of a station: locally administered.
fn hardware(station: Station) -> [u8; 6] {
    let [a, b, c, d] = station.to_be_bytes();
    [2, 0, a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn send(arp: &mut Arp<u32>, next: Station, packet: u32) -> Vec<ArpAction<u32>> {
        let mut out = vec![];
        arp.send(next, packet, &mut out);
        out
    }

    fn hear(arp: &mut Arp<u32>, is_question: bool, sender: Station, target: Station) -> Vec<ArpAction<u32>> {
        let mut out = vec![];
        arp.message(ArpMessage { is_question, sender, target }, &mut out);
        out
    }

    fn question(next: Station) -> ArpAction<u32> {
        ArpAction::Tell { message: ArpMessage { is_question: true, sender: 0, target: next }, next: None }
    }

    #[test]
    fn a_packet_waits_for_the_answer_and_later_ones_do_not() {
        let mut arp = Arp::new(0);
        assert_eq!((send(&mut arp, 5, 1), arp.held()), (vec![question(5)], 1));
        assert_eq!(hear(&mut arp, false, 5, 0), [ArpAction::Send { packet: 1, next: 5 }]);
        assert_eq!((send(&mut arp, 5, 2), arp.held()), (vec![ArpAction::Send { packet: 2, next: 5 }], 0));
    }

    #[test]
    fn a_newer_packet_takes_the_place_of_the_one_that_waits() {
        let mut arp = Arp::new(0);
        send(&mut arp, 5, 1);
        assert_eq!(send(&mut arp, 5, 2), [ArpAction::Drop { packet: 1 }, question(5)]);
        assert_eq!(hear(&mut arp, false, 5, 0), [ArpAction::Send { packet: 2, next: 5 }]);
    }

    #[test]
    fn after_three_questions_both_packets_fail_and_the_count_begins_again() {
        let mut arp = Arp::new(0);
        for packet in 1..=3 {
            assert_eq!(send(&mut arp, 5, packet).last(), Some(&question(5)));
        }
        let failed = |packet| ArpAction::Failed { packet, next: 5 };
        assert_eq!((send(&mut arp, 5, 4), arp.held()), (vec![failed(3), failed(4)], 0));
        assert_eq!(send(&mut arp, 5, 5), [question(5)]);
    }

    #[test]
    fn whoever_hears_a_question_learns_who_asks_and_the_one_who_is_asked_answers() {
        let mut arp = Arp::new(0);
        send(&mut arp, 7, 1);
        assert_eq!(hear(&mut arp, true, 7, 3), [ArpAction::Send { packet: 1, next: 7 }]);
        let answer = ArpMessage { is_question: false, sender: 0, target: 8 };
        assert_eq!(hear(&mut arp, true, 8, 0), [ArpAction::Tell { message: answer, next: Some(8) }]);
        assert_eq!(send(&mut arp, 8, 2), [ArpAction::Send { packet: 2, next: 8 }]);
    }

    /// RFC 826: hardware type 1, protocol type 0x0800, lengths 6 and 4, then the operation and four addresses.
    #[test]
    fn a_message_has_the_bytes_of_rfc_826() {
        let m = ArpMessage { is_question: false, sender: 0x0102, target: 3 };
        let bytes = [0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 1, 2, 0, 0, 1, 2, 2, 0, 0, 0, 0, 3, 0, 0, 0, 3];
        assert_eq!((m.write(), ArpMessage::read(&bytes, 0x0103)), (bytes, Ok(m)));
        assert_eq!(ArpMessage::read(&bytes, 0x0102), Err(Malformed), "a station too many");
        assert_eq!(ArpMessage::read(&bytes[..27], 0x0103), Err(Malformed));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_malformed(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
            place in 0_usize..28,
            value in any::<u8>(),
        ) {
            let _ = ArpMessage::read(&bytes, 10);
            let mut near = ArpMessage { is_question: true, sender: 1, target: 2 }.write();
            near[place] = value;
            if let Ok(m) = ArpMessage::read(&near, 10) {
                prop_assert_eq!(m.write(), near);
            }
        }
    }
}
