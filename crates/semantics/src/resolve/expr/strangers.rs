//! Reports of names that mean nothing here.

use mokume_base::{Diagnostic, FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::body::views::VIEW;
use crate::resolve::body::{Body, BodyKind, Role};
use crate::resolve::context::Item;
use crate::{codes, limits, lost, suggest, tree};

/// Names that mean something everywhere in code.
const BUILTIN: [&str; 10] = ["now", "random", "min", "max", "clamp", "fold16", "message", "flow", "below", "above"];

/// `listener` is read in `arrives`, where there may be none.
fn listener(body: &mut Body, name: &Name) {
    let (text, label, help) = match body.kind == BodyKind::Handler(Role::Arrives) {
        true => (
            "perhaps nobody listens",
            "not known to be there",
            "say what happens then: `let here = listener or { drop msg: refused  return }`, or `if let here = listener { … }`",
        ),
        false => ("who listens is asked in `arrives`", "not here", "ask for that of a flow, in a worker with sessions: `let here = listener[whom] or { … }`"),
    };
    body.report(Diagnostic::error(codes::UNKNOWN_NAME, text).at(name.span, label).help(help));
}

/// `flow` is bound in the handler's head.
fn flow(body: &mut Body, name: &Name) {
    let help = match body.kind {
        BodyKind::Handler(Role::Other) => {
            "name it in the handler's head: `on deliver(msg) from flow { … }`, `on send(msg) to flow { … }`"
        }
        BodyKind::Handler(_) => {
            "make one: `flow(remote.host: h)`; that of a message is named in the head of its handler"
        }
        _ => "make one: `flow(remote.host: h)`, or let a handler give its own: `fn f(whom: Flow)`",
    };
    let thing = body.slip("flow");
    let diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, "there is no `flow` here").at(name.span, "not named");
    body.report(diagnostic.help(help).lacks(thing));
}

/// `Kind.Ask` for `Ask`, if the file sees such an enum.
fn value_of_an_enum(body: &Body, value: &str) -> Option<String> {
    let enums = &body.cx.program.enums;
    let is_seen = |of: &&Enum| {
        let item = body.cx.item_at(body.file, &of.name);
        matches!(item, Some(Item::Enum(id)) if enums[id.index()].name.span == of.name.span)
    };
    let has = |of: &&Enum| of.names.iter().any(|(name, _)| name.text == value);
    let found = enums.iter().filter(has).find(is_seen)?;
    Some(format!("{}.{value}", found.name.text))
}

/// Where the text of the layer or of one of its parts declares state of this name, resolved or not.
fn state_of_text(body: &Body, name: &str) -> Option<Span> {
    let (trees, layer) = (&body.cx.trees, body.view.layer?);
    let (file, tree) = trees.layers.get(layer.index())?;
    let title = &body.this_layer()?.name.text;
    let is_its = |part: &&(FileId, ast::Part)| part.1.layer().is_some_and(|of| of.text() == *title);
    let parts = trees.parts.iter().filter(is_its).map(|(file, part)| (*file, part.syntax().clone()));
    let mut texts = std::iter::once((*file, tree.syntax().clone())).chain(parts);
    texts.find_map(|(file, text)| {
        let scopes = text.descendants().filter_map(ast::Scope::cast).flat_map(|scope| scope.states());
        let mut names = scopes.filter_map(|state| state.name());
        names.find(|known| known.text() == name).map(|known| known.span(file))
    })
}

/// What the name may stand for: a message by its usual name, if the handler gave it another; or state, with its owner's
/// name.
fn known_otherwise(body: &Body, name: &Name) -> Option<String> {
    let code = matches!(body.kind, BodyKind::Handler(_) | BodyKind::Function);
    match name.text.as_str() {
        "new" if code => Some(
            "an object is made where it is looked up: `let e = Entry[k] or new { … }`; a message is `message()`".to_string(),
        ),
        "null" | "nil" | "None" => Some(
            "the language has no `null`: a place may hold a message or none, `messages held: 1 from kept`, and look-ups ask whether something is there: `if let v = seen[key] { … }`".to_string(),
        ),
        "msg" | "message" | "packet" | "frame" if code => {
            match body.locals.messages()[..] {
                [only] => Some(format!("the message is called `{}` here", only.text)),
                [] if matches!(body.kind, BodyKind::Handler(_)) => Some(format!(
                    "a message that an event brings is named in the handler's head: `on deliver({}, …)`; a new one is `message(\"text\")`",
                    name.text
                )),
                _ => None,
            }
        }
        called if code && body.own_function(called).is_some() => Some(format!("it is a function: write `{called}(…)`")),
        published if matches!(body.kind, BodyKind::Value) && body.cx.said.published.contains_key(published) => {
            Some(format!("what is below publishes it: `below.{published}`"))
        }
        word @ ("break" | "continue") if code => Some(format!(
            "the language has no `{word}`: a loop ends by its condition or its limit, or by `return`, which a function of its own may say"
        )),
        end @ ("local" | "remote") if code => Some(format!("an end is that of a flow: `flow.{end}.host`")),
        "self" | "this" | "it" if code && own_object(body).is_some() => {
            let (class, keys) = own_object(body)?;
            Some(format!("state is named by itself; to give the object to a function, find it: `if let one = {class}[{keys}] {{ … }}`"))
        }
        "self" | "this" | "session" | "entity" | "state" | "point" if code => {
            Some("state is named by itself: `next`, with nothing in front".to_string())
        }
        _ => None,
    }
}

