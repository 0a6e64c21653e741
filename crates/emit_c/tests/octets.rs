//! A C compiler compares `object_octets` with the records themselves.

use crate::common;
use std::path::{Path, PathBuf};
use std::process::Command;

use mokume_emit_c::{class_octets, emit, object_octets, record_octets, Options, RUNTIME};
use mokume_reaction::{Automaton, Class, ClassId};

/// What an object may have beside its cells: arrays of the instance, named after its class.
const BESIDE: [&str; 5] = ["objects", "settling", "kin", "ages", "streams"];
/// What a class may have besides.
const APART: [&str; 3] = ["families", "free", "ended"];

/// The stack in C, with an assertion for each class; `more` is added to the asserted size of each record.
fn with_assertions(automaton: &Automaton, more: u64) -> String {
    let mut text = emit(automaton, &Options::default()).expect("C").source;
    let record = |line: &str| Some(line.trim().strip_prefix("mk_object ")?.split_once("_objects[")?.0.to_owned());
    let records: Vec<String> = text.lines().filter_map(record).collect();
    assert_eq!(records.len(), automaton.classes.len());
    let stack = text.split("struct ").find(|part| part.contains("\n    mk_core core;")).expect("the instance");
    let stack = stack.split_whitespace().next().expect("its name").to_owned();
    let declared = |name: &str, array: &str| text.contains(&format!(" {name}_{array}["));
    let mut assertions = String::new();
    let (objects, classes) = (object_octets(automaton), class_octets(automaton));
    for (at, name) in records.iter().enumerate() {
        let class = ClassId::from(at);
        let octets = record_octets(automaton, class) + more;
        let beside = objects[at] + more - octets;
        let is_child = |child: &(&Class, &String)| child.0.parent == Some(class) && declared(child.1, "kin");
        let children = automaton.classes.iter().zip(&records).filter(is_child).count();
        let items = BESIDE.iter().filter(|array| declared(name, array));
        let items: String = items.map(|array| format!(" + sizeof(((struct {stack} *)0)->{name}_{array}[0])")).collect();
        assertions += &format!("_Static_assert(sizeof(struct {name}) == {octets}, \"{name}\");\n");
        assertions +=
            &format!("_Static_assert({children} * sizeof(mk_family){items} == {beside}, \"beside {name}\");\n");
        let arrays = BESIDE.iter().chain(&APART).filter(|array| declared(name, array));
        let arrays: String = arrays.map(|array| format!(" + sizeof(((struct {stack} *)0)->{name}_{array})")).collect();
        let whole = classes[at] + more;
        let records = format!("sizeof(((struct {stack} *)0)->{name})");
        assertions += &format!("_Static_assert({records}{arrays} == {whole}, \"all of {name}\");\n");
    }
    text += &assertions;
    text
}

fn compiles(folder: &Path, header: &str, source: &str) -> Result<(), String> {
    std::fs::write(folder.join("stack.c"), source).expect("a file in the folder of tests");
    let name = source.split("#include \"").nth(1).and_then(|rest| rest.split('"').next()).expect("it reads its header");
    std::fs::write(folder.join(name), header).expect("a file in the folder of tests");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-fsyntax-only", "-I.", "stack.c"])
        .current_dir(folder)
        .output()
        .expect("a C compiler");
    let said = String::from_utf8_lossy(&compiled.stderr).into_owned();
    compiled.status.success().then_some(()).ok_or(said)
}

#[test]
fn objects_are_as_large_as_is_said() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("octets");
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    RUNTIME.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).expect("a file of the runtime"));
    let files = common::right_files();
    for file in files.iter().filter(|file| file.name.ends_with("composed")) {
        let header = emit(&file.automaton, &Options::default()).expect("C").header;
        let said = compiles(&folder, &header, &with_assertions(&file.automaton, 0));
        assert!(said.is_ok(), "{}: {}", file.name, said.unwrap_err());
    }
    // A wrong size is found.
    let first = files.iter().find(|file| file.name.ends_with("composed")).expect("a stack");
    let header = emit(&first.automaton, &Options::default()).expect("C").header;
    let said = compiles(&folder, &header, &with_assertions(&first.automaton, 1)).unwrap_err();
    assert!(said.contains("static assertion failed"), "{said}");
}
