//! JSON lines: an object on each line, whose values are the cells of a table. `null` and a missing key are a missing cell.

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::columns::{Cell, Cells};
use crate::load::error::{LineProblem, LoadError, TableProblem};
use crate::load::input::Input;
use crate::load::limits::{LongLine, read_line};

/// Different keys that a file may have. Each of them is a column of all rows, so a few lines could ask for a lot of memory.
pub(super) const MOST_KEYS: usize = 1_000;

/// The lines of a file, as rows of cells.
pub(in crate::load) struct JsonLines {
    text: Box<dyn BufRead>,
    /// The place of each key in a row.
    places: HashMap<String, usize>,
    cells: Vec<Value>,
    bytes: Vec<u8>,
    line: u64,
}

impl JsonLines {
    /// All keys, in the order in which they are met: a look through the whole file.
    pub fn header(input: &Input) -> Result<Vec<String>, LoadError> {
        let mut lines = JsonLines::new(input.text()?, &[]);
        let mut header: Vec<String> = Vec::new();
        while let Some(object) = lines.object::<IgnoredAny>(input)? {
            for (key, _) in object.0 {
                if !lines.places.contains_key(&key) {
                    lines.places.insert(key.clone(), header.len());
                    header.push(key);
                }
            }
            if header.len() > MOST_KEYS {
                return Err(lines.problem(input, LineProblem::TooManyKeys { most: MOST_KEYS }));
            }
        }
        if header.is_empty() {
            return Err(LoadError::Table { path: input.path().to_owned(), problem: TableProblem::Empty });
        }
        Ok(header)
    }

    /// Rows with the cells of `header`, in its order.
    pub fn new(text: Box<dyn BufRead>, header: &[String]) -> Self {
        let places = header.iter().cloned().zip(0..).collect();
        JsonLines { text, places, cells: vec![Value::Null; header.len()], bytes: Vec::new(), line: 0 }
    }

    /// Goes on to the next row and tells its line.
    pub fn read(&mut self, input: &Input) -> Result<Option<u64>, LoadError> {
        let Some(object) = self.object::<Value>(input)? else { return Ok(None) };
        self.cells.fill(Value::Null);
        for (key, value) in object.0 {
            // A key that the look at the header has not found: the file has changed since.
            let Some(&place) = self.places.get(&key) else { continue };
            if Cell::of_json(&value).is_none() {
                let path = nested_path(&key, &value);
                return Err(self.problem(input, LineProblem::Nested { column: key, path }));
            }
            self.cells[place] = value;
        }
        Ok(Some(self.line))
    }

    /// The row that was read last.
    pub fn row(&self) -> &dyn Cells {
        &self.cells
    }

    /// The next object; empty lines are passed over.
    fn object<T: DeserializeOwned>(&mut self, input: &Input) -> Result<Option<Object<T>>, LoadError> {
        loop {
            self.bytes.clear();
            let limits = input.limits();
            let read =
                read_line(&mut self.text, limits.line, &mut self.bytes).map_err(|source| input.failed(source))?;
            self.line += 1;
            match read {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(LongLine) => return Err(self.problem(input, LineProblem::LongLine { most: limits.line })),
            }
            let Ok(text) = std::str::from_utf8(&self.bytes) else {
                return Err(self.problem(input, LineProblem::NotUtf8));
            };
            let text = text.trim_start_matches('\u{feff}').trim();
            if text.is_empty() {
                continue;
            }
            if let Some(column) = long_value(text, limits.cell) {
                return Err(self.problem(input, LineProblem::LongCell { column, most: limits.cell }));
            }
            let object = serde_json::from_str::<Object<T>>(text);
            return object
                .map(Some)
                .map_err(|error| self.problem(input, LineProblem::NotJson { reason: error.to_string() }));
        }
    }

    fn problem(&self, input: &Input, problem: LineProblem) -> LoadError {
        LoadError::Line { path: input.path().to_owned(), line: self.line, problem }
    }
}

/// Where a value that is no cell is too deep: the first value within its first object or list of lists.
pub(super) fn nested_path(key: &str, value: &Value) -> String {
    let is_nested = |value: &Value| value.is_object() || value.is_array();
    match value {
        Value::Object(object) => match object.iter().next() {
            Some((inner, value)) if value.is_object() => nested_path(&format!("{key}.{inner}"), value),
            Some((inner, _)) => format!("{key}.{inner}"),
            None => key.to_owned(),
        },
        Value::Array(values) => match values.iter().enumerate().find(|(_, value)| is_nested(value)) {
            Some((place, value)) if value.is_object() => nested_path(&format!("{key}[{place}]"), value),
            Some((place, _)) => format!("{key}[{place}]"),
            None => key.to_owned(),
        },
        _ => key.to_owned(),
    }
}

