//! Columns that Python hands over, as a table of typed cells.

use coldlink::columns::{Cell, Cells};
use coldlink::load::Table as InMemory;
use numpy::{Element, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};

use crate::error::refused;

/// Says that a time of numpy is missing.
const NOT_A_TIME: i64 = i64::MIN;

/// A table in memory, by column. All of it belongs to it: nothing of Python is needed to read it.
pub struct Table {
    header: Vec<String>,
    columns: Vec<Column>,
    rows: usize,
}

/// The cells of one column, as Python has them.
enum Column {
    Booleans(Vec<bool>),
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    /// Microseconds after 1970 began.
    Times(Vec<i64>),
    Mixed(Vec<Owned>),
}

/// One cell of a column in which anything can be.
enum Owned {
    Missing,
    Text(Box<str>),
    Boolean(bool),
    Integer(i128),
    Number(f64),
    Numbers(Box<[f32]>),
    List(List),
}

/// A list within one cell.
struct List(Vec<Owned>);

impl Table {
    /// A table of names and columns: one-dimensional arrays of numpy, or lists of anything.
    pub fn new(columns: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut table = Table { header: Vec::new(), columns: Vec::new(), rows: 0 };
        for (name, values) in columns {
            let name = name.extract::<String>()?;
            let column = Column::new(&name, &values)?;
            if !table.columns.is_empty() && column.len() != table.rows {
                let message = format!("column `{name}` has {} rows, others have {}", column.len(), table.rows);
                return Err(refused(message, "give each column a value for every row"));
            }
            table.rows = column.len();
            table.header.push(name);
            table.columns.push(column);
        }
        Ok(table)
    }
}

impl InMemory for Table {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        match &self.columns[column] {
            Column::Booleans(values) => Cell::Boolean(values[row]),
            Column::Integers(values) => Cell::Integer(values[row].into()),
            Column::Numbers(values) => Cell::Number(values[row]),
            Column::Times(values) if values[row] == NOT_A_TIME => Cell::Missing,
            Column::Times(values) => Cell::Time(values[row]),
            Column::Mixed(values) => values[row].cell(),
        }
    }
}

impl Column {
    fn new(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(dtype) = values.getattr("dtype") else { return Column::mixed(name, values) };
        let (kind, bytes): (char, usize) = (dtype.getattr("kind")?.extract()?, dtype.getattr("itemsize")?.extract()?);
        let cast = |dtype| values.call_method1("astype", (dtype,));
        Ok(match (kind, bytes) {
            ('b', _) => Column::Booleans(array(values)?),
            ('i', _) | ('u', ..8) => Column::Integers(array(&cast("i8")?)?),
            ('f', 8) => Column::Numbers(array(values)?),
            ('f', ..8) => Column::Numbers(array(&cast("f4")?)?.into_iter().map(widened).collect()),
            ('M', _) => Column::Times(array(&cast("M8[us]")?.call_method1("view", ("i8",))?)?),
            _ => Column::mixed(name, &values.call_method0("tolist")?)?,
        })
    }

    fn mixed(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let cell = |(row, value): (usize, PyResult<Bound<'_, PyAny>>)| {
            Owned::new(&value?, true)?.ok_or_else(|| {
                let message = format!("row {row}: column `{name}` has an object or a list in a list in it");
                refused(message, "give texts, numbers, dates, or lists of these")
            })
        };
        values.try_iter()?.enumerate().map(cell).collect::<PyResult<_>>().map(Column::Mixed)
    }

    fn len(&self) -> usize {
        match self {
            Column::Booleans(values) => values.len(),
            Column::Integers(values) | Column::Times(values) => values.len(),
            Column::Numbers(values) => values.len(),
            Column::Mixed(values) => values.len(),
        }
    }
}

impl Owned {
    /// A value of Python as a cell; none where it is a dict, or a list where none may be.
    fn new(value: &Bound<'_, PyAny>, may_be_list: bool) -> PyResult<Option<Self>> {
        Ok(Some(if value.is_none() {
            Owned::Missing
        } else if let Ok(text) = value.cast::<PyString>() {
            Owned::Text(text.to_cow()?.into())
        } else if value.is_instance_of::<PyBool>() {
            Owned::Boolean(value.extract()?)
        } else if value.is_instance_of::<PyInt>() {
            value.extract().map_or_else(|_| Owned::text(value), |number| Ok(Owned::Integer(number)))?
        } else if value.is_instance_of::<PyFloat>() {
            Owned::Number(value.extract()?)
        } else if value.is_instance_of::<PyDict>() {
            return Ok(None);
        } else if is_list(value) {
            return if may_be_list { Owned::list(value) } else { Ok(None) };
        } else if value.hasattr("dtype")? && value.hasattr("tolist")? {
            return Owned::of_numpy(value, may_be_list);
        } else if let Ok(time) = value.call_method0("isoformat") {
            // Not a time of pandas says `NaT`.
            match time.extract::<String>()? {
                missing if missing == "NaT" => Owned::Missing,
                text => Owned::Text(text.into()),
            }
        } else if value.get_type().name()? == "NAType" {
            Owned::Missing
        } else {
            Owned::text(value)?
        }))
    }

    fn text(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Owned::Text(value.str()?.to_cow()?.into()))
    }

    fn list(values: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let cells = values.try_iter()?.map(|value| Owned::new(&value?, false)).collect::<PyResult<Option<Vec<_>>>>()?;
        Ok(cells.map(|cells| Owned::List(List(cells))))
    }

    /// An array of numpy as a list, a number of numpy as that of Python.
    fn of_numpy(value: &Bound<'_, PyAny>, may_be_list: bool) -> PyResult<Option<Self>> {
        if let Ok(numbers) = array::<f32>(value) {
            return Ok(may_be_list.then(|| Owned::Numbers(numbers.into())));
        }
        Owned::new(&value.call_method0("tolist")?, may_be_list)
    }

    fn cell(&self) -> Cell<'_> {
        match self {
            Owned::Missing => Cell::Missing,
            Owned::Text(text) => Cell::Text(text),
            Owned::Boolean(flag) => Cell::Boolean(*flag),
            Owned::Integer(number) => Cell::Integer(*number),
            Owned::Number(number) => Cell::Number(*number),
            Owned::Numbers(numbers) => Cell::Numbers(numbers),
            Owned::List(cells) => Cell::List(cells),
        }
    }
}

impl Cells for List {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn cell(&self, place: usize) -> Cell<'_> {
        self.0[place].cell()
    }
}

fn is_list(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
}

fn array<T: Element + Copy>(values: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    Ok(values.extract::<PyReadonlyArray1<'_, T>>()?.as_array().to_vec())
}

/// The number of 64 bits that is written as this one is: 0.1 stays 0.1.
fn widened(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::NAN)
}
