//! Inner products of rows that were rounded to bytes: a quarter of the memory to read, where a rough answer will do.

use super::{Kernel, Simd, prefetch};

/// Bytes that rows are filled up to with zeros: a cache line.
pub const BYTES: usize = 64;

/// The inner products of one row with some rows of a matrix. A row has fewer than 2¹⁶ bytes, so that no sum overflows.
pub struct ByteProducts<'a> {
    /// The row.
    pub own: &'a [i8],
    /// The matrix, of rows of the same length.
    pub rows: &'a [i8],
    /// Which of them.
    pub places: &'a [u32],
    /// A product for each.
    pub out: &'a mut [i32],
}

impl Kernel<f32> for ByteProducts<'_> {
    type Output = ();
    #[inline(always)]
    fn on<S: Simd<Scalar = f32>>(self, _: S) {
        let row = |place: u32| &self.rows[place as usize * self.own.len()..][..self.own.len()];
        for place in self.places {
            prefetch(row(*place));
        }
        for (out, &place) in self.out.iter_mut().zip(self.places) {
            *out = product(self.own, row(place));
        }
    }
}

/// Plain Rust, which the compiler turns into the instruction set's own multiplication of small numbers.
#[inline(always)]
fn product(a: &[i8], b: &[i8]) -> i32 {
    let (a, b) = (a.as_chunks::<BYTES>().0, b.as_chunks::<BYTES>().0);
    let mut sum = 0;
    for (a, b) in a.iter().zip(b) {
        sum += a.iter().zip(b).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum::<i32>();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::simd::on_each_cpu;
    use super::*;

    struct Products<'a>(&'a [i8], &'a [i8], [u32; 3]);

    impl Kernel<f32> for Products<'_> {
        type Output = [i32; 3];
        #[inline(always)]
        fn on<S: Simd<Scalar = f32>>(self, simd: S) -> [i32; 3] {
            let mut out = [0; 3];
            ByteProducts { own: self.0, rows: self.1, places: &self.2, out: &mut out }.on(simd);
            out
        }
    }

    #[test]
    fn products_of_bytes_are_those_of_the_plain_loop() {
        for width in [64, 192, 320] {
            let bytes = |salt: usize| (0..5 * width).map(move |place| ((place * 89 + salt) % 255) as u8 as i8);
            let (own, rows): (Vec<i8>, Vec<i8>) = (bytes(7).take(width).collect(), bytes(1).collect());
            on_each_cpu(
                || Products(&own, &rows, [4, 0, 2]),
                |cpu, found| {
                    let expected = [4, 0, 2].map(|row: usize| {
                        let row = own.iter().zip(&rows[row * width..]);
                        row.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>()
                    });
                    assert_eq!(found, expected, "{cpu}, width {width}");
                },
            );
        }
    }
}
