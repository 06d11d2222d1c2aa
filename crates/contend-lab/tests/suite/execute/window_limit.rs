//! Windows that an access point limits.

use super::lab::execute;

#[test]
fn a_window_limit_holds_however_a_connection_opens() {
    for handshake in ["false", "true", "\"segment\""] {
        let o = execute(&format!(
            "duration = \"2s\"\n[wifi]\nstandard = \"802.11g\"\n\
                [ap]\ncontrol = {{ kind = \"pilosof\", buffer = \"5p\" }}\n\
                [[flow]]\nfrom = \"server\"\nto = \"station\"\ndelay = \"50ms\"\n\
                tcp = {{ kind = \"newreno\", handshake = {handshake} }}\n"
        ));
        let segments = o.runs[0].metrics["goodput.down"] * 2.0 / 8.0 / 1460.0;
        // 5 segments in each of 20 round trips of 100 ms, without the first and the last. What the SYN-ACK offers stays
        // granted once: 65 535 bytes are 44 segments.
        assert!((90.0..145.0).contains(&segments), "{handshake}: {segments}");
    }
}
