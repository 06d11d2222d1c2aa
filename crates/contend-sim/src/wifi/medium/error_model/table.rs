//! Losses from a table of measured or computed values.

use super::{Coding, ErrorModel, PerTable, Setting};
use contend_core::Refusal;
use contend_core::formulas::Line;
use contend_core::registry::{Args, Param};
use std::sync::Arc;

/// Source.
pub const CITE: &str = "the file; scaling to other sizes: IEEE 802.11-14/0571r12, 11ax Evaluation Methodology";
/// What it does.
pub const SUMMARY: &str = "A table of losses from a file: linear between the SNRs of the table, scaled from the size \
    of its MPDUs to others as if bits failed independently.";
/// Parameters.
pub const PARAMS: &[Param] =
    &[Param::integer("bytes", "size of the MPDUs in the table, in bytes").default("1500").range(1.0, 6_500_631.0)];
/// Its formulas.
pub const FORMULAS: &[Line] = &[];

/// The file.
pub const FILE: &str =
    "A text with a row of SNR in dB, MCS and PER for each point, beside the experiment file or below.";

/// Builds the model.
///
/// # Errors
/// When the file names no table, or the table has no rows for a coding that a station may use.
pub fn build(args: &Args, setting: &Setting<'_>) -> Result<Box<dyn ErrorModel>, Refusal> {
    let bytes = args.integer("bytes").max(1) as f64;
    let Some(table) = setting.table.clone() else {
        return Err("the error model \"table\" needs a file with its losses".into());
    };
    for coding in setting.codings {
        let Some(mcs) = coding.mcs() else {
            return Err(Refusal::new(
                "no MCS has the coding of 9 Mb/s, so a table of losses cannot have it",
                "use \"nist\"",
            ));
        };
        if table.at(0.0, mcs).is_none() {
            return Err(Refusal::new(
                format!("the table of losses has no rows for MCS {mcs}"),
                "add some, or do not use this MCS",
            ));
        }
    }
    Ok(Box::new(Table { table, bytes }))
}

#[derive(Debug)]
struct Table {
    table: Arc<PerTable>,
    /// Size of the table's MPDUs in bytes.
    bytes: f64,
}

impl ErrorModel for Table {
    fn per(&self, snr: f64, coding: Coding, bytes: u32) -> f64 {
        // `build` has checked that the codings in use have rows.
        let reference = coding.mcs().and_then(|mcs| self.table.at(snr, mcs)).unwrap_or(1.0);
        if reference >= 1.0 {
            return 1.0;
        }
        // PER = 1 - (1 - reference)^(bytes / size of the table's MPDUs)
        -libm::expm1(f64::from(bytes) / self.bytes * libm::log1p(-reference))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::args;
    use contend_core::registry::Value;

    fn model(codings: &[Coding]) -> Result<Box<dyn ErrorModel>, Refusal> {
        let table = PerTable::parse("10, 4, 1\n12, 4, 0.19\n14, 4, 0").unwrap();
        build(&args(PARAMS, &[("bytes", Value::Integer(1000))]), &Setting { table: Some(Arc::new(table)), codings })
    }

    /// 0.81 of the MPDUs of 1000 B arrive: 0.9 of 500 B, 0.6561 of 2000 B.
    #[test]
    fn losses_scale_with_the_size() {
        let four = Coding::MCS[4];
        let m = model(&[four]).unwrap();
        for (snr, bytes, want) in [
            (12.0, 1000, 0.19),
            (12.0, 500, 0.1),
            (12.0, 2000, 0.3439),
            (13.0, 1000, 0.095),
            (9.0, 14, 1.0),
            (15.0, 9000, 0.0),
        ] {
            let got = m.per(snr, four, bytes);
            assert!((got - want).abs() < 1e-12, "{bytes} B at {snr} dB: {got}");
        }
    }

    #[test]
    fn a_missing_file_or_mcs_is_named() {
        let nine = Coding { bits: 1, code: super::super::CodeRate::ThreeQuarters };
        assert!(model(&[Coding::MCS[5]]).unwrap_err().to_string().contains("MCS 5"));
        assert!(model(&[nine]).unwrap_err().to_string().contains("9 Mb/s"));
        let none = Setting { table: None, codings: &[] };
        assert!(build(&args(PARAMS, &[("bytes", Value::Integer(1))]), &none).unwrap_err().to_string().contains("file"));
    }
}
