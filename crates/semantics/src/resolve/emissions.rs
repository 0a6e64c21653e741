//! Emissions: what a handler sends down, up and sideways.

use mokume_base::{Diagnostic, Span};
use mokume_syntax::ast::{self, Expr as Tree};

use super::body::{make, unknown, Body};
use super::layers;
use crate::events::{DOWN, GRANTS, UP};
use crate::program::*;
use crate::{codes, suggest, tree};

/// Fields as they are given: name and value; in the short form the name is the value.
type Given = Vec<(Name, Option<Tree>)>;

/// An emission's `to` and `from`.
pub(super) struct Ends {
    pub to: Option<Tree>,
    pub from: Option<Tree>,
}

impl Body<'_> {
    /// `below.x(…)`, `above.x(…)`, `service.x(…)` as a statement; none if the call is no emission.
    pub(super) fn emission(&mut self, call: &ast::CallExpr, ends: &Ends, span: Span) -> Option<Option<Emission>> {
        let (owner, name) = tree::name_field(self.file, &call.callee()?)?;
        if self.local(&owner.text).is_some() || self.find_state(&owner.text).is_some() {
            return None;
        }
        let args = call.args();
        let down = match owner.text.as_str() {
            "below" => true,
            "above" => false,
            _ => return self.service_emission(&owner, &name, &args, span),
        };
        if self.view.is_some() {
            let text = "a container has no neighbours";
            self.error(
                codes::MISPLACED,
                text,
                span,
                "an effect",
                "give back what the layer is to send: `-> T or refuse`",
            );
            return Some(None);
        }
        if self.layer.is_none() {
            let text = "a function of a file emits nothing";
            self.error(codes::MISPLACED, text, span, "an effect", "write the function within the layer");
            return Some(None);
        }
        if !down && self.shape() == Some(Shape::Endpoint) {
            let text = "an endpoint has nothing above it";
            self.error(
                codes::NOTHING_ABOVE,
                text,
                owner.span,
                "nobody is there",
                "make it a worker, or answer with `below.send(…)`",
            );
            return Some(None);
        }
        let quoting = name.text == "failed" && args.len() == 2;
        let used = (down && name.text == "send", !down && (name.text == "deliver" || quoting));
        self.misplaced_ends(ends, used.0, used.1);
        Some(match (down, name.text.as_str()) {
            (true, "send") => Some(self.send(&args, ends, span)),
            (false, "deliver") => self.deliver(&args, ends, span),
            (true, "open" | "listen" | "bind" | "unlisten") => Some(self.opening(&name, &args, span)),
            (true, "close") => self.bare(&name, &args).then_some(Emission::Close),
            (true, "abort") => self.bare(&name, &args).then_some(Emission::Abort),
            (false, "closed") => self.bare(&name, &args).then_some(Emission::Closed),
            (false, "failed") if quoting => self.failed_flow(&args, ends, span),
            (false, "failed") => self.failed(&args, span),
            // A worker that handles the event itself, as one that shakes hands does, says it when it is ready.
            (false, "opened" | "accepted") if self.shape() == Some(Shape::Worker) => {
                let event = name.clone();
                self.bare(&name, &args).then(|| Emission::Custom { name: event, down: false, args: Vec::new() })
            }
            (false, "opened" | "accepted") => {
                let text = format!("`{}` is said by the session itself", name.text);
                self.error(
                    codes::MISPLACED,
                    text,
                    name.span,
                    "automatic",
                    "leave it out; `accept msg` answers an unmatched message",
                );
                None
            }
            (_, event) => self.custom(&name, event, down, &args),
        })
    }

    fn misplaced_ends(&mut self, ends: &Ends, to: bool, from: bool) {
        for (end, allowed, word) in [(&ends.to, to, "to"), (&ends.from, from, "from")] {
            let Some(end) = end else { continue };
            let place = self.span(end);
            if !allowed {
                let help = "`below.send(…) to flow` and `above.deliver(…) from flow` have one";
                self.error(codes::MISPLACED, format!("`{word}` does not belong here"), place, "not here", help);
            } else if self.shape() == Some(Shape::Worker) && matches!(end, Tree::Call(_)) {
                let help = "leave it out: it goes to the flow or session that the handler runs for; or name one that was stored";
                self.error(codes::HIDDEN_FLOW, "a worker makes no flow", place, "opaque to a worker", help);
            }
        }
    }

    fn bare(&mut self, name: &Name, args: &[ast::Arg]) -> bool {
        if let Some(arg) = args.first() {
            let place = self.span(arg);
            self.error(
                codes::WRONG_COUNT,
                format!("`{}` takes no arguments", name.text),
                place,
                "one too many",
                "leave it out",
            );
        }
        true
    }

    /// A message that is given away as a value.
    pub(super) fn given(&mut self, expr: &Tree) -> Expr {
        let found = self.expr(expr, Some(Type::Message));
        match found.ty {
            Type::Message | Type::Unknown => found,
            ty => {
                let text = format!("expected a message, found {}", self.show(ty));
                self.error(
                    codes::NO_MESSAGE,
                    text,
                    found.span,
                    "no message",
                    "the message comes first: `below.send(msg, field: value)`",
                );
                Expr { ty: Type::Unknown, ..found }
            }
        }
    }

    fn send(&mut self, args: &[ast::Arg], ends: &Ends, span: Span) -> Emission {
        let header = self.this_layer().and_then(|layer| layer.header.clone());
        let owner = self.this_layer().map_or(String::new(), |layer| layer.name.text.clone());
        let mut message = None;
        let mut chosen: Option<(u32, Vec<Expr>, Span)> = None;
        let mut given: Vec<(Name, Option<Tree>)> = Vec::new();
        let mut misspelt = false;
        for arg in args {
            let Some(value) = arg.value() else { continue };
            let place = self.span(arg);
            if let Some(label) = arg.name() {
                given.push((tree::path(self.file, &label), Some(value)));
            } else if let Some((name, fields)) = self.alternative(&value, header.as_ref()) {
                match header.as_ref().and_then(|header| header.variant(&name.text)) {
                    Some((index, variant)) => {
                        let values = self.record_values(&name.text, "alternative", &variant.fields, fields, place);
                        chosen = Some((index, values, place));
                    }
                    None => {
                        self.no_alternative(&owner, header.as_ref(), &name);
                        misspelt = true;
                    }
                }
            } else if message.is_none() {
                message = Some(self.given(&value));
            } else {
                let text = "`send` takes one message";
                self.error(codes::WRONG_COUNT, text, place, "the second", "name a header's field: `seq: next`");
            }
        }
        if misspelt {
            return Emission::Send { message, fields: None, to: None };
        }
        let fields = self.send_fields(header.as_ref(), &owner, chosen, given, span);
        if let (Some(fields), Some(header)) = (&fields, &header) {
            self.alone(&header.variants[fields.variant as usize], message.as_ref(), span);
        } else if message.is_none() {
            self.error(
                codes::MISSING_ARGUMENT,
                "`send` needs a message",
                span,
                "missing here",
                "write `below.send(msg)`",
            );
        }
        self.says_which(ends.to.is_some(), span);
        let to = ends.to.as_ref().map(|to| self.value(to, Type::Flow(Side::Below)));
        Emission::Send { message, fields, to }
    }

    /// `Data { seq: x }`, or `Probe` alone: an alternative of the own header.
    fn alternative(&self, value: &Tree, header: Option<&Header>) -> Option<(Name, Given)> {
        match value {
            Tree::Record(record) => {
                let name = record.name()?;
                use mokume_syntax::ast::AstNode;
                let name = Name { text: name.text(), span: name.span(self.file) };
                let fields = record.fields();
                let given =
                    fields.iter().filter_map(|field| Some((tree::some_name(self.file, field.name())?, field.value())));
                Some((name, given.collect()))
            }
            Tree::Name(_) => {
                let name = tree::name_expr(self.file, value)?;
                let upper = name.text.starts_with(|c: char| c.is_ascii_uppercase());
                let known = header.and_then(|header| header.variant(&name.text)).is_some();
                (known || upper && self.local(&name.text).is_none()).then_some((name, Vec::new()))
            }
            _ => None,
        }
    }

    pub(super) fn no_alternative(&mut self, owner: &str, header: Option<&Header>, name: &Name) {
        let names: Vec<&str> =
            header.iter().flat_map(|header| &header.variants).map(|v| v.name.text.as_str()).collect();
        let text = format!("the header of `{owner}` has no alternative `{}`", name.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_VARIANT, text).at(name.span, "unknown");
        if names == ["Header"] {
            diagnostic = diagnostic.help("the header is one record: write its fields by name, `seq: next`");
        } else {
            diagnostic.helps.extend(suggest::help(&name.text, names));
        }
        self.report(diagnostic);
    }

    /// Every field of the header, exactly once.
    fn send_fields(
        &mut self,
        header: Option<&Header>,
        owner: &str,
        chosen: Option<(u32, Vec<Expr>, Span)>,
        given: Vec<(Name, Option<Tree>)>,
        span: Span,
    ) -> Option<Fields> {
        let Some(header) = header else {
            if let Some((name, _)) = given.first() {
                let text = format!("`{owner}` has no header, so there is no field `{}`", name.text);
                let help = format!("declare it: `header {{ {}: u32 }}`", name.text);
                self.error(codes::HEADER_FIELDS, text, name.span, "no such field", &help);
            }
            return None;
        };
        if let Some((variant, values, place)) = chosen {
            if let Some((name, _)) = given.first() {
                let text = format!("field `{}` stands outside of its alternative", name.text);
                self.error(codes::HEADER_FIELDS, text, name.span.to(place), "not here", "write it within the braces");
            }
            return Some(Fields { variant, values });
        }
        match header.variants.as_slice() {
            [only] => {
                let fields = only.fields.clone();
                let values = self.header_values(owner, &fields, given, span);
                Some(Fields { variant: 0, values })
            }
            several => {
                let names: Vec<&str> = several.iter().map(|variant| variant.name.text.as_str()).collect();
                let text = format!("which alternative of the header of `{owner}` is sent?");
                let help = format!(
                    "there is {}: write `below.send(msg, {} {{ … }})`",
                    suggest::list(&names),
                    names.first().unwrap_or(&"Data")
                );
                self.error(codes::HEADER_FIELDS, text, span, "not said here", &help);
                None
            }
        }
    }

    fn header_values(
        &mut self,
        owner: &str,
        fields: &[Field],
        given: Vec<(Name, Option<Tree>)>,
        span: Span,
    ) -> Vec<Expr> {
        let missing: Vec<&Field> =
            fields.iter().filter(|field| !given.iter().any(|(name, _)| name.text == field.name.text)).collect();
        if let Some(first) = missing.first() {
            let names: Vec<&str> = missing.iter().map(|field| field.name.text.as_str()).collect();
            let text = format!("the header of `{owner}` needs {}", suggest::list(&names));
            let diagnostic = Diagnostic::error(codes::HEADER_FIELDS, text)
                .at(span, "not given here")
                .label(first.name.span, "declared here")
                .help(format!("write `below.send(msg, {}: …)`", first.name.text));
            self.report(diagnostic);
            let present: Vec<Field> = fields
                .iter()
                .filter(|field| given.iter().any(|(name, _)| name.text == field.name.text))
                .cloned()
                .collect();
            self.record_values(owner, "header", &present, given, span);
            return fields.iter().map(|_| unknown(span)).collect();
        }
        self.record_values(owner, "the header of", fields, given, span)
    }

    /// An alternative goes with a message or alone, as it was declared.
    fn alone(&mut self, variant: &Variant, message: Option<&Expr>, span: Span) {
        match (variant.with_message, message) {
            (true, None) => {
                let text = format!("`{}` goes with a message", variant.name.text);
                let diagnostic = Diagnostic::error(codes::WITH_MESSAGE, text)
                    .at(span, "no message here")
                    .label(variant.name.span, "`with message`")
                    .help("write `below.send(msg, …)`; a new, empty one is `message()`");
                self.report(diagnostic);
            }
            (false, Some(message)) => {
                let text = format!("`{}` goes alone", variant.name.text);
                let diagnostic = Diagnostic::error(codes::WITH_MESSAGE, text)
                    .at(message.span, "a message here")
                    .label(variant.name.span, "without `with message`")
                    .help("leave the message out, or declare the alternative `with message`");
                self.report(diagnostic);
            }
            _ => {}
        }
    }

    fn deliver(&mut self, args: &[ast::Arg], ends: &Ends, span: Span) -> Option<Emission> {
        let mut values = args.iter().filter_map(|arg| Some((arg.name(), arg.value()?)));
        let Some((None, first)) = values.next() else {
            self.error(
                codes::MISSING_ARGUMENT,
                "`deliver` needs a message",
                span,
                "missing here",
                "write `above.deliver(msg)`",
            );
            return None;
        };
        if let Some((_, extra)) = values.next() {
            let place = self.span(&extra);
            let help = "the layer above sees the message alone; what it may know is an attribute or is published";
            self.error(codes::WRONG_COUNT, "`deliver` takes the message alone", place, "one too many", help);
        }
        let message = self.given(&first);
        let from = ends.from.as_ref().map(|from| self.value(from, Type::Flow(Side::Above)));
        if from.is_none() && self.shape() == Some(Shape::Router) && !self.chooses() {
            let help = "write `above.deliver(msg) from flow(local: …, remote: …)`";
            self.error(codes::NO_FLOW, "a router says which flow it delivers from", span, "not said here", help);
        }
        Some(Emission::Deliver { message, from })
    }

    fn opening(&mut self, name: &Name, args: &[ast::Arg], span: Span) -> Emission {
        let (given, parts): (Vec<&ast::Arg>, Vec<&ast::Arg>) = args.iter().partition(|arg| {
            let label = arg.name().map(|label| tree::path(self.file, &label));
            name.text == "open" && label.is_some_and(|label| self.given_type(&label.text).is_some())
        });
        let parts: Vec<ast::Arg> = parts.into_iter().cloned().collect();
        let mut values = Vec::new();
        for arg in given {
            let (Some(label), Some(value)) = (arg.name(), arg.value()) else { continue };
            let label = tree::path(self.file, &label);
            let ty = self.given_type(&label.text).unwrap_or(Type::Unknown);
            values.push((label, self.value(&value, ty)));
        }
        let flow = if self.shape() == Some(Shape::Worker) {
            let text = format!("a worker does not `{}`: it sees no addresses", name.text);
            let help = "the layer above opens; `pass` lets its event go on";
            self.error(codes::HIDDEN_FLOW, text, name.span, "not for a worker", help);
            unknown(span)
        } else {
            self.flow_of(&parts, Side::Below, span)
        };
        match name.text.as_str() {
            "open" => Emission::Open { flow, args: values },
            "listen" => Emission::Listen { flow },
            "bind" => Emission::Bind { flow },
            _ => Emission::Unlisten { flow },
        }
    }

    /// `above.failed(reason, quote) from flow(…)`
    fn failed_flow(&mut self, args: &[ast::Arg], ends: &Ends, span: Span) -> Option<Emission> {
        let name = tree::name_expr(self.file, &args[0].value()?)?;
        let reason = match self.local(&name.text) {
            Some(local) if self.local_type(local) == Type::Reason => {
                make(ExprKind::Local(local), Type::Reason, name.span)
            }
            _ => make(ExprKind::Reason(name.clone()), Type::Reason, name.span),
        };
        let quote = self.given(&args[1].value()?);
        let Some(from) = &ends.from else {
            let help =
                "write `above.failed(reason, quote) from flow(…)`; a handler that was told passes it on by `pass`";
            self.error(codes::NO_FLOW, "of which flow is this quoted?", span, "not said here", help);
            return None;
        };
        let from = self.value(from, Type::Flow(Side::Above));
        Some(Emission::FailedFlow { reason, quote, from })
    }

    fn failed(&mut self, args: &[ast::Arg], span: Span) -> Option<Emission> {
        let reason = args.first().and_then(|arg| arg.value()).and_then(|value| tree::name_expr(self.file, &value));
        let Some(reason) = reason else {
            self.error(
                codes::MISSING_ARGUMENT,
                "`failed` needs a reason",
                span,
                "missing here",
                "write `above.failed(timed_out)`",
            );
            return None;
        };
        match self.local(&reason.text) {
            Some(local) if self.local_type(local) == Type::Reason => {
                let reason = make(ExprKind::Local(local), Type::Reason, reason.span);
                Some(Emission::FailedAs { reason })
            }
            _ => Some(Emission::Failed { reason }),
        }
    }

    /// An event of the layers' own; its parameters are those of a handler of that name, if there is one.
    fn custom(&mut self, name: &Name, event: &str, down: bool, args: &[ast::Arg]) -> Option<Emission> {
        let wrong_way = if down { UP.contains(&event) } else { DOWN.contains(&event) };
        if wrong_way || matches!(event, "start" | "settle" | "expiry" | "unmatched") {
            let (side, way) = if down { ("above", "up") } else { ("below", "down") };
            let (text, help) = match wrong_way {
                true => (format!("`{event}` goes {way}"), format!("write `{side}.{event}(…)`")),
                false => (format!("`{event}` is never emitted"), "the layer itself gets it".to_string()),
            };
            self.error(codes::WRONG_WAY, text, name.span, "not this way", &help);
            return None;
        }
        let spoken = self.layer.and_then(|layer| self.cx.spoken(layer, event));
        if let Some((known, goes_down)) = spoken.as_ref().filter(|(_, goes_down)| *goes_down != down) {
            self.cx.wrong_direction(known, *goes_down, name.span, true);
            return None;
        }
        let types = match &spoken {
            Some((known, _)) => Some(known.params.iter().map(|param| param.ty).collect()),
            None if GRANTS.contains(&event) => Some(vec![Type::UInt(32), Type::UInt(32)]),
            None => self.cx.event_types(event),
        };
        if types.is_none() {
            self.misspelt_event(name, down);
        }
        let values: Vec<Tree> = args.iter().filter_map(|arg| arg.value()).collect();
        if let Some(types) = types.as_ref().filter(|types| types.len() != values.len()) {
            let text = format!("handlers of `{event}` take {} parameters, not {}", types.len(), values.len());
            self.error(codes::WRONG_COUNT, text, name.span, "here", "give one value for each");
        }
        let args: Vec<Expr> = values
            .iter()
            .enumerate()
            .map(|(index, value)| match types.as_ref().and_then(|types| types.get(index)) {
                Some(ty) => self.value(value, *ty),
                None => self.expr(value, None),
            })
            .collect();
        if let (true, Some(several)) = (down, self.this_layer().and_then(|layer| layer.several.clone())) {
            if let Some(message) = args.iter().find(|arg| arg.ty == Type::Message) {
                let help = format!("send it one way: `below.send(msg) to flow({}: i)`", several.text);
                let text = format!("`{event}` goes to all layers below, and a message has one way");
                self.error(codes::TO_ALL_BELOW, text, message.span, "given to several", &help);
            }
        }
        Some(Emission::Custom { name: name.clone(), down, args })
    }

    /// `below.sned(msg)`: near to an event of the language, and nobody handles it.
    fn misspelt_event(&mut self, name: &Name, down: bool) {
        let known = if down { &DOWN[..] } else { &UP[..] };
        if let Some(near) = suggest::nearest(&name.text, known.iter().copied()) {
            let text = format!("no layer handles an event `{}`", name.text);
            self.error(codes::UNKNOWN_EVENT, text, name.span, "unknown", &format!("did you mean `{near}`?"));
        }
    }

    /// The parameters of an operation of a service.
    fn service_emission(
        &mut self,
        owner: &Name,
        name: &Name,
        args: &[ast::Arg],
        span: Span,
    ) -> Option<Option<Emission>> {
        let layer = self.this_layer()?;
        let used = layer.uses.iter().position(|(_, alias)| alias.text == owner.text);
        let served = layers::served(&self.cx.program, layer, &owner.text);
        let used_service = used.map(|index| layer.uses[index].0);
        let find = |service: Option<ServiceId>, out: bool| {
            let service = service?;
            let list = &self.cx.program.services.get(service.index())?.operations;
            let index = list.iter().position(|operation| operation.name.text == name.text && operation.out == out)?;
            Some((service, index as u32))
        };
        let (service, operation, uses) = match (find(used_service, false), find(served, true)) {
            (Some((service, operation)), _) => (service, operation, used.map(|index| index as u32)),
            (None, Some((service, operation))) => (service, operation, None),
            (None, None) => {
                if used_service.or(served).is_none() && self.cx.unknown_services.contains(&owner.text) {
                    return Some(None);
                }
                let service = used_service.or(served)?;
                self.no_operation(service, used_service.is_some(), name);
                return Some(None);
            }
        };
        let params = self.cx.program.services[service.index()].operations[operation as usize].params.clone();
        let params: Vec<Param> = params
            .into_iter()
            .map(|field| Param { name: field.name, ty: field.ty, default: None, local: LocalId(0) })
            .collect();
        let args = self.arguments(&format!("{}.{}", owner.text, name.text), &params, args, span);
        Some(Some(Emission::Service { service, operation, uses, args }))
    }

    fn no_operation(&mut self, service: ServiceId, uses: bool, name: &Name) {
        let service = &self.cx.program.services[service.index()];
        let title = service.name.text.clone();
        let other_way = service.operations.iter().any(|operation| operation.name.text == name.text);
        let names: Vec<String> = service
            .operations
            .iter()
            .filter(|operation| operation.out != uses)
            .map(|operation| operation.name.text.clone())
            .collect();
        if other_way {
            let (who, help) = match uses {
                true => ("its server", format!("handle it: `on {}(…)` with the name behind `as`", name.text)),
                false => ("its users", format!("handle it: `on {}.{}(…)`", tree::snake_case(&title), name.text)),
            };
            let text = format!("`{}` of service `{title}` is emitted by {who}", name.text);
            self.error(codes::SERVICE_WAY, text, name.span, "the other way", &help);
            return;
        }
        let text = format!("service `{title}` has no operation `{}`", name.text);
        let mut diagnostic = Diagnostic::error(codes::UNKNOWN_OPERATION, text).at(name.span, "unknown");
        diagnostic.helps.extend(suggest::help(&name.text, names.iter().map(String::as_str)));
        self.report(diagnostic);
    }
}
