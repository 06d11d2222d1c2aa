//! The program `contend`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(contend::command(std::env::args_os()))
}
