//! Vectors of sixteen numbers, one type per instruction set, and the way into code compiled for it.
#![allow(unsafe_code)]

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

#[cfg(target_arch = "x86_64")]
use super::x86;
use super::{Cpu, Entry, Matrix};

/// Numbers in a [`Chunk`].
pub const LANES: usize = 16;

/// Sixteen numbers: for `f32` one cache line, and one AVX-512 register.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Chunk<T>(pub [T; LANES]);

// SAFETY: sixteen numbers that may be all zero bits. Of the two types that are `Real`, the chunks have 64 and 128 bytes,
// multiples of their alignment: there is no padding.
unsafe impl<T: Real> Zeroable for Chunk<T> {}
// SAFETY: as above.
unsafe impl<T: Real> Pod for Chunk<T> {}

/// `f32` for work, `f64` for the twin that gradients are checked with.
pub trait Real:
    Pod
    + Send
    + Sync
    + Debug
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + Sum
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Rounds.
    fn of(value: f64) -> Self;
    /// Exact.
    fn wide(self) -> f64;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// A matrix of `f32` as one of these numbers; the same one where they are the same.
    fn shared(matrix: &Arc<Matrix<f32>>) -> Arc<Matrix<Self>>;
    /// An entry, in the form that is stored fastest.
    #[inline(always)]
    fn entry(index: u32, weight: Self) -> Entry<Self> {
        Entry { index, weight }
    }
    /// The chunks of a row as numbers.
    #[inline(always)]
    fn flat(chunks: &[Chunk<Self>]) -> &[Self] {
        bytemuck::cast_slice(chunks)
    }
    /// The chunks of a row as numbers to write.
    #[inline(always)]
    fn flat_mut(chunks: &mut [Chunk<Self>]) -> &mut [Self] {
        bytemuck::cast_slice_mut(chunks)
    }
    /// Runs a kernel on the chosen instruction set.
    fn run<K: Kernel<Self>>(kernel: K) -> K::Output;
}

/// A piece of arithmetic, written once for every instruction set. Mark `on` as `#[inline(always)]`: it must become part
/// of the function that is compiled for the instruction set.
pub trait Kernel<T: Real> {
    /// What it yields.
    type Output;
    /// The work.
    fn on<S: Simd<Scalar = T>>(self, simd: S) -> Self::Output;
}

/// Sixteen lanes of one instruction set. A value of the type proves that the machine has it.
pub trait Simd: Copy {
    /// The numbers.
    type Scalar: Real;
    /// Sixteen of them in registers.
    type Vector: Copy;
    /// Vectors of one output row that a kernel keeps in registers.
    const BLOCK: usize;
    /// Vectors per row in a tile of a dense product, which is six rows high.
    const TILE: usize;

    /// Reads a chunk.
    fn load(self, chunk: &Chunk<Self::Scalar>) -> Self::Vector;
    /// Writes a chunk.
    fn store(self, chunk: &mut Chunk<Self::Scalar>, value: Self::Vector);
    /// One number in all lanes.
    fn splat(self, value: Self::Scalar) -> Self::Vector;
    /// a + b.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a − b.
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a b.
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a b + c, fused where the instruction set can.
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// 1 / a for a > 0, to within a few units in the last place: an estimate and a step of Newton's method.
    fn inverse(self, a: Self::Vector) -> Self::Vector;
    /// 1 / √a for a > 0, likewise.
    fn inverse_root(self, a: Self::Vector) -> Self::Vector;
    /// The smaller in each lane.
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The larger in each lane.
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// eᵃ.
    fn exp(self, a: Self::Vector) -> Self::Vector;
    /// The sum of the lanes, always in the same order.
    fn sum(self, a: Self::Vector) -> Self::Scalar;
}

macro_rules! real {
    ($type:ty) => {
        const ZERO: Self = 0.0;
        const ONE: Self = 1.0;
        #[inline(always)]
        fn of(value: f64) -> Self {
            value as $type
        }
        #[inline(always)]
        fn wide(self) -> f64 {
            self.into()
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            self.sqrt()
        }
        #[inline(always)]
        fn exp(self) -> Self {
            self.exp()
        }
    };
}

