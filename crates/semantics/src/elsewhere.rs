//! A name that no file here has, and a module of the library does: the way out is its `use`.

use mokume_base::{Diagnostic, SourceMap};

use crate::load::Loader;
use crate::{codes, suggest};

/// What is said of an item that there is not.
const UNKNOWN: [mokume_base::Code; 5] =
    [codes::UNKNOWN_NAME, codes::UNKNOWN_TYPE, codes::UNKNOWN_LAYER, codes::NO_FUNCTION, codes::UNKNOWN_ITEM];

/// The words in front of the names of items.
const ITEMS: [&str; 18] = [
    "attribute",
    "bundle",
    "const",
    "container",
    "endpoint",
    "enum",
    "extern fn",
    "fn",
    "multiplexor",
    "record",
    "router",
    "service",
    "signature",
    "stack",
    "type",
    "vocabulary",
    "wire",
    "worker",
];

/// Says which modules have the items that are unknown. The library is looked through only if there are any.
pub fn name_modules(sources: &SourceMap, loader: &mut dyn Loader, diagnostics: &mut [Diagnostic]) {
    let mut library: Option<Vec<(String, Vec<String>)>> = None;
    for found in diagnostics.iter_mut().filter(|found| UNKNOWN.contains(&found.code)) {
        let is_slip = found.helps.iter().any(|help| help.starts_with("did you mean"));
        let Some(span) = found.primary.as_ref().map(|label| label.span).filter(|_| !is_slip) else { continue };
        let text = &sources.file(span.file).text;
        let Some(name) = text.get(span.start as usize..span.end as usize) else { continue };
        let library = library.get_or_insert_with(|| {
            let names = loader.modules();
            names.into_iter().map(|module| (module.clone(), items(loader, &module))).collect()
        });
        let has = |(_, items): &&(String, Vec<String>)| items.iter().any(|item| item == name);
        let modules: Vec<&String> = library.iter().filter(has).map(|(module, _)| module).collect();
        let help = match modules.as_slice() {
            [] => continue,
            [one] => format!("the module `{one}` has it: write `use {one}`"),
            several => format!("the modules {} have it: write `use {}`", suggest::list(several), several[0]),
        };
        found.helps = vec![help];
    }
}

/// The names of a module's items, each at the beginning of a line.
fn items(loader: &mut dyn Loader, module: &str) -> Vec<String> {
    let files = loader.module(module).unwrap_or_default();
    let lines = files.iter().flat_map(|(_, text)| text.lines());
    let name_in = |line: &str| {
        let rest = ITEMS.iter().find_map(|word| line.strip_prefix(word)?.strip_prefix(' '))?;
        let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        (end > 0).then(|| rest[..end].to_string())
    };
    lines.filter_map(name_in).collect()
}
