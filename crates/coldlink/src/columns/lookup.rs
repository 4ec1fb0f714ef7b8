//! From values to numbers of attributes.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

/// Knows the number of each value, or gives it one.
pub(super) enum Lookup<'a> {
    /// Values that are being collected, with the most that there may be before they are hashed.
    Growing { numbers: HashMap<Box<str>, u32>, most: usize, buckets: u32 },
    /// Too many values were collected: those so far, and where the buckets begin.
    Spilled { collected: HashMap<Box<str>, u32>, first: u32, buckets: u32 },
    /// Values that are known, sorted, with the number of the first; others count as the last number, where there is one for them.
    Known { values: &'a [String], first: u32, other: Option<u32> },
    /// Hashed values, from this number on.
    Hashed { first: u32, buckets: u32 },
}

/// The bucket of a value.
pub(super) fn bucket(value: &str, buckets: u32) -> u32 {
    (xxh3_64(value.as_bytes()) % u64::from(buckets.max(1))) as u32
}

impl Lookup<'_> {
    pub fn growing(most: usize, buckets: u32) -> Self {
        Lookup::Growing { numbers: HashMap::new(), most, buckets }
    }

    /// The number of a value, and whether it is one that was not known. `next` is the next free number.
    pub fn find(&mut self, value: &str, next: &mut u32) -> (Option<u32>, bool) {
        match self {
            Lookup::Growing { numbers, most, buckets } => {
                if let Some(&number) = numbers.get(value) {
                    return (Some(number), false);
                }
                if numbers.len() >= *most {
                    let (collected, first, buckets) = (std::mem::take(numbers), *next, *buckets);
                    *next = next.saturating_add(buckets);
                    *self = Lookup::Spilled { collected, first, buckets };
                    return self.find(value, next);
                }
                let number = *next;
                numbers.insert(value.into(), number);
                *next = next.saturating_add(1);
                (Some(number), false)
            }
            Lookup::Spilled { collected, first, buckets } => {
                let in_bucket = || first.saturating_add(bucket(value, *buckets));
                (Some(collected.get(value).copied().unwrap_or_else(in_bucket)), false)
            }
            Lookup::Hashed { first, buckets } => (Some(*first + bucket(value, *buckets)), false),
            Lookup::Known { values, first, other } => {
                match values.binary_search_by(|known| known.as_str().cmp(value)) {
                    Ok(place) => (Some(*first + place as u32), false),
                    Err(_) => (*other, true),
                }
            }
        }
    }
}
