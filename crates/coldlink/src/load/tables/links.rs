//! Rows of links: their ends, what they mean, and what they carry.

use super::ends::{Ends, LinkColumn};
use super::rows::Rows;
use crate::columns::{Cell, Cells, DateOrder, EdgeColumns};
use crate::graph::UNKNOWN_TIME;
use crate::load::error::{LineProblem, LoadError, TableProblem};
use crate::load::{GivenLinks, LoadOptions, UnknownNodes};

/// Headers of the two columns that make a link; other tables have it in their first two.
const ENDS: [(&str, &str); 4] = [("source", "target"), ("from", "to"), ("src", "dst"), ("src", "dest")];

/// Headers of a column that says what links mean.
const RELATIONS: [&str; 7] = ["relation", "rel", "relation_type", "edge_type", "link_type", "predicate", "rel_type"];

/// The most relations that a table may have.
const MOST_RELATIONS: usize = 32;

/// Headers of a column of weights. A rating or a value is none of them: a low one may speak against the link.
const WEIGHTS: [&str; 10] =
    ["weight", "weights", "w", "edge_weight", "link_weight", "strength", "count", "counts", "frequency", "freq"];

/// Headers of a column of times.
const TIMES: [&str; 9] =
    ["time", "timestamp", "date", "datetime", "created_at", "created", "edge_time", "link_time", "year"];

/// What an edge table says.
#[derive(Default)]
pub(super) struct Links {
    pub given: GivenLinks,
    pub unknown_ends: usize,
    /// Columns that nothing is made of.
    pub unused: Vec<String>,
}

impl Links {
    pub fn read(mut rows: Rows<'_>, nodes: &Ends<'_>, options: &LoadOptions) -> Result<Self, LoadError> {
        let said = options.columns.edges.clone().unwrap_or_default();
        let columns = LinkColumns::find(&rows, &said)?;
        if said.source.is_none() && said.target.is_none() {
            columns.check_header(&rows, nodes)?;
        }
        let unused = columns.unused(rows.header(), &said);
        let (mut links, mut times) = (Links { unused, ..Links::default() }, Times::default());
        while let Some((line, row)) = rows.next()? {
            let added = links.add(&columns, row, nodes, (&mut times, options.unknown_nodes));
            added.map_err(|problem| rows.line_problem(line, problem))?;
        }
        links.given.times = times.in_order();
        Ok(links)
    }

    fn add(
        &mut self,
        columns: &LinkColumns,
        row: &dyn Cells,
        nodes: &Ends<'_>,
        (times, unknown_nodes): (&mut Times, UnknownNodes),
    ) -> Result<(), LineProblem> {
        let weight = columns.weight.as_ref().map(|column| column.weight(row)).transpose()?;
        let time = columns.time.as_ref().map(|column| Time::of(row, column)).transpose()?;
        match (nodes.find(row, &columns.source), nodes.find(row, &columns.target)) {
            (Ok(source), Ok(target)) if weight != Some(0.0) => {
                self.given.pairs.push((source, target));
                self.given.weights.extend(weight);
                time.into_iter().for_each(|time| times.add(time));
                if let Some(column) = &columns.relation {
                    let relation = self.relation(&row.cell(column.index).to_text(), &column.name)?;
                    self.given.relation_of.push(relation);
                }
            }
            (Ok(_), Ok(_)) => {}
            _ if unknown_nodes == UnknownNodes::Drop => self.unknown_ends += 1,
            (Err(problem), _) | (_, Err(problem)) => return Err(problem),
        }
        Ok(())
    }

    /// The number of a relation, a new one where it is the first of its name.
    fn relation(&mut self, name: &str, column: &str) -> Result<u8, LineProblem> {
        let relations = &mut self.given.relations;
        let known = relations.iter().position(|known| known == name);
        if known.is_none() {
            if relations.len() == MOST_RELATIONS {
                return Err(LineProblem::TooManyRelations { column: column.to_owned(), most: MOST_RELATIONS });
            }
            relations.push(name.to_owned());
        }
        Ok(known.unwrap_or(relations.len() - 1) as u8)
    }
}

/// Where an edge table has what.
pub(super) struct LinkColumns {
    pub source: LinkColumn,
    pub target: LinkColumn,
    weight: Option<LinkColumn>,
    time: Option<LinkColumn>,
    relation: Option<LinkColumn>,
}

