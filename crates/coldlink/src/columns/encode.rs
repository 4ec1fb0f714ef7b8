//! From rows of cells to rows of attributes, while the values of columns are being collected or when they are known.
//!
//! While a table is first read, every value that is met gets the next free number; when all are known, columns are put
//! in their order and values in theirs. So the text of a table is never held, and is encoded in one reading.

use std::collections::{BTreeSet, HashMap};

use csv::StringRecord;
use xxhash_rust::xxh3::xxh3_64;

use super::cells;
use super::kind::{ColumnKind, WordWeights};
use super::mismatches::Mismatches;
use super::problem::CellProblem;
use super::schema::{Column, Schema, Values};
use super::{times, words};

/// Different words that are listed at most, before a vocabulary is chosen among them.
const MOST_WORDS: usize = 1 << 20;

/// Kinds of nodes above which a column is looked for in all of them.
const MOST_KINDS: usize = 255;
/// Attributes of all columns at most, words before a vocabulary is chosen included.
const MOST_ATTRIBUTES: u32 = 1 << 26;

/// Rows of attributes that grow.
#[derive(Default)]
pub(crate) struct Encoded {
    pub offsets: Vec<u64>,
    pub columns: Vec<u32>,
    pub values: Vec<f32>,
    pub mismatches: Mismatches,
}

/// Encodes rows of one table.
pub(crate) struct Encoder<'a> {
    readers: Vec<Reader<'a>>,
    /// The cell that says what kind of node a row is.
    kind: Option<usize>,
    /// The next free number, while values are collected.
    next: u32,
    out: Encoded,
    entries: Vec<(u32, f32)>,
    strict: bool,
}

/// Reads the cells of one column.
struct Reader<'a> {
    name: String,
    kind: ColumnKind,
    /// Its cell in a row; none where the table does not have the column.
    place: Option<usize>,
    lookup: Lookup<'a>,
    /// Whether a missing value is an attribute of its own.
    tells_missing: bool,
    of: Of<'a>,
}

/// The kinds of nodes that have a column.
enum Of<'a> {
    /// Those met so far.
    Met(BTreeSet<Box<str>>),
    /// As the schema says.
    Known(&'a Column),
}

/// From what a cell says to numbers of attributes.
enum Lookup<'a> {
    /// Nothing is made of it.
    Nothing,
    /// So many numbers from this one on.
    Fixed(u32),
    /// As many as the first list has; from this number on, once it is known.
    List(Option<(u32, usize)>),
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
    /// The number of a value, and whether it is one that was not known.
    fn find(&mut self, value: &str, next: &mut u32) -> (Option<u32>, bool) {
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
            Lookup::Nothing | Lookup::Fixed(_) | Lookup::List(_) => (None, false),
        }
    }
}

