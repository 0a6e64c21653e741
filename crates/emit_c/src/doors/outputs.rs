//! Outputs: what joins those that leave when the reaction is over, and how they are handed to the program.

use mokume_reaction::*;

use super::header::port_type;
use crate::body::{front_octets, outputs_at_once};
use crate::plan::Plan;
use crate::text::Text;
use crate::types::{c_type, declare, from_word, to_word};

/// `out_p_e` for each output: it joins what leaves when the reaction is over.
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

/// For outputs that paths put out alone: hands it over at once if nothing is leaving. The path is over then.
pub(crate) fn at_once(plan: &Plan, text: &mut Text) {
    for output in outputs_at_once(plan.automaton) {
        let give = Give::of(plan, output);
        give.tell_any(text);
        give.write(text);
        if give.messages == 1 && front_octets(plan.automaton) > 0 {
            give.fronted(text);
        }
    }
}

/// An output that paths put out alone.
struct Give<'a> {
    stack: &'a str,
    name: &'a str,
    /// Its numbers, of port and event.
    which: String,
    params: Vec<(String, &'static str, Type)>,
    messages: usize,
}

impl<'a> Give<'a> {
    fn of(plan: &'a Plan, (port, event): (PortId, u32)) -> Self {
        let params = &plan.automaton.ports[port.index()].outputs[event as usize].params;
        let named =
            |(place, (_, ty)): (usize, &(String, Type))| (format!("a{place}"), port_type(plan.automaton, *ty), *ty);
        Give {
            stack: &plan.names.stack,
            name: &plan.names.outputs[port.index()][event as usize],
            which: format!("{}, {event}", port.index()),
            params: params.iter().enumerate().map(named).collect(),
            messages: params.iter().filter(|(_, ty)| *ty == Type::Msg).count(),
        }
    }