impl LinkColumns {
    /// Columns are those that are said, and others those that are called so.
    pub fn find(rows: &Rows<'_>, said: &EdgeColumns) -> Result<Self, LoadError> {
        let header = rows.header();
        if header.len() < 2 {
            return Err(rows.problem(TableProblem::TooFewColumns { columns: header.len() }));
        }
        let [source, target] = ends(rows, said)?;
        let of = |said: &Option<String>| said_column(rows, said.as_deref());
        let more = [of(&said.weight)?, of(&said.time)?, of(&said.relation)?];
        let taken: Vec<usize> = more.iter().flatten().flatten().copied().chain([source, target]).collect();
        let found = |names: &[&str]| {
            let mut places = names.iter().filter_map(|name| place_of(header, name));
            places.find(|place| !taken.contains(place))
        };
        let column = |index: usize| LinkColumn { index, name: header[index].clone() };
        let optional = |said: Option<Option<usize>>, names: &[&str]| said.unwrap_or_else(|| found(names)).map(column);
        let [weight, time, relation] = more;
        Ok(LinkColumns {
            source: column(source),
            target: column(target),
            weight: optional(weight, &WEIGHTS),
            time: optional(time, &TIMES),
            relation: optional(relation, &RELATIONS),
        })
    }

    /// The names of all other columns, but for those that users have said to leave out.
    fn unused(&self, header: &[String], said: &EdgeColumns) -> Vec<String> {
        let left_out = [(&said.weight, &WEIGHTS[..]), (&said.time, &TIMES), (&said.relation, &RELATIONS)];
        let left_out: Vec<&str> = left_out
            .into_iter()
            .filter(|(said, _)| said.as_deref() == Some(""))
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        let optional = [&self.weight, &self.time, &self.relation].into_iter().flatten();
        let used: Vec<usize> = optional.chain([&self.source, &self.target]).map(|column| column.index).collect();
        let is_said = |name: &str| left_out.iter().any(|known| known.eq_ignore_ascii_case(name));
        let is_other = |(place, name): &(usize, &String)| !used.contains(place) && !name.is_empty() && !is_said(name);
        header.iter().enumerate().filter(is_other).map(|(_, name)| name.clone()).collect()
    }

    /// Whether the first line is a header: it is none where it names nodes.
    fn check_header(&self, rows: &Rows<'_>, nodes: &Ends<'_>) -> Result<(), LoadError> {
        let names_a_node = |column: &LinkColumn| nodes.numbers.contains_key(column.name.as_str());
        if names_a_node(&self.source) && names_a_node(&self.target) {
            return Err(rows.problem(TableProblem::NoHeader { cell: self.source.name.clone() }));
        }
        Ok(())
    }
}

/// The columns of both ends.
fn ends(rows: &Rows<'_>, said: &EdgeColumns) -> Result<[usize; 2], LoadError> {
    let header = rows.header();
    let pair = ENDS.iter().find_map(|(source, target)| place_of(header, source).zip(place_of(header, target)));
    let (source, target) = pair.unwrap_or((0, 1));
    let find = |said: &Option<String>| said.as_deref().map(|name| find_column(rows, name)).transpose();
    Ok([find(&said.source)?.unwrap_or(source), find(&said.target)?.unwrap_or(target)])
}

fn place_of(header: &[String], name: &str) -> Option<usize> {
    header.iter().position(|column| column.eq_ignore_ascii_case(name))
}

/// A column that may be said: none where nothing is said, and nothing where an empty name says that there is none.
fn said_column(rows: &Rows<'_>, said: Option<&str>) -> Result<Option<Option<usize>>, LoadError> {
    match said {
        None => Ok(None),
        Some("") => Ok(Some(None)),
        Some(name) => find_column(rows, name).map(|place| Some(Some(place))),
    }
}

fn find_column(rows: &Rows<'_>, name: &str) -> Result<usize, LoadError> {
    let known = || TableProblem::NoEdgeColumn { column: name.to_owned(), known: rows.header().to_vec() };
    rows.header().iter().position(|column| column == name).ok_or_else(|| rows.problem(known()))
}

