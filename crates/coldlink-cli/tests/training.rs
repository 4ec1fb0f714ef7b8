//! Training that is repeated, killed, interrupted and gone on with: always the same bits.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use coldlink::kernel::Cpu;
use coldlink::synthetic::World;
use common::Folder;

#[test]
fn a_time_limit_ends_the_search_and_says_that_another_run_may_differ() {
    let folder = Folder::new();
    let done = folder.run("train papers -o m --time-limit 0s --set steps=60 --set width=16");
    assert_eq!(done.code, 0, "{}", done.err);
    let note = "note: the time limit ended the search after 0 trials; another run may choose other settings\n";
    assert!(done.err.contains(note), "{}", done.err);
    assert_eq!(folder.run("train papers -o m --time-limit soon").code, 2);
}

#[test]
fn a_budget_that_is_too_small_for_trials_says_what_they_need() {
    let folder = Folder::new();
    let done = folder.run("train papers -o m --budget 0s --set steps=60 --set width=16");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("plan: no trials, which need a budget of "), "{}", done.err);
    assert!(done.err.contains("; training alone takes two ordinary cores "), "{}", done.err);
}

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
        let mut child = start(&folder, &format!("{OFTEN} --resume"));
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
        let line = format!("train papers -o papers.model {quick} --checkpoint kept --every 50 --resume");
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

#[test]
fn with_nothing_to_resume_from_training_starts_from_the_beginning_and_says_so() {
    let folder = Folder::new();
    let done = folder.train("papers.model", "--checkpoint kept --resume");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("note: there is nothing to continue in `kept`; training starts from"), "{}", done.err);
    assert_eq!(folder.train("whole.model", "").code, 0);
    assert!(folder.read("papers.model") == folder.read("whole.model"));
}

#[test]
fn a_second_training_in_the_same_folder_is_refused() {
    let folder = Folder::new();
    let mut child = start(&folder, &format!("{OFTEN} --set steps=2000000"));
    wait_for_checkpoint(&folder);
    let second = folder.train("second.model", "--checkpoint kept --resume");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(second.code, 2);
    assert!(second.err.contains("error: another training uses the folder `kept`"), "{}", second.err);
    assert!(second.err.contains("hint: wait until it ends, or use another folder"), "{}", second.err);
    // The dead no longer hold it.
    let third = folder.train("third.model", "--checkpoint kept --resume");
    assert!(third.err.contains("belongs to another run"), "{}", third.err);
}

#[test]
fn a_second_search_in_the_same_folder_is_refused() {
    let folder = Folder::new();
    let quick = "--set width=16 --set batch=64 --trials 2 -q";
    let line = format!("tune papers -o one.toml --trials-folder trials --set steps=2000000 {quick}");
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut child = folder.command(&words).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while !folder.exists("trials/.lock") {
        assert!(started.elapsed() < Duration::from_secs(60), "the search did not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(50));
    let again = format!("tune papers -o two.toml --trials-folder trials --set steps=20 {quick}");
    let second = folder.run(&again);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(second.code, 2);
    assert!(second.err.contains("error: another search uses the folder `trials`"), "{}", second.err);
    folder.check(&again);
}

#[test]
fn going_on_under_another_instruction_set_is_noted() {
    if Cpu::best() == Cpu::Portable {
        return;
    }
    let folder = Folder::new();
    let slow = SLOW.replace(" -q", "");
    let mut child = start(&folder, &format!("{OFTEN} --cpu portable"));
    wait_for_checkpoint(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = folder.run(&format!("train papers -o papers.model {slow} {OFTEN} --resume"));
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert!(resumed.err.contains("note: it was begun with the instruction set portable"), "{}", resumed.err);
}

#[test]
fn trials_of_another_instruction_set_are_noted_once() {
    if Cpu::best() == Cpu::Portable {
        return;
    }
    let folder = Folder::new();
    let quick = "tune papers -o one.toml --set width=16 --set batch=64 --set steps=20 --trials 2";
    folder.check(&format!("{quick} --cpu portable"));
    let again = folder.run(quick);
    assert_eq!(again.err.matches("begun with the instruction set portable").count(), 1, "{}", again.err);
    let same = folder.run(&format!("{quick} --cpu portable"));
    assert!(!same.err.contains("instruction set"), "{}", same.err);
}

#[test]
fn what_dead_runs_left_goes_when_the_next_begins() {
    let folder = Folder::new();
    folder.write("kept/.training.checkpoint.17-0.partial", "half");
    folder.write("kept/trials/.trial-0123456789abcdef.toml.17-3.partial", "half");
    folder.write("one.trials/.trial-0123456789abcdef.toml.17-3.partial", "half");
    assert_eq!(folder.train("papers.model", "--checkpoint kept").code, 0);
    assert_eq!(std::fs::read_dir(folder.path("kept")).unwrap().count(), 0);
    folder.check("tune papers -o one.toml --set width=16 --set batch=64 --set steps=20 --trials 2 -q");
    let left = std::fs::read_dir(folder.path("one.trials")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<String> = left.map(|name| name.into_string().unwrap()).collect();
    assert!(!left.is_empty() && left.iter().all(|name| name.starts_with("trial-")), "{left:?}");
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

#[cfg(unix)]
#[test]
fn a_phase_without_steps_is_interrupted_as_well() {
    let folder = Folder::new();
    World { nodes: 12_000, topics: 60, ..World::default() }.write_tables(&folder.path("large")).unwrap();
    let line = "train large -o large.model --preset default --set steps=5 --set width=64 --checkpoint kept";
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut child = folder.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(told.any(|line| line.starts_with("score: fitted to ")), "the score was not fitted");
    let (sent, id) = (Instant::now(), child.id().to_string());
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let rest: Vec<String> = told.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(sent.elapsed() < Duration::from_secs(2), "it took {:?}", sent.elapsed());
    assert!(folder.exists("kept/training.checkpoint") && !folder.exists("large.model"));
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
