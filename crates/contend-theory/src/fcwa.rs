//! FCWA: the window that fills the queue of an access point without overflow, and the queue that a window needs.
//!
//! Keceli, Inan, Ayanoglu, "Fair and Efficient TCP Access in the IEEE 802.11 Infrastructure BSS", 2008, §III, eqs. 2-6
//! and 10. CT_AP comes from [`crate::cycle_time`]. The caller chooses the unit of time. Windows and buffers are in
//! packets.
//!
//! Differences from the paper:
//! - Results are not rounded. To use a window, round it down; to use a buffer, round it up.
//! - [`Mix::buffer`] may be negative: the windows do not fill the path, and no queue is needed.
//! - [`buffer_of`] generalises eq. 10 to flows with different delays and windows.

use crate::Invalid;
use crate::invalid::{invalid, not_negative, positive};

/// The flows of a cell and their mean cycle time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mix {
    /// Number of uploads.
    pub n_up: f64,
    /// Number of downloads.
    pub n_down: f64,
    /// Data packets per TCP ACK.
    pub b: f64,
    /// CT_AP, mean cycle time.
    pub ct_ap: f64,
}

impl Mix {
    /// Packets that the access point sends while each flow moves one data packet. Returns an error if there is no flow.
    pub fn per_round(&self) -> Result<f64, Invalid> {
        not_negative("n_up", self.n_up)?;
        not_negative("n_down", self.n_down)?;
        positive("b", self.b)?;
        if self.n_up + self.n_down <= 0.0 {
            return Err(invalid("n_up + n_down", 0, "at least one flow"));
        }
        Ok(self.n_up / self.b + self.n_down)
    }

    /// CT_flow, the mean time between two data packets of a flow. Errors: see [`Mix::per_round`]; also an error for a
    /// cycle time of 0.
    pub fn ct_flow(&self) -> Result<f64, Invalid> {
        positive("ct_ap", self.ct_ap)?;
        // Keceli 2008 eq. 5 (eq. 3 for b = 1).
        Ok(self.per_round()? * self.ct_ap)
    }

    /// RTT with a full buffer, for a one-way wired delay of `delay`.
    pub fn rtt(&self, delay: f64, buffer: f64) -> Result<f64, Invalid> {
        positive("ct_ap", self.ct_ap)?;
        // Keceli 2008 eq. 2: 2 LD on the wires, (BS_AP - 1) CT_AP in the queue, and CT_AP for the channel accesses of
        // access point and station.
        Ok(2.0 * not_negative("delay", delay)? + not_negative("buffer", buffer)? * self.ct_ap)
    }

    /// W_lim of a flow, packets. Errors: see [`Mix::ct_flow`]; also an error for a negative delay or buffer.
    pub fn window(&self, delay: f64, buffer: f64) -> Result<f64, Invalid> {
        // Keceli 2008 eqs. 4, 6: 2 LD / CT_flow + BS_AP / (n_up / b + n_down).
        Ok(self.rtt(delay, buffer)? / self.ct_flow()?)
    }

    /// Data of all flows together, bits per unit of time, when each packet holds `bits`. Errors: see [`Mix::ct_flow`].
    pub fn throughput(&self, bits: f64) -> Result<f64, Invalid> {
        Ok((self.n_up + self.n_down) * positive("bits", bits)? / self.ct_flow()?)
    }

    /// BS_AP for flows of `window` packets each; negative if the flows need no queue. Errors: see [`Mix::ct_flow`];
    /// also an error for a negative delay or window.
    pub fn buffer(&self, delay: f64, window: f64) -> Result<f64, Invalid> {
        // Keceli 2008 eq. 10.
        Ok((not_negative("window", window)? - 2.0 * not_negative("delay", delay)? / self.ct_flow()?)
            * self.per_round()?)
    }
}

/// One flow for [`buffer_of`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flow {
    /// True if the flow is an upload.
    pub up: bool,
    /// LD, one-way wired delay.
    pub delay: f64,
    /// Window of the flow, packets.
    pub window: f64,
}

/// BS_AP for `flows` with `b` data packets per ACK and a mean cycle time of `ct_ap`: the sum of the packets that each
/// flow has beyond its path. For an upload these packets are ACKs. Errors: see [`Mix::buffer`].
pub fn buffer_of(flows: &[Flow], b: f64, ct_ap: f64) -> Result<f64, Invalid> {
    let n_up = flows.iter().filter(|f| f.up).count() as f64;
    let ct_flow = Mix { n_up, n_down: flows.len() as f64 - n_up, b, ct_ap }.ct_flow()?;
    flows.iter().try_fold(0.0, |sum, f| {
        let beyond = not_negative("window", f.window)? - 2.0 * not_negative("delay", f.delay)? / ct_flow;
        Ok(sum + if f.up { beyond / b } else { beyond })
    })
}

