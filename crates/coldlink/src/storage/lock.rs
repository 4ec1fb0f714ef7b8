//! One writer at a time: a lock on the file that is to be replaced, or on the folder that is worked in.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::identity::Identity;
use super::open_regular;
use super::write::remove_partials;

/// The file that stands for a folder, on which all systems have locks.
const FOLDER_LOCK: &str = ".lock";

/// Held by whoever reads a file in order to replace it. The system lets go of it when its process ends, however that happens.
///
/// It is a lock on the file itself. A file that took its place in the meantime is locked instead, so that whoever holds a lock
/// holds it on what stands at the path.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// None where there is no file yet.
    file: Option<File>,
}

impl Lock {
    /// Waits until nobody else holds it.
    pub fn of(path: &Path) -> io::Result<Self> {
        loop {
            let file = match open_regular(path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::free(path)),
                Err(error) => return Err(error),
            };
            if !is_unsupported(file.lock())? && !is_at(&file, path) {
                continue;
            }
            return Ok(Lock { path: path.to_owned(), file: Some(file) });
        }
    }

    /// The same without waiting; none where somebody else holds it.
    pub fn try_of(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let file = match open_regular(path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Lock::free(path))),
                Err(error) => return Err(error),
            };
            match try_lock(&file, path)? {
                Tried::Held => return Ok(None),
                Tried::Replaced => continue,
                Tried::Ours => return Ok(Some(Lock { path: path.to_owned(), file: Some(file) })),
            }
        }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether what was locked still stands there. A program that asks for no lock may have moved another file over it.
    pub fn is_current(&self) -> bool {
        match &self.file {
            Some(file) => is_at(file, &self.path),
            None => !self.path.exists(),
        }
    }

    /// Whether this is the file that was locked.
    pub(super) fn is_of(&self, other: &File) -> io::Result<bool> {
        let Some(file) = &self.file else { return Ok(false) };
        Ok(Identity::of(&file.metadata()?) == Identity::of(&other.metadata()?))
    }

    fn free(path: &Path) -> Self {
        Lock { path: path.to_owned(), file: None }
    }
}

/// Held by whoever works in a folder and wants no other there. Like every [`Lock`], it ends with its process.
#[derive(Debug)]
pub struct FolderLock {
    folder: PathBuf,
    _file: File,
}

impl FolderLock {
    /// Of a folder, which is made if need be; none where somebody else works there.
    pub fn try_of(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join(FOLDER_LOCK);
        loop {
            fs::create_dir_all(folder)?;
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            match try_lock(&file, &path)? {
                Tried::Held => return Ok(None),
                Tried::Replaced => continue,
                Tried::Ours => return Ok(Some(FolderLock { folder: folder.to_owned(), _file: file })),
            }
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes what dead processes have left of files whose names start so. Nobody else can be about to write them.
    pub fn remove_partials(&self, start: &str) -> io::Result<()> {
        remove_partials(&self.folder, start)
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // It is still held: whoever takes hold of this file next finds that it is gone, and makes another.
        let _ = fs::remove_file(self.folder.join(FOLDER_LOCK));
    }
}

/// What became of an attempt to lock a file.
enum Tried {
    Ours,
    Held,
    /// Another file stands at the path by now.
    Replaced,
}

fn try_lock(file: &File, path: &Path) -> io::Result<Tried> {
    let locked = match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(Tried::Held),
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    Ok(if is_unsupported(locked)? || is_at(file, path) { Tried::Ours } else { Tried::Replaced })
}

/// Whether the file system has no locks. Where it has none, one writer cannot be told from another.
fn is_unsupported(locked: io::Result<()>) -> io::Result<bool> {
    match locked {
        Ok(()) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(error) => Err(error),
    }
}

/// Whether a file still stands at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(locked), Ok(there)) => Identity::of(&locked) == Identity::of(&there),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Written, write_atomically};
    use std::io::Write;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn no_count_is_lost_among_many_writers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("count");
        fs::write(&path, "0").unwrap();
        let count = || fs::read_to_string(&path).unwrap().parse::<u32>().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let lock = Lock::of(&path).unwrap();
                        let next = count() + 1;
                        write_atomically(lock.path(), |file| write!(file, "{next}")).unwrap();
                    }
                });
            }
        });
        assert_eq!(count(), 200);
    }

    #[test]
    fn a_file_that_was_moved_over_a_locked_one_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("file"), folder.path().join("other"));
        fs::write(&path, "old").unwrap();
        fs::write(&other, "moved").unwrap();
        let lock = Lock::of(&path).unwrap();
        let written = || Written::beside(&path, |file| file.write_all(b"new")).unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(!lock.is_current() && written().publish_over(&lock).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"moved");
        written().publish_over(&Lock::of(&path).unwrap()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_lock_is_refused_until_it_is_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert!(Lock::try_of(&path).unwrap().is_some(), "there is no file yet");
        fs::write(&path, "").unwrap();
        let held = Lock::of(&path).unwrap();
        assert!(Lock::try_of(&path).unwrap().is_none());
        drop(held);
        assert!(Lock::try_of(&path).unwrap().is_some());
    }

    #[test]
    fn a_folder_has_one_worker_and_the_next_finds_no_trace_of_the_last() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("new/folder");
        let held = FolderLock::try_of(&folder).unwrap().unwrap();
        assert!(FolderLock::try_of(&folder).unwrap().is_none());
        drop(held);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        // What a killed process leaves is a file that nobody has locked.
        fs::write(folder.join(FOLDER_LOCK), "").unwrap();
        assert!(FolderLock::try_of(&folder).unwrap().is_some());
    }

    #[test]
    fn of_many_workers_one_at_a_time_has_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, turns) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Some(_lock) = FolderLock::try_of(folder.path()).unwrap() else { continue };
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        turns.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(turns.load(Ordering::SeqCst) > 0);
    }

    #[test]
    fn what_dead_workers_left_goes_at_once_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [".trial-1.toml.17-0.partial", ".other.17-0.partial", ".trial-1.toml.mine.partial", "trial-2.toml"]
        {
            fs::write(at(name), "").unwrap();
        }
        let alive = File::create(at(".trial-3.toml.18-0.partial")).unwrap();
        alive.lock().unwrap();
        let lock = FolderLock::try_of(folder.path()).unwrap().unwrap();
        lock.remove_partials("trial-").unwrap();
        drop(lock);
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let expected =
            [".other.17-0.partial", ".trial-1.toml.mine.partial", ".trial-3.toml.18-0.partial", "trial-2.toml"];
        assert_eq!(left, expected);
    }
}
