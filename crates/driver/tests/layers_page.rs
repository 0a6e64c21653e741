//! `docs/layers.md`: every thin layer of the library with its contract from its source, and a drawing of a stack that
//! its tests run. `BLESS=1` rewrites the page.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mokume_base::world::RealWorld;
use mokume_driver::compile::{self, Checked};
use mokume_driver::graph;
use mokume_semantics::program::{Definition, Program, StackId};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".mok"))
        .collect();
    names.sort();
    names
}

fn check(file: &str) -> Checked {
    compile::check(&RealWorld, &[file.to_string()]).unwrap()
}

/// The layers of a stack, including those of its bundles.
fn layers_of(program: &Program, stack: usize) -> Vec<&str> {
    fn of<'p>(program: &'p Program, what: Definition, into: &mut Vec<&'p str>) {
        match what {
            Definition::Layer(id) => into.push(&program.layers[id.0 as usize].name.text),
            Definition::Bundle(id) => {
                let bundle = &program.bundles[id.0 as usize];
                into.push(&bundle.name.text);
                bundle.parts.iter().for_each(|part| of(program, part.of, into));
            }
        }
    }
    let mut into = Vec::new();
    program.stacks[stack].instances.iter().for_each(|instance| of(program, instance.of.of, &mut into));
    into
}

/// For each layer the smallest stack of its tests: the test file, and the picture.
fn pictures(wanted: &[String]) -> BTreeMap<String, (String, String)> {
    let mut found: BTreeMap<String, (usize, String, String)> = BTreeMap::new();
    for file in files("tests/library") {
        let checked = check(&file);
        for index in 0..checked.program.stacks.len() {
            let layers = layers_of(&checked.program, index);
            for name in wanted.iter().filter(|name| layers.contains(&name.as_str())) {
                if found.get(name).is_some_and(|(size, ..)| *size <= layers.len()) {
                    continue;
                }
                let compiled =
                    compile::compile(&checked, StackId(index as u32), &RealWorld).0.expect("a stack of the tests");
                let short = format!("tests/library/{}", Path::new(&file).file_name().unwrap().to_string_lossy());
                found.insert(name.clone(), (layers.len(), short, graph::picture(&compiled.composed, false)));
            }
        }
    }
    found.into_iter().map(|(name, (_, file, picture))| (name, (file, picture))).collect()
}

#[test]
fn every_thin_layer_has_its_contract_its_test_and_its_drawing() {
    let mut contracts: BTreeMap<String, (String, String)> = BTreeMap::new();
    for file in files("library/thin") {
        let checked = check(&file);
        let short = Path::new(&file).file_name().unwrap().to_string_lossy().into_owned();
        let own: Vec<_> = checked.roots.clone();
        let layers = checked.program.layers.iter().map(|layer| (&layer.name, &layer.docs));
        let bundles = checked.program.bundles.iter().map(|bundle| (&bundle.name, &bundle.docs));
        let named = layers.chain(bundles.filter(|(name, _)| name.text != "_"));
        for (name, docs) in named.filter(|(name, _)| own.contains(&name.span.file)) {
            contracts.insert(name.text.clone(), (docs.clone(), short.clone()));
        }
    }
    assert!(contracts.len() >= 10);
    let names: Vec<String> = contracts.keys().cloned().collect();
    let pictures = pictures(&names);
    let mut page = String::from(
        "# The thin layers\n\nEach does one thing, over any channel that gives what it needs. The texts are the contracts in `library/thin`, \
         the drawings are\nof stacks that the tests run; `BLESS=1 cargo test -p mokume-driver --test all layers_page` writes this page.\n",
    );
    let bless = std::env::var_os("BLESS").is_some();
    for (name, (contract, file)) in &contracts {
        assert!(!contract.trim().is_empty(), "{name} of library/thin/{file} says no contract");
        let (test, picture) = pictures.get(name).unwrap_or_else(|| panic!("no stack of tests/library has {name}"));
        page += &format!(
            "\n## {name}\n\n{}\n\n`library/thin/{file}`, shown by `{test}`.\n\n![{name}](layers/{name}.svg)\n",
            contract.trim()
        );
        same(&format!("docs/layers/{name}.svg"), picture, bless);
    }
    same("docs/layers.md", &page, bless);
}

fn same(file: &str, text: &str, bless: bool) {
    let path = root().join(file);
    if bless {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let is = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(is == text, "{file} is not what the library says: run this test with BLESS=1 and read the change");
}
