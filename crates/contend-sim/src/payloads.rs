//! What lies beside packets: the bytes of routing messages, and of real packets in an emulation.
//!
//! A packet names its payload by a number. The payloads are in a ring, not in a store from which each is taken out:
//! packets are dropped in many places, and none of them needs to know of payloads. A payload is overwritten when the
//! ring has come round; its number tells.

/// The last payloads, by number.
#[derive(Clone, Debug)]
pub struct Payloads<T> {
    /// By number modulo `size`. It grows until it has `size` slots.
    slots: Vec<(u32, T)>,
    size: u32,
    /// The last number given.
    last: u32,
}

impl<T: Default> Payloads<T> {
    /// A ring that keeps the last `size` payloads, at least one.
    pub fn new(size: u32) -> Payloads<T> {
        Payloads { slots: Vec::new(), size: size.max(1), last: 0 }
    }

    /// Stores what `fill` writes, over an older payload, and returns its number, from 1. After 2^32 - 1 the numbers
    /// begin again.
    pub fn put(&mut self, fill: impl FnOnce(&mut T)) -> u32 {
        self.last = self.last.checked_add(1).unwrap_or(1);
        let place = (self.last % self.size) as usize;
        if self.slots.len() <= place {
            self.slots.resize_with(place + 1, Default::default);
        }
        let (number, slot) = &mut self.slots[place];
        *number = self.last;
        fill(slot);
        self.last
    }

    /// Payload `number`; `None` if it was overwritten, or never stored.
    pub fn get(&self, number: u32) -> Option<&T> {
        let (_, slot) = self.slots.get((number % self.size) as usize).filter(|(n, _)| *n == number && number != 0)?;
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_payloads_can_be_read_and_older_ones_are_missed() {
        let mut ring = Payloads::new(3);
        let numbers: Vec<u32> = (10..15).map(|x| ring.put(|slot: &mut u8| *slot = x)).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5]);
        let read: Vec<Option<u8>> = numbers.iter().map(|n| ring.get(*n).copied()).collect();
        assert_eq!(read, [None, None, Some(12), Some(13), Some(14)]);
        assert_eq!((ring.get(0), ring.get(6)), (None, None));
    }
}
