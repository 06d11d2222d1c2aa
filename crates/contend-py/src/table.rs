//! A table of results as an Arrow stream.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Metadata, Schema, SchemaRef};
use contend_lab::experiment::results::{Executed, Outcome};
use contend_lab::judging::compare::Comparison;
use contend_lab::writing::output::columns::{self, Kind, Values};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::sync::Arc;

/// Makes a table from an outcome.
pub(crate) type Make = fn(&Outcome) -> columns::Table<'_>;

/// What a table is made from.
#[derive(Clone)]
pub(crate) enum Source {
    /// Results.
    Results(Arc<Executed>, Make),
    /// Two results, compared.
    Comparison(Arc<Compared>),
}

/// Differences, and the results of the second side.
pub(crate) struct Compared {
    pub(crate) c: Comparison,
    pub(crate) second: Arc<Executed>,
}

impl Source {
    fn outcome(&self) -> &Outcome {
        match self {
            Source::Results(of, _) => &of.outcome,
            Source::Comparison(of) => &of.second.outcome,
        }
    }

    fn table(&self) -> columns::Table<'_> {
        match self {
            Source::Results(of, make) => make(&of.outcome),
            Source::Comparison(of) => columns::differences(&of.second.outcome, &of.c.differences),
        }
    }
}

/// A table of results. pyarrow, pandas and polars take it by the Arrow PyCapsule interface.
#[pyclass(frozen, module = "contend._contend")]
pub(crate) struct Table {
    of: Source,
    command: String,
}

impl Table {
    pub(crate) fn new(of: Source, command: String) -> Table {
        Table { of, command }
    }

    fn made(&self) -> columns::Table<'_> {
        self.of.table()
    }

    fn schema(&self) -> SchemaRef {
        let table = self.made();
        let field = |h: &columns::Heading| {
            let kind = match h.kind {
                Kind::Number => DataType::Float64,
                Kind::Count => DataType::Int64,
                Kind::Text => DataType::Utf8,
                Kind::Flag => DataType::Boolean,
            };
            let unit = h.unit.map(|unit| ("unit".to_owned(), unit.to_owned()));
            Field::new(&h.name, kind, true).with_metadata(unit.into_iter().collect::<Metadata>())
        };
        let fields: Vec<Field> = table.headings().iter().map(field).collect();
        let metadata = table.metadata(self.of.outcome(), &self.command);
        Arc::new(Schema::new(fields).with_metadata(metadata.into_iter().collect::<Metadata>()))
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.made().headings().iter().map(|h| h.name.clone()).collect()
    }

    /// The unit of each column that has one: s, bps, B, p (packets), or 1 (counts and shares).
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let units = PyDict::new(py);
        for (name, unit) in self.made().headings().iter().filter_map(|h| Some((&h.name, h.unit?))) {
            units.set_item(name, unit)?;
        }
        Ok(units)
    }

    fn __len__(&self) -> usize {
        self.made().rows()
    }

    /// The values of a column.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let table = self.made();
        let Some(column) = table.headings().iter().position(|h| h.name == name) else {
            let names: Vec<&str> = table.headings().iter().map(|h| h.name.as_str()).collect();
            return Err(PyKeyError::new_err(format!("`{name}` is no column; the columns are {}", names.join(", "))));
        };
        let all = PyList::empty(py);
        for group in 0..table.groups() {
            match table.read(group, column) {
                Values::Number(v) => v.into_iter().try_for_each(|x| all.append(x))?,
                Values::Count(v) => v.into_iter().try_for_each(|x| all.append(x))?,
                Values::Text(v) => v.into_iter().try_for_each(|x| all.append(x))?,
                Values::Flag(v) => v.into_iter().try_for_each(|x| all.append(x))?,
            }
        }
        Ok(all)
    }

    /// The table as an Arrow C stream. `requested_schema` is not used: consumers convert.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = Batches { of: self.of.clone(), schema: self.schema(), next: 0 };
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    /// The table as a `pyarrow.Table`; needs pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// The table as a `pandas.DataFrame`; needs pandas and pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_arrow(slf)?.call_method0("to_pandas")
    }

    /// The table as a `polars.DataFrame`; needs polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    fn __repr__(&self) -> String {
        format!("<contend table: {} rows; {}>", self.__len__(), self.columns().join(", "))
    }
}

/// The groups of a table, one after the other: a consumer that reads in steps needs memory for one.
struct Batches {
    of: Source,
    schema: SchemaRef,
    next: usize,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let table = self.of.table();
        let group = self.next;
        if group >= table.groups() {
            return None;
        }
        self.next += 1;
        let array = |column| -> ArrayRef {
            match table.read(group, column) {
                Values::Number(v) => Arc::new(Float64Array::from(v)),
                Values::Count(v) => Arc::new(Int64Array::from(v)),
                Values::Text(v) => Arc::new(StringArray::from(v)),
                Values::Flag(v) => Arc::new(BooleanArray::from(v)),
            }
        };
        let columns = (0..table.headings().len()).map(array).collect();
        Some(RecordBatch::try_new(Arc::clone(&self.schema), columns))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
