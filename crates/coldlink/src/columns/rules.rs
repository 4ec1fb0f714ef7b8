//! What a column is: the one list of rules, each with its reason. The first that holds decides.
//!
//! A rule asks what *nearly all* cells are (`survey::odd_ones` says how many may be odd); the odd ones count as missing. What several
//! columns say of each other (that one repeats another) is decided beside the list.

use serde::{Deserialize, Serialize};

use super::kind::{CellPart, ColumnKind, Columns, DateOrder, Decimal, Scale};
use super::mismatches::OddCells;
use super::survey::{Survey, Surveys};
use crate::text::quoted;

/// Words in a cell from which on it is a text, even where cells are repeated.
const WORDS_OF_A_TEXT: f64 = 4.0;
/// Words in a cell from which on cells that nearly all differ are texts: few rows need more to tell texts from categories.
const WORDS_OF_A_TITLE: (f64, f64) = (1.5, 2.0);

/// What was found out about a column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// Its name.
    pub column: String,
    /// Why it is of its kind.
    pub reason: String,
    /// Some of its cells.
    pub samples: Vec<String>,
    /// Cells that could not be read as its kind and count as missing.
    pub odd: usize,
    /// Some of those.
    pub examples: Vec<String>,
    /// What may be wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// One rule: when it holds, what the column is then, and why.
struct Rule {
    reason: &'static str,
    kind: fn(&Facts<'_>) -> Option<ColumnKind>,
}

/// What rules look at.
struct Facts<'a> {
    name: &'a str,
    survey: &'a Survey,
}

const RULES: &[Rule] = &[
    Rule { reason: "it has no name", kind: |facts| ignore(facts.name.is_empty()) },
    Rule { reason: "all cells are empty", kind: |facts| ignore(facts.survey.told() == 0) },
    Rule { reason: "all rows say the same", kind: |facts| ignore(facts.survey.is_constant()) },
    Rule {
        reason: "its name says that it tells node types",
        kind: |facts| is(facts.is_called(&["nodetype"]), ColumnKind::Type {}),
    },
    Rule { reason: "phone numbers say nothing by their parts", kind: |facts| ignore(facts.are_phone_numbers()) },
    Rule {
        reason: "postal codes, used by their first characters",
        kind: |facts| is(facts.are_postal_codes(), ColumnKind::by_part(CellPart::Starts)),
    },
    Rule { reason: "numbers that name rows: nearly every row has its own", kind: |facts| ignore(facts.are_own_keys()) },
    Rule { reason: "whole numbers that name something", kind: |facts| is(facts.are_keys(), ColumnKind::categorical()) },
    Rule { reason: "nearly all cells are numbers", kind: |facts| facts.numeric() },
    Rule {
        reason: "nearly all cells are yes or no",
        kind: |facts| is(facts.survey.are_booleans(), ColumnKind::Boolean {}),
    },
    Rule { reason: "nearly all cells are dates", kind: |facts| facts.date_time() },
    Rule { reason: "nearly all cells are lists of as many numbers", kind: |facts| facts.vector() },
    Rule { reason: "cells are lists", kind: |facts| is(facts.survey.are_lists(), ColumnKind::multi_valued()) },
    Rule {
        reason: "cells are lists of short values that repeat",
        kind: |facts| facts.survey.separator().map(ColumnKind::separated_by),
    },
    Rule { reason: "e-mail addresses, used by their domains", kind: |facts| facts.email() },
    Rule {
        reason: "e-mail addresses, nearly each with a domain of its own",
        kind: |facts| ignore(facts.survey.are_emails() && facts.survey.is_nearly_unique()),
    },
    Rule {
        reason: "hashes or random keys: nearly every row has its own",
        kind: |facts| ignore(facts.survey.are_hex() && facts.survey.is_nearly_unique()),
    },
    Rule {
        reason: "cells have several words",
        kind: |facts| is(facts.survey.words_of_a_cell() >= WORDS_OF_A_TEXT, ColumnKind::text()),
    },
    Rule {
        reason: "cells are made of a few words that come again and again",
        kind: |facts| is(facts.survey.are_made_of_few_words(), ColumnKind::text()),
    },
    Rule { reason: "nearly all cells differ and have words", kind: |facts| is(facts.are_titles(), ColumnKind::text()) },
    Rule {
        reason: "web addresses, used by their words",
        kind: |facts| is(facts.survey.are_urls() && facts.are_names(), ColumnKind::text()),
    },
    Rule { reason: "names that share words, used by these", kind: |facts| is(facts.are_names(), ColumnKind::text()) },
    Rule {
        reason: "nearly every row has its own, without words in common",
        kind: |facts| ignore(facts.survey.is_nearly_unique()),
    },
    Rule { reason: "values repeat", kind: |_| Some(ColumnKind::categorical()) },
];

