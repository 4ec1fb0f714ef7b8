//! The container of all our files: safetensors, with one line of our own in its header.
//!
//! That line is `coldlink FORMAT VERSION CHECKSUM`, under the key `coldlink`. Everything that is no array is TOML in the section
//! `about`. The checksum covers format, version, and every section with its name, type and shape. Sections lie in an order and
//! at places that let them be used as they are in the mapped file; matrices are stored with their rows' filling.
//!
//! A checksum guards against accidents, not against intent: what passes is still checked as input.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::{Pod, cast_slice};
use rayon::prelude::*;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::segments::{ALIGNMENT, Segments, Unclear, chained, read_at};
use super::{Buffer, FileError, FileFormat, FileProblem, Map, Written, open_regular};

/// The key of our line in the header.
const KEY: &str = "coldlink";
/// How every file of ours begins, after the eight bytes that tell the header's length.
const START: &[u8] = b"{\"__metadata__\":{\"coldlink\":\"coldlink ";
/// How packed graphs began before the first release.
const OLD_GRAPH: &[u8] = b"\x93CLGRAPH";
/// The section of everything that is no array.
const ABOUT: &str = "about";
/// No header is longer: so says safetensors.
const MOST_HEADER: u64 = 100_000_000;
/// Checksums are made of pieces of so many bytes, on all threads at once.
const PIECE: usize = 1 << 20;

const _: () = assert!(cfg!(target_endian = "little"), "files are mapped as they are");

/// A number that a section may hold.
pub(crate) trait Element: Pod {
    /// Its name in the header.
    const TYPE: Dtype;
}

impl Element for u8 {
    const TYPE: Dtype = Dtype::U8;
}

impl Element for i8 {
    const TYPE: Dtype = Dtype::I8;
}

/// The bits of a float of 16 bits.
impl Element for u16 {
    const TYPE: Dtype = Dtype::F16;
}

impl Element for u32 {
    const TYPE: Dtype = Dtype::U32;
}

impl Element for u64 {
    const TYPE: Dtype = Dtype::U64;
}

impl Element for f32 {
    const TYPE: Dtype = Dtype::F32;
}

impl Element for f64 {
    const TYPE: Dtype = Dtype::F64;
}

/// One array of a file.
struct Section<'a> {
    name: &'a str,
    dtype: Dtype,
    shape: &'a [usize],
    bytes: &'a [u8],
}

/// Sections to be written.
#[derive(Default)]
pub(crate) struct ContainerWriter<'a> {
    sections: Vec<Unplaced<'a>>,
}

/// A section that has no place in the file yet.
struct Unplaced<'a> {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: &'a [u8],
    /// It must start at a multiple of this, and so many bytes fit into its length.
    alignment: usize,
}

impl<'a> ContainerWriter<'a> {
    /// Adds a list of numbers.
    pub fn list<E: Element>(&mut self, name: impl Into<String>, values: &'a [E]) {
        let bytes = cast_slice(values);
        self.sections.push(Unplaced {
            name: name.into(),
            dtype: E::TYPE,
            shape: vec![values.len()],
            bytes,
            alignment: align_of::<E>(),
        });
    }

    /// Adds rows of `columns` numbers.
    pub fn rows<E: Element>(&mut self, name: impl Into<String>, columns: usize, values: &'a [E]) {
        let whole_chunks = columns.is_multiple_of(ALIGNMENT / size_of::<E>());
        self.sections.push(Unplaced {
            name: name.into(),
            dtype: E::TYPE,
            shape: vec![values.len() / columns.max(1), columns],
            bytes: cast_slice(values),
            alignment: if whole_chunks { ALIGNMENT } else { align_of::<E>() },
        });
    }

    /// Adds records of several numbers each, as rows of bytes.
    pub fn records<R: Pod>(&mut self, name: impl Into<String>, records: &'a [R]) {
        self.sections.push(Unplaced {
            name: name.into(),
            dtype: Dtype::U8,
            shape: vec![records.len(), size_of::<R>()],
            bytes: cast_slice(records),
            alignment: align_of::<R>(),
        });
    }

