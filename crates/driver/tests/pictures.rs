//! Pictures of stacks and headers from source, and the same facts as a document.

use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_driver::compile;
use mokume_driver::graph::{document, picture_of, Form, Subject};
use mokume_semantics::program::StackId;

fn both(file: &str, what: Subject, form: Form) -> (String, serde_json::Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let checked = compile::check(&RealWorld, &[file.to_string_lossy().into_owned()]).unwrap();
    let (compiled, _) = compile::compile(&checked, StackId(0), &RealWorld);
    let automaton = compiled.expect("it compiles").uncomposed;
    (picture_of(&automaton, &checked.program, what, form), document(&automaton, &checked.program, what))
}

#[test]
fn a_stack_shows_shapes_and_signatures_and_says_the_same_as_json() {
    let (svg, json) = both("tests/library/checks.mok", Subject::Stack, Form::Svg);
    let layers: Vec<&serde_json::Value> =
        json["nodes"].as_array().unwrap().iter().filter(|node| node["kind"] == "layer").collect();
    assert!(layers.iter().any(|node| node["notes"] == serde_json::json!(["needs exact"])), "{json}");
    assert!(layers.iter().all(|node| !node["shape"].as_str().unwrap().is_empty()));
    for node in layers {
        assert!(svg.contains(&format!(">{}</text>", node["name"].as_str().unwrap())));
        assert!(svg.contains(&format!(">{}</text>", node["shape"].as_str().unwrap())));
    }
    // A port with its layer's name has no label.
    assert_eq!(svg.matches("needs exact").count(), json.to_string().matches("needs exact").count());
    let ports = json["nodes"].as_array().unwrap().iter().filter(|node| node["kind"] != "layer");
    assert!(ports.into_iter().all(|node| node["notes"] == serde_json::json!([])));
}

#[test]
fn headers_are_text_and_a_document() {
    let (text, json) = both("tests/program/compressed.mok", Subject::Headers, Form::Text);
    assert!(text.contains("if path is 0: app.urgent = 0, app.level = 3"), "{text}");
    assert!(text.contains("|  lane   |pad|              seq              |"), "{text}");
    let arm = &json["wires"][0]["parts"][1];
    assert_eq!(arm["when"], "if path is 0: app.urgent = 0, app.level = 3");
    assert_eq!(arm["fields"][0], serde_json::json!({ "name": "lane", "bit": 1, "bits": 5, "holds": "app.lane" }));
}
