//! The bodies of pure functions.

use mokume_base::Diagnostic;

use crate::program::*;
use crate::resolve::body::Body;
use crate::resolve::context::Context;
use crate::resolve::items::externs;
use crate::resolve::stmt::function;
use crate::{codes, lost};

/// Resolves the bodies of pure functions.
pub fn bodies(cx: &mut Context) {
    let trees = cx.trees.clone();
    for (index, (file, item)) in trees.functions.iter().enumerate() {
        let head = cx.program.functions[index].clone();
        if head.native.is_some() {
            externs::model(cx, *file, index, item);
            continue;
        }
        for param in head.params.iter().filter(|param| param.ty == Type::Message) {
            let text = "a function of a file works on values, not on messages";
            let diagnostic = Diagnostic::error(codes::MESSAGE_STORED, text).at(param.name.span, "a message");
            let effects = lost::within(head.name.span, "effects");
            cx.report(diagnostic.help("write the function within the layer").loses(effects));
        }
        if head.refuses {
            let text = "a function of a file gives a value always: it has nothing that it could give back";
            let diagnostic = Diagnostic::error(codes::REFUSAL_MISPLACED, text).at(head.name.span, "says `or refuse`");
            cx.report(
                diagnostic
                    .help("write the function within the layer")
                    .help("or let it give what says that there is none, as an enum with data does: `enum Half: u8 { None, Some(of: u32) }`")
                    .loses(lost::refusals()),
            );
        }
        let (locals, _, body) = cx.settled(|cx| function::body(Body::of_function(cx, *file, None, &head), item, &head));
        cx.program.functions[index].locals = locals;
        cx.program.functions[index].body = body;
    }
}
