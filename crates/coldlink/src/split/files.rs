//! A split as a folder of ordinary CSV files, by the nodes' own names, so that any tool can use it.
//!
//! | file | columns | |
//! |---|---|---|
//! | `train.csv` | `source,target,stage` | links; those of stage `refit` are left out while settings are chosen |
//! | `validation.csv`, `test.csv` | `source,target,linked` | pairs, of which the source asks; `linked` is 1 or 0 |
//! | `hidden.csv` | `node,stage` | stage `test`: always hidden; `validation`: hidden while settings are chosen |
//! | `given.csv` | as `test.csv` | links that test nodes keep, where they do, in the order in which they are given |
//! | | `relation` | after `target` where links have relations or directions: which one; links of directed ones run from source to target |
//! | | `direction` | after `relation` in pairs: `out` where a link would run to the target, `in` where from it, empty where it has no direction |
//! | `split.toml` | | format and version, how it was made, the graph's fingerprint, and each file's checksum |

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::{Contents, Pair, Split, SplitError, Stage};
use crate::config::Validation;
use crate::dataset::Dataset;
use crate::graph::{Graph, NameIndex, Names, NodeId, Roles};
use crate::storage::{Written, is_partial, read_short};

const FORMAT: &str = "coldlink-split";
const VERSION: u32 = 1;
const MANIFEST: &str = "split.toml";
/// All files of a split.
const FILES: [&str; 6] = [MANIFEST, "train.csv", "validation.csv", "test.csv", "hidden.csv", GIVEN];
/// The one that only some splits have.
const GIVEN: &str = "given.csv";

/// The files of a split in a folder.
pub fn files_of(folder: &Path) -> Vec<PathBuf> {
    FILES.iter().map(|name| folder.join(name)).collect()
}

/// What `split.toml` says.
#[derive(Serialize, Deserialize)]
struct Manifest {
    format: String,
    version: u32,
    protocol: String,
    /// Whether the test pairs were chosen elsewhere.
    outside: bool,
    validation: Validation,
    /// Whether the final model is fitted on more than what was searched on.
    refit: bool,
    /// As text: TOML's integers end at 2^63.
    seed: String,
    /// The fingerprint of the full graph.
    graph: String,
    checksums: BTreeMap<String, String>,
}

impl Split {
    /// Writes the split as a folder, over a former one if there is one; `names` are those of the dataset.
    ///
    /// All files are written beside their places, then renamed, `split.toml` first: what an interruption leaves is recognised as a
    /// split, and its checksums tell that it is not whole.
    pub fn write(&self, folder: &Path, names: &Names) -> Result<(), SplitError> {
        let nodes = self.contents.full.nodes() / self.contents.roles.count();
        if names.len() != nodes {
            return Err(SplitError::NameCount { names: names.len(), nodes });
        }
        make_folder(folder)?;
        let tables = tables(&self.contents, names);
        let checksums = tables.iter().map(|(name, bytes)| ((*name).to_owned(), hex(xxh3_64(bytes)))).collect();
        let manifest = toml::to_string(&manifest(&self.contents, checksums))
            .map_err(|error| SplitError::Manifest { path: folder.join(MANIFEST), reason: error.to_string() })?;
        let manifest = [(MANIFEST, manifest.into_bytes())];
        let mut files = Vec::new();
        for (name, bytes) in manifest.iter().chain(&tables) {
            let path = folder.join(name);
            let written = Written::beside(&path, |file| file.write_all(bytes));
            files.push((written.map_err(|error| unwritable(&path, error))?, path));
        }
        files.into_iter().try_for_each(|(file, path)| file.publish().map_err(|error| unwritable(&path, error)))
    }
}

/// Reads what [`Split::write`] wrote.
pub(super) fn read(dataset: &Dataset, folder: &Path, validation: Option<Validation>) -> Result<Split, SplitError> {
    let (full, roles) = dataset.links();
    let (nodes, names) = (dataset.graph.nodes(), dataset.names.len());
    if names != nodes {
        return Err(SplitError::NameCount { names, nodes });
    }
    let manifest = read_manifest(folder)?;
    let found = hex(fingerprint(full, roles));
    if found != manifest.graph {
        return Err(SplitError::OtherGraph { path: folder.into(), found, expected: manifest.graph });
    }
    match validation {
        Some(asked) if asked != manifest.validation => {
            return Err(SplitError::ValidationRecorded { path: folder.into(), asked, recorded: manifest.validation });
        }
        _ => {}
    }
    let reader = Reader { folder, manifest: &manifest, index: dataset.names.index(), roles };
    let (hidden, validation_nodes) = reader.hidden()?;
    let (search, refit) = reader.training(full)?;
    let whole = Stage::whole(Graph::from_links(full.nodes(), [])).hiding(&hidden);
    let visible_in_search = whole.hiding(&validation_nodes).visible;
    let seed = manifest.seed.parse().map_err(|_| SplitError::Manifest {
        path: folder.join(MANIFEST),
        reason: format!("seed `{}` is not a number", manifest.seed),
    })?;
    Split::prepared(
        &dataset.attributes,
        Contents {
            seed,
            rule: manifest.validation,
            search: Stage::new(search, visible_in_search),
            validation: reader.pairs("validation.csv")?,
            refit: refit.map(|graph| Stage::new(graph, whole.visible)),
            test: reader.pairs("test.csv")?,
            given: reader.given()?,
            hidden,
            full: full.clone(),
            roles: roles.clone(),
            outside: manifest.outside,
            protocol: manifest.protocol,
        },
    )
}

