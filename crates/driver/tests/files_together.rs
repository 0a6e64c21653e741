//! Files that are checked together, and do not use each other, mean the same as alone.

use mokume_base::world::{MemoryWorld, RealWorld, World};
use mokume_driver::compile;

/// A layer that demands `keep`, of this type, when a session is opened; a layer above gives it.
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

/// A key with a field of this name.
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

const PLAIN: &str = "worker Plain { }\nstack S(device: Device) { app = Plain over device  export app }\n";

#[test]
fn a_file_is_read_once_whatever_leads_to_it() {
    let folder = std::env::temp_dir().join(format!("mokume-once-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("src/deep")).expect("folders");
    std::fs::write(folder.join("src/a.mok"), PLAIN).expect("a file");
    std::fs::write(folder.join("src/deep/b.mok"), PLAIN).expect("a file");
    // Links that lead back to their own folder, and beside it.
    std::os::unix::fs::symlink("..", folder.join("src/up")).expect("a link");
    std::os::unix::fs::symlink("deep", folder.join("src/same")).expect("a link");
    std::os::unix::fs::symlink("a.mok", folder.join("src/other.mok")).expect("a link");
    let name = |path: &str| folder.join(path).to_string_lossy().into_owned();
    let names = [name("src"), name("src/a.mok"), name("src/deep/../a.mok"), name("src/deep")];
    let files = compile::files_of(&RealWorld, &names).expect("they are there");
    let empty = compile::files_of(&RealWorld, &[name("src/up/src/none.mok")]).expect("it is told when it is read");
    std::fs::remove_dir_all(&folder).expect("it goes");
    assert_eq!(files, [name("src/a.mok"), name("src/deep/b.mok")]);
    assert_eq!(empty, [name("src/up/src/none.mok")]);
}

#[test]
fn a_library_that_is_not_there_is_told() {
    let world = MemoryWorld::default();
    let manifest = "[project]\nname = \"p\"\nlibrary = [\"mine\"]\n";
    world.write("p/Mokume.toml", manifest.as_bytes()).expect("memory takes it");
    world.write("p/a.mok", PLAIN.as_bytes()).expect("memory takes it");
    let failed = compile::check(&world, &["p/a.mok".to_string()]).err().expect("no such folder");
    assert!(failed.message.contains("`p/mine`"), "{failed}");
    world.write("p/mine/own/own.mok", b"worker Own { }").expect("memory takes it");
    assert!(compile::check(&world, &["p/a.mok".to_string()]).is_ok());
}

/// Whoever asks: the project, one that uses the module, a file of it, or its folder.
#[test]
fn files_of_a_module_see_one_another() {
    let modem = "worker Modem {
    header { speed: u8 }
    on send(msg) { below.send(msg, speed: SPEED) }
    on deliver(msg) { above.deliver(msg) }
}
";
    let world = MemoryWorld::new()
        .with_file("p/Mokume.toml", "[project]\nname = \"p\"\nsources = [\"src\", \"lib\"]\nlibrary = [\"lib\"]\n")
        .with_file("p/lib/radio/frames.mok", "const SPEED: u8 = 3\n")
        .with_file("p/lib/radio/modem.mok", modem)
        .with_file("p/lib/above/stack.mok", "use \"../radio/modem.mok\"\nbundle Twice = Modem / Modem\n")
        .with_file("p/src/a.mok", "use radio\nstack S(device: Device) { app = Modem over device  export app }\n");
    for names in [
        vec!["p/src", "p/lib"],
        vec!["p/src/a.mok"],
        vec!["p/lib/radio/modem.mok"],
        vec!["p/lib/radio"],
        vec!["p/lib"],
        vec!["p/lib/above/stack.mok"],
        vec!["p/src/a.mok", "p/lib/radio/modem.mok"],
    ] {
        let all: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let checked = compile::check(&world, &all).expect("the files are there");
        let errors: Vec<_> = checked.diagnostics.iter().map(|found| &found.message).collect();
        assert!(!checked.has_errors(), "{names:?}: {errors:?}");
    }
}

/// Two stacks share a layer: what is warned of at its line is told once.
#[test]
fn what_several_stacks_have_at_one_line_is_told_once() {
    let text = "multiplexor Ports { key { port: u8 } }
worker Notes {
    header { Data with message | Taken }
    session { var n: u8 = 0 }
    on send(msg) { below.send(msg, Data) }
    on deliver(msg, Data) {
        above.deliver(msg)
        below.send(Taken)
    }
    on deliver(Taken) { n += 1 }
}
endpoint Answers {
    session { var n: u8 = 0 }
    on start { below.listen(local.port: 7) }
    on deliver(msg) { below.send(msg) }
}
bundle Noted = Answers / Notes / Ports
stack One(device: Device) { app = Noted over device }
stack Two(device: Device) { app = Noted over device }
stack Three(device: Device) { deep = Noted over device }
";
    let world = MemoryWorld::new().with_file("a.mok", text);
    let checked = compile::check(&world, &["a.mok".to_string()]).expect("it is there");
    let found = mokume_driver::check::all(&checked, &world);
    let queued: Vec<_> = found.iter().filter(|found| found.code.0 == "M0903").collect();
    let [queued] = queued[..] else { panic!("one, not {found:?}") };
    let note = "in the stacks `One`, `Two` and `Three`; shown for `One`";
    assert!(queued.notes.iter().any(|known| known == note), "{queued:?}");
}

/// The default of a project is told as such, and is not meant for a file that has another network only.
#[test]
fn a_network_that_the_project_names_is_told_as_its_own() {
    let net = |name: &str| format!("network {name} {{\n    host a = S()\n    until 1 s\n}}\n");
    let (one, two) = (net("Lake"), [net("Lake"), net("Sea")].concat());
    let world = MemoryWorld::new()
        .with_file("p/Mokume.toml", "[project]\nname = \"p\"\n[defaults]\nnetwork = \"River\"\n")
        .with_file("p/one.mok", [PLAIN, &one].concat())
        .with_file("p/two.mok", [PLAIN, &two].concat());
    let chosen = |file: &str, name: Option<&str>| {
        let checked = compile::check(&world, &[file.to_string()]).expect("it is there");
        mokume_driver::sim::choose(&checked, name).map(|found| found.name.text.clone())
    };
    assert_eq!(chosen("p/one.mok", None).ok().as_deref(), Some("Lake"));
    let failed = chosen("p/two.mok", None).expect_err("none of them");
    assert_eq!(failed.message, "there is no network `River`, which Mokume.toml names as the default");
    let failed = chosen("p/two.mok", Some("Brook")).expect_err("none of them");
    assert_eq!(failed.message, "there is no network `Brook`");
}

/// Where one folder of a project's sources has no file yet, the others have.
#[test]
fn a_folder_of_sources_may_be_empty() {
    let world = MemoryWorld::new()
        .with_file("Mokume.toml", "[project]\nname = \"p\"\nsources = [\"later\", \"src\"]\n")
        .with_file("later/notes.txt", "")
        .with_file("src/a.mok", PLAIN);
    let checked = compile::check(&world, &[]).expect("there is a file");
    let names: Vec<&str> = checked.sources.files().map(|(_, file)| file.name.as_str()).collect();
    assert_eq!(names, ["src/a.mok"]);
    let none = MemoryWorld::new()
        .with_file("Mokume.toml", "[project]\nname = \"p\"\nsources = [\"later\"]\n")
        .with_file("later/notes.txt", "");
    assert!(compile::check(&none, &[]).is_err());
}