    /// Writes the file, whole or not at all. The same contents give the same bytes.
    pub fn write(self, path: &Path, format: FileFormat, version: u32, about: &str) -> io::Result<()> {
        self.written(path, format, version, about)?.publish()
    }

    /// Writes the file beside its place.
    pub fn written(self, path: &Path, format: FileFormat, version: u32, about: &str) -> io::Result<Written> {
        let (header, sections) = self.placed(format, version, about)?;
        Written::beside(path, |file| write_to(file, &header, &sections))
    }

    /// The bytes of the file.
    pub fn bytes(self, format: FileFormat, version: u32, about: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let (header, sections) = self.placed(format, version, about)?;
        write_to(&mut bytes, &header, &sections)?;
        Ok(bytes)
    }

    /// The header, and the sections in their order.
    fn placed(self, format: FileFormat, version: u32, about: &'a str) -> io::Result<(Vec<u8>, Vec<Unplaced<'a>>)> {
        let mut writer = self;
        writer.list(ABOUT, about.as_bytes());
        let mut sections = writer.sections;
        // From the widest alignment to the narrowest, so that each section ends where the next may start.
        sections.sort_by(|a, b| (Reverse(a.alignment), &a.name).cmp(&(Reverse(b.alignment), &b.name)));
        let header = header(format, version, &sections)?;
        Ok((header, sections))
    }
}

fn write_to(out: &mut impl Write, header: &[u8], sections: &[Unplaced<'_>]) -> io::Result<()> {
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(header)?;
    sections.iter().try_for_each(|section| out.write_all(section.bytes))
}

fn header(format: FileFormat, version: u32, sections: &[Unplaced<'_>]) -> io::Result<Vec<u8>> {
    let mut end = 0;
    let infos = sections.iter().map(|section| {
        let start = end;
        end += section.bytes.len();
        let (dtype, shape) = (section.dtype, section.shape.clone());
        (section.name.clone(), TensorInfo { dtype, shape, data_offsets: (start, end) })
    });
    let infos: Vec<_> = infos.collect();
    let placed =
        sections.iter().map(|Unplaced { name, dtype, shape, bytes, .. }| Section { name, dtype: *dtype, shape, bytes });
    let line = line(format, version, checksum(format, version, placed.collect()));
    let metadata = Metadata::new(Some(HashMap::from([(KEY.to_owned(), line)])), infos).map_err(io::Error::other)?;
    let mut header = serde_json::to_vec(&metadata)?;
    header.resize((header.len() + 8).next_multiple_of(ALIGNMENT) - 8, b' ');
    Ok(header)
}

fn line(format: FileFormat, version: u32, checksum: u64) -> String {
    format!("{KEY} {} {version} {checksum:016x}", format.name())
}

fn checksum(format: FileFormat, version: u32, mut sections: Vec<Section<'_>>) -> u64 {
    sections.sort_by_key(|section| section.name);
    let pieces = |section: &Section<'_>| section.bytes.par_chunks(PIECE).map(xxh3_64).collect();
    let hashes: Vec<Vec<u64>> = sections.par_iter().map(pieces).collect();
    let mut whole = Xxh3::new();
    whole.update(format!("{} {version}", format.name()).as_bytes());
    for (Section { name, dtype, shape, .. }, hashes) in sections.iter().zip(&hashes) {
        whole.update(format!(" {name} {dtype} {shape:?}").as_bytes());
        whole.update(cast_slice(hashes));
    }
    whole.digest()
}

/// What a file that begins like this holds, if it is one of ours, of whatever version.
pub(crate) fn format_of(start: &[u8]) -> Option<FileFormat> {
    if start.starts_with(OLD_GRAPH) {
        return Some(FileFormat::Graph);
    }
    let words = start.get(8..)?.strip_prefix(START)?;
    let name = words.split(|&byte| byte == b' ').next()?;
    FileFormat::named(std::str::from_utf8(name).ok()?)
}

/// As many bytes as [`format_of`] needs.
pub(crate) const START_BYTES: usize = 64;

/// How a file of ours begins, before anything of it was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Bytes of the container.
    pub length: u64,
    /// The checksum that it claims.
    pub checksum: u64,
}

impl Head {
    /// Of a file, where it is one of ours.
    pub fn of(file: &File) -> io::Result<Option<Self>> {
        let length = file.metadata()?.len();
        let mut start = [0; 8];
        if length < 8 {
            return Ok(None);
        }
        read_at(file, 0, &mut start)?;
        let header = u64::from_le_bytes(start);
        if header > length - 8 || header > MOST_HEADER {
            return Ok(None);
        }
        let mut bytes = vec![0; header as usize + 8];
        read_at(file, 0, &mut bytes)?;
        Ok(Head::of_bytes(&bytes))
    }

    /// Of the first bytes of a container, the whole header at least.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let header = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
        let end = usize::try_from(header.checked_add(8)?).ok()?;
        let metadata: Metadata = serde_json::from_slice(bytes.get(8..end)?).ok()?;
        let line = metadata.metadata().as_ref()?.get(KEY)?;
        let checksum = u64::from_str_radix(line.rsplit(' ').next()?, 16).ok()?;
        Some(Head { length: (end as u64).checked_add(metadata.data_len() as u64)?, checksum })
    }
}

