//! One writer at a time: a lock on the file that is to be replaced.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::identity::Identity;

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
            let file = match File::open(path) {
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
            let file = match File::open(path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Lock::free(path))),
                Err(error) => return Err(error),
            };
            let locked = match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
                Ok(()) => Ok(()),
            };
            if !is_unsupported(locked)? && !is_at(&file, path) {
                continue;
            }
            return Ok(Some(Lock { path: path.to_owned(), file: Some(file) }));
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

    fn free(path: &Path) -> Self {
        Lock { path: path.to_owned(), file: None }
    }
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
}
