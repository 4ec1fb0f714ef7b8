//! What is fitted to attributes on the rows that may be looked at: means and deviations of numbers, which values are
//! frequent enough, weights of words.
//!
//! Every column of the attributes as they were loaded goes to one column of those that a model sees, or to none; several may go to
//! the same, which then holds their sum.

use std::ops::Range;

use xxhash_rust::xxh3::Xxh3;

use crate::graph::{AttributeNames, Attributes, Block, Fitting, NodeId};

/// Deviations from the mean that a number counts as at most.
const MOST_DEVIATIONS: f32 = 5.0;
/// Values between which ranks are interpolated.
const KNOTS: usize = 33;
/// The target of a column that is left out.
const NOWHERE: u32 = u32::MAX;

/// Attributes as a model sees them, from attributes as they were loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct Preparation {
    width: usize,
    columns: Vec<Target>,
    ranked: Vec<Ranked>,
    /// Columns of the result whose part of a row gets length 1.
    units: Vec<Range<u32>>,
    /// For each column of the result what a word there weighs in a comparison by words, if that is known without counting.
    weights: Vec<f32>,
}

/// Where a column goes: value ↦ (value − shift) · scale, cut off at ± limit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Target {
    column: u32,
    shift: f32,
    scale: f32,
    limit: f32,
}

/// A column whose values become ranks.
#[derive(Clone, Debug, PartialEq)]
struct Ranked {
    column: u32,
    knots: [f32; KNOTS],
}

/// Stands for a weight that has to be counted.
const COUNTED: f32 = -1.0;

impl Target {
    const NONE: Target = Target { column: NOWHERE, shift: 0.0, scale: 1.0, limit: f32::MAX };

    fn plain(column: u32) -> Self {
        Target { column, ..Target::NONE }
    }
}

/// What is counted over the rows that may be looked at, in one reading.
struct Counts {
    rows: u64,
    present: Vec<u32>,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Counts {
    fn of(attributes: &Attributes, visible: &[bool]) -> Self {
        let width = attributes.width();
        let mut counts = Counts { rows: 0, present: vec![0; width], sums: vec![0.0; width], squares: vec![0.0; width] };
        for node in (0..attributes.rows()).filter(|&node| visible[node]) {
            counts.rows += 1;
            let (columns, values) = attributes.row(node as NodeId);
            for (&column, &value) in columns.iter().zip(values) {
                let column = column as usize;
                counts.present[column] += 1;
                counts.sums[column] += f64::from(value);
                counts.squares[column] += f64::from(value).powi(2);
            }
        }
        counts
    }

    fn mean_and_deviation(&self, column: usize) -> (f64, f64) {
        let count = f64::from(self.present[column]).max(1.0);
        let mean = self.sums[column] / count;
        (mean, (self.squares[column] / count - mean * mean).max(0.0).sqrt())
    }
}

impl Preparation {
    /// Fits what the attributes' blocks ask for to the visible rows; nothing where they ask for nothing.
    pub fn fit(attributes: &Attributes, visible: &[bool]) -> Option<Self> {
        if attributes.blocks().is_empty() {
            return None;
        }
        let counts = Counts::of(attributes, visible);
        let mut preparation = Preparation {
            width: 0,
            columns: vec![Target::NONE; attributes.width()],
            ranked: Vec::new(),
            units: Vec::new(),
            weights: Vec::new(),
        };
        let mut done = 0;
        for block in attributes.blocks() {
            preparation.keep(done..block.columns.start);
            preparation.fit_block(block, attributes, visible, &counts);
            done = block.columns.end;
        }
        preparation.keep(done..attributes.width() as u32);
        Some(preparation)
    }

    /// Gives the next column of the result to a column.
    fn give(&mut self, column: u32, target: Target, weight: f32) {
        self.columns[column as usize] = Target { column: self.width as u32, ..target };
        self.width += 1;
        self.weights.push(weight);
    }

    fn keep(&mut self, columns: Range<u32>) {
        columns.for_each(|column| self.give(column, Target::NONE, COUNTED));
    }

