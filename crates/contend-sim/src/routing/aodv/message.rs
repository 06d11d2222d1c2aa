//! The messages of AODV as bytes: the TTL of the IP header in one byte, then the format of RFC 3561 §5.

use super::super::{Malformed, Station};

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// Route request (§5.1).
    Request(Request),
    /// Route reply (§5.2), also HELLO (§6.9).
    Reply(Reply),
    /// Route error (§5.3): destinations and their numbers.
    Error(Vec<(Station, u32)>),
}

/// A route request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Hops that the request may still go.
    pub(super) ttl: u8,
    /// Hops from the originator to the sender of the frame.
    pub(super) hops: u8,
    /// Tells the requests of an originator apart.
    pub(super) id: u32,
    pub(super) destination: Station,
    /// The last number known of the destination; `None`: flag U.
    pub(super) number: Option<u32>,
    pub(super) originator: Station,
    pub(super) originator_number: u32,
}

/// A route reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) ttl: u8,
    /// Hops from the sender of the frame to the destination.
    pub(super) hops: u8,
    pub(super) destination: Station,
    pub(super) number: u32,
    /// The station that asked.
    pub(super) originator: Station,
    /// How long the route is valid.
    pub(super) lifetime_ms: u32,
}

const REQUEST: u8 = 1;
const REPLY: u8 = 2;
const ERROR: u8 = 3;
/// Flag U of a request: the number of the destination is unknown.
const UNKNOWN: u8 = 0b0000_1000;
/// Most destinations of an error.
pub(super) const MOST_ERRORS: usize = 255;

impl Message {
    /// The bytes. Of an error only the first 255 destinations are written.
    pub(super) fn write(&self) -> Vec<u8> {
        let words = |head: [u8; 5], words: &[u32]| {
            head.into_iter().chain(words.iter().flat_map(|w| w.to_be_bytes())).collect::<Vec<u8>>()
        };
        match self {
            Message::Request(m) => {
                let flags = if m.number.is_none() { UNKNOWN } else { 0 };
                let number = m.number.unwrap_or(0);
                let rest = [m.id, m.destination, number, m.originator, m.originator_number];
                words([m.ttl, REQUEST, flags, 0, m.hops], &rest)
            }
            Message::Reply(m) => {
                words([m.ttl, REPLY, 0, 0, m.hops], &[m.destination, m.number, m.originator, m.lifetime_ms])
            }
            Message::Error(lost) => {
                let lost = &lost[..lost.len().min(MOST_ERRORS)];
                let list: Vec<u32> = lost.iter().flat_map(|&(station, number)| [station, number]).collect();
                words([1, ERROR, 0, 0, lost.len() as u8], &list)
            }
        }
    }

    /// The message in `bytes`, in a network of `stations`. Flags that are not modelled are ignored.
    pub(super) fn read(bytes: &[u8], stations: u32) -> Result<Message, Malformed> {
        let (&[ttl, kind, flags, _, last], words) = bytes.split_first_chunk::<5>().ok_or(Malformed)?;
        let (words, []) = words.as_chunks::<4>() else { return Err(Malformed) };
        let station = |w: [u8; 4]| Some(u32::from_be_bytes(w)).filter(|s| *s < stations).ok_or(Malformed);
        let number = u32::from_be_bytes;
        if ttl == 0 {
            return Err(Malformed);
        }
        match (kind, words) {
            (REQUEST, &[id, destination, known, originator, own]) => Ok(Message::Request(Request {
                ttl,
                hops: last,
                id: number(id),
                destination: station(destination)?,
                number: (flags & UNKNOWN == 0).then_some(number(known)),
                originator: station(originator)?,
                originator_number: number(own),
            })),
            (REPLY, &[destination, known, originator, lifetime]) => Ok(Message::Reply(Reply {
                ttl,
                hops: last,
                destination: station(destination)?,
                number: number(known),
                originator: station(originator)?,
                lifetime_ms: number(lifetime),
            })),
            (ERROR, list) if last > 0 && list.len() == 2 * usize::from(last) => {
                let pair = |pair: &[[u8; 4]; 2]| Ok((station(pair[0])?, number(pair[1])));
                list.as_chunks().0.iter().map(pair).collect::<Result<_, _>>().map(Message::Error)
            }
            _ => Err(Malformed),
        }
    }

    /// The kind, for counting.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Message::Request(_) => "rreq",
            Message::Reply(m) if m.destination == m.originator => "hello",
            Message::Reply(_) => "rrep",
            Message::Error(_) => "rerr",
        }
    }

    /// Size of the IP packet in bytes: IP and UDP header and the format of the RFC, or as ns-2 counts.
    pub(super) fn size(&self, as_ns2: bool) -> u32 {
        let n = |lost: &Vec<_>| lost.len().min(MOST_ERRORS) as u32;
        match (self, as_ns2) {
            (Message::Request(_), false) => 28 + 24,
            (Message::Request(_), true) => 20 + 28,
            (Message::Reply(_), false) => 28 + 20,
            (Message::Reply(_), true) => 20 + 24,
            (Message::Error(lost), false) => 28 + 4 + 8 * n(lost),
            (Message::Error(lost), true) => 20 + 4 + 8 * n(lost),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn messages() -> [Message; 4] {
        let request = Request {
            ttl: 30,
            hops: 2,
            id: 7,
            destination: 9,
            number: Some(0x0102_0304),
            originator: 1,
            originator_number: 6,
        };
        let reply = Reply { ttl: 3, hops: 4, destination: 9, number: 5, originator: 1, lifetime_ms: 10_000 };
        [
            Message::Request(request),
            Message::Request(Request { number: None, ..request }),
            Message::Reply(reply),
            Message::Error(vec![(4, 5), (9, 8)]),
        ]
    }

    /// RFC 3561 §5.1 and §5.3, behind the TTL.
    #[test]
    fn messages_have_the_bytes_of_the_rfc() {
        let [request, unknown, _, error] = messages().map(|m| m.write());
        assert_eq!(request[..9], [30, 1, 0, 0, 2, 0, 0, 0, 7]);
        assert_eq!(request[9..], [0, 0, 0, 9, 1, 2, 3, 4, 0, 0, 0, 1, 0, 0, 0, 6]);
        assert_eq!(unknown[..5], [30, 1, 0b0000_1000, 0, 2]);
        assert_eq!(error, [1, 3, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0, 8]);
        let sizes = messages().map(|m| (m.write().len() as u32 - 1 + 28, m.size(false)));
        assert!(sizes.iter().all(|(bytes, size)| bytes == size), "without the TTL, with IP and UDP: {sizes:?}");
    }

    #[test]
    fn what_is_written_is_read() {
        for m in messages() {
            assert_eq!(Message::read(&m.write(), 10), Ok(m.clone()));
            assert_eq!(Message::read(&m.write(), 9), Err(Malformed), "station 9 of 9");
            assert_eq!(Message::read(&[0, m.write()[0]], 10), Err(Malformed));
        }
    }

    proptest! {
        #[test]
        fn a_message_with_a_wrong_byte_is_read_or_malformed(which in 0..4_usize, place in 0..30_usize, value: u8) {
            let mut bytes = messages()[which].write();
            let place = place % bytes.len();
            bytes[place] = value;
            if let Ok(m) = Message::read(&bytes, 10) {
                prop_assert_eq!(Message::read(&m.write(), 10), Ok(m));
            }
            bytes.truncate(place);
            prop_assert_eq!(Message::read(&bytes, 10), Err(Malformed));
        }
    }
}
