//! Outputs: how they are queued until the reaction ends, and how the program gets them.

use std::collections::BTreeSet;

use mokume_reaction::*;

use super::header::port_function;
use super::signature::port_type;
use super::{parts, returned};
use crate::body::{all_in_kept, all_leave_at_once, give_name, kept_name, Form, Leaving, END_QUIET};
use crate::plan::Plan;
use crate::text::Text;
use crate::types::{c_type, declare, from_word, to_word};

/// Writes `out_p_e` for each output: it adds the output to those that leave when the reaction ends.
pub(crate) fn functions(plan: &Plan, text: &mut Text) {
    for (p, (port, names)) in plan.automaton.ports.iter().zip(&plan.names.outputs).enumerate() {
        for (e, (output, name)) in port.outputs.iter().zip(names).enumerate() {
            let mut list = vec![format!("struct {} *k", plan.names.stack)];
            list.extend(
                output
                    .params
                    .iter()
                    .enumerate()
                    .map(|(place, (_, ty))| declare(c_type(plan.automaton, *ty), &format!("a{place}"))),
            );
            text.function(format!("static MK_UNUSED void out_{name}({})", list.join(", ")));
            let count = output.params.len();
            text.line(format!("mk_output *output = mk_put_output(&k->core, {p}, {e}, {count});"));
            let messages: Vec<usize> = (0..count).filter(|place| output.params[*place].1 == Type::Msg).collect();
            text.open("if (MK_UNLIKELY(!output))");
            for place in &messages {
                text.line(format!("mk_gone(&k->core, a{place});"));
            }
            text.line("return;");
            text.close("");
            for (place, (_, ty)) in output.params.iter().enumerate() {
                text.line(format!("output->args[{place}] = {};", to_word(*ty, &format!("a{place}"))));
            }
            if !messages.is_empty() {
                text.line(format!("k->core.accounts.delivered += {};", messages.len()));
            }
            text.end_function();
        }
    }
}

/// Writes the functions for outputs that leave paths at once: they hand the outputs over, in order, if nothing else is
/// leaving. The path ends with them.
pub(crate) fn at_once(plan: &Plan, text: &mut Text) {
    let (all, in_kept) = (all_leave_at_once(plan.automaton), all_in_kept(plan.automaton));
    if plan.carries_on {
        end_quiet(plan, text);
    }
    outputs_of(&all).iter().for_each(|output| One::of(plan, *output, 0).tell_any(&plan.names.stack, text));
    for leaving in &all {
        let give = Give::of(plan, leaving);
        give.write(text);
        if in_kept.contains(leaving) {
            give.in_kept(&kept_name(plan, leaving), text);
        }
        if plan.returned && leaving.may_return() {
            let (list, same) = (give.each(|one| one.parameters(false)), give.each(|one| one.same(false)));
            returned::function(plan, leaving, (&list, &same), text);
        }
    }
}

/// Writes the end of a path, if it may have put off an event that has a path: that one follows at once, where nothing else waits.
fn end_quiet(plan: &Plan, text: &mut Text) {
    let stack = &plan.names.stack;
    text.lines(&format!(
        "static void carry_later(void *stack, const mk_event *event);\n\n\
         static MK_UNUSED MK_APART bool end_behind(struct {stack} *k)\n{{\n\
         \x20   const mk_event *event = mk_next_alone(&k->core);\n\
         \x20   if (event == NULL)\n\
         \x20       return mk_end_behind(&k->core);\n\
         \x20   carry_later(k, event);\n\
         \x20   return mk_end_next(&k->core);\n}}\n\n\
         static MK_UNUSED inline bool {END_QUIET}(struct {stack} *k)\n{{\n\
         \x20   return MK_LIKELY(k->core.quiet != 0) || end_behind(k);\n}}\n"
    ));
}

/// The outputs that leave paths at once.
pub(crate) fn told(plan: &Plan) -> BTreeSet<(PortId, u32)> {
    outputs_of(&all_leave_at_once(plan.automaton))
}

fn outputs_of(all: &BTreeSet<Leaving>) -> BTreeSet<(PortId, u32)> {
    all.iter().flat_map(|leaving| &leaving.outputs).map(|leaves| leaves.output).collect()
}

