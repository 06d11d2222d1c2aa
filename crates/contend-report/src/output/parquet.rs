//! Parquet files: `flows.parquet` (one row for each run and flow) and `series.parquet` (one row for each run, each flow
//! or queue, and each instant).
//!
//! The columns are those of `columns.rs`. The file's key-value metadata are `contend.schema`, `contend.version`,
//! `contend.title`, `contend.file`, `contend.command`, and `contend.units` (a JSON object: column, unit). A row group
//! holds 65,536 rows, so that writing needs little memory; the library keeps about 10 kB for each row group until the
//! file ends. Compression is Snappy. We use the library's own column writers: the Arrow crates would double the build
//! time.

use super::columns::{self, Kind, Table, Values};
use super::{Error, ReportContext, whole};
use contend_experiment::results::Outcome;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Writes `flows.parquet`: one row for each run and flow.
///
/// # Errors
/// When the file cannot be written.
pub fn write_flows(o: &Outcome, ctx: &ReportContext, path: &Path) -> Result<(), Error> {
    write_table(o, ctx, &columns::flows(o), path)
}

/// Writes `series.parquet`: one row for each run, each flow or queue, and each instant.
///
/// # Errors
/// When the file cannot be written.
pub fn write_series(o: &Outcome, ctx: &ReportContext, path: &Path) -> Result<(), Error> {
    write_table(o, ctx, &columns::series(o), path)
}

/// Writes `table` into the file at `path`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_table(o: &Outcome, ctx: &ReportContext, table: &Table, path: &Path) -> Result<(), Error> {
    whole(path, |w| {
        let failed = |source| Error::Parquet { path: path.to_path_buf(), source };
        let metadata = table.metadata(o, &ctx.command);
        let metadata = metadata.into_iter().map(|(k, v)| KeyValue::new(k, v)).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by(format!("contend {}", o.version));
        // Rates and times rarely repeat: a dictionary of them costs time and saves nothing.
        let numbers = table.headings().iter().filter(|h| h.kind == Kind::Number);
        let properties = numbers.fold(properties, |properties, h| {
            properties.set_column_dictionary_enabled(ColumnPath::from(h.name.as_str()), false)
        });
        let properties = Arc::new(properties.set_key_value_metadata(Some(metadata)).build());
        let mut file = SerializedFileWriter::new(w, message(table).map_err(failed)?, properties).map_err(failed)?;
        for group in 0..table.groups() {
            write_group(&mut file, table, group).map_err(failed)?;
        }
        file.close().map(drop).map_err(failed)
    })
}

fn message(table: &Table) -> Result<Arc<Type>, ParquetError> {
    let field = |(name, kind): (&str, Kind)| {
        let (physical, converted) = match kind {
            Kind::Number => (Physical::DOUBLE, ConvertedType::NONE),
            Kind::Count => (Physical::INT64, ConvertedType::NONE),
            Kind::Text => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            Kind::Flag => (Physical::BOOLEAN, ConvertedType::NONE),
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(converted)
            .build()
            .map(Arc::new)
    };
    let fields = table.headings().iter().map(|h| field((&h.name, h.kind))).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("contend").with_fields(fields).build()?))
}

fn write_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    table: &Table,
    group: usize,
) -> Result<(), ParquetError> {
    let mut to = file.next_row_group()?;
    for column in 0..table.headings().len() {
        match &table.read(group, column) {
            Values::Number(v) => write_column::<DoubleType, _>(&mut to, v.iter().copied())?,
            Values::Count(v) => write_column::<Int64Type, _>(&mut to, v.iter().copied())?,
            Values::Flag(v) => write_column::<BoolType, _>(&mut to, v.iter().copied())?,
            Values::Text(v) => {
                // A text stands in many rows, one after the other.
                let mut texts: Vec<Option<ByteArray>> = Vec::with_capacity(v.len());
                for (i, text) in v.iter().enumerate() {
                    let shared = if i > 0 && v[i - 1] == *text { texts[i - 1].clone() } else { None };
                    texts.push(shared.or_else(|| text.as_deref().map(ByteArray::from)));
                }
                write_column::<ByteArrayType, _>(&mut to, texts.iter().cloned())?
            }
        }
    }
    to.close().map(drop)
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Option<T::T>> + Clone,
) -> Result<(), ParquetError> {
    // Definition level 1: a value is present; 0: null.
    let levels: Vec<i16> = values.clone().map(|v| i16::from(v.is_some())).collect();
    let present: Vec<T::T> = values.flatten().collect();
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".into()));
    };
    column.typed::<T>().write_batch(&present, Some(&levels), None)?;
    column.close()
}
