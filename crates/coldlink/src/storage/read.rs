//! Opening and reading without surprises: nothing waits for a pipe that nobody writes to, and no text is read without end.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Texts such as settings and descriptions of columns are never longer.
const MOST_BYTES: u64 = 16 << 20;

/// Opens a regular file. Anything else is refused before it is opened: opening a pipe waits for whoever writes to it.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// Reads a text that must be short: settings, descriptions, tokens.
pub fn read_short(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MOST_BYTES {
        let reason = format!("it has more than {} MiB, but should be a short text", MOST_BYTES >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        fs::write(&path, "steps = 5\n").unwrap();
        assert_eq!(read_short(&path).unwrap(), "steps = 5\n");
        File::create(&path).unwrap().set_len(MOST_BYTES + 5).unwrap();
        assert_eq!(read_short(&path).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(open_regular(folder.path()).is_err() && open_regular(&path).is_ok());
    }
}
