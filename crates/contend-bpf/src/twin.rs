//! The controllers that exist twice: in Rust (contend-core) and in C (`c/cc/`), compared for equality by tests.

use contend_core::Refusal;
use contend_core::cc::{Build, REGISTRY, deployed_name};
use contend_core::registry::{Args, Entry, Unit, Value, find};

/// A congestion controller that can be deployed.
#[derive(Debug)]
pub struct Twin {
    /// The name in contend; in the kernel see [`Twin::kernel_name`].
    pub name: &'static str,
    /// The compiled program, as `bpftool struct_ops register` takes it.
    pub object: &'static [u8],
    /// True if it asks the kernel for accurate ECN.
    pub accurate_ecn: bool,
    /// Words of parameters that the kernel's form does not have, with the reason.
    lacks: &'static [(&'static str, &'static str, &'static str)],
}

/// All of them.
pub const TWINS: &[Twin] = &[
    Twin {
        name: "reno",
        object: include_bytes!("../objects/reno.bpf.o"),
        accurate_ecn: false,
        lacks: &[
            ("hystart", "rfc9406", "the kernel's form of reno has no HyStart"),
            ("hystart", "linux", "the kernel's form of reno has no HyStart"),
        ],
    },
    Twin {
        name: "jersey",
        object: include_bytes!("../objects/jersey.bpf.o"),
        accurate_ecn: false,
        lacks: &[("reaction", "every", "Linux answers marks once in a window of data")],
    },
    Twin { name: "tcp_d", object: include_bytes!("../objects/tcp_d.bpf.o"), accurate_ecn: false, lacks: &[] },
    Twin { name: "tcp_av", object: include_bytes!("../objects/tcp_av.bpf.o"), accurate_ecn: false, lacks: &[] },
    Twin {
        name: "westwood",
        object: include_bytes!("../objects/westwood.bpf.o"),
        accurate_ecn: false,
        lacks: &[
            ("filter", "westwood", "the kernel's form is Westwood+"),
            ("filter", "nr", "the kernel's form is Westwood+"),
            ("form", "paper", "the kernel's form sets the window at the end of a recovery"),
        ],
    },
    Twin { name: "prague", object: include_bytes!("../objects/prague.bpf.o"), accurate_ecn: true, lacks: &[] },
];

impl Twin {
    /// The twin of a controller.
    ///
    /// # Errors
    /// If the controller has no twin.
    pub fn find(name: &str) -> Result<&'static Twin, Refusal> {
        TWINS.iter().find(|t| t.name == name).ok_or_else(|| {
            let names: Vec<_> = TWINS.iter().map(|t| t.name).collect();
            Refusal::new(
                format!("there is no kernel program for the controller {name:?}"),
                format!("choose one of {}; the others run in the simulator", names.join(", ")),
            )
        })
    }

    /// The name in the kernel.
    pub fn kernel_name(&self) -> String {
        deployed_name(self.name)
    }

    /// The entry of the registry: parameters, source, the Rust form.
    #[allow(clippy::expect_used)]
    pub fn entry(&self) -> &'static Entry<Build> {
        find(REGISTRY, self.name).expect("every twin is a controller")
    }

    /// The parameters as the C form has them: a number of 64 bits each, in the order of the registry. A word is its
    /// place in the list, a flag 0 or 1, a time in nanoseconds, a rate in bits per second.
    ///
    /// # Errors
    /// If a word is one that the kernel's form does not have.
    pub fn settings(&self, args: &Args) -> Result<Vec<u8>, Refusal> {
        let mut bytes = Vec::new();
        for p in self.entry().params {
            let number = match (p.unit, args.get(p.name)) {
                (Unit::Word(words), Some(Value::Word(word))) => {
                    let lacks = |word: &str| self.lacks.iter().find(|l| l.0 == p.name && l.1 == word);
                    if let Some((name, word, why)) = lacks(word) {
                        let has: Vec<_> = words.iter().filter(|w| lacks(w).is_none()).collect();
                        return Err(Refusal::new(
                            format!("{name} = {word:?} cannot be deployed: {why}"),
                            format!("write {name} = {:?}", has.first().unwrap_or(&&"")),
                        ));
                    }
                    words.iter().position(|w| w == word).unwrap_or(0) as u64
                }
                (_, Some(Value::Integer(n))) => u64::try_from(*n).unwrap_or(0),
                (_, Some(Value::Bool(on))) => u64::from(*on),
                (_, Some(Value::Time(t))) => t.as_nanos(),
                (_, Some(Value::Rate(bps))) => *bps,
                _ => 0,
            };
            bytes.extend(number.to_ne_bytes());
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct NAME_set` in `c/cc/NAME.h`.
    fn members(name: &str) -> Vec<String> {
        let path = format!("{}/c/cc/{name}.h", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let (_, rest) = text.split_once(&format!("struct {name}_set {{")).unwrap();
        let (inside, _) = rest.split_once('}').unwrap();
        inside.lines().filter_map(|l| Some(l.trim().strip_prefix("u64 ")?.split_once(';')?.0.into())).collect()
    }

    #[test]
    fn the_c_form_has_the_parameters_of_the_registry_in_order() {
        for twin in TWINS {
            let names: Vec<_> = twin.entry().params.iter().map(|p| p.name).collect();
            assert_eq!(members(twin.name), names, "{}", twin.name);
        }
    }

    #[test]
    fn an_unknown_controller_and_a_word_that_linux_lacks_are_refused() {
        assert!(Twin::find("bbr").unwrap_err().remedy.contains("jersey"));
        let mut args = Args::default();
        args.set("reaction", Value::Word("every".into()));
        let error = Twin::find("jersey").unwrap().settings(&args).unwrap_err();
        assert!(error.what.contains("reaction") && error.remedy.contains("round"), "{error}");
    }
}
