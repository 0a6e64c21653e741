//! Generated C in programs of other people's: few and small buffers, two stacks in one program, names that files have already.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("embedded").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// What `mokume build` says of a file, its C in this folder.
fn built(folder: &Path, file: &Path, more: &[&str]) {
    let words = ["build", file.to_str().unwrap(), "-o", folder.to_str().unwrap()];
    let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(words).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn compiled(folder: &Path, words: &str) -> Output {
    let strict = ["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"];
    Command::new("cc").current_dir(folder).args(strict).args(words.split(' ')).output().unwrap()
}

/// What a program of `tests/embedded` says with the C of a file, built so.
fn said(name: &str, file: &str, stack: &str, program: &str, more: &[&str]) -> String {
    let folder = folder(name);
    built(&folder, &root().join(file), more);
    let program = root().join("tests/embedded").join(program);
    let words = format!("-fsanitize=address,undefined -I. -o run {stack}.c mokume.c {}", program.display());
    let made = compiled(&folder, &words);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let ran = Command::new(folder.join("run")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// A path that keeps a message takes a buffer for good: whoever calls next is refused at the door if there are too few.
#[test]
fn few_buffers_refuse_by_paths_as_by_layers() {
    let of = |fuse: &str| {
        said(&format!("few_{fuse}"), "tests/embedded/holding.mok", "Holding", "few_buffers.c", &["--fuse", fuse])
    };
    let layers = of("0");
    assert!(layers.contains("refused") && layers.contains("held 3"), "{layers}");
    assert_eq!(of("1"), layers);
    assert_eq!(of("2"), layers);
}

/// A message that does not exist gives back what was put in front of it.
#[test]
fn few_messages_lose_no_buffer() {
    for fuse in ["0", "2"] {
        let all =
            said(&format!("lost_{fuse}"), "tests/embedded/keeps.mok", "Keeping", "few_messages.c", &["--fuse", fuse]);
        let free = "free: 4 messages, 300 buffers\n".repeat(3);
        assert_eq!(all, format!("{free}taken: 0\n"));
    }
}

#[test]
fn buffers_have_room_for_headers_whatever_is_asked() {
    for fuse in ["0", "2"] {
        let all = said(&format!("small_{fuse}"), "examples/host.mok", "Host", "small_buffers.c", &["--fuse", fuse]);
        let taken = |line: &str| line.split_once(": ").unwrap().1.parse::<u32>().unwrap();
        let taken: Vec<u32> = all.lines().map(taken).collect();
        // Without a word there is nothing to refuse; then one octet more with each.
        assert_eq!(taken.len(), 9);
        assert!(taken[..7].iter().all(|count| *count <= 1) && taken[7] == taken[6] + 1 && taken[8] > 40, "{all}");
    }
}

/// The runtime of one would run in the other's memory.
#[test]
fn a_small_stack_and_another_do_not_link() {
    let (one, two) = (folder("ordinary"), folder("small"));
    let file = root().join("tests/embedded/holding.mok");
    built(&one, &file, &[]);
    built(&two, &file, &["--size"]);
    let with = |runtime: &Path| {
        let main = two.join("main.c");
        std::fs::write(&main, "#include \"Holding.h\"\nint main(void) { return Holding_init(0, 0, 0, 0) != 0; }\n")
            .unwrap();
        compiled(&two, &format!("-I. -o run Holding.c main.c {}", runtime.join("mokume.c").display()))
    };
    assert!(with(&two).status.success());
    let wrong = with(&one);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("mk_core_init_small"));
}

/// Files of stacks hide no header of C's, and no file of the runtime's; stacks that differ by the size of letters only are two.
#[test]
fn names_that_files_have_already() {
    let folder = folder("names");
    let names = ["string", "mokume", "Mokume", "StdInt", "Talk", "TALK"];
    let layer = "worker Passes { on send(msg) { below.send(msg) } on deliver(msg) { above.deliver(msg) } }\n";
    for name in names {
        let file = folder.join(format!("one_{name}.mok"));
        let stack = format!("stack {name}(device: Device) {{ app = Passes over device\n export app\n mtu 1514 }}\n");
        std::fs::write(&file, format!("{layer}{stack}")).unwrap();
        built(&folder, &file, &[]);
    }
    let given = ["string_", "mokume_", "Mokume_", "StdInt_", "Talk", "TALK"];
    let includes: String = given.iter().map(|name| format!("#include \"{name}.h\"\n")).collect();
    let sizes: Vec<String> = given.iter().map(|name| format!("(int){name}_defaults.buffers")).collect();
    let main = format!(
        "#include <string.h>\n#include <stdint.h>\n{includes}int main(void) {{ return {} == 0; }}\n",
        sizes.join(" + ")
    );
    std::fs::write(folder.join("main.c"), main).unwrap();
    let files: Vec<String> = given.iter().map(|name| format!("{name}.c")).collect();
    let made = compiled(&folder, &format!("-I. -o run main.c mokume.c {}", files.join(" ")));
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(Command::new(folder.join("run")).status().unwrap().success());
}

/// Enumerations, parameters and events called as what each header declares.
#[test]
fn names_that_each_header_has() {
    let folder = folder("declared");
    let text = "enum reason: u8 { A = 1, B }
enum params: u8 { C = 1, D }
enum ports: u8 { E = 1, F }
enum returned: u8 { nothing = 1, device_frame }
worker Passes(k: params = params.C) {
    header { a: reason, b: ports, c: returned }
    on send(msg) { below.send(msg, a: reason.A, b: ports.E, c: returned.nothing) }
    on deliver(msg, a, b, c) { if k == params.D { drop msg: defaults } else { above.deliver(msg) } }
}
stack Declared(device: Device, NULL: u8 = 0, k: params = params.C) {
    core = Passes(k) over device
    export core
    mtu 1514
}
";
    std::fs::write(folder.join("declared.mok"), text).unwrap();
    built(&folder, &folder.join("declared.mok"), &["--returned", "--batched"]);
    let made = compiled(&folder, "-I. -c Declared.c mokume.c");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
