//! The packed file: a dataset as it lies in memory, mapped instead of read.
//!
//! | section | holds |
//! |---|---|
//! | `links.offsets`, `links.neighbors` | the graph: where each node's neighbours start, and the neighbours |
//! | `relations.offsets`, `relations.neighbors` | the same between role nodes, where links have relations or directions |
//! | `links.weights`, `links.times` | the weight and the time of each neighbour's link, where links have any; with relations they are in `relations.weights`, `relations.times` |
//! | `attributes.offsets`, `attributes.columns`, `attributes.values` | a sparse row of attributes for each node |
//! | `attributes.dense` | a dense row of those that are parts of vectors |
//! | `types` | the node type of each node, where there are several |
//! | `names.offsets`, `names.bytes` | the names of nodes, unless they are their numbers |
//! | `titles.offsets`, `titles.bytes` | what is shown beside the names, where a column has it |
//! | `attributes.names.offsets`, `attributes.names.bytes` | the names of attributes, where no schema gives them |
//! | `vectors.*` | token vectors of texts, see `columns/vectors/sections.rs` |
//! | `about` | the rest, as TOML: name, notes, schema |

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::columns::{Schema, Values};
use crate::dataset::{Dataset, Notes};
use crate::graph::{AttributeNames, Attributes, Graph, NodeId, NodeTypes, RoleGraph, Roles, Texts};
use crate::load::Limits;
use crate::load::error::{LoadError, read_error};
use crate::storage::{Buffer, Container, ContainerWriter, FileError, FileFormat, FileProblem};

const FORMAT: FileFormat = FileFormat::Graph;
const VERSION: u32 = 1;
const ATTRIBUTE_NAMES: &str = "attributes.names";
const TITLES: &str = "titles";

/// What stands in the file beside the arrays.
#[derive(Serialize, Deserialize)]
struct About {
    name: String,
    /// The number of attribute columns.
    width: u32,
    /// Those of the dense part, the last of them.
    dense_width: u32,
    notes: Notes,
    schema: Option<Schema>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    roles: Option<Roles>,
}

/// Writes a dataset to a file that appears whole or not at all.
pub fn write_packed(dataset: &Dataset, path: &Path) -> Result<(), LoadError> {
    let failed = |source| LoadError::Write { path: path.to_owned(), source };
    let attributes = &dataset.attributes;
    let about = About {
        name: dataset.name.clone(),
        width: u32::try_from(attributes.width()).map_err(|error| failed(std::io::Error::other(error)))?,
        dense_width: u32::try_from(attributes.dense_width()).map_err(|error| failed(std::io::Error::other(error)))?,
        notes: dataset.notes.clone(),
        schema: dataset.schema.clone(),
        roles: dataset.relations.as_ref().map(|relations| relations.roles.clone()),
    };
    let about = toml::to_string(&about).map_err(|error| failed(std::io::Error::other(error)))?;
    let attribute_names: Texts = attributes.names().0.iter().collect();
    let mut writer = ContainerWriter::default();
    writer.links("links", &dataset.graph);
    if let Some(RoleGraph { graph, .. }) = &dataset.relations {
        writer.links("relations", graph);
    }
    writer.list("attributes.offsets", attributes.offsets());
    writer.list("attributes.columns", attributes.columns());
    writer.list("attributes.values", attributes.values());
    writer.list("attributes.dense", attributes.dense());
    if let Some(types) = attributes.types() {
        writer.list("types", types.all());
    }
    dataset.schema.iter().for_each(|schema| schema.write_vectors(&mut writer));
    writer.names(&dataset.names);
    if let Some(titles) = &dataset.titles {
        writer.texts(TITLES, titles);
    }
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
    let About { name, width, dense_width, notes, mut schema, roles } =
        toml::from_str(&container.about).map_err(|error| container.inconsistent(error.to_string()))?;
    let most = Limits::default().attributes;
    if width as usize > most {
        return Err(container.inconsistent(format!("it asks for {width} attributes, more than {most}")));
    }
    let (graph, attributes) = rayon::join(
        || container.links("links"),
        || read_attributes(container, [width, dense_width].map(|width| width as usize), schema.as_ref()),
    );
    let (graph, attributes) = (graph?, attributes?);
    if attributes.rows() != graph.nodes() {
        let (rows, nodes) = (attributes.rows(), graph.nodes());
        return Err(container.inconsistent(format!("{nodes} nodes, but {rows} rows of attributes")));
    }
    let names = container.names(graph.nodes())?;
    let titles = container.texts_if_there(TITLES, graph.nodes())?;
    schema.iter_mut().try_for_each(|schema| schema.read_vectors(container))?;
    let relations = roles.map(|roles| read_relations(container, roles, &graph)).transpose()?;
    Ok(Dataset { name, graph, relations, attributes, names, titles, schema, notes })
}

