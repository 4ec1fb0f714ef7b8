//! The modules of the library use one another in one direction: the order in ARCHITECTURE.md holds.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::steps::root;

const LIBRARY: &str = "crates/coldlink/src";
/// Between these lines of ARCHITECTURE.md the modules stand in their order, one in backticks at the start of each row.
const MARKS: [&str; 2] = ["<!-- order -->", "<!-- end of order -->"];

/// Reads the order and every edge, and names the edges that go against it.
pub fn check() -> Result<()> {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).context("cannot read ARCHITECTURE.md")?;
    let order = order(&architecture)?;
    let (mut against, mut unplaced) = (Vec::new(), BTreeSet::new());
    for path in sources(&root().join(LIBRARY))? {
        let Some(module) = module_of(&path) else { continue };
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let place = |name: &str| order.iter().position(|known| known == name);
        let Some(own) = place(&module) else {
            unplaced.insert(module);
            continue;
        };
        for (line, used) in edges(&text) {
            match place(&used) {
                Some(other) if other > own => {
                    against.push(format!("{}:{line}: `{module}` uses `{used}`", path.display()));
                }
                Some(_) => {}
                None => _ = unplaced.insert(used),
            }
        }
    }
    if !unplaced.is_empty() {
        bail!("modules without a place in ARCHITECTURE.md: {}", Vec::from_iter(unplaced).join(", "));
    }
    if !against.is_empty() {
        bail!("against the order in ARCHITECTURE.md:\n{}", against.join("\n"));
    }
    Ok(())
}

fn order(text: &str) -> Result<Vec<String>> {
    let between = text.split_once(MARKS[0]).and_then(|(_, rest)| rest.split_once(MARKS[1]));
    let (rows, _) = between.context("ARCHITECTURE.md has no order of modules")?;
    let name = |row: &str| row.trim_start_matches("| ").strip_prefix('`')?.split_once('`').map(|(name, _)| name.into());
    Ok(rows.lines().filter_map(name).collect())
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "rs") && path.file_name() != Some("tests.rs".as_ref())
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The module that a file belongs to; the root belongs to none.
fn module_of(path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root().join(LIBRARY)).ok()?;
    let first = inside.components().next()?.as_os_str().to_string_lossy().into_owned();
    let name = first.strip_suffix(".rs").unwrap_or(&first);
    (name != "lib").then(|| name.to_owned())
}

/// The modules that a file uses outside its tests and comments, with the lines where it does.
fn edges(text: &str) -> Vec<(usize, String)> {
    let code = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).enumerate();
    let code = code.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let mut found = Vec::new();
    for (place, line) in code {
        for part in line.split("crate::").skip(1) {
            let name: String = part.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
            if name.starts_with(char::is_lowercase) {
                found.push((place + 1, name));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_read_from_rows_and_edges_from_code_alone() {
        let text = "x\n<!-- order -->\n| module |\n|---|\n| `storage` | bytes |\n| `kernel` | sums |\n<!-- end of order -->\n`late`";
        assert_eq!(order(text).unwrap(), ["storage", "kernel"]);
        let code = "//! crate::above\nuse crate::graph::Graph;\nfn f(x: crate::kernel::Matrix) {}\n#[cfg(test)]\nuse crate::tune::auto;\n";
        assert_eq!(edges(code), [(2, "graph".to_owned()), (3, "kernel".to_owned())]);
        assert_eq!(module_of(&root().join("crates/coldlink/src/load/tables/rows.rs")).as_deref(), Some("load"));
        assert_eq!(module_of(&root().join("crates/coldlink/src/random.rs")).as_deref(), Some("random"));
        assert_eq!(module_of(&root().join("crates/coldlink/src/lib.rs")), None);
    }
}
