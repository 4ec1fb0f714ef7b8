//! What a model keeps of the rows of its nodes beside embeddings: a title to show, and numbers to filter by.

use std::borrow::Cow;

use super::{Asked, Model};
use crate::columns::Schema;
use crate::dataset::{End, NewNodes};
use crate::graph::{Attributes, NodeId, Texts};
use crate::storage::{Buffer, Container, ContainerWriter, FileError};

const TITLES: &str = "titles";
const NUMBERS: &str = "numbers";
/// Stands for a number that a row does not have.
const MISSING: f32 = f32::INFINITY;

/// Titles and numbers of nodes, in their order. Models of versions that kept none have none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeFacts {
    titles: Option<Texts>,
    /// How many columns of numbers are kept.
    width: usize,
    /// A row of so many for each node.
    numbers: Buffer<f32>,
}

impl NodeFacts {
    /// Of all nodes of a dataset.
    pub fn of(schema: Option<&Schema>, attributes: &Attributes, titles: Option<&Texts>) -> Self {
        let columns: Vec<u32> = schema.into_iter().flat_map(Schema::numbers).map(|(_, first)| first).collect();
        NodeFacts { titles: titles.cloned(), width: columns.len(), numbers: numbers_of(attributes, &columns).into() }
    }

    /// Of new nodes that join these.
    pub fn of_new(&self, schema: Option<&Schema>, new: &NewNodes) -> Self {
        let found = NodeFacts::of(schema, &new.attributes, new.titles.as_ref());
        let without = || (0..new.names.len()).map(|_| "").collect();
        let titles = self.titles.as_ref().map(|_| found.titles.unwrap_or_else(without));
        if self.width == found.width {
            NodeFacts { titles, ..found }
        } else {
            NodeFacts { titles, width: 0, numbers: Vec::new().into() }
        }
    }

    /// Of several groups of nodes, one after the other.
    pub fn concatenated(parts: &[&NodeFacts]) -> Self {
        let titles: Option<Vec<&Texts>> = parts.iter().map(|part| part.titles.as_ref()).collect();
        let titles = titles.filter(|titles| !titles.is_empty());
        NodeFacts {
            titles: titles.map(|titles| titles.iter().flat_map(|titles| titles.iter()).collect()),
            width: parts.first().map_or(0, |part| part.width),
            numbers: parts.iter().map(|part| &*part.numbers).collect::<Vec<_>>().concat().into(),
        }
    }

    /// Without the first so many nodes.
    pub fn after(&self, first: usize) -> Self {
        let titles = self.titles.as_ref().map(|titles| titles.iter().skip(first).collect());
        NodeFacts { titles, width: self.width, numbers: self.numbers[first * self.width..].to_vec().into() }
    }

    /// Bytes of memory that they take.
    pub fn held_bytes(&self) -> usize {
        let of_titles = |titles: &Texts| titles.iter().map(|title| size_of::<u64>() + title.len()).sum();
        size_of_val(&self.numbers[..]) + self.titles.as_ref().map_or(0, of_titles)
    }

    /// Whether numbers of so many columns are kept.
    pub fn has_numbers(&self, columns: usize) -> bool {
        self.width == columns
    }

    fn title(&self, row: usize) -> Option<&str> {
        self.titles.as_ref().map(|titles| titles.get(row)).filter(|title| !title.is_empty())
    }

    fn number(&self, row: usize, column: usize) -> Option<f32> {
        Some(self.numbers[row * self.width + column]).filter(|&number| number != MISSING)
    }

    /// Adds what there is to a file.
    pub fn write<'a>(&'a self, writer: &mut ContainerWriter<'a>) {
        if let Some(titles) = &self.titles {
            writer.texts(TITLES, titles);
        }
        if self.width > 0 {
            writer.list(NUMBERS, &self.numbers);
        }
    }

    /// Those of so many nodes, with a number for each of so many columns, or with none.
    pub fn read(container: &Container, nodes: usize, columns: usize) -> Result<Self, FileError> {
        let titles = container.texts_if_there(TITLES, nodes)?;
        let numbers: Option<Buffer<f32>> = container.list_if_there(NUMBERS)?;
        let width = if numbers.is_some() { columns } else { 0 };
        let numbers = numbers.unwrap_or_else(|| Vec::new().into());
        if nodes.checked_mul(width) != Some(numbers.len()) || numbers.iter().any(|number| number.is_nan()) {
            return Err(container.inconsistent("its numbers do not match its nodes"));
        }
        Ok(NodeFacts { titles, width, numbers })
    }

    /// Whether these may stand behind the others.
    pub fn follows(&self, first: &NodeFacts) -> bool {
        (self.titles.is_some(), self.width) == (first.titles.is_some(), first.width)
    }
}

/// A row of the attributes in some columns for each node.
fn numbers_of(attributes: &Attributes, columns: &[u32]) -> Vec<f32> {
    let mut numbers = Vec::with_capacity(attributes.rows() * columns.len());
    for node in 0..attributes.rows() as NodeId {
        let (found, values) = attributes.row(node);
        let number = |column: &u32| found.binary_search(column).map_or(MISSING, |place| values[place]);
        numbers.extend(columns.iter().map(number));
    }
    numbers
}

impl Model {
    /// The facts that a node is among, and its place there.
    fn facts_of(&self, node: NodeId) -> (&NodeFacts, usize) {
        let row = node as usize;
        let first = self.embeddings.nodes() / self.roles.count();
        match (row.checked_sub(first), &self.added) {
            (Some(row), Some(added)) => (&added.facts, row),
            _ => (&self.facts, row),
        }
    }

    /// The column whose texts stand beside names, where nodes have any.
    pub fn shown_column(&self) -> Option<&str> {
        self.facts.titles.as_ref()?;
        self.schema.as_deref()?.show.as_deref()
    }

    /// What is shown beside the name of a known node.
    pub fn title(&self, node: NodeId) -> Option<&str> {
        let (facts, row) = self.facts_of(node);
        facts.title(row)
    }

    /// What is shown beside the name of an end of a link.
    pub(super) fn title_of(&self, asked: &Asked, end: End) -> Option<String> {
        match end {
            End::Known(node) => self.title(self.roles.node(node)).map(str::to_owned),
            End::New(node) => {
                let title = asked.new_nodes().titles.as_ref()?.get(self.roles.node(node) as usize);
                Some(title).filter(|title| !title.is_empty()).map(str::to_owned)
            }
        }
    }

    /// The titles of known nodes, in their order.
    pub(super) fn titles_of(&self, nodes: &[NodeId]) -> Option<Texts> {
        self.shown_column()?;
        Some(nodes.iter().map(|&node| self.title(node).unwrap_or_default()).collect())
    }

    /// What a known node has in one of the columns of numbers.
    pub(super) fn number_in(&self, node: NodeId, column: usize) -> Option<f32> {
        let (facts, row) = self.facts_of(node);
        facts.number(row, column)
    }

    /// All facts in one place.
    pub(super) fn all_facts(&self) -> Cow<'_, NodeFacts> {
        match &self.added {
            Some(added) => Cow::Owned(NodeFacts::concatenated(&[&self.facts, &added.facts])),
            None => Cow::Borrowed(&self.facts),
        }
    }
}
