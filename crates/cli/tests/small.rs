//! `mokume build --size`: less code with the same interface.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// The folder with the host's C, built with these additional arguments.
fn built(name: &str, more: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("small").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let host = root().join("examples/host.mok");
    let words = ["build", host.to_str().unwrap(), "-o", folder.to_str().unwrap()];
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(words).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

/// Octets of code and constants, compiled as the header of the small version says.
fn text(folder: &Path) -> u64 {
    let words = "-std=c11 -Os -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -Werror -c";
    let files = ["Host.c", "mokume.c"];
    let compiled = Command::new("cc").current_dir(folder).args(words.split(' ')).args(files).output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let told = Command::new("size").current_dir(folder).args(["Host.o", "mokume.o"]).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    told.lines().skip(1).map(|line| line.split_whitespace().next().unwrap().parse::<u64>().unwrap()).sum()
}

#[test]
fn what_is_made_small_is_smaller_and_looks_the_same() {
    let (quick, layers, small) = (built("quick", &[]), built("layers", &["--fuse", "0"]), built("size", &["--size"]));
    let header = |folder: &Path| std::fs::read_to_string(folder.join("Host.h")).unwrap();
    assert!(header(&small).contains("Made small (`--size`): compile it by `gcc -Os"));
    let interface = |folder: &Path| header(folder).split_once("#include").unwrap().1.to_owned();
    assert_eq!(interface(&small), interface(&layers));
    let (quick, layers, small) = (text(&quick), text(&layers), text(&small));
    println!(
        "FIGURE: text of examples/host.mok, octets: {quick} with paths, {layers} by the layers, {small} with --size"
    );
    assert!(small < layers && layers < quick, "{small} {layers} {quick}");
    // With a path where one is requested, and only there.
    let asked = std::fs::read_to_string(built("asked", &["--size", "--fuse", "1"]).join("Host.h")).unwrap();
    assert!(asked.contains("--fuse 1") && !header(&built("size", &["--size"])).contains("--fuse"));
}

#[test]
fn what_has_no_size_is_refused() {
    let host = root().join("examples/host.mok");
    for more in [&["--emit", "automaton"][..], &["--uncomposed"]] {
        let words = ["build", host.to_str().unwrap(), "--size"];
        let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(words).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}");
    }
}
