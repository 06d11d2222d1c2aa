//! Whether an episode was needed (RFC 3708 §3; Linux's `tcp_try_undo_dsack`): it was not when everything it sent again
//! is reported as a duplicate.

/// What is known of the last episode.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// Oldest unacknowledged byte when it began (`undo_marker`), and the retransmissions of the connection before it;
    /// `None` when there is none to undo.
    began: Option<(u64, u32)>,
    /// Duplicates reported since.
    duplicates: u32,
}

impl Undo {
    /// An episode begins at the oldest unacknowledged byte `una` after `resent` retransmissions.
    pub fn begin(&mut self, una: u64, resent: u32) {
        *self = Undo { began: Some((una, resent)), duplicates: 0 };
    }

    /// A timeout: nothing is to be undone.
    pub fn forget(&mut self) {
        self.began = None;
    }

    /// An acknowledgment that perhaps reports a duplicate, after `resent` retransmissions: whether the episode was not
    /// needed, told once.
    pub fn on_ack(&mut self, duplicate: Option<(u64, u64)>, resent: u32) -> bool {
        let Some((una, before)) = self.began else { return false };
        // What was sent again before is not this episode's.
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
        // Two sent again; a duplicate from before the episode, then both, and it is told once.
        assert_eq!(
            [(4000, 5000), (5000, 6000), (8000, 9000), (8000, 9000)].map(|d| u.on_ack(Some(d), 9)),
            [false, false, true, false]
        );
        u.begin(9000, 9);
        u.forget();
        assert!(!u.on_ack(Some((9000, 10_000)), 10));
    }
}
