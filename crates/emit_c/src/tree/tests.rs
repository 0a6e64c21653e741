//! What the passes do, on trees by hand.

use super::*;

fn text(function: Routine) -> String {
    function.write().body.finish()
}

fn unnamed(function: &mut Routine, value: Expr) -> Expr {
    let local = function.local("", "uint32_t");
    function.body.push(Stmt::Let(local, value));
    Expr::Local(local)
}

#[test]
fn what_is_used_once_stands_where_it_is_used_unless_something_comes_between() {
    let mut function = Routine::default();
    let read = unnamed(&mut function, of_instance("count"));
    let other = unnamed(&mut function, of_instance("other"));
    function.body.push(set(of_instance("sum"), read.infix(Infix::Add, Expr::Number(1))));
    function.body.push(set(of_instance("last"), other));
    let expected = "    uint32_t value = k->other;\n    k->sum = k->count + 1;\n    k->last = value;\n";
    assert_eq!(text(function), expected);
}

#[test]
fn what_acts_keeps_its_order() {
    let mut function = Routine::default();
    let first = unnamed(&mut function, acts("first", []));
    let second = unnamed(&mut function, acts("second", []));
    function.body.push(Stmt::Do(acts("both", [first, second])));
    let expected = "    (void)k;\n    uint32_t value = first();\n    both(value, second());\n";
    assert_eq!(text(function), expected);
}

/// It was a variable that is never read, which compilers warn about.
#[test]
fn what_acts_and_gives_what_nobody_asks_for_is_no_variable() {
    let mut function = Routine::default();
    let popped = unnamed(&mut function, acts("pop", [instance()]));
    let sum = unnamed(&mut function, acts("sum", [instance()]).infix(Infix::Add, Expr::Number(1)));
    unnamed(&mut function, popped.arrow("x"));
    unnamed(&mut function, sum.infix(Infix::Add, Expr::Number(1)));
    let expected = "    pop(k);\n    uint32_t value = sum(k) + 1;\n    (void)value;\n";
    assert_eq!(text(function), expected);
}

/// Two ways set it, but the value is not used after them.
#[test]
fn what_is_set_and_never_read_is_no_variable() {
    let mut function = Routine::default();
    let most = function.local("most", "uint32_t");
    let condition = of_instance("wide").infix(Infix::Ne, Expr::Number(0));
    let (then, otherwise) =
        (vec![set(most, of_instance("x"))], vec![set(of_instance("y"), Expr::Number(1)), set(most, Expr::Number(5))]);
    function.body = vec![
        Stmt::If { condition: condition.clone(), then, otherwise },
        Stmt::If { condition, then: vec![set(most, Expr::Number(1))], otherwise: Lines::new() },
    ];
    assert_eq!(text(function), "    if (k->wide == 0)\n        k->y = 1;\n");
}

#[test]
fn a_way_that_leaves_stands_in_front_and_dead_labels_are_gone() {
    let mut function = Routine::default();
    let end = function.label("end");
    let refused = vec![Stmt::Do(acts("drop", [instance()])), Stmt::Return(None)];
    let accepted = vec![Stmt::Do(acts("take", [instance()])), Stmt::Do(acts("note", [instance()])), Stmt::Goto(end)];
    let condition = of_instance("room").infix(Infix::Gt, Expr::Number(0));
    function.body = vec![
        Stmt::If { condition, then: accepted, otherwise: refused },
        Stmt::Label(end),
        Stmt::Do(acts("done", [instance()])),
        Stmt::Return(None),
    ];
    let expected =
        "    if (k->room <= 0) {\n        drop(k);\n        return;\n    }\n    take(k);\n    note(k);\n    done(k);\n";
    assert_eq!(text(function), expected);
}

#[test]
fn a_way_back_is_a_loop_and_a_variable_is_declared_around_its_uses() {
    let mut function = Routine::default();
    let (head, at) = (function.label("loop"), function.local("at", "uint32_t"));
    let again = vec![
        Stmt::Do(acts("step", [instance(), at.into()])),
        set(at, Expr::Local(at).infix(Infix::Add, Expr::Number(1))),
        Stmt::Goto(head),
    ];
    let condition = Expr::Local(at).infix(Infix::Lt, Expr::Number(8));
    function.body = vec![
        set(at, Expr::Number(0)),
        Stmt::Goto(head),
        Stmt::Label(head),
        Stmt::If { condition, then: again, otherwise: Lines::new() },
    ];
    let expected = "    uint32_t at = 0;\n    while (at < 8) {\n        step(k, at);\n        at = at + 1;\n    }\n";
    assert_eq!(text(function), expected);
}

#[test]
fn two_ways_to_a_value_are_a_choice() {
    let mut function = Routine::default();
    let most = function.local("most", "uint32_t");
    let condition = of_instance("wide").infix(Infix::Ne, Expr::Number(0));
    let (then, otherwise) = (vec![set(most, Expr::Number(9))], vec![set(most, Expr::Number(5))]);
    function.body = vec![Stmt::If { condition, then, otherwise }];
    for part in ["first", "second"] {
        function.body.push(Stmt::Do(acts(part, [instance(), most.into()])));
    }
    let expected = "    uint32_t most = k->wide != 0 ? 9 : 5;\n    first(k, most);\n    second(k, most);\n";
    assert_eq!(text(function), expected);
}

#[test]
fn names_are_free_again_behind_their_scope() {
    let mut function = Routine::default();
    for part in ["one", "two"] {
        let local = function.local("user", "uint32_t");
        let then = vec![
            Stmt::Let(local, acts(part, [instance()])),
            Stmt::Do(acts("see", [local.into()])),
            Stmt::Do(acts("keep", [local.into()])),
        ];
        function.body.push(Stmt::If { condition: of_instance(part), then, otherwise: Lines::new() });
    }
    assert_eq!(text(function).matches("uint32_t user = ").count(), 2);
}

#[test]
fn parentheses_stand_where_c_or_its_compilers_ask_for_them() {
    let (a, b, c) = (|| word("a"), || word("b"), || word("c"));
    let sum = || a().infix(Infix::Add, b());
    for (tree, expected) in [
        (sum().infix(Infix::Mul, c()), "(a + b) * c"),
        (sum().infix(Infix::Sub, c()), "a + b - c"),
        (a().infix(Infix::Sub, b().infix(Infix::Sub, c())), "a - (b - c)"),
        (sum().infix(Infix::BitAnd, c()), "(a + b) & c"),
        (a().infix(Infix::And, b()).infix(Infix::Or, c()), "(a && b) || c"),
        (sum().infix(Infix::Lt, c()).infix(Infix::And, a()), "a + b < c && a"),
        (sum().cast("uint8_t"), "(uint8_t)(a + b)"),
        (a().address().arrow("b"), "a.b"),
        (a().infix(Infix::Lt, b()).negated(), "a >= b"),
        (conditional(a(), b(), c()).infix(Infix::Eq, a()), "(a ? b : c) == a"),
    ] {
        assert_eq!(expression(&tree), expected);
    }
}
