//! What is shown while training goes on: a bar on a terminal, a line now and then elsewhere.

use std::fmt;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use coldlink::evaluate::{ListQuality, Validated};
use coldlink::kernel::Cpu;
use coldlink::split::AuditStatus;
use coldlink::train::{Control, Event, Observer, Phase};
use coldlink::tune::{Chosen, Plan, Planned, SeedStarted, Tried, Watcher};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::interrupt;
use crate::job::{Job, Part, about};
use crate::tables::{count, percent, whole};

/// Time between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// The message goes last and is cut where the terminal ends.
const BAR: &str = "{prefix} [{bar:14}] {pos}/{len}, {rate}/s, {eta} left, {wide_msg}";

/// Shows the events of training, and asks it to stop after Ctrl-C.
pub struct Progress {
    shown: Shown,
    /// What stands before everything, as the seed of several.
    label: String,
    /// Of an evaluation: the place of the seed at hand.
    seed: u64,
    /// The worst audit so far.
    worst: AuditStatus,
    /// The trial at hand, where settings are searched for.
    trial: Option<String>,
    phase: Phase,
    first: u64,
    step: u64,
    steps: u64,
    started: Instant,
    last_line: Instant,
    loss: f64,
    validated: Option<Validated>,
    best: Option<Validated>,
    /// Whether the user knows of another instruction set.
    cpu_noted: bool,
    /// All that is to be done, where that is known.
    job: Option<Job>,
}

enum Shown {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

impl Progress {
    /// Of one training, on standard error.
    pub fn new(quiet: bool) -> Self {
        let shown = match (quiet, stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Bar(ProgressBar::hidden()),
            (false, false) => Shown::Lines,
        };
        let now = Instant::now();
        Progress {
            shown,
            label: String::new(),
            seed: 0,
            worst: AuditStatus::Passed,
            trial: None,
            phase: Phase::Search,
            first: 0,
            step: 0,
            steps: 0,
            started: now,
            last_line: now,
            loss: f64::NAN,
            validated: None,
            best: None,
            cpu_noted: false,
            job: None,
        }
    }

    /// How many seeds of an evaluation are done.
    pub fn seeds_done(&self) -> u64 {
        self.seed
    }

    fn start(&mut self, phase: Phase, step: u64, steps: u64) {
        let now = Instant::now();
        (self.phase, self.first, self.step, self.steps) = (phase, step, step, steps);
        (self.started, self.last_line) = (now, now);
        self.tell_job(step);
        let prefix = format!("{}{}", self.label, self.name());
        if let Shown::Bar(bar) = &mut self.shown {
            *bar = ProgressBar::new(steps).with_position(step).with_style(style(BAR));
            bar.set_prefix(prefix);
            bar.reset_eta();
        }
        if step > 0 {
            self.line(&format!("goes on after {} steps", whole(step)));
        }
    }

    fn advance(&mut self, step: u64, loss: f64) {
        (self.step, self.loss) = (step, loss);
        self.tell_job(step);
        let state = format!("{}{}", self.state(), self.left());
        match &self.shown {
            Shown::Bar(bar) => {
                bar.set_message(state);
                bar.set_position(step);
            }
            Shown::Lines if self.last_line.elapsed() > BETWEEN_LINES => {
                self.last_line = Instant::now();
                let seconds = self.started.elapsed().as_secs_f64();
                let rate = (step - self.first) as f64 / seconds;
                let left = (self.steps - step) as f64 / rate;
                // The search may stop early; the final fit does not.
                let most = if self.phase == Phase::Search { "at most " } else { "" };
                let done = format!("{} of {most}{} steps", whole(step), whole(self.steps));
                self.line(&format!("{done}, {rate:.0} steps/s, {most}{left:.0} s left, {state}"));
            }
            Shown::Lines | Shown::Nothing => {}
        }
    }

