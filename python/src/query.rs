//! Which links Python asks for.

use coldlink::model::{self, Among, Direction, NAMED_ATTRIBUTES};
use pyo3::prelude::*;

use crate::error::out_of_range;

/// A query of the library.
#[pyclass(frozen, module = "coldlink._coldlink")]
pub struct Query {
    pub inner: model::Query,
}

#[pymethods]
impl Query {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new(
        count: usize,
        among: &str,
        exclude: Vec<String>,
        node_type: Option<String>,
        filters: Vec<(String, String)>,
        popularity: f64,
        base_rate: Option<f64>,
        explain: bool,
        relation: Option<String>,
        direction: Option<&str>,
        explore: f64,
    ) -> PyResult<Self> {
        let among = match among {
            "known" => Among::Known,
            "new" => Among::New,
            "both" => Among::Both,
            other => {
                return Err(out_of_range("among", "\"known\", \"new\" or \"both\"", format!("\"{other}\"")));
            }
        };
        let direction = match direction {
            None => None,
            Some("out") => Some(Direction::Out),
            Some("in") => Some(Direction::In),
            Some("both") => Some(Direction::Both),
            Some(other) => {
                return Err(out_of_range("direction", "\"out\", \"in\" or \"both\"", format!("\"{other}\"")));
            }
        };
        let explain = explain.then_some(NAMED_ATTRIBUTES);
        let inner = model::Query {
            count,
            among,
            explore,
            relation,
            direction,
            exclude,
            node_type,
            filters,
            popularity,
            base_rate,
            explain,
            show: false,
        };
        Ok(Query { inner })
    }
}
