//! Pictures: stacks and runs.

use mokume_draw::Chart;
use mokume_draw::Limit;
use mokume_draw::Stack;
use mokume_reaction::Automaton;

/// The stack as SVG, or as DOT.
pub fn picture(automaton: &Automaton, dot: bool) -> String {
    let stack = Stack::of(automaton, &[]);
    if dot {
        mokume_draw::stack_dot(&stack)
    } else {
        mokume_draw::stack_svg(&stack)
    }
}

/// A sequence chart as SVG, or as text.
pub fn chart(chart: &Chart, text: bool) -> String {
    if text {
        mokume_draw::chart_text(chart, Limit::default())
    } else {
        mokume_draw::chart_svg(chart, Limit::default())
    }
}
