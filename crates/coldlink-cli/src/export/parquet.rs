//! A Parquet file with the columns `name` and `embedding`, a list of numbers.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use coldlink::graph::NodeId;
use coldlink::storage::write_atomically;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::Export;

const SCHEMA: &str = "message embeddings {
    REQUIRED BYTE_ARRAY name (STRING);
    REQUIRED GROUP embedding (LIST) { REPEATED GROUP list { REQUIRED FLOAT element; } }
}";
/// Rows of one group.
const ROWS: usize = 16_384;

/// Writes the file, whole or not at all.
pub fn write_parquet(path: &Path, export: &Export) -> anyhow::Result<()> {
    write_atomically(path, |file| write_groups(file, export).map_err(io::Error::other))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

fn write_groups(file: impl Write + Send, export: &Export) -> Result<()> {
    // Hardly any number comes twice: a dictionary of them would only be in the way.
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .build();
    let mut writer = SerializedFileWriter::new(file, Arc::new(parse_message_type(SCHEMA)?), Arc::new(properties))?;
    let (nodes, width) = (export.names.len(), export.embeddings.columns());
    for first in (0..nodes).step_by(ROWS) {
        let rows = first..nodes.min(first + ROWS);
        let name = |node: usize| ByteArray::from(export.names.get(node as NodeId).as_bytes().to_vec());
        let names: Vec<ByteArray> = rows.clone().map(name).collect();
        let numbers: Vec<f32> = rows.flat_map(|node| export.embeddings.row(node)).copied().collect();
        // A list starts at its first number, and every number is there.
        let starts: Vec<i16> = (0..numbers.len()).map(|place| i16::from(!place.is_multiple_of(width))).collect();
        let is_there = vec![1; numbers.len()];
        let mut group = writer.next_row_group()?;
        if let Some(mut column) = group.next_column()? {
            column.typed::<ByteArrayType>().write_batch(&names, None, None)?;
            column.close()?;
        }
        if let Some(mut column) = group.next_column()? {
            column.typed::<FloatType>().write_batch(&numbers, Some(&is_there), Some(&starts))?;
            column.close()?;
        }
        group.close()?;
    }
    writer.close().map(|_| ())
}
