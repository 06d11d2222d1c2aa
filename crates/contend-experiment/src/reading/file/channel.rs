//! The quality of a station's channel and the control of its rates: `snr`, `fading`, `rate_control` and `error_model`.

use super::choice::{check_file, choice, default_choice, named, objection};
use super::error::FileError;
use super::reader::{Fields, Val};
use super::traces::Traces;
use contend_core::rate_control;
use contend_core::registry::{Fact, Need};
use contend_sim::scenario::{CellSpec, ChannelSpec, ErrorModelSpec};
use contend_sim::wifi::bss::Bss;
use contend_sim::wifi::{error_model, fading};

/// The SNRs of a channel in dB.
const SNRS: (f64, f64) = (-20.0, 100.0);

/// Reads the channel of `[wifi]` or `[[station]]`. Missing keys have the values of `default`.
pub(crate) fn read_channel(f: &mut Fields, default: &ChannelSpec) -> Result<ChannelSpec, FileError> {
    let rate_control = f.read("rate_control", |v| choice(&v, rate_control::REGISTRY, "rate control"))?;
    Ok(ChannelSpec {
        // A fixed rate needs no algorithm.
        rate_control: match rate_control {
            Some(control) => Some(control).filter(|c| !c.entry.has(Fact::Constant)),
            None => default.rate_control.clone(),
        },
        snr: f.read("snr", |v| level(&v, "dB", SNRS))?.or(default.snr),
        fading: match f.get("fading") {
            None => default.fading.clone(),
            Some(v) => {
                let process = choice(&v, fading::REGISTRY, "fading process")?;
                objection(&v, process.entry.name, (process.entry.build)(&process.args))?;
                Some(process).filter(|p| !p.entry.has(Fact::Constant))
            }
        },
    })
}

/// Reads a level with its unit, "dB" or "dBm", or an expression.
pub(crate) fn level(v: &Val, unit: &str, (least, most): (f64, f64)) -> Result<f64, FileError> {
    let text = v.text()?;
    let help = || format!("write a value from \"{least}{unit}\" to \"{most}{unit}\"");
    let level = match text.strip_suffix(unit).and_then(|n| n.trim().parse::<f64>().ok()) {
        Some(level) => level,
        None if text.trim_start().starts_with('=') => v.number()?,
        None => return Err(v.error(format!("is no number of {unit}: \"{text}\""), help())),
    };
    if (least..=most).contains(&level) { Ok(level) } else { Err(v.error(format!("is {level}{unit}"), help())) }
}

/// Reads the error model of `[wifi]`.
pub(crate) fn read_error_model(v: &Val, traces: &Traces) -> Result<ErrorModelSpec, FileError> {
    let (model, file) = named(v, error_model::REGISTRY, "error model", None, &["file"])?;
    check_file(file.as_ref(), model.entry, error_model::REGISTRY)?;
    let table = match &file {
        Some(file) => Some(traces.losses(file)?),
        None if model.entry.file().is_some() => {
            let help = "write error_model = { kind = \"table\", file = \"losses.csv\" }, with rows of SNR, MCS and PER";
            return Err(v.error("needs a file with its losses", help));
        }
        None => None,
    };
    Ok(ErrorModelSpec { model, table })
}

/// `cell` with its error model: `given`, or `nist` if a channel has an SNR. `wifi` is its table.
pub(crate) fn check_errors(wifi: &Val, given: Option<ErrorModelSpec>, cell: CellSpec) -> Result<CellSpec, FileError> {
    let at = wifi.table()?.get("error_model");
    let has_snr = cell.stations.iter().any(|s| s.channel.snr.is_some());
    let error_model = match (given, &at) {
        (Some(_), Some(v)) if !has_snr && cell.field.is_none() => {
            return Err(v.error("needs an SNR", "add snr = \"25dB\" to [wifi]"));
        }
        (Some(given), _) => given,
        (None, _) if !has_snr => return Ok(cell),
        (None, _) => {
            ErrorModelSpec { model: default_choice(wifi.cx, error_model::REGISTRY, "nist", &[])?, table: None }
        }
    };
    let name = error_model.model.entry.name;
    let cell = CellSpec { error_model: Some(error_model), ..cell };
    objection(at.as_ref().unwrap_or(wifi), name, Bss::check_errors(&cell))?;
    Ok(cell)
}

/// Refuses a channel whose algorithms need an SNR if it has none; `by_distance` is true if its SNR follows from
/// positions. `at` makes the error about the value of a key.
pub(crate) fn check_snr(
    channel: &ChannelSpec,
    by_distance: bool,
    at: &mut dyn FnMut(&'static str, &str, &str) -> FileError,
) -> Result<(), FileError> {
    const ADD: &str = "add snr = \"25dB\"; in a [field] also error_model = \"nist\" in [wifi]";
    if by_distance || channel.snr.is_some() {
        return Ok(());
    }
    if channel.fading.is_some() {
        return Err(at("fading", "changes an SNR, but the channel has none", ADD));
    }
    // It learns from nothing but the SNR of answers.
    if let Some(control) = channel.rate_control.as_ref().filter(|c| c.entry.has(Fact::Needs(Need::Snr))) {
        let name = control.entry.name;
        let what = format!("is \"{name}\", which reads the SNR of answers, but the channel has none");
        return Err(at("rate_control", &what, ADD));
    }
    Ok(())
}
