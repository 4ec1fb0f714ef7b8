//! The memory of the server, from outside.

/// The memory of a process that is its own; parts of a mapped file come and go.
pub fn resident_megabytes(process: u32) -> Result<f64, String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).map_err(|error| error.to_string())?;
    let line = status.lines().find(|line| line.starts_with("RssAnon")).ok_or("no RssAnon")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).ok_or("no RssAnon")?;
    Ok(kilobytes / 1024.0)
}
