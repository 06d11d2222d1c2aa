//! Every change that the lab makes to the file system, so that a test can let each of them fail.
//!
//! Files appear whole or not at all (`whole`), and what has a name is never overwritten by `move_aside` and
//! `put_in_place`, whatever other processes do at the same time.

use std::fs;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file being written.
#[derive(Debug)]
pub struct File {
    file: fs::File,
    path: PathBuf,
}

impl File {
    /// The file at `path`, which must not exist yet.
    pub(crate) fn create_new(path: &Path) -> io::Result<File> {
        failpoint(path)?;
        Ok(File { file: fs::File::options().write(true).create_new(true).open(path)?, path: path.to_path_buf() })
    }

    /// The file at `path`, which must exist, to be written from byte `end` on; what lies behind it is cut off.
    pub(crate) fn continued(path: &Path, end: u64) -> io::Result<File> {
        failpoint(path)?;
        let file = fs::File::options().read(true).append(true).open(path)?;
        file.set_len(end)?;
        Ok(File { file, path: path.to_path_buf() })
    }

    /// True if this process now holds the file's lock, or the file system knows no locks.
    pub(crate) fn lock(&self) -> bool {
        !matches!(self.file.try_lock(), Err(fs::TryLockError::WouldBlock))
    }

    /// Cuts the file off after `len` bytes.
    pub(crate) fn truncate(&self, len: u64) -> io::Result<()> {
        failpoint(&self.path)?;
        self.file.set_len(len)
    }

    /// Returns when the storage has the file's content.
    pub(crate) fn sync(&self) -> io::Result<()> {
        failpoint(&self.path)?;
        // Tests of this crate have no power failures, and wait for a slow disk a thousand times otherwise.
        if cfg!(test) { Ok(()) } else { self.file.sync_all() }
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        failpoint(&self.path)?;
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes the file at `path` whole or not at all: into a temporary file beside it, which takes the name when all is
/// written. An existing file is replaced; missing folders are made. `failed` says which file an error belongs to.
pub(crate) fn whole<E>(
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    written(path, failed, write, |beside| rename(beside, path))
}

/// [`whole`], but an existing file is moved aside; returns where it went.
pub(crate) fn whole_beside_earlier<E>(
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<Option<PathBuf>, E> {
    written(path, failed, write, |beside| put_in_place(beside, path))
}

fn written<E, T>(
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
    take_name: impl FnOnce(&Path) -> io::Result<T>,
) -> Result<T, E> {
    if let Some(folder) = path.parent() {
        create_dir_all(folder).map_err(&failed)?;
    }
    let (beside, file) = beside(path).map_err(&failed)?;
    let mut w = BufWriter::new(file);
    let done = write(&mut w)
        .and_then(|()| w.flush().and_then(|()| w.get_ref().sync()).and_then(|()| take_name(&beside)).map_err(&failed));
    if done.is_err() {
        // The error that counts is the first one; what is left of the temporary file is only litter.
        let _ = fs::remove_file(&beside);
    }
    done
}

/// A new file beside `path`, with a name that no other process has.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    numbered(|i| {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}-{i}.tmp", std::process::id()));
        let beside = path.with_file_name(name);
        File::create_new(&beside).map(|file| (beside, file))
    })
}

/// What `make` makes with the first number, from 1 on, whose name is free.
pub(crate) fn numbered<T>(mut make: impl FnMut(u64) -> io::Result<T>) -> io::Result<T> {
    let mut i = 1;
    loop {
        match make(i) {
            Err(e) if matches!(e.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => i += 1,
            done => return done,
        }
    }
}

/// Makes the folder at `path`, which must not exist yet.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    failpoint(path)?;
    fs::create_dir(path)
}

/// Makes the folder at `path` with all above it, as far as they are missing.
pub(crate) fn create_dir_all(path: &Path) -> io::Result<()> {
    failpoint(path)?;
    fs::create_dir_all(path)
}

/// Removes the file at `path`.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    failpoint(path)?;
    fs::remove_file(path)
}

/// Gives `from` the name `to`.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    failpoint(to)?;
    fs::rename(from, to)
}

/// Gives the folder or file `from` the name `to`. What has that name is moved aside first; returns where it went.
///
/// Between two processes that do this with the same `to`, each result survives under one of the names.
pub(crate) fn put_in_place(from: &Path, to: &Path) -> io::Result<Option<PathBuf>> {
    let mut aside = None;
    loop {
        match place(from, to) {
            Ok(()) => break,
            Err(e) if is_taken(&e) => aside = move_aside(to)?.or(aside),
            Err(e) => {
                // What was moved aside for nothing goes back, unless somebody else has taken the name.
                if let Some(aside) = &aside {
                    let _ = take_free_name(aside, to);
                }
                return Err(e);
            }
        }
    }
    // The new names outlast a power failure; where folders cannot be synchronised, that is up to the system.
    if let Some(Ok(folder)) = to.parent().filter(|_| !cfg!(test)).map(fs::File::open) {
        let _ = folder.sync_all();
    }
    Ok(aside)
}

/// Gives `from` the name `to` if no file and no filled folder has it.
fn place(from: &Path, to: &Path) -> io::Result<()> {
    failpoint(to)?;
    take_free_name(from, to)
}

