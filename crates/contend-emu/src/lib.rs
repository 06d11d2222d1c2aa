//! Real TCP stacks over the simulated network, in real time.
//!
//! Each host of an experiment is a network namespace with one TUN device. The world reads packets from the devices,
//! carries them through the simulated cell and wires, and writes them to other devices when their time has come. One
//! thread does both: [`live`]. What entered is recorded, so that [`replay`] can repeat a run without hosts, with the
//! same digest.
//!
//! [`plan`] says which hosts there are, [`bytes`] and [`ties`] translate packets, [`host`] makes namespaces, [`wait`]
//! waits, [`losses`] counts what the machine lost, [`verdict`] judges that and how late packets were.
#![cfg(target_os = "linux")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod border;
pub mod bulk;
pub mod bytes;
pub mod host;
pub mod live;
pub mod losses;
pub mod needs;
mod netlink;
mod offload;
mod opened;
pub mod plan;
pub mod programs;
pub mod record;
pub mod replay;
pub mod ties;
pub mod verdict;
pub mod wait;
mod watch;
