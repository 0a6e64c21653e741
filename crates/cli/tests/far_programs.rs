//! What only long runs and benches build still fits: programs in C compile with what their stacks make now, and what is planted is there.

use std::path::Path;
use std::process::Command;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Each stack, and the programs that are compiled with its C.
const PROGRAMS: [(&str, &[&str]); 3] = [
    ("tests/host/group/long.mok", &["tests/host/group/long.c"]),
    ("benches/groups/ordered.mok", &["benches/groups/member.c", "benches/groups/inside.c"]),
    ("benches/groups/fifo.mok", &["benches/groups/member.c", "benches/groups/inside.c"]),
];

/// What the C compiler says of a program.
fn said(program: &Path, headers: &Path) -> String {
    let output = Command::new("gcc")
        .args(["-std=gnu11", "-fsyntax-only", "-Wall", "-I"])
        .arg(headers)
        .arg("-I")
        .arg(root().join("benches/groups"))
        .arg(program)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn programs_of_long_runs_compile() {
    for (number, (file, programs)) in PROGRAMS.iter().enumerate() {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("far_programs/{number}"));
        let output = Command::new(env!("CARGO_BIN_EXE_mokume"))
            .args(["build", "--stack", "Group", "--fuse", "0", "--emit", "c", "-o"])
            .arg(&folder)
            .arg(root().join(file))
            .output()
            .unwrap();
        assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
        for program in *programs {
            assert_eq!(said(&root().join(program), &folder), "", "{program} with {file}");
        }
    }
    // Planted: what the program asks for has another name.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("far_programs/0");
    let text = std::fs::read_to_string(root().join(PROGRAMS[0].1[0])).unwrap();
    let planted = folder.join("planted.c");
    std::fs::write(&planted, text.replace("_TRANSFER_NO_ROOM", "_TRANSFER_NO_PLACE")).unwrap();
    let said = said(&planted, &folder);
    assert!(said.contains("_TRANSFER_NO_PLACE"), "{said}");
}

#[test]
fn faults_of_long_runs_fit() {
    let fit = |first: &str| {
        let script = format!("import common, groups\n{first}\ngroups.fit()\nraise SystemExit(common.failures)");
        let output = Command::new("python3")
            .args(["-B", "-c", &script])
            .current_dir(root().join("tests/host"))
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, said) = fit("");
    assert!(code == Some(0) && said.matches("ok planted").count() == 5, "{said}");
    // Planted: a fault whose text is not there.
    let (code, said) = fit("groups.FAULTS[0] = ('nothing', '', 'total', 'not there', '')");
    assert!(code == Some(1) && said.contains("not ok planted, nothing"), "{said}");
}
