//! A name that no file here has, and a module of the library does: the way out is its `use`.

use mokume_base::{Diagnostic, FileId, SourceMap};
use mokume_syntax::ast;

use crate::load::Loader;
use crate::{codes, suggest};

/// What is said of an item that there is not.
const UNKNOWN: [mokume_base::Code; 5] =
    [codes::UNKNOWN_NAME, codes::UNKNOWN_TYPE, codes::UNKNOWN_LAYER, codes::NO_FUNCTION, codes::UNKNOWN_ITEM];

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

/// The names of a module's items that others use by name.
fn items(loader: &mut dyn Loader, module: &str) -> Vec<String> {
    let files = loader.module(module).unwrap_or_default();
    let items = files.iter().flat_map(|(_, text)| mokume_syntax::parse(FileId(0), text).file().items());
    let is_used = |item: &ast::Item| !matches!(item, ast::Item::Part(_) | ast::Item::Suite(_) | ast::Item::Network(_));
    items.filter(is_used).filter_map(|item| Some(item.name()?.text())).collect()
}
