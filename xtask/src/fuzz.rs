//! `cargo xtask fuzz`: every parser under libFuzzer, which looks for inputs that reach new code.
//!
//! A run starts from `fuzz/corpus/TARGET` and keeps what it finds new in `target/fuzz/corpus/TARGET`, so that the repository stays as it
//! is; `cargo xtask fuzz keep` takes some of these over. What makes a target fail is put into `fuzz/artifacts`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::quality::{machine, today};
use crate::steps::{Misuse, Steps, cargo, in_root, root};

/// What counts the code that an input reaches, and shows libFuzzer the numbers that are compared.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";
/// Seconds for each target unless told.
const SECONDS: u64 = 60;
/// An input that takes so many seconds is a finding; so is one that makes the process so many megabytes large. The seconds are
/// those of the clock, so there are more of them than work needs: on a busy machine a process may wait for a minute.
const LIMITS: [&str; 2] = ["-timeout=120", "-rss_limit_mb=2048"];
/// Lines of a target's log that are shown with a finding; all are in `target/fuzz/TARGET.log`.
const LAST_LINES: usize = 30;
/// What is committed of a corpus.
const MOST_FILES: usize = 150;
const MOST_BYTES: usize = 300 << 10;

/// Runs what is asked for.
pub fn run(arguments: &[String]) -> Result<()> {
    let targets = targets()?;
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => fuzz(&targets, SECONDS),
        ["seeds"] => {
            let seeds = Binaries::build(&mut Steps::default(), "seeds")?.command("seeds");
            Steps::one("seeds", seeds, &[])
        }
        ["keep"] => keep(&targets),
        ["keep", name] => keep(&[known(&targets, name)?]),
        [word] => match word.parse() {
            Ok(seconds) => fuzz(&targets, seconds),
            Err(_) => fuzz(&[known(&targets, word)?], SECONDS),
        },
        [name, seconds] => {
            let target = known(&targets, name)?;
            fuzz(&[target], seconds.parse().map_err(|_| Misuse(format!("SECONDS is a number, not `{seconds}`")))?)
        }
        _ => Err(Misuse("`cargo xtask fuzz` takes a target and seconds".to_owned()).into()),
    }
}

/// The target of that name.
fn known(targets: &[String], name: &str) -> Result<String> {
    let target = targets.iter().find(|target| *target == name).cloned();
    let hint = || Misuse(format!("there is no target `{name}`\nhint: there are `{}`", targets.join("`, `")));
    Ok(target.ok_or_else(hint)?)
}

/// The files of `fuzz/src/bin`, without the one that writes seeds.
fn targets() -> Result<Vec<String>> {
    let names = files(&root().join("fuzz/src/bin"))?.into_iter().filter_map(|path| {
        let name = path.file_stem()?.to_str()?.to_owned();
        (name != "seeds").then_some(name)
    });
    Ok(names.collect())
}

/// The files of a folder, in the order of their names; none where there is no folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>();
    let mut files = entries?;
    files.sort();
    Ok(files)
}

/// Where the built targets are.
struct Binaries(PathBuf);

impl Binaries {
    /// Builds one of them or, by a name of `*`, all.
    fn build(steps: &mut Steps, name: &str) -> Result<Self> {
        let host = host()?;
        let mut build = cargo(["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target-dir"]);
        // With a target, even if it is this machine's, build scripts and macros are left as they are.
        build.args(["target/fuzz", "--target", &host, "--bin", name]).env("RUSTFLAGS", COVERAGE);
        steps.run("build", build)?;
        Ok(Binaries(root().join("target/fuzz").join(host).join("release")))
    }

    fn command(&self, name: &str) -> Command {
        in_root(self.0.join(name))
    }
}

