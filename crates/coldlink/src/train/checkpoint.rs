//! Checkpoints: all that training needs to go on with the same bits.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::fit::{Found, Interrupted};
use super::{EncoderLearner, Event, Fit, Observer, Phase, Selection, TrainError};
use crate::config::Config;
use crate::evaluate::Validated;
use crate::kernel::{Chunk, Cpu, LANES, Matrix};
use crate::network::{Deal, FrozenEncoders};
use crate::score::ScoreWeights;
use crate::storage::{Container, ContainerWriter, FileFormat, FolderLock};

const FORMAT: FileFormat = FileFormat::Checkpoint;
const VERSION: u32 = 1;
const FILE: &str = "training.checkpoint";
/// Numbers in a row of moments: a chunk of the first and one of the second.
const MOMENTS: usize = 2 * LANES;

/// Where checkpoints of a run go, and no other run's as long as this lives. There is one file, replaced as a whole each time.
#[derive(Debug)]
pub struct Checkpoints {
    lock: FolderLock,
    every: u64,
}

/// A run as a checkpoint kept it.
pub(super) enum Saved {
    /// Interrupted in its search.
    Search { interrupted: Interrupted, history: Vec<Validated>, best: Option<FrozenEncoders> },
    /// Interrupted while the final encoders were trained.
    Refit { interrupted: Interrupted, found: Box<Found> },
}

#[derive(Serialize, Deserialize)]
struct About {
    phase: Phase,
    step: u64,
    /// Steps of the refit.
    steps: u64,
    /// As text: TOML's numbers end at 2⁶³.
    seed: String,
    data: String,
    config: String,
    best_kept: bool,
    history: Vec<Validated>,
    weights: Option<ScoreWeights>,
    /// The instruction set; files from before it was kept do not say.
    cpu: Option<String>,
}

impl Checkpoints {
    /// In a folder, which is made if need be; one every so many steps, where 0 counts as 1. Training goes on from the checkpoint
    /// that is there if `resume` says so, and starts from the beginning where there is none.
    pub fn open(folder: &Path, every: u64, resume: bool) -> Result<Self, TrainError> {
        let failed = |source| TrainError::Write { path: folder.join(FILE), source };
        let lock = FolderLock::try_of(folder).map_err(failed)?;
        let lock = lock.ok_or_else(|| TrainError::InUse { folder: folder.to_owned() })?;
        lock.remove_partials(FILE).map_err(failed)?;
        let checkpoints = Checkpoints { lock, every: every.max(1) };
        if !resume && checkpoints.is_there() {
            return Err(TrainError::Occupied { folder: folder.to_owned() });
        }
        Ok(checkpoints)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.lock.folder()
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.folder().join(FILE)
    }

    /// Whether there is a checkpoint to go on from.
    pub fn is_there(&self) -> bool {
        self.path().exists()
    }

    /// Steps between two of them.
    pub(super) fn every(&self) -> u64 {
        self.every
    }

    /// Removes the checkpoint, which is no longer needed.
    pub fn remove(self) -> Result<(), TrainError> {
        match fs::remove_file(self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(|source| TrainError::Remove { path: self.path(), source }),
        }
    }

    /// The run to go on with, if there is one.
    pub(super) fn saved(&self, fit: &Fit<'_>, observer: &mut dyn Observer) -> Result<Option<Saved>, TrainError> {
        if self.is_there() { self.read(fit, observer).map(Some) } else { Ok(None) }
    }

    pub(super) fn write_search(
        &self,
        fit: &Fit<'_>,
        learner: &impl EncoderLearner,
        selection: &Selection<FrozenEncoders>,
    ) -> Result<(), TrainError> {
        let best = selection.snapshot();
        let about = About {
            phase: Phase::Search,
            best_kept: best.is_some(),
            history: selection.history().to_vec(),
            ..About::of(fit, learner)
        };
        self.write(&about, learner, best)
    }

    pub(super) fn write_refit(
        &self,
        fit: &Fit<'_>,
        learner: &impl EncoderLearner,
        found: &Found,
    ) -> Result<(), TrainError> {
        let Found { history, steps, weights } = found.clone();
        let about = About { phase: Phase::Refit, steps, history, weights, ..About::of(fit, learner) };
        self.write(&about, learner, None)
    }

    fn write(
        &self,
        about: &About,
        learner: &impl EncoderLearner,
        best: Option<&FrozenEncoders>,
    ) -> Result<(), TrainError> {
        let (path, state) = (self.path(), learner.state());
        let about = toml::to_string(about)
            .map_err(|error| TrainError::Write { path: path.clone(), source: std::io::Error::other(error) })?;
        let mut writer = ContainerWriter::default();
        for (name, parameter) in state.encoders.parameters() {
            writer.rows::<f32>(format!("moments.{name}"), MOMENTS, bytemuck::cast_slice(parameter.moments.chunks()));
            writer.matrix(name, &parameter.weights);
        }
        for (name, weights) in best.into_iter().flat_map(FrozenEncoders::parameters) {
            writer.matrix(format!("best.{name}"), weights);
        }
        writer.write(&path, FORMAT, VERSION, &about).map_err(|source| TrainError::Write { path, source })
    }

