//! All methods by name.

use coldlink::config::Preset;
use serde::{Deserialize, Serialize};
use toml::Table;

use super::settings::{Checked, read};
use super::{
    AttributeSide, Autoencoder, Citeomatic, Core, DealVariant, Encoder, Gauss, Method, MethodError, MlpMethod, Pgnn,
    Seal, StructureSide, Trivial,
};

/// Which links are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Those of nodes that training has not seen.
    Inductive,
    /// Those between nodes that it has.
    Transductive,
}

/// A method by its name.
pub struct Registered {
    /// On the command line and in files.
    pub name: &'static str,
    /// In tables.
    pub label: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Whether it can score nodes that training has not seen.
    pub inductive: bool,
    make: fn(&Table) -> Result<Box<dyn Method>, MethodError>,
}

impl Registered {
    /// The method with its own settings and `changes` put over them.
    pub fn with(&self, changes: &Table) -> Result<Box<dyn Method>, MethodError> {
        (self.make)(changes)
    }

    /// Whether it can be asked for links of that kind.
    pub fn can(&self, task: Task) -> bool {
        self.inductive || task == Task::Transductive
    }
}

/// The method of that name.
pub fn find(name: &str) -> Result<&'static Registered, MethodError> {
    METHODS.iter().find(|method| method.name == name).ok_or_else(|| {
        let nearest = METHODS.iter().max_by(|a, b| {
            let similarity = |method: &Registered| strsim::jaro_winkler(method.name, name);
            similarity(a).total_cmp(&similarity(b))
        });
        let nearest = nearest.map_or_else(String::new, |method| method.name.to_owned());
        MethodError::Unknown { name: name.to_owned(), nearest }
    })
}

fn core(preset: Preset, changes: &Table) -> Result<Box<dyn Method>, MethodError> {
    let config = preset.config().merged(&changes.to_string())?;
    config.check()?;
    Ok(Box::new(Core(config)))
}

fn boxed<M: Method + 'static>(method: M) -> Box<dyn Method> {
    Box::new(method)
}

fn autoencoder(name: &str, encoder: Encoder, changes: &Table) -> Result<Box<dyn Method>, MethodError> {
    read(name, &Autoencoder { encoder, ..Autoencoder::default() }, changes).map(boxed)
}

fn deal(
    name: &str,
    structure: StructureSide,
    attributes: AttributeSide,
    changes: &Table,
) -> Result<Box<dyn Method>, MethodError> {
    read(name, &DealVariant { structure, attributes, ..DealVariant::default() }, changes).map(boxed)
}

/// In the order of the paper's tables.
pub const METHODS: &[Registered] = &[
    Registered {
        name: "mlp",
        label: "MLP",
        about: "attributes through an MLP, inner product, logistic loss",
        inductive: true,
        make: |changes| read("mlp", &MlpMethod::default(), changes).map(boxed),
    },
    Registered {
        name: "gat",
        label: "GAT",
        about: "graph autoencoder with graph attention",
        inductive: false,
        make: |changes| autoencoder("gat", Encoder::Gat, changes),
    },
    Registered {
        name: "gcn",
        label: "GCN",
        about: "graph autoencoder with graph convolutions",
        inductive: false,
        make: |changes| autoencoder("gcn", Encoder::Gcn, changes),
    },
    Registered {
        name: "gin",
        label: "GIN",
        about: "graph autoencoder with isomorphism layers",
        inductive: false,
        make: |changes| autoencoder("gin", Encoder::Gin, changes),
    },
    Registered {
        name: "sage",
        label: "SAGE",
        about: "graph autoencoder with means of neighbours",
        inductive: false,
        make: |changes| autoencoder("sage", Encoder::Sage, changes),
    },
    Registered {
        name: "citeomatic",
        label: "Cite.",
        about: "Citeomatic's content encoder: a bag of directions, triplets",
        inductive: true,
        make: |changes| read("citeomatic", &Citeomatic::default(), changes).map(boxed),
    },
    Registered {
        name: "seal",
        label: "SEAL",
        about: "the subgraph around a pair through a graph network with sort-pooling",
        inductive: false,
        make: |changes| read("seal", &Seal::default(), changes).map(boxed),
    },
    Registered {
        name: "pgnn",
        label: "P-GNN",
        about: "positions among anchor sets, fast variant (paths up to 2)",
        inductive: false,
        make: |changes| read("pgnn", &Pgnn::default(), changes).map(boxed),
    },
    Registered {
        name: "g2g",
        label: "G2G",
        about: "Graph2Gauss: a Gaussian per node, ranked by distance",
        inductive: true,
        make: |changes| read("g2g", &Gauss::default(), changes).map(boxed),
    },
    Registered {
        name: "gcn-deal",
        label: "GCN-DEAL",
        about: "DEAL with a graph convolution over the table as structure encoder",
        inductive: true,
        make: |changes| deal("gcn-deal", StructureSide::Gcn, AttributeSide::Mlp, changes),
    },
    Registered {
        name: "deal-gcn",
        label: "DEAL-GCN",
        about: "DEAL with graph convolutions as attribute encoder",
        inductive: false,
        make: |changes| deal("deal-gcn", StructureSide::Table, AttributeSide::Gcn, changes),
    },
    Registered {
        name: "deal-gat",
        label: "DEAL-GAT",
        about: "DEAL with graph attention as attribute encoder",
        inductive: false,
        make: |changes| deal("deal-gat", StructureSide::Table, AttributeSide::Gat, changes),
    },
    Registered {
        name: "deal",
        label: "DEAL",
        about: "DEAL as the paper describes it, by the library",
        inductive: true,
        make: |changes| core(Preset::Paper, changes),
    },
    Registered {
        name: "deal-authors-code",
        label: "DEAL, authors' code",
        about: "DEAL as its authors' code computes it, by the library",
        inductive: true,
        make: |changes| core(Preset::AuthorsCode, changes),
    },
    Registered {
        name: "random",
        label: "random",
        about: "by chance",
        inductive: true,
        make: |changes| trivial("random", Trivial::Random, changes),
    },
    Registered {
        name: "degree",
        label: "degree",
        about: "by the number of links of the visible end",
        inductive: true,
        make: |changes| trivial("degree", Trivial::Degree, changes),
    },
    Registered {
        name: "cosine",
        label: "cosine",
        about: "by the cosine of attributes",
        inductive: true,
        make: |changes| trivial("cosine", Trivial::Cosine, changes),
    },
    Registered {
        name: "tfidf",
        label: "tf-idf cosine",
        about: "by the cosine of tf-idf weighted attributes",
        inductive: true,
        make: |changes| trivial("tfidf", Trivial::TfIdf, changes),
    },
];

#[derive(Serialize, Deserialize)]
struct NoSettings {}

impl Checked for NoSettings {
    fn wrong(&self) -> Option<&'static str> {
        None
    }
}

/// There is nothing to set.
fn trivial(name: &str, kind: Trivial, changes: &Table) -> Result<Box<dyn Method>, MethodError> {
    read(name, &NoSettings {}, changes).map(|_| boxed(kind))
}
