//! Settings of a model and its training: plain values in TOML, checked as a whole.

mod error;
mod preset;
mod size;
mod term;
mod validation;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use error::ConfigError;
pub use preset::Preset;
pub use size::{Auto, BatchSize};
pub use term::Term;
pub use validation::Validation;

use error::wrong_kind;
use size::MOST_STEPS;

use crate::text::nearest;

/// Everything that a training run depends on, beside the data and the seed. `Config::default()` is the preset
/// `default`; see [`Preset`] for the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Numbers in an embedding.
    pub width: usize,
    /// Widths of the attribute encoder's hidden layers; none makes it linear.
    pub hidden: Vec<usize>,
    /// Whether its layers add a bias.
    pub bias: bool,
    /// Whether its last layer ends in an exponential linear unit, as the hidden ones do.
    pub last_elu: bool,
    /// How rows of attributes are scaled.
    pub scaling: Scaling,
    /// Share of attributes set to zero in training.
    pub attribute_dropout: f32,
    /// Share of hidden units set to zero in training.
    pub hidden_dropout: f32,
    /// Share of an attribute embedding's numbers set to zero in training.
    pub embedding_dropout: f32,
    /// Whether the structure encoder is weight-normalised (Eq. 2). Without effect under cosine.
    pub normalised_table: bool,
    /// How two embeddings are compared.
    pub similarity: Similarity,
    /// What is made small in training.
    pub loss: Loss,
    /// What similarities are divided by in the softmax loss.
    pub temperature: f64,
    /// Nodes drawn for each batch of the softmax loss, which every linked pair is compared with.
    pub negatives: usize,
    /// What is added to a candidate's similarity in the softmax loss.
    #[serde(default)]
    pub offset: Offset,
    /// γ of φ₁ (Eq. 5), for unlinked pairs.
    pub gamma1: f64,
    /// b of φ₁.
    pub b1: f64,
    /// γ of φ₂, for linked pairs.
    pub gamma2: f64,
    /// b of φ₂.
    pub b2: f64,
    /// β of Eq. 6, α = exp(β / (d + `distance_shift`)): how much more near unlinked pairs count; 0 looks at no distance.
    pub beta: f64,
    /// Added to the distance in Eq. 6: 0 in the paper, 1 in its authors' code.
    pub distance_shift: u32,
    /// Paths are searched up to this length, and longer ones count as one more; 0 searches to the end.
    pub distance_bound: u32,
    /// How the two encoders are aligned (Eqs. 7 and 8).
    pub alignment: Alignment,
    /// Weights of the losses of structure, attributes and alignment (Eq. 9).
    pub theta: [f64; 3],
    /// Weights of the scores z_s·z_s, z_a·z_a and z_s·z_a (Eq. 10).
    pub lambda: [f64; 3],
    /// What a score is made of, with weights fitted on validation pairs; none makes it Eq. 10 with λ.
    pub terms: Vec<Term>,
    /// How much links count that have weights: in what is drawn for a batch, in walks, votes and popularity.
    #[serde(default)]
    pub weights: LinkWeights,
    /// How much more newer links count, where links have times.
    #[serde(default)]
    pub recency: Recency,
    /// Whether vectors are used that token vectors make of texts. Files say it where they are not.
    #[serde(default, skip_serializing_if = "TextVectors::is_use")]
    pub text_vectors: TextVectors,
    /// Pairs in a batch: a number of pairs, a share (with a decimal point) of the warm nodes, or `auto`, which grows with the
    /// square root of the number of links. Under the softmax loss all of them are linked.
    pub batch: BatchSize,
    /// Share of linked pairs in a batch of the pair-wise loss.
    pub linked_share: f64,
    /// Steps at the most; more where `epochs` asks for them.
    pub steps: u64,
    /// Passes over all links, each in both directions, that training takes at least. Setting `steps` alone sets it to 0.
    #[serde(default)]
    pub epochs: f64,
    /// Linked pairs that training goes through at the most, so that epochs are fewer where links are many, down to one. 0 is no
    /// bound. Setting `epochs` alone sets it to 0.
    #[serde(default)]
    pub most_pairs: u64,
    /// Numbers in the table of structure embeddings at the most: `width` is halved until they fit, though not below 64. 0 is no
    /// bound. Setting `width` alone sets it to 0.
    #[serde(default)]
    pub most_numbers: u64,
    /// Adam's learning rate at the start.
    pub learning_rate: f64,
    /// How it changes over `steps`.
    pub schedule: Schedule,
    /// Share of each weight that is added to its gradient.
    pub weight_decay: f64,
    /// Which rows a step of Adam moves.
    pub adam: AdamRows,
    /// Steps between validations.
    pub validate_every: u64,
    /// Validations without a new best before training stops; 0 never stops early.
    pub patience: u32,
    /// What the best number of steps is chosen on.
    pub validation: Validation,
    /// What steps, settings and the weights of a score are chosen for.
    #[serde(default)]
    pub objective: Objective,
}