    fn read(&self, fit: &Fit<'_>, observer: &mut dyn Observer) -> Result<Saved, TrainError> {
        let path = self.path();
        let archive = Container::open(&path, FORMAT, VERSION)?;
        let about: About = toml::from_str(&archive.about).map_err(|error| archive.inconsistent(error.to_string()))?;
        let other = |what| Err(TrainError::OtherRun { path: path.clone(), what });
        // A setting that is newer than the file has the value that stands for what was done before.
        if toml::from_str::<Config>(&about.config).ok().as_ref() != Some(fit.config) {
            return other("configuration");
        }
        if about.seed != fit.seed.to_string() {
            return other("seed");
        }
        if about.data != fingerprint(fit) {
            return other("graph");
        }
        let view = match about.phase {
            Phase::Search => fit.split.search(),
            Phase::Refit => fit.split.final_view(),
        };
        let view = view.by(fit.config);
        let mut model = Deal::new(view.graph().nodes(), view.attributes().width(), fit.config, 0);
        let mut best = about.best_kept.then(|| model.encoders.frozen());
        for (name, parameter) in model.encoders.parameters_mut() {
            parameter.weights = owned(archive.matrix(&name, parameter.weights.rows(), parameter.weights.columns())?);
            let moments = archive.rows::<f32, [Chunk<f32>; 2]>(&format!("moments.{name}"), MOMENTS)?;
            let room = parameter.moments.chunks_mut();
            if moments.len() != room.len() {
                return Err(archive.inconsistent(format!("the moments of `{name}` have another size")).into());
            }
            room.copy_from_slice(&moments);
        }
        for (name, weights) in best.iter_mut().flat_map(FrozenEncoders::parameters_mut) {
            *weights = owned(archive.matrix(&format!("best.{name}"), weights.rows(), weights.columns())?);
        }
        if let Some(event) = other_cpu(about.cpu.as_deref()) {
            observer.on(event);
        }
        let About { phase, step, steps, history, weights, .. } = about;
        let interrupted = Interrupted { step, model };
        Ok(match phase {
            Phase::Search => Saved::Search { interrupted, history, best },
            Phase::Refit => Saved::Refit { interrupted, found: Box::new(Found { history, steps, weights }) },
        })
    }
}

impl About {
    /// Of a run that has found nothing yet.
    fn of(fit: &Fit<'_>, learner: &impl EncoderLearner) -> Self {
        About {
            phase: Phase::Search,
            step: learner.step(),
            steps: 0,
            seed: fit.seed.to_string(),
            data: fingerprint(fit),
            config: fit.config.to_toml(),
            best_kept: false,
            history: Vec::new(),
            weights: None,
            cpu: Some(Cpu::current().to_string()),
        }
    }
}

/// What to tell of work that was done under an instruction set, where another is in use now.
pub(crate) fn other_cpu(before: Option<&str>) -> Option<Event> {
    let (before, now) = (before?.parse().ok()?, Cpu::current());
    (before != now).then_some(Event::OtherCpu { before, now })
}

/// The checkpoint's file will be replaced, so nothing may go on pointing into it.
fn owned(mut matrix: Matrix<f32>) -> Matrix<f32> {
    matrix.chunks_mut();
    matrix
}

/// Of everything that is trained and validated on.
pub(crate) fn fingerprint(fit: &Fit<'_>) -> String {
    let mut hash = Xxh3::new();
    let (search, final_view) = (fit.split.search(), fit.split.final_view());
    for view in [search, final_view] {
        hash.update(bytemuck::cast_slice(view.graph().offsets()));
        hash.update(bytemuck::cast_slice(view.graph().neighbor_array()));
        hash.update(bytemuck::cast_slice(view.graph().weights().unwrap_or_default()));
        if let Some(preparation) = view.preparation() {
            preparation.add_to(&mut hash);
        }
    }
    let loaded = fit.split.attributes();
    hash.update(bytemuck::cast_slice(loaded.offsets()));
    hash.update(bytemuck::cast_slice(loaded.columns()));
    hash.update(bytemuck::cast_slice(loaded.values()));
    hash.update(bytemuck::cast_slice(loaded.dense()));
    for pair in fit.split.validation() {
        hash.update(bytemuck::bytes_of(&[pair.source, pair.target, u32::from(pair.linked)]));
    }
    format!("{:016x}", hash.digest())
}
