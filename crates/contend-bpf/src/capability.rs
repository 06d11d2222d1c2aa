//! What this machine and this build can deploy. Reads files only: nothing is tried out. What only a trial shows is
//! `load::negotiates_accurate_ecn`, with the feature `bpf`.

use contend_core::Refusal;

/// The remedy if a kernel does not take a controller that asks for accurate ECN.
pub const ACCURATE_ECN: &str = "use Linux 7.0, or 6.18 with the stable updates of February 2026, which have \
    TCP_CONG_NEEDS_ACCECN; the other controllers do not need it";

/// One need of a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Capability {
    /// It is there.
    Ok,
    /// It is missing.
    Missing(Refusal),
}

/// The needs of a deployment, each with its name: the build, privileges, and what the kernel must have.
pub fn capabilities() -> Vec<(&'static str, Capability)> {
    let symbols = std::fs::read("/sys/kernel/btf/vmlinux").unwrap_or_default();
    let has = |name: &str| symbols.windows(name.len()).any(|w| w == name.as_bytes());
    let module = |name: &str| {
        std::path::Path::new("/sys/module").join(name).exists()
            || std::fs::read_to_string("/proc/sys/kernel/osrelease").is_ok_and(|release| {
                let index = format!("/lib/modules/{}/modules.dep", release.trim());
                std::fs::read_to_string(index).is_ok_and(|text| text.contains(&format!("/{name}.ko")))
            })
    };
    let need = |name, there, why, remedy| {
        (name, if there { Capability::Ok } else { Capability::Missing(Refusal::new(why, remedy)) })
    };
    vec![
        need(
            "bpf (build)",
            cfg!(feature = "bpf"),
            "this contend was built without BPF",
            "install libelf-dev, zlib1g-dev, pkg-config and make, then: cargo build --release --features bpf",
        ),
        need(
            "privileges",
            may_load(),
            "loading programs needs the capabilities BPF, PERFMON and NET_ADMIN",
            "run as root: sudo contend deploy ...",
        ),
        need(
            "BTF",
            !symbols.is_empty(),
            "the kernel has no type information (/sys/kernel/btf/vmlinux)",
            "use a kernel with CONFIG_DEBUG_INFO_BTF=y, as distributions have it since 2020",
        ),
        need(
            "struct_ops",
            has("bpf_struct_ops_tcp_congestion_ops"),
            "the kernel takes no congestion controllers by BPF",
            "use Linux 6.4 or later with CONFIG_BPF_JIT=y and CONFIG_BPF_SYSCALL=y",
        ),
        need(
            "accurate ECN",
            has("delivered_ecn_bytes"),
            "the kernel has no accurate ECN (RFC 9768), which prague needs",
            ACCURATE_ECN,
        ),
        need(
            "clsact",
            (has("clsact_init") || module("sch_ingress")) && (has("cls_bpf_classify") || module("cls_bpf")),
            "the kernel takes no tc programs",
            "use a kernel with CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF; on OpenWrt: opkg install kmod-sched-bpf",
        ),
    ]
}

/// Fails with the first of these needs that is missing.
///
/// # Errors
/// If one of `names` is missing.
pub fn require(names: &[&str]) -> Result<(), Refusal> {
    for (name, capability) in capabilities() {
        if let Capability::Missing(why) = capability
            && names.contains(&name)
        {
            return Err(why);
        }
    }
    Ok(())
}

/// True if this process has the capabilities that loading needs.
fn may_load() -> bool {
    const NET_ADMIN: u64 = 1 << 12;
    const SYS_ADMIN: u64 = 1 << 21;
    const PERFMON_AND_BPF: u64 = (1 << 38) | (1 << 39);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status
        .lines()
        .find_map(|l| l.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0);
    let all = |bits: u64| effective & bits == bits;
    all(NET_ADMIN) && (all(SYS_ADMIN) || all(PERFMON_AND_BPF))
}
