//! Draws in proportion to weights, in the same time however many there are.

use rand::{Rng, RngExt};

/// Walker's alias method, built as Vose (1991) does: each place keeps a share of its own chance and leaves the rest to another.
pub(super) struct Alias {
    shares: Vec<f32>,
    others: Vec<u32>,
}

impl Alias {
    /// Of weights above 0; nothing where there are more than can be numbered.
    pub fn of(weights: &[f32]) -> Option<Self> {
        let count = u32::try_from(weights.len()).ok()?;
        let mean = weights.iter().map(|&weight| f64::from(weight)).sum::<f64>() / f64::from(count);
        let mut left: Vec<f64> = weights.iter().map(|&weight| f64::from(weight) / mean).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) = (0..count).partition(|&place| left[place as usize] < 1.0);
        let mut alias = Alias { shares: vec![1.0; weights.len()], others: (0..count).collect() };
        while let (Some(low), Some(&high)) = (small.pop(), large.last()) {
            alias.shares[low as usize] = left[low as usize] as f32;
            alias.others[low as usize] = high;
            left[high as usize] -= 1.0 - left[low as usize];
            if left[high as usize] < 1.0 {
                small.extend(large.pop());
            }
        }
        Some(alias)
    }

    /// A place.
    pub fn draw(&self, random: &mut impl Rng) -> usize {
        let place = random.random_range(0..self.shares.len());
        if random.random::<f32>() < self.shares[place] { place } else { self.others[place] as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_place_has_the_chance_of_its_weight(weights in prop::collection::vec(1e-3_f32..1e3, 1..60)) {
            let alias = Alias::of(&weights).unwrap();
            let mut chances = vec![0.0; weights.len()];
            for (place, (&share, &other)) in alias.shares.iter().zip(&alias.others).enumerate() {
                chances[place] += f64::from(share) / weights.len() as f64;
                chances[other as usize] += f64::from(1.0 - share) / weights.len() as f64;
            }
            let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
            for (chance, &weight) in chances.iter().zip(&weights) {
                prop_assert!((chance - f64::from(weight) / sum).abs() < 1e-6, "{} {}", chance, f64::from(weight) / sum);
            }
        }
    }

    #[test]
    fn draws_follow_the_chances() {
        let alias = Alias::of(&[1.0, 6.0, 3.0]).unwrap();
        let random = &mut stream(1, Purpose::Pairs, 0, 0);
        let mut counts = [0_i32; 3];
        (0..10_000).for_each(|_| counts[alias.draw(random)] += 1);
        for (count, expected) in counts.into_iter().zip([1000, 6000, 3000]) {
            assert!((count - expected).abs() < 250, "{counts:?}");
        }
    }
}