/// An output of [`told`], and its name.
fn named<'a>(plan: &'a Plan, (port, event): &(PortId, u32)) -> (&'a PortOutput, &'a str) {
    let (port, event) = (port.index(), *event as usize);
    (&plan.automaton.ports[port].outputs[event], &plan.names.outputs[port][event])
}

/// The members of the instance that say who gets these outputs, and with which context.
pub(crate) fn told_members(plan: &Plan) -> String {
    let (told, mut text) = (told(plan), Text::default());
    if told.is_empty() {
        return String::new();
    }
    text.open("struct");
    for (output, name) in told.iter().map(|output| named(plan, output)) {
        text.line(port_function(plan, output, name));
        text.line(format!("void *{name}_context;"));
    }
    text.close(" told; /* of outputs that leave paths at once; none is NULL */");
    text.finish()
}

/// Fills them: where the program has no function for an output, the function for any gets it.
pub(super) fn tell_whom(plan: &Plan, text: &mut Text) {
    for (_, name) in told(plan).iter().map(|output| named(plan, output)) {
        text.line(format!("k->told.{name} = k->ports.{name} ? k->ports.{name} : tell_any_{name};"));
        text.line(format!("k->told.{name}_context = k->ports.{name} ? k->ports.context : k;"));
    }
}

/// One output that leaves a path at once.
struct One<'a> {
    name: &'a str,
    /// The name of the function that takes it in two parts, if it has one.
    parts: Option<String>,
    /// The numbers of its port and event.
    which: String,
    params: Vec<(String, &'static str, Type)>,
    form: Form,
}

impl<'a> One<'a> {
    /// The output; `first`: the number of its first argument.
    fn of(plan: &'a Plan, (port, event): (PortId, u32), first: usize) -> Self {
        let params = &plan.automaton.ports[port.index()].outputs[event as usize].params;
        let named = |(place, (_, ty)): (usize, &(String, Type))| {
            (format!("a{}", first + place), port_type(plan.automaton, *ty), *ty)
        };
        let name = &plan.names.outputs[port.index()][event as usize];
        One {
            name,
            parts: parts::name(plan, (port, event)),
            which: format!("{}, {event}", port.index()),
            params: params.iter().enumerate().map(named).collect(),
            form: Form::Part,
        }
    }

    fn messages(&self) -> usize {
        self.params.iter().filter(|(_, _, ty)| *ty == Type::Msg).count()
    }

    /// Writes the hand-over for a program that has no function for this output.
    fn tell_any(&self, stack: &str, text: &mut Text) {
        let One { name, which, params, .. } = self;
        let list: String = params.iter().map(|(own, ty, _)| format!(", {}", declare(ty, own))).collect();
        text.function(format!("static MK_UNUSED void tell_any_{name}(void *stack{list})"));
        text.line(format!("struct {stack} *k = stack;"));
        let datum = |(own, _, ty): &(String, &str, Type)| match ty {
            Type::Msg => format!("{{.kind = MK_OCTETS, .octets = {own}}}"),
            Type::Ref(_) => format!("{{.kind = MK_HANDLE, .handle = {own}}}"),
            _ => format!("{{.kind = MK_WORD, .word = {own}}}"),
        };
        let (mut given, count) = ("NULL", params.len());
        if count > 0 {
            given = "data";
            text.line(format!("mk_datum data[] = {{{}}};", params.iter().map(datum).collect::<Vec<_>>().join(", ")));
        }
        text.line("if (k->ports.any)");
        text.line(format!("    k->ports.any(k->ports.context, {which}, {given}, {count});"));
        text.end_function();
    }

    /// Its parameters. A message is octets; if its parts are in different places, it is the octets in front and those
    /// behind.
    fn parameters(&self, is_whole: bool) -> String {
        let one = |(own, ty, kind): &(String, &str, Type)| match kind {
            Type::Msg if self.form == Form::Whole => format!(", mk_message *{own}"),
            Type::Msg if is_whole || self.form != Form::Fronted => {
                format!(", const uint8_t *{own}, uint32_t {own}_size")
            }
            Type::Msg => {
                format!(", uint8_t *{own}, uint32_t {own}_front, const uint8_t *{own}_at, uint32_t {own}_size")
            }
            Type::Ref(_) => format!(", mk_ref {own}"),
            _ => format!(", {}", declare(ty, own)),
        };
        self.params.iter().map(one).collect()
    }

