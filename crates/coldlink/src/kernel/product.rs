//! The dense product, for hidden layers, dense attributes and exact search.
#![allow(unsafe_code)]

use rayon::prelude::*;

use super::{Chunk, Kernel, Matrix, Real, Simd};

/// The left factor of a product.
#[derive(Clone, Copy)]
pub enum Left<'a, T: Real> {
    /// A as it is.
    Plain(&'a Matrix<T>),
    /// Aᵀ.
    Transposed(&'a Matrix<T>),
    /// Some rows of A, in this order.
    Rows(&'a Matrix<T>, &'a [u32]),
    /// Their transpose.
    TransposedRows(&'a Matrix<T>, &'a [u32]),
}

impl<'a, T: Real> Left<'a, T> {
    /// Its numbers of rows and of columns, which are the terms of each sum.
    fn size(&self) -> (usize, usize) {
        match self {
            Left::Plain(matrix) => (matrix.rows(), matrix.columns()),
            Left::Transposed(matrix) => (matrix.columns(), matrix.rows()),
            Left::Rows(matrix, rows) => (rows.len(), matrix.columns()),
            Left::TransposedRows(matrix, rows) => (matrix.columns(), rows.len()),
        }
    }

    fn matrix(&self) -> &'a Matrix<T> {
        match self {
            Left::Plain(matrix) | Left::Transposed(matrix) => matrix,
            Left::Rows(matrix, _) | Left::TransposedRows(matrix, _) => matrix,
        }
    }

    fn is_transposed(&self) -> bool {
        matches!(self, Left::Transposed(_) | Left::TransposedRows(..))
    }

    /// The row of A that stands at `place`.
    #[inline(always)]
    fn row(&self, place: usize) -> usize {
        match self {
            Left::Plain(_) | Left::Transposed(_) => place,
            Left::Rows(_, rows) | Left::TransposedRows(_, rows) => rows[place] as usize,
        }
    }
}

/// Rows of the result that one task computes: whole tiles, a few hundred microseconds at most.
const ROWS_PER_TASK: usize = 48;
/// Rows of a tile.
const TILE_ROWS: usize = 6;
/// Terms of the sums that are added up before the next tile: keeps a strip of the right factor in the nearest caches.
const TERMS: usize = 256;

/// `out = left · right`, on all threads; `out` has the rows of `left` and the columns of `right`.
pub fn product<T: Real>(left: Left<'_, T>, right: &Matrix<T>, out: &mut Matrix<T>) {
    assert_eq!(left.size().1, right.rows(), "the factors do not fit");
    product_from(left, right, 0, out);
}

/// The same with the rows of `right` from `first` on, as many as there are columns of `left`.
pub fn product_from<T: Real>(left: Left<'_, T>, right: &Matrix<T>, first: usize, out: &mut Matrix<T>) {
    let (rows, terms) = left.size();
    assert!(first + terms <= right.rows(), "the factors do not fit");
    assert_eq!((out.rows(), out.columns()), (rows, right.columns()), "the result does not fit");
    let width = out.row_chunks();
    if width == 0 {
        return;
    }
    let right = &right.chunks()[first * width..];
    let tasks = out.chunks_mut().par_chunks_mut(ROWS_PER_TASK * width).enumerate();
    tasks.for_each(|(task, out)| {
        T::run(Strip { left, first_row: task * ROWS_PER_TASK, terms, right, width, out });
    });
}

/// Some rows of the result.
struct Strip<'a, T: Real> {
    left: Left<'a, T>,
    first_row: usize,
    terms: usize,
    right: &'a [Chunk<T>],
    width: usize,
    out: &'a mut [Chunk<T>],
}

/// Where the tile at hand finds its factors. Of the left one, `starts` has where each row of the tile begins, or, where it is
/// transposed, where each term does.
struct Factors<'a, T> {
    starts: &'a [*const T],
    /// Where the tile's first row stands within a term, where the left factor is transposed.
    offset: Option<usize>,
    right: *const Chunk<T>,
    width: usize,
    terms: usize,
}

