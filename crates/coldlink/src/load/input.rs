//! What a file is read from. A file is looked at before it is read, and often read twice; what can be read only once, as a pipe,
//! is read into memory first.

use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Limits;
use super::error::{LoadError, read_error};
use super::limits::Unpacking;

/// Something that can be read from its start as often as need be.
#[derive(Clone)]
pub(in crate::load) struct Input {
    path: PathBuf,
    held: Option<Held>,
    limits: Limits,
}

/// Bytes in memory.
#[derive(Clone)]
pub(in crate::load) struct Held(Arc<Vec<u8>>);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// What arrays are read from.
pub(in crate::load) trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

impl Input {
    /// A file that is opened when it is read, or a pipe that is read now.
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, LoadError> {
        let about = fs::metadata(path).map_err(|source| read_error(path, source))?;
        let held = if about.is_file() { None } else { Some(read_once(path, &about, limits)?) };
        Ok(Input { path: path.to_owned(), held, limits: *limits })
    }

    /// Something in memory that errors call by a name.
    pub fn in_memory(name: &str, bytes: Vec<u8>, limits: &Limits) -> Self {
        Input { path: name.into(), held: Some(Held(Arc::new(bytes))), limits: *limits }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How much it may ask for.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The file, or what was read of it.
    pub fn file_or_held(&self) -> Result<Result<File, Held>, LoadError> {
        match &self.held {
            Some(held) => Ok(Err(held.clone())),
            None => self.open_file().map(Ok),
        }
    }

    /// All of it, from the start.
    pub fn reader(&self) -> Result<Box<dyn ReadSeek>, LoadError> {
        Ok(match self.file_or_held()? {
            Ok(file) => Box::new(file),
            Err(held) => Box::new(Cursor::new(held)),
        })
    }

    /// How it begins.
    pub fn start(&self, bytes: usize) -> Result<Vec<u8>, LoadError> {
        let mut start = Vec::new();
        self.reader()?.take(bytes as u64).read_to_end(&mut start).map_err(|source| self.failed(source))?;
        Ok(start)
    }

    /// How many bytes it has.
    pub fn len(&self) -> Result<u64, LoadError> {
        match &self.held {
            Some(held) => Ok(held.as_ref().len() as u64),
            None => fs::metadata(&self.path).map(|about| about.len()).map_err(|source| self.failed(source)),
        }
    }

    /// Its text, unpacked if need be.
    pub fn text(&self) -> Result<Box<dyn BufRead>, LoadError> {
        let mut packed = BufReader::new(self.reader()?);
        let start = packed.fill_buf().map_err(|source| self.failed(source))?;
        if start.starts_with(&GZIP) || start.starts_with(&ZSTD) {
            let unpacked = self.unpacked(packed)?;
            return Ok(Box::new(BufReader::new(Unpacking::most(unpacked, self.limits.most_unpacked(self.len()?)))));
        }
        Ok(Box::new(packed))
    }

    #[cfg(feature = "compression")]
    fn unpacked(&self, mut packed: BufReader<Box<dyn ReadSeek>>) -> Result<Box<dyn Read>, LoadError> {
        Ok(if packed.fill_buf().map_err(|source| self.failed(source))?.starts_with(&GZIP) {
            Box::new(flate2::bufread::MultiGzDecoder::new(packed))
        } else {
            let unpacked = zstd::stream::read::Decoder::with_buffer(packed);
            Box::new(unpacked.map_err(|source| self.failed(source))?)
        })
    }

    #[cfg(not(feature = "compression"))]
    fn unpacked(&self, _: BufReader<Box<dyn ReadSeek>>) -> Result<Box<dyn Read>, LoadError> {
        Err(LoadError::MissingFeature { path: self.path.clone(), feature: "compression" })
    }

    /// An error of the system, or one that readers pass on as such.
    pub fn failed(&self, source: io::Error) -> LoadError {
        if super::limits::UnpacksTooFar::is(&source) {
            return self.unpacks_too_far();
        }
        read_error(&self.path, source)
    }

    /// It unpacks to more than it may.
    pub fn unpacks_too_far(&self) -> LoadError {
        let packed = self.len().unwrap_or(0);
        LoadError::UnpacksTooFar { path: self.path.clone(), packed, most: self.limits.most_unpacked(packed) }
    }

    fn open_file(&self) -> Result<File, LoadError> {
        File::open(&self.path).map_err(|source| read_error(&self.path, source))
    }
}

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// All that comes out of a pipe. A device may never end; only a terminal is read, until its user ends the input.
fn read_once(path: &Path, about: &Metadata, limits: &Limits) -> Result<Held, LoadError> {
    let failed = |source| read_error(path, source);
    if about.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    let file = File::open(path).map_err(failed)?;
    if is_device(about) && !file.is_terminal() {
        return Err(LoadError::Device { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    file.take(limits.pipe.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limits.pipe {
        return Err(LoadError::LongPipe { path: path.to_owned(), most: limits.pipe });
    }
    Ok(Held(Arc::new(bytes)))
}

/// Whether it is neither a file nor a folder, a pipe or a socket.
#[cfg(unix)]
fn is_device(about: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    about.file_type().is_char_device() || about.file_type().is_block_device()
}

/// Elsewhere nothing tells a device from a pipe.
#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Both ends of a pipe, of which the reading one has a path.
    fn pipe_with(bytes: &'static [u8]) -> (std::io::PipeReader, PathBuf) {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::thread::spawn(move || writer.write_all(bytes));
        let path = format!("/dev/fd/{}", reader.as_raw_fd()).into();
        (reader, path)
    }

    #[test]
    fn a_pipe_is_read_once_and_then_as_often_as_need_be() {
        let (_reader, path) = pipe_with(b"id,x\na,1\n");
        let input = Input::open(&path, &Limits::default()).unwrap();
        assert_eq!((input.len().unwrap(), input.start(2).unwrap()), (9, b"id".to_vec()));
        for _ in 0..2 {
            let mut text = String::new();
            input.text().unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "id,x\na,1\n");
        }
    }

    #[test]
    fn a_pipe_without_end_and_a_device_are_refused() {
        let (_reader, path) = pipe_with(b"id,x\na,1\n");
        let limits = Limits { pipe: 8, ..Limits::default() };
        assert!(matches!(Input::open(&path, &limits), Err(LoadError::LongPipe { most: 8, .. })));
        for device in ["/dev/zero", "/dev/null"] {
            assert!(matches!(Input::open(Path::new(device), &limits), Err(LoadError::Device { .. })), "{device}");
        }
    }
}
