//! The test set of time: the newest nodes, as if the model had been trained the day before the first of them.
//!
//! They are those that appear last in links where these have times, and else those that a column says.

use super::draw::{tenth, validation_nodes};
use super::validation::{self, ValidationSet};
use super::{SplitError, TestSet, Whole, later, strict};
use crate::columns::{Column, ColumnKind, Schema};
use crate::dataset::Dataset;
use crate::graph::NodeId;

pub(super) fn test_set(
    dataset: &Dataset,
    whole: Whole<'_>,
    column: Option<&str>,
    seed: u64,
) -> Result<TestSet, SplitError> {
    if is_by_links(whole, column) {
        return later::new_nodes(whole, seed);
    }
    let times = times(dataset, column)?;
    let nodes: Vec<NodeId> = (0..dataset.graph.nodes() as NodeId).collect();
    strict::hiding(whole, whole.roles.all_of(&newest(&times, &nodes, tenth(nodes.len()))), seed)
}

/// What is validated on: the newest tenth of those that the test set leaves.
pub(super) fn validation_set(
    dataset: &Dataset,
    whole: Whole<'_>,
    column: Option<&str>,
    (test, seed): (&TestSet, u64),
) -> Result<ValidationSet, SplitError> {
    if is_by_links(whole, column) {
        return later::new_validation_nodes(whole, test, seed);
    }
    let visible = whole.roles.nodes_of(&test.remaining.visible_nodes());
    let newest = whole.roles.all_of(&newest(&times(dataset, column)?, &visible, validation_nodes(visible.len())));
    validation::hiding(whole, &test.remaining, &test.pairs, (newest, seed))
}

fn is_by_links(whole: Whole<'_>, column: Option<&str>) -> bool {
    column.is_none() && whole.graph.times().is_some()
}

/// The newest tenth of some nodes; those of which no time is known are the oldest. Of equals, those further down in the table are newer.
fn newest(times: &[f32], nodes: &[NodeId], count: usize) -> Vec<NodeId> {
    let mut nodes = nodes.to_vec();
    nodes.sort_by(|&a, &b| times[a as usize].total_cmp(&times[b as usize]).then(a.cmp(&b)));
    nodes.split_off(nodes.len() - count)
}

/// A number for each node that rises with time; −∞ where none is known.
///
/// It is the first attribute of the column as it was loaded: of a number that number, of a date its year with its fraction, to
/// about a minute.
fn times(dataset: &Dataset, column: Option<&str>) -> Result<Vec<f32>, SplitError> {
    let schema = dataset.schema.as_ref().ok_or(SplitError::NoTimes { columns: Vec::new() })?;
    let (_, attribute) = find(schema, column)?;
    let of = |node: NodeId| dataset.attributes.value(node, attribute).unwrap_or(f32::NEG_INFINITY);
    Ok((0..dataset.graph.nodes() as NodeId).map(of).collect())
}

fn find<'a>(schema: &'a Schema, column: Option<&str>) -> Result<(&'a Column, u32), SplitError> {
    let dates = schema.columns.iter().filter(|column| matches!(column.kind, ColumnKind::DateTime { .. }));
    let dates: Vec<&str> = dates.map(|column| column.name.as_str()).collect();
    let name = match (column, &dates[..]) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, _) => return Err(SplitError::NoTimes { columns: dates.iter().map(|&name| name.to_owned()).collect() }),
    };
    let usable = |column: &Column| matches!(column.kind, ColumnKind::DateTime { .. } | ColumnKind::Numeric { .. });
    let found = schema.column(name).filter(|(column, _)| usable(column));
    found.ok_or_else(|| SplitError::NotATime { column: name.to_owned() })
}
