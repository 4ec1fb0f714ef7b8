//! Checkpoints: all that training needs to go on with the same bits.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::fit::{Found, Interrupted};
use super::{Fit, Learner, Phase, Selection, TrainError, Trainer};
use crate::evaluate::Validated;
use crate::kernel::{Chunk, LANES, Matrix};
use crate::network::{Deal, FrozenEncoders};
use crate::score::ScoreWeights;
use crate::storage::{Container, ContainerWriter, FileFormat, is_partial};

const FORMAT: FileFormat = FileFormat::Checkpoint;
const VERSION: u32 = 1;
const FILE: &str = "training.checkpoint";
/// Numbers in a row of moments: a chunk of the first and one of the second.
const MOMENTS: usize = 2 * LANES;

/// Where checkpoints of a run go. There is one file, replaced as a whole each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    /// The folder.
    pub folder: PathBuf,
    /// Steps between two of them; 0 counts as 1.
    pub every: u64,
    /// Whether to go on from the one that is there.
    pub resume: bool,
}

/// A run as a checkpoint kept it.
pub(super) enum Saved {
    /// Interrupted in its search.
    Search { interrupted: Interrupted, history: Vec<Validated>, best: Option<FrozenEncoders> },
    /// Interrupted while the final encoders were trained.
    Refit { interrupted: Interrupted, found: Found },
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
}

impl Checkpoints {
    /// The file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// Removes the checkpoint, and what interrupted writes of one have left.
    pub fn remove(&self) -> Result<(), TrainError> {
        let failed = |source| TrainError::Remove { path: self.path(), source };
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let partial = name.starts_with(&format!(".{FILE}.")) && is_partial(&name);
            if partial || name == FILE {
                fs::remove_file(&path).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// The run to go on with, if that was asked for.
    pub(super) fn open(&self, fit: &Fit<'_>) -> Result<Option<Saved>, TrainError> {
        let path = self.path();
        match (path.exists(), self.resume) {
            (true, true) => self.read(fit).map(Some),
            (true, false) => Err(TrainError::Occupied { folder: self.folder.clone() }),
            (false, true) => Err(TrainError::NoCheckpoint { folder: self.folder.clone() }),
            (false, false) => {
                fs::create_dir_all(&self.folder).map_err(|source| TrainError::Write { path, source })?;
                Ok(None)
            }
        }
    }

    pub(super) fn write_search(
        &self,
        fit: &Fit<'_>,
        trainer: &Trainer<'_>,
        selection: &Selection<FrozenEncoders>,
    ) -> Result<(), TrainError> {
        let best = selection.snapshot();
        let about = About {
            phase: Phase::Search,
            best_kept: best.is_some(),
            history: selection.history().to_vec(),
            ..About::of(fit, trainer)
        };
        self.write(&about, trainer, best)
    }

    pub(super) fn write_refit(&self, fit: &Fit<'_>, trainer: &Trainer<'_>, found: &Found) -> Result<(), TrainError> {
        let Found { history, steps, weights } = found.clone();
        let about = About { phase: Phase::Refit, steps, history, weights, ..About::of(fit, trainer) };
        self.write(&about, trainer, None)
    }

    fn write(&self, about: &About, trainer: &Trainer<'_>, best: Option<&FrozenEncoders>) -> Result<(), TrainError> {
        let path = self.path();
        let about = toml::to_string(about)
            .map_err(|error| TrainError::Write { path: path.clone(), source: std::io::Error::other(error) })?;
        let mut writer = ContainerWriter::default();
        for (name, parameter) in trainer.model().encoders.parameters() {
            writer.rows::<f32>(format!("moments.{name}"), MOMENTS, bytemuck::cast_slice(parameter.moments.chunks()));
            writer.matrix(name, &parameter.weights);
        }
        for (name, weights) in best.into_iter().flat_map(FrozenEncoders::parameters) {
            writer.matrix(format!("best.{name}"), weights);
        }
        writer.write(&path, FORMAT, VERSION, &about).map_err(|source| TrainError::Write { path, source })
    }

    fn read(&self, fit: &Fit<'_>) -> Result<Saved, TrainError> {
        let path = self.path();
        let archive = Container::open(&path, FORMAT, VERSION)?;
        let about: About = toml::from_str(&archive.about).map_err(|error| archive.inconsistent(error.to_string()))?;
        let other = |what| Err(TrainError::OtherRun { path: path.clone(), what });
        if about.config != fit.config.to_toml() {
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
        let About { phase, step, steps, history, weights, .. } = about;
        let interrupted = Interrupted { step, model };
        Ok(match phase {
            Phase::Search => Saved::Search { interrupted, history, best },
            Phase::Refit => Saved::Refit { interrupted, found: Found { history, steps, weights } },
        })
    }
}

impl About {
    /// Of a run that has found nothing yet.
    fn of(fit: &Fit<'_>, trainer: &Trainer<'_>) -> Self {
        About {
            phase: Phase::Search,
            step: trainer.step(),
            steps: 0,
            seed: fit.seed.to_string(),
            data: fingerprint(fit),
            config: fit.config.to_toml(),
            best_kept: false,
            history: Vec::new(),
            weights: None,
        }
    }
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
        if let Some(preparation) = view.preparation() {
            preparation.add_to(&mut hash);
        }
    }
    let loaded = fit.split.attributes();
    hash.update(bytemuck::cast_slice(loaded.offsets()));
    hash.update(bytemuck::cast_slice(loaded.columns()));
    hash.update(bytemuck::cast_slice(loaded.values()));
    for pair in fit.split.validation() {
        hash.update(bytemuck::bytes_of(&[pair.source, pair.target, u32::from(pair.linked)]));
    }
    format!("{:016x}", hash.digest())
}
