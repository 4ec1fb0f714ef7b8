//! What to do about an error, in pieces that each front end puts into its own words.
//!
//! The library does not know how it is called: what is `--unknown-nodes drop` on the command line is `unknown_nodes="drop"` in
//! Python, and nothing at all over HTTP. So a hint names options, settings and commands as data, and a [`Wording`] turns them
//! into text. A way out that a front end does not offer is left out there.

use std::fmt;

/// What to do about an error: one way out, or several to choose from.
///
/// ```
/// let error = coldlink::Config::default().set("widht=3").unwrap_err();
/// assert_eq!(error.hint().unwrap().to_string(), "did you mean `width`?");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    ways: Vec<Vec<Piece>>,
}

/// A piece of a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Option { name: &'static str, value: Option<&'static str> },
    Setting { key: &'static str, value: &'static str },
    Command(Command),
}

/// Something to do with another part of coldlink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Convert a graph to a `.coldlink` file.
    Convert,
    /// Build the index of a model.
    Index,
    /// Print the columns of a graph and their kinds.
    Inspect,
    /// Write a split to a folder.
    Split,
    /// Train a model.
    Train,
}

impl Command {
    /// All commands that hints name.
    pub const ALL: [Command; 5] = [Command::Convert, Command::Index, Command::Inspect, Command::Split, Command::Train];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Command::Convert => "convert",
            Command::Index => "index",
            Command::Inspect => "inspect",
            Command::Split => "split",
            Command::Train => "train",
        }
    }
}

/// The options that hints name, as the command line spells them.
pub const OPTIONS: [&str; 11] = [
    "columns",
    "edges",
    "max-cell",
    "nodes",
    "protocol",
    "resume",
    "seed",
    "strict-input",
    "undirected",
    "unknown-nodes",
    "validation",
];

/// How a front end writes what hints name. `None` stands for what it does not have.
pub trait Wording {
    /// An option of [`OPTIONS`], with the value that it should have.
    fn option(&self, name: &str, value: Option<&str>) -> Option<String>;
    /// A setting of a model, with the value that it should have.
    fn setting(&self, key: &str, value: &str) -> Option<String>;
    /// A command.
    fn command(&self, command: Command) -> Option<String>;
}

impl Hint {
    /// A hint from a template: ` | ` separates ways out, `{unknown-nodes}` and `{unknown-nodes=drop}` are an option,
    /// `{set width=128}` a setting, and `{coldlink train}` a command.
    pub fn new(template: &'static str) -> Self {
        Hint { ways: template.split(" | ").map(parse).collect() }
    }

    /// A hint that names no option. This is how words of the user get into a hint.
    pub fn text(text: impl Into<String>) -> Self {
        Hint { ways: vec![vec![Piece::Text(text.into())]] }
    }

    /// The same with more ways out, as a template.
    pub fn or(mut self, template: &'static str) -> Self {
        self.ways.extend(Hint::new(template).ways);
        self
    }

    /// The hint as a front end says it; `None` where it offers none of the ways out.
    pub fn worded(&self, wording: &impl Wording) -> Option<String> {
        let ways: Vec<String> = self.ways.iter().filter_map(|way| worded(way, wording)).collect();
        let (last, others) = ways.split_last()?;
        Some(match others {
            [] => last.clone(),
            _ => format!("{}, or {last}", others.join(", ")),
        })
    }
}

/// Words everything as the library itself spells it: `unknown_nodes=drop`, `width=128`, `coldlink train`.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&Plain).unwrap_or_default())
    }
}

struct Plain;

impl Wording for Plain {
    fn option(&self, name: &str, value: Option<&str>) -> Option<String> {
        let name = name.replace('-', "_");
        Some(value.map_or_else(|| name.clone(), |value| format!("{name}={value}")))
    }

    fn setting(&self, key: &str, value: &str) -> Option<String> {
        Some(format!("{key}={value}"))
    }

