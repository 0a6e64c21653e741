//! Lines of the standard input as events of a stack's port, so that people and programs at a pipe can give input to a
//! running stack.
//!
//! Keeps: lines are put in in order, none twice, and none before the stack has room for it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

use mokume_reaction::{Automaton, Datum, Machine, Port, PortId, Type, LONGEST_MESSAGE};
use mokume_script::{PortEvent, Written};

use crate::failure::Failure;
use crate::live::{Live, Ready, Said, Voice, Wait};
use crate::settings;

/// The word that a line replaces.
const LINE: &str = "line";
/// The event that asks for credit, and the one that answers.
const CREDIT: &str = "credit_to";
const INPUT: i32 = 0;
/// The most octets read at once, and the most lines put in before devices have their turn.
const AT_ONCE: usize = 65_536;
const BURST: usize = 64;

/// An argument of the event.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Word(u64),
    Line,
}

/// The parsed `--lines`: the event for each line.
#[derive(PartialEq, Eq, Debug)]
struct Saying {
    port: PortId,
    event: u32,
    parts: Vec<Part>,
    /// The input that asks for credit, if the port has it.
    credit: Option<u32>,
}

/// The standard input, whose lines are events.
pub struct Lines<'a> {
    automaton: &'a Automaton,
    saying: Saying,
    input: ManuallyDrop<File>,
    is_ended: bool,
    /// Octets that were read and not put in yet.
    waiting: Vec<u8>,
}

