//! Which known nodes a query is about: those that have the wanted values and numbers.
//!
//! A condition is a value, several with a comma between them, or, of a column of numbers, `<20`, `>=20`, `10..20`, `15`.

use super::Model;
use crate::columns::{Column, ColumnKind, Schema};
use crate::graph::NodeId;
use crate::hint::Hint;
use crate::text::{all_quoted, near_or_all, quoted};

/// Why nodes cannot be chosen by what is asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The model has no node types.
    #[error("the model has no node types")]
    NoTypes,
    /// No such node type.
    #[error("there is no node type `{}`", quoted(.name))]
    UnknownType {
        /// As it was asked for.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// The model keeps no values of its nodes.
    #[error("the model does not store the values of its nodes")]
    NoValues,
    /// The model keeps no numbers of its nodes.
    #[error("the model does not store the numbers of column `{}`", quoted(.column))]
    NoNumbers {
        /// The column.
        column: String,
    },
    /// No such column.
    #[error("there is no column `{}`", quoted(.column))]
    UnknownColumn {
        /// As it was asked for.
        column: String,
        /// Those there are to filter by.
        known: Vec<String>,
    },
    /// No such value.
    #[error("no node has `{}={}`", quoted(.column), quoted(.value))]
    UnknownValue {
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// Values there are.
        known: Vec<String>,
    },
    /// A column of numbers is asked for something else.
    #[error("column `{}` has numbers, and `{}` says nothing about them", quoted(.column), quoted(.condition))]
    NotACondition {
        /// The column.
        column: String,
        /// As it was asked for.
        condition: String,
    },
    /// Another column is asked for numbers.
    #[error("column `{}` is of kind {kind}: only numbers can be compared by `{}`", quoted(.column), quoted(.condition))]
    NotNumeric {
        /// The column.
        column: String,
        /// Its kind.
        kind: &'static str,
        /// As it was asked for.
        condition: String,
    },
    /// A column whose kind has neither values nor numbers.
    #[error("column `{}` is of kind {kind}, which cannot be filtered by", quoted(.column))]
    NotFiltered {
        /// The column.
        column: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A text whose words are the same attributes as those of others.
    #[error("column `{}` shares its words with other texts", quoted(.column))]
    SharedWords {
        /// The column.
        column: String,
    },
}

impl FilterError {
    /// What to do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(match self {
            FilterError::NoTypes => Hint::new(
                "ask without a node type | give the column of node types the kind `type` with {columns}, and train again",
            ),
            FilterError::UnknownType { name, known } => Hint::text(near_or_all("node type", name, known)),
            FilterError::NoValues => {
                Hint::new("train on tables with a preset that fits the weights of the score, such as `default`")
            }
            FilterError::NoNumbers { .. } => Hint::new("train the model again: models of earlier versions have none"),
            FilterError::UnknownColumn { known, .. } if known.is_empty() => Hint::new("ask without a filter"),
            FilterError::UnknownColumn { column, known } => Hint::text(near_or_all("column", column, known)),
            FilterError::UnknownValue { value, known, .. } => Hint::text(near_or_all("value", value, known)),
            FilterError::NotACondition { .. } => {
                Hint::text("write `<20`, `<=20`, `>20`, `>=20`, a range such as `10..20`, or numbers such as `10,15`")
            }
            FilterError::NotNumeric { column, .. } => Hint::text(format!(
                "name values, such as `{0}=a` or `{0}=a,b` for either; numbers are compared in columns of kind numeric",
                quoted(column)
            )),
            FilterError::NotFiltered { .. } => {
                Hint::new("filter by a column of values or numbers; of a date, keep the year as a column of numbers")
            }
            FilterError::SharedWords { .. } => {
                Hint::new("filter by `text=WORD`, which looks for the word in all of them")
            }
        })
    }
}

/// Numbers from one on, up to another; each may be left out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    from: Option<Limit>,
    to: Option<Limit>,
}

/// A number, and whether it is among those that are meant.
type Limit = (f32, bool);

