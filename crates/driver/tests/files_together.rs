//! Files that are checked together and do not use each other mean what they mean alone.

use mokume_base::world::{MemoryWorld, World};
use mokume_driver::compile;

/// A layer asks for `keep` when a session is opened, of this type; a layer above gives it.
fn asking(layer: &str, ty: &str, value: &str) -> String {
    format!(
        "multiplexor Ports{layer} {{ key {{ port: u16 }} }}
worker {layer} {{
    session {{ const keep: {ty} = {value} from open  var kept: {ty} = {value} }}
    on open {{ kept = keep  pass }}
}}
endpoint Opens{layer} {{
    session {{ var n: u8 = 0 }}
    on start {{ below.open(remote.port: 3, keep: {value}) }}
    on deliver(msg) {{ drop msg: heard }}
}}
stack S{layer}(device: Device) {{
    opens = Opens{layer} / {layer} over ports
    ports = Ports{layer} over device
}}
"
    )
}

/// A key whose field has the name.
const KEYED: &str =
    "multiplexor Keyed { key { keep: u16 } }\nstack K(device: Device) { keyed = Keyed over device  export keyed }\n";

#[test]
fn what_a_layer_of_another_file_asks_for_changes_nothing() {
    let world = MemoryWorld::default();
    let files =
        [("a.mok", asking("Aye", "u16", "5")), ("b.mok", asking("Bee", "Duration", "5 s")), ("c.mok", KEYED.into())];
    for (name, text) in &files {
        world.write(name, text.as_bytes()).expect("memory takes it");
    }
    for order in [["a.mok", "b.mok", "c.mok"], ["c.mok", "b.mok", "a.mok"], ["b.mok", "c.mok", "a.mok"]] {
        let checked = compile::check(&world, &order.map(String::from)).expect("the files are there");
        let errors: Vec<_> = checked.diagnostics.iter().map(|found| &found.message).collect();
        assert!(!checked.has_errors(), "{order:?}: {errors:?}");
    }
}