    /// The program has no function of its own for it.
    fn tell_any(&self, text: &mut Text) {
        let Give { stack, name, which, params, .. } = self;
        let list: String = params.iter().map(|(own, ty, _)| format!(", {}", declare(ty, own))).collect();
        text.function(format!("static MK_UNUSED MK_APART void tell_any_{name}(struct {stack} *k{list})"));
        let datum = |(own, _, ty): &(String, &str, Type)| match ty {
            Type::Msg => format!("{{MK_OCTETS, 0, {{0, 0}}, {own}}}"),
            Type::Ref(_) => format!("{{MK_HANDLE, 0, {own}, {{NULL, 0}}}}"),
            _ => format!("{{MK_WORD, {own}, {{0, 0}}, {{NULL, 0}}}}"),
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

    /// What the message at a place is called: its octets, and how many.
    fn octets(own: &str) -> String {
        format!("const uint8_t *{own}, uint32_t {own}_size")
    }

    fn parameters(&self, message: impl Fn(&str) -> String) -> String {
        let one = |(own, ty, kind): &(String, &str, Type)| match kind {
            Type::Msg => format!(", {}", message(own)),
            Type::Ref(_) => format!(", mk_ref {own}"),
            _ => format!(", {}", declare(ty, own)),
        };
        self.params.iter().map(one).collect()
    }

    fn arguments(&self, message: impl Fn(&str) -> String, reference: impl Fn(&str) -> String) -> String {
        let one = |(own, _, kind): &(String, &str, Type)| match kind {
            Type::Msg => format!(", {}", message(own)),
            Type::Ref(_) => format!(", {}", reference(own)),
            _ => format!(", {own}"),
        };
        self.params.iter().map(one).collect()
    }

    /// It is to wait until what is leaving has left.
    fn queue(&self, queue: &str, list: &str, message: impl Fn(&str) -> String, text: &mut Text) {
        let Give { stack, name, .. } = self;
        text.function(format!("static MK_UNUSED MK_APART bool {queue}_{name}(struct {stack} *k{list})"));
        text.line(format!("out_{name}(k{});", self.arguments(message, str::to_owned)));
        text.line("return mk_end_behind(&k->core);");
        text.end_function();
    }

    /// Octets that the caller owns.
    fn write(&self, text: &mut Text) {
        let Give { stack, name, messages, .. } = self;
        let list = self.parameters(Give::octets);
        self.queue("queue", &list, |own| format!("mk_message_new(&k->core.pool, {own}, {own}_size)"), text);
        text.function(format!("static MK_UNUSED MK_APART bool give_{name}(struct {stack} *k{list})"));
        text.line("if (MK_UNLIKELY(k->core.leaving))");
        let same = self.arguments(|own| format!("{own}, {own}_size"), str::to_owned);
        text.line(format!("    return queue_{name}(k{same});"));
        if *messages > 0 {
            text.line(format!("k->core.accounts.delivered += {messages};"));
        }
        self.call(text);
        text.line("return mk_end_quiet(&k->core);");
        text.end_function();
    }

    fn call(&self, text: &mut Text) {
        let name = self.name;
        let given =
            self.arguments(|own| format!("(mk_octets){{{own}, {own}_size}}"), |own| format!("mk_handle_of({own})"));
        text.line("k->core.leaving = true;");
        text.line(format!("if (MK_LIKELY(k->ports.{name} != NULL))"));
        text.line(format!("    k->ports.{name}(k->ports.context{given});"));
        text.line("else");
        text.line(format!("    tell_any_{name}(k{given});"));
        text.line("k->core.leaving = false;");
    }

    /// Octets that the caller owns with others in front of them, put together where these stand.
    fn fronted(&self, text: &mut Text) {
        let Give { stack, name, .. } = self;
        text.function(format!(
            "static MK_UNUSED MK_APART bool give_whole_{name}(struct {stack} *k{})",
            self.parameters(Give::octets)
        ));
        text.line("k->core.accounts.delivered += 1;");
        text.line("/* Who is called, and calls, writes elsewhere. */");
        text.line("k->core.front -= FRONT;");
        self.call(text);
        text.line("k->core.front += FRONT;");
        text.line("return mk_end_quiet(&k->core);");
        text.end_function();
        let list = self.parameters(|_| "uint8_t *octets, uint32_t front, const uint8_t *at, uint32_t size".to_owned());
        let same = |message: &str| self.arguments(|_| message.to_owned(), str::to_owned);
        let fronted = |_: &str| "mk_message_fronted(&k->core.pool, octets, front, at, size)".to_owned();
        self.queue("queue_fronted", &list, fronted, text);
        text.function(format!("static MK_UNUSED MK_APART bool give_long_{name}(struct {stack} *k{list})"));
        text.line("memcpy(octets + front, at, size);");
        text.line(format!("return give_whole_{name}(k{});", same("octets, front + size")));
        text.end_function();
        text.function(format!("static MK_UNUSED MK_APART bool give_fronted_{name}(struct {stack} *k{list})"));
        text.line("if (MK_UNLIKELY(k->core.leaving))");
        text.line(format!("    return queue_fronted_{name}(k{});", same("octets, front, at, size")));
        text.line("if (size > MK_MANY_OCTETS / 2)");
        text.line(format!("    return give_long_{name}(k{});", same("octets, front, at, size")));
        text.line("mk_copy_few(octets + front, at, size);");
        text.line(format!("return give_whole_{name}(k{});", same("octets, front + size")));
        text.end_function();
    }
}

/// `leave`: hands one output to the program.
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

/// To the function for this output, if the program has one.
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

/// The kinds of an event's arguments, a letter each, as the runtime reads them.
pub(super) fn kinds(params: &[(String, Type)]) -> String {
    let one = |(_, ty): &(String, Type)| match ty {
        Type::Msg => 'o',
        Type::Ref(_) => 'h',
        Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_) | Type::Reason => 'w',
        // No event has one.
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
