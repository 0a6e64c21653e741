//! `mokume lsp`: the language server on the standard input and output, as an editor starts it.

use mokume_base::world::RealWorld;
use mokume_driver::Failure;
use mokume_lsp::Ended;

use crate::print::Printer;

/// Serves the editor. Fails, with exit code 1, if the editor left without `shutdown` and `exit`.
pub fn lsp(printer: &Printer) -> Result<i32, Failure> {
    let input = std::io::BufReader::new(std::io::stdin());
    let command = mokume_driver::apart::ourselves().map_or("mokume".into(), |path| path.to_string_lossy().into_owned());
    let ended = mokume_lsp::serve(&RealWorld, &command, input, &mut printer.output());
    printer.arrived()?;
    match ended {
        Ended::Well => Ok(0),
        Ended::Badly => Err(Failure::of_peer(
            "the editor left without `shutdown` and `exit`; editors start this command, docs/editors.md says how",
        )),
    }
}
