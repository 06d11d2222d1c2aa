//! Modified Bessel functions of orders 0 and 1, scaled to avoid overflow and underflow. The `libm` crate has only J and
//! Y.
//!
//! The method is the trapezoidal rule on the integrals of Abramowitz and Stegun 9.6.19 and 9.6.24. The rule converges
//! faster than any power of the step, because it covers a whole period for I and the whole line for K.

use std::f64::consts::PI;

/// I0 and I1 of x >= 0, both times e^-x.
pub(crate) fn scaled_i(x: f64) -> (f64, f64) {
    // The error is about the size of the I whose order is twice the number of nodes, e^-(2 m^2 / x).
    let m = (12.0 + 5.0 * x.sqrt()).ceil();
    let (mut i0, mut i1) = (0.5 * (1.0 + libm::exp(-2.0 * x)), 0.5 * (1.0 - libm::exp(-2.0 * x)));
    for k in 1..m as u32 {
        // 1 - cos a = 2 sin^2(a/2), without cancellation.
        let half = libm::sin(PI * f64::from(k) / (2.0 * m));
        let less = 2.0 * half * half;
        let e = libm::exp(-x * less);
        i0 += e;
        i1 += (1.0 - less) * e;
    }
    (i0 / m, i1 / m)
}

/// K0 and K1 of x > 0, both times e^x.
pub(crate) fn scaled_k(x: f64) -> (f64, f64) {
    // For large x the integrand has a width of about 1/sqrt(x).
    let step = f64::min(0.1, 0.5 / x.sqrt());
    let (mut k0, mut k1) = (0.5, 0.5);
    for k in 1..100_000_u32 {
        // cosh a - 1 = 2 sinh^2(a/2).
        let half = libm::sinh(f64::from(k) * step / 2.0);
        let more = 2.0 * half * half;
        let e = libm::exp(-x * more);
        k0 += e;
        k1 += (1.0 + more) * e;
        if (1.0 + more) * e < 1e-18 * k0 {
            break;
        }
    }
    (k0 * step, k1 * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got / want - 1.0).abs() < 1e-13, "{got} {want}");
    }

    #[test]
    fn values_at_1_are_those_of_tables() {
        // Abramowitz and Stegun, tables 9.8 and 9.11.
        let ((i0, i1), (k0, k1)) = (scaled_i(1.0), scaled_k(1.0));
        let e = libm::exp(1.0);
        near(i0 * e, 1.266_065_877_752_008);
        near(i1 * e, 0.565_159_103_992_485);
        near(k0 / e, 0.421_024_438_240_708_3);
        near(k1 / e, 0.601_907_230_197_234_6);
    }

    #[test]
    fn their_wronskian_is_1_over_x() {
        // Abramowitz and Stegun 9.6.15.
        for x in [1e-4, 0.03, 1.0, 4.0, 37.0, 600.0, 1e5] {
            let ((i0, i1), (k0, k1)) = (scaled_i(x), scaled_k(x));
            near(i0 * k1 + i1 * k0, 1.0 / x);
        }
    }
}