    /// The same names as arguments; with `is_whole`, the octets are contiguous by now.
    fn same(&self, is_whole: bool) -> String {
        let one = |(own, _, kind): &(String, &str, Type)| match kind {
            Type::Msg if self.form == Form::Whole => format!(", {own}"),
            Type::Msg if self.form != Form::Fronted => format!(", {own}, {own}_size"),
            Type::Msg if is_whole => format!(", {own}, {own}_front + {own}_size"),
            Type::Msg => format!(", {own}, {own}_front, {own}_at, {own}_size"),
            _ => format!(", {own}"),
        };
        self.params.iter().map(one).collect()
    }

    /// Queues it to leave later: its messages become messages of the pool.
    fn queue(&self, text: &mut Text) {
        let one = |(own, _, kind): &(String, &str, Type)| match (kind, self.form) {
            (Type::Msg, Form::Fronted) => {
                format!(", mk_message_fronted(&k->core.pool, {own}, {own}_front, {own}_at, {own}_size)")
            }
            (Type::Msg, Form::Whole) => format!(", {own}"),
            (Type::Msg, _) => format!(", mk_message_new(&k->core.pool, {own}, {own}_size)"),
            _ => format!(", {own}"),
        };
        text.line(format!("out_{}(k{});", self.name, self.params.iter().map(one).collect::<String>()));
    }

    fn call(&self, place: Place, text: &mut Text) {
        let (name, is_fronted) = (self.name, self.form == Form::Fronted);
        let octets = |own: &str| match (self.form, place) {
            (Form::Whole, _) => format!("(mk_octets){{mk_data({own}), {own}->view.size}}"),
            (Form::Fronted, Place::Apart) => {
                format!("(mk_octets){{{own}, {own}_front}}, (mk_octets){{{own}_at, {own}_size}}")
            }
            (Form::Fronted, Place::InKept) => format!("(mk_octets){{octets, {own}_front + {own}_size}}"),
            _ => format!("(mk_octets){{{own}, {own}_size}}"),
        };
        let one = |(own, _, kind): &(String, &str, Type)| match kind {
            Type::Msg => format!(", {}", octets(own)),
            Type::Ref(_) => format!(", mk_handle_of({own})"),
            _ => format!(", {own}"),
        };
        let given: String = self.params.iter().map(one).collect();
        match self.parts.as_ref().filter(|_| is_fronted && place == Place::Apart) {
            Some(parts) => text.line(format!("k->ports.{parts}(k->ports.context{given});")),
            None => text.line(format!("k->told.{name}(k->told.{name}_context{given});")),
        }
        for (own, _, _) in self.params.iter().filter(|param| self.form == Form::Whole && param.2 == Type::Msg) {
            text.line(format!("mk_message_free(&k->core.pool, {own});"));
        }
    }
}

/// The beginning of a hand-over of octets that stand in the instance's place for them.
const ELSEWHERE: &str = "/* Who is called, and calls, writes elsewhere. */\nk->core.front -= FRONT;";

/// Where octets are that leave behind others in front of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Behind these.
    Behind,
    /// Elsewhere.
    Apart,
    /// In a message that is kept, with the others written in front of them.
    InKept,
}

/// The outputs that leave a path at once, one after the other.
struct Give<'a> {
    stack: &'a str,
    name: String,
    outputs: Vec<One<'a>>,
    /// The return values: when they have left, and when they will leave later.
    ends: [&'static str; 2],
}

impl<'a> Give<'a> {
    fn of(plan: &'a Plan, leaving: &Leaving) -> Self {
        let mut outputs = Vec::new();
        let mut first = 0;
        for leaves in &leaving.outputs {
            let one = One { form: leaves.form, ..One::of(plan, leaves.output, first) };
            first += one.params.len();
            outputs.push(one);
        }
        let ends = match (leaving.goes_on, plan.carries_on) {
            (true, _) => ["true", "true"],
            (false, false) => ["mk_end_quiet(&k->core)", "mk_end_behind(&k->core)"],
            (false, true) => ["end_quiet(k)", "mk_end_behind(&k->core)"],
        };
        Give { stack: &plan.names.stack, name: give_name(plan, leaving), outputs, ends }
    }

