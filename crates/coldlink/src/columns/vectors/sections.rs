//! Token vectors in packed graphs and models, so that these need no other file.
//!
//! | section | holds |
//! |---|---|
//! | `vectors.0.half` or `vectors.0.single` | the table |
//! | `vectors.0.rows`, `vectors.0.weights` | the row of each token and what it counts, where these are given |
//! | `vectors.0.tokenizer` | the tokenizer, as JSON |
//!
//! The number is the place among the names of all token vectors of a schema, in their order.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Parts, Table, TokenVectors};
use crate::columns::{Column, Schema};
use crate::storage::{Container, ContainerWriter, FileError};

impl Schema {
    /// Adds the token vectors of all columns to a file.
    pub(crate) fn write_vectors<'a>(&'a self, writer: &mut ContainerWriter<'a>) {
        let vectors = self.columns.iter().filter_map(|column| column.vectors.as_deref());
        let by_name: BTreeMap<&str, &TokenVectors> = vectors.map(|vectors| (vectors.name(), vectors)).collect();
        for (place, vectors) in by_name.into_values().enumerate() {
            let Parts { width, table, rows, weights, tokenizer, .. } = &vectors.parts;
            match table {
                Table::Half(numbers) => writer.rows(section(place, "half"), *width, numbers),
                Table::Single(numbers) => writer.rows(section(place, "single"), *width, numbers),
            }
            rows.iter().for_each(|rows| writer.list(section(place, "rows"), rows));
            weights.iter().for_each(|weights| writer.list(section(place, "weights"), weights));
            writer.list(section(place, "tokenizer"), tokenizer);
        }
    }

    /// Takes the token vectors of all columns from a file.
    pub(crate) fn read_vectors(&mut self, container: &Container) -> Result<(), FileError> {
        let encoded = |column: &Column| column.kind.encoder().map(|name| (name.to_owned(), column.width()));
        let widths: BTreeMap<String, usize> = self.columns.iter().filter_map(encoded).collect();
        let mut vectors: BTreeMap<String, Arc<TokenVectors>> = BTreeMap::new();
        for (place, (name, width)) in widths.into_iter().enumerate() {
            let read = read(container, place, &name, width)?;
            vectors.insert(name, Arc::new(read));
        }
        for column in &mut self.columns {
            column.vectors = column.kind.encoder().and_then(|name| vectors.get(name)).cloned();
            if column.vectors.as_ref().is_some_and(|vectors| vectors.width() != column.width()) {
                return Err(container.inconsistent("columns of the same token vectors differ in width"));
            }
        }
        Ok(())
    }
}

fn section(place: usize, what: &str) -> String {
    format!("vectors.{place}.{what}")
}

fn read(container: &Container, place: usize, name: &str, width: usize) -> Result<TokenVectors, FileError> {
    let half = section(place, "half");
    let parts = Parts {
        name: name.to_owned(),
        width,
        table: match container.has(&half) {
            true => Table::Half(container.rows::<u16, u16>(&half, width)?),
            false => Table::Single(container.rows::<f32, f32>(&section(place, "single"), width)?),
        },
        rows: container.list_if_there(&section(place, "rows"))?,
        weights: container.list_if_there(&section(place, "weights"))?,
        tokenizer: container.list(&section(place, "tokenizer"))?,
    };
    TokenVectors::new(parts).map_err(|problem| container.inconsistent(format!("token vectors `{name}`: {problem}")))
}
