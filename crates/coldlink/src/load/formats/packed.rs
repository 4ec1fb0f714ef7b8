//! The packed file: a dataset as it lies in memory, mapped instead of read.
//!
//! | section | holds |
//! |---|---|
//! | `links.offsets`, `links.neighbors` | the graph: where each node's neighbours start, and the neighbours |
//! | `attributes.offsets`, `attributes.columns`, `attributes.values` | a sparse row of attributes for each node |
//! | `names.offsets`, `names.bytes` | the names of nodes, unless they are their numbers |
//! | `attributes.names.offsets`, `attributes.names.bytes` | the names of attributes, where no schema gives them |
//! | `about` | the rest, as TOML: name, notes, schema |

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::columns::Schema;
use crate::dataset::{Dataset, Notes};
use crate::graph::{AttributeNames, Attributes, Texts};
use crate::load::error::{LoadError, read_error};
use crate::storage::{Container, ContainerWriter, FileError, FileFormat, FileProblem};

const FORMAT: FileFormat = FileFormat::Graph;
const VERSION: u32 = 1;
const ATTRIBUTE_NAMES: &str = "attributes.names";

/// What stands in the file beside the arrays.
#[derive(Serialize, Deserialize)]
struct About {
    name: String,
    /// The number of attribute columns.
    width: u32,
    notes: Notes,
    schema: Option<Schema>,
}

/// Writes a dataset to a file that appears whole or not at all.
pub fn write_packed(dataset: &Dataset, path: &Path) -> Result<(), LoadError> {
    let failed = |source| LoadError::Write { path: path.to_owned(), source };
    let attributes = &dataset.attributes;
    let about = About {
        name: dataset.name.clone(),
        width: u32::try_from(attributes.width()).map_err(|error| failed(std::io::Error::other(error)))?,
        notes: dataset.notes.clone(),
        schema: dataset.schema.clone(),
    };
    let about = toml::to_string(&about).map_err(|error| failed(std::io::Error::other(error)))?;
    let attribute_names: Texts = attributes.names().0.iter().collect();
    let mut writer = ContainerWriter::default();
    writer.links(&dataset.graph);
    writer.list("attributes.offsets", attributes.offsets());
    writer.list("attributes.columns", attributes.columns());
    writer.list("attributes.values", attributes.values());
    writer.names(&dataset.names);
    if dataset.schema.is_none() {
        writer.texts(ATTRIBUTE_NAMES, &attribute_names);
    }
    writer.write(path, FORMAT, VERSION, &about).map_err(failed)
}

/// Opens a packed file. Its arrays stay in the file and are mapped into memory.
pub fn open_packed(path: &Path) -> Result<Dataset, LoadError> {
    let container = Container::open(path, FORMAT, VERSION).map_err(|error| match error.problem {
        FileProblem::Io(source) => read_error(path, source),
        problem => FileError { problem, ..error }.into(),
    })?;
    Ok(read(&container)?)
}

fn read(container: &Container) -> Result<Dataset, FileError> {
    let About { name, width, notes, schema } =
        toml::from_str(&container.about).map_err(|error| container.inconsistent(error.to_string()))?;
    let (graph, attributes) =
        rayon::join(|| container.links(), || read_attributes(container, width as usize, schema.as_ref()));
    let (graph, attributes) = (graph?, attributes?);
    if attributes.rows() != graph.nodes() {
        let (rows, nodes) = (attributes.rows(), graph.nodes());
        return Err(container.inconsistent(format!("{nodes} nodes, but {rows} rows of attributes")));
    }
    let names = container.names(graph.nodes())?;
    Ok(Dataset { name, graph, attributes, names, schema, notes })
}

fn read_attributes(container: &Container, width: usize, schema: Option<&Schema>) -> Result<Attributes, FileError> {
    let inconsistent = |reason: &str| container.inconsistent(format!("attributes: {reason}"));
    let names = match schema {
        Some(schema) if !schema.is_sound() => return Err(inconsistent("a schema that makes no sense")),
        Some(schema) => schema.attribute_names(),
        None => container.texts(ATTRIBUTE_NAMES)?.iter().map(str::to_owned).collect(),
    };
    if schema.is_some() && names.len() != width {
        return Err(inconsistent(&format!("{width} columns, but the schema gives {}", names.len())));
    }
    let attributes = Attributes::from_parts(
        width,
        container.list("attributes.offsets")?,
        container.list("attributes.columns")?,
        container.list("attributes.values")?,
        AttributeNames(names),
    )
    .map_err(inconsistent)?;
    let Some(schema) = schema else { return Ok(attributes) };
    let types = schema.types(&attributes);
    attributes.with_blocks(schema.blocks()).and_then(|attributes| attributes.with_types(types)).map_err(inconsistent)
}
