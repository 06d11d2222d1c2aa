//! As much of HTTP/1.0 as transfers need.

/// The longest head that is read, in bytes.
pub(super) const LONGEST_HEAD: usize = 64 * 1024;

/// The head of a request or an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The three words of the first line; the last one may have spaces or be missing.
    pub first: [String; 3],
    /// Length of the body, if it is given.
    pub length: Option<u64>,
    /// Bytes of the head.
    pub bytes: usize,
}

/// Reads the head at the start of `bytes`; `None` while it is not complete.
///
/// # Errors
/// When this is no HTTP.
pub(super) fn head(bytes: &[u8]) -> Result<Option<Head>, &'static str> {
    let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else {
        return if bytes.len() > LONGEST_HEAD { Err("a head of more than 64 kB") } else { Ok(None) };
    };
    let text = std::str::from_utf8(&bytes[..end]).map_err(|_| "a head that is no text")?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().splitn(3, ' ').map(str::to_owned);
    let first: [String; 3] = std::array::from_fn(|_| words.next().unwrap_or_default());
    if !first.iter().any(|w| w.starts_with("HTTP/1.")) {
        return Err("no HTTP/1");
    }
    let mut length = None;
    for (name, value) in lines.filter_map(|l| l.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse().map_err(|_| "a Content-Length that is no number")?);
        }
    }
    Ok(Some(Head { first, length, bytes: end + 4 }))
}

/// The number of bytes that a path names: `/1500`, `/10MB`.
pub(super) fn size(path: &str) -> Option<u64> {
    let text = path.trim_start_matches('/');
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[digits..] {
        "" | "B" => 1,
        "kB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_when_they_are_complete() {
        let text = b"HTTP/1.1 200 All is well\r\ncontent-LENGTH:  17\r\nX: y\r\n\r\nbody";
        (0..text.len() - 5).for_each(|n| assert_eq!(head(&text[..n]), Ok(None), "{n}"));
        let h = head(text).unwrap().unwrap();
        assert_eq!((h.first[1].as_str(), h.first[2].as_str(), h.length), ("200", "All is well", Some(17)));
        assert_eq!(&text[h.bytes..], b"body");
        assert!(head(b"SSH-2.0-x\r\n\r\n").is_err() && head(b"HTTP/1.0 200 ok\r\nContent-Length: -1\r\n\r\n").is_err());
        assert!(head(&vec![b'a'; LONGEST_HEAD + 1]).is_err());
    }

    #[test]
    fn paths_name_sizes() {
        assert_eq!(["/1500", "/10MB", "/2kB", "/"].map(size), [Some(1500), Some(10_000_000), Some(2000), None]);
        assert_eq!(["/index.html", "/99999999999999999999", "/18446744073709551615GB"].map(size), [None; 3]);
    }
}