fn take_free_name(from: &Path, to: &Path) -> io::Result<()> {
    if from.symlink_metadata()?.is_dir() {
        // The system refuses to replace a folder that is not empty, and to replace a file by a folder.
        return fs::rename(from, to);
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(e) if is_taken(&e) => Err(e),
        // A file system without links.
        Err(_) => fs::rename(from, to),
    }
}

fn is_taken(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory)
}

/// Gives what is at `path` the first free of the names `path.1`, `path.2`, ... (of a page: `report.1.html`) and returns
/// it; `None` if nothing is there.
pub(crate) fn move_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    let page = path.extension().is_some_and(|e| e == "html");
    let moved = numbered(|i| {
        let aside = if page { path.with_extension(format!("{i}.html")) } else { with_suffix(path, &format!(".{i}")) };
        if aside.symlink_metadata().is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        if path.symlink_metadata()?.is_dir() {
            rename(path, &aside)?;
        } else {
            // An empty file reserves the name, so that nothing is replaced that another process moves there.
            File::create_new(&aside)?;
            rename(path, &aside).inspect_err(|_| {
                let _ = fs::remove_file(&aside);
            })?;
        }
        Ok(aside)
    });
    match moved {
        Ok(aside) => Ok(Some(aside)),
        // It was not there, or another process was faster.
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// `path` with `suffix` behind its whole name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(not(test))]
#[inline]
fn failpoint(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
use fault::failpoint;

/// Errors on request, for tests.
#[cfg(test)]
pub(crate) mod fault {
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::Mutex;

    /// Folders whose changes fail: after so many that succeed, and how many fail then.
    static FAULTS: Mutex<Vec<(PathBuf, u64, u64)>> = Mutex::new(Vec::new());

    /// Lets the changes below `folder` fail as on a full disk: `skip` of them succeed, the next `count` do not.
    /// Returns what `run` returns, and whether one failed.
    pub(crate) fn injected<T>(folder: &Path, skip: u64, count: u64, run: impl FnOnce() -> T) -> (T, bool) {
        FAULTS.lock().unwrap().push((folder.to_path_buf(), skip, count));
        let out = run();
        let mut all = FAULTS.lock().unwrap();
        let i = all.iter().position(|f| f.0 == folder).unwrap();
        let (_, _, left) = all.remove(i);
        (out, left < count)
    }

    pub(crate) fn failpoint(path: &Path) -> io::Result<()> {
        let mut all = FAULTS.lock().unwrap();
        let Some((_, skip, left)) = all.iter_mut().find(|f| path.starts_with(&f.0)) else { return Ok(()) };
        if *skip > 0 {
            *skip -= 1;
            return Ok(());
        }
        if *left > 0 {
            *left -= 1;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_moved_aside_keeps_its_whole_name_and_takes_the_first_free_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        assert_eq!(move_aside(&path("v1.2")).unwrap(), None);
        for number in 1..=3 {
            fs::create_dir(path("v1.2")).unwrap();
            fs::write(path("v1.2").join("mine"), "kept").unwrap();
            assert_eq!(move_aside(&path("v1.2")).unwrap(), Some(path(&format!("v1.2.{number}"))));
        }
        fs::write(path("report.html"), "page").unwrap();
        assert_eq!(move_aside(&path("report.html")).unwrap(), Some(path("report.1.html")));
        assert_eq!(fs::read_to_string(path("report.1.html")).unwrap(), "page");
    }

    #[test]
    fn many_threads_put_folders_and_pages_in_one_place_and_none_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let each = |i: usize| {
            let (folder, page) = (dir.path().join(format!("new{i}")), dir.path().join(format!("page{i}")));
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("who"), i.to_string()).unwrap();
            fs::write(&page, i.to_string()).unwrap();
            put_in_place(&folder, &dir.path().join("target")).unwrap();
            put_in_place(&page, &dir.path().join("report.html")).unwrap();
        };
        std::thread::scope(|s| (0..50).for_each(|i| drop(s.spawn(move || each(i)))));
        let (mut folders, mut pages) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(dir.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(fs::read_to_string(path.join("who")).unwrap().parse::<usize>().unwrap());
            } else {
                pages.push(fs::read_to_string(path).unwrap().parse::<usize>().unwrap());
            }
        }
        folders.sort_unstable();
        pages.sort_unstable();
        assert_eq!((folders, pages), ((0..50).collect(), (0..50).collect()));
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_the_one_before_and_no_litter() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let write = |text: &str| whole(&path, |e| e, |w| w.write_all(text.as_bytes()));
        write("before").unwrap();
        let mut failures = 0;
        for skip in 0.. {
            let (done, failed) = fault::injected(dir.path(), skip, 1, || write("after"));
            assert_eq!(done.is_err(), failed);
            assert_eq!(fs::read_to_string(&path).unwrap(), if failed { "before" } else { "after" });
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "at change {skip}");
            failures += u32::from(failed);
            if !failed {
                break;
            }
        }
        assert!(failures >= 5, "folder, file, write, sync and rename can fail; {failures} did");
    }
}