/// What steps, settings and the weights of a score are chosen for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// Lists: that a node's links stand at the top among all candidates (MRR + recall@10).
    Lists,
    /// Pairs: that linked pairs score above unlinked ones (AUC + AP).
    #[default]
    Pairs,
}

/// How much a link counts that has a weight. The mean over all training links is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkWeights {
    /// As much as any other.
    #[default]
    Ignore,
    /// ln(1 + weight / median weight): an enormous weight counts some times more, and not as much as all others together.
    Log,
    /// As much as its weight says.
    Raw,
}

impl LinkWeights {
    /// All of them.
    pub const ALL: [LinkWeights; 3] = [LinkWeights::Ignore, LinkWeights::Log, LinkWeights::Raw];
}

/// How much more newer links count. Times are measured from the first training link to the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recency {
    /// No more than others.
    #[default]
    None,
    /// A link counts half after a quarter of the time.
    Slow,
    /// A link counts half after a sixteenth of the time.
    Fast,
}

impl Recency {
    /// All of them.
    pub const ALL: [Recency; 3] = [Recency::None, Recency::Slow, Recency::Fast];

    /// The share of the time after which a link counts half.
    pub fn half_life(self) -> Option<f64> {
        match self {
            Recency::None => None,
            Recency::Slow => Some(1.0 / 4.0),
            Recency::Fast => Some(1.0 / 16.0),
        }
    }
}

/// What is done with vectors that token vectors make of texts, where a column names any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextVectors {
    /// They are attributes, beside the words of the texts.
    #[default]
    Use,
    /// Nothing: words alone count.
    Ignore,
}

impl TextVectors {
    fn is_use(&self) -> bool {
        *self == TextVectors::Use
    }
}

/// What is added to a candidate's similarity, divided by the temperature, in the softmax loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Offset {
    /// Nothing: embeddings also learn how popular a node is.
    #[default]
    None,
    /// ln(1 + degree): embeddings learn what popularity does not explain.
    Degree,
}

/// How rows of attributes are scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// To length 1.
    Unit,
    /// Not at all.
    Raw,
}

/// How two embeddings are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Similarity {
    /// The cosine of their angle; 0 where one is zero.
    Cosine,
    /// The inner product.
    Dot,
}

/// What is made small in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// The ranking-motivated loss of linked and unlinked pairs (Eq. 4).
    Pairs,
    /// The cross-entropy of a linked pair's other end among nodes drawn uniformly, which the whole batch shares.
    Softmax,
}

/// How the two encoders are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Alignment {
    /// Both embeddings of a node are drawn together (Eq. 7).
    Tight,
    /// The structure embedding of one end and the attribute embedding of the other are trained as a pair (Eq. 8).
    Loose,
}

/// How the learning rate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Not at all.
    Constant,
    /// In a straight line to zero at the last step.
    Linear,
    /// Along half a cosine to zero at the last step.
    Cosine,
}

