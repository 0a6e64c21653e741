//! What a layer asks of its arguments: a report says what they are, of the part that is not met.

use mokume_base::SourceMap;
use mokume_semantics::{analyse_files, Loader};

struct Nothing;

impl Loader for Nothing {
    fn module(&mut self, _: &str) -> Option<Vec<(String, String)>> {
        None
    }
    fn file(&mut self, _: &str, _: &str) -> Option<(String, String)> {
        None
    }
    fn modules(&self) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn a_report_says_what_was_given() {
    let said = |above: &str| {
        let text = format!(
            "worker Window(depth: u32 = 8) {{ publish window: u32 = depth }}
worker Asks(turn: u32 = 2, every: Duration = 1 ms) {{
    where turn >= 1 and every > 0 ms and below.window > 3 * turn
    entity {{ timer again }}
    on send(msg) {{ if msg.size > turn {{ drop msg: big }} else {{ start again after every  below.send(msg) }} }}
    on expiry again {{ }}
}}
stack One(device: Device) {{
    app = {above} over device
    export app
}}"
        );
        let mut sources = SourceMap::default();
        let root = sources.add("one.mok", &text);
        let (_, found) = analyse_files(&mut sources, &[root], &mut Nothing);
        found.into_iter().map(|one| format!("{} {}", one.code.0, one.primary.unwrap().text)).collect::<Vec<_>>()
    };
    assert_eq!(said("Asks / Window"), Vec::<String>::new());
    assert_eq!(said("Asks(0) / Window"), ["M0565 `turn` is 0 here"]);
    assert_eq!(said("Asks(2, 0 ms) / Window"), ["M0565 `every` is 0 s here"]);
    assert_eq!(said("Asks(3) / Window(9)"), ["M0565 `turn` is 3, `below.window` is 9 here"]);
    assert_eq!(said("Asks(4294967295) / Window"), ["M0565 `turn` is 4294967295, `below.window` is 8 here"]);
    assert_eq!(said("Asks(3)"), Vec::<String>::new());
}