/// Window by the rule of Pilosof and others (Infocom 2003), in whole packets: an equal share of the buffer, at least
/// one.
pub fn fixed_window(flows: u32, buffer: u32) -> u32 {
    (buffer / flows.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::cycle_time::{Cycle, Pairs};
    use crate::dcf::Backoff;

    /// CT_{x,y} in ms for the sets of spec S2.1. `slot` is the slot; `data` and `ack` are T_s of data and of TCP ACKs.
    fn pairs(slot: f64, data: f64, ack: f64, form: impl Fn(&Backoff) -> Result<Cycle, Invalid>) -> Pairs {
        let law = Backoff { cw_min: 15, cw_max: 1023, attempts: Some(7) };
        form(&law).unwrap().pairs(slot / 1e3, data / 1e3, ack / 1e3).unwrap()
    }
    fn b_m2() -> Pairs {
        pairs(20.0, 364.0, 148.0, Cycle::m2)
    }
    fn b_m1() -> Pairs {
        pairs(20.0, 364.0, 148.0, Cycle::m1)
    }
    fn a_m2() -> Pairs {
        pairs(9.0, 342.0, 126.0, Cycle::m2)
    }

    fn mix(of: &Pairs, n_up: u32, n_down: u32, b: u32) -> Mix {
        let (n_up, n_down, b) = (n_up.into(), n_down.into(), b.into());
        Mix { n_up, n_down, b, ct_ap: of.ct_ap(n_up, n_down, b).unwrap() }
    }

    /// Checks that `got` agrees with `want` to the number of digits in the table.
    fn holds(got: f64, want: f64, digits: i32) {
        assert!((got - want).abs() <= 0.5005 * 10f64.powi(-digits), "{got} {want}");
    }

    #[test]
    fn windows_with_an_ack_per_packet_have_the_table_of_the_spec() {
        // Spec 2T: n + n flows, LD 50 ms, BS_AP 100. CT_flow (B), W_lim B/M2, B/M1, CT_flow (A), W_lim A/M2, fixed
        // window.
        let table = [
            (1, 1.479, 117.62, 119.50, 1.175, 135.08, 50),
            (2, 2.958, 58.81, 59.75, 2.351, 67.54, 25),
            (3, 4.436, 39.21, 39.83, 3.526, 45.03, 16),
            (4, 5.915, 29.41, 29.88, 4.701, 33.77, 12),
            (5, 7.394, 23.52, 23.90, 5.877, 27.02, 10),
            (6, 8.873, 19.60, 19.92, 7.052, 22.51, 8),
            (7, 10.351, 16.80, 17.07, 8.227, 19.30, 7),
            (8, 11.830, 14.70, 14.94, 9.403, 16.89, 6),
            (9, 13.309, 13.07, 13.28, 10.578, 15.01, 5),
            (10, 14.788, 11.76, 11.95, 11.754, 13.51, 5),
            (11, 16.267, 10.69, 10.86, 12.929, 12.28, 4),
            (12, 17.745, 9.80, 9.96, 14.104, 11.26, 4),
            (13, 19.224, 9.05, 9.19, 15.280, 10.39, 3),
            (14, 20.703, 8.40, 8.54, 16.455, 9.65, 3),
            (15, 22.182, 7.84, 7.97, 17.630, 9.01, 3),
        ];
        for (n, flow_b, b2, b1, flow_a, a2, fixed) in table {
            let (b, a) = (mix(&b_m2(), n, n, 1), mix(&a_m2(), n, n, 1));
            holds(b.ct_flow().unwrap(), flow_b, 3);
            holds(b.window(50.0, 100.0).unwrap(), b2, 2);
            holds(mix(&b_m1(), n, n, 1).window(50.0, 100.0).unwrap(), b1, 2);
            holds(a.ct_flow().unwrap(), flow_a, 3);
            holds(a.window(50.0, 100.0).unwrap(), a2, 2);
            assert_eq!(fixed_window(2 * n, 100), fixed);
        }
    }

    #[test]
    fn windows_with_delayed_acks_have_the_table_of_the_spec() {
        // Spec 2T: up, down, CT_flow (B), W_lim B/M2, B/M1, CT_flow (A), W_lim A/M2, fixed window.
        let table = [
            (5, 5, 6.112, 29.70, 30.11, 4.974, 33.44, 10),
            (10, 5, 8.080, 22.38, 22.69, 6.563, 25.24, 6),
            (15, 5, 9.988, 18.01, 18.27, 8.092, 20.36, 5),
            (5, 10, 10.100, 17.90, 18.15, 8.203, 20.19, 6),
            (10, 10, 12.223, 14.85, 15.05, 9.948, 16.72, 5),
            (15, 10, 14.217, 12.75, 12.93, 11.562, 14.36, 4),
            (5, 15, 13.984, 12.87, 13.05, 11.329, 14.54, 5),
            (10, 15, 16.248, 11.15, 11.31, 13.214, 12.57, 4),
            (15, 15, 18.335, 9.90, 10.04, 14.922, 11.15, 3),
        ];
        for (up, down, flow_b, b2, b1, flow_a, a2, fixed) in table {
            let (b, a) = (mix(&b_m2(), up, down, 2), mix(&a_m2(), up, down, 2));
            holds(b.ct_flow().unwrap(), flow_b, 3);
            holds(b.window(50.0, 100.0).unwrap(), b2, 2);
            holds(mix(&b_m1(), up, down, 2).window(50.0, 100.0).unwrap(), b1, 2);
            holds(a.ct_flow().unwrap(), flow_a, 3);
            holds(a.window(50.0, 100.0).unwrap(), a2, 2);
            assert_eq!(fixed_window(up + down, 100), fixed);
        }
    }

    #[test]
    fn windows_for_triangular_delays_have_the_table_of_the_spec() {
        // Spec 2T: the k-th of N flows has LD = k (k + 1) / 2 ms; half of the flows are uploads.
        let four = [25.68, 27.03, 29.06, 31.76];
        let ten = [10.27, 10.81, 11.62, 12.70, 14.06, 15.68, 17.57, 19.74, 22.17, 24.88];
        let twenty = [
            5.14, 5.41, 5.81, 6.35, 7.03, 7.84, 8.79, 9.87, 11.09, 12.44, 13.93, 15.55, 17.31, 19.20, 21.23, 23.39,
            25.69, 28.13, 30.70, 33.40,
        ];
        for windows in [four.as_slice(), ten.as_slice(), twenty.as_slice()] {
            let m = mix(&b_m2(), windows.len() as u32 / 2, windows.len() as u32 / 2, 1);
            for (i, w) in windows.iter().enumerate() {
                let k = i as f64 + 1.0;
                holds(m.window(k * (k + 1.0) / 2.0, 100.0).unwrap(), *w, 2);
            }
        }
        let thirty = mix(&b_m2(), 15, 15, 1);
        holds(thirty.window(1.0, 100.0).unwrap(), 3.42, 2);
        holds(thirty.window(465.0, 100.0).unwrap(), 45.26, 2);
    }

    #[test]
    fn throughput_does_not_depend_on_the_number_of_flows_and_buffers_are_those_of_the_spec() {
        for n in 1..=15 {
            // Spec 2T: 16.23 Mb/s (B), 20.42 Mb/s (A). Times are in ms, so the result is in bits per ms, that is kb/s.
            holds(mix(&b_m2(), n, n, 1).throughput(12_000.0).unwrap() / 1e3, 16.23, 2);
            holds(mix(&a_m2(), n, n, 1).throughput(12_000.0).unwrap() / 1e3, 20.42, 2);
        }
        // Spec S6: set B, LD 50 ms, windows of 42. Columns: n + n flows, b, BS_AP.
        for (n, b, want) in [
            (1, 1, -51.0),
            (2, 1, 33.0),
            (5, 1, 285.0),
            (10, 1, 705.0),
            (15, 1, 1125.0),
            (5, 2, 192.0),
            (10, 2, 507.0),
            (15, 2, 822.0),
        ] {
            holds(mix(&b_m2(), n, n, b).buffer(50.0, 42.0).unwrap(), want, 0);
        }
    }

    #[test]
    fn the_buffer_is_the_inverse_of_the_window_for_equal_and_unequal_flows() {
        for (up, down, b) in [(3, 5, 1), (5, 3, 2), (0, 4, 1), (4, 0, 2)] {
            let m = mix(&b_m2(), up, down, b);
            assert!((m.buffer(20.0, m.window(20.0, 80.0).unwrap()).unwrap() - 80.0).abs() < 1e-9);
            let unequal: Vec<Flow> = (0..up + down)
                .map(|i| {
                    let delay = f64::from(5 * i);
                    Flow { up: i < up, delay, window: m.window(delay, 80.0).unwrap() }
                })
                .collect();
            assert!((buffer_of(&unequal, b.into(), m.ct_ap).unwrap() - 80.0).abs() < 1e-9);
        }
    }

    #[test]
    fn impossible_mixes_are_errors() {
        let m = Mix { n_up: 1.0, n_down: 1.0, b: 1.0, ct_ap: 1.0 };
        assert_eq!(Mix { n_up: 0.0, n_down: 0.0, ..m }.window(1.0, 1.0).unwrap_err().what, "n_up + n_down");
        assert_eq!(Mix { b: 0.0, ..m }.window(1.0, 1.0).unwrap_err().what, "b");
        assert_eq!(Mix { ct_ap: 0.0, ..m }.window(1.0, 1.0).unwrap_err().what, "ct_ap");
        assert_eq!(m.window(-1.0, 1.0).unwrap_err().what, "delay");
        assert_eq!(m.buffer(1.0, -1.0).unwrap_err().what, "window");
        assert_eq!(m.throughput(0.0).unwrap_err().what, "bits");
        assert_eq!(buffer_of(&[], 1.0, 1.0).unwrap_err().what, "n_up + n_down");
    }
}