/// Which rows a step of Adam moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AdamRows {
    /// Those that the batch touches: the cost does not grow with the graph.
    Touched,
    /// All, as the textbook has it.
    Dense,
}

/// Settings with what bounds them.
const BOUNDS: [(&str, &str); 2] = [("epochs", "most_pairs"), ("width", "most_numbers")];

impl Schedule {
    /// The share of the initial rate at `step` of `steps`.
    pub fn factor(self, step: u64, steps: u64) -> f64 {
        let done = step as f64 / steps.max(1) as f64;
        match self {
            Schedule::Constant => 1.0,
            Schedule::Linear => 1.0 - done,
            Schedule::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * done).cos()),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Preset::Default.config()
    }
}

impl Config {
    /// This configuration with the settings of a TOML text put over it.
    pub fn merged(&self, text: &str) -> Result<Config, ConfigError> {
        let changes: toml::Table = toml::from_str(text).map_err(|error| ConfigError::Syntax(error.to_string()))?;
        self.with(changes)
    }

    /// This configuration with one `key=value` put over it. The value is TOML; a bare word is taken as text.
    ///
    /// ```
    /// use coldlink::Config;
    ///
    /// assert_eq!(Config::default().set("width=128")?.width, 128);
    /// assert!(Config::default().set("widht=128").is_err());
    /// # Ok::<(), coldlink::Error>(())
    /// ```
    pub fn set(&self, assignment: &str) -> Result<Config, ConfigError> {
        self.set_all([assignment])
    }

    /// The same with several of them at once.
    pub fn set_all(&self, assignments: impl IntoIterator<Item: AsRef<str>>) -> Result<Config, ConfigError> {
        self.with(assignments.into_iter().map(|assignment| parsed(assignment.as_ref())).collect::<Result<_, _>>()?)
    }

    /// This configuration with some settings as another has them.
    pub(crate) fn taking(&self, keys: &[String], from: &Config) -> Result<Config, ConfigError> {
        let all = from.table();
        let taken = |key: &String| all.get(key).map(|value| (key.clone(), value.clone()));
        self.with(keys.iter().filter_map(taken).collect())
    }

    fn with(&self, mut changes: toml::Table) -> Result<Config, ConfigError> {
        let mut all = self.table();
        if changes.contains_key("steps") && !changes.contains_key("epochs") {
            changes.insert("epochs".to_owned(), toml::Value::Float(0.0));
        }
        // What someone asks for is not cut.
        for (key, bound) in BOUNDS {
            if changes.contains_key(key) && !changes.contains_key(bound) {
                changes.insert(bound.to_owned(), toml::Value::Integer(0));
            }
        }
        for (key, value) in changes {
            let Some(old) = all.get(&key) else {
                let nearest = nearest(&key, all.keys().map(String::as_str));
                return Err(ConfigError::UnknownKey { key, nearest });
            };
            // `theta = [1, 0, 0]` and `beta = 1` mean the numbers they look like.
            let (old, value) = (old.clone(), if key == "batch" { value } else { as_kind_of(old, value) });
            all.insert(key.clone(), value.clone());
            if let Err(error) = Config::deserialize(toml::Value::Table(all.clone())) {
                let message = wrong_kind(&key, &old, &value, error.message());
                return Err(ConfigError::Kind { key, message });
            }
        }
        let config = Config::deserialize(toml::Value::Table(all))
            .map_err(|error| ConfigError::Syntax(error.message().to_owned()))?;
        config.check()?;
        Ok(config)
    }

    fn table(&self) -> toml::Table {
        let mut all = toml::Table::try_from(self).unwrap_or_default();
        if let Ok(value) = toml::Value::try_from(self.text_vectors) {
            all.insert("text_vectors".to_owned(), value);
        }
        all
    }

