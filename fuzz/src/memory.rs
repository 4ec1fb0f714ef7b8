//! Lengths that were not read are not believed.

use std::fs;

/// More than any small file needs, and less than a length field can claim.
const MOST: u64 = 2 << 30;

/// Panics where more memory was asked for than small files need, touched or not, as far as the system tells.
///
/// libFuzzer's own limit counts what was touched; its limit of a single request needs a sanitizer's allocator.
pub fn check_memory() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmPeak:")?.trim().strip_suffix(" kB")?.parse().ok());
    let peak: u64 = peak.unwrap_or(0);
    assert!(peak << 10 < MOST, "{peak} kB of memory were asked for");
}
