//! Which file a path stands for, whatever it is called there.

use std::fs::{self, Metadata};
use std::path::Path;

/// Tells one file from another: two paths, two hard links or a link and what it leads to are the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    /// Of an open file.
    #[cfg(unix)]
    pub fn of(about: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Identity { device: about.dev(), number: about.ino() }
    }

    /// Of an open file. Without numbers of files, length and time of change must do.
    #[cfg(not(unix))]
    pub fn of(about: &Metadata) -> Self {
        let changed = about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        Identity { device: about.len(), number: changed.map_or(0, |time| time.as_nanos() as u64) }
    }
}

/// Whether two paths lead to one file that exists.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => Identity::of(&a) == Identity::of(&b),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_file_is_the_same_by_every_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "").unwrap();
        fs::write(at("b"), "").unwrap();
        fs::hard_link(at("a"), at("hard")).unwrap();
        std::os::unix::fs::symlink("a", at("soft")).unwrap();
        for same in ["a", "hard", "soft", "./a"] {
            assert!(is_same_file(&at("a"), &at(same)), "{same}");
        }
        assert!(!is_same_file(&at("a"), &at("b")) && !is_same_file(&at("a"), &at("missing")));
    }
}