impl Real for f32 {
    real!(f32);

    fn shared(matrix: &Arc<Matrix<f32>>) -> Arc<Matrix<f32>> {
        Arc::clone(matrix)
    }

    /// One store of eight bytes instead of two of four: scattered stores wait in a queue that is short.
    #[cfg(target_endian = "little")]
    #[inline(always)]
    fn entry(index: u32, weight: f32) -> Entry<f32> {
        bytemuck::cast(u64::from(index) | u64::from(weight.to_bits()) << 32)
    }

    #[inline]
    fn run<K: Kernel<f32>>(kernel: K) -> K::Output {
        match Cpu::current() {
            // SAFETY: `Cpu` names an instruction set only after it was found on this machine.
            #[cfg(target_arch = "x86_64")]
            Cpu::Avx512 => unsafe { x86::on_avx512(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Cpu::Avx2 => unsafe { x86::on_avx2(kernel) },
            _ => kernel.on(Portable(std::marker::PhantomData)),
        }
    }
}

impl Real for f64 {
    real!(f64);

    fn shared(matrix: &Arc<Matrix<f32>>) -> Arc<Matrix<f64>> {
        Arc::new(Matrix::from_fn(matrix.rows(), matrix.columns(), |row, column| matrix.row(row)[column].into()))
    }

    #[inline]
    fn run<K: Kernel<f64>>(kernel: K) -> K::Output {
        kernel.on(Portable(std::marker::PhantomData))
    }
}

/// Plain Rust; the twin that the others are tested against.
#[derive(Clone, Copy)]
pub(crate) struct Portable<T>(pub(crate) std::marker::PhantomData<T>);

impl<T: Real> Portable<T> {
    #[inline(always)]
    fn each(a: Chunk<T>, b: Chunk<T>, f: impl Fn(T, T) -> T) -> Chunk<T> {
        Chunk(std::array::from_fn(|lane| f(a.0[lane], b.0[lane])))
    }
}

impl<T: Real> Simd for Portable<T> {
    type Scalar = T;
    type Vector = Chunk<T>;
    const BLOCK: usize = 2;
    const TILE: usize = 1;

    #[inline(always)]
    fn load(self, chunk: &Chunk<T>) -> Chunk<T> {
        *chunk
    }
    #[inline(always)]
    fn store(self, chunk: &mut Chunk<T>, value: Chunk<T>) {
        *chunk = value;
    }
    #[inline(always)]
    fn splat(self, value: T) -> Chunk<T> {
        Chunk([value; LANES])
    }
    #[inline(always)]
    fn add(self, a: Chunk<T>, b: Chunk<T>) -> Chunk<T> {
        Self::each(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: Chunk<T>, b: Chunk<T>) -> Chunk<T> {
        Self::each(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: Chunk<T>, b: Chunk<T>) -> Chunk<T> {
        Self::each(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn mul_add(self, a: Chunk<T>, b: Chunk<T>, c: Chunk<T>) -> Chunk<T> {
        self.add(self.mul(a, b), c)
    }
    #[inline(always)]
    fn inverse(self, a: Chunk<T>) -> Chunk<T> {
        Chunk(a.0.map(|a| T::ONE / a))
    }
    #[inline(always)]
    fn inverse_root(self, a: Chunk<T>) -> Chunk<T> {
        Chunk(a.0.map(|a| T::ONE / a.sqrt()))
    }
    #[inline(always)]
    fn min(self, a: Chunk<T>, b: Chunk<T>) -> Chunk<T> {
        Self::each(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, a: Chunk<T>, b: Chunk<T>) -> Chunk<T> {
        Self::each(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn exp(self, a: Chunk<T>) -> Chunk<T> {
        Chunk(a.0.map(T::exp))
    }
    #[inline(always)]
    fn sum(self, a: Chunk<T>) -> T {
        let mut lanes = a.0;
        let mut half = LANES / 2;
        while half > 0 {
            for lane in 0..half {
                lanes[lane] += lanes[lane + half];
            }
            half /= 2;
        }
        lanes[0]
    }
}

/// Asks the processor to fetch what will be needed soon.
#[inline(always)]
pub fn prefetch<T>(soon: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        let (start, bytes) = (soon.as_ptr().cast::<i8>(), size_of_val(soon));
        for offset in (0..bytes).step_by(64) {
            // SAFETY: a hint that touches no memory, and every x86-64 has it.
            unsafe {
                std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(start.wrapping_add(offset))
            };
        }
    }
}

/// Asks the processor for the place of one number that will be written soon.
#[inline(always)]
pub fn prefetch_to_write<T>(room: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        let place = room.as_ptr().wrapping_add(place).cast::<i8>();
        // SAFETY: a hint that touches no memory; processors that do not know it take it for nothing.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_ET0 }>(place) };
    }
}

/// Runs a kernel on every instruction set that this machine has, for tests.
#[cfg(test)]
pub(crate) fn on_each_cpu<K: Kernel<f32>>(kernel: impl Fn() -> K, check: impl Fn(Cpu, K::Output)) {
    check(Cpu::Portable, kernel().on(Portable(std::marker::PhantomData)));
    #[cfg(target_arch = "x86_64")]
    {
        if Cpu::best() >= Cpu::Avx2 {
            // SAFETY: just found on this machine.
            check(Cpu::Avx2, unsafe { x86::on_avx2(kernel()) });
        }
        if Cpu::best() >= Cpu::Avx512 {
            // SAFETY: just found on this machine.
            check(Cpu::Avx512, unsafe { x86::on_avx512(kernel()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Everything([Chunk<f32>; 3]);

    impl Kernel<f32> for Everything {
        type Output = (Vec<[f32; LANES]>, f32);
        #[inline(always)]
        fn on<S: Simd<Scalar = f32>>(self, simd: S) -> Self::Output {
            let [a, b, c] = self.0.each_ref().map(|chunk| simd.load(chunk));
            let results = [
                simd.add(a, b),
                simd.sub(a, b),
                simd.mul(a, b),
                simd.mul_add(a, b, c),
                simd.inverse(c),
                simd.inverse_root(c),
                simd.min(a, b),
                simd.max(a, b),
                simd.exp(a),
                simd.splat(2.5),
            ];
            let stored = results.map(|value| {
                let mut chunk = Chunk([0.0; LANES]);
                simd.store(&mut chunk, value);
                chunk.0
            });
            (stored.to_vec(), simd.sum(a))
        }
    }

    #[test]
    fn every_instruction_set_computes_what_plain_rust_does() {
        for scale in [0.01_f32, 1.0, 30.0, 200.0] {
            let chunk = |f: fn(f32) -> f32| Chunk(std::array::from_fn(|lane| f(lane as f32 - 7.3) * scale));
            let inputs = [chunk(|x| x), chunk(|x| 3.0 - x * 0.7), chunk(|x| x * x + 0.1)];
            let (expected, expected_sum) = Everything(inputs).on(Portable(std::marker::PhantomData));
            on_each_cpu(
                || Everything(inputs),
                |cpu, (results, sum)| {
                    assert!((sum - expected_sum).abs() <= 1e-5 * scale, "{cpu}: sum");
                    for (operation, (result, expected)) in results.iter().zip(&expected).enumerate() {
                        for (result, expected) in result.iter().zip(expected) {
                            let expected = expected.clamp(1e-38_f32.min(*expected), 2.4e38);
                            let close = (result - expected).abs() <= 4e-6 * expected.abs().max(1e-30);
                            assert!(close || *result > 2.3e38, "{cpu}, operation {operation}: {result} {expected}");
                        }
                    }
                },
            );
        }
    }
}
