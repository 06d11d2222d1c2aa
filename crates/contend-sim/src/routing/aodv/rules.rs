//! The parameters of AODV.

use contend_core::Span;
use contend_core::registry::Args;

/// The parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// True if requests go a few hops beyond the known distance at first.
    pub(super) ring: bool,
    /// TTL of the first request to a new destination.
    pub(super) ttl_start: u8,
    pub(super) ttl_increment: u8,
    pub(super) ttl_threshold: u8,
    pub(super) diameter: u8,
    pub(super) retries: u32,
    pub(super) traversal: Span,
    pub(super) measured: bool,
    pub(super) binary: bool,
    pub(super) give_up: Span,
    pub(super) lifetime: Span,
    pub(super) reverse_lifetime: Span,
    pub(super) refresh_both: bool,
    pub(super) intermediate: bool,
    pub(super) jitter: Span,
    pub(super) pace: Span,
    pub(super) feedback: bool,
    pub(super) repair: bool,
    pub(super) only_precursors: bool,
    pub(super) hello: Span,
    pub(super) tick: Span,
    pub(super) sizes_of_ns2: bool,
}

impl Rules {
    pub(super) fn new(args: &Args) -> Rules {
        let byte = |name: &str| args.integer(name).clamp(1, 255) as u8;
        Rules {
            ring: args.word("ring") != "never",
            ttl_start: if args.word("ring") == "always" { byte("ttl_start") } else { byte("diameter") },
            ttl_increment: byte("ttl_increment"),
            ttl_threshold: byte("ttl_threshold"),
            diameter: byte("diameter"),
            retries: args.integer("retries").max(0) as u32,
            traversal: args.time("traversal"),
            measured: args.flag("measured"),
            binary: args.word("back_off") == "binary",
            give_up: args.time("give_up"),
            lifetime: args.time("lifetime"),
            reverse_lifetime: args.time("reverse_lifetime"),
            refresh_both: args.word("refresh") == "both",
            intermediate: args.flag("intermediate"),
            jitter: args.time("jitter"),
            pace: args.time("pace"),
            feedback: args.flag("feedback"),
            repair: args.flag("repair"),
            only_precursors: args.word("errors") == "precursors",
            hello: args.time("hello"),
            tick: args.time("tick").max(Span::from_nanos(1)),
            sizes_of_ns2: args.word("sizes") == "ns2",
        }
    }
}