    fn fit_block(&mut self, block: &Block, attributes: &Attributes, visible: &[bool], counts: &Counts) {
        let all = || block.columns.clone();
        let present = |column: u32| counts.present[column as usize];
        match block.fit {
            Fitting::Kept { words } => {
                for column in all().filter(|&column| present(column) > 0) {
                    self.give(column, Target::NONE, if words { COUNTED } else { 0.0 });
                }
            }
            Fitting::Standardised => {
                for column in all() {
                    let (mean, deviation) = counts.mean_and_deviation(column as usize);
                    // What is left of a column of one value is rounding.
                    if deviation > 1e-6 * mean.abs().max(f64::MIN_POSITIVE) {
                        let (shift, scale) = (mean as f32, finite(1.0 / deviation));
                        self.give(column, Target { column, shift, scale, limit: MOST_DEVIATIONS }, 0.0);
                    }
                }
            }
            Fitting::Ranked => {
                for column in all() {
                    let knots = knots(attributes, visible, column);
                    if let Some(knots) = knots.filter(|knots| knots[0] < knots[KNOTS - 1]) {
                        self.give(column, Target::NONE, 0.0);
                        self.ranked.push(Ranked { column, knots });
                    }
                }
            }
            Fitting::Lengths => {
                let squares: f64 = all().map(|column| counts.squares[column as usize]).sum();
                let rows = all().map(present).max().unwrap_or(0);
                if squares > 0.0 {
                    let scale = finite((f64::from(rows) / squares).sqrt());
                    all().for_each(|column| self.give(column, Target { scale, ..Target::NONE }, 1.0));
                }
            }
            Fitting::Grouped { at_least } => self.fit_groups(all(), at_least.max(1), counts),
            Fitting::Words { at_least, most, weighed } => {
                let mut kept: Vec<u32> = all().filter(|&column| present(column) >= at_least.max(1)).collect();
                kept.sort_by_key(|&column| (std::cmp::Reverse(present(column)), column));
                kept.truncate(most as usize);
                kept.sort_unstable();
                let start = self.width as u32;
                for column in kept {
                    let idf = ((1 + counts.rows) as f64 / (1.0 + f64::from(present(column)))).ln() + 1.0;
                    let scale = if weighed { idf as f32 } else { 1.0 };
                    self.give(column, Target { scale, ..Target::NONE }, if weighed { 1.0 } else { COUNTED });
                }
                if weighed && self.width as u32 > start {
                    self.units.push(start..self.width as u32);
                }
            }
        }
    }

    /// The last column stands for all that fewer rows have, if any of these has a row.
    fn fit_groups(&mut self, columns: Range<u32>, at_least: u32, counts: &Counts) {
        let other = columns.end - 1;
        let present = |column: u32| counts.present[column as usize];
        let (kept, rare): (Vec<u32>, Vec<u32>) =
            (columns.start..other).partition(|&column| present(column) >= at_least);
        kept.into_iter().for_each(|column| self.give(column, Target::NONE, COUNTED));
        if rare.iter().any(|&column| present(column) > 0) || present(other) > 0 {
            rare.into_iter().for_each(|column| self.columns[column as usize] = Target::plain(self.width as u32));
            self.give(other, Target::NONE, COUNTED);
        }
    }

    /// Attributes as a model sees them.
    pub fn apply(&self, attributes: &Attributes) -> Attributes {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut row: Vec<(u32, f32)> = Vec::new();
        for node in 0..attributes.rows() as NodeId {
            self.prepare_row(attributes.row(node), &mut row);
            columns.extend(row.iter().map(|entry| entry.0));
            values.extend(row.iter().map(|entry| entry.1));
            offsets.push(columns.len() as u64);
        }
        let names = AttributeNames(self.names(&attributes.names().0));
        let prepared = Attributes::from_parts(self.width, offsets.into(), columns.into(), values.into(), names);
        let prepared = prepared.expect("columns are sorted and values finite");
        prepared.with_types(attributes.types().cloned()).expect("rows are as many as before")
    }

