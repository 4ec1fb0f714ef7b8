//! Checksums of packed files (layout: `load/packed.rs`).

use xxhash_rust::xxh3::xxh3_64;

const CHECKSUM: std::ops::Range<usize> = 16..24;
const SECTIONS: std::ops::Range<usize> = 32..272;
const HEADER: usize = 320;

/// The places of the header at which a section's entry starts.
fn entries() -> impl Iterator<Item = usize> {
    SECTIONS.step_by(24)
}

/// A packed file with checksums that match its damaged contents.
pub fn seal(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() < HEADER {
        return bytes;
    }
    bytes[..8].copy_from_slice(b"\x93CLGRAPH");
    bytes[12..16].copy_from_slice(&[10, 0, 0, 0]);
    let length = bytes.len() as u64;
    bytes[24..32].copy_from_slice(&length.to_le_bytes());
    for entry in entries() {
        let word = |place: usize| u64::from_le_bytes(bytes[place..place + 8].try_into().unwrap_or_default()) as usize;
        let start = word(entry);
        let end = start.saturating_add(word(entry + 8)).checked_next_multiple_of(64).unwrap_or(usize::MAX);
        if let Some(section) = bytes.get(start..end) {
            let checksum = xxh3_64(section);
            bytes[entry + 16..entry + 24].copy_from_slice(&checksum.to_le_bytes());
        }
    }
    bytes[CHECKSUM].fill(0);
    let checksum = xxh3_64(&bytes[..HEADER]);
    bytes[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// A damaged file with the checksums of a sound one: whatever opens of it must be what the sound one holds.
pub fn claim(damaged: &[u8], sound: &[u8]) -> Vec<u8> {
    let mut bytes = damaged.to_vec();
    let places = entries().map(|entry| entry + 16..entry + 24).chain([CHECKSUM]);
    for place in places {
        if let (Some(claimed), Some(sound)) = (bytes.get_mut(place.clone()), sound.get(place)) {
            claimed.copy_from_slice(sound);
        }
    }
    bytes
}