    fn each(&self, of: impl Fn(&One) -> String) -> String {
        self.outputs.iter().map(of).collect()
    }

    fn write(&self, text: &mut Text) {
        let Give { stack, name, outputs, ends } = self;
        let (list, same) = (self.each(|one| one.parameters(false)), self.each(|one| one.same(false)));
        let fronted = outputs.iter().find(|one| one.form == Form::Fronted);
        if fronted.is_some() {
            let list = self.each(|one| one.parameters(true));
            text.function(format!("static MK_UNUSED MK_AT_END bool whole_{name}(struct {stack} *k{list})"));
            self.call(Place::Behind, text);
            text.end_function();
        }
        text.function(format!("static MK_UNUSED MK_APART bool queue_{name}(struct {stack} *k{list})"));
        outputs.iter().for_each(|one| one.queue(text));
        text.line(format!("return {};", ends[1]));
        text.end_function();
        let whole = self.each(|one| one.same(true));
        let message = fronted.and_then(|one| one.params.iter().find(|(_, _, ty)| *ty == Type::Msg));
        if let (Some(one), Some((own, ..))) = (fronted, message) {
            if one.parts.is_some() {
                text.function(format!("static MK_UNUSED MK_APART bool parts_{name}(struct {stack} *k{list})"));
                self.call(Place::Apart, text);
                text.end_function();
            }
            text.function(format!("static MK_UNUSED MK_APART bool long_{name}(struct {stack} *k{list})"));
            if let Some(parts) = &one.parts {
                text.line(format!("if (k->ports.{parts} != NULL)"));
                text.line(format!("    return parts_{name}(k{same});"));
            }
            text.line(format!("memcpy({own} + {own}_front, {own}_at, {own}_size);"));
            text.line(format!("return whole_{name}(k{whole});"));
            text.end_function();
        }
        text.function(format!("static MK_UNUSED MK_AT_END bool {name}(struct {stack} *k{list})"));
        text.line("if (MK_UNLIKELY(k->core.leaving))");
        text.line(format!("    return queue_{name}(k{same});"));
        match message {
            Some((own, ..)) => {
                text.line(format!("if ({own}_size >= k->core.long_octets)"));
                text.line(format!("    return long_{name}(k{same});"));
                text.line(format!("mk_copy_few({own} + {own}_front, {own}_at, {own}_size);"));
                text.line(format!("return whole_{name}(k{whole});"));
            }
            None => self.call(Place::Behind, text),
        }
        text.end_function();
    }

    /// Writes the hand-over of octets that a message that is kept begins with: those in front are written into the room in front of it. It is
    /// held meanwhile, so that a program that calls changes a copy of it. `begins`: the octets of which the message was made.
    fn in_kept(&self, kept: &str, text: &mut Text) {
        let Give { stack, name, outputs, .. } = self;
        let [one] = &outputs[..] else { return };
        let Some((own, ..)) = one.params.iter().find(|(_, _, ty)| *ty == Type::Msg) else { return };
        let (list, same) = (self.each(|one| one.parameters(false)), self.each(|one| one.same(false)));
        let head = format!("static MK_UNUSED MK_AT_END bool {kept}");
        text.function(format!("{head}(struct {stack} *k{list}, const mk_message *message, const uint8_t *begins)"));
        text.line("if (MK_UNLIKELY(k->core.leaving))");
        text.line(format!("    return queue_{name}(k{same});"));
        text.open(format!("if ({own}_size < k->core.long_octets)"));
        text.line(format!("mk_copy_few({own} + {own}_front, {own}_at, {own}_size);"));
        text.line(format!("return whole_{name}(k{});", self.each(|one| one.same(true))));
        text.close("");
        text.line(format!("if (!k->core.lends || {own}_at != begins || {own}_size > message->view.size)"));
        text.line(format!("    return long_{name}(k{same});"));
        text.line("mk_buffer *buffer = message->view.buffer;");
        text.line(format!("uint8_t *octets = buffer->octets + message->view.at - {own}_front;"));
        text.line(format!("memcpy(octets, {own}, {own}_front);"));
        self.call(Place::InKept, text);
        text.end_function();
    }

