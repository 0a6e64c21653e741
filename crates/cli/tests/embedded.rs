//! Generated C in programs of other people's: few and small buffers, what is no value, two stacks in one program, names that files have already.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

fn folder_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("embedded").join(name)
}

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    let folder = folder_of(name);
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

/// Functions in C are called as functions of the C library, in two modules alike, and by two stacks of one program.
#[test]
fn functions_in_c_have_names_of_their_own() {
    let folder = folder("functions");
    let written = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    written("Mokume.toml", "[project]\nsources = [\"src\"]\nlibrary = [\"lib\"]\n".into());
    for (module, layer, octet) in [("left", "Left", 'l'), ("right", "Right", 'r')] {
        let model = format!("    msg.join(message(\"{octet}\"))\n    return 1\n");
        let layer = format!(
            "worker {layer} {{\n    on send(msg) {{\n        let n = write(msg)\n\
             \x20       if n == 0 {{ drop msg: none }} else {{ below.send(msg) }}\n    }}\n}}\n"
        );
        let declared = "extern fn write(msg: Message) -> u8 from \"write.c\" grows 1";
        written(&format!("lib/{module}/write.mok"), format!("{declared} {{\n{model}}}\n{layer}"));
        let body = format!("{{\n    m->octets[m->size++] = (uint8_t)'{octet}';\n    return 1;\n}}\n");
        let head = "#include \"mk_native.h\"\nuint8_t write(mk_native *m);\nuint8_t write(mk_native *m)\n";
        // The first stack calls this one of the two files not.
        let other = "uint8_t read(uint8_t n);\nuint8_t read(uint8_t n)\n{\n    return n;\n}\n";
        written(&format!("lib/{module}/write.c"), format!("{head}{body}{other}"));
    }
    let reads =
        "extern fn read(n: u8) -> u8 from \"write.c\" { return n }\nworker Reads {\n    on send(msg) {\n        \
         if read(3) == 3 { below.send(msg) } else { drop msg: none }\n    }\n}\n";
    for module in ["left", "right"] {
        written(
            &format!("lib/{module}/read.mok"),
            reads.replace("Reads", if module == "left" { "Reads" } else { "Looks" }),
        );
    }
    let stack = |name: &str, parts: &str, frame: &str| {
        format!(
            "stack {name}(device: Device) {{\n    app = {parts} over device\n    export app\n}}\n\
             test \"{name}\" {{\n    stack {name}\n    app.send_to(\"a\")\n    => device.frame(\"{frame}\")\n}}\n"
        )
    };
    let stacks = stack("First", "Left / Right", "alr") + &stack("Second", "Reads / Looks / Right", "ar");
    written("src/both.mok", format!("use left\nuse right\n{stacks}"));
    let file = folder.join("src/both.mok");
    let tested = Command::new(env!("CARGO_BIN_EXE_mokume")).arg("test").arg(&file).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&tested.stdout), "4 passed, 0 failed\n");

    let mut files = vec!["main.c".to_string(), "out/mokume.c".to_string()];
    for name in ["First", "Second"] {
        built(&folder.join("out"), &file, &["--stack", name]);
    }
    let all = std::fs::read_dir(folder.join("out")).unwrap().map(|entry| entry.unwrap().file_name());
    let own = all.map(|file| file.into_string().unwrap()).filter(|file| {
        let is_stack = file == "First.c" || file == "Second.c";
        is_stack || file.starts_with("native-") && file.ends_with(".c")
    });
    files.extend(own.map(|file| format!("out/{file}")));
    let main = "#include <unistd.h>\n#include \"First.h\"\n#include \"Second.h\"\n\
        int main(void)\n{\n    return write(1, \"hello\", 5) != 5 || !First_defaults.buffers || !Second_defaults.buffers;\n}\n";
    std::fs::write(folder.join("main.c"), main).unwrap();
    let made = compiled(&folder, &format!("-Iout -o run {}", files.join(" ")));
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert_eq!(Command::new(folder.join("run")).output().unwrap().stdout, b"hello");
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

