//! What training tells while it goes on. Progress is an event, never a print.

use crate::evaluate::Validated;
use crate::kernel::Cpu;

/// A part of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Training with validation: finds the best number of steps.
    Search,
    /// Training again, validation nodes included, for that number of steps.
    Refit,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// What goes on was begun under another instruction set: the result is as good as that of an uninterrupted run, but not the
    /// same bits.
    OtherCpu {
        /// The one before.
        before: Cpu,
        /// The one in use.
        now: Cpu,
    },
    /// A phase begins, or goes on after a restart.
    Started {
        /// Which.
        phase: Phase,
        /// Steps done before.
        step: u64,
        /// Steps at the most.
        steps: u64,
    },
    /// Some steps were done.
    Advanced {
        /// Steps done in this phase.
        step: u64,
        /// The loss of the last batch.
        loss: f64,
    },
    /// The model was validated.
    Validated(Validated),
    /// The weights of the score are about to be fitted.
    Scoring {
        /// To so many pairs.
        pairs: usize,
    },
    /// A checkpoint was written.
    Saved {
        /// At this step of the phase.
        step: u64,
    },
    /// The phase is over.
    Ended {
        /// Which.
        phase: Phase,
        /// Its last step.
        step: u64,
    },
}

/// What the observer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Write a checkpoint, if asked to, and stop.
    Stop,
}

/// Watches training.
pub trait Observer {
    /// Is told of an event and says how to go on.
    fn on(&mut self, event: Event) -> Control;
}

/// Watches nothing.
pub struct Silent;

impl Observer for Silent {
    fn on(&mut self, _: Event) -> Control {
        Control::Continue
    }
}