impl Reader<'_> {
    /// Whether nothing stands in a cell. `none` and `NA` are values where any text may be one.
    fn is_missing(&self, cell: &str) -> bool {
        let by_word = match self.kind {
            ColumnKind::Numeric { .. } | ColumnKind::Boolean {} | ColumnKind::DateTime {} | ColumnKind::Vector {} => {
                true
            }
            ColumnKind::Categorical { .. }
            | ColumnKind::MultiValued { .. }
            | ColumnKind::Text { .. }
            | ColumnKind::Type {}
            | ColumnKind::Ignore {} => false,
        };
        cell.is_empty() || by_word && cells::is_missing(cell)
    }

    /// Whether rows of some kind have this column, as far as that is known.
    fn is_of(&self, kind: &str) -> bool {
        matches!(&self.of, Of::Met(_)) || matches!(&self.of, Of::Known(column) if column.is_of(kind))
    }

    /// Notes that a row of some kind has a value here. All kinds have the column that tells them.
    fn meet(&mut self, kind: &str) {
        if let (Of::Met(kinds), false) = (&mut self.of, kind.is_empty() || self.kind == ColumnKind::Type {})
            && kinds.len() <= MOST_KINDS
            && !kinds.contains(kind)
        {
            kinds.insert(kind.into());
        }
    }

    /// Whether its table lacks a column that nodes of some kinds have.
    fn is_lacking(&self) -> bool {
        let lacking = |column: &Column| !column.of.is_empty() && column.width() > 0;
        self.place.is_none() && matches!(self.of, Of::Known(column) if lacking(column))
    }

    /// The number that says that a value is missing.
    fn missing(&self) -> Option<u32> {
        match (&self.lookup, self.kind) {
            (Lookup::Fixed(first), ColumnKind::DateTime {}) => Some(first + times::PARTS as u32),
            (Lookup::Fixed(first), _) => Some(first + 1),
            _ => None,
        }
    }

    /// Adds what a cell says, sorted, and tells how many of its values are not known; nothing where it cannot be read.
    fn read(&mut self, cell: &str, missing: bool, next: &mut u32, entries: &mut Vec<(u32, f32)>) -> Option<usize> {
        let mut unknown = 0;
        match (self.kind, &mut self.lookup) {
            (ColumnKind::Ignore {}, _) | (_, Lookup::Nothing) => {}
            (ColumnKind::Numeric { .. }, Lookup::Fixed(first)) => {
                let value = if missing { None } else { Some(cells::number(cell)) };
                match value {
                    Some(Some(value)) if self.tells_missing || value != 0.0 => entries.push((*first, value)),
                    Some(Some(_)) => {}
                    _ if self.tells_missing => entries.push((*first + 1, 1.0)),
                    _ => {}
                }
                return value.is_none_or(|value| value.is_some()).then_some(0);
            }
            (ColumnKind::Boolean {}, Lookup::Fixed(first)) => {
                let value = if missing { None } else { Some(cells::boolean(cell)) };
                match value {
                    Some(Some(true)) => entries.push((*first, 1.0)),
                    Some(Some(false)) => {}
                    _ => entries.push((*first + 1, 1.0)),
                }
                return value.is_none_or(|value| value.is_some()).then_some(0);
            }
            (ColumnKind::DateTime {}, Lookup::Fixed(first)) => {
                let value = if missing { None } else { Some(times::parse(cell)) };
                match value {
                    Some(Some(moment)) => entries.extend((*first..).zip(times::parts(moment))),
                    _ => entries.push((*first + times::PARTS as u32, 1.0)),
                }
                return value.is_none_or(|value| value.is_some()).then_some(0);
            }
            (ColumnKind::Vector {}, Lookup::List(known)) if !missing => {
                let numbers = cells::list_of_numbers(cell).filter(|numbers| !numbers.is_empty())?;
                let (first, size) = *known.get_or_insert_with(|| {
                    let first = *next;
                    *next = next.saturating_add(numbers.len() as u32);
                    (first, numbers.len())
                });
                if numbers.len() != size {
                    return None;
                }
                entries.extend((0..).map(|place| first.saturating_add(place)).zip(numbers));
            }
            (ColumnKind::Text { stop_words, weights, .. }, lookup) => {
                let start = entries.len();
                words::words(cell, stop_words, |word| {
                    let (number, new) = lookup.find(word, next);
                    unknown += usize::from(new);
                    entries.extend(number.map(|number| (number, 1.0)));
                });
                count_words(entries, start, weights);
            }
            (ColumnKind::MultiValued { .. }, lookup) => {
                let start = entries.len();
                cells::values(cell, |value| {
                    let (number, new) = lookup.find(value, next);
                    unknown += usize::from(new);
                    entries.extend(number.map(|number| (number, 1.0)));
                });
                count_words(entries, start, WordWeights::Binary);
            }
            (ColumnKind::Categorical { .. } | ColumnKind::Type {}, lookup) if !cell.is_empty() => {
                let (number, new) = lookup.find(cell, next);
                unknown += usize::from(new);
                entries.extend(number.map(|number| (number, 1.0)));
            }
            _ => {}
        }
        Some(unknown)
    }
}

