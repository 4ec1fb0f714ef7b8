//! Element-wise: the exponential linear unit and dropout.

use rand::Rng;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Chunk, Kernel, LANES, Real, Simd};

/// σ(x) = x where x > 0, eˣ − 1 elsewhere, in place.
pub fn elu<T: Real>(values: &mut [Chunk<T>]) {
    struct Elu<'a, T>(&'a mut [Chunk<T>]);
    impl<T: Real> Kernel<T> for Elu<'_, T> {
        type Output = ();
        #[inline(always)]
        fn on<S: Simd<Scalar = T>>(self, simd: S) {
            let (zero, one) = (simd.splat(T::ZERO), simd.splat(T::ONE));
            for chunk in self.0 {
                let value = simd.load(chunk);
                let below = simd.sub(simd.exp(simd.min(value, zero)), one);
                simd.store(chunk, simd.add(simd.max(value, zero), below));
            }
        }
    }
    T::run(Elu(values));
}

/// `gradient *= σ'`, written with the unit's output y = `scale` · `output`: σ' = 1 + min(y, 0).
pub fn elu_backward<T: Real>(gradient: &mut [Chunk<T>], output: &[Chunk<T>], scale: T) {
    struct Backward<'a, T>(&'a mut [Chunk<T>], &'a [Chunk<T>], T);
    impl<T: Real> Kernel<T> for Backward<'_, T> {
        type Output = ();
        #[inline(always)]
        fn on<S: Simd<Scalar = T>>(self, simd: S) {
            let [zero, one, scale] = [T::ZERO, T::ONE, self.2].map(|value| simd.splat(value));
            for (gradient, output) in self.0.iter_mut().zip(self.1) {
                let slope = simd.add(one, simd.min(simd.mul(scale, simd.load(output)), zero));
                let product = simd.mul(simd.load(gradient), slope);
                simd.store(gradient, product);
            }
        }
    }
    T::run(Backward(gradient, output, scale));
}

/// Dropout in place: each number is kept with probability [`kept_share`] and divided by it, else set to zero. The choice
/// depends on `seed` alone, so the backward pass makes the same one again.
pub fn keep_at_random<T: Real>(values: &mut [Chunk<T>], share: f32, seed: u64) {
    struct Keep<'a, T> {
        values: &'a mut [Chunk<T>],
        threshold: u8,
        scale: T,
        random: Xoshiro256PlusPlus,
    }
    impl<T: Real> Kernel<T> for Keep<'_, T> {
        type Output = ();
        #[inline(always)]
        fn on<S: Simd<Scalar = T>>(mut self, simd: S) {
            for chunk in self.values {
                let bits: [u8; LANES] = bytemuck::cast([self.random.next_u64(), self.random.next_u64()]);
                let factors = Chunk(bits.map(|bits| if bits >= self.threshold { self.scale } else { T::ZERO }));
                let kept = simd.mul(simd.load(chunk), simd.load(&factors));
                simd.store(chunk, kept);
            }
        }
    }
    let scale = T::of(1.0 / kept_share(share));
    T::run(Keep { values, threshold: threshold(share), scale, random: Xoshiro256PlusPlus::seed_from_u64(seed) });
}

/// The chance that dropout keeps a number: `1 − share`, to eight bits.
pub fn kept_share(share: f32) -> f64 {
    1.0 - f64::from(threshold(share)) / 256.0
}

/// Random bytes below this one mean that a number is dropped.
pub fn threshold(share: f32) -> u8 {
    (f64::from(share) * 256.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elu_and_its_slope_agree_with_their_definitions() {
        let inputs = [-90.0_f32, -20.0, -1.5, -1e-3, 0.0, 1e-3, 0.7, 40.0];
        let mut values = [Chunk([0.0; LANES])];
        values[0].0[..8].copy_from_slice(&inputs);
        elu(&mut values);
        let mut slope = [Chunk([1.0; LANES])];
        elu_backward(&mut slope, &values, 1.0);
        for (lane, &x) in inputs.iter().enumerate() {
            let (y, dy) = if x > 0.0 { (x, 1.0) } else { (x.exp_m1(), x.exp()) };
            assert!((values[0].0[lane] - y).abs() < 2e-7, "σ({x})");
            assert!((slope[0].0[lane] - dy).abs() < 2e-7, "σ'({x})");
        }
    }

    #[test]
    fn dropout_keeps_its_share_and_the_mean() {
        let mut values = vec![Chunk([1.0_f32; LANES]); 4_000];
        keep_at_random(&mut values, 0.3, 7);
        let flat = f32::flat(&values);
        let kept = flat.iter().filter(|v| **v != 0.0).count() as f32 / flat.len() as f32;
        let mean = flat.iter().sum::<f32>() / flat.len() as f32;
        assert!((kept - 0.7).abs() < 0.01 && (mean - 1.0).abs() < 0.01, "{kept} {mean}");
        let mut again = vec![Chunk([1.0_f32; LANES]); 4_000];
        keep_at_random(&mut again, 0.3, 7);
        assert_eq!(values, again);
    }
}
