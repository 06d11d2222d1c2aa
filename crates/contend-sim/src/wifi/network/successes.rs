//! The sequence of successful exchanges, from which short-term fairness is computed.
//!
//! Starzetz 2006 §8.2 computes Jain's index and the self-correlation of an access rule from the sequence of successful
//! transmissions. The sequence is kept only on request. Each success takes four bytes.

use crate::wifi::ids::{AP, StationId};

/// One exchange that ended with an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Success(u32);

/// Marks a success of the access point. Station numbers are far smaller.
const DOWN: u32 = 1 << 31;

impl Success {
    /// `from` sent and `to` answered; one of the two is the access point.
    pub fn new(from: StationId, to: StationId) -> Success {
        if from == AP { Success(to | DOWN) } else { Success(from) }
    }

    /// The sender; 0 is the access point.
    pub fn sender(self) -> StationId {
        if self.is_down() { AP } else { self.0 }
    }

    /// The station, whether it sent or the access point.
    pub fn station(self) -> StationId {
        self.0 & !DOWN
    }

    /// True if the access point sent.
    pub fn is_down(self) -> bool {
        self.0 & DOWN != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_success_knows_its_sender_and_its_station() {
        let (up, down) = (Success::new(7, AP), Success::new(AP, 7));
        assert_eq!((up.sender(), up.station(), up.is_down()), (7, 7, false));
        assert_eq!((down.sender(), down.station(), down.is_down()), (AP, 7, true));
        assert_eq!(size_of::<Success>(), 4);
    }
}