    fn prepare_row(&self, (columns, values): (&[u32], &[f32]), row: &mut Vec<(u32, f32)>) {
        row.clear();
        for (&column, &value) in columns.iter().zip(values) {
            let target = self.columns[column as usize];
            if target.column == NOWHERE {
                continue;
            }
            let ranked = self.ranked.binary_search_by_key(&column, |ranked| ranked.column);
            let value = match ranked {
                Ok(place) => rank(&self.ranked[place].knots, value),
                Err(_) => ((value - target.shift) * target.scale).clamp(-target.limit, target.limit),
            };
            // A crafted file may multiply nothing with a distance beyond all numbers.
            row.push((target.column, if value.is_nan() { 0.0 } else { value }));
        }
        if !row.is_sorted_by(|a, b| a.0 < b.0) {
            row.sort_by_key(|entry| entry.0);
            row.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 = if same { (kept.1 + next.1).clamp(-f32::MAX, f32::MAX) } else { kept.1 };
                same
            });
        }
        row.retain(|entry| entry.1 != 0.0);
        for unit in &self.units {
            let part =
                row.partition_point(|entry| entry.0 < unit.start)..row.partition_point(|entry| entry.0 < unit.end);
            let square: f64 = row[part.clone()].iter().map(|entry| f64::from(entry.1).powi(2)).sum();
            row[part].iter_mut().for_each(|entry| entry.1 = (f64::from(entry.1) / square.sqrt()) as f32);
        }
    }

    /// How many columns the result has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many columns attributes have when they are loaded.
    pub fn loaded_width(&self) -> usize {
        self.columns.len()
    }

    /// What a word of a column weighs in a comparison by words, if that is known without counting.
    pub fn word_weight(&self, column: usize) -> Option<f32> {
        self.weights.get(column).copied().filter(|&weight| weight != COUNTED)
    }

    /// Which columns stand for themselves: neither left out nor counted as another.
    pub(crate) fn kept(&self) -> Vec<bool> {
        // Those that are counted as one are counted as the last of them.
        let mut owners = vec![0; self.width];
        let going = || self.columns.iter().enumerate().filter(|(_, target)| target.column != NOWHERE);
        going().for_each(|(column, target)| owners[target.column as usize] = column);
        let mut kept = vec![false; self.columns.len()];
        owners.into_iter().for_each(|column| kept[column] = true);
        kept
    }

    /// The same for some of the columns.
    pub(crate) fn selecting(&self, columns: &[u32]) -> Self {
        let place = |column: u32| columns.binary_search(&column).ok().map(|place| place as u32);
        let ranked = self
            .ranked
            .iter()
            .filter_map(|ranked| place(ranked.column).map(|column| Ranked { column, knots: ranked.knots }));
        Preparation {
            columns: columns.iter().map(|&column| self.columns[column as usize]).collect(),
            ranked: ranked.collect(),
            ..self.clone()
        }
    }

    /// What the columns of the result are called, given what those before are called.
    pub fn names(&self, loaded: &[String]) -> Vec<String> {
        if loaded.len() != self.columns.len() {
            return Vec::new();
        }
        let mut names = vec![String::new(); self.width];
        for (target, name) in self.columns.iter().zip(loaded).filter(|(target, _)| target.column != NOWHERE) {
            names[target.column as usize].clone_from(name);
        }
        names
    }
}

/// The nearest number of 32 bits: a deviation may be so small that its inverse is none.
fn finite(value: f64) -> f32 {
    (value as f32).min(f32::MAX)
}

