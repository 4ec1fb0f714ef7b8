//! Files that appear whole or not at all: written beside their place, then renamed into it.
//!
//! A file that is replaced keeps its mode and its owner, and a symbolic link stays one: the file that it leads to is replaced.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::lock::Lock;
use super::open_regular;

/// How the names of files end that are not whole yet.
const PARTIAL: &str = ".partial";
/// A file that is not whole and that nobody has written to for so long may be what a dead process has left.
const LEFT_OVER_AFTER: Duration = Duration::from_secs(60);
/// Links that are followed; more of them lead in a circle.
const MOST_LINKS: usize = 40;
/// Counts writers of this process.
static WRITERS: AtomicUsize = AtomicUsize::new(0);

/// Writes a file with `write`; whoever opens `path` sees the old file or the whole new one.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    Written::beside(path, write)?.publish()
}

/// A file that is written as a whole, but not in its place yet. It appears there when it is published; if it never is, it
/// vanishes.
pub struct Written {
    place: PathBuf,
    beside: PathBuf,
}

impl Written {
    /// Writes a file with `write`, beside its place.
    pub fn beside(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<Self> {
        let place = destination(path)?;
        remove_left_over(&place);
        let old = fs::metadata(&place).ok();
        let written = Written { beside: beside(&place)?, place };
        let mut writer = BufWriter::new(create(&written.beside, old.is_some())?);
        // Held as long as the file is written: it says that this process is alive.
        let _ = writer.get_ref().try_lock();
        write(&mut writer)?;
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some(old) = old {
            keep_owner_and_mode(&file, &old)?;
        }
        file.sync_all()?;
        Ok(written)
    }

    /// Puts the file in the place of the one that was locked, and of no other.
    pub fn publish_over(self, lock: &Lock) -> io::Result<()> {
        if !lock.is_current() {
            return Err(io::Error::other("another program has replaced it in the meantime"));
        }
        self.publish()
    }

    /// Puts the file in its place.
    pub fn publish(self) -> io::Result<()> {
        fs::rename(&self.beside, &self.place)?;
        match sync_folder(&self.place) {
            // Not every system syncs folders, or lets whoever writes to them open them. The file is in its place all the same.
            Err(error) if matches!(error.kind(), PermissionDenied | Unsupported | InvalidInput) => Ok(()),
            synced => synced,
        }
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

/// Where a path leads, through all links; they may lead to a file that does not exist yet.
pub fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !fs::symlink_metadata(&place).is_ok_and(|about| about.is_symlink()) {
            return Ok(place);
        }
        let target = fs::read_link(&place)?;
        place.pop();
        place.push(target);
    }
    Err(io::Error::other(format!("more than {MOST_LINKS} links lead to one another")))
}

/// A name in the same folder, which renaming cannot leave, that no other writer uses.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let writer = WRITERS.fetch_add(1, Ordering::Relaxed);
    let mut beside = start_of_partial(path)?;
    beside.push(format!("{}-{writer}{PARTIAL}", std::process::id()));
    Ok(path.with_file_name(beside))
}

/// How the names of partial files for `path` begin.
fn start_of_partial(path: &Path) -> io::Result<OsString> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    let mut start = OsString::from(".");
    start.push(name);
    start.push(".");
    Ok(start)
}

