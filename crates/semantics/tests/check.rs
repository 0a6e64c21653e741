//! Wrong programs, a file each in `tests/check`: `//^^^ error[M0401]` marks the place of each diagnostic, and there are
//! no others. `BLESS=1` rewrites the marks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mokume_base::{Diagnostic, SourceMap};
use mokume_semantics::{analyse_files, Loader};
use mokume_testkit::marks;

/// A library of three modules, so that these tests do not depend on the real one.
struct Small;

impl Loader for Small {
    fn module(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        let text = match name {
            "internet" => "type Ipv4Address = u32 written dotted(8)\nrecord Ipv4Cidr written address/prefix { address: Ipv4Address, prefix: u8 }\ntype MacAddress = u48 written colons(8)\nattribute ttl: u8 = 64\n",
            "ethernet" => "use internet\nmultiplexor Types { key symmetric { type: u16 } }\n",
            "pieces" => "worker Cutter {\n on send(msg) { if msg.size > below.mtu { drop msg: too_large } else { below.send(msg) } }\n}\nworker Counter {\n header { seq: u8 }\n publish mtu: u32 = below.mtu - 1\n on send(msg) { below.send(msg, seq: 7) }\n on deliver(msg, seq) { if seq == 7 { above.deliver(msg) } else { drop msg: other } }\n}\n",
            _ => return None,
        };
        Some(vec![(format!("library/{name}.mok"), text.to_string())])
    }
    fn file(&mut self, _from: &str, _name: &str) -> Option<(String, String)> {
        None
    }
    fn modules(&self) -> Vec<String> {
        vec!["internet".into(), "ethernet".into(), "pieces".into()]
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/check")
}

fn check(name: &str, program: &str) -> (SourceMap, Vec<Diagnostic>) {
    let mut sources = SourceMap::default();
    let root = sources.add(name, program);
    let (_, diagnostics) = analyse_files(&mut sources, &[root], &mut Small);
    (sources, diagnostics)
}

/// The differences between the file's marks and the diagnostics.
fn faults(name: &str, text: &str) -> Vec<String> {
    let (program, expected) = marks::read(text);
    let (sources, diagnostics) = check(name, &program);
    marks::faults(name, &expected, &sources, &diagnostics)
}

fn bless(path: &Path, text: &str) {
    let (program, _) = marks::read(text);
    let (sources, diagnostics) = check("blessed.mok", &program);
    std::fs::write(path, marks::marked(&program, &sources, &diagnostics)).expect("blessed");
}

fn files() -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder()).expect("tests/check").flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "mok")).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("a file"))).collect()
}

#[test]
fn every_diagnostic_stands_where_it_is_marked() {
    let mut all = Vec::new();
    for (path, text) in files() {
        if std::env::var_os("BLESS").is_some() {
            bless(&path, &text);
            continue;
        }
        all.extend(faults(&path.file_name().unwrap_or_default().to_string_lossy(), &text));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_wrong_mark_is_found() {
    let text = "worker Plain { on send(msg) { } }\n                     //^^^ error[M0401]\n";
    assert!(faults("here.mok", text).is_empty(), "{:?}", faults("here.mok", text));
    assert_eq!(faults("here.mok", &text.replace("M0401", "M0402")).len(), 2, "another code");
    assert_eq!(faults("here.mok", &text.replace("  //^", " //^")).len(), 2, "another column");
    assert_eq!(faults("here.mok", text.lines().next().expect("a line")).len(), 1, "no mark");
}

#[test]
fn the_files_meet_many_codes_and_each_has_a_way_out() {
    let files = files();
    let mut codes = BTreeSet::new();
    for (path, text) in &files {
        let (program, marks) = marks::read(text);
        assert!(!marks.is_empty(), "{} is a wrong program", path.display());
        for diagnostic in check("file.mok", &program).1 {
            codes.insert(diagnostic.code.0);
            let place = diagnostic.primary.as_ref().expect("every diagnostic has a place");
            assert!(!place.text.is_empty(), "{} says what is here", diagnostic.code.0);
            assert!(
                !diagnostic.helps.is_empty() && diagnostic.helps.iter().all(|help| !help.is_empty()),
                "{} {} has a way out",
                path.display(),
                diagnostic.code.0
            );
            let mut texts = diagnostic.helps.iter().chain(&diagnostic.notes).chain([&diagnostic.message]);
            let within = texts.find(|text| text.contains("``"));
            assert!(within.is_none(), "{} {}: a name within a name: {within:?}", path.display(), diagnostic.code.0);
        }
    }
    assert!(files.len() >= 35, "{} files", files.len());
    assert!(codes.len() >= 28, "{} codes: {codes:?}", codes.len());
}
