//! `GET /v1/map`: the nodes of the model on a plane, by the two directions in which their embeddings differ most.

use std::sync::Arc;

use axum::extract::State;
use coldlink::graph::NodeId;
use coldlink::kernel::Matrix;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{ApiError, ErrorBody};
use crate::served::Served;
use crate::state::Server;
use crate::work::Answer;

/// Nodes that are shown, and that the directions are found from.
const MOST_SHOWN: usize = 2_000;
/// Rounds of power iteration; the picture does not change visibly after these.
const ROUNDS: usize = 60;

/// A plane through embeddings (principal components), the same for the same model.
pub struct Map {
    mean: Vec<f64>,
    axes: [Vec<f64>; 2],
    /// The nodes that are shown.
    shown: Vec<NodeId>,
}

impl Map {
    /// The plane that shows most of some embeddings.
    pub fn of(embeddings: &Matrix<f32>) -> Self {
        let (rows, width) = (embeddings.rows(), embeddings.columns());
        let count = rows.min(MOST_SHOWN);
        let shown: Vec<NodeId> = (0..count).map(|place| (place * rows / count) as NodeId).collect();
        let mut mean = vec![0.0; width];
        for &node in &shown {
            add(
                &mut mean,
                embeddings.row(node as usize).iter().map(|&value| f64::from(value)),
                1.0 / shown.len() as f64,
            );
        }
        let centred: Vec<Vec<f64>> = shown.iter().map(|&node| centred(embeddings.row(node as usize), &mean)).collect();
        let first = direction(&centred, width, None);
        let second = direction(&centred, width, Some(&first));
        Map { mean, axes: [first, second], shown }
    }

    /// Where an embedding lies.
    pub fn place(&self, embedding: &[f32]) -> [f64; 2] {
        let centred = centred(embedding, &self.mean);
        // Further digits cannot be seen.
        self.axes.each_ref().map(|axis| (product(&centred, axis) * 1e4).round() / 1e4)
    }
}

fn centred(row: &[f32], mean: &[f64]) -> Vec<f64> {
    row.iter().zip(mean).map(|(&value, mean)| f64::from(value) - mean).collect()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(sum: &mut [f64], row: impl Iterator<Item = f64>, share: f64) {
    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += share * value);
}

/// The direction of the largest variance, at a right angle to another.
fn direction(rows: &[Vec<f64>], width: usize, other: Option<&Vec<f64>>) -> Vec<f64> {
    // Any start that is at no right angle to the answer; this one has a part of every column, none twice the same.
    let mut axis: Vec<f64> = (0..width).map(|column| 1.0 + (column as f64 * 0.618).fract()).collect();
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; width];
        for row in rows {
            add(&mut next, row.iter().copied(), product(row, &axis));
        }
        if let Some(other) = other {
            let share = product(&next, other);
            add(&mut next, other.iter().copied(), -share);
        }
        let length = product(&next, &next).sqrt();
        if length < 1e-12 {
            // No variance is left: all rows lie on one line.
            return vec![0.0; width];
        }
        next.iter_mut().for_each(|value| *value /= length);
        axis = next;
    }
    axis
}

/// The nodes on a plane.
#[derive(Serialize, ToSchema)]
pub struct MapAnswer {
    /// All nodes of the model, shown or not.
    nodes: usize,
    /// Those that are shown: all, or some from all over them.
    points: Vec<Point>,
}

/// A node on the plane.
#[derive(Serialize, ToSchema)]
pub struct Point {
    /// Its name.
    name: String,
    /// Where it lies.
    place: [f64; 2],
    /// Its links, where the model keeps them.
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<usize>,
}

/// See the nodes of the model on a plane
#[utoipa::path(
    get, path = "/v1/map", tag = "nodes",
    responses((status = 200, description = "the points", body = MapAnswer), (status = "4XX", description = "the request is wrong", body = ErrorBody), (status = 503, description = "too much to do", body = ErrorBody))
)]
pub async fn map(State(server): State<Arc<Server>>) -> Result<Answer, ApiError> {
    server.answer(|served, _| Ok(points(served))).await
}

fn points(served: &Served) -> MapAnswer {
    let (model, map) = (&served.model, served.map());
    let point = |&node: &NodeId| Point {
        name: model.names().get(node).into_owned(),
        place: served.place(node),
        links: served.degree(node),
    };
    MapAnswer { nodes: model.summary().nodes, points: map.shown.iter().map(point).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_axis_shows_the_largest_variance() {
        let rows = Matrix::from_fn(200, 5, |row, column| match column {
            2 => (row as f32 - 100.0) / 10.0,
            4 => (row * 37 % 11) as f32 / 10.0,
            _ => 0.5,
        });
        let map = Map::of(&rows);
        assert!(map.axes[0][2].abs() > 0.99 && map.axes[1][4].abs() > 0.99);
        let [x, _] = map.place(&[0.5, 0.5, 10.0, 0.5, 0.5]);
        assert!(x.abs() > 9.0);
    }

    #[test]
    fn points_on_a_line_and_no_points_are_no_trouble() {
        let line = Map::of(&Matrix::from_fn(3, 2, |row, _| row as f32));
        assert!(line.place(&[5.0, 5.0]).iter().all(|value| value.is_finite()));
        assert_eq!(Map::of(&Matrix::zeros(4, 3)).place(&[0.0; 3]), [0.0, 0.0]);
        assert_eq!(Map::of(&Matrix::zeros(0, 3)).place(&[0.0; 3]), [0.0, 0.0]);
    }
}