fn is(holds: bool, kind: ColumnKind) -> Option<ColumnKind> {
    holds.then_some(kind)
}

fn ignore(holds: bool) -> Option<ColumnKind> {
    is(holds, ColumnKind::Ignore {})
}

impl Facts<'_> {
    /// Whether the column's name is one of these words, whatever stands between their parts.
    fn is_called(&self, words: &[&str]) -> bool {
        let name: String = self.name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        words.iter().any(|word| name == *word)
    }

    fn are_phone_numbers(&self) -> bool {
        let named = ["phone", "phonenumber", "telephone", "tel", "fax", "mobile", "mobilenumber", "telefon", "mobil"];
        self.is_called(&named) && self.survey.is_mostly_different()
    }

    fn are_postal_codes(&self) -> bool {
        let named = ["zip", "zipcode", "postcode", "postalcode", "plz", "codepostal", "pincode"];
        let short = self.survey.words_of_a_cell() < 3.0;
        self.is_called(&named) && short || self.survey.code_width().is_some_and(|width| (4..=6).contains(&width))
    }

    /// Whether the name ends in a word such as `id`: `user_id`, `userId`, `id`.
    fn is_key(&self) -> bool {
        let ends = ["_id", " id", "-id", ".id", "_key", "_no", "_nr"]
            .iter()
            .any(|end| self.name.to_lowercase().ends_with(end));
        let camel = self.name.ends_with("Id") || self.name.ends_with("ID");
        ends || camel || self.is_called(&["id", "key", "isbn", "ean", "gtin", "doi"])
    }

    fn are_own_keys(&self) -> bool {
        let is_code = self.is_key() && self.survey.are_whole() || self.survey.code_width().is_some();
        is_code && self.survey.is_mostly_different()
    }

    fn are_keys(&self) -> bool {
        self.is_key() && self.survey.are_whole() || self.survey.code_width().is_some()
    }

    fn numeric(&self) -> Option<ColumnKind> {
        let numbers = &self.survey.numbers;
        let decimal = if numbers.with_comma > numbers.with_point { Decimal::Comma } else { Decimal::Point };
        is(self.survey.nearly_all(numbers.cells), ColumnKind::Numeric { scale: Scale::Standard, decimal })
    }

    fn date_time(&self) -> Option<ColumnKind> {
        let dates = &self.survey.dates;
        let order = if dates.day_first > dates.month_first { DateOrder::DayFirst } else { DateOrder::MonthFirst };
        is(self.survey.nearly_all(dates.cells), ColumnKind::DateTime { order })
    }

    fn vector(&self) -> Option<ColumnKind> {
        self.survey.vector_size().map(|size| ColumnKind::Vector { size: Some(size) })
    }

    fn email(&self) -> Option<ColumnKind> {
        let holds = self.survey.are_emails() && self.survey.domains_repeat();
        is(holds, ColumnKind::by_part(CellPart::Domain))
    }

    fn are_titles(&self) -> bool {
        let (words, survey) = (self.survey.words_of_a_cell(), self.survey);
        survey.is_nearly_unique() && words >= WORDS_OF_A_TITLE.0 && !survey.are_urls()
            || survey.is_mostly_different() && words >= WORDS_OF_A_TITLE.1 && survey.told() >= 5
    }

    fn are_names(&self) -> bool {
        self.survey.is_nearly_unique() && self.survey.names_share_words()
    }

    /// What users should look at.
    fn doubt(&self, kind: &ColumnKind) -> Option<String> {
        let Survey { numbers, dates, .. } = self.survey;
        let share = |cells: usize| format!("{:.0} %", 100.0 * cells as f64 / self.survey.told() as f64);
        let mostly = |cells: usize, what: &str, kind: &str| {
            let share = share(cells);
            format!(
                "{share} of the cells are {what}, too few to be sure; `kind = \"{kind}\"` reads the others as missing"
            )
        };
        match kind {
            ColumnKind::DateTime { .. } if dates.month_first > 0 && dates.day_first > 0 => Some(format!(
                "{} dates have the month first and {} the day; those that may be either are read as most of these",
                dates.month_first, dates.day_first
            )),
            ColumnKind::DateTime { .. } if dates.either > 0 && dates.month_first + dates.day_first == 0 => Some(
                "no date shows whether day or month comes first; they are read month first, `order = \"day-first\"` changes it"
                    .to_owned(),
            ),
            ColumnKind::Categorical { part: CellPart::Whole, .. } | ColumnKind::Text { .. } | ColumnKind::Ignore {} => {
                if self.are_keys() || self.survey.is_constant() || self.survey.told() == 0 {
                    None
                } else if self.survey.most(numbers.cells) {
                    Some(mostly(numbers.cells, "numbers", "numeric"))
                } else if self.survey.most(dates.cells) {
                    Some(mostly(dates.cells, "dates", "date-time"))
                } else {
                    None
                }
            }
            _ => None,
        }
    }
}

