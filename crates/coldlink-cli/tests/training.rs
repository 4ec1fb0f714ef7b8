//! Training that is repeated, killed, interrupted and gone on with: always the same bits.

mod common;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::Folder;

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let folder = Folder::new();
    assert_eq!(folder.train("one.model", "--threads 1 --seed 5").code, 0);
    assert_eq!(folder.train("two.model", "--threads 2 --seed 5").code, 0);
    assert_eq!(folder.train("other.model", "--seed 6").code, 0);
    assert!(folder.read("one.model") == folder.read("two.model"));
    assert!(folder.read("one.model") != folder.read("other.model"));
}

#[test]
fn plain_instructions_can_be_forced() {
    let folder = Folder::new();
    assert_eq!(folder.train("plain.model", "--cpu portable").code, 0);
    assert!(folder.exists("plain.model"));
}

/// Settings under which training takes seconds even on a fast machine, and checkpoints come often.
const SLOW: &str = "--preset default --set loss=pairs --set width=32 --set batch=512 --set steps=6000 --set patience=0 \
    --set validate_every=100 -q";
const OFTEN: &str = "--checkpoint kept --every 20";

fn start(folder: &Folder, words: &str) -> Child {
    let line = format!("train papers -o papers.model {SLOW} {words}");
    let words: Vec<&str> = line.split_whitespace().collect();
    folder.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until a checkpoint is there, and a little longer.
fn wait_for_checkpoint(folder: &Folder) {
    let started = Instant::now();
    while !folder.exists("kept/training.checkpoint") {
        assert!(started.elapsed() < Duration::from_secs(60), "no checkpoint came");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
}

fn check_resumes_to_the_same_bits(folder: &Folder) {
    folder.check(&format!("train papers -o whole.model {SLOW}"));
    folder.check(&format!("train papers -o papers.model {SLOW} {OFTEN} --resume"));
    assert!(folder.read("papers.model") == folder.read("whole.model"), "the resumed model differs");
    let left = std::fs::read_dir(folder.path("kept")).unwrap().count();
    assert_eq!(left, 0, "a finished run leaves no checkpoint");
}

#[test]
fn a_killed_run_goes_on_to_the_same_bits() {
    let folder = Folder::new();
    let mut child = start(&folder, OFTEN);
    wait_for_checkpoint(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!folder.exists("papers.model"), "it was killed too late to test anything");
    let occupied = folder.run(&format!("train papers -o papers.model {SLOW} {OFTEN}"));
    assert_eq!(occupied.code, 2);
    assert!(occupied.err.contains("hint: continue from it with `--resume`"), "{}", occupied.err);
    let other = folder.run(&format!("train papers -o papers.model {SLOW} {OFTEN} --resume --seed 1"));
    assert_eq!(other.code, 2);
    assert!(other.err.contains("belongs to another run: its seed differs"), "{}", other.err);
    check_resumes_to_the_same_bits(&folder);
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_with_the_same_bits() {
    let folder = Folder::new();
    let mut kills = 0;
    while !folder.exists("papers.model") {
        let resume = if folder.exists("kept/training.checkpoint") { "--resume" } else { "" };
        let mut child = start(&folder, &format!("{OFTEN} {resume}"));
        // Later each time, so that it gets somewhere on any machine: into the final fit, and to the end.
        std::thread::sleep(Duration::from_millis(100 + 50 * kills));
        child.kill().unwrap();
        let done = child.wait_with_output().unwrap();
        let code = done.status.code();
        assert!(code.is_none() || code == Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        kills += 1;
    }
    assert!(kills > 2, "it was over too soon to test anything");
    folder.check(&format!("train papers -o whole.model {SLOW}"));
    assert!(folder.read("papers.model") == folder.read("whole.model"), "after {kills} kills the model differs");
}

#[test]
fn a_search_for_settings_that_is_killed_again_and_again_chooses_the_same() {
    let quick = "--set width=16 --set steps=400 --set batch=64 --set negatives=32 --budget 20s -q";
    let folder = Folder::new();
    let mut kills = 0;
    let mut finished = false;
    // A run may also be killed between its last two acts: the model is written, and what was kept for it not yet removed.
    while !finished {
        let trials = std::fs::read_dir(folder.path("kept/trials")).is_ok_and(|mut files| files.next().is_some());
        let resume = if trials || folder.exists("kept/training.checkpoint") { "--resume" } else { "" };
        let line = format!("train papers -o papers.model {quick} --checkpoint kept --every 50 {resume}");
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut child = folder.command(&words).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100 + 100 * kills));
        child.kill().unwrap();
        let done = child.wait_with_output().unwrap();
        let code = done.status.code();
        assert!(code.is_none() || code == Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        finished = code == Some(0);
        kills += 1;
    }
    folder.check(&format!("train papers -o whole.model {quick}"));
    assert!(folder.read("papers.model") == folder.read("whole.model"), "after {kills} kills the model differs");
    let left = std::fs::read_dir(folder.path("kept")).unwrap().count();
    assert_eq!(left, 0, "a finished run leaves neither checkpoint nor trials");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_go_on_and_does() {
    let folder = Folder::new();
    let child = start(&folder, OFTEN);
    wait_for_checkpoint(&folder);
    let said = interrupt(child);
    assert!(said.contains("progress is saved in `kept/training.checkpoint`"), "{said}");
    assert!(said.contains("hint: run the same command with `--resume` to continue"), "{said}");
    assert!(!folder.exists("papers.model"));
    check_resumes_to_the_same_bits(&folder);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_without_checkpoints_says_that_nothing_was_kept() {
    let folder = Folder::new();
    let child = start(&folder, "--set steps=2000000");
    std::thread::sleep(Duration::from_millis(500));
    let said = interrupt(child);
    assert!(said.contains("nothing was saved"), "{said}");
    assert!(!folder.exists("papers.model"));
}

/// Sends SIGINT, as Ctrl-C does, and yields what the command says before it ends with code 130.
#[cfg(unix)]
fn interrupt(child: Child) -> String {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(130), "{said}");
    said
}
