//! Why an experiment could not be run.

use crate::reading::file::FileError;
use contend_core::Refusal;

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum Error {
    /// The file is invalid.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] Box<FileError>),
    /// The network of a point is invalid, or the experiment exceeds a bound of contend.
    #[error("{what}")]
    Refused {
        /// What is wrong or too large.
        what: String,
        /// The remedy.
        #[help]
        remedy: Option<String>,
    },
    /// The machine lacks a resource.
    #[error("{0}")]
    Machine(String),
}

impl From<Refusal> for Error {
    fn from(Refusal { what, remedy }: Refusal) -> Error {
        Error::Refused { what, remedy: (!remedy.is_empty()).then_some(remedy) }
    }
}

impl From<FileError> for Error {
    fn from(e: FileError) -> Error {
        Error::File(Box::new(e))
    }
}