impl LinkColumn {
    /// A weight that is not given is 1.
    fn weight(&self, row: &dyn Cells) -> Result<f32, LineProblem> {
        let cell = row.cell(self.index);
        let named = |text: &str| (self.name.clone(), text.to_owned());
        if matches!(cell, Cell::Number(number) if number.is_nan()) {
            return Err(LineProblem::not_finite(named("NaN")));
        }
        let cell = cell.tidy();
        if cell.is_missing() {
            return Ok(1.0);
        }
        let text = cell.to_text();
        let weight = match cell.plain_number() {
            Some(number) => number,
            None if text.parse::<f64>().is_ok() => return Err(LineProblem::not_finite(named(&text))),
            None => return Err(LineProblem::not_a_number(named(&text))),
        };
        match weight as f32 {
            _ if weight < 0.0 => Err(LineProblem::negative_weight(named(&text))),
            narrow if narrow.is_infinite() => Err(LineProblem::not_finite(named(&text))),
            // One that is too small for 32 bits is a link still.
            narrow if weight > 0.0 => Ok(narrow.max(f32::MIN_POSITIVE)),
            _ => Ok(0.0),
        }
    }
}

/// When a link appeared, as far as its cell tells.
struct Time {
    /// With the month first and with the day first, where a date can be read in both ways.
    either: [f64; 2],
    /// Whether the cell shows that days come first, or that months do.
    day_first: Option<bool>,
}

impl Time {
    fn of(row: &dyn Cells, column: &LinkColumn) -> Result<Self, LineProblem> {
        let cell = row.cell(column.index).tidy();
        if cell.is_missing() || cell.is_missing_word() {
            return Ok(Time { either: [UNKNOWN_TIME; 2], day_first: None });
        }
        let read = [DateOrder::MonthFirst, DateOrder::DayFirst].map(|order| cell.time(order));
        match read {
            [Some(month_first), Some(day_first)] => {
                Ok(Time { either: [month_first, day_first], day_first: cell.shows_day_first() })
            }
            _ => Err(LineProblem::NotATime { column: column.name.clone(), cell: cell.to_text().into_owned() }),
        }
    }
}

/// The times of all links. Whether days or months come first is seen from all dates of the column.
#[derive(Default)]
struct Times {
    month_first: Vec<f64>,
    /// Where the same cells mean another day with the day first.
    day_first: Vec<(usize, f64)>,
    shown: [bool; 2],
}

impl Times {
    fn add(&mut self, time: Time) {
        let [month_first, day_first] = time.either;
        if month_first != day_first {
            self.day_first.push((self.month_first.len(), day_first));
        }
        self.month_first.push(month_first);
        if let Some(day_first) = time.day_first {
            self.shown[usize::from(day_first)] = true;
        }
    }

