//! Settings from a preset and keyword arguments.

use coldlink::pipeline;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::error::{misconfigured, out_of_range, raised};

/// A preset with changes to it, checked.
#[pyclass(frozen, module = "coldlink._coldlink")]
pub struct Settings {
    pub inner: pipeline::Settings,
}

#[pymethods]
impl Settings {
    #[new]
    fn new(preset: &str, budget: f64, changes: &Bound<'_, PyDict>) -> PyResult<Self> {
        if !budget.is_finite() || budget < 0.0 {
            return Err(out_of_range("budget", "a non-negative number of seconds", budget));
        }
        let mut table = toml::Table::new();
        for (key, value) in changes {
            let key: String = key.extract()?;
            let value = to_toml(&key, &value)?;
            table.insert(key, value);
        }
        let inner =
            pipeline::Settings::of_preset(preset, budget).and_then(|settings| settings.merged(&table.to_string()));
        Ok(Settings { inner: inner.map_err(raised)? })
    }

    /// All settings, as JSON.
    fn json(&self) -> String {
        serde_json::to_string(&self.inner.config).unwrap_or_default()
    }
}

fn to_toml(key: &str, value: &Bound<'_, PyAny>) -> PyResult<toml::Value> {
    if let Ok(flag) = value.extract::<bool>() {
        return Ok(toml::Value::Boolean(flag));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(toml::Value::String(text));
    }
    if let Ok(number) = value.extract::<i64>() {
        return Ok(toml::Value::Integer(number));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(toml::Value::Float(number));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let values = value.try_iter()?.map(|value| to_toml(key, &value?));
        return Ok(toml::Value::Array(values.collect::<PyResult<_>>()?));
    }
    let range = "a number, a string, a boolean, or a list of these";
    Err(misconfigured(format!("setting `{key}` must be {range}, got a `{}`", value.get_type().name()?), None))
}
