//! Tests that need root or a feature of the kernel say so and pass over, or fail with `CONTEND_REQUIRE=bpf`.

/// True if one of these needs is missing. Says which.
pub fn without(needs: &[&str]) -> bool {
    let Err(missing) = contend_bpf::capability::require(needs) else { return false };
    let required = std::env::var("CONTEND_REQUIRE").is_ok_and(|all| all.split(',').any(|one| one == "bpf"));
    assert!(!required, "CONTEND_REQUIRE=bpf: {missing}");
    eprintln!("SKIPPED: {missing}");
    true
}
