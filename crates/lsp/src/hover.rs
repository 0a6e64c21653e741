//! Hover text for a name: its declaration without code, its type, its place in packets, and its documentation.

use mokume_base::Span;
use mokume_semantics::program::{Function, Handler, Local, Program, Type};
use mokume_semantics::types;
use mokume_syntax::ast::{self};
use mokume_syntax::{SyntaxKind, SyntaxNode};

use crate::analysis::Analysis;
use crate::names;
use crate::wires;

/// The most lines shown of a declaration.
const MOST_LINES: usize = 24;

/// The hover text, in Markdown, for what is declared at a place.
pub fn text(analysis: &Analysis, declared: Span) -> Option<String> {
    let node = declaring(analysis, declared)?;
    let source = &analysis.checked.sources.file(declared.file).text;
    let word = source.get(declared.start as usize..declared.end as usize)?;
    let program = &analysis.checked.program;
    let mut code = shown(&node);
    if let Some(ty) = type_of_local(program, declared) {
        code = format!("{word}: {}", types::show(program, ty));
    }
    let mut parts = vec![format!("```mokume\n{code}\n```")];
    parts.extend(places(analysis, declared));
    let docs = ast::doc_of(&node);
    parts.extend((!docs.is_empty()).then_some(docs));
    if let Some(within) = owner(&node) {
        parts.push(format!("of {within}"));
    }
    Some(parts.join("\n\n"))
}

/// The documentation of what is declared at a place.
pub fn docs(analysis: &Analysis, declared: Span) -> Option<String> {
    Some(ast::doc_of(&declaring(analysis, declared)?)).filter(|docs| !docs.is_empty())
}

/// The node that contains the declaration of a name.
fn declaring(analysis: &Analysis, declared: Span) -> Option<SyntaxNode> {
    let word = names::word(analysis, declared.file, declared.start)?;
    let mut node = word.token.parent()?;
    while matches!(node.kind(), SyntaxKind::NAME | SyntaxKind::PATH | SyntaxKind::NAME_EXPR) {
        node = node.parent()?;
    }
    Some(node)
}

/// The layer, record or other item around a declaration.
fn owner(node: &SyntaxNode) -> Option<String> {
    let around = node.ancestors().skip(1).find(|around| {
        use SyntaxKind as S;
        matches!(
            around.kind(),
            S::LAYER
                | S::PART
                | S::OBJECT
                | S::CONTAINER
                | S::RECORD
                | S::ENUM
                | S::WIRE
                | S::STACK
                | S::SERVICE
                | S::BUNDLE
        )
    })?;
    let head = head(&around.text().to_string());
    Some(format!("`{}`", head.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// A declaration as it is written, without its code.
fn shown(node: &SyntaxNode) -> String {
    use SyntaxKind as S;
    let text = without_comments(node);
    match node.kind() {
        S::LAYER | S::PART => {
            let members = node.children().filter(|member| {
                matches!(
                    member.kind(),
                    S::HEADER
                        | S::KEY
                        | S::ADDRESS
                        | S::SERVES
                        | S::USES
                        | S::READS
                        | S::WRITES
                        | S::NEEDS
                        | S::GIVES
                        | S::SPEAKS
                        | S::PUBLISH
                        | S::LIMIT
                        | S::WHERE
                )
            });
            let lines: Vec<String> =
                members.map(|member| format!("    {}", without_comments(&member).replace('\n', "\n    "))).collect();
            match lines.is_empty() {
                true => head(&text),
                false => format!("{} {{\n{}\n}}", head(&text), cut(&lines.join("\n"))),
            }
        }
        S::FUNCTION | S::HANDLER | S::STACK | S::NETWORK | S::OBJECT | S::CONTAINER | S::SUITE | S::TEST => head(&text),
        _ => cut(&text),
    }
}

/// A node's text without the comments before it, and without its indentation.
fn without_comments(node: &SyntaxNode) -> String {
    let text = node.text().to_string();
    let lines: Vec<&str> = text.lines().collect();
    let first =
        lines.iter().position(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//")).unwrap_or(0);
    let rest = &lines[first.min(lines.len())..];
    let blanks = |line: &&&str| line.len() - line.trim_start().len();
    let last = rest.iter().skip(1).filter(|line| !line.trim().is_empty()).map(|line| blanks(&line)).min().unwrap_or(0);
    let shift = |(at, line): (usize, &&str)| match at {
        0 => line.trim_start().to_string(),
        _ => line.get(last..).unwrap_or(line.trim_start()).to_string(),
    };
    rest.iter().enumerate().map(shift).collect::<Vec<_>>().join("\n").trim_end().to_string()
}

/// The text before the code.
fn head(text: &str) -> String {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty() || line.trim_start().starts_with("//"));
    let mut head = String::new();
    for line in lines.by_ref() {
        head.push_str(line.split('{').next().unwrap_or(line));
        if line.contains('{') {
            break;
        }
        head.push('\n');
    }
    head.trim().to_string()
}

fn cut(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    match lines.len() > MOST_LINES {
        true => format!("{}\n…", lines[..MOST_LINES].join("\n")),
        false => text.to_string(),
    }
}

/// Where a field of a header or wire is in packets, a line for each wire.
fn places(analysis: &Analysis, declared: Span) -> Option<String> {
    let program = &analysis.checked.program;
    let carried = names::uses(analysis, &[declared]);
    let all = wires::placed(program);
    let is_it = |placed: &&wires::Placed| {
        placed.name == declared || placed.carries.is_some_and(|carries| carried.contains(&carries))
    };
    let mut lines: Vec<String> = all.iter().filter(is_it).map(wires::Placed::show).collect();
    lines.dedup();
    (!lines.is_empty()).then(|| lines.join("  \n"))
}

/// The type of the local that is bound at a place.
pub fn type_of_local(program: &Program, declared: Span) -> Option<Type> {
    let of_handler = |handler: &Handler| local_at(&handler.locals, declared);
    let of_function = |function: &Function| local_at(&function.locals, declared);
    let of_layers = program.layers.iter().find_map(|layer| {
        layer.handlers.iter().find_map(of_handler).or_else(|| layer.functions.iter().find_map(of_function))
    });
    of_layers.or_else(|| program.functions.iter().find_map(of_function))
}

fn local_at(locals: &[Local], declared: Span) -> Option<Type> {
    let local = locals.iter().find(|local| local.name.span == declared)?;
    (local.ty != Type::Unknown).then_some(local.ty)
}
