//! A gzip file without compression: contend needs no compression library for the few files that must be gzip.
//!
//! Format: RFC 1952 (gzip), RFC 1951 §3.2.4 (blocks without compression).

use crate::writing::journal::check;

/// Maximum length of a block.
const BLOCK: usize = 65_535;

/// `content` as a gzip file.
pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + content.len() / BLOCK * 5 + 32);
    // Magic number, deflate, no flags, no time, no extra flags, unknown system.
    out.extend([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
    let blocks = content.len().div_ceil(BLOCK).max(1);
    for i in 0..blocks {
        let block = content.get(i * BLOCK..content.len().min((i + 1) * BLOCK)).unwrap_or_default();
        let length = block.len() as u16;
        out.push(u8::from(i + 1 == blocks));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    out.extend(check(content).to_le_bytes());
    // RFC 1952 §2.3.1: the length modulo 2^32.
    out.extend((content.len() as u32).to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `printf 'abc' | gzip -1` begins and ends; the block is by hand.
    #[test]
    fn three_letters_are_one_block() {
        let file = gzip(b"abc");
        assert_eq!(file[..4], [0x1f, 0x8b, 8, 0]);
        assert_eq!(file[10..18], [1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c']);
        assert_eq!(file[18..], [0xc2, 0x41, 0x24, 0x35, 3, 0, 0, 0]);
    }

    #[test]
    fn long_and_empty_contents_come_back() {
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 200_000] {
            let content: Vec<u8> = (0..length).map(|i| (i * 7 % 251) as u8).collect();
            let file = gzip(&content);
            let (mut at, mut back) = (10, Vec::<u8>::new());
            loop {
                let size = usize::from(u16::from_le_bytes([file[at + 1], file[at + 2]]));
                back.extend(&file[at + 5..at + 5 + size]);
                at += 5 + size;
                if file[at - 5 - size] == 1 {
                    break;
                }
            }
            assert_eq!((back == content, file.len() - at), (true, 8), "{length}");
        }
    }
}
