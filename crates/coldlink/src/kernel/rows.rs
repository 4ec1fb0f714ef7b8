//! Sums of rows, inner products and normalisation.
#![allow(unsafe_code)]

use super::{Chunk, Kernel, Real, Simd};

/// A term of a sum of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Entry<T> {
    /// Which row.
    pub index: u32,
    /// Times what.
    pub weight: T,
}

// SAFETY: two numbers of four bytes each, any bits of which are valid, without padding.
unsafe impl bytemuck::Zeroable for Entry<f32> {}
// SAFETY: as above.
unsafe impl bytemuck::Pod for Entry<f32> {}

/// `out = Σ weight · matrix[index]` over the entries: the sparse-times-dense product, its transpose, and the gradient of
/// pairs, row by row. `matrix` has rows as long as `out`.
#[inline(always)]
pub fn weighted_row_sum<S: Simd>(
    simd: S,
    entries: &[Entry<S::Scalar>],
    matrix: &[Chunk<S::Scalar>],
    out: &mut [Chunk<S::Scalar>],
) {
    let width = out.len();
    let mut start = 0;
    while start < width {
        let left = width - start;
        // A block of accumulators stays in registers over all terms; its size is known when this is compiled.
        start += match left.min(S::BLOCK) {
            8.. => block::<S, 8>(simd, entries, matrix, out, start),
            4.. => block::<S, 4>(simd, entries, matrix, out, start),
            2.. => block::<S, 2>(simd, entries, matrix, out, start),
            _ => block::<S, 1>(simd, entries, matrix, out, start),
        };
    }
}

#[inline(always)]
fn block<S: Simd, const WIDE: usize>(
    simd: S,
    entries: &[Entry<S::Scalar>],
    matrix: &[Chunk<S::Scalar>],
    out: &mut [Chunk<S::Scalar>],
    start: usize,
) -> usize {
    let width = out.len();
    let mut sums = [simd.splat(S::Scalar::ZERO); WIDE];
    for entry in entries {
        let row = &matrix[entry.index as usize * width + start..][..WIDE];
        let weight = simd.splat(entry.weight);
        for (sum, chunk) in sums.iter_mut().zip(row) {
            *sum = simd.mul_add(weight, simd.load(chunk), *sum);
        }
    }
    for (chunk, sum) in out[start..][..WIDE].iter_mut().zip(sums) {
        simd.store(chunk, sum);
    }
    WIDE
}

/// The inner product of two rows.
#[inline(always)]
pub fn dot<S: Simd>(simd: S, a: &[Chunk<S::Scalar>], b: &[Chunk<S::Scalar>]) -> S::Scalar {
    let mut sum = simd.splat(S::Scalar::ZERO);
    for (a, b) in a.iter().zip(b) {
        sum = simd.mul_add(simd.load(a), simd.load(b), sum);
    }
    simd.sum(sum)
}

/// `out += scale · row`.
#[inline(always)]
pub fn add_scaled<S: Simd>(simd: S, out: &mut [Chunk<S::Scalar>], scale: S::Scalar, row: &[Chunk<S::Scalar>]) {
    let scale = simd.splat(scale);
    for (out, chunk) in out.iter_mut().zip(row) {
        let sum = simd.mul_add(scale, simd.load(chunk), simd.load(out));
        simd.store(out, sum);
    }
}

#[inline(always)]
pub fn multiply<S: Simd>(simd: S, row: &mut [Chunk<S::Scalar>], scale: S::Scalar) {
    let scale = simd.splat(scale);
    for chunk in row {
        let scaled = simd.mul(scale, simd.load(chunk));
        simd.store(chunk, scaled);
    }
}

/// Scales a row to length 1 and yields 1 / length; a zero row stays zero and yields 0.
#[inline(always)]
pub fn normalise<S: Simd>(simd: S, row: &mut [Chunk<S::Scalar>]) -> S::Scalar {
    let square = dot(simd, row, row);
    if square > S::Scalar::ZERO {
        let inverse = S::Scalar::ONE / square.sqrt();
        multiply(simd, row, inverse);
        inverse
    } else {
        S::Scalar::ZERO
    }
}

/// From the gradient of a normalised row `unit` to that of the row it came from, whose inverse length was `inverse`:
/// `(g − (g · unit) unit) · inverse`.
#[inline(always)]
pub fn normalise_backward<S: Simd>(
    simd: S,
    gradient: &mut [Chunk<S::Scalar>],
    unit: &[Chunk<S::Scalar>],
    inverse: S::Scalar,
) {
    let along = dot(simd, gradient, unit);
    add_scaled(simd, gradient, -along, unit);
    multiply(simd, gradient, inverse);
}

