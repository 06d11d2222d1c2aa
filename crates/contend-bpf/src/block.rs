//! The control blocks that exist as tc programs (`c/ap/`) for an interface: of an access point, or of a host (`ect1`).

use contend_core::Refusal;

/// A control block that can be deployed.
#[derive(Debug)]
pub struct Block {
    /// The name in contend.
    pub name: &'static str,
    /// The compiled programs, as `tc filter ... obj` takes them.
    pub object: &'static [u8],
    /// The programs for packets that leave the interface and for those that come in, and their sections.
    pub egress: (&'static str, &'static str),
    /// As `egress`; `None` if what comes in does not matter.
    pub ingress: Option<(&'static str, &'static str)>,
    /// What it counts.
    pub counts: [&'static str; 3],
    /// Parameters: name, default, what it is.
    pub params: &'static [(&'static str, u64, &'static str)],
    /// The parameter that has no useful default, if there is one: it must not be 0.
    pub required: Option<&'static str>,
}

const OF_ACCESS_POINT: [&str; 3] = ["TCP packets seen", "windows lowered", "acknowledgments dropped"];

/// What the filters of acknowledgments do with those of accurate ECN: the words of `accecn` in the simulator, in order.
const ACCECN: (&str, u64, &str) = (
    "accecn",
    0,
    "acknowledgments with the flags of accurate ECN. 0: they pass; 1: they are dropped as long as the counter can be \
        read after the next one; 2: as if they had no flags",
);

/// All of them.
pub const BLOCKS: &[Block] = &[
    Block {
        name: "fcwa",
        object: include_bytes!("../objects/fcwa.bpf.o"),
        egress: ("contend_fcwa", "tc"),
        ingress: Some(("contend_fcwa", "tc")),
        counts: OF_ACCESS_POINT,
        params: &[
            (
                "segments",
                20,
                "window limit of each flow, as contend model fcwa gives it; 0: computed from measurements",
            ),
            ("keep_edge", 1, "1: an offered window is never taken back; 0: it may be"),
            ("buffer", 100, "BS_AP: packets that may wait at the access point; with segments=0, as all that follow"),
            ("margin", 1000, "thousandths of W_lim; 950 costs no throughput and avoids rare drops"),
            ("minimum", 1, "least window in segments"),
            ("least_delay", 0, "1: 2 LD is the minimum of its samples over 10 to 20 s; 0: their mean"),
            ("active", 2000, "T_active in ms: a flow is active for this time after its last data"),
            ("update", 1000, "T_update in ms: time between two removals of inactive flows"),
            ("data_data", 809_985, "cycle time in ns if both send data, as contend model cycle-time gives it"),
            ("data_ack", 593_985, "cycle time in ns if one sends data and the other acknowledgments"),
            ("ack_ack", 352_747, "cycle time in ns if both send acknowledgments"),
        ],
        required: None,
    },
    Block {
        name: "ack_thinning",
        object: include_bytes!("../objects/ack_thinning.bpf.o"),
        egress: ("contend_thinning", "tc"),
        ingress: Some(("contend_learn", "classifier")),
        counts: OF_ACCESS_POINT,
        params: &[("d", 2, "one of d acknowledgments passes"), ACCECN],
        required: None,
    },
    Block {
        name: "ack_filter",
        object: include_bytes!("../objects/ack_filter.bpf.o"),
        egress: ("contend_filter", "tc"),
        ingress: Some(("contend_learn", "classifier")),
        counts: OF_ACCESS_POINT,
        params: &[("least", 1, "packets that must wait in the queue before anything is filtered"), ACCECN],
        required: None,
    },
    Block {
        name: "ce_threshold",
        object: include_bytes!("../objects/ce_threshold.bpf.o"),
        egress: ("contend_step", "tc"),
        ingress: None,
        counts: ["packets with ECN seen", "had CE", "CE written"],
        params: &[
            ("threshold", 1000, "longest wait without a mark, in us"),
            ("rate", 0, "rate of the interface or its shaper, in bit/s"),
            ("ect1", 1, "1: only ECT(1) is marked, as for L4S; 0: ECT(0), too"),
        ],
        required: Some("rate"),
    },
    Block {
        name: "ect1",
        object: include_bytes!("../objects/ect1.bpf.o"),
        egress: ("contend_ect1", "tc"),
        ingress: None,
        counts: ["ECT(0) packets of contend_prague seen", "ECT(1) written", "CE written"],
        params: &[("mark", 0, "one of so many packets gets CE, to try the answer to marks; 0: none")],
        required: None,
    },
];

impl Block {
    /// The block of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(name: &str) -> Result<&'static Block, Refusal> {
        BLOCKS.iter().find(|b| b.name == name).ok_or_else(|| {
            let names: Vec<_> = BLOCKS.iter().map(|b| b.name).collect();
            Refusal::new(
                format!("there is no kernel program for the control block {name:?}"),
                format!("choose one of {}", names.join(", ")),
            )
        })
    }

