//! The limit of file descriptors.

use crate::Result;
use crate::error::of_system;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Descriptors that a program needs besides its connections, with a margin.
pub const OTHERS: usize = 32;

/// How many file descriptors this process may open, after the soft limit was raised to `need` if it is lower: at most
/// to the hard limit.
///
/// # Errors
/// When the system does not tell the limit.
pub fn raised(need: usize) -> Result<usize> {
    let (soft, hard) =
        getrlimit(Resource::RLIMIT_NOFILE).map_err(|e| of_system("the limit of file descriptors is unknown", e))?;
    let wanted = (need as u64).min(hard);
    let limit = if soft < wanted && setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok() { wanted } else { soft };
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}