/// The sum of all rows of a matrix whose rows are as long as `out`.
pub fn sum_rows<T: Real>(rows: &[Chunk<T>], out: &mut [Chunk<T>]) {
    struct SumRows<'a, T>(&'a [Chunk<T>], &'a mut [Chunk<T>]);
    impl<T: Real> Kernel<T> for SumRows<'_, T> {
        type Output = ();
        #[inline(always)]
        fn on<S: Simd<Scalar = T>>(self, simd: S) {
            self.1.fill(Chunk([T::ZERO; super::LANES]));
            for row in self.0.chunks_exact(self.1.len().max(1)) {
                add_scaled(simd, self.1, T::ONE, row);
            }
        }
    }
    T::run(SumRows(rows, out));
}

#[cfg(test)]
mod tests {
    use super::super::simd::on_each_cpu;
    use super::super::{LANES, Matrix};
    use super::*;

    fn sample(rows: usize, columns: usize) -> Matrix<f32> {
        Matrix::from_fn(rows, columns, |row, column| ((row * 31 + column * 17) % 23) as f32 / 7.0 - 1.5)
    }

    struct Sum<'a>(&'a [Entry<f32>], &'a Matrix<f32>);

    impl Kernel<f32> for Sum<'_> {
        type Output = Matrix<f32>;
        #[inline(always)]
        fn on<S: Simd<Scalar = f32>>(self, simd: S) -> Matrix<f32> {
            let mut out = Matrix::zeros(1, self.1.columns());
            weighted_row_sum(simd, self.0, self.1.chunks(), out.chunk_row_mut(0));
            out
        }
    }

    #[test]
    fn weighted_sums_agree_with_the_plain_loop_at_every_width() {
        for columns in [1, 5, 16, 17, 48, 64, 100, 256, 300] {
            let matrix = sample(9, columns);
            let entries = [(3, 0.5), (0, -2.0), (8, 1.25), (3, 3.0)].map(|(index, weight)| Entry { index, weight });
            on_each_cpu(
                || Sum(&entries, &matrix),
                |cpu, out| {
                    for column in 0..columns {
                        let term = |entry: &Entry<f32>| entry.weight * matrix.row(entry.index as usize)[column];
                        let expected: f32 = entries.iter().map(term).sum();
                        assert!((out.row(0)[column] - expected).abs() < 1e-5, "{cpu}, width {columns}");
                    }
                    let filling = &f32::flat(out.chunk_row(0))[columns..];
                    assert!(filling.iter().all(|v| *v == 0.0));
                },
            );
        }
    }

    struct Normalise(Matrix<f32>);

    impl Kernel<f32> for Normalise {
        type Output = (Matrix<f32>, Vec<f32>);
        #[inline(always)]
        fn on<S: Simd<Scalar = f32>>(mut self, simd: S) -> Self::Output {
            let inverse = (0..self.0.rows()).map(|row| normalise(simd, self.0.chunk_row_mut(row))).collect();
            (self.0, inverse)
        }
    }

    #[test]
    fn rows_become_unit_length_and_zero_rows_stay_zero() {
        let mut matrix = sample(4, 40);
        matrix.row_mut(2).fill(0.0);
        on_each_cpu(
            || Normalise(matrix.clone()),
            |cpu, (unit, inverse)| {
                for (row, inverse) in inverse.iter().enumerate() {
                    let length = matrix.row(row).iter().map(|v| v * v).sum::<f32>().sqrt();
                    let expected = if row == 2 { 0.0 } else { 1.0 / length };
                    assert!((inverse - expected).abs() < 1e-6, "{cpu}");
                    for (unit, given) in unit.row(row).iter().zip(matrix.row(row)) {
                        assert!((unit - given * expected).abs() < 1e-6, "{cpu}");
                    }
                }
            },
        );
    }

    #[test]
    fn the_sum_of_rows_is_their_sum() {
        let matrix = sample(5, 20);
        let mut out = vec![Chunk([9.0; LANES]); 2];
        sum_rows(matrix.chunks(), &mut out);
        let expected: f32 = (0..5).map(|row| matrix.row(row)[19]).sum();
        assert!((f32::flat(&out)[19] - expected).abs() < 1e-6);
    }
}
