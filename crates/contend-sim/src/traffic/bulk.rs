//! Unlimited data at once: a file transfer that does not end before the run.

use super::{AppWrite, Source};
use contend_core::Cx;
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};

/// Source.
pub const CITE: &str = "greedy source, ns-2's Application/FTP";
/// What it does.
pub const SUMMARY: &str = "A bulk transfer: it always has data to send.";
/// Parameters.
pub const PARAMS: &[Param] = &[];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// Builds the source.
///
/// # Errors
/// Never: there are no parameters.
pub fn build(_: &Args) -> Result<Box<dyn Source>, Refusal> {
    Ok(Box::new(Bulk { written: false }))
}

/// A single write of more bytes than a run can send.
#[derive(Debug)]
struct Bulk {
    written: bool,
}

impl Source for Bulk {
    fn next(&mut self, cx: &mut Cx, _: u32) -> Option<AppWrite> {
        let first = !std::mem::replace(&mut self.written, true);
        first.then_some(AppWrite::new(cx.now, u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::writes;
    use super::*;
    use contend_core::Time;

    #[test]
    fn there_is_one_write_at_the_start() {
        let start = Time::from_nanos(7);
        assert_eq!(
            writes(&mut *build(&Args::default()).unwrap(), 1, start, Time::NEVER),
            [AppWrite::new(start, u64::MAX)]
        );
    }
}