impl Span {
    /// What `<20`, `>=20`, `10..20`, `..20` or `15` mean; nothing of any other text.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        for (sign, is_upper, within) in
            [("<=", true, true), (">=", false, true), ("<", true, false), (">", false, false)]
        {
            if let Some(rest) = text.strip_prefix(sign) {
                let limit = Some((number(rest)?, within));
                return Some(if is_upper { Span { from: None, to: limit } } else { Span { from: limit, to: None } });
            }
        }
        if let Some((from, to)) = text.split_once("..") {
            let limit = |text: &str| match text.trim() {
                "" => Some(None),
                text => number(text).map(|number| Some((number, true))),
            };
            let (from, to) = (limit(from)?, limit(to.trim_start_matches('='))?);
            return (from.is_some() || to.is_some()).then_some(Span { from, to });
        }
        let limit = Some((number(text)?, true));
        Some(Span { from: limit, to: limit })
    }

    fn has(&self, number: f32) -> bool {
        let above = self.from.is_none_or(|(from, within)| number > from || within && number == from);
        above && self.to.is_none_or(|(to, within)| number < to || within && number == to)
    }
}

/// A number as nodes have it.
fn number(text: &str) -> Option<f32> {
    text.trim().parse::<f64>().ok().map(|number| number as f32).filter(|number| number.is_finite())
}

/// Whether a text compares numbers, and is no value.
fn compares(text: &str) -> bool {
    text.starts_with(['<', '>'])
}

impl Model {
    /// Nodes of the graph that do not meet a condition, in rising order: what a plan leaves out that wants the others.
    pub fn without_value(&self, column: &str, condition: &str) -> Result<Vec<NodeId>, FilterError> {
        let schema = self.schema().ok_or(FilterError::NoValues)?;
        let known = self.known_column(schema, column)?;
        match known {
            Some(found) if matches!(found.kind, ColumnKind::Numeric { .. }) => self.beyond(schema, column, condition),
            _ => self.without_values(schema, (column, known), condition),
        }
    }