impl<T: Real> Kernel<T> for Strip<'_, T> {
    type Output = ();

    #[inline(always)]
    fn on<S: Simd<Scalar = T>>(self, simd: S) {
        let rows = self.out.len() / self.width;
        if self.terms == 0 {
            self.out.fill(Chunk([T::ZERO; super::LANES]));
            return;
        }
        let (matrix, transposed) = (self.left.matrix(), self.left.is_transposed());
        assert!(self.terms * self.width <= self.right.len());
        let across = if transposed { self.first_row + rows } else { self.terms };
        assert!(across <= matrix.row_chunks() * super::LANES);
        let mut starts = [std::ptr::null(); TERMS];
        for first_term in (0..self.terms).step_by(TERMS) {
            let terms = TERMS.min(self.terms - first_term);
            if transposed {
                for (term, start) in starts[..terms].iter_mut().enumerate() {
                    *start = T::flat(matrix.chunk_row(self.left.row(first_term + term))).as_ptr();
                }
            } else {
                for (row, start) in starts[..rows].iter_mut().enumerate() {
                    let row = T::flat(matrix.chunk_row(self.left.row(self.first_row + row)));
                    *start = row[first_term..].as_ptr();
                }
            }
            let mut column = 0;
            while column < self.width {
                let wide = S::TILE.min(self.width - column);
                for row in (0..rows).step_by(TILE_ROWS) {
                    let high = TILE_ROWS.min(rows - row);
                    // SAFETY: each start is that of a row of the left factor, and the assertions above hold for the last
                    // number that is read of it and for the last chunk of the right factor; a tile writes `high` rows,
                    // which never go beyond `rows`.
                    unsafe {
                        let (starts, offset) = if transposed {
                            (&starts[..terms], Some(self.first_row + row))
                        } else {
                            (&starts[row..row + high], None)
                        };
                        let right = self.right.as_ptr().add(first_term * self.width + column);
                        let factors = Factors { starts, offset, right, width: self.width, terms };
                        let out = self.out.as_mut_ptr().add(row * self.width + column);
                        tile_of(simd, (high, wide), &factors, out, first_term > 0);
                    }
                }
                column += wide;
            }
        }
    }
}

/// # Safety
/// As [`tile`], for a tile of `size` rows and chunks.
#[inline(always)]
unsafe fn tile_of<S: Simd>(
    simd: S,
    (high, wide): (usize, usize),
    factors: &Factors<'_, S::Scalar>,
    out: *mut Chunk<S::Scalar>,
    add: bool,
) {
    unsafe {
        match wide {
            4 if S::TILE >= 4 => tile_of_width::<S, 4>(simd, high, factors, out, add),
            3 if S::TILE >= 4 => tile_of_width::<S, 3>(simd, high, factors, out, add),
            2 if S::TILE >= 4 => tile_of_width::<S, 2>(simd, high, factors, out, add),
            _ => tile_of_width::<S, 1>(simd, high, factors, out, add),
        }
    }
}

/// # Safety
/// As [`tile`], for a tile of `high` rows.
#[inline(always)]
unsafe fn tile_of_width<S: Simd, const WIDE: usize>(
    simd: S,
    high: usize,
    factors: &Factors<'_, S::Scalar>,
    out: *mut Chunk<S::Scalar>,
    add: bool,
) {
    unsafe {
        match high {
            1 => tile::<S, 1, WIDE>(simd, factors, out, add),
            2 => tile::<S, 2, WIDE>(simd, factors, out, add),
            3 => tile::<S, 3, WIDE>(simd, factors, out, add),
            4 => tile::<S, 4, WIDE>(simd, factors, out, add),
            5 => tile::<S, 5, WIDE>(simd, factors, out, add),
            _ => tile::<S, TILE_ROWS, WIDE>(simd, factors, out, add),
        }
    }
}

/// A tile of the result, `HIGH` rows of `WIDE` chunks, in registers over all terms.
///
/// # Safety
/// `factors` must hold `HIGH` rows of `terms` numbers and `terms` rows of `WIDE` chunks; `out` must have `HIGH` rows of `width`
/// chunks with `WIDE` to write in each.
#[inline(always)]
unsafe fn tile<S: Simd, const HIGH: usize, const WIDE: usize>(
    simd: S,
    factors: &Factors<'_, S::Scalar>,
    out: *mut Chunk<S::Scalar>,
    add: bool,
) {
    let mut sums = [[simd.splat(S::Scalar::ZERO); WIDE]; HIGH];
    unsafe {
        if add {
            for (row, sums) in sums.iter_mut().enumerate() {
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum = simd.load(&*out.add(row * factors.width + column));
                }
            }
        }
        let mut right = factors.right;
        if let Some(offset) = factors.offset {
            for start in factors.starts {
                let start = start.add(offset);
                add_term::<S, HIGH, WIDE>(simd, std::array::from_fn(|row| *start.add(row)), right, &mut sums);
                right = right.wrapping_add(factors.width);
            }
        } else {
            let starts: [*const S::Scalar; HIGH] = std::array::from_fn(|row| *factors.starts.get_unchecked(row));
            for term in 0..factors.terms {
                add_term::<S, HIGH, WIDE>(simd, starts.map(|start| *start.add(term)), right, &mut sums);
                right = right.wrapping_add(factors.width);
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            for (column, &sum) in sums.iter().enumerate() {
                simd.store(&mut *out.add(row * factors.width + column), sum);
            }
        }
    }
}

