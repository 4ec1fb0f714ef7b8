//! Vectors of sixteen numbers in the registers of x86-64: AVX-512, and AVX2 with FMA.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use exponential::{HIGHEST, LN_2_HIGH, LN_2_LOW, LOWEST, TERMS};

use super::{Chunk, Kernel, Simd};

/// Constants of eˣ = 2ⁿ eʳ with |r| ≤ ln 2 / 2 and eʳ by Taylor's first seven terms, refitted as in Cephes' `expf`.
mod exponential {
    pub const LOWEST: f32 = -87.336;
    pub const HIGHEST: f32 = 88.376;
    pub const LN_2_HIGH: f32 = 0.693_359_4;
    pub const LN_2_LOW: f32 = -2.121_944_4e-4;
    pub const TERMS: [f32; 6] = [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
}

/// Proof that the machine has AVX-512; made by [`on_avx512`] alone.
#[derive(Clone, Copy)]
pub struct Avx512(());

/// Proof that the machine has AVX2 and FMA; made by [`on_avx2`] alone.
#[derive(Clone, Copy)]
pub struct Avx2(());

/// # Safety
/// The machine must have AVX-512 F and DQ.
#[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
pub unsafe fn on_avx512<K: Kernel<f32>>(kernel: K) -> K::Output {
    kernel.on(Avx512(()))
}

/// # Safety
/// The machine must have AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn on_avx2<K: Kernel<f32>>(kernel: K) -> K::Output {
    kernel.on(Avx2(()))
}

// SAFETY of every block below: a value of `Avx512` or `Avx2` exists only inside the functions above, whose callers
// have found the instruction set; loads and stores stay within one aligned chunk.

/// x (2 − a x).
#[inline(always)]
fn newton_inverse<S: Simd<Scalar = f32>>(simd: S, a: S::Vector, x: S::Vector) -> S::Vector {
    let rest = simd.sub(simd.splat(2.0), simd.mul(a, x));
    simd.mul(x, rest)
}

/// x (3/2 − a x² / 2).
#[inline(always)]
fn newton_inverse_root<S: Simd<Scalar = f32>>(simd: S, a: S::Vector, x: S::Vector) -> S::Vector {
    let half = simd.mul(simd.mul(simd.splat(0.5), a), simd.mul(x, x));
    simd.mul(x, simd.sub(simd.splat(1.5), half))
}

impl Simd for Avx512 {
    type Scalar = f32;
    type Vector = __m512;
    const BLOCK: usize = 8;
    const TILE: usize = 4;

    #[inline(always)]
    fn load(self, chunk: &Chunk<f32>) -> __m512 {
        unsafe { _mm512_load_ps(chunk.0.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, chunk: &mut Chunk<f32>, value: __m512) {
        unsafe { _mm512_store_ps(chunk.0.as_mut_ptr(), value) }
    }
    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        unsafe { _mm512_set1_ps(value) }
    }
    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_sub_ps(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    fn mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn inverse(self, a: __m512) -> __m512 {
        let estimate = unsafe { _mm512_rcp14_ps(a) };
        newton_inverse(self, a, estimate)
    }
    #[inline(always)]
    fn inverse_root(self, a: __m512) -> __m512 {
        let estimate = unsafe { _mm512_rsqrt14_ps(a) };
        newton_inverse_root(self, a, estimate)
    }
    #[inline(always)]
    fn min(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_min_ps(a, b) }
    }
    #[inline(always)]
    fn max(self, a: __m512, b: __m512) -> __m512 {
        unsafe { _mm512_max_ps(a, b) }
    }
    #[inline(always)]
    fn exp(self, a: __m512) -> __m512 {
        let a = self.min(self.max(a, self.splat(LOWEST)), self.splat(HIGHEST));
        let scaled = self.mul(a, self.splat(std::f32::consts::LOG2_E));
        let whole = unsafe { _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT }>(scaled) };
        let rest = self.mul_add(whole, self.splat(-LN_2_HIGH), a);
        let rest = self.mul_add(whole, self.splat(-LN_2_LOW), rest);
        let mut terms = self.splat(TERMS[0]);
        for &term in &TERMS[1..] {
            terms = self.mul_add(terms, rest, self.splat(term));
        }
        let power = self.mul_add(terms, self.mul(rest, rest), self.add(rest, self.splat(1.0)));
        unsafe { _mm512_scalef_ps(power, whole) }
    }
    #[inline(always)]
    fn sum(self, a: __m512) -> f32 {
        unsafe {
            let halves = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps::<1>(a));
            sum_of_eight(halves)
        }
    }
}

