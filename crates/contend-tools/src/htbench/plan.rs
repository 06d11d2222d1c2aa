//! What a client is told: classes of requests, and when it ends.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Downloads.
    Get,
    /// Uploads random bytes.
    Put {
        /// Bytes of the body.
        size: u64,
    },
}

/// A class of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name in results.
    pub name: String,
    /// The server.
    pub server: SocketAddr,
    /// The virtual host, for the head of the request.
    pub host: String,
    /// The path.
    pub path: String,
    /// What the request does.
    pub method: Method,
    /// The client's own address; `None`: the system's choice.
    pub local: Option<IpAddr>,
    /// Transfers at the same time, at least 1.
    pub concurrency: usize,
}

/// What a client is told.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The classes.
    pub classes: Vec<Class>,
    /// Ends when so many requests are done.
    pub total: u64,
    /// Begins when a UDP packet comes to this address.
    pub wait: Option<SocketAddr>,
    /// Seed of the order in which ready sockets are served, and of the random bytes.
    pub seed: u64,
    /// The longest time between two samples of a transfer.
    pub every: Duration,
    /// A transfer on which nothing moves for so long has failed.
    pub patience: Duration,
}
