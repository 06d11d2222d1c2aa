//! `[[program]]`: a program that an emulation starts in a host.

use super::error::FileError;
use super::reader::Val;
use contend_core::Time;

/// A program of an emulation. Whether there is such a host is known when the emulation begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSpec {
    /// Name of its host; `None`: the first station.
    pub host: Option<String>,
    /// The command line, for `sh`.
    pub run: String,
    /// When it starts.
    pub start: Time,
}

impl ProgramSpec {
    pub(super) fn read(v: &Val) -> Result<ProgramSpec, FileError> {
        let mut f = v.table()?;
        let host = f.read("in", |v| Ok(v.text()?.to_string()))?;
        let run = f.need("run", "\"iperf3 -s\"")?.text()?.to_string();
        let start = f.read("start", |v| Ok(Time::ZERO + v.span()?))?.unwrap_or(Time::ZERO);
        f.finish()?;
        Ok(ProgramSpec { host, run, start })
    }
}
