//! Names that a file does not see, but that a module of the library or another file of the program has: the help is a
//! `use`.

use mokume_base::{Diagnostic, FileId, SourceMap};
use mokume_syntax::ast::{self, AstNode};

use crate::load::Loader;
use crate::{codes, lost, suggest};

/// The codes of reports about unknown items.
const UNKNOWN: [mokume_base::Code; 8] = [
    codes::UNKNOWN_NAME,
    codes::UNKNOWN_TYPE,
    codes::UNKNOWN_LAYER,
    codes::UNKNOWN_ATTRIBUTE,
    codes::UNKNOWN_STACK,
    codes::NO_FUNCTION,
    codes::UNKNOWN_ITEM,
    codes::HIGHER_ARGUMENT,
];

/// Unknown items by the module or file that a `use` must name.
struct Place {
    named: String,
    items: Vec<String>,
}

/// Adds to reports of unknown items which modules or files have them. Searches the library only if there are any.
/// Reports that one `use` would fix become one.
pub fn name_modules(sources: &SourceMap, loader: &mut dyn Loader, diagnostics: &mut Vec<Diagnostic>) {
    let mut library: Option<Vec<Place>> = None;
    for found in diagnostics.iter_mut().filter(|found| UNKNOWN.contains(&found.code)) {
        let Some(span) = found.primary.as_ref().map(|label| label.span) else { continue };
        let file = sources.file(span.file);
        let Some(name) = file.text.get(span.start as usize..span.end as usize) else { continue };
        // A word that is not looked up, or a name that is visible: something else is wrong.
        if !found.message.contains(&format!("`{name}`")) {
            continue;
        }
        let of_it = found.code == codes::HIGHER_ARGUMENT && !found.message.starts_with("there is no ");
        if of_it || found.message.starts_with(&format!("`{name}` is ")) {
            continue;
        }
        let library = library.get_or_insert_with(|| {
            let names = loader.modules();
            names.into_iter().map(|named| Place { items: items_of_module(loader, &named), named }).collect()
        });
        let has = |place: &&Place| place.items.iter().any(|item| item == name);
        let modules: Vec<&String> = library.iter().filter(has).map(|place| &place.named).collect();
        if modules.iter().any(|module| uses(&file.text, module)) {
            // It is there, and of another kind than is wanted.
            continue;
        }
        let is_slip = found.helps.iter().any(|help| help.starts_with("did you mean"));
        let (help, wanted) = match modules.as_slice() {
            // A typing mistake is likelier than a name in an unrelated module.
            [_, ..] if is_slip => continue,
            [] => match file_with(sources, span.file, name) {
                Some(other) => (format!("`{other}` has it: write `use \"{other}\"`"), other),
                None => continue,
            },
            [one] => (format!("the module `{one}` has it: write `use {one}`"), one.to_string()),
            several => {
                let first = several[0];
                (format!("the modules {} have it: write `use {first}`", suggest::list(several)), first.to_string())
            }
        };
        found.helps = vec![help];
        found.lacks.push(lost::used(span.file, &wanted));
    }
    lost::leave_out(diagnostics);
    for found in diagnostics.iter_mut().filter(|found| found.code == codes::NOT_PUBLISHED) {
        for help in &mut found.helps {
            *help = put_below(loader, help).unwrap_or_else(|| std::mem::take(help));
        }
    }
}