/// Sorts the entries from `start` on and makes one of each: 1, or more the oftener it stands there.
fn count_words(entries: &mut Vec<(u32, f32)>, start: usize, weights: WordWeights) {
    entries[start..].sort_unstable_by_key(|entry| entry.0);
    let mut kept = start;
    for place in start..entries.len() {
        if kept > start && entries[kept - 1].0 == entries[place].0 {
            entries[kept - 1].1 += 1.0;
        } else {
            entries[kept] = entries[place];
            kept += 1;
        }
    }
    entries.truncate(kept);
    for entry in &mut entries[start..] {
        entry.1 = if weights == WordWeights::Binary { 1.0 } else { 1.0 + entry.1.ln() };
    }
}

/// What two values of a cell count that fell into one bucket: as if they were the same, so that new rows count the same.
fn in_one_bucket(one: f32, other: f32, counted: bool) -> f32 {
    if counted { 1.0 + ((one - 1.0).exp() + (other - 1.0).exp()).ln() } else { 1.0 }
}

impl<'a> Encoder<'a> {
    /// Collects the values of columns of these kinds; `kinds` are those of all columns but the names, in their order.
    pub fn collecting(header: &[String], kinds: &[(usize, ColumnKind)], strict: bool) -> Self {
        let mut next = 0;
        let mut reserve = |width: u32| {
            next += width;
            Lookup::Fixed(next - width)
        };
        let growing = |most: usize, buckets| Lookup::Growing { numbers: HashMap::new(), most, buckets };
        let reader = |&(place, kind): &(usize, ColumnKind)| {
            let lookup = match kind {
                ColumnKind::Numeric { .. } | ColumnKind::Boolean {} => reserve(2),
                ColumnKind::DateTime {} => reserve(times::PARTS as u32 + 1),
                ColumnKind::Vector {} => Lookup::List(None),
                ColumnKind::Categorical { limit, buckets, .. } | ColumnKind::MultiValued { limit, buckets, .. } => {
                    growing(limit as usize, buckets)
                }
                ColumnKind::Text { hashed, buckets, .. } => growing(if hashed { 0 } else { MOST_WORDS }, buckets),
                ColumnKind::Type {} => growing(usize::MAX, 1),
                ColumnKind::Ignore {} => Lookup::Nothing,
            };
            let (name, of) = (header[place].clone(), Of::Met(BTreeSet::new()));
            Reader { name, kind, place: Some(place), lookup, tells_missing: true, of }
        };
        let readers: Vec<Reader<'_>> = kinds.iter().map(reader).collect();
        Encoder { kind: kind_place(&readers), readers, next, out: Encoded::new(), entries: Vec::new(), strict }
    }

    /// Makes the attributes of a schema from tables with this header.
    pub fn knowing(schema: &'a Schema, header: &[String], strict: bool) -> Self {
        let mut first = 0;
        let mut out = Encoded::new();
        let mut readers = Vec::new();
        for column in &schema.columns {
            let place = header.iter().position(|name| *name == column.name);
            if place.is_none() && column.width() > 0 && column.of.is_empty() {
                out.mismatches.missing_columns.push(column.name.clone());
            }
            readers.push(Reader {
                name: column.name.clone(),
                kind: column.kind,
                place,
                lookup: column.lookup(first),
                tells_missing: column.tells_missing,
                of: Of::Known(column),
            });
            first += column.width() as u32;
        }
        let known = |name: &&String| **name != schema.id && schema.columns.iter().all(|column| column.name != **name);
        out.mismatches.extra_columns = header.iter().filter(known).filter(|name| !name.is_empty()).cloned().collect();
        Encoder { kind: kind_place(&readers), readers, next: 0, out, entries: Vec::new(), strict }
    }

    /// What was not expected so far.
    pub fn mismatches(&self) -> &Mismatches {
        &self.out.mismatches
    }

