//! One run: a point of an experiment and a seed become a [`Run`](contend_experiment::results::Run).

pub mod advice;
pub(crate) mod contention;
pub mod network;
