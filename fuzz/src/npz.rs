//! Archives of numpy arrays.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The files of an archive: their names, and their bytes.
pub fn arrays(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).expect("a sound archive");
    let mut arrays = Vec::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index).expect("a sound file");
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("a sound file");
        arrays.push((file.name().expect("a name").into_owned(), bytes));
    }
    arrays
}

/// An archive whose checksums match, whatever its arrays are.
pub fn archive(arrays: &[(String, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, array) in arrays {
        zip.start_file(name.as_str(), options).expect("room in memory");
        zip.write_all(array).expect("room in memory");
    }
    zip.finish().expect("room in memory").into_inner()
}

/// A numpy array.
pub fn npy(dtype: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}