/// Words of C, and what the headers mean by others that a program includes before: as parameters, arguments, state and layers.
#[test]
fn names_that_c_has() {
    let folder = folder("words");
    let words = [
        "typeof",
        "typeof_unqual",
        "constexpr",
        "nullptr",
        "uint32_t",
        "uint8_t",
        "size_t",
        "EOF",
        "BIG_ENDIAN",
        "I",
        "complex",
        "alignas",
        "alignof",
        "noreturn",
        "thread_local",
        "static_assert",
        "compl",
        "xor",
        "stdin",
        "SIGINT",
        "INT_MAX",
        "errno",
        "asm",
        "true_",
    ];
    let all = |each: &dyn Fn(&str) -> String, between: &str| {
        words.iter().map(|word| each(word)).collect::<Vec<_>>().join(between)
    };
    let text = format!(
        "vocabulary V {{ down say({0}) up said({0}) }}\n\
         worker A({0}) {{\n    speaks V\n    entity {{ {1} }}\n    on say({2}) {{\n        {3}\n        above.said({2})\n    }}\n    \
         on send(msg) {{ below.send(msg) }}\n    on deliver(msg) {{ above.deliver(msg) }}\n}}\n\
         stack Words(device: Device, {4}) {{\n    app = A({2}) over device\n    export app\n}}\n",
        all(&|word| format!("{word}: u32"), ", "),
        all(&|word| format!("var of_{word}: u32 = {word}"), "  "),
        all(&|word| word.to_string(), ", "),
        all(&|word| format!("of_{word} = {word}"), "  "),
        all(&|word| format!("{word}: u32 = 3"), ", "),
    );
    std::fs::write(folder.join("words.mok"), text).unwrap();
    built(&folder, &folder.join("words.mok"), &["--returned", "--batched"]);
    let headers = [
        "stdio",
        "endian",
        "complex",
        "stdalign",
        "stdnoreturn",
        "threads",
        "assert",
        "iso646",
        "signal",
        "limits",
        "errno",
    ];
    let headers: String = headers.iter().map(|name| format!("#include <{name}.h>\n")).collect();
    std::fs::write(folder.join("main.c"), format!("{headers}#include \"Words.h\"\nint main(void) {{ return 0; }}\n"))
        .unwrap();
    for standard in ["c11", "gnu17", "gnu2x"] {
        let made = compiled(&folder, &format!("-std={standard} -I. -o run main.c Words.c mokume.c"));
        assert!(made.status.success(), "{standard}: {}", String::from_utf8_lossy(&made.stderr));
    }
}

/// docs/semantics.md, P6, and memory that cannot be.
#[test]
fn what_is_no_value_is_refused() {
    let of = |name: &str, more: &[&str]| {
        said(&format!("values_{name}"), "tests/embedded/values.mok", "Valued", "values.c", more)
    };
    let layers = of("layers", &["--fuse", "0"]);
    let wanted = "begins: 0\nbegins: 0\nbegins: 0\nbegins: 0\nbegins: 1
 frame 09 02 01 02 78 -> 1
 -> 0
 -> 0
 frame 09 02 01 02 78 -> 1
 pushed 4: 1 2 3 4, 0 -> 1
 pushed 2: 1 7 0 0, 1 -> 1
 frame 09 02 01 07 78 -> 1
 same 1 -> 1
 -> 0
 kind 2 level 200 -> 1
 -> 0
 -> 0
 plan 4 rounds 5 -> 1
 plan 3 rounds 0 -> 1
 -> 0
refused: 6
size: 1, begins: 0
";
    assert_eq!(layers, wanted);
    for (name, more) in [
        ("paths", &["--fuse", "2"] as &[&str]),
        ("small", &["--size"]),
        ("uncomposed", &["--uncomposed"]),
        ("doors", &["--returned", "--batched"]),
    ] {
        assert_eq!(of(name, more), wanted, "{name}");
    }
    let header = std::fs::read_to_string(folder_of("values_layers").join("Valued.h")).unwrap();
    for remark in [
        "uint8_t p_length; /* at most 4 */",
        "/* what: enum Valued_Kind; level: enum Valued_Level or any other number */\nbool Valued_app_kind_to(",
        "/* v_length: at most 4; w_length: at most 4 */\nbool Valued_app_same_to(",
    ] {
        assert!(header.contains(remark), "{remark}");
    }
}

/// What a machine with addresses of 32 bits cannot have is no small block.
#[test]
fn a_size_that_does_not_fit_is_the_largest() {
    let folder = folder("narrow");
    built(&folder, &root().join("tests/embedded/values.mok"), &[]);
    std::fs::write(
        folder.join("main.c"),
        "#include <stdint.h>
#include \"Valued.h\"
static max_align_t memory[4096];
int main(void)
{
    struct Valued_params params = Valued_default_params;
    struct Valued_ports ports = {0};
    mk_config config = Valued_defaults;
    const uint32_t sizes[][2] = {{UINT32_MAX, config.buffer_octets}, {1 << 17, 1 << 15}, {2, UINT32_MAX}, {UINT32_MAX, UINT32_MAX}};
    for (int i = 0; i < 4; i++) {
        config.buffers = sizes[i][0], config.buffer_octets = sizes[i][1];
        if (Valued_size(&config) != SIZE_MAX || Valued_init(memory, &config, &params, &ports))
            return i + 1;
    }
    return 0;
}
",
    )
    .unwrap();
    std::fs::write(folder.join("none.c"), "int main(void) { return 0; }\n").unwrap();
    if !compiled(&folder, "-m32 -o run none.c").status.success() {
        return println!("SKIPPED: no library of C for 32 bits");
    }
    let made = compiled(&folder, "-m32 -I. -o run main.c Valued.c mokume.c");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert_eq!(Command::new(folder.join("run")).status().unwrap().code(), Some(0));
}