    fn in_order(mut self) -> Vec<f64> {
        if self.shown == [false, true] {
            self.day_first.iter().for_each(|&(place, time)| self.month_first[place] = time);
        }
        self.month_first
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::{Graph, UNKNOWN_TIME};
    use crate::load::{LoadError, LoadOptions, load_in_memory, load_json_lines};
    use crate::{Dataset, load::Objects};

    const NODES: &str =
        "{\"id\":\"a\",\"x\":1}\n{\"id\":\"b\",\"x\":2}\n{\"id\":\"c\",\"x\":3}\n{\"id\":\"d\",\"x\":4}\n";

    /// A graph of links as CSV, in a file.
    fn load(edges: &str, columns: &str) -> Result<Dataset, LoadError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("nodes.jsonl"), NODES).unwrap();
        std::fs::write(folder.path().join("edges.csv"), edges).unwrap();
        let columns = toml::from_str(columns).unwrap();
        crate::load::load(folder.path(), &LoadOptions { columns, ..LoadOptions::default() })
    }

    fn graph(edges: &str, columns: &str) -> Graph {
        load(edges, columns).unwrap().graph
    }

    /// What the links a-b and b-c carry.
    fn two<T: Copy>(graph: &Graph, values: Option<&[T]>) -> [T; 2] {
        let values = values.unwrap();
        [(0, 1), (1, 2)].map(|(a, b)| values[graph.entry(a, b).unwrap()])
    }

    fn weights(edges: &str, columns: &str) -> [f32; 2] {
        let graph = graph(edges, columns);
        two(&graph, graph.weights())
    }

    fn times(edges: &str, columns: &str) -> [f64; 2] {
        let graph = graph(edges, columns);
        two(&graph, graph.times())
    }

    #[test]
    fn weights_are_in_a_column_that_is_called_so_or_in_the_one_that_is_said() {
        assert_eq!(weights("source,target,weight\na,b,2\nb,c,0.5\n", ""), [2.0, 0.5]);
        assert_eq!(weights("source,target,Count\na,b,2\nb,c,\na,b,4\n", ""), [6.0, 1.0], "rows of one link add up");
        assert_eq!(weights("source,target,n,weight\na,b,2,9\nb,c,5,1\n", "[edges]\nweight = \"n\"\n"), [2.0, 5.0]);
        let without = "[edges]\nweight = \"\"\n";
        assert!(graph("source,target,strength\na,b,strong\nb,c,weak\n", without).weights().is_none());
        assert!(graph("source,target,rating\na,b,2\nb,c,5\n", "").weights().is_none());
        assert_eq!(graph("source,target,w\na,b,3\nb,c,3\n", ""), graph("source,target\na,b\nb,c\n", ""));
        assert_eq!(weights("source,target,w\na,b,1e-60\nb,c,\"1,5\"\n", ""), [f32::MIN_POSITIVE, 1.5]);
    }

    #[test]
    fn times_are_numbers_or_dates() {
        assert_eq!(times("source,target,year\na,b,1999\nb,c,\n", ""), [1999.0, UNKNOWN_TIME]);
        assert_eq!(times("source,target,timestamp\na,b,1300000000\nb,c,n/a\n", ""), [1.3e9, UNKNOWN_TIME]);
        let [first, second] = times("source,target,date\na,b,2001-07-02\nb,c,2001-01-01 12:00\n", "");
        assert!((first - 2001.4986).abs() < 1e-3 && (second - 2001.0 - 0.5 / 365.0).abs() < 1e-9, "{first} {second}");
        let [first, second] =
            times("source,target,seen\na,b,05/04/2000\nb,c,25/04/2000\n", "[edges]\ntime = \"seen\"\n");
        assert!(first < 2000.3 && second > first, "days come first in the column: {first} {second}");
        let [first, _] = times("source,target,date\na,b,05/04/2000\nb,c,2000\n", "");
        assert!(first > 2000.33, "the month comes first: {first}");
        assert_eq!(times("source,target,date\na,b,2002\na,b,2001\nb,c,7\n", ""), [2001.0, 7.0], "the first counts");
        assert!(graph("source,target,date\na,b,soon\nb,c,later\n", "[edges]\ntime = \"\"\n").times().is_none());
    }

    #[test]
    fn what_links_carry_may_come_from_memory() {
        let edges = "{\"source\":\"a\",\"target\":\"b\",\"weight\":2,\"time\":\"2001\"}\n{\"source\":\"b\",\"target\":\"c\",\"weight\":0.5}\n";
        let options = LoadOptions::default();
        let lines = load_json_lines(NODES.into(), edges.into(), &options).unwrap().graph;
        assert_eq!((two(&lines, lines.weights()), two(&lines, lines.times())), ([2.0, 0.5], [2001.0, UNKNOWN_TIME]));
        let objects =
            |text: &str| Objects::new(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()).unwrap();
        assert_eq!(load_in_memory(&objects(NODES), &objects(edges), &options).unwrap().graph, lines);
    }

    #[test]
    fn bad_weights_times_and_columns_are_refused_with_their_place() {
        let check = |edges: &str, columns: &str, expected: &str| {
            let error = load(edges, columns).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{error}");
            assert!(error.hint().is_some(), "{error}");
        };
        let row = |cell: &str| format!("source,target,weight\na,b,1\nb,c,{cell}\n");
        check(&row("-2"), "", "edges.csv` line 3: column `weight` holds weights, but `-2` is below 0");
        check(
            &row("NaN"),
            "",
            "edges.csv` line 3: column `weight` is numeric, but `NaN` is not a finite 32-bit number",
        );
        check(&row("1e40"), "", "line 3: column `weight` is numeric, but `1e40` is not a finite 32-bit number");
        check(&row("big"), "", "line 3: column `weight` is numeric, but `big` is not a number");
        let time = "source,target,time\na,b,2001-01-01\nb,c,soon\n";
        check(time, "", "edges.csv` line 3: column `time` holds times, but `soon` is neither a date nor a number");
        let columns = "edges.csv`: there is no column `size`, only `source`, `target`, `time`";
        check("source,target,time\na,b,1\n", "[edges]\nweight = \"size\"\n", columns);
        let relations = "edges.csv` has no relation `likes`, only `cites`, `knows`";
        let edges = "source,target,relation\na,b,cites\nb,c,knows\n";
        check(edges, "[relations.likes]\ndirected = true\n", relations);
        let none = "edges.csv` has no relation `likes`: its links have no relations";
        check("source,target\na,b\nb,c\n", "[relations.likes]\ndirected = true\n", none);
    }
}
