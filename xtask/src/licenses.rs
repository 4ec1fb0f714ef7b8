//! `cargo xtask licenses`: the notices of everything that the binary and the wheel are made from.
//!
//! Who offers several licences including Apache-2.0 is used under that one, whose text is ours. Of all others, and of packages
//! with code of other languages in them, every licence in their sources is repeated.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::steps::{cargo, root};

/// What is handed out, and where its notices stand.
const HANDED_OUT: [(&str, &str); 2] =
    [("coldlink-cli", "crates/coldlink-cli/THIRD-PARTY.md"), ("coldlink-python", "python/THIRD-PARTY.md")];
/// How the names of files with licences begin.
const LICENCES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
const OURS: &str = "Apache-2.0";

/// Writes the notices anew.
pub fn run() -> Result<()> {
    for (path, text) in notices()? {
        fs::write(root().join(path), text).with_context(|| format!("cannot write `{path}`"))?;
        println!("{path}: written");
    }
    Ok(())
}

/// Whether the notices are those of the packages that are used now.
pub fn check() -> Result<()> {
    for (path, text) in notices()? {
        if fs::read_to_string(root().join(path)).ok().as_deref() != Some(&*text) {
            bail!("`{path}` is not what the packages in use ask for\nhint: cargo xtask licenses");
        }
    }
    Ok(())
}

fn notices() -> Result<Vec<(&'static str, String)>> {
    let output =
        cargo(["metadata", "--format-version", "1", "--locked"]).output().context("cannot run `cargo metadata`")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cannot read what `cargo metadata` says")?;
    let apache = fs::read_to_string(root().join("LICENSE-APACHE")).context("cannot read LICENSE-APACHE")?;
    let written = |(name, path)| Ok((path, Notices::of(&used(&metadata, name)?, &apache)?.text(name)));
    HANDED_OUT.into_iter().map(written).collect()
}

/// A package of somebody else.
struct Package {
    name: String,
    version: String,
    licence: String,
    authors: Vec<String>,
    folder: PathBuf,
    /// Whether it has code of other languages in it.
    is_mixed: bool,
}

impl Package {
    fn of(about: &Value) -> Result<Self> {
        let text = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
        let (name, manifest) = (text("name"), text("manifest_path"));
        if about["license"].is_null() {
            bail!("`{name}` does not say its licence");
        }
        let authors = about["authors"].as_array().into_iter().flatten();
        Ok(Package {
            version: text("version"),
            licence: text("license").replace(" / ", " OR ").replace('/', " OR "),
            authors: authors.filter_map(|author| author.as_str().map(str::to_owned)).collect(),
            folder: Path::new(&manifest).parent().context("a manifest lies in a folder")?.to_owned(),
            is_mixed: !about["links"].is_null(),
            name,
        })
    }

    /// The texts that go with it.
    fn texts(&self, apache: &str) -> Result<Vec<String>> {
        let is_choice = !self.licence.contains(" AND ");
        let offers_ours = is_choice && self.licence.split(" OR ").any(|offered| offered == OURS);
        let notice = |name: &str| name.starts_with("NOTICE");
        let mut texts = match (offers_ours, self.is_mixed) {
            (true, false) => self.files(notice)?,
            _ => self.files(|name| LICENCES.iter().any(|start| name.starts_with(start)))?,
        };
        if offers_ours {
            texts.push(apache.to_owned());
        }
        if texts.is_empty() {
            texts.push(self.without_file()?);
        }
        Ok(texts)
    }

    /// Files in its folder, by name in capitals.
    fn files(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<String>> {
        let mut paths = Vec::new();
        for entry in
            fs::read_dir(&self.folder).with_context(|| format!("cannot read the sources of `{}`", self.name))?
        {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            if path.is_file() && is_wanted(&name) {
                paths.push(path);
            }
        }
        paths.sort();
        paths.iter().map(|path| Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())).collect()
    }

    /// The text of a licence that is named and not repeated in the sources.
    fn without_file(&self) -> Result<String> {
        if self.licence != "MIT" {
            bail!("`{}` has no text of its licence {}", self.name, self.licence);
        }
        let ours = fs::read_to_string(root().join("LICENSE-MIT")).context("cannot read LICENSE-MIT")?;
        let (_, permission) = ours.split_once("Permission is").context("LICENSE-MIT is another licence")?;
        let authors =
            if self.authors.is_empty() { format!("the authors of {}", self.name) } else { self.authors.join(", ") };
        Ok(format!("MIT License\n\nCopyright (c) {authors}\n\nPermission is{permission}"))
    }
}

