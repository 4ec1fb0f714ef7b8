//! Finished cells, one line each, appended as they finish: a run that is killed loses the cell under way and no other.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::BenchError;

/// What one method scored on one split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellRow {
    /// Which block.
    pub block: String,
    /// Which row.
    pub method: String,
    /// Which set.
    pub set: String,
    /// Which split.
    pub seed: u64,
    /// On the test pairs; none where training went astray.
    pub auc: Option<f64>,
    /// On the test pairs.
    pub ap: Option<f64>,
    /// Share of linked test pairs.
    pub prevalence: Option<f64>,
    /// Where candidates were ranked.
    pub mrr: Option<f64>,
    /// Where candidates were ranked.
    #[serde(rename = "hits@10")]
    pub hits_at_10: Option<f64>,
    /// Of pairs with one new end.
    pub new_old_auc: Option<f64>,
    /// Of pairs with one new end.
    pub new_old_ap: Option<f64>,
    /// Of pairs with two new ends.
    pub new_new_auc: Option<f64>,
    /// Of pairs with two new ends.
    pub new_new_ap: Option<f64>,
    /// On the validation pairs, of the chosen step.
    pub validation_auc: Option<f64>,
    /// On the validation pairs, of the chosen step.
    pub validation_ap: Option<f64>,
    /// Wall time of fitting.
    pub seconds: f64,
    /// Of the chosen model.
    pub steps: u64,
    /// Numbers that were learned.
    pub parameters: usize,
    /// That the seconds were measured with.
    pub threads: usize,
    /// Whether its settings are the winners of a search, where its row has one.
    pub searched: bool,
    /// Of method and settings.
    pub configuration: String,
}

/// A file of lines that only grows.
pub(super) struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Opens a log, with what is in it. A last line without its end, as a kill may leave it, is taken away.
    pub fn open<R: DeserializeOwned>(path: &Path) -> Result<(Self, Vec<R>), BenchError> {
        let io = |what| move |source| BenchError::io(what, path, source);
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(io("read")(source)),
        };
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(io("write"))?;
        if whole < text.len() {
            file.set_len(whole as u64).map_err(io("write"))?;
        }
        Ok((Log { path: path.to_owned(), file }, parse(path, &text[..whole])?))
    }

    /// Adds lines, with a header where there is none, in one write.
    pub fn append<R: Serialize>(&mut self, rows: &[R]) -> Result<(), BenchError> {
        let io = |source| BenchError::io("write", &self.path, source);
        let empty = self.file.metadata().map_err(io)?.len() == 0;
        let mut writer = csv::WriterBuilder::new().has_headers(empty).from_writer(Vec::new());
        for row in rows {
            writer.serialize(row).map_err(|error| io(error.into()))?;
        }
        let bytes = writer.into_inner().map_err(|error| io(error.into_error()))?;
        self.file.write_all(&bytes).and_then(|()| self.file.sync_data()).map_err(io)
    }
}

/// All lines of a log that may not exist.
pub(super) fn read_log<R: DeserializeOwned>(path: &Path) -> Result<Vec<R>, BenchError> {
    match fs::read_to_string(path) {
        Ok(text) => parse(path, &text[..text.rfind('\n').map_or(0, |end| end + 1)]),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(BenchError::io("read", path, source)),
    }
}

fn parse<R: DeserializeOwned>(path: &Path, text: &str) -> Result<Vec<R>, BenchError> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<Vec<R>, _>>();
    rows.map_err(|error| BenchError::File {
        path: path.to_owned(),
        message: error.to_string(),
        hint: "take the line away; the cell is then run again".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Line {
        name: String,
        value: Option<f64>,
    }

    fn line(name: &str, value: Option<f64>) -> Line {
        Line { name: name.to_owned(), value }
    }

    #[test]
    fn what_was_appended_is_there_and_a_torn_line_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let (mut log, before) = Log::open::<Line>(&path).unwrap();
        assert!(before.is_empty());
        log.append(&[line("a", Some(0.5))]).unwrap();
        log.append(&[line("b", None)]).unwrap();
        fs::write(&path, format!("{}c,0.", fs::read_to_string(&path).unwrap())).unwrap();
        let (mut log, rows) = Log::open::<Line>(&path).unwrap();
        assert_eq!(rows, [line("a", Some(0.5)), line("b", None)]);
        log.append(&[line("d", Some(1.0))]).unwrap();
        assert_eq!(read_log::<Line>(&path).unwrap().len(), 3);
    }

    #[test]
    fn a_line_that_is_no_row_is_refused_with_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        fs::write(&path, "name,value\na,0.5\nb,many\n").unwrap();
        let error = read_log::<Line>(&path).unwrap_err().to_string();
        assert!(error.contains("rows.csv") && error.contains("line: 3"), "{error}");
    }
}
