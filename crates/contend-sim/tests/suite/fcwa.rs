//! The control block `fcwa` and `contend-theory` compute the same model with separate code.

use contend_core::ap::fcwa::{ct_ap, window_limit};
use contend_theory::cycle_time::Pairs;
use contend_theory::fcwa::Mix;
use proptest::prelude::*;

proptest! {
    #[test]
    fn block_and_theory_agree(
        up in 0u32..40, down in 0u32..40, b in 1u32..4, delay in 0.0f64..1.0, buffer in 1.0f64..1000.0,
        ms in prop::array::uniform3(0.1f64..10.0),
    ) {
        prop_assume!(up + down > 0);
        let [data_data, data_ack, ack_ack] = ms.map(|x| x / 1e3);
        let (n_up, n_down, b) = (f64::from(up), f64::from(down), f64::from(b));
        let theirs = Mix {
            n_up, n_down, b, ct_ap: Pairs { data_data, data_ack, ack_ack }.ct_ap(n_up, n_down, b).unwrap_or(0.0),
        };
        let ours = ct_ap(&[[data_data, data_ack], [data_ack, ack_ack]], n_up, n_down, b);
        prop_assert!((ours / theirs.ct_ap - 1.0).abs() < 1e-12);
        let window = window_limit(2.0 * delay, ours, buffer, n_up / b + n_down);
        prop_assert!((window / theirs.window(delay, buffer).unwrap_or(0.0) - 1.0).abs() < 1e-12);
    }
}
