//! One run: a point of an experiment and a seed become a [`Run`](crate::experiment::results::Run).

pub mod advice;
pub(crate) mod contention;
pub mod network;