/// The class of objects whose own code this is, and its keys.
fn own_object(body: &Body) -> Option<(String, String)> {
    let class = body.this_layer()?.objects.get(body.view.object?.index())?;
    let keys: Vec<&str> = class.keys.iter().map(|key| key.name.text.as_str()).collect();
    Some((class.name.text.clone(), keys.join(", ")))
}

/// A field of the layer's header that the handler's head does not bind, and the handler's place.
fn in_the_header(body: &Body, name: &Name) -> Option<(String, Span)> {
    let header = body.this_layer()?.header.as_ref()?;
    let has_it = |variant: &&Variant| variant.fields.iter().any(|field| field.name.text == name.text);
    let variant = header.variants.iter().find(has_it)?;
    let (file, tree) = body.cx.trees.layers.get(body.view.layer?.index())?;
    let handlers = tree.syntax().descendants().filter_map(ast::Handler::cast);
    let holds =
        |place: Span| place.file == name.span.file && place.start <= name.span.start && name.span.end <= place.end;
    let handler = handlers.into_iter().find(|handler| holds(handler.span(*file)))?;
    let event = tree::parts(*file, &handler.event()?);
    let event = event.last().filter(|event| matches!(event.text.as_str(), "deliver" | "arrives"))?;
    let named = match header.is_single() {
        true => name.text.clone(),
        false => format!("{} {{ {} }}", variant.name.text, name.text),
    };
    Some((format!("name it in the handler's head: `on {}(msg, {named})`", event.text), handler.span(*file)))
}

/// Reports the name, with what is probably meant.
pub fn report(body: &mut Body, name: &Name) {
    report_as(body, name, None);
}

/// The same where a value of a type is wanted.
pub fn report_as_value(body: &mut Body, name: &Name, want: Option<Type>) {
    let first = match want {
        Some(Type::Bool) => "false",
        Some(Type::Duration) => "1 s",
        Some(Type::UInt(_) | Type::Seq(_)) => "0",
        _ => return report(body, name),
    };
    let declared = want.map(|ty| format!("var {}: {} = {first}", name.text, body.show(ty)));
    report_with(body, name, None, declared.as_deref());
}

/// The same if state of a kind is expected; `declared` is its declaration.
pub fn report_as(body: &mut Body, name: &Name, declared: Option<&str>) {
    report_with(body, name, declared, None);
}

/// The variable that a layer lacks, in the scope that it has; a session's, if both or none.
fn variable(body: &Body, name: &Name, declared: Option<&str>) -> String {
    let has = |kind| body.this_layer().is_some_and(|layer| layer.members(kind).is_some());
    let scope = if has(ScopeKind::Entity) && !has(ScopeKind::Session) { "entity" } else { "session" };
    let declared = declared.map_or_else(|| format!("var {}: u32 = 0", name.text), str::to_string);
    format!("{scope} {{ {declared} }}")
}

