//! Metrics and conditions: any text is an expression or an error whose place lies within the text.
#![no_main]

use contend_lab::measuring::metric::{Condition, Expr};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let inside = |e: contend_lab::measuring::metric::ParseError| {
        assert!(text.get(e.span.clone()).is_some(), "{:?} of {text:?}", e.span);
        assert!(!e.message.is_empty());
    };
    match Expr::parse(text) {
        Ok(e) => {
            let _ = (e.sampling(), e.dimension());
        }
        Err(e) => inside(e),
    }
    let _ = Expr::parse_any(text).map_err(inside);
    let _ = Condition::parse(text).map_err(inside);
});
