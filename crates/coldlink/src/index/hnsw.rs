//! Approximate top-k by a graph of near neighbours in layers (HNSW: Malkov and Yashunin, 2018).
//!
//! Points stand in the order in which they were added, a random one, and each layer holds the first of them: all in the lowest,
//! a sixteenth in the next. So a layer is nothing but an array of links, used as it lies in a mapped file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::marks::Marks;
use super::points::{Points, Probe, Tail};
use crate::graph::NodeId;
use crate::kernel::{Matrix, prefetch};
use crate::storage::{Buffer, Container, ContainerWriter, FileError};

/// Links of a point in the lowest layer.
pub(super) const LOWEST_DEGREE: usize = 48;
/// Links of a point in the layers above.
pub(super) const UPPER_DEGREE: usize = 16;
/// A layer has so many times the points of the one above.
const SHRINK: usize = 16;
/// No link.
pub(super) const NOTHING: u32 = u32::MAX;

/// A graph of near neighbours over rounded vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct Hnsw {
    pub(super) points: Points,
    /// Which node each point is.
    pub(super) nodes: Buffer<NodeId>,
    /// The links of each layer, from the lowest.
    pub(super) layers: Vec<Buffer<u32>>,
}

/// A point with its product, ordered by the product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub product: f32,
    pub place: u32,
}

impl Eq for Found {}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Found {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.product.total_cmp(&other.product).then(other.place.cmp(&self.place))
    }
}

/// How many points each layer has, from the lowest.
pub(super) fn layer_sizes(points: usize) -> Vec<usize> {
    let sizes = std::iter::successors(Some(points), |size| Some(size / SHRINK));
    sizes.enumerate().take_while(|&(layer, size)| layer == 0 || size > 1).map(|(_, size)| size).collect()
}

pub(super) fn degree(layer: usize) -> usize {
    if layer == 0 { LOWEST_DEGREE } else { UPPER_DEGREE }
}

/// Points and the links among them, while they are made or once they are.
#[derive(Clone, Copy)]
pub(super) struct Layers<'a> {
    pub points: &'a Points,
    pub links: &'a [&'a [u32]],
}

impl Layers<'_> {
    /// The points of a layer that are nearest to a probe, nearest first, found by a search that keeps `breadth` of them. Layers
    /// have the first `added` points; there is at least one.
    pub fn search(&self, probe: &Probe<'_>, layer: usize, breadth: usize, added: usize) -> Vec<Found> {
        let mut nearest = Vec::new();
        self.points.near(probe, &[0], &mut Vec::new(), |place, product| nearest.push(Found { product, place }));
        for above in (layer + 1..self.links.len()).rev() {
            nearest = self.search_layer(probe, above, 1, nearest, added);
        }
        self.search_layer(probe, layer, breadth, nearest, added)
    }

    /// The same within a layer, from points that were found before.
    pub fn search_layer(
        &self,
        probe: &Probe<'_>,
        layer: usize,
        breadth: usize,
        from: Vec<Found>,
        added: usize,
    ) -> Vec<Found> {
        let (links, degree) = (self.links[layer], degree(layer));
        let mut met = Marks::new(added.min(links.len() / degree));
        from.iter().for_each(|found| _ = met.insert(found.place));
        let mut open: BinaryHeap<Found> = from.iter().copied().collect();
        let mut kept: BinaryHeap<Reverse<Found>> = from.into_iter().map(Reverse).collect();
        let (mut fresh, mut products) = (Vec::with_capacity(degree), Vec::with_capacity(degree));
        while let Some(next) = open.pop() {
            let worst = kept.peek().map_or(f32::MIN, |worst| worst.0.product);
            if kept.len() >= breadth && next.product < worst {
                break;
            }
            fresh.clear();
            if let Some(after) = open.peek() {
                prefetch(&links[after.place as usize * degree..][..degree]);
            }
            let row = &links[next.place as usize * degree..][..degree];
            fresh.extend(row.iter().copied().take_while(|&place| place != NOTHING).filter(|&place| met.insert(place)));
            self.points.near(probe, &fresh, &mut products, |place, product| {
                let worst = kept.peek().map_or(f32::MIN, |worst| worst.0.product);
                if kept.len() < breadth || product > worst {
                    let found = Found { product, place };
                    open.push(found);
                    kept.push(Reverse(found));
                    if kept.len() > breadth {
                        kept.pop();
                    }
                }
            });
        }
        kept.into_sorted_vec().into_iter().map(|found| found.0).collect()
    }
}