/// Removes what processes have left that died while they wrote the same file. What fails here harms nobody.
fn remove_left_over(path: &Path) {
    let Ok(start) = start_of_partial(path) else { return };
    let Ok(entries) = fs::read_dir(folder_of(path)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.as_encoded_bytes().strip_prefix(start.as_encoded_bytes());
        let file = || open_regular(&entry.path());
        if rest.is_some_and(names_writer) && file().is_ok_and(|file| is_old(&file) && is_left(&file)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes what dead processes have left in a folder of files whose names start so, whatever its age: nobody else may be about
/// to write there.
pub(super) fn remove_partials(folder: &Path, start: &str) -> io::Result<()> {
    let start = format!(".{start}");
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let rest = name.as_encoded_bytes().strip_prefix(start.as_bytes());
        // The rest of the file's name, if any, ends with the dot before the writer's.
        let is_ours = rest.is_some_and(|rest| {
            let dots = rest.iter().enumerate().filter(|(_, byte)| **byte == b'.');
            dots.into_iter().any(|(place, _)| names_writer(&rest[place + 1..]))
        });
        if is_ours && open_regular(&entry.path()).is_ok_and(|file| is_left(&file)) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Whether a partial file's name ends as [`beside`] makes it end.
fn names_writer(end: &[u8]) -> bool {
    let writer = end.strip_suffix(PARTIAL.as_bytes()).unwrap_or_default();
    !writer.is_empty() && writer.iter().all(|&byte| byte.is_ascii_digit() || byte == b'-')
}

fn is_old(file: &File) -> bool {
    let age = file.metadata().and_then(|about| about.modified()).ok().and_then(|time| time.elapsed().ok());
    age.is_some_and(|age| age > LEFT_OVER_AFTER)
}

/// Whether the process that wrote a file has ended.
fn is_left(file: &File) -> bool {
    file.try_lock().is_ok()
}

/// Makes a file. One that takes the place of another is closed to others until it has the mode of that one.
fn create(path: &Path, replaces: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if replaces {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = replaces;
    options.open(path)
}

/// The owner and group of the old file, as far as the system allows it, and its mode. Where the group cannot be kept, the mode
/// gives nothing to another group.
#[cfg(unix)]
fn keep_owner_and_mode(file: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    let mut mode = old.mode() & 0o777;
    if new.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
        mode &= !0o070;
    }
    if new.uid() != old.uid() {
        let _ = fchown(file, Some(old.uid()), None);
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_owner_and_mode(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The rename itself survives a crash only once the folder is on disk too.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

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
        assert_eq!(names(folder.path()).len(), 1);
    }

    #[test]
    fn a_file_appears_when_it_is_published_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let names = || names(folder.path());
        let written = Written::beside(&path, |file| file.write_all(b"new")).unwrap();
        assert!(!path.exists() && names().iter().all(|name| is_partial(name)));
        written.publish().unwrap();
        assert_eq!((names(), fs::read(&path).unwrap()), (vec!["file".to_owned()], b"new".to_vec()));
        drop(Written::beside(&path, |file| file.write_all(b"newer")).unwrap());
        assert_eq!((names(), fs::read(&path).unwrap()), (vec!["file".to_owned()], b"new".to_vec()));
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_mode_and_owner() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for mode in [0o600, 0o640, 0o664, 0o755] {
            fs::write(&path, b"old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            // Only root may give files away.
            let owner = chown(&path, Some(1234), Some(2345)).map_or_else(|_| None, |()| Some((1234, 2345)));
            write_atomically(&path, |file| {
                let partial = names(folder.path()).into_iter().find(|name| is_partial(name)).unwrap();
                let now = fs::metadata(folder.path().join(partial)).unwrap().mode() & 0o777;
                assert_eq!(now, 0o600, "open to others while it is written");
                file.write_all(b"new")
            })
            .unwrap();
            let about = fs::metadata(&path).unwrap();
            assert_eq!(about.mode() & 0o777, mode);
            assert!(owner.is_none_or(|owner| (about.uid(), about.gid()) == owner));
            fs::remove_file(&path).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_what_they_lead_to_is_replaced() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/file"), b"old").unwrap();
        symlink("deep/file", at("one")).unwrap();
        symlink("one", at("two")).unwrap();
        symlink("deep/not yet", at("three")).unwrap();
        write_atomically(&at("two"), |file| file.write_all(b"new")).unwrap();
        write_atomically(&at("three"), |file| file.write_all(b"first")).unwrap();
        assert!(["one", "two", "three"].iter().all(|name| at(name).is_symlink()));
        assert_eq!(
            (fs::read(at("deep/file")).unwrap(), fs::read(at("deep/not yet")).unwrap()),
            (b"new".to_vec(), b"first".to_vec())
        );
        symlink("circle", at("circle")).unwrap();
        assert!(write_atomically(&at("circle"), |_| Ok(())).is_err());
    }

    #[test]
    fn what_dead_writers_left_goes_with_the_next_write() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let age = |name: &str, seconds| {
            let file = File::create(at(name)).unwrap();
            file.set_modified(std::time::SystemTime::now() - Duration::from_secs(seconds)).unwrap();
            file
        };
        drop(age(".file.17-0.partial", 3600));
        drop(age(".file.18-0.partial", 1));
        drop(age(".file.mine.partial", 3600));
        drop(age(".other.17-0.partial", 3600));
        let alive = age(".file.19-0.partial", 3600);
        alive.lock().unwrap();
        write_atomically(&at("file"), |file| file.write_all(b"new")).unwrap();
        let mut left = names(folder.path());
        left.sort();
        let expected =
            [".file.18-0.partial", ".file.19-0.partial", ".file.mine.partial", ".other.17-0.partial", "file"];
        assert_eq!(left, expected);
    }
}