    /// Encodes one row.
    pub fn add(&mut self, line: u64, row: &StringRecord) -> Result<(), CellProblem> {
        self.entries.clear();
        let kind = self.kind.map_or("", |place| &row[place]);
        for reader in &mut self.readers {
            let cell = reader.place.map_or("", |place| &row[place]);
            let missing = reader.is_missing(cell);
            if missing && !reader.is_of(kind) {
                continue;
            }
            if reader.is_lacking() && !self.out.mismatches.missing_columns.contains(&reader.name) {
                self.out.mismatches.missing_columns.push(reader.name.clone());
            }
            let start = self.entries.len();
            let read = reader.read(cell, missing, &mut self.next, &mut self.entries);
            if read.is_some() && !missing {
                reader.meet(kind);
            }
            let problem = match read {
                Some(0) => continue,
                Some(unknown) => {
                    self.out.mismatches.unknown_values += unknown;
                    CellProblem::UnknownValue { column: reader.name.clone(), cell: short(cell) }
                }
                None => {
                    // As if it were empty.
                    if !reader.is_of(kind) {
                        self.entries.truncate(start);
                    }
                    let problem = CellProblem::Unreadable {
                        column: reader.name.clone(),
                        kind: reader.kind.name(),
                        cell: short(cell),
                    };
                    self.out.mismatches.unreadable(line, &problem);
                    problem
                }
            };
            // Words of a text that are not known are nothing out of the ordinary.
            if self.strict && !matches!(reader.kind, ColumnKind::Text { .. }) {
                return Err(problem);
            }
        }
        if self.next > MOST_ATTRIBUTES {
            return Err(CellProblem::TooManyAttributes { most: MOST_ATTRIBUTES });
        }
        self.out.columns.extend(self.entries.iter().map(|entry| entry.0));
        self.out.values.extend(self.entries.iter().map(|entry| entry.1));
        self.out.offsets.push(self.out.columns.len() as u64);
        Ok(())
    }

    /// The rows of a known schema.
    pub fn end(self) -> Encoded {
        self.out
    }

    /// The rows, and the columns with the values that were collected.
    pub fn end_collecting(self) -> (Vec<Column>, Encoded) {
        let kinds = self.kinds_of_readers();
        let silent = self.silent(&kinds);
        let mut finals = vec![0; self.next as usize];
        let (mut columns, mut counted, mut first) = (Vec::new(), Vec::new(), 0);
        for (reader, of) in self.readers.into_iter().zip(kinds) {
            let column = Column { of, ..reader.collected(first, &mut finals) };
            if matches!(column.kind, ColumnKind::Text { weights: WordWeights::TfIdf, .. }) {
                counted.push(first..first + column.width() as u32);
            }
            first += column.width() as u32;
            columns.push(column);
        }
        let mut out = self.out;
        let mut row: Vec<(u32, f32)> = Vec::new();
        let (mut written, mut start) = (0, 0);
        for end in out.offsets.iter_mut().skip(1) {
            let range = start..*end as usize;
            start = *end as usize;
            row.clear();
            let silenced = out.columns[range.clone()].iter().find_map(|number| silent.get(number));
            let speaks = |place: &usize| silenced.is_none_or(|silenced| !silenced.contains(&out.columns[*place]));
            row.extend(range.filter(speaks).map(|place| (finals[out.columns[place] as usize], out.values[place])));
            row.sort_by_key(|entry| entry.0);
            row.dedup_by(|next, kept| {
                next.0 == kept.0 && {
                    kept.1 = in_one_bucket(kept.1, next.1, counted.iter().any(|columns| columns.contains(&kept.0)));
                    true
                }
            });
            for &(column, value) in &row {
                (out.columns[written], out.values[written]) = (column, value);
                written += 1;
            }
            *end = written as u64;
        }
        out.columns.truncate(written);
        out.values.truncate(written);
        (columns, out)
    }
}