    fn end(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
        if self.trial.is_some() {
            return;
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let steps = format!("{} steps in {seconds:.1} s{}", whole(self.step - self.first), self.left());
        match (self.phase, self.best) {
            // After a restart the best may lie before it.
            (Phase::Search, Some(best)) if self.first == 0 => {
                self.line(&format!("{steps}, best after {}: {}", whole(best.step), quality(&best)));
            }
            _ => self.line(&steps),
        }
    }

    /// Notes how far the whole job is.
    fn tell_job(&mut self, step: u64) {
        let share = step as f64 / self.steps.max(1) as f64;
        if let Some(job) = &mut self.job {
            match (&self.trial, self.phase) {
                (Some(_), _) => job.reach_in_trial(share),
                (None, Phase::Search) => job.reach(Part::Searching, share),
                (None, Phase::Refit) => job.reach(Part::Fitting, share),
            }
        }
    }

    /// What is left of the whole job.
    fn left(&self) -> String {
        let left = self.job.as_ref().and_then(Job::left);
        left.map_or_else(String::new, |left| format!(", {} left in all", about(left)))
    }

    fn score(&mut self, pairs: usize) {
        if let Some(job) = self.job.as_mut().filter(|_| self.trial.is_none()) {
            job.reach(Part::Scoring, 0.0);
        }
        if self.trial.is_none() {
            self.line_of("score", &format!("fitted to {}{}", count(pairs, "pair"), self.left()));
        }
    }

    /// Says once that the work before was done under another instruction set.
    fn note_cpu(&mut self, before: Cpu, now: Cpu) {
        if !self.cpu_noted && !matches!(self.shown, Shown::Nothing) {
            eprintln!(
                "note: it was begun with the instruction set {before} and goes on with {now}: the model is not bit-identical \
                 to that of an uninterrupted run (`--cpu {before}`, where the machine has it, makes it so)"
            );
        }
        self.cpu_noted = true;
    }

    /// The loss and the last validation.
    fn state(&self) -> String {
        let validated = self.validated.filter(|_| self.phase == Phase::Search);
        let validated = validated.map(|validated| format!(", {}", quality(&validated))).unwrap_or_default();
        format!("loss {:.3}{validated}", self.loss)
    }

    fn line(&self, text: &str) {
        self.line_of(self.name(), text);
    }

    fn line_of(&self, name: &str, text: &str) {
        if !matches!(self.shown, Shown::Nothing) {
            eprintln!("{}{name}: {text}", self.label);
        }
    }

    /// What is under way.
    fn name(&self) -> &str {
        match (&self.trial, self.phase) {
            (Some(trial), _) => trial,
            (None, Phase::Search) => "search",
            (None, Phase::Refit) => "final fit",
        }
    }
}

/// Shows how far other long work is.
pub struct Tally {
    shown: Shown,
    unit: &'static str,
    done: usize,
    /// Those of the first report.
    before: usize,
    total: usize,
    started: Instant,
    last_line: Instant,
}

impl Tally {
    /// Of `total` things that are called `unit`, on standard error.
    pub fn new(quiet: bool, total: usize, unit: &'static str) -> Self {
        let shown = match (quiet, stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, false) => Shown::Lines,
            (false, true) => {
                let template = format!("[{{bar:24}}] {{pos}}/{{len}} {unit}, {{rate}}/s, {{eta}} left");
                Shown::Bar(ProgressBar::new(total as u64).with_style(style(&template)))
            }
        };
        let now = Instant::now();
        Tally { shown, unit, done: 0, before: 0, total, started: now, last_line: now }
    }

