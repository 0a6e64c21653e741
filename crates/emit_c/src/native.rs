//! Functions in C that a stack calls: their declarations, the calls, and a shared object of them for callers that are
//! not C.
//!
//! Keeps: a declaration is derived from the call alone, so the function's own text is its only other description. A
//! function has another name in the program than in its file, by which it can be neither the C library's nor another
//! stack's.

use std::collections::BTreeMap;

use mokume_reaction::*;

use crate::names::FUNCTIONS;
use crate::plan::Plan;
use crate::text::Text;
use crate::types::{c_type, declare};

/// The parameters and results of a function in C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    pub symbol: String,
    pub args: Vec<Type>,
    pub message: bool,
    pub result: Option<Type>,
}

/// The functions in C that an automaton calls, by name.
pub fn signatures(automaton: &Automaton) -> Vec<Signature> {
    let mut found = BTreeMap::new();
    for (_, body) in automaton.code() {
        for op in body.ops() {
            if let OpKind::Native { symbol, args, message, result, .. } = &op.kind {
                let args = args.iter().map(|arg| body.values[arg.index()].ty).collect();
                let signature = Signature { symbol: symbol.clone(), args, message: message.is_some(), result: *result };
                found.entry(symbol.clone()).or_insert(signature);
            }
        }
    }
    found.into_values().collect()
}

/// `bool mk_fn_seal(uint64_t, uint32_t, mk_native *)`
pub(crate) fn prototype(automaton: &Automaton, prefix: &str, signature: &Signature) -> String {
    let mut list: Vec<String> = signature.args.iter().map(|ty| c_type(automaton, *ty).to_string()).collect();
    if signature.message {
        list.push("mk_native *".into());
    }
    if list.is_empty() {
        list.push("void".into());
    }
    let result = signature.result.map_or("void", |ty| c_type(automaton, ty));
    declare(result, &format!("{prefix}{}({})", signature.symbol, list.join(", ")))
}

/// The declaration that the function must have, whatever its own file says.
pub fn declaration(automaton: &Automaton, prefix: &str, signature: &Signature) -> String {
    format!("extern {};\n", prototype(automaton, prefix, signature))
}

pub(crate) fn declare_all(plan: &Plan, text: &mut Text) {
    for signature in signatures(plan.automaton) {
        text.line(format!("{};", prototype(plan.automaton, &plan.functions, &signature)));
    }
}

/// Wrappers for the functions of a program, which take plain words: `mk_call_NAME(const uint64_t *, mk_native *)`.
pub(crate) fn shim(automaton: &Automaton, signatures: &[Signature]) -> String {
    let mut text = String::from("#include \"mk_native.h\"\n");
    for signature in signatures {
        let symbol = &signature.symbol;
        let args = signature.args.iter().enumerate();
        let mut list: Vec<String> =
            args.map(|(index, ty)| format!("({})words[{index}]", c_type(automaton, *ty))).collect();
        if signature.message {
            list.push("octets".into());
        }
        let call = format!("{FUNCTIONS}{symbol}({})", list.join(", "));
        let body = match signature.result {
            Some(_) => format!("return (uint64_t){call};"),
            None => format!("{call};\n    return 0;"),
        };
        text += &format!(
            "\nextern {};\nuint64_t mk_call_{symbol}(const uint64_t *words, mk_native *octets);\n\
             uint64_t mk_call_{symbol}(const uint64_t *words, mk_native *octets)\n\
             {{\n    (void)words;\n    (void)octets;\n    {body}\n}}\n",
            prototype(automaton, FUNCTIONS, signature)
        );
    }
    text
}