    /// The block whose program has this name in the kernel, which keeps 15 letters of it.
    pub fn of_program(name: &str) -> Option<&'static Block> {
        BLOCKS.iter().find(|b| b.egress.0.get(..15).unwrap_or(b.egress.0) == name)
    }

    /// The parameters as the C form has them, each a number of 64 bits, from settings like `segments=20`.
    ///
    /// # Errors
    /// If a setting names no parameter, or its value is no whole number.
    pub fn settings(&self, set: &[String]) -> Result<Vec<u8>, Refusal> {
        let mut values: Vec<u64> = self.params.iter().map(|p| p.1).collect();
        for s in set {
            let (key, value) = s.split_once('=').unwrap_or((s, ""));
            let Some(place) = self.params.iter().position(|p| p.0 == key) else {
                let all: Vec<_> = self.params.iter().map(|p| format!("{} ({})", p.0, p.2)).collect();
                return Err(Refusal::new(
                    format!("{} has no parameter {key:?}", self.name),
                    format!("its parameters: {}", all.join("; ")),
                ));
            };
            values[place] = value.trim_end_matches('p').parse().map_err(|_| {
                Refusal::new(
                    format!("--set {s}: the value is no whole number"),
                    format!("write --set {key}={}: {}", self.params[place].1, self.params[place].2),
                )
            })?;
        }
        let missing = self.params.iter().zip(&values).find(|(p, value)| Some(p.0) == self.required && **value == 0);
        if let Some(((name, _, what), _)) = missing {
            return Err(Refusal::new(format!("{} needs {name}", self.name), format!("write --set {name}=...: {what}")));
        }
        Ok(values.into_iter().flat_map(u64::to_ne_bytes).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_form_has_the_parameters_in_order_with_their_defaults() {
        for block in BLOCKS {
            let read = |end: &str| {
                let path = format!("{}/c/ap/{}.{end}", env!("CARGO_MANIFEST_DIR"), block.name);
                std::fs::read_to_string(path).unwrap_or_default()
            };
            let text = read("h") + &read("bpf.c");
            let (_, rest) = text.split_once(&format!("struct {}_set {{", block.name)).unwrap();
            let (inside, rest) = rest.split_once('}').unwrap();
            let names: Vec<_> =
                inside.lines().filter_map(|l| Some(l.trim().strip_prefix("u64 ")?.split_once(';')?.0)).collect();
            assert_eq!(names, block.params.iter().map(|p| p.0).collect::<Vec<_>>());
            for (name, default, _) in block.params {
                assert!(rest.contains(&format!(".{name} = {default}")), "{name}");
            }
        }
    }

    #[test]
    fn wrong_settings_name_the_parameters() {
        let fcwa = Block::find("fcwa").unwrap();
        assert_eq!(fcwa.settings(&["segments=28p".into()]).unwrap()[..8], 28u64.to_ne_bytes());
        assert!(fcwa.settings(&["segment=28".into()]).unwrap_err().remedy.contains("keep_edge"));
        assert!(fcwa.settings(&["segments=many".into()]).unwrap_err().remedy.contains("segments=20"));
        assert!(Block::find("ce_threshold").unwrap().settings(&[]).unwrap_err().remedy.contains("--set rate="));
        assert!(Block::find("pilosof").unwrap_err().remedy.contains("ack_thinning"));
        assert_eq!(Block::of_program("contend_thinnin").map(|b| b.name), Some("ack_thinning"));
    }
}