/// The packages whose code ends up in a package of ours: neither what builds it nor what tests it.
fn used(metadata: &Value, of: &str) -> Result<Vec<Package>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let id = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages: HashMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|package| (id(&package["id"]), package)).collect();
    let nodes: HashMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|node| (id(&node["id"]), node)).collect();
    let first = packages.iter().find(|(_, package)| package["name"] == of).map(|(id, _)| id.clone());
    let mut left = vec![first.with_context(|| format!("there is no package `{of}`"))?];
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(next) = left.pop() {
        let package = &packages[&next];
        let is_macro =
            list(&package["targets"]).iter().any(|target| list(&target["kind"]).contains(&"proc-macro".into()));
        if is_macro || !seen.insert(next.clone()) {
            continue;
        }
        for dependency in list(&nodes[&next]["deps"]) {
            if list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                left.push(id(&dependency["pkg"]));
            }
        }
        // What has no source is ours.
        if !package["source"].is_null() {
            found.push(Package::of(package)?);
        }
    }
    found.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(found)
}

/// The notices of packages: each text once.
struct Notices {
    rows: Vec<String>,
    texts: Vec<String>,
}

impl Notices {
    fn of(packages: &[Package], apache: &str) -> Result<Self> {
        let (mut rows, mut texts, mut places) = (Vec::new(), Vec::new(), BTreeMap::new());
        for package in packages {
            let mut numbers = BTreeSet::new();
            for text in package.texts(apache)? {
                // The same words are the same text, however their lines are broken.
                let words: Vec<&str> = text.split_whitespace().collect();
                let number = *places.entry(words.join(" ")).or_insert_with(|| {
                    texts.push(tidy(&text));
                    texts.len()
                });
                numbers.insert(number);
            }
            let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
            let Package { name, version, licence, .. } = package;
            rows.push(format!("| `{name}` | {version} | {licence} | {} |", numbers.join(", ")));
        }
        Ok(Notices { rows, texts })
    }

    fn text(&self, of: &str) -> String {
        let mut text = format!(
            "# Third-party notices\n\nWhat `{of}` is made from, on any platform, with the texts of the licences. Written by \
             `cargo xtask licenses`.\n\n| package | version | licence | text |\n|---|---|---|---|\n{}\n",
            self.rows.join("\n")
        );
        for (place, licence) in self.texts.iter().enumerate() {
            let _ = write!(text, "\n## Text {}\n\n````text\n{licence}\n````\n", place + 1);
        }
        text
    }
}

/// Without what no eye sees: byte order marks, spaces at the ends of lines, empty lines around.
fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A package with the files of this repository.
    fn package(licence: &str, is_mixed: bool) -> Package {
        let (name, version) = ("some".to_owned(), "1.0.0".to_owned());
        Package { name, version, licence: licence.to_owned(), authors: Vec::new(), folder: root(), is_mixed }
    }

    #[test]
    fn a_choice_that_includes_our_licence_needs_one_text() {
        assert_eq!(package("MIT OR Apache-2.0", false).texts("ours").unwrap(), ["ours"]);
        assert_eq!(package("MIT", false).texts("ours").unwrap().len(), 2, "all that its sources have");
        assert_eq!(package("MIT AND Apache-2.0", false).texts("ours").unwrap().len(), 2);
        assert_eq!(package("MIT OR Apache-2.0", true).texts("ours").unwrap().len(), 3, "code of others may be in it");
    }

    #[test]
    fn a_licence_without_a_text_is_refused_unless_its_text_is_known() {
        let bare = |licence| Package { folder: root().join("xtask"), ..package(licence, false) };
        assert!(bare("ISC").texts("ours").is_err());
        assert!(bare("MIT").texts("ours").unwrap()[0].contains("Copyright (c) the authors of some"));
    }

    #[test]
    fn the_same_words_stand_there_once() {
        let packages = [package("Apache-2.0", false), package("Apache-2.0", false)];
        assert_eq!(Notices::of(&packages, "some\n words ").unwrap().texts, ["some\n words"]);
    }
}