/// What a column is, and why.
fn decide(name: &str, survey: &Survey) -> (ColumnKind, &'static str) {
    let facts = Facts { name, survey };
    let found = RULES.iter().find_map(|rule| (rule.kind)(&facts).map(|kind| (kind, rule.reason)));
    found.expect("the last rule always holds")
}

impl Surveys {
    /// What all columns are, in their order: as users say, or by the rules. The names of nodes are a column only where they have words.
    pub fn findings(&self, header: &[String], id: usize, given: &Columns) -> Vec<(usize, ColumnKind, Finding)> {
        let is_used = |place: &usize| match given.columns.get(&header[*place]) {
            Some(kind) => *place != id || *kind != ColumnKind::Ignore {},
            None => *place != id || self.0[id].are_names_of_words(),
        };
        let type_is_given = given.columns.values().any(|kind| *kind == ColumnKind::Type {});
        let find = |place: usize| {
            let (name, survey) = (&header[place], &self.0[place]);
            let (kind, reason) = match given.columns.get(name) {
                Some(kind) => (kind.clone().of_today(), "as you set it".to_owned()),
                None if place == id => {
                    (ColumnKind::text(), "names of nodes that share words, used by these".to_owned())
                }
                None => match (self.repeated(place, header, given), decide(name, survey)) {
                    (Some(other), (_, _)) => (ColumnKind::Ignore {}, format!("it repeats column `{other}`")),
                    // Users have said which column tells node types.
                    (None, (ColumnKind::Type {}, _)) if type_is_given => {
                        (ColumnKind::categorical(), "another column tells node types".to_owned())
                    }
                    (None, (kind, reason)) => (kind, reason.to_owned()),
                },
            };
            let is_found = !given.columns.contains_key(name) && !reason.starts_with("it repeats");
            let doubt = is_found.then(|| Facts { name, survey }.doubt(&kind)).flatten();
            let names_others = is_found && place != id && self.names_others(place, id, &kind);
            let reason = match (names_others, &kind) {
                (true, ColumnKind::Ignore {}) => "its cells name other nodes, as links do".to_owned(),
                _ => reason,
            };
            let doubt = if names_others { Some(as_links(&header[id], name)) } else { doubt };
            let samples = survey.samples.clone();
            (place, kind, Finding { column: name.clone(), reason, samples, doubt, ..Finding::default() })
        };
        (0..header.len()).filter(is_used).map(find).collect()
    }

    /// Whether a column's cells are names of other nodes, so that they are links rather than values.
    fn names_others(&self, place: usize, id: usize, kind: &ColumnKind) -> bool {
        let may_name = matches!(kind, ColumnKind::Ignore {} | ColumnKind::Categorical { .. } | ColumnKind::Text { .. });
        may_name && self.0[place].names_rows_of(&self.0[id])
    }

    /// A column before this one with the same cells, that something is made of or that names nodes.
    fn repeated<'a>(&self, place: usize, header: &'a [String], given: &Columns) -> Option<&'a str> {
        let is_ignored = |other: &usize| given.columns.get(&header[*other]) == Some(&ColumnKind::Ignore {});
        let survey = &self.0[place];
        let is_same = |other: &usize| !is_ignored(other) && survey.is_same_as(&self.0[*other]);
        let found = (0..place).find(is_same).filter(|_| !survey.is_constant());
        found.map(|other| header[other].as_str())
    }
}

/// How a column that names other nodes becomes links.
fn as_links(id: &str, name: &str) -> String {
    let (id, name) = (quoted(id), quoted(name));
    format!(
        "its cells name other nodes; to use them as links, write a row for each into the edge table: `source` from `{id}`, `target` from \
         `{name}`, and `{name}` in a column `relation`, if there are other links"
    )
}

