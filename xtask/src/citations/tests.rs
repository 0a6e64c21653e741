use super::*;

const LAW: &str =
    "## O. Order\n\n**O1. A channel.** Of two (O2).\n*Tests:* `tests/run/a.ra`, `crates/x/t.rs` `it_is`.\n\
                   **O2. In order.**\n*Tests:* `tests/run/a.ra` \"a title\".\n";

fn repository(files: &[(&str, &str)]) -> Repository {
    let always = [
        (page::LAW, LAW),
        ("docs/language.md", "## 7. Statements\n"),
        ("docs/decisions/0013-judge.md", ""),
        ("tests/run/a.ra", "; docs/semantics.md, O2\ntest \"a title\""),
        ("crates/x/t.rs", "fn it_is() {}"),
    ];
    let all = always.iter().chain(files);
    Repository::of(all.map(|(path, text)| (path.to_string(), text.to_string())).collect())
}

fn found(path: &str, text: &str) -> Vec<String> {
    faults(&repository(&[(path, text)]))
}

#[test]
fn what_is_there_is_no_fault() {
    let text = "/// Order (docs/semantics.md, O1 to O2), statements (docs/language.md,\n/// section 7), RFC 9293, section 3.1, \
                decision 0013.\n// See tests/run, crates/x/t.rs and docs/diagnostics/M….md.";
    assert_eq!(found("crates/x/a.rs", text), Vec::<String>::new());
}

#[test]
fn citations_that_lead_nowhere_are_found() {
    let planted = [
        ("// The order (the plan, section 2)", "`section 2)` of what? A page is cited by its path"),
        ("// (docs, section 6)", "`section 6)` of what? A page is cited by its path"),
        ("// See plan.md.", "`plan.md` is no page of the repository"),
        ("// docs/semantics.md, O1 and\n// O9: first", "`docs/semantics.md` has no O9"),
        ("// docs/semantics.md, Q", "`docs/semantics.md` has no Q"),
        ("// (docs/language.md, section 8)", "`docs/language.md` has no 8"),
        ("// figure X9", "figure X9 is not in the repository"),
        ("// decision 0099", "decision 0099 is not in docs/decisions"),
        ("let a = 1; // tests/run/b.ra", "`tests/run/b.ra` is not in the repository"),
    ];
    for (comment, fault) in planted {
        assert_eq!(found("crates/x/a.rs", comment), [format!("crates/x/a.rs:1: {fault}")], "{comment}");
    }
}

#[test]
fn comments_of_every_kind_of_file_are_read() {
    for (path, comment) in
        [("runtime/a.h", "/* One\n * docs/semantics.md, O9. */"), ("tests/run/b.ra", "; docs/semantics.md, O9: x")]
    {
        assert_eq!(found(path, comment).len(), 1, "{path}");
    }
    assert_eq!(found("crates/x/a.rs", "let path = \"docs/none.md\";"), Vec::<String>::new());
}

#[test]
fn rules_name_tests_that_there_are() {
    let planted = [
        ("it_is`", "it_was`", "docs/semantics.md, O1: `crates/x/t.rs` has no test it_was"),
        ("a title", "another", "docs/semantics.md, O2: `tests/run/a.ra` has no test another"),
        ("`tests/run/a.ra`,", "`tests/run/c.ra`,", "docs/semantics.md, O1: `tests/run/c.ra` is not in the repository"),
        ("(O2)", "(O7)", "docs/semantics.md, O1: there is no rule O7"),
        ("*Tests:* `tests/run/a.ra` \"a title\".\n", "", "docs/semantics.md, O2: no test is named"),
    ];
    for (from, to, fault) in planted {
        assert_eq!(faults(&repository(&[(page::LAW, &LAW.replace(from, to))])), [fault]);
    }
}

#[test]
fn paths_of_pages_that_lead_nowhere_are_found() {
    let found = |text: &str| pages::faults(&repository(&[("docs/page.md", text), ("docs/examples/a.c", "")]));
    assert_eq!(found("`tests/run/a.ra`, `x/t.rs`, `t.rs`, `examples/a.c`, `a / b`"), Vec::<String>::new());
    assert_eq!(found("```\n`tests/run/b.ra`\n```\n"), Vec::<String>::new(), "what is fenced is no prose");
    for planted in ["tests/run/b.ra", "crates/x/u.rs", "u.rs", "examples/b.c"] {
        assert_eq!(
            found(&format!("see\n`{planted}`")),
            [format!("docs/page.md:2: `{planted}` is not in the repository")]
        );
    }
}
