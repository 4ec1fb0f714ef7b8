//! Why token vectors cannot be used, and what to do about it.

use std::io;
use std::path::PathBuf;

use crate::hint::Hint;
use crate::text::quoted;

/// Why a file of token vectors or its tokenizer cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use `{path}`", path = .path.display())]
pub struct VectorsError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    #[source]
    pub problem: VectorsProblem,
}

/// What is wrong with token vectors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorsProblem {
    /// The system cannot read it.
    #[error(transparent)]
    Read(io::Error),
    /// More than is read.
    #[error("it has {bytes} bytes, more than {most}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The most.
        most: usize,
    },
    /// It is in another format.
    #[error("it is not a readable safetensors file: {0}")]
    NotSafetensors(String),
    /// No tensor that could be the table, or several.
    #[error(
        "it has {found} tensors of two dimensions with numbers of 16, 32 or 64 bits, and none called `embeddings` or `embedding.weight`"
    )]
    NoTable {
        /// How many.
        found: usize,
    },
    /// A tensor of another type or shape than it must have.
    #[error("tensor `{}` has type {dtype} and shape {shape:?}", quoted(.tensor))]
    Tensor {
        /// Its name.
        tensor: String,
        /// The type of its numbers.
        dtype: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// A table without rows, or with rows that are too long.
    #[error("it has {rows} vectors of {numbers} numbers")]
    Shape {
        /// Vectors.
        rows: usize,
        /// Numbers in each.
        numbers: usize,
    },
    /// A number is infinite or none.
    #[error("some of its numbers are infinite or not a number")]
    NotFinite,
    /// `mapping` names a row that there is not.
    #[error("`mapping` names a row after the last of its {vectors} vectors")]
    Mapping {
        /// How many there are.
        vectors: usize,
    },
    /// The tokenizer has more tokens than there is something for.
    #[error("it has {found} {what}, but its tokenizer has {wanted} tokens")]
    TooFew {
        /// Of what there are too few.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        wanted: usize,
    },
    /// The tokenizer cannot be read.
    #[error("it is not a readable tokenizer: {0}")]
    Tokenizer(String),
    /// The tokenizer leaves out pieces at random.
    #[error("its tokenizer drops merges at random (`dropout`), so no text would be the same twice")]
    Random,
    /// Two files of one name.
    #[error("another column has a file of the same name")]
    SameName,
    /// It was left out of this build.
    #[error("token vectors need the feature `vectors`, which this coldlink was built without")]
    MissingFeature,
}

impl VectorsError {
    /// What to do about it.
    pub fn hint(&self) -> Hint {
        match &self.problem {
            VectorsProblem::Read(_) => Hint::new(
                "`encoder` names a file beside the description of columns; its `tokenizer.json` lies beside it, or `tokenizer` names it",
            ),
            VectorsProblem::TooLarge { .. } => Hint::new("use vectors of fewer tokens or fewer numbers"),
            VectorsProblem::NotSafetensors(_) | VectorsProblem::NotFinite | VectorsProblem::Mapping { .. } => {
                Hint::new("the file is damaged; download or save it again")
            }
            VectorsProblem::NoTable { .. } | VectorsProblem::Tensor { .. } | VectorsProblem::Shape { .. } => Hint::new(
                "give a file as model2vec or wordllama have it: a tensor `embeddings` or `embedding.weight` with a row for each token",
            ),
            VectorsProblem::TooFew { .. } => {
                Hint::new("name the tokenizer that the vectors were made with: `tokenizer = \"…\"`")
            }
            VectorsProblem::Tokenizer(_) => {
                Hint::new("save it again with `tokenizer.save(\"tokenizer.json\")` of the package `tokenizers`")
            }
            VectorsProblem::Random => Hint::new("set `dropout` to null in the tokenizer"),
            VectorsProblem::SameName => Hint::new("rename one: a model knows token vectors by their file's name"),
            VectorsProblem::MissingFeature => Hint::new("build coldlink with the cargo feature `vectors`"),
        }
    }
}
