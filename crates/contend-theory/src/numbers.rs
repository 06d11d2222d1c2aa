//! Arithmetic that several models share.

/// u^k by repeated squaring. The result has the same bits on every platform.
pub(crate) fn power(u: f64, k: u32) -> f64 {
    let (mut result, mut base, mut k) = (1.0, u, k);
    while k > 0 {
        if k & 1 == 1 {
            result *= base;
        }
        base *= base;
        k >>= 1;
    }
    result
}
