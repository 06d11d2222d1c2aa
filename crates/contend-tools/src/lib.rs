//! Tools on real networks: a split-connection TCP proxy, and what the papers measured with.
//!
//! | module | what | source |
//! | --- | --- | --- |
//! | [`proxy`] | relays TCP connections; its own connections have the congestion control and rate asked for | Arai et al. 2008 §III.C |
//! | [`cbr`] | UDP source of constant or stepped rate, with pings, and its sink | Starzetz 2006 §6.3.1 |
//! | [`htbench`] | HTTP client that records how the volume of each transfer grows, and a server for it | Starzetz 2006 §6.3.2 |
//! | [`ap_buffer`] | how many packets the queue of a bottleneck holds | Arai et al. 2008 §III.A |
//! | [`monitor`] | window and errors of the TCP senders of this machine | Arai et al. 2008 §II.C |
//!
//! Every tool is one thread that waits for sockets with epoll or poll. A [`Stop`] ends it from outside. What comes from
//! the network is untrusted: it never causes a panic, and what is stored because of it is bounded.
//!
//! Everything but reading a trace of [`monitor`] needs Linux.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(target_os = "linux")]
pub mod address;
#[cfg(target_os = "linux")]
pub mod ap_buffer;
#[cfg(target_os = "linux")]
pub mod cbr;
#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
pub mod descriptors;
pub mod error;
#[cfg(target_os = "linux")]
pub mod htbench;
pub mod monitor;
#[cfg(target_os = "linux")]
pub mod proxy;
#[cfg(target_os = "linux")]
pub mod sock_diag;
#[cfg(target_os = "linux")]
pub mod stop;
#[cfg(target_os = "linux")]
pub mod tcp;
pub mod tcp_info;
#[cfg(target_os = "linux")]
pub mod udp;

pub use error::Result;
#[cfg(target_os = "linux")]
pub use stop::Stop;
