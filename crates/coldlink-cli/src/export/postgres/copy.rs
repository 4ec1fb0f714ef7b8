//! Rows as PostgreSQL's binary COPY takes them: the exact numbers, and no text to escape.

use std::io::{self, Write};

/// Rows on their way to a table.
pub struct Rows<W: Write> {
    out: W,
    row: Vec<u8>,
}

impl<W: Write> Rows<W> {
    /// Starts with the format's mark, without flags or extensions.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(b"PGCOPY\n\xff\r\n\0")?;
        out.write_all(&[0; 8])?;
        Ok(Rows { out, row: Vec::new() })
    }

    /// Starts a row of so many fields.
    pub fn start(&mut self, fields: i16) {
        self.row.clear();
        self.row.extend(fields.to_be_bytes());
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.length(text.len());
        self.row.extend(text.as_bytes());
    }

    /// Adds a truth value.
    pub fn boolean(&mut self, value: bool) {
        self.length(1);
        self.row.push(value.into());
    }

    /// Adds a vector of pgvector's: how many numbers, two bytes for later use, the numbers.
    pub fn vector(&mut self, vector: &[f32]) {
        self.length(4 + 4 * vector.len());
        self.row.extend((vector.len() as i16).to_be_bytes());
        self.row.extend([0; 2]);
        vector.iter().for_each(|number| self.row.extend(number.to_be_bytes()));
    }

    /// Sends the row.
    pub fn end(&mut self) -> io::Result<()> {
        self.out.write_all(&self.row)
    }

    /// Ends the rows and yields where they went.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&(-1_i16).to_be_bytes())?;
        Ok(self.out)
    }

    fn length(&mut self, bytes: usize) {
        self.row.extend((bytes as i32).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_bytes_that_the_manual_of_copy_states() {
        let mut rows = Rows::new(Vec::new()).unwrap();
        rows.start(3);
        rows.text("ü");
        rows.boolean(true);
        rows.vector(&[1.0]);
        rows.end().unwrap();
        let bytes = rows.finish().unwrap();
        let (mark, rest) = bytes.split_at(19);
        assert_eq!(mark, b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
        let text = [0, 0, 0, 2, 0xc3, 0xbc];
        let vector = [0, 0, 0, 8, 0, 1, 0, 0, 0x3f, 0x80, 0, 0];
        let expected = [&[0, 3][..], &text, &[0, 0, 0, 1, 1], &vector, &[0xff, 0xff]].concat();
        assert_eq!(rest, expected);
    }
}
