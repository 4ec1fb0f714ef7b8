//! A set of places below a known number.

/// Which places were met before.
pub(crate) struct Marks(Vec<u64>);

impl Marks {
    /// None of `places`.
    pub fn new(places: usize) -> Self {
        Marks(vec![0; places.div_ceil(64)])
    }

    /// Adds a place, and tells whether it is a new one.
    #[inline]
    pub fn insert(&mut self, place: u32) -> bool {
        let (word, bit) = (&mut self.0[place as usize / 64], 1 << (place % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}