/// A file that was opened and found whole.
pub(crate) struct Container {
    path: PathBuf,
    format: FileFormat,
    map: Arc<Map>,
    places: HashMap<String, (TensorInfo, Range<usize>)>,
    /// Everything that is no array, as TOML.
    pub about: String,
    /// Of all that is in it.
    pub checksum: u64,
}

impl Container {
    /// Opens a file of a format, in a version up to `version`.
    pub fn open(path: &Path, format: FileFormat, version: u32) -> Result<Self, FileError> {
        let opened = Map::open(path).map_err(FileProblem::from);
        let opened = opened.and_then(|map| Container::in_map(path, &Arc::new(map), None, (format, version)));
        opened.map_err(|problem| FileError { path: path.to_owned(), problem })
    }

    /// The same of a file that may have segments, which come with it in their order.
    pub fn open_segmented(path: &Path, format: FileFormat, version: u32) -> Result<Segmented, FileError> {
        Container::segmented(path, (format, version)).map_err(|problem| FileError { path: path.to_owned(), problem })
    }

    fn segmented(path: &Path, wanted: (FileFormat, u32)) -> Result<Segmented, FileProblem> {
        let file = open_regular(path)?;
        let damaged = |reason| FileProblem::Inconsistent { format: wanted.0, reason };
        let segments = match Segments::of(&file) {
            Ok(Some(segments)) => segments,
            Ok(None) => {
                let map = Map::part(&file, 0..file.metadata()?.len())?;
                let first = Container::in_map(path, &Arc::new(map), None, wanted)?;
                return Ok(Segmented { chain: first.checksum, first, later: Vec::new() });
            }
            Err(Unclear::Io(error)) => return Err(error.into()),
            Err(Unclear::Damaged(reason)) => return Err(damaged(reason)),
        };
        let first = Container::in_map(path, &Arc::new(Map::part(&file, segments.first())?), None, wanted)?;
        let mut whole = Segmented { chain: first.checksum, first, later: Vec::new() };
        let Some((range, chain)) = segments.later() else { return Ok(whole) };
        let map = Arc::new(Map::part(&file, range)?);
        let mut start = 0;
        while start < map.len() {
            let cut_off = || damaged("a segment goes beyond the end of the file".to_owned());
            let length = Head::of_bytes(&map[start..]).and_then(|head| usize::try_from(head.length).ok());
            let end = length.and_then(|length| start.checked_add(length)).filter(|end| *end <= map.len());
            let end = end.ok_or_else(cut_off)?;
            let segment = Container::in_map(path, &map, Some(start..end), wanted)?;
            whole.chain = chained(whole.chain, segment.checksum);
            whole.later.push(segment);
            start = end.next_multiple_of(ALIGNMENT);
        }
        if whole.chain != chain {
            return Err(FileProblem::Checksum { format: wanted.0, found: whole.chain, stored: chain });
        }
        Ok(whole)
    }