/// Adds the products of one column of the left factor and one row of the right one.
///
/// # Safety
/// `right` must point to `WIDE` chunks.
#[inline(always)]
unsafe fn add_term<S: Simd, const HIGH: usize, const WIDE: usize>(
    simd: S,
    left: [S::Scalar; HIGH],
    right: *const Chunk<S::Scalar>,
    sums: &mut [[S::Vector; WIDE]; HIGH],
) {
    let chunks: [S::Vector; WIDE] = std::array::from_fn(|column| simd.load(unsafe { &*right.add(column) }));
    for (sums, factor) in sums.iter_mut().zip(left) {
        let factor = simd.splat(factor);
        for (sum, chunk) in sums.iter_mut().zip(chunks) {
            *sum = simd.mul_add(factor, chunk, *sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::simd::on_each_cpu;
    use super::*;

    fn sample(rows: usize, columns: usize, salt: usize) -> Matrix<f32> {
        Matrix::from_fn(rows, columns, |row, column| ((row * 7 + column * 13 + salt) % 19) as f32 / 9.0 - 1.0)
    }

    fn check(rows: usize, terms: usize, columns: usize) {
        let (a, b) = (sample(rows, terms, 1), sample(terms, columns, 5));
        let transposed = a.transposed();
        // The same rows in a larger matrix, back to front.
        let backwards = |matrix: &Matrix<f32>| {
            let (rows, columns) = (matrix.rows(), matrix.columns());
            let places: Vec<u32> = (0..rows).map(|row| 2 * (rows - 1 - row) as u32).collect();
            let large = Matrix::from_fn(2 * rows, columns, |row, column| matrix.row(rows - 1 - row / 2)[column]);
            (large, places)
        };
        let (some, some_transposed) = (backwards(&a), backwards(&transposed));
        for left in [
            Left::Plain(&a),
            Left::Transposed(&transposed),
            Left::Rows(&some.0, &some.1),
            Left::TransposedRows(&some_transposed.0, &some_transposed.1),
        ] {
            let width = columns.div_ceil(super::super::LANES);
            struct Whole<'a>(Strip<'a, f32>);
            impl Kernel<f32> for Whole<'_> {
                type Output = Vec<Chunk<f32>>;
                #[inline(always)]
                fn on<S: Simd<Scalar = f32>>(self, simd: S) -> Self::Output {
                    let mut out = vec![Chunk([7.0; 16]); self.0.out.len()];
                    Strip { out: &mut out, ..self.0 }.on(simd);
                    out
                }
            }
            let strip = || {
                let size = vec![Chunk([0.0; 16]); rows * width].leak();
                Whole(Strip { left, first_row: 0, terms, right: b.chunks(), width, out: size })
            };
            on_each_cpu(strip, |cpu, chunks| {
                let out = Matrix::from_chunks(rows, columns, chunks).expect("the filling stays zero");
                for row in 0..rows {
                    for column in 0..columns {
                        let expected: f32 = (0..terms).map(|term| a.row(row)[term] * b.row(term)[column]).sum();
                        assert!((out.row(row)[column] - expected).abs() < 1e-3, "{cpu}: {rows}x{terms}x{columns}");
                    }
                }
            });
        }
    }

    #[test]
    fn products_agree_with_the_triple_loop_at_odd_sizes() {
        for (rows, terms, columns) in [(1, 1, 1), (6, 3, 64), (7, 300, 70), (13, 17, 16), (50, 5, 130), (5, 0, 3)] {
            check(rows, terms, columns);
        }
    }

    #[test]
    fn a_product_does_not_depend_on_the_number_of_threads() {
        let (a, b) = (sample(200, 90, 0), sample(90, 64, 3));
        let on = |threads: usize| {
            let mut out = Matrix::zeros(200, 64);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| product(Left::Plain(&a), &b, &mut out));
            out
        };
        assert_eq!(on(1), on(3));
    }
}
