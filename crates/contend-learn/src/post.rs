//! Where an agent in a network and the program outside meet.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the program wants of an agent, and what the agent has seen since the last step.
#[derive(Debug)]
pub(crate) struct Post {
    /// The bits of the action.
    action: AtomicU64,
    seen: Mutex<Seen>,
}

/// What an agent has seen since the last step. Each kind of agent uses what it needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// The agent's own level at the end of the step: window, backlog, contention window.
    pub(crate) level: f64,
    /// Things that came: segments acknowledged, packets offered, attempts.
    pub(crate) came: u64,
    /// Bytes that went through.
    pub(crate) bytes: u64,
    /// Of those that came: lost, dropped, failed.
    pub(crate) lost: u64,
    /// Of those that came: with a mark.
    pub(crate) marked: u64,
    /// Samples of a time or length, their sum, and the smallest of the episode.
    pub(crate) samples: u64,
    pub(crate) sum: f64,
    pub(crate) least: f64,
}

impl Seen {
    /// Adds a sample.
    pub(crate) fn sample(&mut self, x: f64) {
        self.samples += 1;
        self.sum += x;
        self.least = if self.least > 0.0 { self.least.min(x) } else { x };
    }

    /// The mean of the samples; 0 without any.
    pub(crate) fn mean(&self) -> f64 {
        if self.samples == 0 { 0.0 } else { self.sum / self.samples as f64 }
    }

    /// `n` as a share of what came; 0 if nothing came.
    pub(crate) fn share(&self, n: u64) -> f64 {
        if self.came == 0 { 0.0 } else { n as f64 / self.came as f64 }
    }
}

thread_local! {
    /// The posts of the network that this thread builds; `None` if none is built for episodes.
    static BUILT: RefCell<Option<Vec<Arc<Post>>>> = const { RefCell::new(None) };
}

impl Post {
    /// A post for an agent that is being built. `usual` is its action until the program gives one.
    pub(crate) fn new(usual: f64) -> Arc<Post> {
        let seen = Mutex::new(Seen { level: usual, ..Seen::default() });
        let post = Arc::new(Post { action: AtomicU64::new(usual.to_bits()), seen });
        // Also networks that are only tried have agents; nobody asks for those.
        BUILT.with_borrow_mut(|built| built.iter_mut().for_each(|all| all.push(Arc::clone(&post))));
        post
    }

    /// Calls `build`, and returns the posts of the agents that are in what it has built, in their order.
    pub(crate) fn of<T>(build: impl FnOnce() -> T) -> (T, Vec<Arc<Post>>) {
        BUILT.set(Some(Vec::new()));
        let built = build();
        let mut posts = BUILT.take().unwrap_or_default();
        // A network tries algorithms before it builds its own; nobody has those any more.
        posts.retain(|post| Arc::strong_count(post) > 1);
        (built, posts)
    }

    /// The action.
    pub(crate) fn action(&self) -> f64 {
        f64::from_bits(self.action.load(Ordering::Relaxed))
    }

    /// Sets the action.
    pub(crate) fn act(&self, action: f64) {
        self.action.store(action.to_bits(), Ordering::Relaxed);
    }

    /// What was seen since the last [`Post::take`]. Only one thread at a time steps a network, so nobody waits.
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was seen; level and smallest sample stay.
    pub(crate) fn take(&self) -> Seen {
        let mut seen = self.seen();
        let Seen { level, least, .. } = *seen;
        std::mem::replace(&mut *seen, Seen { level, least, ..Seen::default() })
    }
}
