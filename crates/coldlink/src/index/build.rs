//! Builds a graph of near neighbours, the same on any number of threads.
//!
//! Points are added in rounds. Those of a round look for their neighbours side by side, in the graph of the rounds before; then
//! each point that was chosen gets its links back, again side by side. No two points write to the same place.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use super::hnsw::{Found, Hnsw, Layers, NOTHING, degree, layer_sizes};
use super::points::Points;
use crate::graph::NodeId;
use crate::kernel::Matrix;

/// Points from which on a graph is large: it is built with less care, which costs less than half the time.
const LARGE: usize = 200_000;
/// Points that are added at a time are at most this share of those that are there.
const ROUND_SHARE: usize = 16;
/// And at most so many.
const LARGEST_ROUND: usize = 512;
/// The order of points depends on nothing else.
const SEED: u64 = 0x1d3a;

/// How much care is taken.
#[derive(Clone, Copy)]
struct Care {
    /// Points that a search for neighbours keeps.
    breadth: usize,
    /// The share of a full row that is left free when links are chosen anew, so that this is not done for every link.
    free: f64,
}

impl Care {
    fn of(points: usize) -> Self {
        if points < LARGE { Care { breadth: 128, free: 0.0 } } else { Care { breadth: 64, free: 0.25 } }
    }
}

/// A link to be made: in which layer, from which point, to which.
type Link = (u32, u32, u32);

impl Hnsw {
    /// A graph over some rows of a matrix, with biases and popularities by row.
    pub(crate) fn build(vectors: &Matrix<f32>, biases: &[f32], popularities: &[f32], nodes: Vec<NodeId>) -> Self {
        let care = Care::of(nodes.len());
        Hnsw::built(vectors, (biases, popularities), nodes, care)
    }

    fn built(
        vectors: &Matrix<f32>,
        (biases, popularities): (&[f32], &[f32]),
        mut nodes: Vec<NodeId>,
        care: Care,
    ) -> Self {
        nodes.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(SEED));
        let points = Points::new(vectors, biases, popularities, &nodes);
        let sizes = layer_sizes(points.len());
        let mut layers: Vec<Vec<u32>> =
            sizes.iter().enumerate().map(|(layer, size)| vec![NOTHING; size * degree(layer)]).collect();
        let mut added = 1.min(points.len());
        while added < points.len() {
            let round = added..(added + (added / ROUND_SHARE).clamp(1, LARGEST_ROUND)).min(points.len());
            let rows: Vec<&[u32]> = layers.iter().map(Vec::as_slice).collect();
            let graph = Layers { points: &points, links: &rows };
            let chosen: Vec<Vec<Link>> = round
                .clone()
                .into_par_iter()
                .map(|place| neighbours(&graph, &sizes, (place as u32, added), care))
                .collect();
            let mut links: Vec<Link> = chosen.into_iter().flatten().collect();
            let back: Vec<Link> = links.iter().map(|&(layer, from, to)| (layer, to, from)).collect();
            links.extend(back);
            links.sort_unstable();
            let groups: Vec<&[Link]> = links.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).collect();
            let rows: Vec<Vec<u32>> = groups.par_iter().map(|group| with_links(&graph, group, care)).collect();
            for (group, row) in groups.iter().zip(rows) {
                let (layer, place) = (group[0].0 as usize, group[0].1 as usize);
                layers[layer][place * degree(layer)..][..row.len()].copy_from_slice(&row);
            }
            added = round.end;
        }
        let layers = layers.into_iter().map(Into::into).collect();
        Hnsw { points, nodes: nodes.into(), layers }
    }
}

/// The links of a new point to those of its layers that were added before.
fn neighbours(graph: &Layers<'_>, sizes: &[usize], (place, added): (u32, usize), care: Care) -> Vec<Link> {
    let probe = graph.points.probe(place);
    let highest = sizes.iter().rposition(|&size| (place as usize) < size).unwrap_or(0);
    let mut found = graph.search(&probe, highest, care.breadth, added);
    let mut links = Vec::new();
    for layer in (0..=highest).rev() {
        if layer < highest {
            found = graph.search_layer(&probe, layer, care.breadth, found, added);
        }
        let chosen = spread_out(graph.points, &found, degree(layer) / 2);
        links.extend(chosen.into_iter().map(|to| (layer as u32, place, to)));
    }
    links
}