    fn command(&self, command: Command) -> Option<String> {
        Some(format!("coldlink {}", command.name()))
    }
}

fn worded(way: &[Piece], wording: &impl Wording) -> Option<String> {
    let mut text = String::new();
    for piece in way {
        let code = match piece {
            Piece::Text(plain) => {
                text.push_str(plain);
                continue;
            }
            Piece::Option { name, value } => wording.option(name, *value)?,
            Piece::Setting { key, value } => wording.setting(key, value)?,
            Piece::Command(command) => wording.command(*command)?,
        };
        text.push_str(&format!("`{code}`"));
    }
    Some(text)
}

fn parse(way: &'static str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = way;
    while let Some((before, (inside, after))) =
        rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        pieces.push(piece(inside));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}

fn piece(inside: &'static str) -> Piece {
    if let Some(name) = inside.strip_prefix("coldlink ") {
        let command = Command::ALL.into_iter().find(|command| command.name() == name);
        debug_assert!(command.is_some(), "`{name}` is not a command of hints");
        return command.map_or_else(|| Piece::Text(format!("`{inside}`")), Piece::Command);
    }
    if let Some((key, value)) = inside.strip_prefix("set ").and_then(|setting| setting.split_once('=')) {
        return Piece::Setting { key, value };
    }
    let (name, value) = inside.split_once('=').map_or((inside, None), |(name, value)| (name, Some(value)));
    debug_assert!(OPTIONS.contains(&name), "`{name}` is not an option of hints");
    Piece::Option { name, value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// A front end without commands, and with one option.
    struct Small;

    impl Wording for Small {
        fn option(&self, name: &str, value: Option<&str>) -> Option<String> {
            (name == "seed").then(|| format!("seed {}", value.unwrap_or("?")))
        }

        fn setting(&self, key: &str, value: &str) -> Option<String> {
            Some(format!("{key} := {value}"))
        }

        fn command(&self, _: Command) -> Option<String> {
            None
        }
    }

    #[track_caller]
    fn check(hint: Hint, plain: &str, small: Option<&str>) {
        assert_eq!(hint.to_string(), plain);
        assert_eq!(hint.worded(&Small).as_deref(), small);
    }

    #[test]
    fn options_settings_and_commands_take_the_words_of_the_front_end() {
        check(Hint::new("add the row"), "add the row", Some("add the row"));
        check(Hint::new("try {seed=7} again"), "try `seed=7` again", Some("try `seed 7` again"));
        check(Hint::new("use {set width=128}"), "use `width=128`", Some("use `width := 128`"));
        check(Hint::new("{coldlink train} makes one"), "`coldlink train` makes one", None);
        check(Hint::text("{seed} | {"), "{seed} | {", Some("{seed} | {"));
    }

    #[test]
    fn a_way_out_that_a_front_end_lacks_is_left_out() {
        check(
            Hint::new("add the row | drop such links with {unknown-nodes=drop}"),
            "add the row, or drop such links with `unknown_nodes=drop`",
            Some("add the row"),
        );
        let three = Hint::text("wait").or("try {seed} | omit {resume}");
        check(three, "wait, try `seed`, or omit `resume`", Some("wait, or try `seed ?`"));
        check(Hint::new("omit {resume}"), "omit `resume`", None);
    }

    #[test]
    fn the_library_names_no_option_as_one_front_end_spells_it() {
        let mut found = Vec::new();
        for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
            let text = fs::read_to_string(&path).unwrap();
            for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
                let flag = line.split(concat!("-", "-")).skip(1).any(|rest| rest.starts_with(char::is_alphabetic));
                if flag {
                    found.push(format!("{}:{}: {line}", path.display(), place + 1));
                }
            }
        }
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .flat_map(|path| match path.is_dir() {
                true => sources(&path),
                false => Vec::from_iter(path.extension().is_some_and(|ending| ending == "rs").then_some(path)),
            })
            .collect()
    }
}
