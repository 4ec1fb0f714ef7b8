//! Checkpoints: all that training needs to go on with the same bits.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::fit::Progress;
use super::{Fit, Phase, TrainError, Validated};
use crate::graph::{Attributes, Graph};
use crate::kernel::{Chunk, Matrix};
use crate::model::{Archive, ArchiveWriter, Deal};
use crate::score::ScoreWeights;

const KIND: &str = "checkpoint";
const VERSION: u32 = 1;
const FILE: &str = "training.checkpoint";

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
pub(super) struct Saved {
    pub phase: Phase,
    pub step: u64,
    pub model: Deal<f32>,
    pub progress: Progress,
}

#[derive(Serialize, Deserialize)]
struct About {
    phase: Phase,
    step: u64,
    /// As text: TOML's numbers end at 2⁶³.
    seed: String,
    data: String,
    config: String,
    best_kept: bool,
    #[serde(default)]
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
            let partial = name.starts_with(&format!(".{FILE}.")) && name.ends_with(".partial");
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

    pub(super) fn write(
        &self,
        fit: &Fit<'_>,
        phase: Phase,
        step: u64,
        model: &Deal<f32>,
        progress: &Progress,
    ) -> Result<(), TrainError> {
        let path = self.path();
        let about = About {
            phase,
            step,
            seed: fit.seed.to_string(),
            data: fingerprint(fit),
            config: fit.config.to_toml(),
            best_kept: progress.best_model.is_some(),
            history: progress.history.clone(),
            weights: progress.weights.clone(),
        };
        let about = toml::to_string(&about)
            .map_err(|error| TrainError::Write { path: path.clone(), source: std::io::Error::other(error) })?;
        let mut writer = ArchiveWriter::default();
        for (name, parameter) in model.parameters() {
            writer.chunks(format!("moments.{name}"), parameter.moments.chunks());
            writer.matrix(name, &parameter.weights);
        }
        for (name, parameter) in progress.best_model.iter().flat_map(Deal::parameters) {
            writer.matrix(format!("best.{name}"), &parameter.weights);
        }
        writer.write(&path, KIND, VERSION, &about).map_err(|source| TrainError::Write { path, source })
    }

    fn read(&self, fit: &Fit<'_>) -> Result<Saved, TrainError> {
        let path = self.path();
        let archive = Archive::open(&path, KIND, VERSION)?;
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
            Phase::Search => fit.split.search(fit.attributes),
            Phase::Refit => fit.split.final_view(fit.attributes),
        };
        let mut model = Deal::shaped(view.graph().nodes(), view.attributes().width(), fit.config);
        let mut best = about.best_kept.then(|| model.frozen());
        for (name, parameter) in model.parameters_mut() {
            parameter.weights = owned(archive.matrix(&name, parameter.weights.rows(), parameter.weights.columns())?);
            let moments = archive.buffer::<[Chunk<f32>; 2]>(&format!("moments.{name}"))?;
            let room = parameter.moments.chunks_mut();
            if moments.len() != room.len() {
                return Err(archive.inconsistent(format!("the moments of `{name}` have another size")).into());
            }
            room.copy_from_slice(&moments);
        }
        for (name, parameter) in best.iter_mut().flat_map(Deal::parameters_mut) {
            let (rows, columns) = (parameter.weights.rows(), parameter.weights.columns());
            parameter.weights = owned(archive.matrix(&format!("best.{name}"), rows, columns)?);
        }
        let progress = Progress { history: about.history, best_model: best, weights: about.weights };
        Ok(Saved { phase: about.phase, step: about.step, model, progress })
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
    add_graph(&mut hash, fit.split.search(fit.attributes).graph());
    if let Some(view) = fit.split.refit(fit.attributes) {
        add_graph(&mut hash, view.graph());
    }
    add_attributes(&mut hash, fit.attributes);
    let final_view = fit.split.final_view(fit.attributes);
    if final_view.preparation().is_some() {
        add_attributes(&mut hash, final_view.attributes());
    }
    for pair in fit.split.validation() {
        hash.update(bytemuck::bytes_of(&[pair.source, pair.target, u32::from(pair.linked)]));
    }
    format!("{:016x}", hash.digest())
}

fn add_graph(hash: &mut Xxh3, graph: &Graph) {
    hash.update(bytemuck::cast_slice(graph.offsets()));
    hash.update(bytemuck::cast_slice(graph.neighbor_array()));
}

fn add_attributes(hash: &mut Xxh3, attributes: &Attributes) {
    hash.update(bytemuck::cast_slice(attributes.offsets()));
    hash.update(bytemuck::cast_slice(attributes.columns()));
    hash.update(bytemuck::cast_slice(attributes.values()));
}
