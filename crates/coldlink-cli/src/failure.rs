//! How errors are reported: what, caused by what, what to do about it, and the exit code.

use std::error::Error;
use std::fmt;
use std::io;
use std::process::ExitCode;

use coldlink::error::hint_of;
use coldlink::hint::{Command, Wording};
use coldlink::text::printable_lines;

/// What this program itself finds wrong.
#[derive(Debug)]
pub struct Failure {
    message: String,
    hint: Option<String>,
    kind: Kind,
}

#[derive(Debug, PartialEq)]
enum Kind {
    /// It finished, but a threshold was not met.
    Missed,
    /// It could not run.
    CouldNotRun,
    /// The user stopped it.
    Stopped,
}

impl Failure {
    /// It could not run.
    pub fn new(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: None, kind: Kind::CouldNotRun }
    }

    /// It finished, but a threshold was not met.
    pub fn missed(message: impl Into<String>) -> Self {
        Failure { kind: Kind::Missed, ..Failure::new(message) }
    }

    /// The user stopped it.
    pub fn stopped(message: impl Into<String>) -> Self {
        Failure { kind: Kind::Stopped, ..Failure::new(message) }
    }

    /// The same with what to do about it.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Failure { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {}

/// Prints an error and yields the exit code it stands for.
pub fn report(error: &anyhow::Error) -> ExitCode {
    // Whoever closes our output, as `head` does, has seen enough.
    if is_closed_output(error) {
        return ExitCode::SUCCESS;
    }
    eprint!("{}", text(error));
    match error.downcast_ref().map(|failure: &Failure| &failure.kind) {
        Some(Kind::Missed) => ExitCode::from(1),
        Some(Kind::Stopped) => ExitCode::from(130),
        Some(Kind::CouldNotRun) | None => ExitCode::from(2),
    }
}

fn is_closed_output(error: &anyhow::Error) -> bool {
    let kinds = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.into_iter().any(|kind| kind == io::ErrorKind::BrokenPipe)
}

fn text(error: &anyhow::Error) -> String {
    let stopped = error.downcast_ref::<Failure>().is_some_and(|failure| failure.kind == Kind::Stopped);
    let said = under_its_heading(&error.to_string());
    let mut text = if stopped { format!("{said}\n") } else { format!("error: {said}\n") };
    for cause in error.chain().skip(1) {
        text.push_str(&format!("  caused by: {}\n", under_its_heading(&cause.to_string())));
    }
    // What was added as a context is found by anyhow alone.
    let own = error.downcast_ref().and_then(|failure: &Failure| failure.hint.clone());
    if let Some(hint) = own.or_else(|| error.chain().find_map(hint_of)?.worded(&CommandLine)) {
        text.push_str(&format!("hint: {}\n", under_its_heading(&hint)));
        if hint.contains(COLUMNS) && !hint.contains("--schema") {
            text.push_str("hint: `coldlink inspect GRAPH --schema > columns.toml` writes such a file, to edit\n");
        }
    }
    text
}

/// How hints name the file that says what columns are.
const COLUMNS: &str = "`--columns columns.toml`";

/// Some messages have several lines; all stay under their heading, so that no name can pass for one.
fn under_its_heading(message: &str) -> String {
    printable_lines(message.trim_end()).replace('\n', "\n    ")
}

/// Hints of the library as commands and options.
struct CommandLine;

impl Wording for CommandLine {
    fn option(&self, name: &str, value: Option<&str>) -> Option<String> {
        let value = if name == "columns" { value.or(Some("columns.toml")) } else { value };
        Some(value.map_or_else(|| format!("--{name}"), |value| format!("--{name} {value}")))
    }

    fn setting(&self, key: &str, value: &str) -> Option<String> {
        Some(format!("--set {key}={value}"))
    }

    fn command(&self, command: Command) -> Option<String> {
        let line = match command {
            Command::Convert => "coldlink convert GRAPH -o FILE.coldlink",
            Command::Index => "coldlink index MODEL",
            Command::Inspect => "coldlink inspect GRAPH --schema",
            Command::Split => "coldlink split GRAPH -o FOLDER",
            Command::Train => "coldlink train GRAPH -o MODEL",
            other => return Some(format!("coldlink {}", other.name())),
        };
        Some(line.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Cli;
    use anyhow::Context;
    use clap::{CommandFactory, Parser};
    use coldlink::Hint;
    use coldlink::hint::OPTIONS;

    #[test]
    fn every_option_that_a_hint_can_name_exists() {
        let line = Cli::command();
        let exists = |option: &str| {
            line.get_subcommands().any(|command| command.get_arguments().any(|known| known.get_long() == Some(option)))
        };
        let missing: Vec<&str> = OPTIONS.into_iter().filter(|option| !exists(option)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn every_command_that_a_hint_can_name_is_understood() {
        for command in Command::ALL {
            let line = CommandLine.command(command).unwrap();
            if let Err(error) = Cli::try_parse_from(line.split(' ')) {
                panic!("{line}: {error}");
            }
        }
    }

    #[test]
    fn a_hint_of_the_library_names_options_as_the_command_line_does() {
        let hint = Hint::new("add the row | drop such links with {unknown-nodes=drop} | use {set width=128}");
        let expected = "add the row, drop such links with `--unknown-nodes drop`, or use `--set width=128`";
        assert_eq!(hint.worded(&CommandLine).as_deref(), Some(expected));
    }

    #[test]
    fn a_hint_at_the_file_of_columns_says_how_to_get_one() {
        let error = anyhow::Error::from(coldlink::model::FilterError::NoTypes);
        let said = text(&error);
        assert!(said.contains("with `--columns columns.toml`, and train again\n"), "{said}");
        assert!(
            said.ends_with("hint: `coldlink inspect GRAPH --schema > columns.toml` writes such a file, to edit\n"),
            "{said}"
        );
    }

    #[test]
    fn an_error_is_reported_with_its_causes_and_a_hint() {
        let cause = Failure::new("line 3 is wrong\nvery wrong").hint("correct it");
        let error = Err::<(), _>(cause).context("cannot load `papers`").unwrap_err();
        let expected = "error: cannot load `papers`\n  caused by: line 3 is wrong\n    very wrong\nhint: correct it\n";
        assert_eq!(text(&error), expected);
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        let cause = Failure::new("no node `a\u{1b}[31m`").hint("rename `\u{202e}`");
        let error = Err::<(), _>(cause).context("cannot load `x\nhint: pay`").unwrap_err();
        let expected =
            "error: cannot load `x\n    hint: pay`\n  caused by: no node `a\\u{1b}[31m`\nhint: rename `\\u{202e}`\n";
        assert_eq!(text(&error), expected);
    }

    #[test]
    fn a_closed_output_is_no_error() {
        let closed = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("cannot print");
        assert_eq!(report(&closed), ExitCode::SUCCESS);
    }
}
