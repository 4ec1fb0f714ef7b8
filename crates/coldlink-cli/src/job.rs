//! How far the whole of a command is: its parts, what each is likely to take, and how long all of it still will.

use std::fmt;
use std::time::Instant;

use coldlink::tune::Plan;

use crate::tables::count;

/// Below this, a word about time and memory is not worth its line.
const SHORT: f64 = 20.0;

/// A part of the work, in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Trials of settings.
    Trying,
    /// The search for the number of steps.
    Searching,
    /// The fit of the score.
    Scoring,
    /// The final fit.
    Fitting,
}

/// The work as it was planned, and how much of it is done.
pub struct Job {
    plan: Plan,
    /// Planned seconds of each part.
    parts: [f64; 4],
    done: f64,
    /// The share of all trials that was done before the one at hand, and what it is.
    trial: [f64; 2],
    started: Instant,
}

impl Job {
    /// That begins now.
    pub fn of(plan: &Plan) -> Self {
        let parts = [plan.trying, plan.searching, plan.scoring, plan.fitting];
        Job { plan: plan.clone(), parts, done: 0.0, trial: [0.0, 0.0], started: Instant::now() }
    }

    /// A share of a part is done, and all parts before.
    pub fn reach(&mut self, part: Part, share: f64) {
        let before: f64 = self.parts[..part as usize].iter().sum();
        self.done = self.done.max(before + share * self.parts[part as usize]);
    }

    /// A trial begins.
    pub fn start_trial(&mut self, number: usize, trials: usize) {
        let one = 1.0 / trials.max(1) as f64;
        self.trial = [(number - 1) as f64 * one, one];
        self.reach_in_trial(0.0);
    }

    /// A share of the trial is done.
    pub fn reach_in_trial(&mut self, share: f64) {
        let [before, one] = self.trial;
        self.reach(Part::Trying, before + share * one);
    }

    /// Seconds that all of it still takes if it goes on as it went, once that can be said.
    pub fn left(&self) -> Option<f64> {
        let (elapsed, all) = (self.started.elapsed().as_secs_f64(), self.parts.iter().sum::<f64>());
        (elapsed > 2.0 && self.done > all / 100.0).then(|| elapsed * (all / self.done - 1.0).max(0.0))
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { trials, needed, fitting, .. } = self.plan;
        let fits = if fitting > 0.0 { " and the final fit" } else { "" };
        match trials {
            0 if needed > 0.0 => {
                let budget = at_least(needed);
                write!(f, "no trials, which need a budget of {budget}; training alone takes two ordinary cores")?;
            }
            0 => write!(f, "no trials{fits}; on two ordinary cores")?,
            trials => write!(f, "{}{fits}; on two ordinary cores", count(trials, "trial"))?,
        }
        write!(f, " {}, up to {}", about(self.plan.seconds()), size(self.plan.memory))
    }
}

/// A time in the unit that suits it.
pub fn about(seconds: f64) -> String {
    match seconds {
        ..SHORT => format!("{seconds:.0} s"),
        ..90.0 => format!("about {:.0} s", seconds / 10.0 * 10.0),
        ..5400.0 => format!("about {:.0} min", seconds / 60.0),
        _ => format!("about {:.1} h", seconds / 3600.0),
    }
}

/// A time that is enough, as users write one.
fn at_least(seconds: f64) -> String {
    if seconds < 90.0 { format!("{:.0}s", seconds.ceil()) } else { format!("{:.0}m", (seconds / 60.0).ceil()) }
}

fn size(bytes: f64) -> String {
    if bytes < 1e9 { format!("{:.0} MB", (bytes / 1e6).max(1.0)) } else { format!("{:.1} GB", bytes / 1e9) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan { trials: 4, trying: 80.0, fitting: 20.0, memory: 2.5e9, ..Plan::default() }
    }

    #[test]
    fn a_plan_says_trials_time_and_memory() {
        let text = Job::of(&plan()).to_string();
        assert_eq!(text, "4 trials and the final fit; on two ordinary cores about 2 min, up to 2.5 GB");
        let text = Job::of(&Plan { trials: 0, trying: 0.0, memory: 3e6, ..plan() }).to_string();
        assert_eq!(text, "no trials and the final fit; on two ordinary cores about 20 s, up to 3 MB");
        let text = Job::of(&Plan { trials: 0, needed: 130.0, ..plan() }).to_string();
        let expected =
            "no trials, which need a budget of 3m; training alone takes two ordinary cores about 2 min, up to 2.5 GB";
        assert_eq!(text, expected);
    }

    #[test]
    fn parts_add_up_and_never_go_back() {
        let mut job = Job::of(&plan());
        job.start_trial(3, 4);
        assert_eq!(job.done, 40.0);
        job.reach_in_trial(0.5);
        assert_eq!(job.done, 50.0);
        job.reach(Part::Fitting, 0.5);
        assert_eq!(job.done, 90.0);
        job.reach(Part::Trying, 0.0);
        assert_eq!(job.done, 90.0);
    }
}
