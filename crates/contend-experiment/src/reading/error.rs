//! Why an experiment could not be run.

use crate::reading::file::FileError;

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum Error {
    /// The file is invalid.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] Box<FileError>),
    /// The network of a point is invalid.
    #[error("{0}")]
    Network(String),
    /// The experiment exceeds a bound of contend.
    #[error("{what}")]
    #[diagnostic(help("{remedy}"))]
    TooLarge {
        /// What is too large, and the bound.
        what: String,
        /// The remedy.
        remedy: String,
    },
    /// The machine lacks a resource.
    #[error("{0}")]
    Machine(String),
}

impl From<FileError> for Error {
    fn from(e: FileError) -> Error {
        Error::File(Box::new(e))
    }
}