impl Encoder<'_> {
    /// For each reader the kinds of nodes that have its column; none where all do, or none does.
    fn kinds_of_readers(&self) -> Vec<Vec<String>> {
        let all = self.readers.iter().find(|reader| reader.kind == ColumnKind::Type {}).map_or(0, Reader::values);
        let of = |reader: &Reader<'_>| match &reader.of {
            Of::Met(kinds) if kinds.len() < all && all <= MOST_KINDS => {
                kinds.iter().map(|kind| (**kind).into()).collect()
            }
            _ => Vec::new(),
        };
        self.readers.iter().map(of).collect()
    }

    /// For the number of a kind of nodes the numbers that would say of columns which it does not have that they are missing.
    fn silent(&self, kinds: &[Vec<String>]) -> HashMap<u32, Vec<u32>> {
        let mut silent: HashMap<u32, Vec<u32>> = HashMap::new();
        let types = self.readers.iter().find(|reader| reader.kind == ColumnKind::Type {});
        let Some(Reader { lookup: Lookup::Growing { numbers, .. }, .. }) = types else { return silent };
        for (reader, of) in self.readers.iter().zip(kinds).filter(|(_, of)| !of.is_empty()) {
            let Some(missing) = reader.missing() else { continue };
            for (kind, &number) in numbers {
                if !of.iter().any(|of| **of == **kind) {
                    silent.entry(number).or_default().push(missing);
                }
            }
        }
        silent
    }
}

/// Where rows say what kind of node they are.
fn kind_place(readers: &[Reader<'_>]) -> Option<usize> {
    readers.iter().find(|reader| reader.kind == ColumnKind::Type {})?.place
}

impl Reader<'_> {
    /// How many values were collected.
    fn values(&self) -> usize {
        if let Lookup::Growing { numbers, .. } = &self.lookup { numbers.len() } else { 0 }
    }

    /// The column as it was found, and the places of its numbers from `first` on.
    fn collected(self, first: u32, finals: &mut [u32]) -> Column {
        let Reader { name, kind, lookup, .. } = self;
        let values = match lookup {
            Lookup::Growing { numbers, .. } => {
                let mut listed: Vec<(Box<str>, u32)> = numbers.into_iter().collect();
                listed.sort_unstable();
                for (place, (_, number)) in listed.iter().enumerate() {
                    finals[*number as usize] = first + place as u32;
                }
                Values::Listed(listed.into_iter().map(|(value, _)| value.into()).collect())
            }
            Lookup::Spilled { collected, first: from, buckets } => {
                for (value, number) in &collected {
                    finals[*number as usize] = first + bucket(value, buckets);
                }
                for number in 0..buckets {
                    finals[(from + number) as usize] = first + number;
                }
                Values::Hashed(buckets)
            }
            Lookup::List(known) => {
                let (from, size) = known.unwrap_or((0, 0));
                (0..size as u32).for_each(|number| finals[(from + number) as usize] = first + number);
                Values::Numbers(size as u32)
            }
            Lookup::Fixed(from) => {
                let column = Column { name, kind, values: Values::None, tells_missing: true, of: Vec::new() };
                (0..column.width() as u32).for_each(|number| finals[(from + number) as usize] = first + number);
                return column;
            }
            Lookup::Nothing | Lookup::Known { .. } | Lookup::Hashed { .. } => Values::None,
        };
        Column { name, kind, values, tells_missing: true, of: Vec::new() }
    }
}

impl Column {
    fn lookup(&self, first: u32) -> Lookup<'_> {
        match (&self.values, self.kind) {
            (_, ColumnKind::Ignore {}) => Lookup::Nothing,
            (Values::None, _) => Lookup::Fixed(first),
            (Values::Numbers(size), _) => Lookup::List(Some((first, *size as usize))),
            (Values::Hashed(buckets), _) => Lookup::Hashed { first, buckets: *buckets },
            (Values::Listed(values), _) => {
                Lookup::Known { values, first, other: self.has_other().then_some(first + values.len() as u32) }
            }
        }
    }
}

impl Encoded {
    fn new() -> Self {
        Encoded { offsets: vec![0], ..Encoded::default() }
    }
}

/// As much of a cell as fits in a line.
fn short(cell: &str) -> String {
    const MOST: usize = 60;
    let start: String = cell.chars().take(MOST).collect();
    if start.len() < cell.len() { start + "…" } else { start }
}