    /// What lies in a part of a mapped file.
    fn in_map(
        path: &Path,
        map: &Arc<Map>,
        part: Option<Range<usize>>,
        (wanted, known): (FileFormat, u32),
    ) -> Result<Self, FileProblem> {
        let part = part.unwrap_or(0..map.len());
        let bytes = &map[part.clone()];
        match format_of(bytes) {
            Some(found) if found != wanted => return Err(FileProblem::Format { found, wanted }),
            _ if bytes.starts_with(OLD_GRAPH) => return Err(FileProblem::BeforeRelease { format: wanted }),
            _ => {}
        }
        let (header, metadata) = SafeTensors::read_metadata(bytes)
            .map_err(|error| FileProblem::Container { wanted, reason: error.to_string() })?;
        let line = metadata.metadata().as_ref().and_then(|texts| texts.get(KEY)).ok_or(FileProblem::NotOurs)?;
        let (version, stored) = read_line(line, wanted, known)?;
        let first = part.start + 8 + header;
        let place = |(name, info): (String, &TensorInfo)| {
            let (start, end) = info.data_offsets;
            (name, (info.clone(), first + start..first + end))
        };
        let places: HashMap<_, _> = metadata.tensors().into_iter().map(place).collect();
        let sections = places.iter().map(|(name, (info, range))| Section {
            name,
            dtype: info.dtype,
            shape: &info.shape,
            bytes: &map[range.clone()],
        });
        let found = checksum(wanted, version, sections.collect());
        if found != stored {
            return Err(FileProblem::Checksum { format: wanted, found, stored });
        }
        let (path, about) = (path.to_owned(), String::new());
        let map = Arc::clone(map);
        let mut container = Container { path, format: wanted, map, places, about, checksum: stored };
        let about = container.list::<u8>(ABOUT).map_err(|error| error.problem)?;
        container.about = String::from_utf8(about.to_vec())
            .map_err(|error| FileProblem::Inconsistent { format: wanted, reason: format!("`{ABOUT}`: {error}") })?;
        Ok(container)
    }

    /// An error about this file.
    pub fn inconsistent(&self, reason: impl Into<String>) -> FileError {
        let problem = FileProblem::Inconsistent { format: self.format, reason: reason.into() };
        FileError { path: self.path.clone(), problem }
    }

    /// Whether there is such a section.
    pub fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// The numbers of a list, used from the mapped file.
    pub fn list<E: Element>(&self, name: &str) -> Result<Buffer<E>, FileError> {
        self.section(name, E::TYPE, |shape| shape.len() == 1)
    }

    /// The same of a section that need not be there.
    pub fn list_if_there<E: Element>(&self, name: &str) -> Result<Option<Buffer<E>>, FileError> {
        self.has(name).then(|| self.list(name)).transpose()
    }

    /// Rows of `columns` numbers, used from the mapped file as an array of something that is made of such numbers.
    pub fn rows<E: Element, R: Pod>(&self, name: &str, columns: usize) -> Result<Buffer<R>, FileError> {
        self.section(name, E::TYPE, |shape| shape.len() == 2 && shape[1] == columns)
    }

    /// Records of several numbers each, used from the mapped file.
    pub fn records<R: Pod>(&self, name: &str) -> Result<Buffer<R>, FileError> {
        self.section(name, Dtype::U8, |shape| shape.len() == 2 && shape[1] == size_of::<R>())
    }

    fn section<T: Pod>(
        &self,
        name: &str,
        dtype: Dtype,
        fits: impl Fn(&[usize]) -> bool,
    ) -> Result<Buffer<T>, FileError> {
        let missing = || self.inconsistent(format!("there is no section `{name}`"));
        let (info, range) = self.places.get(name).ok_or_else(missing)?;
        if info.dtype != dtype || !fits(&info.shape) {
            let TensorInfo { dtype, shape, .. } = info;
            return Err(self.inconsistent(format!("section `{name}` has type {dtype} and shape {shape:?}")));
        }
        let misplaced = || self.inconsistent(format!("section `{name}` has a size or a place that does not fit it"));
        Buffer::mapped(&self.map, range.clone()).ok_or_else(misplaced)
    }
}

/// A file with its segments.
pub(crate) struct Segmented {
    /// As it was written first.
    pub first: Container,
    /// What was added to it, in order.
    pub later: Vec<Container>,
    /// Of all that is in it.
    pub chain: u64,
}