impl Hnsw {
    /// How many points there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The nodes with the largest products with a vector, their biases and `of_popularity` times their popularity added, roughly;
    /// largest first.
    pub(crate) fn nearest(&self, vector: &[f32], of_popularity: f32, count: usize) -> Vec<(NodeId, f32)> {
        if self.is_empty() {
            return Vec::new();
        }
        let links: Vec<&[u32]> = self.layers.iter().map(|layer| &**layer).collect();
        let layers = Layers { points: &self.points, links: &links };
        let found = layers.search(&self.points.query(vector, of_popularity), 0, count, self.len());
        found.into_iter().map(|found| (self.nodes[found.place as usize], found.product)).collect()
    }

    /// Adds all arrays to a file, their names after `prefix`.
    pub(crate) fn write<'a>(&'a self, prefix: &str, writer: &mut ContainerWriter<'a>) {
        writer.rows(format!("{prefix}.codes"), self.points.width, &self.points.codes);
        writer.rows(format!("{prefix}.tails"), size_of::<Tail>() / size_of::<f32>(), self.points.tails.as_flattened());
        writer.list(format!("{prefix}.nodes"), &self.nodes);
        for (layer, links) in self.layers.iter().enumerate() {
            writer.list(format!("{prefix}.links.{layer}"), links);
        }
    }

    /// Reads them, for vectors of `columns` numbers of nodes below `nodes`. What is read can be searched, whatever it holds.
    pub(crate) fn read(archive: &Container, prefix: &str, columns: usize, nodes: usize) -> Result<Self, FileError> {
        let width = columns.next_multiple_of(crate::kernel::BYTES);
        let codes = archive.rows::<i8, _>(&format!("{prefix}.codes"), width)?;
        let tails = archive.rows::<f32, _>(&format!("{prefix}.tails"), size_of::<Tail>() / size_of::<f32>())?;
        let points = Points { codes, tails, width };
        let of_points: Buffer<NodeId> = archive.list(&format!("{prefix}.nodes"))?;
        let sizes = layer_sizes(points.len());
        let layers = (0..sizes.len()).map(|layer| archive.list(&format!("{prefix}.links.{layer}")));
        let layers: Vec<Buffer<u32>> = layers.collect::<Result<_, _>>()?;
        let whole = Some(points.codes.len()) == points.len().checked_mul(points.width)
            && of_points.len() == points.len()
            && of_points.iter().all(|&node| (node as usize) < nodes)
            && points.tails.as_flattened().iter().all(|value| value.is_finite());
        let linked = layers.iter().zip(&sizes).enumerate().all(|(layer, (links, &size))| {
            let inside = |&place: &u32| place == NOTHING || (place as usize) < size;
            Some(links.len()) == size.checked_mul(degree(layer)) && links.iter().all(inside)
        });
        if whole && linked {
            Ok(Hnsw { points, nodes: of_points, layers })
        } else {
            Err(archive.inconsistent(format!("the graph `{prefix}` does not fit its points")))
        }
    }
}

impl Hnsw {
    /// For each row of queries, the best nodes that are found; scores are rough, since vectors are rounded to bytes.
    pub fn search(&self, queries: &Matrix<f32>, count: usize) -> Vec<Vec<super::Hit>> {
        use rayon::prelude::*;
        let hit = |(node, score)| super::Hit { node, score };
        let find = |row: usize| {
            let mut found = self.nearest(queries.row(row), 0.0, count.max(LEAST_BREADTH));
            found.truncate(count);
            found.into_iter().map(hit).collect()
        };
        (0..queries.rows()).into_par_iter().map(find).collect()
    }
}

/// A narrower search finds too little of what is near.
const LEAST_BREADTH: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::FileFormat;

    #[test]
    fn a_graph_that_leads_outside_itself_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let vectors = Matrix::from_fn(50, 3, |row, column| (row * 7 + column) as f32 % 5.0);
        let whole = Hnsw::build(&vectors, &[0.0; 50], &[0.0; 50], (0..50).collect());
        let check = |graph: &Hnsw| {
            let mut writer = ContainerWriter::default();
            graph.write("dense", &mut writer);
            writer.write(&path, FileFormat::Index, 1, "").unwrap();
            Hnsw::read(&Container::open(&path, FileFormat::Index, 1).unwrap(), "dense", 3, 50)
        };
        assert_eq!(check(&whole).unwrap(), whole);
        let breaks: [fn(&mut Hnsw); 6] = [
            |graph| graph.layers[0].to_mut()[3] = 50,
            |graph| graph.layers[1].to_mut()[0] = 3,
            |graph| graph.nodes.to_mut()[7] = 50,
            |graph| _ = graph.nodes.to_mut().pop(),
            |graph| graph.points.tails.to_mut()[9][0] = f32::NAN,
            |graph| graph.points.codes.to_mut().truncate(64),
        ];
        for (place, damage) in breaks.iter().enumerate() {
            let mut graph = whole.clone();
            damage(&mut graph);
            assert!(check(&graph).is_err(), "{place}");
        }
    }
}
