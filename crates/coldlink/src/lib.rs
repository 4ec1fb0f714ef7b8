//! Predict links for nodes that a graph has never seen, from their attributes alone.
//!
//! Everything a user needs stands at the root of the crate: [`load`] a graph, train a [`Model`] with [`Training`], measure it
//! with [`Evaluation`], and ask it with a [`Query`].
//!
//! ```
//! use coldlink::{LoadOptions, Model, Query, Settings, Silent, Training, load, load_new};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let [my_graph, my_model, tomorrow] = ["my-graph", "my.model", "tomorrow.csv"].map(|name| folder.path().join(name));
//! # coldlink::synthetic::World { nodes: 300, ..Default::default() }.write_tables(&my_graph)?;
//! # std::fs::copy(my_graph.join("nodes.csv"), &tomorrow)?;
//! let dataset = load(&my_graph, &LoadOptions::default())?;
//! let settings = Settings::of_preset("default", 0.0)?.set("steps=20")?;
//! let model = Training::new(&dataset, &settings, 0).run(&mut Silent)?;
//! model.save(&my_model)?;
//!
//! let model = Model::open(&my_model)?;
//! let schema = model.schema().expect("the model was trained on tables");
//! let asked = model.ask(load_new(&tomorrow, schema, false)?)?;
//! let query = model.resolve(&asked, &Query { count: 3, ..Query::default() })?;
//! for link in model.links(&asked, &query, 0..1).concat() {
//!     println!("{} -> {}: {:?}", link.source, link.target, link.probability);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The modules are the stages of the pipeline, for coldlink's own crates: their contents may change in any version. Each uses
//! only those before it in the order that `ARCHITECTURE.md` gives.

#[doc(hidden)]
pub mod columns;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod dataset;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod evaluate;
#[doc(hidden)]
pub mod graph;
#[doc(hidden)]
pub mod hint;
#[doc(hidden)]
pub mod index;
#[doc(hidden)]
pub mod kernel;
#[doc(hidden)]
pub mod load;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod network;
#[doc(hidden)]
pub mod pipeline;
#[doc(hidden)]
pub mod random;
#[doc(hidden)]
pub mod sample;
#[doc(hidden)]
pub mod score;
#[doc(hidden)]
pub mod split;
#[doc(hidden)]
pub mod storage;
#[doc(hidden)]
pub mod synthetic;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod train;
#[doc(hidden)]
pub mod tune;

#[doc(inline)]
pub use columns::{ColumnKind, Columns, Schema};
#[doc(inline)]
pub use config::{Config, Preset, Validation};
#[doc(inline)]
pub use dataset::{Dataset, End, GivenLink, LinkProblem, NewNodes, Notes, PairQuery};
#[doc(inline)]
pub use error::Error;
#[doc(inline)]
pub use evaluate::{HeldOutReport, Measures, Record, RefereeReport, Report, auc, average_precision, prevalence};
#[doc(inline)]
pub use graph::{Attributes, Graph, Names, NodeId, NodeTypes};
#[doc(inline)]
pub use hint::{Hint, Wording};
#[doc(inline)]
pub use index::{AboutIndex, Hit, LinkIndex};
#[doc(inline)]
pub use load::{
    Limits, LoadOptions, UnknownNodes, load, load_given_links, load_json_lines, load_names, load_new, load_pairs,
    load_scores, load_tables, open_packed, read_columns, write_packed,
};
#[doc(inline)]
pub use model::{
    Among, Asked, Direction, Explanation, Link, Model, Query, Reason, Resolved, SimilarNode, Summary, Told,
};
#[doc(inline)]
pub use pipeline::{Evaluated, Evaluation, HeldOut, Referee, Settings, Training, Tuning};
#[doc(inline)]
pub use score::Scorer;
#[doc(inline)]
pub use split::{Audit, Pair, Protocol, Split};
#[doc(inline)]
pub use train::{Checkpoints, Control, Event, Observer, Phase, Silent};
#[doc(inline)]
pub use tune::{Chosen, Journal, Planned, SeedStarted, Space, Tried, Watcher};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
