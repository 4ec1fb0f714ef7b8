//! Adam (Kingma & Ba, 2015), one row at a time.

use super::{Chunk, LANES, Matrix, Real, Simd, prefetch};

/// Settings of the optimiser; the defaults are Kingma and Ba's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub epsilon: f64,
    /// Share of the weight that is added to its gradient.
    pub weight_decay: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

impl Adam {
    /// What is the same for all rows in step `step`, counted from 1.
    pub fn at<T: Real>(&self, step: u64, rate: f64) -> AdamStep<T> {
        let correction = |beta: f64| 1.0 - beta.powi(step.min(i32::MAX as u64) as i32);
        let root = correction(self.beta2).sqrt();
        AdamStep {
            beta1: T::of(self.beta1),
            rest1: T::of(1.0 - self.beta1),
            beta2: T::of(self.beta2),
            rest2: T::of(1.0 - self.beta2),
            rate: T::of(rate * root / correction(self.beta1)),
            epsilon: T::of(self.epsilon * root),
            weight_decay: T::of(self.weight_decay),
        }
    }
}

/// One step's constants. The corrections of both moments are folded into `rate` and `epsilon`:
/// `rate · (m / c₁) / (√(v / c₂) + ε) = (rate √c₂ / c₁) · m / (√v + ε √c₂)`.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep<T> {
    beta1: T,
    rest1: T,
    beta2: T,
    rest2: T,
    rate: T,
    epsilon: T,
    weight_decay: T,
}

impl<T: Real> AdamStep<T> {
    /// Moves nothing and leaves the gradient in the first moment: for checks of gradients.
    pub fn gradient_only() -> Self {
        let (zero, one) = (T::ZERO, T::ONE);
        AdamStep { beta1: zero, rest1: one, beta2: zero, rest2: zero, rate: zero, epsilon: one, weight_decay: zero }
    }

    /// Moves one row against its gradient. Rows that are not passed keep their weights and their moments.
    #[inline(always)]
    pub fn update<S: Simd<Scalar = T>>(
        &self,
        simd: S,
        weights: &mut [Chunk<T>],
        moments: &mut [[Chunk<T>; 2]],
        gradient: &[Chunk<T>],
    ) {
        let [beta1, rest1, beta2, rest2] =
            [self.beta1, self.rest1, self.beta2, self.rest2].map(|value| simd.splat(value));
        let [rate, epsilon, decay] = [-self.rate, self.epsilon, self.weight_decay].map(|value| simd.splat(value));
        // Its root is lost beside ε, and it keeps 1 / √0 away.
        let least = simd.splat(T::of(1e-30));
        for ((weight, [first, second]), gradient) in weights.iter_mut().zip(moments).zip(gradient) {
            let old = simd.load(weight);
            let gradient = simd.mul_add(decay, old, simd.load(gradient));
            let mean = simd.mul_add(beta1, simd.load(first), simd.mul(rest1, gradient));
            let square = simd.mul_add(beta2, simd.load(second), simd.mul(rest2, simd.mul(gradient, gradient)));
            simd.store(first, mean);
            simd.store(second, square);
            let positive = simd.max(square, least);
            let root = simd.mul(positive, simd.inverse_root(positive));
            let slope = simd.mul(mean, simd.inverse(simd.add(root, epsilon)));
            simd.store(weight, simd.mul_add(rate, slope, old));
        }
    }
}

/// The running means of a matrix' gradient and of its square, side by side so that a row's lie together.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments<T> {
    chunks: Vec<[Chunk<T>; 2]>,
    row_chunks: usize,
}

impl<T: Real> Moments<T> {
    /// Zero moments for a matrix.
    pub fn of(matrix: &Matrix<T>) -> Self {
        let zero = Chunk([T::ZERO; LANES]);
        Moments { chunks: vec![[zero; 2]; matrix.chunks().len()], row_chunks: matrix.row_chunks() }
    }

    /// None: of a matrix that is not trained any more.
    pub fn none() -> Self {
        Moments { chunks: Vec::new(), row_chunks: 0 }
    }

    /// Those of one row.
    #[inline(always)]
    pub fn row_mut(&mut self, row: usize) -> &mut [[Chunk<T>; 2]] {
        &mut self.chunks[row * self.row_chunks..][..self.row_chunks]
    }

    /// All, row after row.
    pub fn chunks(&self) -> &[[Chunk<T>; 2]] {
        &self.chunks
    }

    /// All, to write.
    pub fn chunks_mut(&mut self) -> &mut [[Chunk<T>; 2]] {
        &mut self.chunks
    }
}

/// Some rows of a matrix with their moments, for one task of [`update_rows`] alone.
pub struct RowTask<'a, T> {
    /// Which rows, in order.
    pub rows: &'a [u32],
    /// The place of `rows[0]` in the whole list.
    pub first: usize,
    start: usize,
    width: usize,
    weights: &'a mut [Chunk<T>],
    moments: &'a mut [[Chunk<T>; 2]],
}

