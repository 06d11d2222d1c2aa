//! Base 64 and SHA-256, for data inside the page and for its Content-Security-Policy.

/// Base 64 (RFC 4648 §4).
pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().chain([&0, &0]).take(3).fold(0u32, |bits, b| (bits << 8) | u32::from(*b));
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// SHA-256 (FIPS 180-4 §6.2).
pub(super) fn sha256(message: &[u8]) -> [u8; 32] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    let primes: Vec<u32> = (2..312).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    let constants: Vec<u32> = primes.iter().map(|p| fraction(libm::cbrt(f64::from(*p)))).collect();
    let mut hash = [0; 8];
    hash.iter_mut().zip(&primes).for_each(|(h, p)| *h = fraction(libm::sqrt(f64::from(*p))));
    for block in padded.as_chunks::<64>().0 {
        let mut w = [0u32; 64];
        for (word, bytes) in w.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        for t in 16..64 {
            let (x, y) = (w[t - 15], w[t - 2]);
            let s0 = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
            let s1 = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
            w[t] = s1.wrapping_add(w[t - 7]).wrapping_add(s0).wrapping_add(w[t - 16]);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = hash;
        for (k, w) in constants.iter().zip(w) {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let t1 = h.wrapping_add(s1).wrapping_add((e & f) ^ (!e & g)).wrapping_add(*k).wrapping_add(w);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let t2 = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2));
        }
        for (sum, x) in hash.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(x);
        }
    }
    let mut out = [0; 32];
    out.as_chunks_mut::<4>().0.iter_mut().zip(hash).for_each(|(bytes, word)| *bytes = word.to_be_bytes());
    out
}

/// The first 32 bits of the fraction of `x`; FIPS 180-4 takes its constants from roots of primes.
fn fraction(x: f64) -> u32 {
    ((x - libm::floor(x)) * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_rfc_4648s() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        assert!(pairs.iter().all(|(plain, coded)| base64(plain.as_bytes()) == *coded));
    }

    #[test]
    fn sha_256_is_that_of_fips_180() {
        let hex = |text: &str| sha256(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect::<String>();
        // FIPS 180-2, appendix B; the last one fills a block and needs another one for its length.
        assert_eq!(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
    }
}
