//! Measured or computed losses, read from a file.

use super::Coding;
use contend_core::Refusal;

/// Largest number of rows.
const MOST: usize = 1_000_000;

/// Losses of MPDUs of one size: for each MCS, the PER at some SNRs.
#[derive(Clone, Debug, PartialEq)]
pub struct PerTable {
    /// For each MCS, the SNR in dB (rising) and the PER there.
    rows: [Vec<(f64, f64)>; Coding::MCS.len()],
}

impl PerTable {
    /// Reads a text with a row for each point: SNR in dB, MCS, and PER from 0 to 1, with commas or blanks between them.
    /// A line that begins with `#` is a comment.
    ///
    /// # Errors
    /// Names the line, what is wrong with it, and what to write instead.
    pub fn parse(text: &str) -> Result<PerTable, Refusal> {
        let mut table = PerTable { rows: Default::default() };
        for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#')) {
            if i >= MOST {
                return Err(Refusal::new(
                    format!("the table of losses has more than {MOST} lines"),
                    "write fewer SNRs",
                ));
            }
            let (snr, mcs, per) = row(line).map_err(|e| e.of(format_args!("line {} of the table of losses", i + 1)))?;
            table.rows[mcs].push((snr, per));
        }
        for (mcs, rows) in table.rows.iter_mut().enumerate() {
            rows.sort_by(|a, b| a.0.total_cmp(&b.0));
            if let Some(w) = rows.windows(2).find(|w| w[0].0 == w[1].0) {
                return Err(Refusal::new(
                    format!("the table of losses has two rows for MCS {mcs} at {} dB", w[0].0),
                    "remove one",
                ));
            }
        }
        Ok(table)
    }

    /// The PER at `snr`, linear between two rows; outside the rows that of the nearest. `None` without rows for the
    /// MCS.
    pub(super) fn at(&self, snr: f64, mcs: usize) -> Option<f64> {
        let rows = self.rows.get(mcs)?;
        let above = rows.partition_point(|r| r.0 < snr);
        let Some(high) = rows.get(above) else { return rows.last().map(|r| r.1) };
        let Some(low) = above.checked_sub(1).map(|i| rows[i]) else { return Some(high.1) };
        Some(low.1 + (high.1 - low.1) * (snr - low.0) / (high.0 - low.0))
    }
}

/// The three numbers of a line.
fn row(line: &str) -> Result<(f64, usize, f64), Refusal> {
    const SHAPE: &str = "write SNR in dB, MCS and PER, as in `12.5, 4, 0.03`";
    let mut words = line.split(|c: char| c == ',' || c.is_whitespace()).filter(|w| !w.is_empty());
    let (Some(snr), Some(mcs), Some(per), None) = (words.next(), words.next(), words.next(), words.next()) else {
        return Err(Refusal::new(format!("`{}` has not three numbers", line.trim()), SHAPE));
    };
    let snr = snr
        .parse()
        .ok()
        .filter(|x: &f64| x.is_finite())
        .ok_or_else(|| Refusal::new(format!("`{snr}` is no SNR"), SHAPE))?;
    let most = Coding::MCS.len() - 1;
    let known = mcs.parse().ok().filter(|m| *m <= most);
    let unknown =
        || Refusal::new(format!("`{mcs}` is no MCS of one stream"), format!("write a number from 0 to {most}"));
    let mcs = known.ok_or_else(unknown)?;
    let share = per.parse().ok().filter(|x| (0.0..=1.0).contains(x));
    Ok((snr, mcs, share.ok_or(Refusal::new(format!("`{per}` is no probability"), "write a number from 0 to 1"))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_linear_between_rows_and_constant_outside() {
        let t = PerTable::parse("# SNR, MCS, PER\n12, 4, 0.1\n10, 4, 0.9\n\n11 5 1\n").unwrap();
        let got = [9.0, 10.0, 10.5, 11.0, 12.0, 20.0].map(|snr| t.at(snr, 4).unwrap());
        for (got, want) in got.iter().zip([0.9, 0.9, 0.7, 0.5, 0.1, 0.1]) {
            assert!((got - want).abs() < 1e-12, "{got}, not {want}");
        }
        assert_eq!(t.at(f64::NEG_INFINITY, 5), Some(1.0));
        assert_eq!(t.at(10.0, 3), None);
    }

    proptest::proptest! {
        /// No text panics, and no table gives a number that is no probability.
        #[test]
        fn any_text_is_read_or_refused(
            text in "([-+0-9.e]{1,6}[, ]{1,2}[0-9]{1,2}[, ][0-9.e-]{1,5}\n?|[a-z0-9 ,.#\n-]{0,9}){0,8}",
            snr in proptest::num::f64::ANY,
        ) {
            if let Ok(table) = PerTable::parse(&text) {
                for per in (0..=Coding::MCS.len()).filter_map(|mcs| table.at(snr, mcs)) {
                    proptest::prop_assert!(snr.is_nan() || (0.0..=1.0).contains(&per));
                }
            }
        }
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, part) in [
            ("10, 4", "line 1"),
            ("10, 4, 0.5, 1", "three numbers"),
            ("# x\nten, 4, 0.5", "line 2"),
            ("10, 14, 0.5", "0 to 13"),
            ("10, 4, 1.5", "from 0 to 1"),
            ("10, 4, 0.5\n10, 4, 0.4", "two rows for MCS 4 at 10 dB"),
            ("inf, 4, 0.5", "no SNR"),
        ] {
            let e = PerTable::parse(text).unwrap_err();
            assert!(e.to_string().contains(part), "{text}: {e}");
        }
    }
}