/// Values at equal steps of rank among the visible rows that have the column.
fn knots(attributes: &Attributes, visible: &[bool], column: u32) -> Option<[f32; KNOTS]> {
    let value = |node: usize| {
        let (columns, values) = attributes.row(node as NodeId);
        columns.binary_search(&column).ok().map(|place| values[place])
    };
    let mut values: Vec<f32> = (0..attributes.rows()).filter(|&node| visible[node]).filter_map(value).collect();
    values.sort_by(f32::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = |knot: usize| {
        let place = (knot * last) as f64 / (KNOTS - 1) as f64;
        let (below, above) = (f64::from(values[place.floor() as usize]), f64::from(values[place.ceil() as usize]));
        (below + (above - below) * place.fract()) as f32
    };
    Some(std::array::from_fn(at))
}

/// From −1 at the first knot to 1 at the last; a value on several knots is at their middle.
fn rank(knots: &[f32; KNOTS], value: f32) -> f32 {
    let below = knots.partition_point(|&knot| knot < value);
    let upto = knots.partition_point(|&knot| knot <= value);
    let place = if upto > below {
        (below + upto - 1) as f64 / 2.0
    } else if below == 0 {
        0.0
    } else if below == KNOTS {
        (KNOTS - 1) as f64
    } else {
        let (from, to) = (f64::from(knots[below - 1]), f64::from(knots[below]));
        (below - 1) as f64 + (f64::from(value) - from) / (to - from)
    };
    (2.0 * place / (KNOTS - 1) as f64 - 1.0) as f32
}

/// A preparation as arrays.
pub(crate) struct Stored {
    pub columns: Vec<u32>,
    /// Shift, scale and limit of each column.
    pub numbers: Vec<f32>,
    pub ranked: Vec<u32>,
    pub knots: Vec<f32>,
    pub units: Vec<u32>,
    pub weights: Vec<f32>,
}

impl Preparation {
    /// Adds all that was fitted to a checksum.
    pub(crate) fn add_to(&self, hash: &mut Xxh3) {
        let Stored { columns, numbers, ranked, knots, units, weights } = self.to_arrays();
        [&columns, &ranked, &units].into_iter().for_each(|numbers| hash.update(bytemuck::cast_slice(numbers)));
        [&numbers, &knots, &weights].into_iter().for_each(|numbers| hash.update(bytemuck::cast_slice(numbers)));
    }

    pub(crate) fn to_arrays(&self) -> Stored {
        Stored {
            columns: self.columns.iter().map(|target| target.column).collect(),
            numbers: self.columns.iter().flat_map(|target| [target.shift, target.scale, target.limit]).collect(),
            ranked: self.ranked.iter().map(|ranked| ranked.column).collect(),
            knots: self.ranked.iter().flat_map(|ranked| ranked.knots).collect(),
            units: self.units.iter().flat_map(|unit| [unit.start, unit.end]).collect(),
            weights: self.weights.clone(),
        }
    }

    /// From arrays, if they fit together.
    pub(crate) fn from_arrays(stored: &Stored) -> Option<Self> {
        let Stored { columns, numbers, ranked, knots, units, weights } = stored;
        let width = weights.len();
        let finite = [numbers, knots, weights].into_iter().flatten().all(|number| number.is_finite());
        let inside = columns.iter().all(|&column| column == NOWHERE || (column as usize) < width);
        let lengths = numbers.len() == 3 * columns.len() && knots.len() == KNOTS * ranked.len();
        let rising =
            ranked.is_sorted_by(|a, b| a < b) && ranked.last().is_none_or(|&last| (last as usize) < columns.len());
        let units_fit =
            units.len().is_multiple_of(2) && units.is_sorted() && units.last().is_none_or(|&end| end as usize <= width);
        let limits = numbers.chunks_exact(3).all(|target| target[2] >= 0.0);
        if !(finite && inside && lengths && rising && units_fit && limits) {
            return None;
        }
        let target = |(&column, numbers): (&u32, &[f32])| Target {
            column,
            shift: numbers[0],
            scale: numbers[1],
            limit: numbers[2],
        };
        let of_knots = |(&column, knots): (&u32, &[f32])| {
            let knots: [f32; KNOTS] = knots.try_into().ok()?;
            knots.is_sorted().then_some(Ranked { column, knots })
        };
        Some(Preparation {
            width,
            columns: columns.iter().zip(numbers.chunks_exact(3)).map(target).collect(),
            ranked: ranked.iter().zip(knots.chunks_exact(KNOTS)).map(of_knots).collect::<Option<_>>()?,
            units: units.chunks_exact(2).map(|unit| unit[0]..unit[1]).collect(),
            weights: weights.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [bool; 6] = [true; 6];

    fn attributes(width: usize, rows: &[Vec<(u32, f32)>], blocks: Vec<(Range<u32>, Fitting)>) -> Attributes {
        let blocks = blocks.into_iter().map(|(columns, fit)| Block { columns, fit }).collect();
        Attributes::from_rows(width, rows).unwrap().with_blocks(blocks).unwrap()
    }

    fn prepared(attributes: &Attributes, visible: &[bool]) -> (Preparation, Attributes) {
        let preparation = Preparation::fit(attributes, visible).unwrap();
        let result = preparation.apply(attributes);
        (preparation, result)
    }

    #[test]
    fn numbers_are_measured_in_deviations_of_the_visible_rows() {
        let rows: Vec<_> = [1.0, 3.0, 1.0, 3.0, 1000.0, 0.0].iter().map(|&value| vec![(0, value)]).collect();
        let attributes = attributes(1, &rows, vec![(0..1, Fitting::Standardised)]);
        let (_, result) = prepared(&attributes, &[true, true, true, true, false, false]);
        let values: Vec<f32> = result.values().to_vec();
        assert_eq!(values, [-1.0, 1.0, -1.0, 1.0, 5.0, -2.0], "far values are cut off");
    }

    #[test]
    fn numbers_so_small_that_their_scale_is_none_stay_numbers() {
        for fit in [Fitting::Standardised, Fitting::Lengths, Fitting::Ranked] {
            let rows: Vec<_> = [1e-42, 3e-42, 2e-42, 0.0].iter().map(|&value| vec![(0, value)]).collect();
            let (preparation, result) = prepared(&attributes(1, &rows, vec![(0..1, fit)]), &[true; 4]);
            assert!(preparation.to_arrays().numbers.iter().all(|number| number.is_finite()), "{fit:?}");
            assert!(result.values().iter().all(|value| value.is_finite()), "{fit:?}");
        }
        let rows = [vec![(0, f32::MAX)], vec![(0, 1.0)], vec![(0, -1.0)]];
        let attributes = attributes(1, &rows, vec![(0..1, Fitting::Standardised)]);
        let mut stored = Preparation::fit(&attributes, &[true; 3]).unwrap().to_arrays();
        (stored.numbers[0], stored.numbers[1]) = (-f32::MAX, 0.0);
        assert!(Preparation::from_arrays(&stored).unwrap().apply(&attributes).values().iter().all(|v| v.is_finite()));
    }

    #[test]
    fn ranks_run_from_minus_one_to_one() {
        let rows: Vec<_> = [10.0, 20.0, 30.0, 40.0, 1e9, -5.0].iter().map(|&value| vec![(0, value)]).collect();
        let attributes = attributes(1, &rows, vec![(0..1, Fitting::Ranked)]);
        let (_, result) = prepared(&attributes, &[true, true, true, true, true, false]);
        let expected = [-1.0, -0.5, 0.0, 0.5, 1.0, -1.0];
        for (row, expected) in expected.into_iter().enumerate() {
            let found = result.row(row as NodeId).1.first().copied().unwrap_or(0.0);
            assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
        }
    }

    #[test]
    fn rare_values_count_as_one_and_hidden_rows_do_not_count() {
        // Values a (three rows), b (one), c (only a hidden row), and the place for others.
        let rows = [0, 0, 0, 1, 2, 3].map(|column| vec![(column, 1.0)]);
        let attributes = attributes(4, &rows, vec![(0..4, Fitting::Grouped { at_least: 2 })]);
        let (preparation, result) = prepared(&attributes, &[true, true, true, true, false, false]);
        let columns: Vec<u32> = (0..6).map(|row| result.row(row).0[0]).collect();
        assert_eq!((preparation.width(), columns), (2, vec![0, 0, 0, 1, 1, 1]));
        assert_eq!(preparation.kept(), [true, false, false, true]);
        let names: Vec<String> = ["a", "b", "c", "(other)"].map(str::to_owned).to_vec();
        assert_eq!(preparation.names(&names), ["a", "(other)"]);
        let (alone, result) = prepared(&attributes, &[true, true, true, false, false, false]);
        assert_eq!((alone.width(), result.row(5).0.len()), (1, 0), "others that no visible row has say nothing");
    }

    #[test]
    fn words_are_weighed_by_the_visible_rows_and_rows_have_length_one() {
        let rows = [
            vec![(0, 1.0), (1, 1.0)],
            vec![(0, 1.0), (1, 1.0)],
            vec![(0, 1.0)],
            vec![(0, 1.0), (2, 1.0)],
            vec![(2, 3.0)],
            vec![],
        ];
        let fit = Fitting::Words { at_least: 2, most: 9, weighed: true };
        let attributes = attributes(3, &rows, vec![(0..3, fit)]);
        let (preparation, result) = prepared(&attributes, &[true, true, true, true, false, false]);
        assert_eq!(preparation.width(), 2, "one visible row has the third word");
        let values = result.row(0).1;
        let (first, second) = (1.0, (5.0_f32 / 3.0).ln() + 1.0);
        assert!((values[1] / values[0] - second / first).abs() < 1e-6);
        assert!((values.iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(result.row(4).0.is_empty());
        assert_eq!(preparation.word_weight(0), Some(1.0));
        let fewer = Fitting::Words { at_least: 1, most: 1, weighed: false };
        let attributes = attributes.with_blocks(vec![Block { columns: 0..3, fit: fewer }]).unwrap();
        let (preparation, _) = prepared(&attributes, &ALL);
        assert_eq!((preparation.width(), preparation.kept()), (1, vec![true, false, false]));
    }

    #[test]
    fn columns_of_no_block_stay_as_they_are_and_arrays_give_the_same_preparation() {
        let rows = [vec![(0, 7.0), (1, 1.0), (2, 2.0), (3, 4.0)], vec![(1, 3.0), (3, 4.0)]];
        let attributes = attributes(
            4,
            &rows,
            vec![(1..2, Fitting::Standardised), (2..3, Fitting::Ranked), (3..4, Fitting::Lengths)],
        );
        let (preparation, result) = prepared(&attributes, &[true, true]);
        assert_eq!(result.row(0), (&[0, 1, 2][..], &[7.0, -1.0, 1.0][..]), "a rank of one value is left out");
        let again = Preparation::from_arrays(&preparation.to_arrays()).unwrap();
        assert_eq!(again, preparation);
        assert_eq!(again.apply(&attributes), result);
        let mut broken = preparation.to_arrays();
        broken.columns[0] = 77;
        assert!(Preparation::from_arrays(&broken).is_none());
        assert!(Preparation::fit(&Attributes::from_rows(1, &[vec![]]).unwrap(), &[true]).is_none());
    }
}