    /// All settings as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// Whether every value is within its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let share = 0.0..1.0_f64;
        let dropouts = [
            ("attribute_dropout", self.attribute_dropout),
            ("hidden_dropout", self.hidden_dropout),
            ("embedding_dropout", self.embedding_dropout),
        ];
        for (key, value) in dropouts {
            within(key, value, "at least 0 and below 1", share.contains(&f64::from(value)))?;
        }
        let batch = match self.batch {
            BatchSize::Pairs(pairs) => (2..=1 << 24).contains(&pairs),
            BatchSize::Share(share) => share > 0.0 && share <= 100.0,
            BatchSize::Auto(_) => true,
        };
        let batch_text = match self.batch {
            BatchSize::Pairs(pairs) => pairs.to_string(),
            BatchSize::Share(share) => share.to_string(),
            BatchSize::Auto(_) => "auto".to_owned(),
        };
        within("batch", batch_text, "from 2 to 16777216 pairs, a share above 0 and up to 100, or `auto`", batch)?;
        within("width", self.width, "from 1 to 4096", (1..=4096).contains(&self.width))?;
        let hidden = self.hidden.iter().all(|width| (1..=16384).contains(width)) && self.hidden.len() <= 16;
        within("hidden", format!("{:?}", self.hidden), "up to 16 widths from 1 to 16384", hidden)?;
        let positive = [
            ("gamma1", self.gamma1),
            ("gamma2", self.gamma2),
            ("learning_rate", self.learning_rate),
            ("temperature", self.temperature),
        ];
        for (key, value) in positive {
            within(key, value, "a finite number above 0", value > 0.0 && value.is_finite())?;
        }
        for (key, value) in [("b1", self.b1), ("b2", self.b2)] {
            within(key, value, "a finite number", value.is_finite())?;
        }
        within("beta", self.beta, "from 0 to 20", (0.0..=20.0).contains(&self.beta))?;
        within("weight_decay", self.weight_decay, "from 0 to 1", (0.0..=1.0).contains(&self.weight_decay))?;
        within(
            "linked_share",
            self.linked_share,
            "above 0 and below 1",
            self.linked_share > 0.0 && self.linked_share < 1.0,
        )?;
        for (key, values) in [("theta", self.theta), ("lambda", self.lambda)] {
            let sound = values.iter().all(|v| v.is_finite() && *v >= 0.0) && values.iter().any(|v| *v > 0.0);
            within(key, format!("{values:?}"), "three non-negative numbers, not all 0", sound)?;
        }
        within("negatives", self.negatives, "from 1 to 65536", (1..=65_536).contains(&self.negatives))?;
        let aligned = self.loss == Loss::Pairs || self.alignment == Alignment::Loose;
        within("alignment", "tight", "loose where `loss` is softmax", aligned)?;
        within("steps", self.steps, "from 1 to 2147483647", (1..=MOST_STEPS).contains(&self.steps))?;
        within("epochs", self.epochs, "from 0 to 1000000", (0.0..=1e6).contains(&self.epochs))?;
        for (key, value) in [("most_pairs", self.most_pairs), ("most_numbers", self.most_numbers)] {
            within(key, value, "from 0 to 9007199254740992", value <= 1 << 53)?;
        }
        within("validate_every", self.validate_every, "at least 1", self.validate_every >= 1)?;
        within("distance_bound", self.distance_bound, "from 0 to 254", self.distance_bound <= 254)?;
        within("distance_shift", self.distance_shift, "from 0 to 254", self.distance_shift <= 254)
    }
}

