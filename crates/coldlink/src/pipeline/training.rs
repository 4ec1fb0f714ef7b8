//! The whole way from a dataset to a model that is to be used: settings are chosen, then the model is trained with them.

use super::Settings;
use crate::columns::Preparation;
use crate::config::Config;
use crate::dataset::Dataset;
use crate::error::Error;
use crate::model::{LinkedTypes, Memory, Model, NodeFacts, Parts, Summary};
use crate::score::{ScoreWeights, TfIdfRows};
use crate::split::Split;
use crate::train::{Checkpoints, Fit, Fitted};
use crate::tune::{Chosen, Forward, Journal, Plan, Search, Watcher, auto};

/// What a model is made from. The same dataset, settings and seed give the same model, bit for bit.
///
/// ```
/// use coldlink::{Settings, Silent, Training};
///
/// # let dataset = coldlink::synthetic::World { nodes: 300, ..Default::default() }.dataset();
/// let settings = Settings::of_preset("default", 0.0)?.set("steps=20")?;
/// let model = Training::new(&dataset, &settings, 7).run(&mut Silent)?;
/// assert_eq!(model.summary().nodes, 300);
/// # Ok::<(), coldlink::Error>(())
/// ```
pub struct Training<'a> {
    /// The graph.
    pub dataset: &'a Dataset,
    /// The settings, and whether better ones are searched for first.
    pub settings: &'a Settings,
    /// The seed.
    pub seed: u64,
    /// Where finished trials of the search are kept, if anywhere.
    pub journal: Option<&'a Journal>,
    /// Where checkpoints of the training go, if anywhere.
    pub checkpoints: Option<&'a Checkpoints>,
}

impl<'a> Training<'a> {
    /// A run that keeps nothing on the way.
    pub fn new(dataset: &'a Dataset, settings: &'a Settings, seed: u64) -> Self {
        Training { dataset, settings, seed, journal: None, checkpoints: None }
    }

    /// Chooses settings, trains, and fits the final model on everything.
    pub fn run(&self, watcher: &mut dyn Watcher) -> Result<Model, Error> {
        let Training { dataset, settings, seed, journal, checkpoints } = *self;
        let split = &Split::for_training(dataset, settings.config.validation, seed)?;
        let chosen = match &settings.auto {
            Some(how) => auto(&Search { split, seed, journal, until: None }, &settings.config, how, watcher)?,
            None => {
                watcher.planned(&Plan::given(split, &settings.config));
                Chosen::given(settings.config.clone())
            }
        };
        let config = &split.search().sized(&chosen.config);
        let fit = Fit { split, config, seed, checkpoints };
        let fitted = fit.run_after(chosen.trial.as_ref(), &mut Forward(watcher))?;
        // The width is that of the embeddings; what else follows the data does so again when the model is trained again.
        let config = Config { width: config.width, ..chosen.config.clone() };
        Ok(model(dataset, split, fitted, config, &settings.preset))
    }
}

/// A model of a dataset from a run that was fitted on all of it.
fn model(dataset: &Dataset, split: &Split, fitted: Fitted, config: Config, preset: &str) -> Model {
    let view = split.final_view().by(&config);
    let embeddings = fitted.embed_all(&view);
    let roles = dataset.links().1;
    // A model looks at no times.
    let graph = view.graph().timeless();
    // What a model ranks may be of any class.
    let weights = fitted.weights.map(ScoreWeights::at_one_base_rate);
    let facts = NodeFacts::of(dataset.schema.as_ref(), &dataset.attributes, dataset.titles.as_ref());
    let memory = weights.map(|weights| Memory { graph, words: TfIdfRows::of(&view), weights });
    let summary = Summary {
        dataset: dataset.name.clone(),
        nodes: dataset.graph.nodes(),
        added: 0,
        links: dataset.graph.links(),
        attributes: fitted.preparation.as_ref().map_or(dataset.attributes.width(), Preparation::width),
        seed: split.seed(),
        preset: preset.to_owned(),
        steps: fitted.steps,
        validation: fitted.history.iter().find(|validated| validated.step == fitted.steps).copied(),
    };
    // Values that are left out need not be known.
    let (schema, preparation) = match (&dataset.schema, &fitted.preparation) {
        (Some(schema), Some(preparation)) => {
            let kept = preparation.kept();
            let (schema, remaining) = schema.keeping(|attribute| kept[attribute as usize]);
            (Some(schema), Some(preparation.selecting(&remaining)))
        }
        _ => (dataset.schema.clone(), fitted.preparation.clone()),
    };
    Model::from(Parts {
        config,
        summary,
        names: dataset.names.clone(),
        schema,
        preparation,
        roles: roles.clone(),
        types: dataset.attributes.types().map(|types| LinkedTypes::of(dataset.links(), types)),
        embeddings,
        facts,
        memory,
        encoder: fitted.encoders.attributes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::World;
    use crate::train::Silent;

    #[test]
    fn a_model_whose_width_was_halved_is_saved_and_opened() {
        let dataset = World { nodes: 400, ..World::default() }.dataset();
        let settings = Settings::of_preset("default", 0.0).unwrap();
        let settings = settings.set("steps=10").unwrap().set("most_numbers=20000").unwrap();
        let model = Training::new(&dataset, &settings, 1).run(&mut Silent).unwrap();
        assert_eq!((model.config().width, model.embeddings().attributes.columns()), (64, 64));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("narrow.model");
        model.save(&path).unwrap();
        assert_eq!(Model::open(&path).unwrap(), model);
    }
}
