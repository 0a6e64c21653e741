//! The C program of `docs/embedding.md`, compiled against the header and the library, and run on both back ends.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_c_program_of_the_guide_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = std::fs::read_to_string(root.join("docs/embedding.md")).unwrap();
    let program = guide.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a C program");
    let folder = std::env::temp_dir().join(format!("mokume-guide-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("chat.c"), program).unwrap();
    let library = library();
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(root.join("crates/embed/include"))
        .arg(folder.join("chat.c"))
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()))
        .arg("-o")
        .arg(folder.join("chat"))
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    for backend in ["interpreter", "c"] {
        let ran = Command::new(folder.join("chat")).arg(backend).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success(), "{backend}: {said}{}", String::from_utf8_lossy(&ran.stderr));
        assert!(said.starts_with("deliver_from: hello\nthere is no event `ports.sing`"), "{backend}: {said}");
    }
    let _ = std::fs::remove_dir_all(&folder);
}

/// Cargo puts the library of the tested package beside its tests.
fn library() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let beside = tests.parent().unwrap().join("libmokume_embed.so");
    let above = tests.parent().unwrap().parent().unwrap().join("libmokume_embed.so");
    if beside.exists() {
        beside
    } else {
        above
    }
}