fn report_with(body: &mut Body, name: &Name, declared: Option<&str>, wanted: Option<&str>) {
    if let Some(place) = body.view.inside.as_ref().filter(|_| name.text == "quota").map(|view| view.place) {
        let is_it = |known: &Diagnostic| {
            known.code == codes::QUOTA_WANTED && known.primary.as_ref().map(|label| label.span) == Some(place)
        };
        if body.cx.said.no_quota.contains(&place) || body.cx.out.iter().any(is_it) {
            return;
        }
        let diagnostic = Diagnostic::error(codes::QUOTA_WANTED, "this container takes from a quota, and is given none")
            .at(place, "from which quota?")
            .label(name.span, "taken from here")
            .help("name one behind it: `entity { quota kept: 64 … stream sent(1000, 8) from kept }`");
        return body.report(diagnostic);
    }
    if body.view.layer.is_some_and(|layer| body.cx.said.broken.contains(&(layer, name.text.clone()))) {
        return;
    }
    // That the group speaks of no view has been reported.
    if matches!(name.text.as_str(), "me" | VIEW) && body.this_layer().is_some_and(|of| of.group && of.view.is_none()) {
        return;
    }
    let own_handler = body.this_layer().and_then(|layer| layer.view.as_ref()).filter(|view| !view.by_itself);
    if let (Some(view), "me" | VIEW) = (own_handler, name.text.as_str()) {
        let event = view.event.text.clone();
        let text = format!("`{}` is not there where the layer handles `{event}` itself", name.text);
        let help = format!("write `on view_begin {{ … }}` in place of `on {event}(…)`: the view begins by itself then");
        return body.error(codes::UNKNOWN_NAME, text, name.span, "unknown here", &help);
    }
    // `let = e` has been reported.
    if body.locals.lost_a_name {
        return;
    }
    if name.text == "listener" {
        return listener(body, name);
    }
    if name.text == "flow" {
        return flow(body, name);
    }
    if let Some(part) = body.part_named(&name.text).cloned() {
        let text = format!("`{}` is a part of the layer, not a value; what it has is its own", name.text);
        let diagnostic = Diagnostic::error(codes::PART_PRIVATE, text).at(name.span, "a part");
        let help = format!("call one of its functions: `{}.f(…)`", name.text);
        return body.report(diagnostic.label(part.name.span, "declared here").help(help));
    }
    let class = body.this_layer().and_then(|layer| layer.objects.iter().find(|class| class.name.text == name.text));
    if let Some(class) = class.map(|class| class.name.clone()) {
        let text = format!("`{}` is a class of objects, not one of them", name.text);
        let diagnostic = Diagnostic::error(codes::UNKNOWN_NAME, text).at(name.span, "which of them?");
        let help = format!("say it by its key: `{0}[k]`, and its state `{0}[k].x`", name.text);
        return body.report(diagnostic.label(class.span, "declared here").help(help));
    }
    let mut diagnostic =
        Diagnostic::error(codes::UNKNOWN_NAME, format!("there is no `{}` here", name.text)).at(name.span, "unknown");
    if let Some(owner) = body.view.hidden_owner(&body.cx.program, &name.text) {
        let note = format!("`{}` belongs to the objects `{owner}`", name.text);
        diagnostic = diagnostic.note(note).lacks(body.slip(&name.text));
        body.report(diagnostic.help(format!("find one first: `if let e = {owner}[key] {{ e.{} … }}`", name.text)));
        return;
    }
    let of_part = body.view.owner_part(&body.cx.program, &name.text);
    if let Some((part, called)) = of_part.filter(|_| !body.is_fixed()) {
        let text = format!("`{}` is state of the part `{}` alone", name.text, part.text);
        let help = format!("declare it in the layer, or call a function of that part: `{called}.f(…)`");
        let diagnostic = Diagnostic::error(codes::PART_PRIVATE, text).at(name.span, "of a part");
        return body.report(diagnostic.label(part.span, "the part").help(help));
    }
    if let Some(state) = state_of_text(body, &name.text).filter(|_| body.is_fixed()) {
        let text = format!("`{}` is state, and this must be known before the stack starts", name.text);
        let diagnostic = Diagnostic::error(codes::NOT_CONSTANT, text)
            .at(name.span, "not constant")
            .label(state, "this changes while the stack runs");
        return body.report(diagnostic.help("use a number, a `const` of the file or a parameter of the layer"));
    }
    if let Some(help) = known_otherwise(body, name) {
        let thing = body.slip(&name.text);
        return body.report(diagnostic.lacks(thing).help(help));
    }
    if let Some((help, handler)) = in_the_header(body, name) {
        let thing = lost::within(handler, "fields of the header");
        return body.report(diagnostic.lacks(thing).help(help));
    }
    // After hundreds of reports, the reader needs no guesses.
    if body.cx.out.len() > limits::GUESSES {
        return body.report(diagnostic.help("bind it with `let`, or declare it"));
    }
    if let Some(whole) = value_of_an_enum(body, &name.text) {
        let diagnostic = diagnostic.lacks(body.slip(&name.text));
        return body.report(diagnostic.help(format!("did you mean `{whole}`?")));
    }
    let mut names = body.locals.names();
    names.extend(body.view.state_names(&body.cx.program));
    names.extend(body.view.params.iter().map(|param| param.name.clone()));
    let items = body.cx.names.visible(body.file, |item| matches!(item, Item::Const(_) | Item::Function(_)));
    names.extend(items.into_iter().map(String::from));
    let near = suggest::nearest(&name.text, names.iter().map(String::as_str).chain(BUILTIN)).map(String::from);
    diagnostic = match &near {
        Some(near) => diagnostic.lacks(body.slip(&name.text)).help(format!("did you mean `{near}`?")),
        None if body.is_fixed() && body.view.layer.is_some() => {
            diagnostic.help("name a number, a `const` of the file or a parameter of the layer")
        }
        None if declared.is_some() && body.view.layer.is_some() => {
            diagnostic.help(format!("declare it: `entity {{ {} }}`", declared.unwrap_or_default()))
        }
        None if body.view.layer.is_some() => {
            diagnostic.help(format!("bind it with `let`, or declare it: `{}`", variable(body, name, wanted)))
        }
        None if body.is_fixed() => diagnostic.help("name a number, or a `const` of the file"),
        None => diagnostic.help("name a parameter or a `const`"),
    };
    if near.is_none() {
        diagnostic = diagnostic.lacks(body.named(&name.text));
    }
    body.report(diagnostic);
}
