//! Runs every control block over the vectors in `vectors/ap/<name>/` (their format: `vectors/ap/README.md`).

use crate::common::{amount, contributing, each_line, each_vector, time as span};
use contend_core::ap::{Build, Control, Facts, FlowFacts, Pass, REGISTRY, Side};
use contend_core::registry::{Amount, Args, Entry};
use contend_core::{Body, Cx, Flags, FlowId, Packet, Rng, Segment, Span, Time};
use rand::SeedableRng as _;

#[test]
fn every_block_follows_its_vectors() {
    each_vector("ap", REGISTRY, run);
}

/// The facts that a block gets when it is built.
#[derive(Default)]
struct World {
    buffer: Option<u64>,
    flows: Vec<FlowFacts>,
    /// CT by the frames of access point and station: data-data, data-ACK, ACK-data, ACK-ACK.
    cycle: [Span; 4],
}

impl World {
    fn build(&self, entry: &Entry<Build>, args: &Args) -> Box<dyn Control> {
        let cycle = |_, down: u32, up: u32| self.cycle[2 * usize::from(down < 1000) + usize::from(up < 1000)];
        (entry.build)(args, &Facts { buffer: self.buffer, flows: &self.flows, cycle_time: &cycle }).unwrap()
    }

    /// Reads a line with facts for the block. Returns false if the line is something else.
    fn learn(&mut self, words: &[&str]) -> bool {
        match words {
            ["buffer", n] => {
                let Amount::Packets(n) = amount(n) else { panic!("buffer {n}") };
                self.buffer = Some(n);
            }
            ["cycle", all @ ..] => {
                self.cycle = <[Span; 4]>::try_from(all.iter().map(|t| span(t)).collect::<Vec<_>>()).unwrap()
            }
            ["flow", n, dir, "delay", delay, "ack", ack, "mss", mss] => self.flows.push(FlowFacts {
                flow: FlowId(n.parse().unwrap()),
                up: Some(*dir == "up"),
                delay: span(delay),
                ack: ack.parse().unwrap(),
                mss: mss.parse().unwrap(),
            }),
            _ => return false,
        }
        true
    }
}

/// The control block of a recipe in `CONTRIBUTING.md`, in its own registry.
#[path = "recipes"]
mod recipes {
    pub(crate) use contend_core::ap::*;
    contend_core::registry!(Build; passing);
}

#[test]
fn the_recipe_for_a_control_block_compiles_and_follows_its_vector() {
    let others = contributing::shows("A control block", include_str!("recipes/passing.rs"));
    assert_eq!(others.len(), 1, "a vector");
    run(&recipes::REGISTRY[0], &others[0], "CONTRIBUTING.md");
}

fn run(entry: &Entry<Build>, text: &str, file: &str) {
    let mut world = World::default();
    let mut block = None;
    let mut rng = Rng::seed_from_u64(1);
    each_line(entry, text, file, |place, args, words, want| match words {
        words if world.learn(words) => {}
        [at, input @ ..] => {
            let block = block.get_or_insert_with(|| world.build(entry, args));
            let mut now = Time::ZERO + span(at);
            let (times, every) = match input {
                [.., "times", n, "every", t] => (n.parse().unwrap(), span(t)),
                _ => (1u32, Span::ZERO),
            };
            for i in 0..times {
                let wake = block.next_deadline();
                assert!(now <= wake, "{place}: it wanted to be woken at {wake}");
                let (given, got) = step(block.as_mut(), &mut Cx { now, rng: &mut rng }, input, i)
                    .unwrap_or_else(|| panic!("{place}: cannot be read"));
                assert_eq!(got, want.replace("pass", &given), "{place}");
                now += every;
            }
        }
        [] => {}
    });
}

/// Gives one input to the block. Returns the input and the output in the notation of the vectors.
fn step(block: &mut dyn Control, cx: &mut Cx, input: &[&str], nth: u32) -> Option<(String, String)> {
    let mut out = Pass::default();
    let mut given = String::new();
    if input == ["wake"] {
        assert_eq!(cx.now, block.next_deadline(), "it wants to be woken");
        block.on_wake(cx, &mut out);
    } else {
        let side = if *input.first()? == "air" { Side::Air } else { Side::Wire };
        let p = packet(input, nth)?;
        given = show(&p);
        block.on_packet(cx, side, p, &mut out);
    }
    let mut all: Vec<String> =
        out.sink.dropped.iter().map(|(p, why)| format!("{why:?} {}", show(p)).to_lowercase()).collect();
    all.extend(out.packets.iter().map(|(_, p)| show(p)));
    Some((given, if all.is_empty() { "nothing".into() } else { all.join(", ") }))
}

fn packet(input: &[&str], nth: u32) -> Option<Packet> {
    let option =
        |name| input.iter().position(|&x| x == name).and_then(|i| input.get(i + 1)).map(|x| x.parse::<u32>().unwrap());
    let number = |i: usize| input.get(i)?.parse::<u64>().ok();
    let flag = |name, flag| if input.contains(&name) { flag } else { Flags::default() };
    let mut s = Segment {
        flags: Flags::ACK.with(flag("syn", Flags::SYN)).with(flag("ece", Flags::ECE)),
        window: option("window").unwrap_or(60_000),
        window_scale: option("scale").unwrap_or(0) as u8,
        ..Segment::default()
    };
    if input.contains(&"sack") {
        s.sack.push(1000, 2000);
    }
    let reverse = *input.get(2)? == "ack";
    if reverse {
        s.ack = number(3)?;
    } else {
        s.len = number(4)? as u32;
        s.seq = number(3)? + u64::from(s.len * nth);
    }
    let flow = FlowId(number(1)? as u32);
    let p = Packet::new(flow, 40 + s.len, Time::ZERO, Body::Tcp(s));
    Some(if reverse { p.reversed() } else { p })
}

fn show(p: &Packet) -> String {
    let s = p.tcp().unwrap();
    if p.is_reverse() {
        format!("{} ack {} window {}", p.flow.0, s.ack, s.window)
    } else {
        format!("{} data {}", p.flow.0, s.seq)
    }
}