impl<'a> Lines<'a> {
    /// `text` is the value of `--lines`: `app.send_to(0, 255, line)`. A line has at most as many octets as a port takes.
    pub fn new(automaton: &'a Automaton, written: &Written, text: &str) -> Result<Lines<'a>, Failure> {
        let saying = read(automaton, written, text)?;
        // SAFETY: it is open as long as the program runs, and is never closed here.
        let input = ManuallyDrop::new(unsafe { File::from_raw_fd(INPUT) });
        Ok(Lines { automaton, saying, input, is_ended: false, waiting: Vec::new() })
    }

    /// The next complete line; the end of the input also ends a line.
    fn next(&self) -> Option<(&[u8], usize)> {
        let end = self.waiting.iter().position(|octet| *octet == b'\n');
        let whole = |end: usize| (self.waiting[..end].strip_suffix(b"\r").unwrap_or(&self.waiting[..end]), end + 1);
        let rest = || (self.is_ended && !self.waiting.is_empty()).then_some((&self.waiting[..], self.waiting.len()));
        end.map(whole).or_else(rest)
    }

    /// What is said at the end of lines that were read, and that the port never had credit for.
    pub fn unsent(&self) -> Option<String> {
        let (first, _) = self.next()?;
        let ends = self.waiting.iter().filter(|octet| **octet == b'\n').count();
        let count = ends + usize::from(self.is_ended && self.waiting.last() != Some(&b'\n'));
        let lines = if count == 1 { "1 line was".to_string() } else { format!("{count} lines were") };
        Some(format!("{lines} not sent: the port had no credit for the first, of {} octets", first.len()))
    }

    /// Whether the port may send this many octets now.
    fn has_room(
        &self,
        octets: usize,
        (machine, live): (&mut dyn Machine, &mut Live),
        heard: &mut dyn FnMut(u64, Said<'_>),
    ) -> Result<bool, Failure> {
        let Some(credit) = self.saying.credit else { return Ok(true) };
        let mut outcome = machine.input(live.now(), self.saying.port, credit, &[]);
        let outputs = &self.automaton.ports[self.saying.port.index()].outputs;
        let answers = |output: &mokume_reaction::Output| {
            output.port == self.saying.port && outputs[output.event as usize].event == CREDIT
        };
        let (answer, others) = outcome.outputs.into_iter().partition(answers);
        outcome.outputs = others;
        live.take(live.now(), &outcome, heard)?;
        let answer: Vec<mokume_reaction::Output> = answer;
        let amounts = answer.first().map_or(&[][..], |output| &output.args);
        let enough = |at: usize, least: u64| match amounts.get(at) {
            Some(Datum::Word(amount)) => *amount >= least,
            Some(Datum::Handle(_) | Datum::Message(_)) | None => true,
        };
        Ok(enough(0, 1) && enough(1, octets as u64))
    }
}

impl Voice for Lines<'_> {
    fn source(&self) -> Option<Wait> {
        let is_awaited = !self.is_ended && self.next().is_none();
        is_awaited.then_some(Wait { descriptor: INPUT, what: Ready::ToRead })
    }

    fn speak(
        &mut self,
        is_ready: bool,
        (machine, live): (&mut dyn Machine, &mut Live),
        heard: &mut dyn FnMut(u64, Said<'_>),
    ) -> Result<(), Failure> {
        if is_ready {
            let mut octets = vec![0; AT_ONCE];
            match self.input.read(&mut octets) {
                Ok(0) => self.is_ended = true,
                Ok(count) => self.waiting.extend_from_slice(&octets[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => {
                    return Err(Failure::of_use(format!("standard input: {error}"), "leave `--lines` out"));
                }
            }
        }
        for _ in 0..BURST {
            let Some((line, taken)) = self.next() else { return Ok(()) };
            let line = line.to_vec();
            if line.len() > LONGEST_MESSAGE as usize {
                heard(live.now(), Said::Report(&format!("a line of {} octets: {LONGEST_MESSAGE} go in", line.len())));
            } else {
                if !self.has_room(line.len(), (&mut *machine, &mut *live), heard)? {
                    return Ok(());
                }
                let datum = |part: &Part| match part {
                    Part::Word(word) => Datum::Word(*word),
                    Part::Line => Datum::Message(line.clone()),
                };
                let args: Vec<Datum> = self.saying.parts.iter().map(datum).collect();
                let outcome = machine.input(live.now(), self.saying.port, self.saying.event, &args);
                live.take(live.now(), &outcome, heard)?;
                if outcome.refused {
                    return Ok(());
                }
            }
            self.waiting.drain(..taken);
        }
        Ok(())
    }
}

/// Parses `--lines` for the ports of the stack.
fn read(automaton: &Automaton, written: &Written, text: &str) -> Result<Saying, Failure> {
    let form = "write `--lines 'PORT.EVENT(…, line)'`, as a test writes what goes in";
    let no_event = || Failure::of_use(format!("`{text}` is no event of a port"), form);
    let (place, rest) = text.trim().split_once('(').ok_or_else(no_event)?;
    let (port_name, event_name) = place.trim().split_once('.').ok_or_else(no_event)?;
    let arguments = rest.trim_end().strip_suffix(')').ok_or_else(no_event)?;
    let found = automaton.ports.iter().position(|port| port.name == port_name);
    let Some(at) = found else {
        let names: Vec<&str> = automaton.ports.iter().map(|port| port.name.as_str()).collect();
        return Err(Failure::of_use(
            format!("the stack has no port `{port_name}`"),
            format!("it has: {}", names.join(", ")),
        ));
    };
    let port = &automaton.ports[at];
    let input = |name: &str| port.inputs.iter().position(|input| input.event == name);
    let Some(event) = input(event_name) else {
        let names: Vec<&str> = port.inputs.iter().map(|input| input.event.as_str()).collect();
        return Err(Failure::of_use(
            format!("nothing called `{event_name}` goes in at `{port_name}`"),
            format!("these do: {}", names.join(", ")),
        ));
    };
    let parts = parts(automaton, (written, PortId::from(at)), (port, event), arguments)?;
    if !parts.contains(&Part::Line) {
        return Err(Failure::of_use(format!("`{text}` says nothing of a line"), form));
    }
    let credit = input(CREDIT).filter(|credit| port.inputs[*credit].params.is_empty());
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Ok(Saying { port: PortId::from(at), event: number(event), parts, credit: credit.map(number) })
}

/// The arguments of the event, as written.
fn parts(
    automaton: &Automaton,
    (written, id): (&Written, PortId),
    (port, event): (&Port, usize),
    text: &str,
) -> Result<Vec<Part>, Failure> {
    let input = &port.inputs[event];
    let groups = written.groups(PortEvent::input(id, input));
    let said: Vec<&str> = text.split(',').map(str::trim).filter(|said| !said.is_empty()).collect();
    let named = |(name, ty): &(String, Type)| {
        if *ty == Type::Msg {
            LINE.to_string()
        } else {
            mokume_reaction::border::plain_name(name)
        }
    };
    let wanted: Vec<String> = groups.iter().map(|group| named(&input.params[group.first])).collect();
    let whole = format!("{}.{}({})", port.name, input.event, wanted.join(", "));
    // Attributes at the end may be left out: then they are as declared.
    let known = input.params.len() - input.defaults.len().min(input.params.len());
    let least = groups.iter().take_while(|group| group.first < known).count();
    if said.len() < least || said.len() > groups.len() {
        return Err(Failure::of_use(
            format!("`{}` takes {} values", input.event, groups.len()),
            format!("write `{whole}`"),
        ));
    }
    let mut parts = Vec::new();
    let left_out = groups.iter().skip(said.len()).map(|group| group.first - known);
    let left_out: Vec<Part> =
        left_out.min().map_or(Vec::new(), |from| input.defaults[from..].iter().map(|word| Part::Word(*word)).collect());
    for (group, said) in groups.iter().zip(said) {
        let (name, ty) = &input.params[group.first];
        let wrong = |help: String| Failure::of_use(format!("`{said}` is no value for `{name}`"), help);
        match ty {
            Type::Msg if said == LINE => parts.push(Part::Line),
            Type::Msg => return Err(wrong(format!("a line goes there: `{whole}`"))),
            Type::Ref(_) => {
                return Err(wrong("a session is known only while the stack runs: take an event of flows".into()))
            }
            Type::Bool | Type::U(_) | Type::Seq(_) | Type::Enum(_) | Type::Reason | Type::Array(..) => {
                let words = settings::value(automaton, written, group.form, (*ty, said));
                let words = words.filter(|words| words.len() == group.count);
                let way = || settings::way_out(automaton, group.form, *ty);
                let words = words.ok_or_else(|| wrong(format!("{}; the whole is `{whole}`", way())))?;
                let width = u32::from(ty.width(automaton));
                if group.count == 1 && width < 64 && words.iter().any(|word| word >> width != 0) {
                    return Err(wrong(format!("it has {width} bits")));
                }
                parts.extend(words.into_iter().map(Part::Word));
            }
        }
    }
    parts.extend(left_out);
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use mokume_base::MemoryWorld;
    use mokume_semantics::program::StackId;

    use super::*;
    use crate::compile::{self, Compiled};

    const PROGRAM: &str = "type Address = u32 written dotted(8)\n\
        router Hosts {\n    header { to: Address }\n    address { host: Address }\n\
            on send(msg) to flow { below.send(msg, to: flow.remote.host) to flow() }\n\
            on deliver(msg, to) { above.deliver(msg) from flow(local: to, remote: to) }\n}\n\
        stack Host(device: Device) {\n    app = Hosts over device\n    export app\n}\n";

    fn compiled() -> Compiled {
        let world = MemoryWorld::new();
        let checked = compile::check_texts(&world, vec![("x.mok".into(), PROGRAM.into())], Vec::new());
        let (compiled, diagnostics) = compile::compile(&checked, StackId(0), &world);
        compiled.unwrap_or_else(|| panic!("{diagnostics:?}"))
    }

    #[test]
    fn an_event_is_read_as_tests_write_it() {
        let compiled = compiled();
        let saying = read(&compiled.composed, &compiled.written, " app.send_to(10.0.0.1, 10.0.0.2, line) ").unwrap();
        assert_eq!(saying.parts, [Part::Word(0x0a00_0001), Part::Word(0x0a00_0002), Part::Line]);
    }

    #[test]
    fn attributes_that_are_left_out_are_as_declared() {
        let program = "attribute level: u8 = 7\nattribute other: u8 = 5\n\
            worker W {\n    header { l: u8, o: u8 }\n    reads level, other\n    writes level, other\n\
                on send(msg) { below.send(msg, l: msg.level, o: msg.other) }\n\
                on deliver(msg, l, o) {\n        msg.level = l\n        msg.other = o\n        above.deliver(msg)\n    }\n}\n\
            stack S(device: Device) {\n    app = W over device\n    export app with level, other\n}\n";
        let world = MemoryWorld::new();
        let checked = compile::check_texts(&world, vec![("x.mok".into(), program.into())], Vec::new());
        let compiled = compile::compile(&checked, StackId(0), &world).0.expect("a right program");
        let parts = |text| read(&compiled.composed, &compiled.written, text).unwrap().parts;
        assert_eq!(parts("app.send_to(line)"), [Part::Line, Part::Word(7), Part::Word(5)]);
        assert_eq!(parts("app.send_to(line, 9)"), [Part::Line, Part::Word(9), Part::Word(5)]);
        assert!(read(&compiled.composed, &compiled.written, "app.send_to(line, 9, 9, 9)").is_err());
    }

    #[test]
    fn what_is_no_event_is_one_line_with_a_way_out() {
        let compiled = compiled();
        for (text, part) in [
            ("hello", "as a test writes"),
            ("app.send_to(1, 2, line", "as a test writes"),
            ("ap.send_to(1, 2, line)", "it has: "),
            ("app.sent(1, 2, line)", "these do: "),
            ("app.send_to(1, line)", "app.send_to(local_host, remote_host, line)"),
            ("app.send_to(1, 2, 3)", "a line goes there"),
            ("app.send_to(1, here, line)", "as in `10.0.0.1`; the whole is"),
            ("app.send_to(1, 0x100000000, line)", "32 bits"),
        ] {
            let failure = read(&compiled.composed, &compiled.written, text).unwrap_err();
            assert!(failure.exit_code() == 2 && failure.help.contains(part), "{text}: {failure}");
        }
    }
}
