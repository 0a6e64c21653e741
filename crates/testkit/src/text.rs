//! The text form of run tests. It follows an automaton's text in the same file:
//!
//! ```text
//! test "stale is dropped" {
//!   seed 7   param limit = 3
//!   => app.ready()                           ; what the start handlers put out
//!   app.open(1)  => app.opened(1, ?s)        ; `?s` remembers the handle, `_` is anything
//!   app.send(s, "ab")  => dev.frame(0x00000000 01000000 "ab")
//!   after 20ms  => dev.frame(0x01) at 10ms   reports overflow
//!   dropped layer.stale 1   held 0   counter seq.S.sent 2
//! }
//! ```
//!
//! Several outputs after one `=>` are separated by commas. Totals, `reports` and `refused` belong to the step before
//! them.

use std::fmt;

use mokume_reaction::{Automaton, Report, Type};
use mokume_script::*;

use crate::lex::{tokens, Lexed, Token};

/// Why a text is not a run test, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    pub line: u32,
    pub reason: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

type Parsed<T> = Result<T, ParseError>;

/// The file's automaton, its tests, and the line on which the tests begin. The tests begin at the first line that
/// starts with `test "`.
pub fn split(file: &str) -> (&str, &str, u32) {
    let mut at = 0;
    for (number, line) in file.split_inclusive('\n').enumerate() {
        if line.starts_with("test \"") {
            return (&file[..at], &file[at..], number as u32 + 1);
        }
        at += line.len();
    }
    (file, "", 0)
}

/// Parses the tests of a text whose first line is `first_line`; names and types are those of the automaton.
pub fn parse(automaton: &Automaton, text: &str, first_line: u32) -> Parsed<Vec<Script>> {
    let tokens = tokens(text, first_line).map_err(|(line, reason)| ParseError { line, reason })?;
    let mut parser = Parser { automaton, tokens, at: 0 };
    let mut scripts = Vec::new();
    while parser.at < parser.tokens.len() {
        scripts.push(parser.script()?);
    }
    Ok(scripts)
}

struct Parser<'a> {
    automaton: &'a Automaton,
    tokens: Vec<Lexed>,
    at: usize,
}