/// # Safety
/// The machine must have AVX2.
#[inline(always)]
unsafe fn sum_of_eight(eight: __m256) -> f32 {
    unsafe {
        let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
    }
}

impl Avx2 {
    #[inline(always)]
    fn exp_of_eight(self, a: __m256) -> __m256 {
        unsafe {
            let splat = |value: f32| _mm256_set1_ps(value);
            let a = _mm256_min_ps(_mm256_max_ps(a, splat(LOWEST)), splat(HIGHEST));
            let scaled = _mm256_mul_ps(a, splat(std::f32::consts::LOG2_E));
            let whole = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(scaled);
            let rest = _mm256_fmadd_ps(whole, splat(-LN_2_HIGH), a);
            let rest = _mm256_fmadd_ps(whole, splat(-LN_2_LOW), rest);
            let mut terms = splat(TERMS[0]);
            for &term in &TERMS[1..] {
                terms = _mm256_fmadd_ps(terms, rest, splat(term));
            }
            let square = _mm256_mul_ps(rest, rest);
            let power = _mm256_fmadd_ps(terms, square, _mm256_add_ps(rest, splat(1.0)));
            let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(whole), _mm256_set1_epi32(127));
            _mm256_mul_ps(power, _mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent)))
        }
    }
}

macro_rules! both_halves {
    ($name:ident, $intrinsic:ident $(, $operand:ident)*) => {
        #[inline(always)]
        fn $name(self $(, $operand: Self::Vector)*) -> Self::Vector {
            unsafe { ($intrinsic($($operand.0),*), $intrinsic($($operand.1),*)) }
        }
    };
}

impl Simd for Avx2 {
    type Scalar = f32;
    type Vector = (__m256, __m256);
    const BLOCK: usize = 4;
    const TILE: usize = 1;

    #[inline(always)]
    fn load(self, chunk: &Chunk<f32>) -> Self::Vector {
        let start = chunk.0.as_ptr();
        unsafe { (_mm256_load_ps(start), _mm256_load_ps(start.add(8))) }
    }
    #[inline(always)]
    fn store(self, chunk: &mut Chunk<f32>, value: Self::Vector) {
        let start = chunk.0.as_mut_ptr();
        unsafe {
            _mm256_store_ps(start, value.0);
            _mm256_store_ps(start.add(8), value.1);
        }
    }
    #[inline(always)]
    fn splat(self, value: f32) -> Self::Vector {
        let all = unsafe { _mm256_set1_ps(value) };
        (all, all)
    }
    both_halves!(add, _mm256_add_ps, a, b);
    both_halves!(sub, _mm256_sub_ps, a, b);
    both_halves!(mul, _mm256_mul_ps, a, b);
    both_halves!(mul_add, _mm256_fmadd_ps, a, b, c);
    #[inline(always)]
    fn inverse(self, a: Self::Vector) -> Self::Vector {
        let estimate = unsafe { (_mm256_rcp_ps(a.0), _mm256_rcp_ps(a.1)) };
        newton_inverse(self, a, estimate)
    }
    #[inline(always)]
    fn inverse_root(self, a: Self::Vector) -> Self::Vector {
        let estimate = unsafe { (_mm256_rsqrt_ps(a.0), _mm256_rsqrt_ps(a.1)) };
        newton_inverse_root(self, a, estimate)
    }
    both_halves!(min, _mm256_min_ps, a, b);
    both_halves!(max, _mm256_max_ps, a, b);
    #[inline(always)]
    fn exp(self, a: Self::Vector) -> Self::Vector {
        (self.exp_of_eight(a.0), self.exp_of_eight(a.1))
    }
    #[inline(always)]
    fn sum(self, a: Self::Vector) -> f32 {
        unsafe { sum_of_eight(_mm256_add_ps(a.0, a.1)) }
    }
}
