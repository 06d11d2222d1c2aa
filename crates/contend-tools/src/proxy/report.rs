//! What a proxy did.

use serde_json::{Value, json};
use std::fmt::Write as _;

/// Counts while the proxy runs.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Connections that were relayed, or were to be.
    pub accepted: u64,
    /// Connections of clients that `allow` does not name: reset at once.
    pub not_allowed: u64,
    /// Connections that found the target refusing, unreachable or silent: the client was reset.
    pub no_target: u64,
    /// Connections that ended in good order on both sides.
    pub closed: u64,
    /// Connections that one side reset.
    pub reset: u64,
    /// Connections on which nothing moved for too long: reset.
    pub idle: u64,
    /// Connections that the end of the proxy cut.
    pub cut: u64,
    /// The most connections at one time.
    pub most_at_once: usize,
    /// The most bytes that waited inside the proxy for one connection, both directions together.
    pub most_buffered: usize,
    /// Bytes from clients, and bytes from the target.
    pub handed: [u64; 2],
    /// How long the proxy ran, in seconds.
    pub seconds: f64,
}

impl Totals {
    pub(super) fn bytes(&self) -> u64 {
        self.handed.iter().sum()
    }

    /// The object of `--format json`.
    pub fn to_json(&self, version: &str) -> Value {
        let bps = |bytes: u64| if self.seconds > 0.0 { bytes as f64 * 8.0 / self.seconds } else { 0.0 };
        json!({
            "schema": "contend/proxy/1",
            "version": version,
            "seconds": self.seconds,
            "connections": {
                "accepted": self.accepted, "not_allowed": self.not_allowed, "no_target": self.no_target,
                "closed": self.closed, "reset": self.reset, "idle": self.idle, "cut": self.cut,
                "most_at_once": self.most_at_once,
            },
            "to_target": {"bytes": self.handed[0], "rate_bps": bps(self.handed[0])},
            "to_clients": {"bytes": self.handed[1], "rate_bps": bps(self.handed[1])},
            "most_buffered_bytes": self.most_buffered,
        })
    }

    /// The table.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut line = |name: &str, text: String| {
            let _ = writeln!(out, "  {name:<14} {text}");
        };
        line(
            "connections",
            format!("{} in {:.1} s, at most {} at once", self.accepted, self.seconds, self.most_at_once),
        );
        let parts = [
            (self.closed, "closed in good order"),
            (self.reset, "reset by one side"),
            (self.no_target, "without target"),
            (self.idle, "idle too long"),
            (self.cut, "cut by the end of the proxy"),
        ];
        let ended: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, how)| format!("{n} {how}")).collect();
        line("ended", if ended.is_empty() { "none".to_owned() } else { ended.join(", ") });
        if self.not_allowed > 0 {
            line("not allowed", format!("{} connections of clients that --allow does not name", self.not_allowed));
        }
        let mega = |bytes: u64| bytes as f64 / 1e6;
        line(
            "handed on",
            format!("{:.3} MB to the target, {:.3} MB to clients", mega(self.handed[0]), mega(self.handed[1])),
        );
        line("buffered", format!("at most {} B for one connection", self.most_buffered));
        out
    }
}
