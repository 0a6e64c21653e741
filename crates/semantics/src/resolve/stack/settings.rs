//! The settings of a whole stack: `outputs`, `sessions`, `tick`, `mtu`, `order`.

use mokume_base::{FileId, Span};
use mokume_syntax::ast::{self, AstNode};

use crate::program::*;
use crate::resolve::context::Context;
use crate::resolve::expr::fixed;
use crate::{codes, tree};

/// The largest number in a stack: of objects, of outputs of a reaction.
const MOST: u64 = 1 << 20;

/// The longest tick; no protocol's timer is rounded by more.
const LONGEST_TICK: u64 = 60_000_000_000;

/// Resolves the settings; each may occur once, except `order`.
pub(super) fn read(cx: &mut Context, file: FileId, item: &ast::Stack, stack: &mut Stack) {
    let mut said: Vec<(String, Span)> = Vec::new();
    for member in item.members() {
        let ast::StackMember::Setting(setting) = member else { continue };
        let (word, span) = (setting.word(), setting.span(file));
        if let Some((_, first)) = said.iter().find(|(known, _)| word != "order" && *known == word) {
            cx.given_twice(&format!("`{word}`"), span, *first);
            continue;
        }
        match word.as_str() {
            "outputs" => stack.outputs = number(cx, file, &setting, span, MOST).map_or(0, |it| it as u32),
            "sessions" => {
                stack.sessions = number(cx, file, &setting, span, MOST).map_or(stack.sessions, |it| it as u32);
                stack.says_sessions = true;
            }
            "tick" => stack.tick = number(cx, file, &setting, span, LONGEST_TICK).unwrap_or(0),
            "mtu" => stack.mtu = mtu(cx, file, &setting, span),
            _ => order(cx, file, &setting, span, stack),
        }
        said.push((word, span));
    }
}

/// `mtu 576 .. 1514`: both ends are included.
fn mtu(cx: &mut Context, file: FileId, setting: &ast::StackSetting, span: Span) -> Option<(u32, u32)> {
    let ends = match setting.value()? {
        ast::Expr::Range(range) => {
            [range.from()?, range.to()?].map(|end| fixed::number(cx, file, &end, Type::UInt(32)))
        }
        both => [fixed::number(cx, file, &both, Type::UInt(32)); 2],
    };
    let (least, most) = (ends[0]?, ends[1]?);
    if least == 0 || least > most {
        let text = "`mtu` is from 1 octet on, the smaller number first";
        cx.error(codes::SETTING, text, span, "this is not", "write `mtu 576 .. 1514`, or `mtu 1514`");
        return None;
    }
    Some((least as u32, most as u32))
}

/// A number from 1 to `most`; reports others.
fn number(cx: &mut Context, file: FileId, setting: &ast::StackSetting, span: Span, most: u64) -> Option<u64> {
    let word = setting.word();
    let ty = if word == "tick" { Type::Duration } else { Type::UInt(32) };
    let value = fixed::number(cx, file, &setting.value()?, ty)?;
    if (1..=most).contains(&value) {
        return Some(value);
    }
    let (most, example) = match ty {
        Type::Duration => ("1 min".to_string(), "tick 1 ms".to_string()),
        _ => (most.to_string(), format!("{word} 64")),
    };
    let text = format!("`{word}` is from 1 to {most}");
    cx.error(codes::SETTING, text, span, "this is not", &format!("write `{example}`"));
    None
}

/// At least two ports of the stack; each port may be in one order only.
fn order(cx: &mut Context, file: FileId, setting: &ast::StackSetting, span: Span, stack: &mut Stack) {
    let names: Vec<Name> = setting.names().iter().map(|name| tree::name(file, name)).collect();
    let mut together: Vec<Name> = Vec::new();
    for name in names {
        let is_port = stack.exports.iter().chain(&stack.devices).any(|port| port.text == name.text);
        let before = stack.order.iter().flatten().chain(&together).any(|one| one.text == name.text);
        if !is_port {
            let ports: Vec<&str> = stack.exports.iter().chain(&stack.devices).map(|port| port.text.as_str()).collect();
            let text = format!("this stack has no port `{}`", name.text);
            let help = format!("its ports are what it exports, and its devices: {}", ports.join(", "));
            cx.error(codes::SETTING, text, name.span, "no port", &help);
        } else if before {
            let text = format!("port `{}` has an order already", name.text);
            cx.error(codes::SETTING, text, name.span, "again here", "name each port once");
        } else {
            together.push(name);
        }
    }
    if together.len() == 1 && setting.names().len() == 1 {
        cx.error(codes::SETTING, "one port has its order by itself", span, "of one", "name two, or leave it out");
    }
    stack.order.push(together);
}
