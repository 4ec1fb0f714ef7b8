//! The real binary on small graphs that tests write.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use coldlink::synthetic::readable_tables;
use tempfile::TempDir;

/// Settings under which training takes a moment.
pub const QUICK: [&str; 10] = [
    "--preset",
    "default",
    "--set",
    "width=16",
    "--set",
    "steps=60",
    "--set",
    "validate_every=20",
    "--set",
    "batch=64",
];

/// A folder to work in, with the graph `papers/` and new nodes in `new.csv`.
pub struct Folder(TempDir);

/// What a command did.
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Folder {
    /// Three topics of 30 papers; a paper cites others of its topic.
    pub fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        let [nodes, edges] = readable_tables(90, ("old", |paper| paper % 2));
        folder.write("papers/nodes.csv", &nodes);
        folder.write("papers/edges.csv", &edges);
        folder.write("new.csv", "id,words,old\nfresh,soup|salt,1\nodd,moon|cheese,0\n");
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The binary, about to run in this folder.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coldlink"));
        command.args(words).current_dir(self.0.path());
        command
    }

    /// Runs the binary on a line of words.
    pub fn run(&self, line: &str) -> Done {
        self.run_words(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub fn run_words(&self, words: &[&str]) -> Done {
        let Output { status, stdout, stderr } = self.command(words).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Done { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
    }

    /// Runs the binary, which must succeed, and yields what it printed.
    pub fn check(&self, line: &str) -> String {
        let done = self.run(line);
        assert_eq!(done.code, 0, "{line}\n{}{}", done.out, done.err);
        done.out
    }

    /// `coldlink train papers …` with quick settings.
    pub fn train(&self, model: &str, more: &str) -> Done {
        self.run(&format!("train papers -o {model} {} {more}", QUICK.join(" ")))
    }

    /// Everything in the folder, by name.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn exists(&self, name: &str) -> bool {
        Path::new(&self.path(name)).exists()
    }
}
