//! A recording: every packet that entered, with its time, as a file. [`crate::replay`] repeats the run from it.
//!
//! The file begins with a line of text that names the run, then come records: time in nanoseconds (8 bytes), host (2),
//! size of the packet (2), number of bytes kept (1), these bytes. Numbers are little-endian. A record of host 65,535 is
//! the end of the run.

use crate::bytes::HEADERS;
use contend_core::Refusal;
use contend_core::Time;
use contend_lab::experiment::results::PointKey;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

/// The folder of recordings in a results folder.
pub const FOLDER: &str = "entries";
const MAGIC: &str = "contend entries 1";
const END: u16 = u16::MAX;
/// Bytes that are written at once.
const BLOCK: usize = 1 << 16;

/// The line that names a run.
fn title(point: &PointKey, seed: u64) -> String {
    format!("{MAGIC} seed {seed} point {point:?}")
}

/// The line that names the run of a recording.
fn first_line(path: &Path) -> io::Result<String> {
    let mut line = Vec::new();
    BufReader::new(File::open(path)?).read_until(b'\n', &mut line)?;
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// Writes a recording. Another thread writes to the disk, so that nobody waits for it.
#[derive(Debug)]
pub struct Recorder {
    block: Vec<u8>,
    blocks: Option<mpsc::Sender<Vec<u8>>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Recorder {
    /// Begins the recording of a run in `folder`, which is made if there is none. An earlier attempt of the same run is
    /// overwritten.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn begin(folder: &Path, point: &PointKey, seed: u64) -> io::Result<Recorder> {
        std::fs::create_dir_all(folder)?;
        let title = title(point, seed);
        let paths: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|e| e.path()).collect();
        let new = folder.join(format!("{}.bin", paths.len() + 1));
        let path = paths.into_iter().find(|path| first_line(path).is_ok_and(|line| line == title)).unwrap_or(new);
        let mut file = File::create(path)?;
        writeln!(file, "{title}")?;
        let (blocks, todo) = mpsc::channel::<Vec<u8>>();
        let write = move || todo.iter().try_for_each(|block| file.write_all(&block));
        let thread = std::thread::Builder::new().name("recorder".into()).spawn(write)?;
        Ok(Recorder { block: Vec::with_capacity(BLOCK), blocks: Some(blocks), thread: Some(thread) })
    }

    /// `packet` of host `host` entered at `at`.
    pub fn entry(&mut self, at: Time, host: usize, packet: &[u8]) {
        self.put(at, host as u16, packet);
        if self.block.len() + HEADERS + 13 > BLOCK {
            self.flush();
        }
    }

    /// The run ends at `at`.
    ///
    /// # Errors
    /// When something could not be written.
    pub fn end(mut self, at: Time) -> io::Result<()> {
        self.put(at, END, &[]);
        self.flush();
        self.blocks = None;
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        ended.unwrap_or_else(|| Err(io::Error::other("the thread that writes has ended")))
    }

    fn put(&mut self, at: Time, host: u16, packet: &[u8]) {
        let kept = packet.len().min(HEADERS);
        self.block.extend(at.as_nanos().to_le_bytes());
        self.block.extend(host.to_le_bytes());
        self.block.extend((packet.len() as u16).to_le_bytes());
        self.block.push(kept as u8);
        self.block.extend(&packet[..kept]);
    }

    fn flush(&mut self) {
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(BLOCK));
        if let Some(blocks) = &self.blocks {
            let _ = blocks.send(block);
        }
    }
}

/// What a recording says next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A packet.
    Packet {
        /// When it entered.
        at: Time,
        /// The host that sent it.
        host: usize,
        /// Its size in bytes.
        whole: usize,
        /// Its headers.
        bytes: Vec<u8>,
    },
    /// The run ended.
    End(Time),
}

/// Reads a recording.
#[derive(Debug)]
pub struct Recording {
    file: BufReader<File>,
    path: PathBuf,
    /// When the last entry was.
    last: Time,
}

