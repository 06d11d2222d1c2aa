//! The journal: each finished run is appended at once. A call that is killed loses only the runs in progress.
//!
//! `journal.jsonl` holds one JSON array on each line: `[RECORD,LENGTH,"CHECK"]`. LENGTH is the number of bytes of
//! RECORD. CHECK is the CRC-32 of RECORD (as in zlib) in 8 hex digits. RECORD of the first line is the [`Header`].
//! RECORD of each later line is a run: `point`, `overlay`, `seed`, `run` (as in `summary.json`) and `kept` (the series
//! and histograms that figures and claims need). `docs/journal.md` has the details. The journal ends before the first
//! line that is incomplete or does not match its check value. Captured frames are not stored; they are simulated again.

use crate::disk;
use contend_core::Span;
use contend_experiment::results::{PointKey, Run, Series, Successes};
use contend_judge::execute::Workshop;
use contend_sim::stats::Durations;
use contend_sim::wifi::{AP, StationId, Success};
use crc32fast::Hasher;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The journal's name in its folder.
pub const NAME: &str = "journal.jsonl";
/// The journal's format.
pub const SCHEMA: &str = "contend/journal/4";
/// Minimum time between two synchronisations (fsync). A power failure can lose the runs of this time.
const UNSYNCED: Duration = Duration::from_secs(1);

/// What identifies the runs of a journal. The runs of two calls fit together if all fields except `command` are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of contend.
    pub version: String,
    /// Command line of the call that began the journal.
    pub command: String,
    /// Text of the experiment file, without the head of a `run.toml`.
    pub experiment: String,
    /// Settings of the call as `key=value`; `--seeds` and `--sweep` are among them.
    pub settings: Vec<String>,
    /// Path and check value of each trace that a rate of a wire follows.
    #[serde(default)]
    pub traces: Vec<(String, u32)>,
    /// The interval in which the first run captures frames: from and to, in nanoseconds.
    pub frames_ns: Option<(u64, u64)>,
}

impl Header {
    /// Names the first part in which `self` and `other` differ; `None` if their runs fit together.
    pub fn differs(&self, other: &Header) -> Option<&'static str> {
        let differences = [
            (self.schema != other.schema, "the journal's format"),
            (self.version != other.version, "the version of contend"),
            (self.experiment != other.experiment, "the text of the experiment"),
            (self.settings != other.settings, "--set, --sweep, --seeds or --decide"),
            (self.traces != other.traces, "a trace of the experiment"),
            (self.frames_ns != other.frames_ns, "--capture"),
        ];
        differences.iter().find(|d| d.0).map(|d| d.1)
    }
}

/// The journal of a call, open for appending.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    writer: Mutex<Writer>,
    earlier: Earlier,
}

/// Runs of earlier calls, or made by others, that nobody has taken yet, by [`key`].
#[derive(Debug, Default)]
struct Earlier(Mutex<BTreeMap<String, Run>>);

impl Earlier {
    fn runs(&self) -> MutexGuard<'_, BTreeMap<String, Run>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, point: &PointKey, overlay: &PointKey, seed: u64) -> Option<Run> {
        self.runs().remove(&key(point, overlay, seed))
    }
}

#[derive(Debug)]
struct Writer {
    file: disk::File,
    /// Length of all complete lines in bytes.
    len: u64,
    /// Number of runs in these lines.
    runs: usize,
    synced: Instant,
    failure: Option<io::Error>,
}

/// The record of one run.
#[derive(Serialize)]
struct Written<'a> {
    point: &'a PointKey,
    overlay: &'a PointKey,
    seed: u64,
    run: &'a Run,
    kept: Kept<'a>,
}

#[derive(Deserialize)]
struct Read {
    point: PointKey,
    overlay: PointKey,
    run: Run,
    kept: KeptRead,
}

impl Journal {
    /// Creates a journal with `header` in `folder`.
    ///
    /// # Errors
    /// When the file cannot be written; [`io::ErrorKind::AlreadyExists`] if another process has taken the folder.
    pub fn create(folder: &Path, header: &Header) -> io::Result<Journal> {
        let path = folder.join(NAME);
        let file = disk::File::create_new(&path)?;
        if !file.lock_new() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let journal = Journal::of(path, file, 0, BTreeMap::new());
        {
            let mut w = journal.writer();
            w.append(header)?;
            w.file.sync()?;
        }
        Ok(journal)
    }

