//! Deploys algorithms of contend-core into the Linux kernel: congestion controllers by BPF struct_ops, control blocks
//! as tc programs.
//!
//! Each program is a *twin*: its arithmetic is C text that also compiles for the host, and tests compare Rust, C on the
//! host and C in the kernel for equality. The programs are in `c/`, compiled ones in `objects/`. The crate feature
//! `bpf` adds the loader and needs libelf, zlib, make and a C compiler; without it this crate still says what can be
//! deployed and what this machine lacks.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(feature = "bpf")]
pub mod active;
pub mod block;
pub mod capability;
#[cfg(feature = "bpf")]
pub mod load;
pub mod settings;
#[cfg(feature = "bpf")]
pub mod tc;
pub mod twin;

pub use block::Block;
pub use capability::Capability;
pub use twin::Twin;