    /// So many more are done.
    pub fn add(&mut self, number: usize) {
        if self.done == 0 {
            // What comes before the first is no measure of the others.
            self.started = Instant::now();
            self.before = number;
        }
        self.done += number;
        match &self.shown {
            Shown::Bar(bar) => bar.set_position(self.done as u64),
            Shown::Lines if self.last_line.elapsed() > BETWEEN_LINES => {
                self.last_line = Instant::now();
                let rate = (self.done - self.before).max(1) as f64 / self.started.elapsed().as_secs_f64();
                let left = (self.total - self.done) as f64 / rate;
                let (done, total, unit) = (whole(self.done), whole(self.total), self.unit);
                eprintln!("{done} of {total} {unit}, {rate:.0}/s, {left:.0} s left");
            }
            Shown::Lines | Shown::Nothing => {}
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let _ = write!(out, "{:.0}", state.per_sec());
    };
    style.with_key("rate", rate).progress_chars("=> ")
}

impl Observer for Progress {
    fn on(&mut self, event: Event) -> Control {
        match event {
            Event::Started { phase, step, steps } => self.start(phase, step, steps),
            Event::Advanced { step, loss } => self.advance(step, loss),
            Event::Validated(validated) => {
                if self.best.is_none_or(|best| validated.quality() > best.quality()) {
                    self.best = Some(validated);
                }
                self.validated = Some(validated);
            }
            Event::Ended { step, .. } => {
                self.step = step;
                self.end();
            }
            Event::Scoring { pairs } => self.score(pairs),
            Event::Saved { .. } => {}
            Event::OtherCpu { before, now } => self.note_cpu(before, now),
        }
        if interrupt::is_asked() { Control::Stop } else { Control::Continue }
    }
}

impl Watcher for Progress {
    fn planned(&mut self, plan: &Plan) {
        let job = Job::of(plan);
        self.line_of("plan", &job.to_string());
        self.job = Some(job);
    }

    fn seed_started(&mut self, started: &SeedStarted<'_>) {
        let SeedStarted { place, seeds, audit } = *started;
        (self.seed, self.validated, self.best) = (place, None, None);
        self.label = if seeds > 1 { format!("seed {} of {seeds}, ", place + 1) } else { String::new() };
        if audit.status() > self.worst {
            self.worst = audit.status();
            if !matches!(self.shown, Shown::Nothing) {
                eprintln!("note: the leakage audit {audit}");
            }
        }
    }

    fn trial_started(&mut self, planned: &Planned<'_>) {
        let part =
            if planned.share < 1.0 { format!(", {} of the steps", percent(planned.share)) } else { String::new() };
        self.trial = Some(format!("trial {} of {}{part}", planned.number, planned.trials));
        if let Some(job) = &mut self.job {
            job.start_trial(planned.number, planned.trials);
        }
        (self.best, self.validated) = (None, None);
    }

    fn trial_ended(&mut self, tried: &Tried) {
        let found = quality(&tried.trial.best);
        self.line(&format!("{found} in {:.1} s with {}", tried.seconds, tried.name));
        self.trial = None;
    }

    fn search_ended(&mut self, chosen: &Chosen) {
        self.trial = None;
        if !matches!(self.shown, Shown::Nothing) {
            eprint!("{}", choice_text(&self.label, chosen));
        }
    }
}

/// Why the chosen settings were chosen.
fn choice_text(label: &str, chosen: &Chosen) -> String {
    let note = match chosen.out_of_time {
        true => format!(
            "note: the time limit ended the search after {}; another run may choose other settings\n",
            count(chosen.tried.len(), "trial")
        ),
        false => String::new(),
    };
    let Some(best) = chosen.best() else {
        return format!("{note}{label}settings: no time to try others than the first of `auto`\n");
    };
    let rivals = chosen.tried.iter().filter(|tried| tried.share >= best.share && tried.name != best.name);
    let next = rivals.max_by(|a, b| a.trial.best.quality().total_cmp(&b.trial.best.quality()));
    let next = next.map_or_else(String::new, |next| {
        let Validated { auc, ap, lists, .. } = next.trial.best;
        match lists {
            Some(lists) => format!("; next best {} with {}", of_lists(&lists), next.name),
            None => format!("; next best AUC {auc:.3}, AP {ap:.3} with {}", next.name),
        }
    });
    format!("{note}{label}settings: {}, for {} on validation{next}\n", best.name, quality(&best.trial.best))
}

/// What a validation found, in words. An average precision means nothing without the share of linked pairs.
pub fn quality(Validated { auc, ap, prevalence, lists, .. }: &Validated) -> String {
    let pairs = format!("AUC {auc:.3}, AP {ap:.3} ({} linked)", percent(*prevalence));
    lists.map_or(pairs.clone(), |lists| format!("{}, {pairs}", of_lists(&lists)))
}

fn of_lists(ListQuality { mrr, recall }: &ListQuality) -> String {
    format!("MRR {mrr:.3}, recall@10 {recall:.3}")
}