/// What a split that [`Split::write`] wrote selects on.
pub(super) fn recorded_rule(folder: &Path) -> Result<Validation, SplitError> {
    read_manifest(folder).map(|manifest| manifest.validation)
}

/// The name of the protocol that a split which [`Split::write`] wrote comes from.
pub(super) fn recorded_protocol(folder: &Path) -> Result<String, SplitError> {
    read_manifest(folder).map(|manifest| manifest.protocol)
}

fn manifest(contents: &Contents, checksums: BTreeMap<String, String>) -> Manifest {
    Manifest {
        format: FORMAT.to_owned(),
        version: VERSION,
        protocol: contents.protocol.clone(),
        outside: contents.outside,
        validation: contents.rule,
        refit: contents.refit.is_some(),
        seed: contents.seed.to_string(),
        graph: hex(fingerprint(&contents.full, &contents.roles)),
        checksums,
    }
}

/// A number that two graphs share only if they are the same.
fn fingerprint(graph: &Graph, roles: &Roles) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(bytemuck::cast_slice(graph.offsets()));
    hash.update(bytemuck::cast_slice(graph.neighbor_array()));
    for relation in roles.relations() {
        hash.update(relation.name.as_bytes());
        hash.update(&[u8::from(relation.directed)]);
    }
    hash.digest()
}

fn hex(number: u64) -> String {
    format!("{number:016x}")
}

/// The columns of links and of pairs, and those that stand after the ends where links have relations or directions.
const LINKS: [&str; 2] = ["source", "target"];
const STAGE: &str = "stage";
const LINKED: &str = "linked";
const RELATION: &str = "relation";
const DIRECTION: &str = "direction";

/// The columns of a table with `last` as its last one.
fn header(roles: &Roles, last: &'static str) -> Vec<&'static str> {
    let more: &[&str] = match last {
        _ if roles.is_plain() => &[],
        LINKED => &[RELATION, DIRECTION],
        _ => &[RELATION],
    };
    [&LINKS, more, &[last]].concat()
}

fn tables(contents: &Contents, names: &Names) -> Vec<(&'static str, Vec<u8>)> {
    let named = Named { roles: &contents.roles, names };
    let final_stage = contents.refit.as_ref().unwrap_or(&contents.search);
    let training = final_stage.graph.iter_links().map(|(a, b)| {
        let stage = if contents.search.graph.has_link(a, b) { "search" } else { "refit" };
        [named.link(a, b), vec![stage.into()]].concat()
    });
    let pairs = |pairs: &[Pair]| {
        let row = |pair: &Pair| [named.pair(pair), vec![(pair.linked as u8).to_string().into()]].concat();
        table(&header(named.roles, LINKED), pairs.iter().map(row))
    };
    // A node is hidden in all of its roles or in none.
    let hidden = (0..contents.full.nodes() as NodeId).step_by(named.roles.count()).filter_map(|node| {
        let stage = match contents.hidden.binary_search(&node) {
            Ok(_) => "test",
            Err(_) if !contents.search.visible[node as usize] => "validation",
            Err(_) => return None,
        };
        Some(vec![named.node(node), stage.into()])
    });
    let given: Vec<Pair> = contents.given.iter().copied().map(Pair::linked).collect();
    let mut tables = vec![
        ("train.csv", table(&header(named.roles, STAGE), training)),
        ("validation.csv", pairs(&contents.validation)),
        ("test.csv", pairs(&contents.test)),
        ("hidden.csv", table(&["node", STAGE], hidden)),
    ];
    tables.extend((!given.is_empty()).then(|| (GIVEN, pairs(&given))));
    tables
}

/// Role nodes in words.
#[derive(Clone, Copy)]
struct Named<'a> {
    roles: &'a Roles,
    names: &'a Names,
}

