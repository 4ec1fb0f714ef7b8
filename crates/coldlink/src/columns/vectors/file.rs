//! Token vectors from a safetensors file, in the layouts of model2vec and wordllama.
//!
//! | tensor | holds |
//! |---|---|
//! | `embeddings`, `embedding.weight`, or the only one of two dimensions | a row for each token |
//! | `mapping`, if there is one | the row of each token |
//! | `weights`, if there are any | what each token counts |

use std::path::{Path, PathBuf};

use bytemuck::{Pod, pod_collect_to_vec};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

use super::{Parts, Table, TokenVectors, VectorsError, VectorsProblem};
use crate::storage::Map;

/// Bytes of a file of vectors at most.
const MOST_BYTES: usize = 2 << 30;
/// Bytes of a tokenizer at most.
const MOST_OF_TOKENIZER: usize = 256 << 20;
/// What the table is called.
const TABLES: [&str; 2] = ["embeddings", "embedding.weight"];

impl TokenVectors {
    /// Where the tokenizer of a file of token vectors is, unless it is named.
    pub fn tokenizer_beside(path: &Path) -> PathBuf {
        path.with_file_name("tokenizer.json")
    }

    /// Opens a file of token vectors with its tokenizer, which is beside it unless it is named.
    pub fn open(path: &Path, tokenizer: Option<&Path>) -> Result<Self, VectorsError> {
        let beside = TokenVectors::tokenizer_beside(path);
        let of_tokenizer = tokenizer.unwrap_or(&beside);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |problem| VectorsError { path, problem }
        };
        let file = map(path, MOST_BYTES).map_err(failed(path))?;
        let json = map(of_tokenizer, MOST_OF_TOKENIZER).map_err(failed(of_tokenizer))?;
        // Copied, as whoever has these files may write over them.
        let tokenizer = json.to_vec().into();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let parts = read(&file).map_err(failed(path))?;
        TokenVectors::new(Parts { name, tokenizer, ..parts }).map_err(|problem| match problem {
            VectorsProblem::Tokenizer(_) | VectorsProblem::Random => failed(of_tokenizer)(problem),
            problem => failed(path)(problem),
        })
    }
}

fn map(path: &Path, most: usize) -> Result<Map, VectorsProblem> {
    let map = Map::open(path).map_err(VectorsProblem::Read)?;
    if map.len() > most { Err(VectorsProblem::TooLarge { bytes: map.len(), most }) } else { Ok(map) }
}

/// All but the name and the tokenizer.
fn read(bytes: &[u8]) -> Result<Parts, VectorsProblem> {
    let file = SafeTensors::deserialize(bytes).map_err(|error| VectorsProblem::NotSafetensors(error.to_string()))?;
    let (name, tensor) = table(&file)?;
    let wrong = || wrong(name, &tensor);
    let &[_, width] = tensor.shape() else { return Err(wrong()) };
    let table = match tensor.dtype() {
        Dtype::F16 => Table::Half(pod_collect_to_vec::<u8, u16>(tensor.data()).into()),
        _ => Table::Single(numbers(&tensor).ok_or_else(wrong)?.into()),
    };
    let rows = list(&file, "mapping", whole_numbers)?.map(Into::into);
    let weights = list(&file, "weights", numbers)?.map(Into::into);
    Ok(Parts { name: String::new(), width, table, rows, weights, tokenizer: Vec::new().into() })
}

/// The tensor with a row for each token, and its name.
fn table<'a>(file: &'a SafeTensors<'_>) -> Result<(&'a str, TensorView<'a>), VectorsProblem> {
    if let Some((name, tensor)) = TABLES.iter().find_map(|&name| Some((name, file.tensor(name).ok()?))) {
        return Ok((name, tensor));
    }
    let is_table = |tensor: &TensorView<'_>| tensor.shape().len() == 2 && is_float(tensor.dtype());
    let mut tables: Vec<_> = file.iter().filter(|(_, tensor)| is_table(tensor)).collect();
    match (tables.pop(), tables.len()) {
        (Some(only), 0) => Ok(only),
        (last, others) => Err(VectorsProblem::NoTable { found: others + usize::from(last.is_some()) }),
    }
}

/// A tensor of one dimension, if there is one of that name.
fn list<T>(
    file: &SafeTensors<'_>,
    name: &str,
    read: fn(&TensorView<'_>) -> Option<Vec<T>>,
) -> Result<Option<Vec<T>>, VectorsProblem> {
    let Ok(tensor) = file.tensor(name) else { return Ok(None) };
    let values = read(&tensor).filter(|_| tensor.shape().len() == 1);
    values.map(Some).ok_or_else(|| wrong(name, &tensor))
}

fn wrong(name: &str, tensor: &TensorView<'_>) -> VectorsProblem {
    let (dtype, shape) = (tensor.dtype().to_string(), tensor.shape().to_vec());
    VectorsProblem::Tensor { tensor: name.to_owned(), dtype, shape }
}

fn is_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64)
}

/// Numbers with decimals, of whatever size.
fn numbers(tensor: &TensorView<'_>) -> Option<Vec<f32>> {
    Some(match tensor.dtype() {
        Dtype::F16 => converted(tensor, super::widened),
        Dtype::BF16 => converted(tensor, |bits: u16| f32::from_bits(u32::from(bits) << 16)),
        Dtype::F32 => converted(tensor, |number: f32| number),
        Dtype::F64 => converted(tensor, |number: f64| number as f32),
        _ => return None,
    })
}

/// Whole numbers; those that are no row become one that no table has.
fn whole_numbers(tensor: &TensorView<'_>) -> Option<Vec<u32>> {
    Some(match tensor.dtype() {
        Dtype::I32 => converted(tensor, |number: i32| number.try_into().unwrap_or(u32::MAX)),
        Dtype::I64 => converted(tensor, |number: i64| number.try_into().unwrap_or(u32::MAX)),
        Dtype::U32 => converted(tensor, |number: u32| number),
        _ => return None,
    })
}

fn converted<T: Pod, U>(tensor: &TensorView<'_>, convert: impl Fn(T) -> U) -> Vec<U> {
    pod_collect_to_vec::<u8, T>(tensor.data()).into_iter().map(convert).collect()
}
