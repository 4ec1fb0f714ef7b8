//! Reads splits that were made elsewhere and saved by numpy: pairs of node numbers in an `.npz` file.

use std::path::Path;

use super::validation::{self, ValidationSet};
use super::{Contents, Pair, Split, SplitError, Stage, TestSet, Whole, types_of};
use crate::config::Validation;
use crate::dataset::Dataset;
use crate::graph::{Graph, NodeId, PLAIN};
use crate::load::NpzFile;

/// A split from the arrays `train_pos`, `val_pos`, `val_neg`, `test_pos` and `test_neg`; with an array `hidden` its nodes
/// are new in the test.
///
/// With [`Validation::Edges`] its validation pairs are used as given; with [`Validation::Nodes`] its training and
/// validation links are what validation nodes are drawn from.
pub(super) fn read(
    dataset: &Dataset,
    path: &Path,
    validation: Option<Validation>,
    seed: u64,
) -> Result<Split, SplitError> {
    if !dataset.links().1.is_plain() {
        return Err(SplitError::ArraysArePlain);
    }
    let full = &dataset.graph;
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

    let visible: Vec<bool> = (0..full.nodes() as NodeId).map(|node| !is_hidden(node)).collect();
    let stage = |links: Vec<(NodeId, NodeId)>| {
        Stage::new(Graph::from_links(full.nodes(), links).carrying_as(full), visible.clone())
    };
    let kept_back = selected.iter().filter(|pair| pair.linked).map(|pair| (pair.source, pair.target));
    let remaining = stage(training.iter().copied().chain(kept_back).collect());
    let search = stage(training);
    let whole = TestSet { hidden, pairs: tested, remaining, given: Vec::new() };
    let TestSet { hidden, pairs: test, remaining, .. } = whole.checked()?;

    let natural = if hidden.is_empty() { Validation::Edges } else { Validation::Nodes };
    let rule = validation.unwrap_or(natural);
    let selected = match rule {
        Validation::Edges => ValidationSet { search, pairs: selected }.checked(rule)?,
        Validation::Nodes => {
            let types = types_of(dataset);
            validation::nodes(Whole::of(dataset, &types), &remaining, &test, seed)?
        }
    };
    Split::prepared(
        &dataset.attributes,
        Contents {
            protocol: "files".to_owned(),
            outside: true,
            seed,
            rule,
            search: selected.search,
            validation: selected.pairs,
            refit: (rule == Validation::Nodes).then_some(remaining),
            test,
            given: Vec::new(),
            hidden,
            full: full.clone(),
            roles: PLAIN.clone(),
        },
    )
}

/// Whether the test of a split is about new nodes.
pub(super) fn has_hidden_nodes(path: &Path) -> Result<bool, SplitError> {
    let mut arrays = Arrays::open(path, NodeId::MAX as usize)?;
    Ok(!arrays.hidden()?.is_empty())
}

/// The arrays of a file, as numbers of nodes.
struct Arrays<'a> {
    file: NpzFile,
    path: &'a Path,
    nodes: usize,
}

impl<'a> Arrays<'a> {
    fn open(path: &'a Path, nodes: usize) -> Result<Self, SplitError> {
        Ok(Arrays { file: NpzFile::open(path)?, path, nodes })
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
        let (shape, values) =
            self.nodes_of(array)?.ok_or(SplitError::MissingArray { path: self.path.into(), array })?;
        // An empty list of pairs loses its second dimension in numpy.
        if !(matches!(shape[..], [_, 2]) || shape == [0]) {
            return Err(self.wrong_shape(array, shape, "(pairs, 2)"));
        }
        Ok(values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }

    fn list(&mut self, array: &'static str) -> Result<Option<Vec<NodeId>>, SplitError> {
        match self.nodes_of(array)? {
            Some((shape, _)) if shape.len() != 1 => Err(self.wrong_shape(array, shape, "(nodes,)")),
            found => Ok(found.map(|(_, nodes)| nodes)),
        }
    }

    /// The shape of an array and its nodes, row by row; nothing where there is no such array.
    #[expect(clippy::type_complexity, reason = "two words of it are `nothing` and `error`")]
    fn nodes_of(&mut self, array: &'static str) -> Result<Option<(Vec<usize>, Vec<NodeId>)>, SplitError> {
        if !self.file.has(array) {
            return Ok(None);
        }
        let (shape, values) = self.file.integers(array)?;
        let node = |number: i64| match NodeId::try_from(number) {
            Ok(node) if (node as usize) < self.nodes => Ok(node),
            _ => Err(SplitError::NodeOutOfRange { path: self.path.into(), array, node: number, nodes: self.nodes }),
        };
        let values = values.into_iter().map(node).collect::<Result<_, _>>()?;
        Ok(Some((shape, values)))
    }

    fn wrong_shape(&self, array: &'static str, found: Vec<usize>, expected: &'static str) -> SplitError {
        SplitError::ArrayShape { path: self.path.into(), array, found, expected }
    }
}
