//! New nodes from a file, be it a table or an archive of arrays.

use std::path::Path;

use super::error::LoadError;
use super::input::Input;
use super::{Limits, formats, tables};
use crate::columns::Schema;
use crate::dataset::NewNodes;

/// What a model expects of new nodes.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The columns of a table, where the model was trained on one.
    pub schema: Option<&'a Schema>,
    /// The number of attribute columns of arrays.
    pub width: usize,
    /// Refuse what is not expected instead of counting it.
    pub strict_input: bool,
    /// How much the file may ask for.
    pub limits: Limits,
}

/// Loads new nodes from a table or an `.npz` file, which may be a pipe.
pub fn load_new_file(path: &Path, expected: &Expected<'_>) -> Result<NewNodes, LoadError> {
    let input = Input::open(path, &expected.limits)?;
    match expected.schema {
        _ if formats::is_npz(&input)? => formats::load_new_arrays(&input, expected.width),
        Some(schema) => tables::load_new_table(&input, schema, expected.strict_input),
        None => Err(LoadError::NotArrays { path: path.to_owned() }),
    }
}
