//! `mokume lsp`: the language server on the standard input and output, as an editor starts it.

use mokume_base::world::RealWorld;
use mokume_lsp::Ended;

/// Serves the editor. Returns the exit code: 1 if the editor left without `shutdown` and `exit`.
pub fn lsp() -> i32 {
    let input = std::io::BufReader::new(std::io::stdin());
    let command = mokume_driver::apart::ourselves().map_or("mokume".into(), |path| path.to_string_lossy().into_owned());
    match mokume_lsp::serve(&RealWorld, &command, input, &mut std::io::stdout()) {
        Ended::Well => 0,
        Ended::Badly => 1,
    }
}
