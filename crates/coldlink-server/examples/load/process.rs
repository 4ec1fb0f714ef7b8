//! The memory and the work of the server, from outside.

use std::fs;
use std::path::Path;

/// Milliseconds in which the system counts work.
const TICK: f64 = 10.0;

/// The memory of a process that is its own; parts of a mapped file come and go.
pub fn resident_megabytes(process: u32) -> Result<f64, String> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).map_err(|error| error.to_string())?;
    let line = status.lines().find(|line| line.starts_with("RssAnon")).ok_or("no RssAnon")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).ok_or("no RssAnon")?;
    Ok(kilobytes / 1024.0)
}

/// How long the threads of a process have worked that step back behind others: those that change the model.
pub fn changing_milliseconds(process: u32) -> Result<f64, String> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).map_err(|error| error.to_string())?;
    Ok(threads.flatten().filter_map(|thread| changing_ticks(&thread.path())).sum::<f64>() * TICK)
}

/// Those of one thread; none where it does not step back or has ended.
fn changing_ticks(thread: &Path) -> Option<f64> {
    let about = fs::read_to_string(thread.join("stat")).ok()?;
    // Its name, which may be anything, ends with the last bracket; its state comes next.
    let fields: Vec<&str> = about[about.rfind(')')? + 1..].split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<f64>().ok();
    (number(16)? > 0.0).then_some(number(11)? + number(12)?)
}
