//! Every change that the lab makes to the file system. Tests can make each change fail.
//!
//! `whole` writes a file completely or not at all. `move_aside` and `put_in_place` never overwrite a file or
//! folder, whatever other processes do at the same time.

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
    /// Creates the file at `path`; fails if it exists.
    pub(crate) fn create_new(path: &Path) -> io::Result<File> {
        failpoint(path)?;
        Ok(File { file: fs::File::options().write(true).create_new(true).open(path)?, path: path.to_path_buf() })
    }

    /// Opens the existing file at `path` to append to it.
    pub(crate) fn existing(path: &Path) -> io::Result<File> {
        failpoint(path)?;
        let file = fs::File::options().read(true).append(true).open(path)?;
        Ok(File { file, path: path.to_path_buf() })
    }

    /// True if this process now holds the file's lock, or if the file system does not support locks.
    pub(crate) fn lock(&self) -> bool {
        !matches!(self.file.try_lock(), Err(fs::TryLockError::WouldBlock))
    }

    /// Waits for the lock of the new file. False if another process removed the file before.
    pub(crate) fn lock_new(&self) -> bool {
        // Another process has the lock while it looks what the file is. Where there are no locks, nobody removes it.
        let _ = self.file.lock();
        self.is_linked()
    }

    /// True if this process now holds the file's lock and the file still has a name, so that it may be removed.
    pub(crate) fn lock_to_remove(&self) -> bool {
        self.file.try_lock().is_ok() && self.is_linked()
    }

    /// False if the file was removed.
    #[cfg(unix)]
    fn is_linked(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        self.file.metadata().is_ok_and(|about| about.nlink() > 0)
    }

    /// An open file is not removed.
    #[cfg(not(unix))]
    fn is_linked(&self) -> bool {
        true
    }

    /// Cuts the file off after `len` bytes.
    pub(crate) fn truncate(&self, len: u64) -> io::Result<()> {
        failpoint(&self.path)?;
        self.file.set_len(len)
    }

    /// Waits until the storage has the file's content (fsync).
    pub(crate) fn sync(&self) -> io::Result<()> {
        failpoint(&self.path)?;
        // Tests of this crate do not simulate power failures; fsync would only make them slow.
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

/// Writes the file at `path` completely or not at all: a temporary file beside it is renamed when everything is
/// written. An existing file is replaced. Missing folders are created. `failed` adds the file's name to an error.
pub(crate) fn whole<E>(
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    written(path, failed, write, |beside| rename(beside, path))
}

/// Like [`whole`], but an existing file is moved aside. Returns the path to which it was moved.
pub(crate) fn whole_beside_earlier<E>(
    path: &Path,
    failed: impl Fn(io::Error) -> E,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<Option<PathBuf>, E> {
    written(path, failed, write, |beside| put_in_place(beside, path))
}

/// Creates the temporary file of [`whole`] and removes it.
pub(crate) fn can_write(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if let Some(folder) = path.parent() {
        create_dir_all(folder)?;
    }
    fs::remove_file(beside(path)?.0)
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
        // Report the first error. A temporary file that cannot be removed does no harm.
        let _ = fs::remove_file(&beside);
    }
    done
}

/// Creates a temporary file beside `path`; its name is unique to this process.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    numbered(|i| {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}-{i}.tmp", std::process::id()));
        let beside = path.with_file_name(name);
        File::create_new(&beside).map(|file| (beside, file))
    })
}

/// Calls `make` with 1, 2, 3, ... until the name with this number is free; returns its result.
pub(crate) fn numbered<T>(mut make: impl FnMut(u64) -> io::Result<T>) -> io::Result<T> {
    let mut i = 1;
    loop {
        match make(i) {
            Err(e) if matches!(e.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => i += 1,
            done => return done,
        }
    }
}

/// Creates the folder at `path`; fails if it exists.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    failpoint(path)?;
    fs::create_dir(path)
}

/// Creates the folder at `path` and all missing parent folders.
pub(crate) fn create_dir_all(path: &Path) -> io::Result<()> {
    failpoint(path)?;
    fs::create_dir_all(path)
}

/// Removes the file at `path`.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    failpoint(path)?;
    fs::remove_file(path)
}

/// Renames `from` to `to`.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    failpoint(to)?;
    fs::rename(from, to)
}

/// Renames the file or folder `from` to `to`. An existing `to` is moved aside first; returns the path to which it was
/// moved.
///
/// If two processes do this at the same time with the same `to`, both results survive: one as `to`, one moved aside.
pub(crate) fn put_in_place(from: &Path, to: &Path) -> io::Result<Option<PathBuf>> {
    let mut aside = None;
    loop {
        match place(from, to) {
            Ok(()) => break,
            Err(e) if is_taken(&e) => aside = move_aside(to)?.or(aside),
            Err(e) => {
                // The rename failed: move the earlier results back, unless another process now uses the name.
                if let Some(aside) = &aside {
                    let _ = take_free_name(aside, to);
                }
                return Err(e);
            }
        }
    }
    // Make the new names survive a power failure. Where folders cannot be synchronised, the system decides.
    if let Some(Ok(folder)) = to.parent().filter(|_| !cfg!(test)).map(fs::File::open) {
        let _ = folder.sync_all();
    }
    Ok(aside)
}

/// Renames `from` to `to`; fails if `to` is a file or a folder that is not empty.
fn place(from: &Path, to: &Path) -> io::Result<()> {
    failpoint(to)?;
    take_free_name(from, to)
}

fn take_free_name(from: &Path, to: &Path) -> io::Result<()> {
    if from.symlink_metadata()?.is_dir() {
        // The system does not replace a folder that is not empty, nor a file by a folder.
        return fs::rename(from, to);
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(e) if is_taken(&e) => Err(e),
        // This file system does not support hard links.
        Err(_) => fs::rename(from, to),
    }
}

fn is_taken(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory)
}

/// Renames what is at `path` to the first free name of `path.1`, `path.2`, ... (for a page: `report.1.html`). Returns
/// the new path; `None` if there is nothing at `path`.
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
            // An empty file reserves the name: another process that moves a file there cannot be overwritten.
            File::create_new(&aside)?;
            rename(path, &aside).inspect_err(|_| {
                let _ = fs::remove_file(&aside);
            })?;
        }
        Ok(aside)
    });
    match moved {
        Ok(aside) => Ok(Some(aside)),
        // There was nothing, or another process moved it first.
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// `path` with `suffix` appended to its last component.
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

/// Injected errors, for tests.
#[cfg(test)]
pub(crate) mod fault {
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::Mutex;

    /// For each folder: how many changes succeed, and how many fail after that.
    static FAULTS: Mutex<Vec<(PathBuf, u64, u64)>> = Mutex::new(Vec::new());

    /// Makes changes below `folder` fail as on a full disk: the first `skip` succeed, the next `count` fail. Returns
    /// the result of `run`, and true if a change failed.
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