impl Finding {
    /// Adds what could not be read while the table was encoded.
    pub(crate) fn note_odd(findings: &mut [Finding], odd: &[OddCells]) {
        for finding in findings {
            if let Some(found) = odd.iter().find(|found| found.column == finding.column) {
                finding.odd = found.cells;
                finding.examples.clone_from(&found.examples);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{Cell, Separator};

    fn survey<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> Survey {
        let mut survey = Survey::default();
        cells.into_iter().for_each(|cell| survey.look(Cell::Text(cell.as_ref())));
        survey
    }

    fn kind<T: AsRef<str>>(name: &str, cells: impl IntoIterator<Item = T>) -> ColumnKind {
        decide(name, &survey(cells)).0
    }

    /// A column of 200 cells, and its kind.
    fn check(name: &str, cell: impl Fn(usize) -> String, expected: ColumnKind) {
        assert_eq!(kind(name, (0..200).map(cell)), expected, "{name}");
    }

    /// The same, with two odd cells.
    fn check_dirty(name: &str, cell: impl Fn(usize) -> String, odd: [&str; 2], expected: ColumnKind) {
        let dirty = |row: usize| if row % 150 == 7 { odd[row / 150].to_owned() } else { cell(row) };
        check(name, &cell, expected.clone());
        check(name, dirty, expected);
    }

    /// Digits in no order.
    fn mixed(row: usize) -> u64 {
        (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    const WORDS: [&str; 8] = ["graph", "link", "node", "edge", "soup", "bread", "salt", "oven"];

    fn word(row: usize, place: u32) -> &'static str {
        WORDS[(mixed(row) >> (3 * place + 40)) as usize % 8]
    }

    #[test]
    fn numbers_are_what_nearly_all_cells_are() {
        let comma = ColumnKind::Numeric { scale: Scale::Standard, decimal: Decimal::Comma };
        check_dirty("price", |row| format!("{}.99", row * 7), ["12,50", "on request"], ColumnKind::numeric());
        check_dirty("year", |row| format!("{}", 1950 + row % 70), ["unclear", "soon"], ColumnKind::numeric());
        check_dirty("preis", |row| format!("{}.{:03},50 €", row % 9 + 1, row), ["frei", "12.50"], comma);
        check_dirty("share", |row| format!("{}.5 %", row % 100), ["half", "a lot"], ColumnKind::numeric());
        check_dirty("cost", |row| format!("${},{:03}", row % 9 + 1, row), ["free", "ask"], ColumnKind::numeric());
        check("flag", |row| format!("{}", row % 2), ColumnKind::numeric());
    }

    #[test]
    fn cells_of_a_few_words_that_come_again_are_texts() {
        let genres = ["Comedy", "Drama", "Crime", "Action", "Romance", "Thriller", "Horror", "Western", "Musical"];
        let cell = |row: usize| {
            let chosen = (0..9).filter(|place| mixed(row * 7) >> (place + 30) & 3 == 0 || *place == row % 9);
            chosen.map(|place| genres[place]).collect::<Vec<_>>().join(" ")
        };
        check("class", cell, ColumnKind::text());
        let cities = |row: usize| format!("New Town{} West", (b'a' + (row % 26) as u8) as char);
        check("city", cities, ColumnKind::categorical());
    }

    #[test]
    fn flags_dates_and_vectors_are_what_nearly_all_cells_are() {
        let vector = ColumnKind::Vector { size: Some(3) };
        let date = |order| ColumnKind::DateTime { order };
        let day = |row: usize| (row % 28 + 1, row % 12 + 1, 1990 + row % 30);
        check_dirty("active", |row| ["Y", "N"][row % 2].to_owned(), ["x", "maybe"], ColumnKind::Boolean {});
        let iso = |row| format!("{2}-{1:02}-{0:02}", day(row).0, day(row).1, day(row).2);
        check_dirty("made", iso, ["2024-13-45", "yesterday"], date(DateOrder::MonthFirst));
        let slashed = |row| format!("{}/{}/{}", day(row).0, day(row).1, day(row).2);
        check_dirty("made", slashed, ["2024-05-01", "1.2.1999"], date(DateOrder::DayFirst));
        let american = |row| format!("{1:02}/{0:02}/{2}", day(row).0, day(row).1, day(row).2);
        check_dirty("made", american, ["2024-05-01", "?"], date(DateOrder::MonthFirst));
        check_dirty("look", |row| format!("[0.{row}, 1, {row}]"), ["[0.5]", "none yet"], vector);
    }

    #[test]
    fn lists_have_short_values_that_repeat() {
        let several = |separator| ColumnKind::separated_by(separator);
        let tags = |row, between| [word(row, 0), word(row, 1), word(row, 2)].join(between);
        check("tags", |row| tags(row, "|"), several(Separator::Bar));
        check("tags", |row| tags(row, ", "), several(Separator::Comma));
        check("tags", |row| tags(row, "; "), several(Separator::Semicolon));
        check("tags", |row| format!("[\"{}\", \"own {row}\"]", word(row, 0)), ColumnKind::multi_valued());
        check("synonyms", |row| format!("{row}x|{} {row}|only {row}", word(row, 0)), ColumnKind::text());
        assert_eq!(kind("tags", ["a|b", "c"]), ColumnKind::multi_valued());
        assert_eq!(kind("tags", ["[1, 2]", "[3]", "[1]"]), ColumnKind::multi_valued());
    }

    #[test]
    fn a_text_with_a_stray_bar_is_a_text() {
        let text =
            |row| format!("{} {}, {}; and {} number {row}", word(row, 0), word(row, 1), word(row, 2), word(row, 3));
        check_dirty("description", text, ["this | that: some words more", "[sic] and so on"], ColumnKind::text());
        check_dirty("title", |row| format!("{} {row}", word(row, 0)), ["a|b", "none"], ColumnKind::text());
    }

    #[test]
    fn keys_are_used_by_their_parts_or_left_out() {
        let ignored = || ColumnKind::Ignore {};
        let starts = || ColumnKind::by_part(CellPart::Starts);
        check("user_id", |row| format!("{row}"), ignored());
        check("userId", |row| format!("{}", row % 20), ColumnKind::categorical());
        check("code", |row| format!("user-{row:04}"), ignored());
        check("uuid", |row| format!("{:016x}-{:04x}", mixed(row), row), ignored());
        check("sha", |row| format!("{:016x}{:016x}", mixed(row), mixed(row + 500)), ignored());
        check("zip", |row| format!("{:05}", mixed(row) % 100_000), starts());
        check("where", |row| format!("{:05}", mixed(row) % 100_000), starts());
        check("postcode", |row| format!("SW{} {}AA", row % 20, row % 9), starts());
        check("phone", |row| format!("{}", 5_550_000 + row), ignored());
        check("contact", |row| format!("+49 30 {}", mixed(row) % 10_000_000), ignored());
        check("version", |row| format!("{}.{}.{row}", row % 3, row % 7), ignored());
        let mail = |row| format!("{}{row}@{}.org", word(row, 0), word(row, 1));
        check_dirty("mail", mail, ["none given", "n/a"], ColumnKind::by_part(CellPart::Domain));
        check("mail", |row| format!("me@x{row}.org"), ignored());
        check("url", |row| format!("https://{}.org/{}/{row}", word(row, 0), word(row, 1)), ColumnKind::text());
        check("package", |row| format!("lib{}5-{}-{row}", word(row, 0), word(row, 1)), ColumnKind::text());
        check("class", |row| format!("{}Node{row}", word(row, 0)), ColumnKind::text());
    }

    #[test]
    fn categories_repeat_and_what_says_nothing_is_left_out() {
        let ignored = || ColumnKind::Ignore {};
        check("size", |row| ["S", "M", "XL"][row % 3].to_owned(), ColumnKind::categorical());
        check("city", |row| ["New York", "Bonn"][row % 2].to_owned(), ColumnKind::categorical());
        check("same", |_| "all rows alike".to_owned(), ignored());
        check("nothing", |_| String::new(), ignored());
        check("nothing", |row| ["", "NaN"][row % 2].to_owned(), ignored());
        check("", |row| format!("{}", row % 5), ignored());
        check("node_type", |row| ["user", "item"][row % 2].to_owned(), ColumnKind::Type {});
        assert_eq!(kind("x", [] as [&str; 0]), ignored());
    }

    #[test]
    fn small_tables_may_have_an_odd_cell_from_nine_rows_on() {
        let numbers = |rows: usize| (1..rows).map(|row| row.to_string()).chain(["12A".to_owned()]);
        assert_eq!(kind("x", numbers(3)), ColumnKind::categorical());
        assert_eq!(kind("x", numbers(10)), ColumnKind::numeric());
        assert_eq!(kind("x", (0..8).map(|row| format!("the tale {row}"))), ColumnKind::text());
    }

    #[test]
    fn what_is_not_sure_is_told() {
        let doubt = |cells: &[&str]| {
            let survey = survey(cells.iter().cycle().take(200));
            Facts { name: "x", survey: &survey }.doubt(&decide("x", &survey).0)
        };
        assert!(
            doubt(&["1", "2", "3", "4", "5", "6", "7", "8", "9", "low"])
                .unwrap()
                .starts_with("90 % of the cells are numbers")
        );
        assert!(doubt(&["05/04/2024", "06/07/2024"]).unwrap().starts_with("no date shows whether"));
        assert!(doubt(&["25/04/2024", "06/27/2024"]).unwrap().starts_with("100 dates have the month first"));
        assert_eq!(doubt(&["1", "2"]), None);
        assert_eq!(doubt(&["a", "b"]), None);
    }

    #[test]
    fn a_column_that_repeats_another_is_left_out() {
        let header = ["id", "a", "b", "c"].map(str::to_owned);
        let mut surveys = Surveys::of(4);
        for row in 0..60 {
            let cells = [format!("n{row}"), (row % 4).to_string(), (row % 4).to_string(), format!("n{row}")];
            surveys.look(&cells.map(serde_json::Value::from).to_vec());
        }
        let reasons = |given: &Columns| surveys.findings(&header, 0, given).into_iter().map(|found| found.2.reason);
        let found: Vec<String> = reasons(&Columns::default()).collect();
        assert_eq!(found, ["nearly all cells are numbers", "it repeats column `a`", "it repeats column `id`"]);
        let given = Columns::parse("[columns]\na.kind = \"ignore\"\n").unwrap();
        let found: Vec<String> = reasons(&given).collect();
        assert_eq!(found[..2], ["as you set it", "nearly all cells are numbers"]);
    }

    #[test]
    fn a_column_that_names_other_nodes_is_said_to_be_links() {
        let doubt = |id: fn(usize) -> String, parent: fn(usize) -> String| {
            let header = ["key", "x", "parent_id"].map(str::to_owned);
            let mut surveys = Surveys::of(3);
            for row in 0..200 {
                let cells = [id(row), format!("{}.5", row % 7), parent(row)];
                surveys.look(&cells.map(serde_json::Value::from).to_vec());
            }
            surveys.findings(&header, 0, &Columns::default()).pop().unwrap().2.doubt
        };
        let employee = |row: usize| format!("e{row}");
        let said = doubt(employee, |row| format!("e{}", row / 10)).unwrap();
        assert!(said.starts_with("its cells name other nodes") && said.contains("`source` from `key`"), "{said}");
        assert!(doubt(employee, |row| if row == 0 { String::new() } else { format!("e{}", row - 1) }).is_some());
        assert!(doubt(|row| row.to_string(), |row| (row * 7 % 200).to_string()).is_some(), "whole numbers");
        assert_eq!(doubt(employee, |row| format!("e{}", row + 1_000)), None);
        assert_eq!(doubt(employee, |_| "e7".to_owned()), None);
        assert_eq!(doubt(|row| row.to_string(), |row| (row % 5).to_string()), None, "a few numbers are values");
    }

    #[test]
    fn names_of_nodes_are_a_text_where_they_share_words() {
        let check = |name: fn(usize) -> String, given: &str, expected: Option<ColumnKind>| {
            let header = ["id".to_owned()];
            let mut surveys = Surveys::of(1);
            (0..200).for_each(|row| surveys.look(&vec![serde_json::Value::from(name(row))]));
            let found = surveys.findings(&header, 0, &Columns::parse(given).unwrap());
            assert_eq!(found.first().map(|found| found.1.clone()), expected, "{}", name(7));
        };
        let package = |row: usize| format!("lib{}-{}{row}", word(row, 0), word(row, 1));
        check(package, "", Some(ColumnKind::text()));
        check(package, "[columns]\nid.kind = \"ignore\"\n", None);
        check(|row| format!("{} {}", word(row, 0), word(row, 1)), "", Some(ColumnKind::text()));
        check(|row| format!("user_{row}"), "", None);
        check(|row| format!("{:032x}", u128::from(mixed(row)) << 64 | u128::from(mixed(row + 1))), "", None);
        check(|row| format!("{row}"), "[columns]\nid.kind = \"text\"\n", Some(ColumnKind::text()));
    }
}
