//! What is fitted to attributes on the rows that may be looked at: means and deviations of numbers, which values are
//! frequent enough, weights of words.
//!
//! Every column of the attributes as they were loaded goes to one column of those that a model sees, or to none; several may go to
//! the same, which then holds their sum. Columns of the dense part go to the dense part, one for one.

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
    /// Columns of the result.
    width: usize,
    /// Those of its dense part, the last of them.
    dense_width: usize,
    /// Columns of the dense part before, the last of `columns`.
    loaded_dense: usize,
    columns: Vec<Target>,
    ranked: Vec<Ranked>,
    /// Columns of the result whose part of a row gets length 1.
    units: Vec<Range<u32>>,
    /// For each column of the result.
    weights: Vec<WordWeight>,
}

/// What a column counts in a comparison by words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordWeight {
    /// Nothing: it is no word.
    NotAWord,
    /// What it is: the preparation has weighed it.
    Weighed,
    /// The more, the fewer rows have it.
    Counted,
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
            for (column, value) in attributes.iter_row(node as NodeId) {
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
        (!attributes.blocks().is_empty()).then(|| Preparation::fit_blocks(attributes, visible, |_| true))
    }

    /// The same without the vectors that token vectors make of texts; nothing where there are none.
    pub fn fit_without_encoded(attributes: &Attributes, visible: &[bool]) -> Option<Self> {
        let is_plain = |block: &Block| block.fit != Fitting::Encoded;
        let has_encoded = !attributes.blocks().iter().all(is_plain);
        has_encoded.then(|| Preparation::fit_blocks(attributes, visible, is_plain))
    }

    /// Leaves out the blocks that are not wanted.
    fn fit_blocks(attributes: &Attributes, visible: &[bool], is_wanted: impl Fn(&Block) -> bool) -> Self {
        let counts = Counts::of(attributes, visible);
        let mut preparation = Preparation {
            width: 0,
            dense_width: 0,
            loaded_dense: attributes.dense_width(),
            columns: vec![Target::NONE; attributes.width()],
            ranked: Vec::new(),
            units: Vec::new(),
            weights: Vec::new(),
        };
        let mut done = 0;
        for block in attributes.blocks() {
            preparation.keep(done..block.columns.start);
            if is_wanted(block) {
                preparation.fit_block(block, attributes, visible, &counts);
            }
            done = block.columns.end;
        }
        preparation.keep(done..attributes.width() as u32);
        preparation
    }

    /// Gives the next column of the result to a column.
    fn give(&mut self, column: u32, target: Target, weight: WordWeight) {
        self.columns[column as usize] = Target { column: self.width as u32, ..target };
        self.width += 1;
        self.dense_width += usize::from(column as usize >= self.loaded_sparse());
        self.weights.push(weight);
    }

    fn keep(&mut self, columns: Range<u32>) {
        columns.for_each(|column| self.give(column, Target::NONE, WordWeight::Counted));
    }

    fn fit_block(&mut self, block: &Block, attributes: &Attributes, visible: &[bool], counts: &Counts) {
        let all = || block.columns.clone();
        let present = |column: u32| counts.present[column as usize];
        match block.fit {
            Fitting::Unchanged { is_word } => {
                let weight = if is_word { WordWeight::Counted } else { WordWeight::NotAWord };
                for column in all().filter(|&column| present(column) > 0) {
                    self.give(column, Target::NONE, weight);
                }
            }
            Fitting::Standardised => {
                for column in all() {
                    let (mean, deviation) = counts.mean_and_deviation(column as usize);
                    // What is left of a column of one value is rounding.
                    if deviation > 1e-6 * mean.abs().max(f64::MIN_POSITIVE) {
                        let (shift, scale) = (mean as f32, finite(1.0 / deviation));
                        let target = Target { column, shift, scale, limit: MOST_DEVIATIONS };
                        self.give(column, target, WordWeight::NotAWord);
                    }
                }
            }
            Fitting::Ranked => {
                for column in all() {
                    let knots = knots(attributes, visible, column);
                    if let Some(knots) = knots.filter(|knots| knots[0] < knots[KNOTS - 1]) {
                        self.give(column, Target::NONE, WordWeight::NotAWord);
                        self.ranked.push(Ranked { column, knots });
                    }
                }
            }
            Fitting::Lengths | Fitting::Encoded => {
                let squares: f64 = all().map(|column| counts.squares[column as usize]).sum();
                if squares > 0.0 {
                    let rows = rows_with(attributes, visible, block, counts);
                    let scale = finite((f64::from(rows) / squares).sqrt());
                    let target = Target { scale, ..Target::NONE };
                    all().for_each(|column| self.give(column, target, WordWeight::NotAWord));
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
                    let weight = if weighed { WordWeight::Weighed } else { WordWeight::Counted };
                    self.give(column, Target { scale, ..Target::NONE }, weight);
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
        kept.into_iter().for_each(|column| self.give(column, Target::NONE, WordWeight::Counted));
        if rare.iter().any(|&column| present(column) > 0) || present(other) > 0 {
            rare.into_iter().for_each(|column| self.columns[column as usize] = Target::plain(self.width as u32));
            self.give(other, Target::NONE, WordWeight::Counted);
        }
    }

    /// Attributes as a model sees them. A dense part stays one; attributes without one, though these were fitted with one, become
    /// sparse rows of the same columns.
    pub fn apply(&self, attributes: &Attributes) -> Attributes {
        let in_parts = attributes.dense_width() == self.loaded_dense;
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let (mut row, mut dense): (Vec<(u32, f32)>, _) = (Vec::new(), Vec::new());
        for node in 0..attributes.rows() as NodeId {
            if in_parts {
                let (columns, values) = attributes.row(node);
                self.prepare_row(columns.iter().copied().zip(values.iter().copied()), &mut row);
                self.prepare_dense(attributes.dense_row(node), &mut dense);
            } else {
                self.prepare_row(attributes.iter_row(node), &mut row);
            }
            columns.extend(row.iter().map(|entry| entry.0));
            values.extend(row.iter().map(|entry| entry.1));
            offsets.push(columns.len() as u64);
        }
        let dense_width = if in_parts { self.dense_width } else { 0 };
        let (names, width) = (AttributeNames(self.names(&attributes.names().0)), self.width - dense_width);
        Attributes::from_parts(width, offsets.into(), columns.into(), values.into(), AttributeNames::default())
            .and_then(|prepared| prepared.with_dense(dense_width, dense.into(), names))
            .and_then(|prepared| prepared.with_types(attributes.types().cloned()))
            .expect("columns are sorted, values finite, and rows as many as before")
    }

    fn prepare_dense(&self, row: &[f32], out: &mut Vec<f32>) {
        let targets = (self.loaded_sparse() as u32..).zip(&self.columns[self.loaded_sparse()..]);
        let kept = targets.zip(row).filter(|((_, target), _)| target.column != NOWHERE);
        out.extend(kept.map(|((column, target), &value)| self.prepared(column, target, value)));
    }

    fn prepared(&self, column: u32, target: &Target, value: f32) -> f32 {
        let value = match self.ranked.binary_search_by_key(&column, |ranked| ranked.column) {
            Ok(place) => rank(&self.ranked[place].knots, value),
            Err(_) => ((value - target.shift) * target.scale).clamp(-target.limit, target.limit),
        };
        // A crafted file may multiply nothing with a distance beyond all numbers.
        if value.is_nan() { 0.0 } else { value }
    }

    fn prepare_row(&self, loaded: impl Iterator<Item = (u32, f32)>, row: &mut Vec<(u32, f32)>) {
        row.clear();
        for (column, value) in loaded {
            let target = &self.columns[column as usize];
            if target.column != NOWHERE {
                row.push((target.column, self.prepared(column, target, value)));
            }
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

    /// How many of these are in its dense part, after all others.
    pub fn dense_width(&self) -> usize {
        self.dense_width
    }

    /// How many columns attributes have when they are loaded.
    pub fn loaded_width(&self) -> usize {
        self.columns.len()
    }

    fn loaded_sparse(&self) -> usize {
        self.columns.len() - self.loaded_dense
    }

    /// What a word of a column weighs in a comparison by words, if that is known without counting.
    pub fn word_weight(&self, column: usize) -> Option<f32> {
        match self.weights.get(column)? {
            WordWeight::NotAWord => Some(0.0),
            WordWeight::Weighed => Some(1.0),
            WordWeight::Counted => None,
        }
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
        let sparse = self.loaded_sparse() as u32;
        Preparation {
            loaded_dense: columns.iter().filter(|&&column| column >= sparse).count(),
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

/// How many visible rows have something in a block.
fn rows_with(attributes: &Attributes, visible: &[bool], block: &Block, counts: &Counts) -> u32 {
    let Some(start) = (block.columns.start as usize).checked_sub(attributes.sparse_width()) else {
        return block.columns.clone().map(|column| counts.present[column as usize]).max().unwrap_or(0);
    };
    let has =
        |node: &usize| attributes.dense_row(*node as NodeId)[start..][..block.columns.len()].iter().any(|v| *v != 0.0);
    (0..attributes.rows()).filter(|&node| visible[node]).filter(has).count() as u32
}

/// Values at equal steps of rank among the visible rows that have the column.
fn knots(attributes: &Attributes, visible: &[bool], column: u32) -> Option<[f32; KNOTS]> {
    let visible = (0..attributes.rows()).filter(|&node| visible[node]);
    let mut values: Vec<f32> = visible.filter_map(|node| attributes.value(node as NodeId, column)).collect();
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
    /// How many of the columns are in the dense part, after all others.
    pub dense: u32,
    pub columns: Vec<u32>,
    /// Shift, scale and limit of each column.
    pub numbers: Vec<f32>,
    pub ranked: Vec<u32>,
    pub knots: Vec<f32>,
    pub units: Vec<u32>,
    /// 0 for no word, 1 for a word that is weighed, 2 for one that is counted.
    pub weights: Vec<u8>,
}

impl Preparation {
    /// Adds all that was fitted to a checksum.
    pub(crate) fn add_to(&self, hash: &mut Xxh3) {
        let Stored { dense, columns, numbers, ranked, knots, units, weights } = self.to_arrays();
        hash.update(&dense.to_le_bytes());
        [&columns, &ranked, &units].into_iter().for_each(|numbers| hash.update(bytemuck::cast_slice(numbers)));
        [&numbers, &knots].into_iter().for_each(|numbers| hash.update(bytemuck::cast_slice(numbers)));
        hash.update(&weights);
    }

    pub(crate) fn to_arrays(&self) -> Stored {
        Stored {
            dense: self.loaded_dense as u32,
            columns: self.columns.iter().map(|target| target.column).collect(),
            numbers: self.columns.iter().flat_map(|target| [target.shift, target.scale, target.limit]).collect(),
            ranked: self.ranked.iter().map(|ranked| ranked.column).collect(),
            knots: self.ranked.iter().flat_map(|ranked| ranked.knots).collect(),
            units: self.units.iter().flat_map(|unit| [unit.start, unit.end]).collect(),
            weights: self.weights.iter().map(|weight| *weight as u8).collect(),
        }
    }

    /// From arrays, if they fit together.
    pub(crate) fn from_arrays(stored: &Stored) -> Option<Self> {
        let Stored { dense, columns, numbers, ranked, knots, units, weights } = stored;
        if !stored.is_sound() {
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
        let weight =
            |&code: &u8| [WordWeight::NotAWord, WordWeight::Weighed, WordWeight::Counted].get(code as usize).copied();
        Some(Preparation {
            width: weights.len(),
            dense_width: stored.dense_targets()?.count(),
            loaded_dense: *dense as usize,
            columns: columns.iter().zip(numbers.chunks_exact(3)).map(target).collect(),
            ranked: ranked.iter().zip(knots.chunks_exact(KNOTS)).map(of_knots).collect::<Option<_>>()?,
            units: units.chunks_exact(2).map(|unit| unit[0]..unit[1]).collect(),
            weights: weights.iter().map(weight).collect::<Option<_>>()?,
        })
    }
}

impl Stored {
    /// Where columns of the dense part go; nothing where there are fewer columns.
    fn dense_targets(&self) -> Option<impl Iterator<Item = u32>> {
        let first = self.columns.len().checked_sub(self.dense as usize)?;
        Some(self.columns[first..].iter().copied().filter(|&column| column != NOWHERE))
    }

    fn is_sound(&self) -> bool {
        let Stored { dense, columns, numbers, ranked, knots, units, weights } = self;
        let Some(dense_width) = self.dense_targets().map(Iterator::count) else { return false };
        let width = weights.len();
        let Some(sparse_width) = width.checked_sub(dense_width) else { return false };
        let finite = [numbers, knots].into_iter().flatten().all(|number| number.is_finite());
        let of_sparse = &columns[..columns.len() - *dense as usize];
        let inside = of_sparse.iter().all(|&column| column == NOWHERE || (column as usize) < sparse_width);
        let one_for_one = self.dense_targets().is_some_and(|targets| targets.eq(sparse_width as u32..width as u32));
        let lengths = numbers.len() == 3 * columns.len() && knots.len() == KNOTS * ranked.len();
        let rising =
            ranked.is_sorted_by(|a, b| a < b) && ranked.last().is_none_or(|&last| (last as usize) < columns.len());
        let units_fit =
            units.len().is_multiple_of(2) && units.is_sorted() && units.last().is_none_or(|&end| end as usize <= width);
        let limits = numbers.chunks_exact(3).all(|target| target[2] >= 0.0);
        finite && inside && one_for_one && lengths && rising && units_fit && limits
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
    fn vectors_of_the_dense_part_get_length_one_and_stay_dense() {
        let dense = vec![3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 30.0, 40.0, 0.0];
        let blocks = [(0..1, Fitting::Standardised), (1..3, Fitting::Lengths), (3..4, Fitting::Lengths)];
        let blocks = blocks.map(|(columns, fit)| Block { columns, fit }).to_vec();
        let attributes = Attributes::from_rows(1, &[vec![(0, 1.0)], vec![(0, 3.0)], vec![]]).unwrap();
        let attributes = attributes.with_dense(3, dense.into(), AttributeNames::default()).unwrap();
        let attributes = attributes.with_blocks(blocks).unwrap();
        let (preparation, result) = prepared(&attributes, &[true, true, false]);
        assert_eq!((result.sparse_width(), result.dense_width()), (1, 2), "a vector of zeros says nothing");
        assert_eq!((result.row(0).1, result.row(1).1), (&[-1.0][..], &[1.0][..]));
        assert_eq!(result.dense(), [0.6, 0.8, 0.0, 0.0, 6.0, 8.0]);
        assert_eq!(preparation.word_weight(1), Some(0.0), "a number of a vector is no word");
        let again = Preparation::from_arrays(&preparation.to_arrays()).unwrap();
        assert_eq!((again.apply(&attributes), &again), (result.clone(), &preparation));
        let sparse: Vec<Vec<(u32, f32)>> = (0..3).map(|node| attributes.iter_row(node).collect()).collect();
        let sparse = preparation.apply(&Attributes::from_rows(4, &sparse).unwrap());
        for node in 0..3 {
            assert!(sparse.iter_row(node).eq(result.iter_row(node)), "the same numbers in either form");
        }
        let mut broken = preparation.to_arrays();
        broken.columns.swap(1, 2);
        assert!(Preparation::from_arrays(&broken).is_none());
        let words = Block { columns: 1..3, fit: Fitting::Words { at_least: 1, most: 9, weighed: true } };
        assert!(attributes.with_blocks(vec![words]).is_err());
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
