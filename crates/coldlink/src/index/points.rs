//! The vectors of an approximate index, rounded to bytes.
//!
//! An inner product alone is no measure of nearness: a long vector is near to all. Each vector gets one number more, so that all
//! have the same length; then the largest product is the smallest distance (Bachrach et al., 2014).

use rayon::prelude::*;

use crate::kernel::{BYTES, ByteProducts, Matrix, Real, prefetch};
use crate::storage::Buffer;

/// What a point has beside its bytes.
///
/// 0: by how much its bytes are to be multiplied; 1: what is added to any product with it, its *bias*; 2: its popularity;
/// 3: what brings it to the common length.
pub(super) type Tail = [f32; 4];

/// A vector, a bias and a popularity for each place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Points {
    pub codes: Buffer<i8>,
    pub tails: Buffer<Tail>,
    /// Bytes in a row.
    pub width: usize,
}

/// What products are taken with: a point, or a query.
pub(super) struct Probe<'a> {
    codes: std::borrow::Cow<'a, [i8]>,
    tail: Tail,
}

impl Points {
    /// The rows of a matrix in the given order, with biases and popularities by row.
    pub fn new(vectors: &Matrix<f32>, biases: &[f32], popularities: &[f32], order: &[u32]) -> Self {
        let width = vectors.columns().next_multiple_of(BYTES);
        let mut codes = vec![0; order.len() * width];
        let mut tails: Vec<Tail> = vec![[0.0; 4]; order.len()];
        let rows = codes.par_chunks_mut(width.max(1)).zip(&mut tails).zip(order);
        rows.for_each(|((codes, tail), &node)| {
            let row = vectors.row(node as usize);
            let (bias, popularity) = (biases[node as usize], popularities[node as usize]);
            // The last is the squared length for now.
            let square = row.iter().map(|value| value * value).sum::<f32>() + bias * bias;
            *tail = [rounded(row, codes), bias, popularity, square];
        });
        let longest = tails.iter().map(|tail| tail[3]).fold(0.0, f32::max);
        tails.iter_mut().for_each(|tail| tail[3] = (longest - tail[3]).max(0.0).sqrt());
        Points { codes: codes.into(), tails: tails.into(), width }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tails.len()
    }

    /// A point, to find what is near to it.
    pub fn probe(&self, place: u32) -> Probe<'_> {
        let codes = &self.codes[place as usize * self.width..][..self.width];
        let [scale, bias, _, filling] = self.tails[place as usize];
        Probe { codes: codes.into(), tail: [scale, bias, 0.0, filling] }
    }

    /// A query: a vector whose product with each point counts, with the bias, and `of_popularity` times the popularity.
    pub fn query(&self, vector: &[f32], of_popularity: f32) -> Probe<'static> {
        let mut codes = vec![0; self.width];
        let scale = rounded(vector, &mut codes);
        Probe { codes: codes.into(), tail: [scale, 1.0, of_popularity, 0.0] }
    }

    /// The products of a probe with some points; `products` is room for as many numbers.
    pub fn near(&self, probe: &Probe<'_>, places: &[u32], products: &mut Vec<i32>, mut each: impl FnMut(u32, f32)) {
        let tails: &[Tail] = &self.tails;
        places.iter().for_each(|&place| prefetch(&tails[place as usize]));
        products.resize(places.len(), 0);
        f32::run(ByteProducts { own: &probe.codes, rows: &self.codes, places, out: products });
        let own = probe.tail;
        for (&place, &product) in places.iter().zip(&*products) {
            let [scale, bias, popularity, filling] = tails[place as usize];
            let rough = own[0] * scale * product as f32;
            each(place, rough + own[1] * bias + own[2] * popularity + own[3] * filling);
        }
    }
}

/// Writes a row as bytes and yields what they are to be multiplied with.
fn rounded(row: &[f32], codes: &mut [i8]) -> f32 {
    let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let inverse = 127.0 / largest;
    codes.iter_mut().zip(row).for_each(|(code, value)| *code = (value * inverse).round() as i8);
    largest / 127.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_rounded_points_are_close_and_all_points_have_one_length() {
        let vectors = Matrix::from_fn(9, 70, |row, column| ((row * 31 + column * 17) % 23) as f32 / 7.0 - 1.5);
        let biases: Vec<f32> = (0..9).map(|row| row as f32 / 3.0 - 1.0).collect();
        let order: Vec<u32> = (0..9).rev().collect();
        let points = Points::new(&vectors, &biases, &[2.0; 9], &order);
        let mut room = Vec::new();
        points.near(&points.query(vectors.row(3), -0.5), &[0, 8, 5], &mut room, |place, found| {
            let node = order[place as usize] as usize;
            let product: f32 = vectors.row(3).iter().zip(vectors.row(node)).map(|(a, b)| a * b).sum();
            assert!((found - (product + biases[node] - 1.0)).abs() < 0.5, "{found} {product}");
        });
        let mut squares = Vec::new();
        for place in 0..9 {
            points.near(&points.probe(place), &[place], &mut room, |_, square| squares.push(square));
        }
        assert!(squares.iter().all(|square| (square / squares[0] - 1.0).abs() < 0.01), "{squares:?}");
    }
}