    /// Calls the program's functions, one after the other.
    fn call(&self, place: Place, text: &mut Text) {
        let messages: usize = self.outputs.iter().map(One::messages).sum();
        if messages > 0 {
            text.line(format!("k->core.accounts.delivered += {messages};"));
        }
        let is_front = self.outputs.iter().any(|one| matches!(one.form, Form::Head | Form::Fronted));
        let around = match place {
            Place::InKept => Some(["mk_lend(&k->core, buffer);", "mk_lend_over(&k->core, buffer);"]),
            _ => is_front.then_some([ELSEWHERE, "k->core.front += FRONT;"]),
        };
        around.iter().for_each(|[before, _]| text.lines(before));
        text.line("k->core.leaving = true;");
        self.outputs.iter().for_each(|one| one.call(place, text));
        text.line("k->core.leaving = false;");
        around.iter().for_each(|[_, after]| text.line(after));
        text.line(format!("return {};", self.ends[0]));
    }
}

/// Writes `leave`, which hands one output to the program.
pub(crate) fn leave(plan: &Plan, text: &mut Text) {
    let stack = &plan.names.stack;
    text.function(format!(
        "static MK_COLD void leave_any(struct {stack} *k, const mk_output *output, const char *kinds)"
    ));
    text.line("mk_datum data[ARGUMENTS];");
    text.line("mk_data_of(output, kinds, data);");
    text.line("if (k->ports.any)");
    text.line("    k->ports.any(k->ports.context, output->port, output->event, data, output->count);");
    text.line("mk_output_free(&k->core, output, kinds);");
    text.end_function();
    text.function("static void leave(void *stack, const mk_output *output)");
    text.line(format!("struct {stack} *k = stack;"));
    text.line("const char *kinds = \"\";");
    text.open("switch ((uint32_t)output->port << 16 | output->event)");
    for (p, (port, names)) in plan.automaton.ports.iter().zip(&plan.names.outputs).enumerate() {
        for (e, (output, name)) in port.outputs.iter().zip(names).enumerate() {
            text.line(format!("case {}:", (p << 16) | e));
            text.indent();
            leave_one(plan, name, &output.params, text);
            text.outdent();
        }
    }
    text.line("default:");
    text.line("    break;");
    text.close("");
    text.line("leave_any(k, output, kinds);");
    text.end_function();
}

/// Calls the function for this output, if the program has one.
fn leave_one(plan: &Plan, name: &str, params: &[(String, Type)], text: &mut Text) {
    text.line(format!("kinds = {};", kinds(params)));
    text.line(format!("if (!k->ports.{name})"));
    text.line("    break;");
    text.line(format!("k->ports.{name}({});", given(plan, params)));
    for (place, _) in params.iter().enumerate().filter(|(_, (_, ty))| *ty == Type::Msg) {
        let message = from_word(plan.automaton, Type::Msg, &format!("output->args[{place}]"));
        text.line(format!("mk_message_free(&k->core.pool, {message});"));
    }
    text.line("return;");
}

/// The kinds of an event's arguments, one letter each, as the runtime reads them.
pub(super) fn kinds(params: &[(String, Type)]) -> String {
    let one = |(_, ty): &(String, Type)| match ty {
        Type::Msg => 'o',
        Type::Ref(_) => 'h',
        Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_) | Type::Reason => 'w',
        // No event has an array.
        Type::Array(..) => 'w',
    };
    format!("\"{}\"", params.iter().map(one).collect::<String>())
}

/// The arguments of the program's function.
fn given(plan: &Plan, params: &[(String, Type)]) -> String {
    let one = |(place, (_, ty)): (usize, &(String, Type))| {
        let word = format!("output->args[{place}]");
        match ty {
            Type::Msg => format!("mk_octets_of({word})"),
            Type::Ref(_) => format!("mk_handle_of({word})"),
            other => from_word(plan.automaton, *other, &word),
        }
    };
    let context = ["k->ports.context".to_string()].into_iter();
    context.chain(params.iter().enumerate().map(one)).collect::<Vec<_>>().join(", ")
}