/// The links between role nodes: the same links as those of the graph.
fn read_relations(container: &Container, roles: Roles, graph: &Graph) -> Result<RoleGraph, FileError> {
    let inconsistent = |reason: &str| container.inconsistent(format!("relations: {reason}"));
    let links = RoleGraph::from_parts(roles, container.links("relations")?, graph.nodes()).map_err(inconsistent)?;
    let known = |(a, b): (NodeId, NodeId)| graph.has_link(links.roles.node(a), links.roles.node(b));
    if !links.graph.iter_links().all(known) {
        return Err(inconsistent("a link of a relation is none of the graph"));
    }
    Ok(links)
}

fn read_attributes(
    container: &Container,
    [width, dense_width]: [usize; 2],
    schema: Option<&Schema>,
) -> Result<Attributes, FileError> {
    let inconsistent = |reason: &str| container.inconsistent(format!("attributes: {reason}"));
    let names = match schema {
        Some(schema) if !schema.is_sound() => return Err(inconsistent("a schema that makes no sense")),
        Some(schema) => schema.attribute_names(),
        None => container.texts(ATTRIBUTE_NAMES)?.iter().map(str::to_owned).collect(),
    };
    if schema.is_some() && names.len() != width {
        return Err(inconsistent(&format!("{width} columns, but the schema gives {}", names.len())));
    }
    let sparse_width = width.checked_sub(dense_width).ok_or_else(|| inconsistent("the dense part is too wide"))?;
    let attributes = Attributes::from_parts(
        sparse_width,
        container.list("attributes.offsets")?,
        container.list("attributes.columns")?,
        container.list("attributes.values")?,
        AttributeNames::default(),
    );
    let dense = container.list("attributes.dense")?;
    let attributes = attributes.and_then(|sparse| sparse.with_dense(dense_width, dense, AttributeNames(names)));
    let attributes = attributes.map_err(inconsistent)?;
    let Some(schema) = schema else { return Ok(attributes) };
    if schema.dense_width() != dense_width {
        return Err(inconsistent(&format!(
            "{dense_width} dense columns, but the schema gives {}",
            schema.dense_width()
        )));
    }
    let types = read_types(container, schema)?;
    attributes.with_blocks(schema.blocks()).and_then(|attributes| attributes.with_types(types)).map_err(inconsistent)
}

/// The node types, where the schema has a column that tells them and there are not too many.
fn read_types(container: &Container, schema: &Schema) -> Result<Option<Arc<NodeTypes>>, FileError> {
    let Some((column, _)) = schema.type_column().filter(|_| container.has("types")) else { return Ok(None) };
    let Values::Listed(names) = &column.values else { return Ok(None) };
    let of: Buffer<u8> = container.list("types")?;
    let types = NodeTypes::new(names.clone(), of.to_vec());
    types.map(|types| Some(Arc::new(types))).ok_or_else(|| container.inconsistent("a number that is no node type"))
}
