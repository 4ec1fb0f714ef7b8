//! Reads splits that were made elsewhere and saved by numpy: pairs of node numbers in an `.npz` file.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use npyz::npz::NpzArchive;
use npyz::{DType, Deserialize, NpyFile, Order, TypeChar};

use super::validation::{self, ValidationSet};
use super::{Contents, Pair, Split, SplitError, Stage, TestSet, Validation};
use crate::graph::{Graph, NodeId};

/// A split from the arrays `train_pos`, `val_pos`, `val_neg`, `test_pos` and `test_neg`; with an array `hidden` its nodes
/// are new in the test.
///
/// With [`Validation::Edges`] its validation pairs are used as given; with [`Validation::Nodes`] its training and
/// validation links are what validation nodes are drawn from.
pub(super) fn read(full: &Graph, path: &Path, validation: Option<Validation>, seed: u64) -> Result<Split, SplitError> {
    let mut arrays = Arrays::open(path, full.nodes())?;
    let hidden = arrays.hidden()?;
    let is_hidden = |node: NodeId| hidden.binary_search(&node).is_ok();
    let mut pairs = |linked, unlinked| -> Result<Vec<Pair>, SplitError> {
        let linked = arrays.pairs(linked)?.into_iter().map(Pair::linked);
        let unlinked = arrays.pairs(unlinked)?.into_iter().map(Pair::unlinked);
        Ok(linked.chain(unlinked).map(|pair| pair.new_end_first(is_hidden)).collect())
    };
    let (selected, tested) = (pairs("val_pos", "val_neg")?, pairs("test_pos", "test_neg")?);
    let training = arrays.pairs("train_pos")?;

    let stage = |links: Vec<(NodeId, NodeId)>| Stage {
        graph: Graph::from_links(full.nodes(), links),
        visible: (0..full.nodes() as NodeId).map(|node| !is_hidden(node)).collect(),
    };
    let kept_back = selected.iter().filter(|pair| pair.linked).map(|pair| (pair.source, pair.target));
    let remaining = stage(training.iter().copied().chain(kept_back).collect());
    let search = stage(training);
    let TestSet { hidden, pairs: test, remaining } = TestSet { hidden, pairs: tested, remaining }.checked()?;

    let natural = if hidden.is_empty() { Validation::Edges } else { Validation::Nodes };
    let rule = validation.unwrap_or(natural);
    let selected = match rule {
        Validation::Edges => ValidationSet { search, pairs: selected }.checked(rule)?,
        Validation::Nodes => validation::nodes(full, &remaining, &test, seed)?,
    };
    Ok(Split::audited(Contents {
        protocol: "files".to_owned(),
        outside: true,
        seed,
        rule,
        search: selected.search,
        validation: selected.pairs,
        refit: (rule == Validation::Nodes).then_some(remaining),
        test,
        hidden,
        full: full.clone(),
    }))
}

/// Whether the test of a split is about new nodes.
pub(super) fn has_hidden_nodes(path: &Path) -> Result<bool, SplitError> {
    let mut arrays = Arrays::open(path, NodeId::MAX as usize)?;
    Ok(!arrays.hidden()?.is_empty())
}

/// The arrays of a file, as numbers of nodes.
struct Arrays<'a> {
    archive: NpzArchive<BufReader<File>>,
    path: &'a Path,
    nodes: usize,
}

impl<'a> Arrays<'a> {
    fn open(path: &'a Path, nodes: usize) -> Result<Self, SplitError> {
        let archive = NpzArchive::open(path).map_err(|error| unreadable(path, error))?;
        Ok(Arrays { archive, path, nodes })
    }

    /// The hidden nodes, sorted; none where there is no such array.
    fn hidden(&mut self) -> Result<Vec<NodeId>, SplitError> {
        let mut hidden = self.list("hidden")?.unwrap_or_default();
        hidden.sort_unstable();
        hidden.dedup();
        let kept = self.list("kept")?.unwrap_or_default();
        match kept.into_iter().find(|node| hidden.binary_search(node).is_ok()) {
            Some(node) => Err(SplitError::HiddenAndKept { path: self.path.into(), node }),
            None => Ok(hidden),
        }
    }

