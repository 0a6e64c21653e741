//! `mokume lsp`: the standard input and output, as an editor that started us holds them.

use mokume_base::world::RealWorld;
use mokume_lsp::Ended;

/// Serves the editor at the other end. 1 where it went away without a word.
pub fn lsp() -> i32 {
    let input = std::io::BufReader::new(std::io::stdin());
    match mokume_lsp::serve(&RealWorld, input, &mut std::io::stdout()) {
        Ended::Well => 0,
        Ended::Badly => 1,
    }
}
