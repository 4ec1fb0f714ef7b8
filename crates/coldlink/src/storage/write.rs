//! Files that appear whole or not at all: written beside their place, then renamed into it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How the names of files end that are not whole yet.
const PARTIAL: &str = ".partial";
/// Counts writers of this process.
static WRITERS: AtomicUsize = AtomicUsize::new(0);

/// Writes a file with `write`; whoever opens `path` sees the old file or the whole new one.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    Written::beside(path, write)?.publish()
}

/// A file that is written as a whole, but not in its place yet. It appears there when it is published; if it never is, it
/// vanishes.
pub struct Written {
    path: PathBuf,
    beside: PathBuf,
}

impl Written {
    /// Writes a file with `write`, beside its place.
    pub fn beside(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<Self> {
        let written = Written { path: path.to_owned(), beside: beside(path)? };
        let mut writer = BufWriter::new(File::create(&written.beside)?);
        write(&mut writer)?;
        writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(written)
    }

    /// Puts the file in its place.
    pub fn publish(self) -> io::Result<()> {
        fs::rename(&self.beside, &self.path)?;
        sync_folder(&self.path)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // After publishing there is nothing of this name.
        let _ = fs::remove_file(&self.beside);
    }
}

/// Whether a file of this name is what an interrupted write has left.
pub fn is_partial(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(PARTIAL)
}

/// A name in the same folder, which renaming cannot leave, that no other writer uses.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    let mut beside = OsString::from(".");
    beside.push(name);
    let writer = WRITERS.fetch_add(1, Ordering::Relaxed);
    beside.push(format!(".{}-{writer}{PARTIAL}", std::process::id()));
    Ok(path.with_file_name(beside))
}

/// The rename itself survives a crash only once the folder is on disk too.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomically(&path, |file| file.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |file| {
            file.write_all(b"ne")?;
            Err(io::Error::other("full"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_appears_when_it_is_published_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let names = || {
            let entries = fs::read_dir(folder.path()).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let written = Written::beside(&path, |file| file.write_all(b"new")).unwrap();
        assert!(!path.exists() && names().iter().all(|name| is_partial(name)));
        written.publish().unwrap();
        assert_eq!((names(), fs::read(&path).unwrap()), (vec!["file".to_owned()], b"new".to_vec()));
        drop(Written::beside(&path, |file| file.write_all(b"newer")).unwrap());
        assert_eq!((names(), fs::read(&path).unwrap()), (vec!["file".to_owned()], b"new".to_vec()));
    }
}