impl Recording {
    /// The recording of a run in `folder`.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn of(folder: &Path, point: &PointKey, seed: u64) -> Result<Recording, Refusal> {
        let wanted = title(point, seed);
        let failed = |e: io::Error| {
            Refusal::new(format!("{}: {e}", folder.display()), "give the results folder of `contend emulate`")
        };
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).map_err(failed)?.flatten().map(|e| e.path()).collect();
        paths.sort();
        for path in paths {
            let mut file = BufReader::new(File::open(&path).map_err(failed)?);
            let mut line = Vec::new();
            file.by_ref().take(1 << 16).read_until(b'\n', &mut line).map_err(failed)?;
            if String::from_utf8_lossy(&line).trim_end() == wanted {
                return Ok(Recording { file, path, last: Time::ZERO });
            }
        }
        Err(Refusal::new(
            format!("{}: no recording of seed {seed} at this point", folder.display()),
            "replay with the run.toml and the options of the emulation",
        ))
    }

    /// The next entry, of one of `hosts` hosts.
    ///
    /// # Errors
    /// When the file is cut off or damaged, or cannot be read.
    pub fn read(&mut self, hosts: usize) -> Result<Entry, Refusal> {
        const REMEDY: &str = "emulate again: this recording cannot be repeated";
        let failed = |e: io::Error, path: &Path| {
            Refusal::new(format!("{}: the recording is cut off: {e}", path.display()), REMEDY)
        };
        let mut head = [0; 13];
        self.file.read_exact(&mut head).map_err(|e| failed(e, &self.path))?;
        let [a, b, c, d, e, f, g, h, host, ost, whole, hole, kept] = head;
        let at = Time::from_nanos(u64::from_le_bytes([a, b, c, d, e, f, g, h]));
        let host = u16::from_le_bytes([host, ost]);
        let whole = usize::from(u16::from_le_bytes([whole, hole]));
        let is_packet = usize::from(host) < hosts && usize::from(kept) == whole.min(HEADERS);
        if at < self.last || (host != END && !is_packet) {
            return Err(Refusal::new(format!("{}: the recording is damaged", self.path.display()), REMEDY));
        }
        self.last = at;
        if host == END {
            return Ok(Entry::End(at));
        }
        let mut bytes = vec![0; usize::from(kept)];
        self.file.read_exact(&mut bytes).map_err(|e| failed(e, &self.path))?;
        Ok(Entry::Packet { at, host: usize::from(host), whole, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_is_read_back_and_runs_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let point = PointKey::new();
        let at = Time::from_nanos;
        for seed in 1..3 {
            let mut r = Recorder::begin(folder.path(), &point, seed).unwrap();
            (0..2000).for_each(|i| r.entry(at(seed * i), i as usize % 7, &vec![i as u8; 40 + (i as usize % 1400)]));
            r.end(at(1 << 40)).unwrap();
        }
        let mut r = Recording::of(folder.path(), &point, 2).unwrap();
        for i in 0..2000_u64 {
            let whole = 40 + (i as usize % 1400);
            let bytes = vec![i as u8; whole.min(HEADERS)];
            assert_eq!(r.read(7), Ok(Entry::Packet { at: at(2 * i), host: i as usize % 7, whole, bytes }));
        }
        assert_eq!(r.read(7), Ok(Entry::End(at(1 << 40))));
        assert!(r.read(7).unwrap_err().to_string().contains("cut off"));
        assert!(Recording::of(folder.path(), &point, 3).unwrap_err().to_string().contains("no recording of seed 3"));
    }

    #[test]
    fn a_damaged_recording_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut r = Recorder::begin(folder.path(), &PointKey::new(), 1).unwrap();
        [5, 6].into_iter().for_each(|ns| r.entry(Time::from_nanos(ns), 1, &[7; 40]));
        r.end(Time::from_nanos(9)).unwrap();
        let path = folder.path().join("1.bin");
        let sound = std::fs::read(&path).unwrap();
        let start = sound.iter().position(|b| *b == b'\n').unwrap() + 1;
        // Of the second entry: an earlier time, another host, a size that what is kept contradicts.
        for (at, byte) in [(0, 4), (8, 2), (10, 39), (12, 41)] {
            let mut wrong = sound.clone();
            wrong[start + 13 + 40 + at] = byte;
            std::fs::write(&path, wrong).unwrap();
            let mut r = Recording::of(folder.path(), &PointKey::new(), 1).unwrap();
            assert!(r.read(2).is_ok());
            assert!(r.read(2).unwrap_err().to_string().contains("damaged"), "byte {at}");
        }
    }
}
