//! Captures: any bytes are read or refused with a message, and what was read can be analysed.
#![no_main]

use contend_lab::measuring::analyse::exchange::Exchange;
use contend_lab::measuring::analyse::fingerprint::{First, Settings, fingerprint};
use contend_lab::measuring::analyse::{Capture, access};
use contend_sim::wifi::phy::{Phy, Preamble, Standard};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let capture = match Capture::read(bytes) {
        Ok(capture) => capture,
        Err(p) => {
            assert!(!p.what.is_empty() && !p.remedy.is_empty());
            return;
        }
    };
    let exchange = Exchange { phy: Phy::new(Standard::B, Preamble::Long), rate: None, bytes: None };
    let all = capture.transmitters();
    for (station, _) in all.iter().take(3) {
        for first in [First::Found, First::Computed] {
            let s = Settings { slot_ns: 20_000, slots: 32, first, alpha: 0.001, exchange: exchange.clone() };
            assert!(!fingerprint(&capture, *station, &s).words.is_empty());
        }
    }
    if let [a, b, ..] = all.as_slice() {
        let _ =
            access::access(&capture, [a.0, b.0], &access::Settings { interval_ns: 1_000_000_000, slots: 32, exchange });
    }
});
