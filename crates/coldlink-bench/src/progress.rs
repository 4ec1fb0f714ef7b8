//! A line that says what is under way and how long it may take.

use std::time::Duration;

use coldlink_bench::experiment::{Cell, Event, Look, TuneEvent};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

/// Shows a run or a search on the terminal, and each finished piece on a line of its own.
pub struct Progress {
    bar: ProgressBar,
    /// What may be left, in words.
    time: String,
}

impl Progress {
    /// A bar; nothing moves where the output is no terminal.
    pub fn new(quiet: bool) -> Self {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(1) };
        let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Progress { bar, time: String::new() }
    }

    /// An event of a run.
    pub fn on_run(&mut self, event: Event<'_>) {
        match event {
            Event::Begun { cell, done, left, seconds_left } => {
                self.bar.set_length((done + left) as u64);
                self.bar.set_position(done as u64);
                let time = seconds_left.map_or_else(String::new, |seconds| {
                    format!(", {} left", HumanDuration(Duration::from_secs_f64(seconds)))
                });
                self.time = time;
                self.bar.set_message(format!("{}{}", named(cell), self.time));
            }
            Event::Look(cell, look) => self.look(&named(cell), &look),
            Event::Ended(row) => {
                let (auc, ap) = (row.auc.unwrap_or(f64::NAN), row.ap.unwrap_or(f64::NAN));
                self.say(&format!(
                    "{:10} {:10} {:18} seed {}  AUC {auc:.4}  AP {ap:.4}  {} steps  {:.1} s",
                    row.block, row.set, row.method, row.seed, row.steps, row.seconds
                ));
            }
        }
    }

    /// An event of a search.
    pub fn on_tune(&mut self, event: TuneEvent<'_>) {
        match event {
            TuneEvent::Begun { trial, done, left } => {
                self.bar.set_length((done + left) as u64);
                self.bar.set_position(done as u64);
                self.bar.set_message(format!("{} {} {}", trial.block.name, trial.set, trial.row.label));
            }
            TuneEvent::Look(trial, look) => {
                self.look(&format!("{} {} {}", trial.block.name, trial.set, trial.row.label), &look);
            }
            TuneEvent::Ended(trial) => self.say(&format!(
                "{:10} {:10} {:18} validation AUC {:.4}  AP {:.4}  {:.1} s  {}",
                trial.block, trial.set, trial.method, trial.auc, trial.ap, trial.seconds, trial.settings
            )),
        }
    }

    fn look(&self, what: &str, look: &Look) {
        self.bar.set_message(match look {
            Look::Steps(step, steps) => format!("{what}{}, step {step} of {steps}", self.time),
            Look::Validated(validated) => {
                format!("{what}{}, step {}: validation AUC {:.3}", self.time, validated.step, validated.auc)
            }
        });
    }

    /// A line that stays, on a terminal and in a file alike.
    pub fn say(&self, line: &str) {
        if self.bar.is_hidden() { println!("{line}") } else { self.bar.println(line) }
    }

    /// Takes the bar away.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}

fn named(cell: &Cell<'_>) -> String {
    format!("{} {} {} seed {}", cell.block.name, cell.set, cell.row.label, cell.seed)
}
