//! Watches the TCP senders of this machine: window, round-trip time, and each error with its kind.
//!
//! Arai et al. 2008 §II.C built such a monitor into the kernel. Here the kernel is asked a hundred times a second about
//! each socket, exactly by its identity, which needs no privileges and takes some microseconds. A change that comes and
//! goes between two samples shows in counters (retransmissions, timeouts), but the window between them does not.
//!
//! A capture of the sending host (tcpdump) tells every segment instead, but not what the kernel thinks: [`capture`].

pub mod capture;
#[cfg(target_os = "linux")]
mod record;
mod segment;
pub mod summary;
pub mod trace;

#[cfg(target_os = "linux")]
pub use record::{Counted, Settings, record};
