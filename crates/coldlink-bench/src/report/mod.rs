//! What an experiment found, as Markdown, as charts and as one web page.

mod bars;
mod compare;
mod html;
mod markdown;
mod numbers;
#[cfg(test)]
mod samples;

use coldlink_chart::LineChart;

pub use bars::bars;
pub use html::html;
pub use markdown::{markdown, readme};

/// One table of an experiment, ready to be shown.
#[derive(Debug, Clone)]
pub struct Table {
    /// What it is called in addresses and file names.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// Paragraphs: protocol, selection, machine, command. Text in backticks is code.
    pub about: Vec<String>,
    /// The data sets, a column each.
    pub sets: Vec<SetColumn>,
    /// Groups of rows that are compared with each other.
    pub blocks: Vec<Block>,
}

/// A data set's column.
#[derive(Debug, Clone)]
pub struct SetColumn {
    /// What it is called in file names.
    pub name: String,
    /// Its heading.
    pub label: String,
    /// Why there are no rows of it here.
    pub missing: Option<String>,
}

/// Rows that are compared with each other.
#[derive(Debug, Clone)]
pub struct Block {
    /// Its heading.
    pub label: String,
    /// What its rows have in common; may be empty.
    pub about: String,
    /// The methods.
    pub rows: Vec<MethodRow>,
}

/// A method's row.
#[derive(Debug, Clone)]
pub struct MethodRow {
    /// What it is called in file names.
    pub name: String,
    /// Its heading.
    pub label: String,
    /// One per data set, in the order of the table's.
    pub cells: Vec<Cell>,
}

/// A method on a data set.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    /// What the paper reports.
    pub paper: Option<Paper>,
    /// What was measured here.
    pub ours: Option<Ours>,
    /// Why nothing was, although the data set is here.
    pub empty: Option<String>,
}

/// What the paper reports.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// The area under the ROC curve.
    pub auc: f64,
    /// The average precision.
    pub ap: f64,
}

/// What was measured here.
#[derive(Debug, Clone)]
pub struct Ours {
    /// How many seeds the means are over.
    pub seeds: usize,
    /// The area under the ROC curve.
    pub auc: Spread,
    /// The average precision.
    pub ap: Spread,
    /// The share of linked pairs in the test, which is the AP of guessing.
    pub prevalence: f64,
    /// The mean reciprocal rank.
    pub mrr: Option<Spread>,
    /// The mean number of training steps.
    pub steps: f64,
    /// The mean number of parameters.
    pub parameters: f64,
    /// The mean time of a run.
    pub seconds: f64,
    /// How it compares with the block's reference row.
    pub mark: Option<Mark>,
    /// What was done otherwise than in the other cells, such as "three splits".
    pub note: Option<String>,
}

/// A mean over seeds.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, where there is more than one seed.
    pub sd: Option<f64>,
}

/// How a row compares with the block's reference row by a paired bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It is better.
    Better,
    /// It is worse.
    Worse,
    /// Neither could be shown.
    NoDifference,
    /// It is that row.
    Reference,
}

/// A line chart with the name of its file.
#[derive(Debug, Clone)]
pub struct NamedChart {
    /// What it is called in file names.
    pub name: String,
    /// What it shows.
    pub chart: LineChart,
}