impl<'a> Named<'a> {
    fn node(self, role_node: NodeId) -> Cow<'a, str> {
        self.names.get(self.roles.node(role_node))
    }

    /// Both ends, the source of a directed link first, and the relation where there is one.
    fn link(self, a: NodeId, b: NodeId) -> Vec<Cow<'a, str>> {
        let (_, is_target) = self.roles.relation_of(self.roles.role(a));
        let (source, target) = if is_target { (b, a) } else { (a, b) };
        let mut fields = vec![self.node(source), self.node(target)];
        fields.extend(self.relation(source));
        fields
    }

    /// Both ends in their order, the relation, and the direction of a link to the second.
    fn pair(self, pair: &Pair) -> Vec<Cow<'a, str>> {
        let mut fields = vec![self.node(pair.source), self.node(pair.target)];
        if let Some(relation) = self.relation(pair.source) {
            let (number, is_target) = self.roles.relation_of(self.roles.role(pair.source));
            let direction = match (self.roles.relations()[number].directed, is_target) {
                (false, _) => "",
                (true, false) => "out",
                (true, true) => "in",
            };
            fields.extend([relation, direction.into()]);
        }
        fields
    }

    fn relation(self, role_node: NodeId) -> Option<Cow<'a, str>> {
        let (relation, _) = self.roles.relation_of(self.roles.role(role_node));
        (!self.roles.is_plain()).then(|| self.roles.relations()[relation].name.as_str().into())
    }
}

fn table<'a>(header: &[&str], rows: impl Iterator<Item = Vec<Cow<'a, str>>>) -> Vec<u8> {
    const MEMORY: &str = "writing to memory does not fail";
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).expect(MEMORY);
    for row in rows {
        writer.write_record(row.iter().map(|field| field.as_bytes())).expect(MEMORY);
    }
    writer.into_inner().expect(MEMORY)
}

/// Makes sure that nothing but a former split can be overwritten.
fn make_folder(folder: &Path) -> Result<(), SplitError> {
    if !folder.exists() {
        return fs::create_dir_all(folder).map_err(|error| unwritable(folder, error));
    }
    let refused = || SplitError::NotASplit { path: folder.into() };
    if !folder.is_dir() {
        return Err(refused());
    }
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let name = entry.map_err(|error| unreadable(folder, error))?.file_name();
        if !is_partial(&name.to_string_lossy()) {
            return read_format(folder).map(|_| ()).map_err(|_| refused());
        }
    }
    Ok(())
}

/// The description of a folder, once it is known to be one of ours.
fn read_format(folder: &Path) -> Result<toml::Table, SplitError> {
    let path = folder.join(MANIFEST);
    let text = match read_short(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(SplitError::NotASplit { path: folder.into() });
        }
        text => text.map_err(|error| unreadable(&path, error))?,
    };
    let table: toml::Table =
        toml::from_str(&text).map_err(|error| SplitError::Manifest { path, reason: error.message().to_owned() })?;
    match table.get("format").and_then(|format| format.as_str()) {
        Some(FORMAT) => Ok(table),
        _ => Err(SplitError::NotASplit { path: folder.into() }),
    }
}

fn read_manifest(folder: &Path) -> Result<Manifest, SplitError> {
    let table = read_format(folder)?;
    let path = folder.join(MANIFEST);
    let version = table.get("version").and_then(|version| version.as_integer()).unwrap_or(0);
    match u32::try_from(version) {
        Ok(1..=VERSION) => {}
        Ok(found) if found > VERSION => return Err(SplitError::Version { path, found, supported: VERSION }),
        _ => return Err(SplitError::Manifest { path, reason: format!("version {version} does not exist") }),
    }
    table.try_into().map_err(|error: toml::de::Error| SplitError::Manifest { path, reason: error.message().to_owned() })
}

/// Reads the tables of a folder.
struct Reader<'a> {
    folder: &'a Path,
    manifest: &'a Manifest,
    index: NameIndex<'a>,
    roles: &'a Roles,
}