/// The links of a point once those of `group` are added; the best where they are too many. As long as the layer's degree.
fn with_links(graph: &Layers<'_>, group: &[Link], care: Care) -> Vec<u32> {
    let (layer, place) = (group[0].0 as usize, group[0].1);
    let most = degree(layer);
    let before = &graph.links[layer][place as usize * most..][..most];
    let before = before.iter().copied().take_while(|&to| to != NOTHING);
    let mut all: Vec<u32> = before.chain(group.iter().map(|link| link.2)).collect();
    if all.len() > most {
        let mut found = Vec::with_capacity(all.len());
        let points = graph.points;
        points.near(&points.probe(place), &all, &mut Vec::new(), |place, product| found.push(Found { product, place }));
        found.sort_unstable_by(|a, b| b.cmp(a));
        all = spread_out(points, &found, most - (care.free * most as f64) as usize);
    }
    all.resize(most, NOTHING);
    all
}

/// Of points by falling nearness, those that are nearer to the middle than to any one chosen before, so that links lead in all
/// directions; filled up with the nearest others.
fn spread_out(points: &Points, found: &[Found], most: usize) -> Vec<u32> {
    let (mut chosen, mut others): (Vec<u32>, Vec<u32>) = (Vec::with_capacity(most), Vec::new());
    let mut products = Vec::new();
    for &Found { product, place } in found {
        if chosen.len() >= most {
            break;
        }
        let mut apart = true;
        points.near(&points.probe(place), &chosen, &mut products, |_, other| apart &= other < product);
        if apart { chosen.push(place) } else { others.push(place) }
    }
    others.truncate(most - chosen.len());
    chosen.extend(others);
    chosen
}

#[cfg(test)]
mod tests {
    use super::super::ExactIndex;
    use super::*;
    use rand::RngExt;

    fn clustered(nodes: usize, columns: usize) -> Matrix<f32> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let centres = Matrix::from_fn(nodes / 40 + 1, columns, |_, _| random.random::<f32>() - 0.5);
        Matrix::from_fn(nodes, columns, |row, column| {
            centres.row(row % centres.rows())[column] + 0.6 * (random.random::<f32>() - 0.5)
        })
    }

    #[test]
    fn most_of_the_exact_best_are_found_biases_included() {
        let vectors = clustered(3000, 32);
        let biases: Vec<f32> = (0..3000).map(|node| (node % 17) as f32 / 8.0).collect();
        let graph = Hnsw::build(&vectors, &biases, &vec![0.0; 3000], (0..3000).collect());
        let with_bias = Matrix::from_fn(3000, 33, |row, column| *vectors.row(row).get(column).unwrap_or(&biases[row]));
        let queries = clustered(100, 32);
        let asked = Matrix::from_fn(100, 33, |row, column| *queries.row(row).get(column).unwrap_or(&1.0));
        let exact = ExactIndex::new(with_bias).search(&asked, 10);
        let mut found = 0;
        for (rough, exact) in graph.search(&queries, 20).iter().zip(&exact) {
            found += exact.iter().filter(|hit| rough.iter().any(|rough| rough.node == hit.node)).count();
        }
        assert!(found >= 980, "{found} of 1000");
    }

    #[test]
    fn most_are_found_with_less_care_as_well() {
        let (vectors, queries, zeros) = (clustered(4000, 32), clustered(100, 32), vec![0.0; 4000]);
        let exact = ExactIndex::new(vectors.clone()).search(&queries, 10);
        let graph = Hnsw::built(&vectors, (&zeros, &zeros), (0..4000).collect(), Care::of(LARGE));
        let rough = graph.search(&queries, 64);
        let is_found = |query: usize, node: NodeId| rough[query].iter().any(|rough| rough.node == node);
        let found = exact.iter().enumerate().flat_map(|(query, hits)| hits.iter().map(move |hit| (query, hit.node)));
        let found = found.filter(|&(query, node)| is_found(query, node)).count();
        assert!(found >= 970, "{found} of 1000");
    }

    #[test]
    fn a_graph_does_not_depend_on_the_number_of_threads() {
        let vectors = clustered(700, 20);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Hnsw::build(&vectors, &[0.0; 700], &[0.0; 700], (0..700).collect()))
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn small_graphs_hold_all_their_points() {
        for nodes in [0, 1, 2, 40] {
            let vectors = clustered(nodes, 3);
            let zeros = vec![0.0; nodes];
            let graph = Hnsw::build(&vectors, &zeros, &zeros, (0..nodes as NodeId).collect());
            assert_eq!(graph.nearest(&[1.0, 0.0, 0.0], 0.0, 50).len(), nodes);
        }
    }
}