/// The key of an object's first value that is longer than `most` bytes, found before there is room for what it says.
fn long_value(object: &str, most: usize) -> Option<String> {
    if object.len() <= most {
        return None;
    }
    let (mut depth, mut start, mut quoted, mut escaped) = (0_usize, 1, false, false);
    for (place, byte) in object.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => {
                if place - start > most {
                    return Some(key_of(&object[start..]));
                }
                start = place + 1;
            }
            _ => {}
        }
    }
    (object.len() - start > most).then(|| key_of(&object[start..]))
}

/// The key that an entry begins with.
fn key_of(entry: &str) -> String {
    let mut texts = serde_json::Deserializer::from_str(entry).into_iter::<String>();
    texts.next().and_then(Result::ok).unwrap_or_default()
}

/// An object's entries in their order.
struct Object<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a key for each column")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::Rows;
    use super::*;
    use crate::load::Limits;

    /// A header, and each row with its line.
    type Read = (Vec<String>, Vec<(u64, Vec<String>)>);

    fn rows(name: &str, bytes: &[u8]) -> Result<Read, LoadError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let limits = Limits { cell: 3000, line: 5000, ..Limits::default() };
        let mut rows = Rows::open(&Input::open(&path, &limits)?)?;
        let mut all = Vec::new();
        while let Some((line, record)) = rows.next()? {
            all.push((line, (0..record.len()).map(|place| record.cell(place).to_text().into_owned()).collect()));
        }
        Ok((rows.header().to_vec(), all))
    }

    const LINES: &str = "{\"id\": \"a\", \"year\": 1999, \"tags\": [\"x\", 2, null, true]}\n\n{\"new\": 1.5e3, \"id\": \" b \", \"year\": null}\n";

    #[test]
    fn objects_become_rows_with_a_cell_for_every_key() {
        let (header, rows) = rows("nodes.jsonl", LINES.as_bytes()).unwrap();
        assert_eq!(header, ["id", "year", "tags", "new"]);
        assert_eq!(rows[0], (1, ["a", "1999", "[\"x\",2,null,true]", ""].map(str::to_owned).to_vec()));
        assert_eq!(rows[1], (3, ["b", "", "", "1500.0"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn packed_files_and_unnamed_ones_are_recognised() {
        let packed = zstd::encode_all(LINES.as_bytes(), 3).unwrap();
        assert_eq!(rows("nodes.jsonl.zst", &packed).unwrap().1.len(), 2);
        assert_eq!(rows("nodes", LINES.as_bytes()).unwrap().1.len(), 2);
        let packed = zstd::encode_all(&b"id,x\na,1\n"[..], 3).unwrap();
        assert_eq!(rows("nodes.csv.zst", &packed).unwrap().0, ["id", "x"]);
        assert!(matches!(rows("nodes.csv.zst", &packed[..packed.len() - 2]), Err(LoadError::Read { .. })));
    }

    #[test]
    fn what_is_no_row_is_an_error_with_its_line() {
        let check = |text: &[u8], expected: &str| {
            let error = rows("nodes.jsonl", text).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            assert!(error.hint().is_some(), "{error}");
        };
        check(b"{\"id\": 1}\n[1, 2]\n", "line 2: not a JSON object");
        check(b"{\"id\": 1}\n{\"id\": \n", "line 2: ");
        check(b"{\"id\": 1, \"at\": {\"x\": 1}}\n", "line 1: column `at`");
        check(b"{\"id\": 1, \"at\": [[1]]}\n", "line 1: column `at`");
        check(b"{\"id\": 1, \"at\": {\"x\": {\"y\": 1}}}\n", "line 1: column `at` is nested, at `at.x.y`");
        check(b"{\"id\": 1, \"at\": [1, {\"name\": 1}]}\n", "line 1: column `at` is nested, at `at[1].name`");
        check(b"{\"id\": 1, \"at\": [[1], 2]}\n", "line 1: column `at` is nested, at `at[0]`");
        let many: String = (0..1001).map(|key| format!("{{\"k{key}\": 1}}\n")).collect();
        check(many.as_bytes(), "line 1001: the rows so far have more than 1000 different keys");
        check(b"\xff\n", "line 1: the text is not UTF-8");
        let words = "x".repeat(2900);
        let long = format!("{{\"id\": 1}}\n{{\"id\": 2, \"words\": [\"{words}\", \"{words}\"]}}\n");
        check(long.as_bytes(), "line 2: it has more than 5000 bytes");
        let long = format!("{{\"id\": 1, \"a,\\\"b\": [\"{words}\", \"{}\"]}}\n", "y".repeat(200));
        check(long.as_bytes(), "line 1: column `a,\"b` has a cell of more than 3000 bytes");
        check(&[b'x'; 10_000], "line 1: it has more than 5000 bytes");
        check(b"", "the file is empty");
        check(b"{}\n", "the file is empty");
    }
}