    /// Copies the journal of the folder `from` into the folder `to`.
    ///
    /// # Errors
    /// When a file cannot be read or written; [`io::ErrorKind::AlreadyExists`] if another process has taken `to`.
    pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
        // Only `to` may be missing, because another call has taken it.
        let mut journal = std::fs::File::open(from.join(NAME)).map_err(io::Error::other)?;
        let mut file = disk::File::create_new(&to.join(NAME))?;
        // Until it has its runs, the copy looks like one that nobody needs.
        if !file.lock_new() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        io::copy(&mut journal, &mut file).map(drop)
    }

    /// The header of the journal in `folder` and the number of its runs. `None` if there is no readable journal, or if
    /// another process appends to it.
    pub fn look(folder: &Path) -> Option<(Header, usize)> {
        let path = folder.join(NAME);
        if !disk::File::existing(&path).ok()?.lock() {
            return None;
        }
        let (mut header, mut runs) = (None, 0);
        lines(&path, |record| {
            match &header {
                None => header = Some(serde_json::from_slice::<Header>(record)?),
                Some(_) => runs += 1,
            }
            Ok(())
        })
        .ok()?;
        Some((header?, runs))
    }

    /// Removes the journal in `folder` if it has no run and no process appends to it; true if it did.
    pub fn remove_empty(folder: &Path) -> bool {
        let path = folder.join(NAME);
        let Some(file) = disk::File::existing(&path).ok().filter(disk::File::lock_to_remove) else { return false };
        // The first line is the header. A damaged line may be a run, which is for the user to remove.
        let ends = |f| BufReader::new(f).bytes().filter(|b| !matches!(b, Ok(byte) if *byte != b'\n')).take(2).count();
        let is_empty = std::fs::File::open(&path).is_ok_and(|f| ends(f) < 2);
        // The lock is kept until the file is gone.
        let is_gone = is_empty && disk::remove_file(&path).is_ok();
        drop(file);
        is_gone
    }

    /// Opens the journal in `folder` to append to it. `None` if another process appends to it.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is not a journal.
    pub fn resume(folder: &Path) -> io::Result<Option<Journal>> {
        let path = folder.join(NAME);
        // Nothing is cut off before the file is known to be nobody's.
        let file = disk::File::existing(&path)?;
        if !file.lock() {
            return Ok(None);
        }
        let (mut first, mut earlier) = (true, BTreeMap::new());
        let len = lines(&path, |record| {
            if std::mem::take(&mut first) {
                return Ok(());
            }
            let (key, run) = earlier_run(record)?;
            earlier.insert(key, run);
            Ok(())
        })?;
        file.truncate(len)?;
        Ok(Some(Journal::of(path, file, len, earlier)))
    }

    fn of(path: PathBuf, file: disk::File, len: u64, earlier: BTreeMap<String, Run>) -> Journal {
        let writer = Writer { file, len, runs: earlier.len(), synced: now(), failure: None };
        Journal { path, writer: Mutex::new(writer), earlier: Earlier(Mutex::new(earlier)) }
    }

    /// Appends the runs of the journal in `folder`, which are earlier runs from then on.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn take_in(&self, folder: &Path) -> io::Result<()> {
        let (mut first, mut w) = (true, self.writer());
        let mut earlier = self.earlier.runs();
        whole_lines(&folder.join(NAME), |line, record| {
            if std::mem::take(&mut first) {
                return Ok(());
            }
            let (key, run) = earlier_run(record)?;
            if earlier.insert(key, run).is_none() {
                w.file.write_all(line)?;
                w.len += line.len() as u64;
                w.runs += 1;
            }
            Ok(())
        })?;
        w.file.sync()
    }

    /// Why an append failed; `None` if none has failed.
    pub fn failure(&self) -> Option<String> {
        self.writer().failure.as_ref().map(|e| format!("cannot write {}: {e}", self.path.display()))
    }

    /// True if it has the run of an earlier call that nobody has taken yet.
    pub fn has(&self, point: &PointKey, overlay: &PointKey, seed: u64) -> bool {
        self.earlier.runs().contains_key(&key(point, overlay, seed))
    }

    /// The number of runs in the journal.
    pub fn runs(&self) -> usize {
        self.writer().runs
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One run after another, each kept. After the first failure nothing is appended.
impl Workshop for Journal {
    fn earlier(&self, point: &PointKey, overlay: &PointKey, seed: u64) -> Option<Run> {
        self.earlier.take(point, overlay, seed)
    }

    fn keep(&self, point: &PointKey, overlay: &PointKey, run: &Run) {
        let mut w = self.writer();
        if w.failure.is_some() {
            return;
        }
        let record = Written { point, overlay, seed: run.seed, run, kept: Kept::of(run) };
        let done = w.append(&record).and_then(|()| {
            w.runs += 1;
            if w.synced.elapsed() < UNSYNCED {
                return Ok(());
            }
            w.synced = now();
            w.file.sync()
        });
        w.failure = done.err();
    }

    fn is_full(&self) -> bool {
        self.writer().failure.is_some()
    }
}

/// What a journal is, in memory: records of runs without lines. Workers of a page exchange them.
#[derive(Debug, Default)]
pub struct Records {
    earlier: Earlier,
    made: Mutex<Vec<String>>,
}

impl Records {
    /// The runs of these records are earlier runs.
    ///
    /// # Errors
    /// When one is no record.
    pub fn of(records: &[String]) -> io::Result<Records> {
        let earlier = records.iter().map(|record| earlier_run(record.as_bytes())).collect::<io::Result<_>>()?;
        Ok(Records { earlier: Earlier(Mutex::new(earlier)), made: Mutex::default() })
    }

    /// The records of the runs that were kept.
    pub fn made(self) -> Vec<String> {
        self.made.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One run after another, each kept.
impl Workshop for Records {
    fn earlier(&self, point: &PointKey, overlay: &PointKey, seed: u64) -> Option<Run> {
        self.earlier.take(point, overlay, seed)
    }

    fn keep(&self, point: &PointKey, overlay: &PointKey, run: &Run) {
        let record = Written { point, overlay, seed: run.seed, run, kept: Kept::of(run) };
        // Cannot fail: all map keys are strings. A run without a record would be made again.
        if let Ok(record) = serde_json::to_string(&record) {
            self.made.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "only spaces the calls of fsync; results do not depend on it")]
fn now() -> Instant {
    Instant::now()
}

/// The run of a record, and its [`key`].
fn earlier_run(record: &[u8]) -> io::Result<(String, Run)> {
    let mut read: Read = serde_json::from_slice(record)?;
    read.kept.give_back(&mut read.run);
    Ok((key(&read.point, &read.overlay, read.run.seed), read.run))
}

/// A text that identifies a run by its point, overlay and seed.
fn key(point: &PointKey, overlay: &PointKey, seed: u64) -> String {
    // Cannot fail: all map keys are strings.
    serde_json::to_string(&(point, overlay, seed)).unwrap_or_default()
}

impl Writer {
    /// Appends one line. After an error the file ends where it ended before.
    fn append(&mut self, record: &impl Serialize) -> io::Result<()> {
        let done = line(&mut self.file, record);
        match &done {
            Ok(len) => self.len += len,
            // If truncation fails too, the check value reveals the incomplete line.
            Err(_) => self.file.truncate(self.len)?,
        }
        done.map(drop)
    }
}

/// Writes the line of `record`; returns its length.
fn line(file: &mut disk::File, record: &impl Serialize) -> io::Result<u64> {
    file.write_all(b"[")?;
    // The check value is of whole buffers: the record comes in pieces of a few bytes.
    let checked = Checked { out: file, len: 0, crc: Hasher::new() };
    let mut w = BufWriter::with_capacity(1 << 16, checked);
    let written = serde_json::to_writer(&mut w, record).map_err(io::Error::from).and_then(|()| w.flush());
    // After an error the buffered rest must not be written: drop it.
    let (Checked { out, len, crc }, _) = w.into_parts();
    written?;
    let end = format!(",{len},\"{:08x}\"]\n", crc.finalize());
    out.write_all(end.as_bytes())?;
    Ok(1 + len + end.len() as u64)
}

/// A writer that counts the bytes and computes their CRC-32.
struct Checked<W> {
    out: W,
    len: u64,
    crc: Hasher,
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.len += n as u64;
        self.crc.update(bytes.get(..n).unwrap_or_default());
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The check value of `bytes`.
pub(crate) fn check(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The record of a line, if the line is complete and matches its check value.
fn checked(line: &[u8]) -> Option<&[u8]> {
    let text = line.strip_prefix(b"[")?.strip_suffix(b"\"]\n")?;
    let (text, check) = text.split_at_checked(text.len().checked_sub(8)?)?;
    let text = text.strip_suffix(b",\"")?;
    let comma = text.iter().rposition(|b| *b == b',')?;
    let (record, len) = (text.get(..comma)?, text.get(comma + 1..)?);
    let crc = self::check(record);
    (len == record.len().to_string().as_bytes() && check == format!("{crc:08x}").as_bytes()).then_some(record)
}

/// Passes the record of each line to `each`, up to the first damaged line. Returns the number of bytes before that
/// line.
fn lines(path: &Path, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<u64> {
    whole_lines(path, |_, record| each(record))
}

/// As [`lines`], with the whole line too.
fn whole_lines(path: &Path, mut each: impl FnMut(&[u8], &[u8]) -> io::Result<()>) -> io::Result<u64> {
    let mut file = BufReader::new(std::fs::File::open(path)?);
    let (mut line, mut good) = (Vec::new(), 0);
    loop {
        line.clear();
        file.read_until(b'\n', &mut line)?;
        let Some(record) = checked(&line) else { return Ok(good) };
        each(&line, record)?;
        good += line.len() as u64;
    }
}

/// The series, histograms and successes of a run.
#[derive(Serialize)]
struct Kept<'a> {
    stations: &'a [String],
    bss: &'a [StationId],
    contending: Option<u32>,
    arguments: &'a BTreeMap<String, f64>,
    series: &'a Series,
    /// Round-trip times and one-way delays, by flow.
    flows: Vec<[Histogram; 2]>,
    /// Delays, by queue.
    queues: Vec<Histogram>,
    /// [`contend_experiment::results::Transmitter::busy`], by transmitter.
    busy: Vec<Option<f64>>,
    successes: Option<SuccessList<Codes<'a>>>,
}

#[derive(Deserialize)]
struct KeptRead {
    stations: Vec<String>,
    bss: Vec<StationId>,
    contending: Option<u32>,
    arguments: BTreeMap<String, f64>,
    series: Series,
    flows: Vec<[Histogram; 2]>,
    queues: Vec<Histogram>,
    #[serde(default)]
    busy: Vec<Option<f64>>,
    successes: Option<SuccessList<Vec<u64>>>,
}

/// A histogram of durations; empty buckets are left out.
#[derive(Serialize, Deserialize)]
struct Histogram {
    zeros: u64,
    /// Durations other than zero: their number and sum.
    others: u64,
    sum_ns: u64,
    /// Upper end of each bucket in microseconds, and its count.
    buckets: Vec<(u64, u32)>,
}

#[derive(Serialize, Deserialize)]
struct SuccessList<Sequence> {
    warmup: usize,
    /// One number for each success: twice the station's number, plus 1 if the access point sent.
    sequence: Sequence,
}

struct Codes<'a>(&'a [Success]);

impl Serialize for Codes<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.0.iter().map(|s| 2 * u64::from(s.station()) + u64::from(s.is_down())))
    }
}

impl Kept<'_> {
    fn of(run: &Run) -> Kept<'_> {
        let histogram = |d: &Durations| {
            let (zeros, others, sum, buckets) = d.to_parts();
            Histogram { zeros, others, sum_ns: sum.as_nanos(), buckets }
        };
        Kept {
            stations: &run.stations,
            bss: &run.bss,
            contending: run.contending,
            arguments: &run.arguments,
            series: &run.detail.series,
            flows: run.flows.iter().map(|f| [histogram(&f.rtt), histogram(&f.delay)]).collect(),
            queues: run.queues.iter().map(|q| histogram(&q.delay)).collect(),
            busy: run.transmitters.iter().map(|t| t.busy).collect(),
            successes: run
                .detail
                .successes
                .as_ref()
                .map(|s| SuccessList { warmup: s.warmup, sequence: Codes(&s.sequence) }),
        }
    }
}

impl KeptRead {
    fn give_back(self, run: &mut Run) {
        let durations =
            |h: &Histogram| Durations::from_parts(h.zeros, h.others, Span::from_nanos(h.sum_ns), &h.buckets);
        let success = |n: &u64| {
            let station = (n / 2) as u32;
            if n % 2 == 1 { Success::new(AP, station) } else { Success::new(station, AP) }
        };
        (run.stations, run.bss) = (self.stations, self.bss);
        (run.contending, run.arguments) = (self.contending, self.arguments);
        run.detail.series = self.series;
        for (flow, [rtt, delay]) in run.flows.iter_mut().zip(&self.flows) {
            (flow.rtt, flow.delay) = (durations(rtt), durations(delay));
        }
        for (queue, delay) in run.queues.iter_mut().zip(&self.queues) {
            queue.delay = durations(delay);
        }
        for (transmitter, busy) in run.transmitters.iter_mut().zip(self.busy) {
            transmitter.busy = busy;
        }
        run.detail.successes =
            self.successes.map(|s| Successes { sequence: s.sequence.iter().map(success).collect(), warmup: s.warmup });
    }
}