    /// The column of that name; none of a name that columns share for their words.
    fn known_column<'a>(&self, schema: &'a Schema, name: &str) -> Result<Option<&'a Column>, FilterError> {
        if let Some((column, _)) = schema.column(name).filter(|(column, _)| !column.is_ignored()) {
            return match schema.attributes_of(column) == name {
                true => Ok(Some(column)),
                false => Err(FilterError::SharedWords { column: name.to_owned() }),
            };
        }
        let named = schema.columns.iter().filter(|column| column.width() > 0);
        let mut known: Vec<String> = named.map(|column| schema.attributes_of(column).to_owned()).collect();
        known.dedup();
        if known.iter().any(|known| known == name) {
            return Ok(None);
        }
        Err(FilterError::UnknownColumn { column: name.to_owned(), known })
    }

    /// Nodes whose number is not within what is asked for.
    fn beyond(&self, schema: &Schema, column: &str, condition: &str) -> Result<Vec<NodeId>, FilterError> {
        let spans: Option<Vec<Span>> = condition.split(',').map(Span::parse).collect();
        let spans = spans
            .ok_or_else(|| FilterError::NotACondition { column: column.to_owned(), condition: condition.to_owned() })?;
        let place = schema.numbers().position(|(known, _)| known.name == column).unwrap_or(0);
        if !self.facts.has_numbers(schema.numbers().count()) {
            return Err(FilterError::NoNumbers { column: column.to_owned() });
        }
        let is_within = |number: f32| spans.iter().any(|span| span.has(number));
        let beyond = |node: &NodeId| !self.number_in(self.roles.node(*node), place).is_some_and(is_within);
        Ok((0..self.role_nodes() as NodeId).filter(beyond).collect())
    }

    /// Nodes that have none of the values that are asked for.
    fn without_values(
        &self,
        schema: &Schema,
        (name, column): (&str, Option<&Column>),
        condition: &str,
    ) -> Result<Vec<NodeId>, FilterError> {
        let memory = self.memory.as_ref().ok_or(FilterError::NoValues)?;
        let is_flag = column.is_some_and(|column| column.kind == ColumnKind::Boolean {});
        let values = self.wanted_values(schema, (name, is_flag), condition).map_err(|error| match column {
            Some(column) if !is_flag && !column.has_named_values() => {
                FilterError::NotFiltered { column: name.to_owned(), kind: column.kind.name() }
            }
            Some(column) if compares(condition) => {
                let (name, kind) = (name.to_owned(), column.kind.name());
                FilterError::NotNumeric { column: name, kind, condition: condition.to_owned() }
            }
            _ => error,
        })?;
        let has_one = |node: NodeId| {
            let row = self.words_of(memory, node);
            let has = |attribute: u32| row.binary_search_by_key(&attribute, |entry| entry.index).is_ok();
            values.iter().any(|&(attribute, wanted)| has(attribute) == wanted)
        };
        Ok((0..self.role_nodes() as NodeId).filter(|&node| !has_one(node)).collect())
    }

    /// The attributes of the values that are asked for, each with whether nodes shall have it or not: the whole text is one value, or
    /// else it lists some.
    fn wanted_values(
        &self,
        schema: &Schema,
        (name, is_flag): (&str, bool),
        condition: &str,
    ) -> Result<Vec<(u32, bool)>, FilterError> {
        let find = |value: &str| {
            let (attribute, wanted) = match (is_flag, value) {
                (true, "true" | "yes") => (name.to_owned(), true),
                (true, "false" | "no") => (name.to_owned(), false),
                _ => (format!("{name}={value}"), true),
            };
            let place = self.attribute_names().iter().position(|known| *known == attribute);
            place.map(|place| (place as u32, wanted)).ok_or_else(|| self.unknown_value(schema, name, value))
        };
        match find(condition) {
            Err(_) if condition.contains(',') => condition.split(',').map(|value| find(value.trim())).collect(),
            found => found.map(|found| vec![found]),
        }
    }

    fn unknown_value(&self, schema: &Schema, column: &str, value: &str) -> FilterError {
        let start = format!("{column}=");
        let is_flag = schema.column(column).is_some_and(|(column, _)| column.kind == ColumnKind::Boolean {});
        let values = self.attribute_names().iter().filter_map(|name| name.strip_prefix(&start).map(str::to_owned));
        let known = if is_flag { vec!["true".to_owned(), "false".to_owned()] } else { values.collect() };
        FilterError::UnknownValue { column: column.to_owned(), value: value.to_owned(), known }
    }
}

/// What conditions look like, for those who are told of all columns.
pub(super) fn conditions_in_words(filters: &[(String, String)]) -> String {
    let texts: Vec<String> = filters.iter().map(|(column, condition)| in_words(column, condition)).collect();
    all_quoted(&texts)
}

fn in_words(column: &str, condition: &str) -> String {
    if compares(condition) { format!("{column}{condition}") } else { format!("{column}={condition}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_on_numbers_are_limits_ranges_and_numbers() {
        let check = |text: &str, numbers: &[f32]| {
            let span = Span::parse(text).unwrap_or_else(|| panic!("{text}"));
            let found: Vec<f32> =
                [-1.0, 0.0, 9.99, 10.0, 15.0, 20.0, 1e9].into_iter().filter(|&n| span.has(n)).collect();
            assert_eq!(found, numbers, "{text}");
        };
        check("<10", &[-1.0, 0.0, 9.99]);
        check("<= 10", &[-1.0, 0.0, 9.99, 10.0]);
        check(">15", &[20.0, 1e9]);
        check(">=15", &[15.0, 20.0, 1e9]);
        check("10..20", &[10.0, 15.0, 20.0]);
        check("-1 .. 0", &[-1.0, 0.0]);
        check("20..", &[20.0, 1e9]);
        check("..=0", &[-1.0, 0.0]);
        check("9.99", &[9.99]);
        for text in ["", "<", "..", "a", "10..b", "nan", "<inf", "1e99", "=5"] {
            assert_eq!(Span::parse(text), None, "{text}");
        }
    }
}