fn parsed(assignment: &str) -> Result<(String, toml::Value), ConfigError> {
    let (key, value) = assignment.split_once('=').ok_or_else(|| ConfigError::NotAnAssignment(assignment.to_owned()))?;
    let (key, value) = (key.trim(), value.trim());
    let parsed = format!("value = {value}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("value"));
    Ok((key.to_owned(), parsed.unwrap_or_else(|| toml::Value::String(value.to_owned()))))
}

fn within(key: &'static str, value: impl fmt::Display, range: &'static str, sound: bool) -> Result<(), ConfigError> {
    if sound { Ok(()) } else { Err(ConfigError::Range { key, value: value.to_string(), range }) }
}

fn as_kind_of(old: &toml::Value, new: toml::Value) -> toml::Value {
    match (old, new) {
        (toml::Value::Float(_), toml::Value::Integer(value)) => toml::Value::Float(value as f64),
        (toml::Value::Array(old), toml::Value::Array(new)) if !old.is_empty() => {
            toml::Value::Array(new.into_iter().map(|value| as_kind_of(&old[0], value)).collect())
        }
        (_, new) => new,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_whole_and_within_range() {
        for preset in Preset::ALL {
            let config: Config = toml::from_str(preset.text()).unwrap();
            config.check().unwrap();
            assert_eq!(Preset::find(preset.name()).unwrap(), preset);
            assert_eq!(toml::from_str::<Config>(&config.to_toml()).unwrap(), config);
        }
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        let error = Config::default().set("widht=3").unwrap_err();
        assert_eq!(error.hint().unwrap().to_string(), "did you mean `width`?");
        let error = Preset::find("papr").unwrap_err();
        assert!(error.hint().unwrap().to_string().contains("`paper`"));
    }

    #[test]
    fn what_is_no_misspelling_is_not_said_to_be_one() {
        for key in ["random_state", "x", "n_estimators"] {
            let hint = Config::default().set(&format!("{key}=3")).unwrap_err().hint().unwrap().to_string();
            assert!(!hint.contains("did you mean"), "{key}: {hint}");
        }
        let hint = Preset::find("fast").unwrap_err().hint().unwrap().to_string();
        assert!(hint.starts_with("Presets are"), "{hint}");
    }

    #[test]
    fn values_are_read_as_what_they_look_like() {
        let config = Config::default();
        assert_eq!(config.set("theta=[1, 0, 0]").unwrap().theta, [1.0, 0.0, 0.0]);
        assert_eq!(config.set("beta = 1").unwrap().beta, 1.0);
        assert_eq!(config.set("batch=0.25").unwrap().batch, BatchSize::Share(0.25));
        assert_eq!(config.set("batch=64").unwrap().batch, BatchSize::Pairs(64));
        assert_eq!(Preset::Paper.config().set("alignment=tight").unwrap().alignment, Alignment::Tight);
        assert_eq!(config.set("hidden=[32,16]").unwrap().hidden, [32, 16]);
        assert_eq!(config.set_all(["width=8", "hidden=[]"]).unwrap().width, 8);
        assert_eq!(config.set("hidden=[]").unwrap().hidden, [] as [usize; 0]);
    }

    #[test]
    fn bad_values_are_refused_with_their_key() {
        let check = |assignment: &str, part: &str| {
            let message = Config::default().set(assignment).unwrap_err().to_string();
            assert!(message.contains(part), "{assignment}: {message}");
        };
        check("width=0", "`width` must be from 1 to 4096, got 0");
        check("width=abc", "setting `width`: expected a non-negative integer, got \"abc\"");
        check("width=-3", "expected a non-negative integer, got -3");
        check("learning_rate=fast", "expected a number, got \"fast\"");
        check("theta=[1,2]", "`theta`");
        check("beta=nan", "`beta`");
        check("attribute_dropout=1.0", "`attribute_dropout` must be at least 0 and below 1, got 1");
        check("batch=1", ", got 1");
        check("alignment=tight", "loose where `loss` is softmax");
        check("terms=[\"none\"]", "`terms`: expected one of `attributes`");
        check("terms=none", "expected a list, got string \"none\"");
        check("batch=many", "expected a number of pairs, a share such as 0.25, or `auto`, got \"many\"");
        check("loss=none", "expected `pairs` or `softmax`, got `none`");
        check("text_vectors=no", "expected `use` or `ignore`, got `no`");
        check("nonsense", "expected `key=value`, got `nonsense`");
        assert!(Config::default().merged("width = ").is_err());
    }
}