/// What the compiler calls this machine.
fn host() -> Result<String> {
    let output = in_root("rustc").arg("-vV").output().context("cannot run `rustc`")?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

fn fuzz(targets: &[String], seconds: u64) -> Result<()> {
    let mut steps = Steps::default();
    let which = if let [target] = targets { target } else { "*" };
    let binaries = Binaries::build(&mut steps, which)?;
    for target in targets {
        steps.check(target, || {
            let command = format!("cargo xtask fuzz {target} {seconds}");
            let summary = one(&binaries, target, seconds)?;
            println!("{summary}");
            let folder = root().join("results").join(format!("{}-fuzz", today()?));
            fs::create_dir_all(&folder)?;
            fs::write(folder.join(format!("{target}.txt")), format!("{command}\n{}\n{summary}\n", machine()))?;
            Ok(())
        })?;
    }
    steps.finish();
    Ok(())
}

/// Runs a target, and says what was done.
fn one(binaries: &Binaries, target: &str, seconds: u64) -> Result<String> {
    let found = running(target);
    fs::create_dir_all(&found)?;
    fs::create_dir_all(root().join("fuzz/artifacts"))?;
    let log = root().join(format!("target/fuzz/{target}.log"));
    let mut command = binaries.command(target);
    command.args(LIMITS).arg(format!("-max_total_time={seconds}")).arg("-print_final_stats=1");
    command.arg(format!("-artifact_prefix=fuzz/artifacts/{target}-"));
    command.arg(&found).arg(committed(target)).stderr(File::create(&log)?);
    let started = Instant::now();
    let status = command.status().with_context(|| format!("cannot run the target `{target}`"))?;
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    if !status.success() {
        let kept = text.lines().find_map(|line| line.split_once("Test unit written to ")).map_or("", |line| line.1);
        let lines: Vec<&str> = text.lines().collect();
        let end = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
        let binary = binaries.0.join(target);
        bail!("{end}\nthe target `{target}` has a finding\nhint: `{} {kept}` runs it alone", binary.display());
    }
    let last = |word: &str| {
        let after = text.rsplit(word).next().filter(|after| after.len() < text.len());
        after.and_then(|after| after.split_whitespace().next()).unwrap_or("?").to_owned()
    };
    Ok(format!(
        "{target}: {} inputs in {} s, the slowest {} s, {} places of the code and {} of their counts reached, {} inputs kept, {} MB, no finding",
        last("stat::number_of_executed_units:"),
        started.elapsed().as_secs(),
        last("stat::slowest_unit_time_sec:"),
        last(" cov: "),
        last(" ft: "),
        files(&found)?.len(),
        last("stat::peak_rss_mb:")
    ))
}

/// What is part of the repository.
fn committed(target: &str) -> PathBuf {
    root().join("fuzz/corpus").join(target)
}

/// What runs on this machine have found.
fn running(target: &str) -> PathBuf {
    root().join("target/fuzz/corpus").join(target)
}

/// Takes inputs over that together reach what was reached, as many as there is room for.
fn keep(targets: &[String]) -> Result<()> {
    let mut steps = Steps::default();
    let binaries = Binaries::build(&mut steps, "*")?;
    for target in targets {
        let chosen = root().join("target/fuzz/chosen").join(target);
        let _ = fs::remove_dir_all(&chosen);
        fs::create_dir_all(&chosen)?;
        steps.check(target, || {
            let mut merge = binaries.command(target);
            merge.args(LIMITS).arg("-set_cover_merge=1").arg(&chosen).arg(committed(target)).arg(running(target));
            let output = merge.output()?;
            ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            replace(&committed(target), &chosen)
        })?;
    }
    steps.finish();
    Ok(())
}

/// Puts the chosen inputs in place of those that were taken over before; those with names of their own stay.
fn replace(corpus: &Path, chosen: &Path) -> Result<()> {
    let is_named = |path: &PathBuf| path.file_name().is_some_and(|name| name.len() != 40);
    let (named, former): (Vec<_>, Vec<_>) = files(corpus)?.into_iter().partition(is_named);
    former.iter().try_for_each(fs::remove_file)?;
    let read = |path: &PathBuf| fs::read(path);
    let named = named.iter().map(read).collect::<std::io::Result<Vec<_>>>()?;
    let mut chosen = files(chosen)?.into_iter().map(|path| Ok((read(&path)?, path))).collect::<Result<Vec<_>>>()?;
    chosen.retain(|(bytes, _)| !named.contains(bytes));
    chosen.sort_by_key(|(bytes, _)| bytes.len());
    // Of all sizes: small ones are broken at once, large ones reach far.
    let bytes: usize = chosen.iter().map(|(bytes, _)| bytes.len()).sum();
    let step = chosen.len().div_ceil(MOST_FILES.saturating_sub(named.len()).max(1)).max(bytes.div_ceil(MOST_BYTES));
    for (_, path) in chosen.iter().step_by(step.max(1)) {
        fs::copy(path, corpus.join(path.file_name().context("a file has a name")?))?;
    }
    println!("{} inputs", files(corpus)?.len());
    Ok(())
}