impl<T: Real> RowTask<'_, T> {
    /// The weights and moments of one of the task's rows.
    #[inline(always)]
    pub fn row(&mut self, row: u32) -> (&mut [Chunk<T>], &mut [[Chunk<T>; 2]]) {
        let place = (row as usize - self.start) * self.width;
        (&mut self.weights[place..][..self.width], &mut self.moments[place..][..self.width])
    }
}

impl<'a, T: Real> RowTask<'a, T> {
    /// Asks for a row that will be worked on soon.
    #[inline(always)]
    pub fn prefetch(&self, row: Option<&u32>) {
        if let Some(&row) = row {
            let place = (row as usize - self.start) * self.width;
            prefetch(&self.weights[place..][..self.width]);
            prefetch(&self.moments[place..][..self.width]);
        }
    }
}

/// Hands out `rows` of a matrix, which must be in rising order, to tasks on all threads.
pub fn update_rows<T: Real>(
    rows: &[u32],
    weights: &mut Matrix<T>,
    moments: &mut Moments<T>,
    work: &(impl Fn(RowTask<'_, T>) + Sync),
) {
    let width = weights.row_chunks();
    let (weights, moments) = (weights.chunks_mut(), moments.chunks_mut());
    share_out(RowTask { rows, first: 0, start: 0, width, weights, moments }, work);
}

fn share_out<T: Real>(task: RowTask<'_, T>, work: &(impl Fn(RowTask<'_, T>) + Sync)) {
    if task.rows.len() <= super::ROWS_PER_TASK {
        return work(task);
    }
    // Whole tasks on the left, so that the cut depends on the list alone.
    let tasks = task.rows.len().div_ceil(super::ROWS_PER_TASK);
    let middle = tasks / 2 * super::ROWS_PER_TASK;
    let (left, right) = task.rows.split_at(middle);
    let boundary = right[0] as usize;
    let cut = (boundary - task.start) * task.width;
    let (left_weights, right_weights) = task.weights.split_at_mut(cut);
    let (left_moments, right_moments) = task.moments.split_at_mut(cut);
    let left = RowTask { rows: left, weights: left_weights, moments: left_moments, ..task };
    let right = RowTask {
        rows: right,
        first: task.first + middle,
        start: boundary,
        width: task.width,
        weights: right_weights,
        moments: right_moments,
    };
    rayon::join(|| share_out(left, work), || share_out(right, work));
}

#[cfg(test)]
mod tests {
    use super::super::Kernel;
    use super::super::simd::on_each_cpu;
    use super::*;

    struct Steps;

    impl Kernel<f32> for Steps {
        type Output = Vec<f32>;
        #[inline(always)]
        fn on<S: Simd<Scalar = f32>>(self, simd: S) -> Vec<f32> {
            let adam = Adam { weight_decay: 0.02, ..Adam::default() };
            let mut weights = Matrix::from_fn(1, 16, |_, column| column as f32 / 4.0 - 2.0);
            let mut moments = Moments::of(&weights);
            for step in 1..=20 {
                let gradient = Matrix::from_fn(1, 16, |_, column| (column as f32 - 7.0) * (step as f32).sin());
                let at = adam.at(step, 0.1);
                at.update(simd, weights.chunk_row_mut(0), moments.row_mut(0), gradient.chunk_row(0));
            }
            weights.row(0).to_vec()
        }
    }

    /// The textbook form, in `f64`.
    fn textbook(column: usize) -> f64 {
        let (mut weight, mut first, mut second) = (column as f64 / 4.0 - 2.0, 0.0, 0.0);
        for step in 1..=20 {
            let gradient = (column as f64 - 7.0) * f64::from(step).sin() + 0.02 * weight;
            first = 0.9 * first + 0.1 * gradient;
            second = 0.999 * second + 0.001 * gradient * gradient;
            let (mean, square) = (first / (1.0 - 0.9_f64.powi(step)), second / (1.0 - 0.999_f64.powi(step)));
            weight -= 0.1 * mean / (square.sqrt() + 1e-8);
        }
        weight
    }

    #[test]
    fn twenty_steps_agree_with_the_textbook_on_every_instruction_set() {
        on_each_cpu(
            || Steps,
            |cpu, weights| {
                for (column, weight) in weights.iter().enumerate() {
                    assert!((f64::from(*weight) - textbook(column)).abs() < 2e-5, "{cpu}, column {column}");
                }
            },
        );
    }

    #[test]
    fn every_listed_row_is_handed_out_once() {
        let rows: Vec<u32> = (0..1_000).filter(|row| row % 3 != 1).collect();
        let mut weights = Matrix::<f32>::zeros(1_000, 20);
        let mut moments = Moments::of(&weights);
        update_rows(&rows, &mut weights, &mut moments, &|mut task: RowTask<'_, f32>| {
            for (place, &row) in task.rows.iter().enumerate() {
                let first = task.first;
                let (weights, _) = task.row(row);
                weights[0].0[0] += (first + place) as f32 + 1.0;
            }
        });
        for (place, &row) in rows.iter().enumerate() {
            assert_eq!(weights.row(row as usize)[0], place as f32 + 1.0);
        }
        assert_eq!(weights.row(1)[0], 0.0);
    }
}