    fn pairs(&mut self, array: &'static str) -> Result<Vec<(NodeId, NodeId)>, SplitError> {
        let Array { shape, values } =
            self.nodes_of(array)?.ok_or(SplitError::MissingArray { path: self.path.into(), array })?;
        // An empty list of pairs loses its second dimension in numpy.
        if !(matches!(shape[..], [_, 2]) || shape == [0]) {
            return Err(self.wrong_shape(array, shape, "(pairs, 2)"));
        }
        Ok(values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }

    fn list(&mut self, array: &'static str) -> Result<Option<Vec<NodeId>>, SplitError> {
        match self.nodes_of(array)? {
            Some(found) if found.shape.len() != 1 => Err(self.wrong_shape(array, found.shape, "(nodes,)")),
            found => Ok(found.map(|found| found.values)),
        }
    }

    fn nodes_of(&mut self, array: &'static str) -> Result<Option<Array<NodeId>>, SplitError> {
        let Some(Array { shape, values }) = integers(&mut self.archive, self.path, array)? else { return Ok(None) };
        let node = |number: i64| match NodeId::try_from(number) {
            Ok(node) if (node as usize) < self.nodes => Ok(node),
            _ => Err(SplitError::NodeOutOfRange { path: self.path.into(), array, node: number, nodes: self.nodes }),
        };
        let values = values.into_iter().map(node).collect::<Result<_, _>>()?;
        Ok(Some(Array { shape, values }))
    }

    fn wrong_shape(&self, array: &'static str, found: Vec<u64>, expected: &'static str) -> SplitError {
        SplitError::ArrayShape { path: self.path.into(), array, found, expected }
    }
}

/// An array of a file; pairs stand row by row.
pub(super) struct Array<T> {
    pub shape: Vec<u64>,
    pub values: Vec<T>,
}

/// The array of that name, where there is one.
pub(super) fn integers(
    archive: &mut NpzArchive<BufReader<File>>,
    path: &Path,
    array: &'static str,
) -> Result<Option<Array<i64>>, SplitError> {
    let Some(file) = archive.by_name(array).map_err(|error| unreadable(path, error))? else { return Ok(None) };
    let (shape, order, dtype) = (file.shape().to_vec(), file.order(), file.dtype());
    if dtype.uses_pickled_array() {
        return Err(SplitError::PickledArray { path: path.into(), array });
    }
    let kind = match &dtype {
        DType::Plain(kind) => Some((kind.type_char(), kind.size_field())),
        _ => None,
    };
    let values = match kind {
        Some((TypeChar::Int, 1)) => values::<i8>(file),
        Some((TypeChar::Int, 2)) => values::<i16>(file),
        Some((TypeChar::Int, 4)) => values::<i32>(file),
        Some((TypeChar::Int, 8)) => values::<i64>(file),
        Some((TypeChar::Uint, 1)) => values::<u8>(file),
        Some((TypeChar::Uint, 2)) => values::<u16>(file),
        Some((TypeChar::Uint, 4)) => values::<u32>(file),
        Some((TypeChar::Uint, 8)) => values::<u64>(file),
        _ => return Err(SplitError::ArrayType { path: path.into(), array, found: dtype.descr() }),
    };
    let values = values.map_err(|error| unreadable(path, error))?;
    let values = match (order, &shape[..]) {
        (Order::Fortran, [_, 2]) => two_columns_by_rows(&values),
        _ => values,
    };
    Ok(Some(Array { shape, values }))
}

fn values<T: Deserialize + TryInto<i64>>(file: NpyFile<impl io::Read>) -> io::Result<Vec<i64>> {
    let values: Vec<T> = file.into_vec()?;
    // What does not fit is out of any graph's range as well.
    Ok(values.into_iter().map(|value| value.try_into().unwrap_or(i64::MAX)).collect())
}

/// From one column after the other to row after row.
fn two_columns_by_rows(values: &[i64]) -> Vec<i64> {
    let (first, second) = values.split_at(values.len() / 2);
    first.iter().zip(second).flat_map(|(&one, &other)| [one, other]).collect()
}

fn unreadable(path: &Path, source: io::Error) -> SplitError {
    SplitError::Io { action: "read", path: path.into(), source }
}
