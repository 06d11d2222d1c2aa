//! Why an experiment could not be run.

use crate::reading::file::FileError;

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum Error {
    /// The file says something that cannot be run.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] Box<FileError>),
    /// The network of a point does not fit together.
    #[error("{0}")]
    Network(String),
    /// More than contend undertakes at a time.
    #[error("{what}")]
    #[diagnostic(help("{remedy}"))]
    TooLarge {
        /// What, and what the bound is.
        what: String,
        /// What to write instead.
        remedy: String,
    },
    /// The machine does not give what is needed.
    #[error("{0}")]
    Machine(String),
}

impl From<FileError> for Error {
    fn from(e: FileError) -> Error {
        Error::File(Box::new(e))
    }
}
