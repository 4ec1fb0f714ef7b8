//! A Parquet file with the columns `name` and `embedding`, a list of fixed size.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use arrow_array::{ArrayRef, FixedSizeListArray, Float32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use coldlink::graph::NodeId;
use coldlink::storage::write_atomically;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::Export;

/// Rows that are handed over at a time.
const ROWS: usize = 16_384;

/// Writes the file, whole or not at all.
pub fn write_parquet(path: &Path, export: &Export) -> anyhow::Result<()> {
    let number = Arc::new(Field::new("item", DataType::Float32, false));
    let width = export.embeddings.columns() as i32;
    let schema = Arc::new(Schema::new(vec![
        Field::new("name", DataType::Utf8, false),
        Field::new("embedding", DataType::FixedSizeList(Arc::clone(&number), width), false),
    ]));
    // Hardly any number comes twice: a dictionary of them would only be in the way.
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .build();
    write_atomically(path, |file| {
        let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).map_err(io::Error::other)?;
        let nodes = export.names.len();
        for first in (0..nodes).step_by(ROWS) {
            let round = first..nodes.min(first + ROWS);
            let names = StringArray::from_iter_values(round.clone().map(|node| export.names.get(node as NodeId)));
            let numbers = round.flat_map(|node| export.embeddings.row(node)).copied();
            let numbers: ArrayRef = Arc::new(Float32Array::from_iter_values(numbers));
            let lists = FixedSizeListArray::try_new(Arc::clone(&number), width, numbers, None);
            let columns: Vec<ArrayRef> = vec![Arc::new(names), Arc::new(lists.map_err(io::Error::other)?)];
            let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(io::Error::other)?;
            writer.write(&batch).map_err(io::Error::other)?;
        }
        writer.close().map(|_| ()).map_err(io::Error::other)
    })
    .with_context(|| format!("cannot write `{}`", path.display()))
}