impl Parser<'_> {
    fn script(&mut self) -> Parsed<Script> {
        let line = self.line();
        self.word("test")?;
        let Some(Token::Text(name)) = self.next() else { return self.refuse("a test's name is a text in `\"`") };
        let mut script = Script { name: String::from_utf8_lossy(&name).into_owned(), line, ..Script::default() };
        self.sign("{")?;
        while !self.takes("}") {
            self.item(&mut script)?;
        }
        Ok(script)
    }

    fn item(&mut self, script: &mut Script) -> Parsed<()> {
        let line = self.line();
        let expect = script.steps.last_mut().map_or(&mut script.start, |step| &mut step.expect);
        if self.takes("=>") {
            expect.outputs.push(self.output()?);
            while self.takes(",") {
                expect.outputs.push(self.output()?);
            }
            return Ok(());
        }
        let name = self.name("a step, `=>`, a total or `}`")?;
        match name.as_str() {
            "seed" => script.seed = self.number()?,
            "param" => {
                let name = self.name("a parameter's name")?;
                self.sign("=")?;
                let Some(param) = self.automaton.params.iter().find(|param| param.name == name) else {
                    return self.refuse(&format!("the stack has no parameter `{name}`"));
                };
                let value = self.scalar(param.ty)?;
                script.params.push((name, value));
            }
            "after" => {
                let action = Action::After(self.number()?);
                script.steps.push(Step { action, expect: Expect::default(), line });
            }
            "refused" if !self.at_number() => expect.refused = true,
            "reports" => expect.reports.push(self.report()?),
            _ if name.contains('.') && self.peek() == Some(&Token::Sign("(")) => {
                let action = self.input(&name)?;
                script.steps.push(Step { action, expect: Expect::default(), line });
            }
            _ => {
                let what = self.counted(&name)?;
                let total = self.number()?;
                expect.counts.push(Count { what, total });
            }
        }
        Ok(())
    }

    fn counted(&mut self, word: &str) -> Parsed<Counted> {
        Ok(match word {
            "dropped" => Counted::Dropped(self.name("a reason")?),
            "consumed" => Counted::Consumed(self.name("a reason")?),
            "counter" => Counted::Counter(self.name("`class.cell`")?),
            "gone" => Counted::Gone,
            "held" => Counted::Held,
            "received" => Counted::Received,
            "delivered" => Counted::Delivered,
            "merged" => Counted::Merged,
            "refused" => Counted::Refused,
            other => return self.refuse(&format!("`{other}` is neither a step nor a total")),
        })
    }

    fn report(&mut self) -> Parsed<Report> {
        let name = self.name("a report")?;
        match Report::named(&name) {
            Some(report) => Ok(report),
            None => self.refuse("a report is one of overflow, division, bounds, misuse, narrow"),
        }
    }

    fn input(&mut self, name: &str) -> Parsed<Action> {
        let (port, event) = self.event_name(name)?;
        let inputs = self.automaton.ports.iter().filter(|p| p.name == port).flat_map(|p| &p.inputs);
        let Some(input) = inputs.into_iter().find(|input| input.event == event) else {
            return self.refuse(&format!("the stack has no input `{name}`"));
        };
        let args = self.args(&input.params)?;
        Ok(Action::Input { port, event, args })
    }

    fn output(&mut self) -> Parsed<ExpectedOutput> {
        let name = self.name("an output")?;
        let (port, event) = self.event_name(&name)?;
        let outputs = self.automaton.ports.iter().filter(|p| p.name == port).flat_map(|p| &p.outputs);
        let Some(output) = outputs.into_iter().find(|output| output.event == event) else {
            return self.refuse(&format!("the stack has no output `{name}`"));
        };
        let args = self.args(&output.params)?;
        let at = if self.takes_word("at") { Some(self.number()?) } else { None };
        Ok(ExpectedOutput { port, event, args, at })
    }

    fn event_name(&self, name: &str) -> Parsed<(String, String)> {
        match name.rsplit_once('.') {
            Some((port, event)) => Ok((port.to_string(), event.to_string())),
            None => self.refuse(&format!("`{name}` is no event: write `port.event(…)`")),
        }
    }

    fn args(&mut self, params: &[(String, Type)]) -> Parsed<Vec<Arg>> {
        self.sign("(")?;
        let mut args = Vec::new();
        for (place, (_, ty)) in params.iter().enumerate() {
            if place > 0 {
                self.sign(",")?;
            }
            args.push(self.arg(*ty)?);
        }
        self.sign(")")?;
        Ok(args)
    }

    fn arg(&mut self, ty: Type) -> Parsed<Arg> {
        if self.takes("_") {
            return Ok(Arg::Any);
        }
        if self.takes("?") {
            return Ok(Arg::Bind(self.name("a name to remember by")?));
        }
        match ty {
            Type::Msg => self.octets(),
            Type::Ref(_) if self.takes_word("null") => Ok(Arg::Null),
            Type::Ref(_) => Ok(Arg::Name(self.name("a remembered handle or `null`")?)),
            scalar => match self.remembered(scalar) {
                Some(name) => Ok(Arg::Name(name)),
                None => Ok(Arg::Word(self.scalar(scalar)?)),
            },
        }
    }

    /// A name that is not a constant of the type stands for a value remembered by `?name`.
    fn remembered(&mut self, ty: Type) -> Option<String> {
        let Some(Token::Name(name)) = self.peek() else { return None };
        let name = name.clone();
        if self.constant(ty, &name).is_some() {
            return None;
        }
        self.at += 1;
        Some(name)
    }

    fn constant(&self, ty: Type, name: &str) -> Option<u64> {
        match ty {
            Type::Bool if name == "true" => Some(1),
            Type::Bool if name == "false" => Some(0),
            Type::Enum(id) => {
                let names = &self.automaton.enums[id.index()].names;
                names.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
            }
            Type::Reason => self.automaton.reasons.iter().position(|reason| reason.name == name).map(|at| at as u64),
            _ => None,
        }
    }

    fn scalar(&mut self, ty: Type) -> Parsed<u64> {
        if let Some(Token::Name(name)) = self.peek() {
            let Some(value) = self.constant(ty, name) else {
                let reason = format!("`{name}` is no value of this type");
                return self.refuse(&reason);
            };
            self.at += 1;
            return Ok(value);
        }
        self.number()
    }

    /// Strings and hexadecimal octets, concatenated.
    fn octets(&mut self) -> Parsed<Arg> {
        let mut octets = Vec::new();
        let start = self.at;
        loop {
            match self.peek() {
                Some(Token::Text(text)) => octets.extend(text),
                Some(Token::Number { text, .. }) | Some(Token::Name(text)) => match hex(text) {
                    Some(more) => octets.extend(more),
                    None => return self.refuse(&format!("`{text}` is neither a text nor whole hexadecimal octets")),
                },
                _ if self.at == start => return self.refuse("a message is texts and octets, such as `0x0001 \"ab\"`"),
                _ => return Ok(Arg::Octets(octets)),
            }
            self.at += 1;
        }
    }

    fn number(&mut self) -> Parsed<u64> {
        match self.next() {
            Some(Token::Number { value: Some(value), .. }) => Ok(value),
            _ => {
                self.at -= 1;
                self.refuse("a number is missing here, or it is beyond 64 bits")
            }
        }
    }

    fn at_number(&self) -> bool {
        matches!(self.peek(), Some(Token::Number { .. }))
    }

    fn name(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => self.refuse(&format!("{what} is missing here")),
        }
    }

    fn word(&mut self, wanted: &str) -> Parsed<()> {
        if self.takes_word(wanted) {
            return Ok(());
        }
        self.refuse(&format!("`{wanted}` is missing here"))
    }

    fn takes_word(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(name)) if name == wanted);
        self.at += usize::from(found);
        found
    }

    fn sign(&mut self, wanted: &str) -> Parsed<()> {
        if self.takes(wanted) {
            return Ok(());
        }
        self.refuse(&format!("`{wanted}` is missing here"))
    }

    fn takes(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(sign)) if *sign == wanted);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|lexed| &lexed.token)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.at += 1;
        token
    }

    fn line(&self) -> u32 {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.get(self.at.min(last)).map_or(0, |lexed| lexed.line)
    }

    fn refuse<T>(&self, reason: &str) -> Parsed<T> {
        Err(ParseError { line: self.line(), reason: reason.to_string() })
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    if text.is_empty() || !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
