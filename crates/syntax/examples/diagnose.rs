//! `cargo run -p mokume-syntax --example diagnose [--tree] file…`: prints the parser's diagnostics about files, for its
//! developers.

use mokume_base::{render_all, Colour, RealWorld, SourceMap, World};

fn main() -> std::io::Result<()> {
    let mut sources = SourceMap::default();
    for name in std::env::args().skip(1).filter(|arg| arg != "--tree") {
        let text = RealWorld.read_text(&name)?;
        let file = sources.add(&name, &text);
        let parse = mokume_syntax::parse(file, &text);
        print!("{}", render_all(&parse.diagnostics, &sources, Colour::Off));
        if std::env::args().any(|arg| arg == "--tree") {
            print!("{:#?}", parse.syntax());
        }
    }
    Ok(())
}
