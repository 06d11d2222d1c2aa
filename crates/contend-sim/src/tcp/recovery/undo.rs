//! Detects an unnecessary episode (RFC 3708 §3; Linux's `tcp_try_undo_dsack`): all its retransmissions are reported as
//! duplicates.

/// The state of the last episode.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// Oldest unacknowledged byte when the episode began (`undo_marker`), and the number of earlier retransmissions of
    /// the connection; `None` if there is no episode to undo.
    began: Option<(u64, u32)>,
    /// Number of duplicates reported since the episode began.
    duplicates: u32,
}

impl Undo {
    /// An episode begins at the oldest unacknowledged byte `una` after `resent` retransmissions.
    pub fn begin(&mut self, una: u64, resent: u32) {
        *self = Undo { began: Some((una, resent)), duplicates: 0 };
    }

    /// After a timeout there is nothing to undo.
    pub fn forget(&mut self) {
        self.began = None;
    }

    /// Processes an acknowledgment that may report a duplicate, after `resent` retransmissions. True, once, if the
    /// episode was not needed.
    pub fn on_ack(&mut self, duplicate: Option<(u64, u64)>, resent: u32) -> bool {
        let Some((una, before)) = self.began else { return false };
        // Earlier retransmissions do not belong to this episode.
        if duplicate.is_none_or(|d| d.1 <= una) {
            return false;
        }
        self.duplicates += 1;
        let all = self.duplicates >= resent.wrapping_sub(before);
        if all {
            self.forget();
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_was_not_needed_when_all_that_it_sent_again_came_twice() {
        let mut u = Undo::default();
        assert!(!u.on_ack(Some((0, 1000)), 0));
        u.begin(5000, 7);
        // Two segments are retransmitted. A duplicate from before the episode comes first, then both: `true` is
        // returned once.
        assert_eq!(
            [(4000, 5000), (5000, 6000), (8000, 9000), (8000, 9000)].map(|d| u.on_ack(Some(d), 9)),
            [false, false, true, false]
        );
        u.begin(9000, 9);
        u.forget();
        assert!(!u.on_ack(Some((9000, 10_000)), 10));
    }
}
