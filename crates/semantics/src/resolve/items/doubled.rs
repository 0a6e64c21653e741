//! Names that occur twice in an item but may occur only once: a look-up would find whichever comes first.
//!
//! May assume: only the trees. Names that are resolved into lists of their own (fields, alternatives, functions of a
//! layer) are checked there.

use mokume_base::FileId;
use mokume_syntax::ast;

use crate::program::Name;
use crate::resolve::context::{repeated, twice, Context, Trees};
use crate::tree;

/// Checks all items.
pub fn check(cx: &mut Context, trees: &Trees) {
    for (file, item) in &trees.containers {
        once_each(cx, *file, "type", item.types());
        once_each(cx, *file, "parameter", names_of(item.params()));
        once_each(cx, *file, "state", item.states().iter().filter_map(ast::State::name).collect());
        once_each(cx, *file, "function", item.functions().iter().filter_map(ast::Function::name).collect());
    }
    for (file, item) in &trees.services {
        item.signals().iter().for_each(|signal| once_each(cx, *file, "parameter", names_of(signal.params())));
    }
    for (file, item) in &trees.enums {
        item.variants().iter().for_each(|name| once_each(cx, *file, "part", names_of(name.params())));
    }
    for (file, item) in &trees.signatures {
        signature(cx, *file, item);
    }
    for (file, item) in &trees.vocabularies {
        once_each(cx, *file, "reason", item.reasons());
        let events = item.events().into_iter().flat_map(|directed| directed.events());
        events.for_each(|event| once_each(cx, *file, "parameter", names_of(event.params())));
    }
    for (file, item) in &trees.layers {
        once_each(cx, *file, "parameter", names_of(item.params()));
        lists(cx, *file, &item.members());
        functions(cx, *file, &item.members());
    }
    for (file, item) in &trees.parts {
        lists(cx, *file, &item.members());
        functions(cx, *file, &item.members());
    }
    for (file, item) in &trees.bundles {
        once_each(cx, *file, "parameter", names_of(item.params()));
    }
    for (file, item) in &trees.suites {
        once_each(cx, *file, "parameter", names_of(item.params()));
    }
}

/// The parameters of a layer's own functions.
fn functions(cx: &mut Context, file: FileId, members: &[ast::Member]) {
    for member in members {
        if let ast::Member::Function(function) = member {
            once_each(cx, file, "parameter", names_of(function.params()));
        }
    }
}

/// Checks the names in a signature.
fn signature(cx: &mut Context, file: FileId, item: &ast::Signature) {
    let (mut included, mut published, mut events) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    for member in item.members() {
        match member {
            ast::SignatureMember::Include(include) => included.extend(include.names()),
            ast::SignatureMember::Publish(publish) => published.extend(publish.name()),
            ast::SignatureMember::Directed(directed) => {
                let names = directed.events().into_iter().filter_map(|event| event.name());
                events[usize::from(directed.is_down())].extend(names);
            }
            ast::SignatureMember::Promise(_)
            | ast::SignatureMember::Unit(_)
            | ast::SignatureMember::Boundaries(_)
            | ast::SignatureMember::Address(_)
            | ast::SignatureMember::Key(_)
            | ast::SignatureMember::Reads(_)
            | ast::SignatureMember::Writes(_)
            | ast::SignatureMember::Speaks(_) => {}
        }
    }
    cx.given_once_each(&named(file, &included));
    once_each(cx, file, "published value", published);
    events.iter().for_each(|names| cx.given_once_each(&named(file, names)));
}

/// `reads ttl, ttl`, and `reads ttl` in two members of one text.
fn lists(cx: &mut Context, file: FileId, members: &[ast::Member]) {
    let [mut reads, mut writes, mut speaks, mut needs, mut gives, mut breaks, mut serves] = [const { Vec::new() }; 7];
    for member in members {
        match member {
            ast::Member::Reads(list) => reads.extend(list.names()),
            ast::Member::Writes(list) => writes.extend(list.names()),
            ast::Member::Speaks(list) => speaks.extend(list.names()),
            ast::Member::Needs(list) => claimed(cx, file, &list.names(), list.condition().is_some(), &mut needs),
            ast::Member::Gives(list) => claimed(cx, file, &list.names(), list.condition().is_some(), &mut gives),
            ast::Member::Breaks(list) => claimed(cx, file, &list.names(), list.condition().is_some(), &mut breaks),
            ast::Member::Serves(one) => serves.extend(one.service()),
            ast::Member::Header(_)
            | ast::Member::Key(_)
            | ast::Member::Address(_)
            | ast::Member::Several(_)
            | ast::Member::Matching(_)
            | ast::Member::Scope(_)
            | ast::Member::Object(_)
            | ast::Member::Publish(_)
            | ast::Member::Uses(_)
            | ast::Member::Limit(_)
            | ast::Member::Where(_)
            | ast::Member::Parts(_)
            | ast::Member::Function(_)
            | ast::Member::Handler(_) => {}
        }
    }
    for names in [reads, writes, speaks, needs, gives, breaks, serves] {
        cx.given_once_each(&named(file, &names));
    }
}

/// A conditional claim may be repeated under another condition: such a list is checked by itself.
fn claimed(cx: &mut Context, file: FileId, names: &[ast::Name], conditional: bool, always: &mut Vec<ast::Name>) {
    match conditional {
        true => cx.given_once_each(&named(file, names)),
        false => always.extend(names.iter().cloned()),
    }
}

fn names_of(params: Vec<ast::Param>) -> Vec<ast::Name> {
    params.iter().filter_map(ast::Param::name).collect()
}

fn once_each(cx: &mut Context, file: FileId, what: &str, names: Vec<ast::Name>) {
    repeated(&named(file, &names)).into_iter().for_each(|(name, first)| cx.report(twice(what, name, first)));
}

fn named(file: FileId, names: &[ast::Name]) -> Vec<Name> {
    names.iter().map(|name| tree::name(file, name)).collect()
}