/// The version and the checksum that a file claims, if it is of the format and of a version that can be read.
fn read_line(text: &str, wanted: FileFormat, known: u32) -> Result<(u32, u64), FileProblem> {
    // Before the first release the TOML followed in the same text.
    let (first, old) = text.split_once('\n').map_or((text, false), |(first, _)| (first, true));
    let words: Vec<&str> = first.split(' ').collect();
    let &[KEY, found, version, stored] = words.as_slice() else { return Err(FileProblem::NotOurs) };
    let found = FileFormat::named(found).ok_or(FileProblem::NotOurs)?;
    let version: u32 = version.parse().map_err(|_| FileProblem::NotOurs)?;
    let stored = u64::from_str_radix(stored, 16).map_err(|_| FileProblem::NotOurs)?;
    if found != wanted {
        return Err(FileProblem::Format { found, wanted });
    }
    if old || version == 0 {
        return Err(FileProblem::BeforeRelease { format: found });
    }
    if version > known {
        return Err(FileProblem::Version { found: version, known });
    }
    // Numbers can be written in more than one way, and only one of them is ours.
    if line(found, version, stored) != text {
        return Err(FileProblem::NotOurs);
    }
    Ok((version, stored))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const ABOUT_IT: &str = "answer = 42\n";

    fn write(path: &Path, format: FileFormat, version: u32) {
        let mut writer = ContainerWriter::default();
        writer.list("letters", b"abc");
        writer.list("counts", &[7_u64, 8]);
        writer.rows("points", 2, &[0.5_f32, -1.0, 2.0, 3.0]);
        writer.rows("chunks", 16, &[1.0_f32; 32]);
        writer.records("records", &[[1_u32, 2], [3, 4]]);
        writer.write(path, format, version, ABOUT_IT).unwrap();
    }

    fn written() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(&path, FileFormat::Model, 1);
        (folder, path)
    }

    fn problem(path: &Path, format: FileFormat) -> FileProblem {
        Container::open(path, format, 1).err().unwrap().problem
    }

    /// The written file with its line replaced.
    fn with_line(path: &Path, change: impl Fn(&str) -> String) {
        let bytes = fs::read(path).unwrap();
        let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let text = std::str::from_utf8(&bytes[8..header]).unwrap();
        let start = text.find("coldlink model").unwrap();
        let end = start + text[start..].find('"').unwrap();
        let text = format!("{}{}{}", &text[..start], change(&text[start..end]), &text[end..]);
        let length = (text.len() as u64).to_le_bytes();
        fs::write(path, [&length, text.as_bytes(), &bytes[header..]].concat()).unwrap();
    }

    #[test]
    fn what_was_written_is_read_again_without_a_copy() {
        let (folder, path) = written();
        let container = Container::open(&path, FileFormat::Model, 1).unwrap();
        assert_eq!(container.about, ABOUT_IT);
        assert_eq!(*container.list::<u8>("letters").unwrap(), *b"abc");
        assert_eq!(*container.list::<u64>("counts").unwrap(), [7, 8]);
        assert_eq!(*container.rows::<f32, [f32; 2]>("points", 2).unwrap(), [[0.5, -1.0], [2.0, 3.0]]);
        assert!(matches!(container.rows::<f32, [f32; 16]>("chunks", 16), Ok(Buffer::Mapped { .. })));
        assert_eq!(*container.records::<[u32; 2]>("records").unwrap(), [[1, 2], [3, 4]]);
        let again = folder.path().join("again");
        write(&again, FileFormat::Model, 1);
        assert_eq!(fs::read(&path).unwrap(), fs::read(&again).unwrap());
    }

    #[test]
    fn a_section_of_another_type_or_shape_is_refused() {
        let (_folder, path) = written();
        let container = Container::open(&path, FileFormat::Model, 1).unwrap();
        assert!(container.list::<u8>("missing").is_err());
        assert!(container.list::<u32>("counts").is_err());
        assert!(container.list::<f32>("points").is_err());
        assert!(container.rows::<f32, f32>("points", 4).is_err());
        assert!(container.records::<u64>("counts").is_err());
        assert!(container.has("counts") && !container.has("missing"));
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_noticed() {
        let (folder, path) = written();
        let whole = fs::read(&path).unwrap();
        let path = folder.path().join("damaged");
        let check = |bytes: &[u8], what: &str, place: usize| {
            fs::write(&path, bytes).unwrap();
            assert!(Container::open(&path, FileFormat::Model, 1).is_err(), "{what} {place}");
            // Overwriting instead would wait for the disk each time.
            fs::remove_file(&path).unwrap();
        };
        for place in 0..whole.len() {
            for change in [0x01, 0x20, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[place] ^= change;
                check(&damaged, "byte", place);
            }
        }
        for length in 0..whole.len() {
            check(&whole[..length], "length", length);
        }
        check(&[whole.as_slice(), &[0; 64]].concat(), "longer than", whole.len());
    }

    #[test]
    fn a_file_is_known_by_how_it_begins() {
        let (_folder, path) = written();
        let whole = fs::read(&path).unwrap();
        assert_eq!(format_of(&whole[..START_BYTES]), Some(FileFormat::Model));
        assert_eq!(format_of(b"\x93CLGRAPH\x03\x00"), Some(FileFormat::Graph));
        assert_eq!((format_of(b"PK\x03\x04"), format_of(b""), format_of(&whole[..40])), (None, None, None));
        for format in FileFormat::ALL {
            write(&path, format, 1);
            assert_eq!(format_of(&fs::read(&path).unwrap()[..START_BYTES]), Some(format));
        }
    }

    #[test]
    fn another_format_is_named_even_of_a_cut_file() {
        let (_folder, path) = written();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let error = Container::open(&path, FileFormat::Graph, 1).err().unwrap();
        assert_eq!(error.problem.to_string(), "it is a model, but a graph is wanted");
        assert!(error.hint().unwrap().to_string().starts_with("a graph is an `.npz` file"));
        write(&path, FileFormat::Graph, 1);
        let error = Container::open(&path, FileFormat::Model, 1).err().unwrap();
        assert_eq!(error.problem.to_string(), "it is a graph, but a model is wanted");
        assert_eq!(error.hint().unwrap().to_string(), "train a model on it with `coldlink train`");
    }

    #[test]
    fn a_later_version_says_so() {
        let (_folder, path) = written();
        write(&path, FileFormat::Model, 2);
        let error = Container::open(&path, FileFormat::Model, 1).err().unwrap();
        let expected = "a newer coldlink wrote it: it has version 2, and this one reads up to version 1";
        assert_eq!(
            (error.problem.to_string().as_str(), error.hint().unwrap().to_string().as_str()),
            (expected, "update coldlink")
        );
    }

    #[test]
    fn a_file_from_before_the_first_release_says_so() {
        let (folder, path) = written();
        for old in ["coldlink model 4 0123456789abcdef\\nwidth = 16", "coldlink model 0 0123456789abcdef"] {
            write(&path, FileFormat::Model, 1);
            with_line(&path, |_| old.to_owned());
            let error = Container::open(&path, FileFormat::Model, 1).err().unwrap();
            assert!(matches!(error.problem, FileProblem::BeforeRelease { format: FileFormat::Model }), "{old}");
            assert_eq!(error.hint().unwrap().to_string(), "make it again with `coldlink train`");
        }
        let graph = folder.path().join("graph");
        fs::write(&graph, b"\x93CLGRAPH\x03\x00\x00\x00").unwrap();
        assert!(matches!(problem(&graph, FileFormat::Graph), FileProblem::BeforeRelease { format: FileFormat::Graph }));
    }

    #[test]
    fn a_line_that_is_written_otherwise_is_not_ours() {
        let check = |change: fn(&str) -> String| {
            let (_folder, path) = written();
            with_line(&path, change);
            assert!(matches!(problem(&path, FileFormat::Model), FileProblem::NotOurs));
        };
        check(|line| line.replace("model", "table"));
        check(|line| line.replace(" 1 ", " +1 "));
        check(|line| line.replace(" 1 ", "  1 "));
        check(|line| format!("{line} "));
        check(|_| "coldlink".to_owned());
    }
}
