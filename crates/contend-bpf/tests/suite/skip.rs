//! Tests that need root or a feature of the kernel say so and pass over, or fail with `CONTEND_REQUIRE=bpf`.

#[path = "../../../../ci/needs.rs"]
pub mod needs;

/// True if one of these needs is missing. Says which.
pub fn without(needs: &[&str]) -> bool {
    let check = "algorithms of contend deploy in the kernel";
    if let Err(missing) = contend_bpf::capability::require(needs) {
        let required = std::env::var("CONTEND_REQUIRE").is_ok_and(|all| all.split(',').any(|one| one == "bpf"));
        assert!(!required, "CONTEND_REQUIRE=bpf: {missing}");
        needs::skip(&missing.to_string(), check);
        return true;
    }
    needs.contains(&"clsact") && needs::without(&["tc"], check)
}