/// What of the library to put below, for a help that names a layer of a bundle, or a value that nobody here publishes:
/// users take bundles.
fn put_below(loader: &mut dyn Loader, help: &str) -> Option<String> {
    let layer = help.strip_prefix("put `").and_then(|rest| rest.strip_suffix("` below it"));
    let value = help.strip_prefix("let a layer below say `publish ").and_then(|rest| rest.split(':').next());
    let publishes = |layer: &ast::Layer| {
        let own = layer.syntax().descendants().filter_map(ast::Publish::cast).filter_map(|publish| publish.name());
        own.into_iter().any(|name| Some(name.text().as_str()) == value)
    };
    let names = loader.modules();
    let modules: Vec<(String, Vec<ast::Item>)> =
        names.into_iter().map(|module| (module.clone(), items_of(loader, &module))).collect();
    let layers = modules.iter().flat_map(|(_, items)| items).filter_map(|item| match item {
        ast::Item::Layer(layer) if publishes(layer) => Some(layer.name()?.text()),
        _ => None,
    });
    let wanted: Vec<String> = layer.map(str::to_string).into_iter().chain(layers).collect();
    let is_wanted = |item: &&ast::Item| {
        let tokens = item.syntax().descendants_with_tokens().filter_map(|part| part.into_token());
        matches!(item, ast::Item::Bundle(_)) && tokens.into_iter().any(|token| wanted.iter().any(|w| w == token.text()))
    };
    let of_module = |(module, items): &(String, Vec<ast::Item>)| {
        let bundles: Vec<String> =
            items.iter().filter(is_wanted).filter_map(|item| Some(format!("`{}`", item.name()?.text()))).collect();
        // The bundle is seen here, and named.
        let is_named = layer.is_some_and(|layer| bundles.contains(&format!("`{layer}`")));
        (!bundles.is_empty() && !is_named).then(|| format!("{} of the module `{module}`", bundles.join(" or ")))
    };
    let found: Vec<String> = modules.iter().filter_map(of_module).collect();
    (!found.is_empty()).then(|| format!("put {} below it", found.join(", or ")))
}

fn items_of(loader: &mut dyn Loader, module: &str) -> Vec<ast::Item> {
    let files = loader.module(module).unwrap_or_default();
    files.iter().flat_map(|(_, text)| mokume_syntax::parse(FileId(0), text).file().items()).collect()
}

fn items_of_module(loader: &mut dyn Loader, module: &str) -> Vec<String> {
    let files = loader.module(module).unwrap_or_default();
    files.iter().flat_map(|(_, text)| items(text)).collect()
}

/// Whether a file uses a module.
fn uses(text: &str, module: &str) -> bool {
    let file = mokume_syntax::parse(FileId(0), text).file();
    let words = file.items().into_iter().filter(|item| matches!(item, ast::Item::Use(_))).flat_map(|item| {
        let tokens = item.syntax().descendants_with_tokens().filter_map(|part| part.into_token());
        tokens.map(|token| token.text().to_string()).collect::<Vec<_>>()
    });
    words.into_iter().any(|word| word == module)
}

/// The names of a file's items that other files can use.
fn items(text: &str) -> Vec<String> {
    let items = mokume_syntax::parse(FileId(0), text).file().items();
    let is_used = |item: &ast::Item| !matches!(item, ast::Item::Part(_) | ast::Item::Network(_));
    items.into_iter().filter(is_used).filter_map(|item| Some(item.name()?.text())).collect()
}

/// Another file of the program that has the item, as a path from this file.
fn file_with(sources: &SourceMap, file: FileId, name: &str) -> Option<String> {
    let others = sources.files().filter(|(other, source)| *other != file && source.text.contains(name));
    let has = |text: &str| items(text).iter().any(|item| item == name);
    let (_, other) = others.into_iter().find(|(_, source)| has(&source.text))?;
    Some(relative(&sources.file(file).name, &other.name))
}

/// The path of a file, relative to another one.
fn relative(from: &str, to: &str) -> String {
    let mut from: Vec<&str> = from.split('/').collect();
    let mut to: Vec<&str> = to.split('/').collect();
    from.pop();
    let shared = from.iter().zip(&to[..to.len() - 1]).take_while(|(one, other)| one == other).count();
    let up = from.len() - shared;
    to.splice(..shared, std::iter::repeat_n("..", up));
    to.join("/")
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn a_file_is_named_from_where_it_is_used() {
        assert_eq!(relative("a.mok", "b.mok"), "b.mok");
        assert_eq!(relative("x/a.mok", "x/b.mok"), "b.mok");
        assert_eq!(relative("x/y/a.mok", "x/b.mok"), "../b.mok");
        assert_eq!(relative("a.mok", "parts/b.mok"), "parts/b.mok");
        assert_eq!(relative("/p/x/a.mok", "/p/y/b.mok"), "../y/b.mok");
    }
}