impl Reader<'_> {
    /// The test nodes and the validation nodes.
    fn hidden(&self) -> Result<(Vec<NodeId>, Vec<NodeId>), SplitError> {
        let (mut test, mut validation) = (Vec::new(), Vec::new());
        self.rows("hidden.csv", &["node", STAGE], |row| {
            match row.last() {
                "test" => test.push(row.node(0)?),
                "validation" => validation.push(row.node(0)?),
                _ => return Err(row.unexpected(1, "`test` or `validation`")),
            }
            Ok(())
        })?;
        test.sort_unstable();
        test.dedup();
        Ok((self.roles.all_of(&test), self.roles.all_of(&validation)))
    }

    /// What is searched on, and what the final model is fitted on where that is more; links carry what they carry in the full graph.
    fn training(&self, full: &Graph) -> Result<(Graph, Option<Graph>), SplitError> {
        let (mut search, mut refit) = (Vec::new(), Vec::new());
        self.rows("train.csv", &header(self.roles, STAGE), |row| {
            let link = row.ends("")?;
            match row.last() {
                "search" => search.push(link),
                "refit" if self.manifest.refit => {}
                _ => return Err(row.unexpected(row.record.len() - 1, "a stage of this split")),
            }
            if self.manifest.refit {
                refit.push(link);
            }
            Ok(())
        })?;
        let graph = |links: Vec<(NodeId, NodeId)>| Graph::from_links(full.nodes(), links).carrying_as(full);
        let refit = self.manifest.refit.then(|| graph(refit));
        Ok((graph(search), refit))
    }

    fn given(&self) -> Result<Vec<(NodeId, NodeId)>, SplitError> {
        let is_there = self.manifest.checksums.contains_key(GIVEN);
        let pairs = if is_there { self.pairs(GIVEN)? } else { Vec::new() };
        Ok(pairs.into_iter().map(|pair| (pair.source, pair.target)).collect())
    }

    fn pairs(&self, name: &str) -> Result<Vec<Pair>, SplitError> {
        let mut pairs = Vec::new();
        self.rows(name, &header(self.roles, LINKED), |row| {
            let linked = match row.last() {
                "1" => true,
                "0" => false,
                _ => return Err(row.unexpected(row.record.len() - 1, "1 or 0")),
            };
            let direction = if self.roles.is_plain() { "" } else { row.field(3) };
            let (source, target) = row.ends(direction)?;
            pairs.push(Pair { source, target, linked });
            Ok(())
        })?;
        Ok(pairs)
    }

    /// Hands on each row of a table, once its checksum and its columns have been found right.
    fn rows(
        &self,
        name: &str,
        header: &[&str],
        mut each: impl FnMut(Row<'_>) -> Result<(), SplitError>,
    ) -> Result<(), SplitError> {
        let path = self.folder.join(name);
        let bytes = fs::read(&path).map_err(|error| unreadable(&path, error))?;
        let found = hex(xxh3_64(&bytes));
        let expected = self.manifest.checksums.get(name).cloned().unwrap_or_else(|| "none".to_owned());
        if found != expected {
            return Err(SplitError::Checksum { path, found, expected });
        }
        let broken = |error: csv::Error| {
            let line = error.position().map_or(1, |position| position.line());
            SplitError::Row { path: path.clone(), line, reason: error.to_string() }
        };
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        if *reader.headers().map_err(broken)? != *header {
            return Err(SplitError::Row {
                path,
                line: 1,
                reason: format!("expected the columns `{}`", header.join(",")),
            });
        }
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(broken)? {
            each(Row { path: &path, record: &record, index: &self.index, roles: self.roles })?;
        }
        Ok(())
    }
}

/// A row of a table, with as many fields as its header.
struct Row<'a> {
    path: &'a Path,
    record: &'a csv::StringRecord,
    index: &'a NameIndex<'a>,
    roles: &'a Roles,
}

impl Row<'_> {
    fn field(&self, column: usize) -> &str {
        &self.record[column]
    }

    fn last(&self) -> &str {
        self.field(self.record.len() - 1)
    }

    /// Both ends in the roles that the relation gives them: the first as its source, unless the direction is `in`.
    fn ends(&self, direction: &str) -> Result<(NodeId, NodeId), SplitError> {
        let (one, other) = (self.node(0)?, self.node(1)?);
        if self.roles.is_plain() {
            return Ok((one, other));
        }
        let relations = self.roles.relations();
        let found = relations.iter().position(|relation| relation.name == self.field(2));
        let relation = found.ok_or_else(|| self.unexpected(2, "a relation of this graph"))?;
        let (source, target) = self.roles.ends(relation);
        match direction {
            "" | "out" => Ok((self.roles.at(one, source), self.roles.at(other, target))),
            "in" => Ok((self.roles.at(one, target), self.roles.at(other, source))),
            _ => Err(self.unexpected(3, "`out`, `in` or empty")),
        }
    }

    fn node(&self, column: usize) -> Result<NodeId, SplitError> {
        let name = self.field(column);
        self.index.find(name).ok_or_else(|| SplitError::UnknownNode {
            path: self.path.into(),
            line: self.line(),
            name: name.to_owned(),
        })
    }

    fn unexpected(&self, column: usize, expected: &str) -> SplitError {
        let reason = format!("`{}` is not {expected}", self.field(column));
        SplitError::Row { path: self.path.into(), line: self.line(), reason }
    }

    fn line(&self) -> u64 {
        self.record.position().map_or(1, |position| position.line())
    }
}

fn unreadable(path: &Path, source: io::Error) -> SplitError {
    SplitError::Io { action: "read", path: path.into(), source }
}

fn unwritable(path: &Path, source: io::Error) -> SplitError {
    SplitError::Io { action: "write", path: path.into(), source }
}
