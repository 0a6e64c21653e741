//! What an installed command reports about itself and the machine, and what it offers to shells.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn mokume(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mokume")).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("install").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The commands that help lists, without `help` itself.
fn commands() -> Vec<String> {
    let help = said(&mokume(&["--help"]));
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next().map(str::to_owned));
    let names: Vec<String> = names.filter(|name| !name.is_empty() && name != "help").collect();
    assert!(names.len() > 20, "{help}");
    names
}

#[test]
fn the_version_says_what_the_command_carries() {
    let long = said(&mokume(&["--version"]));
    let words: Vec<&str> = long.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(words, ["mokume", "commit", "C", "runs", "writes", "library"], "{long}");
    assert!(long.starts_with(&format!("mokume {}\n", env!("CARGO_PKG_VERSION"))), "{long}");
    assert_eq!(said(&mokume(&["-V"])), format!("mokume {}\n", env!("CARGO_PKG_VERSION")));
    // The commit of the tested repository, if it is one.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let count = |folder: &Path| {
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        files.filter(|name| name.ends_with(".c") || name.ends_with(".h")).count()
    };
    assert!(long.contains(&format!("({} files)", count(&root.join("runtime")))), "{long}");
}

/// What works and what does not, depending on this machine: once as it is, and once without any programs.
#[test]
fn the_doctor_says_what_is_missing_and_how_to_get_it() {
    let folder = scratch("bare");
    let doctor = |path: Option<&str>, cache: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
        command.arg("doctor").env("XDG_CACHE_HOME", cache).env("MOKUME_SOLVERS", "/nowhere").current_dir(&folder);
        path.iter().for_each(|path| {
            command.env("PATH", path).env_remove("CC");
        });
        command.output().unwrap()
    };
    let cache = folder.join("cache").to_string_lossy().into_owned();
    let bare = doctor(Some("/nowhere"), &cache);
    let text = said(&bare);
    assert_eq!(bare.status.code(), Some(0), "{text}");
    for (what, way) in [
        ("C ", "apt install gcc"),
        ("libsodium", "apt install"),
        ("solvers", "install z3"),
        ("Wireshark", "apt install tshark"),
    ] {
        let line = text.lines().find(|line| line.starts_with(&format!("missing  {what}")));
        assert!(line.is_some_and(|line| line.contains(way)), "{what}: {text}");
    }
    assert!(text.contains("ok       compiler") && text.contains("the basics work; "), "{text}");
    if super::command::has_c_compiler() {
        let text = said(&doctor(None, &cache));
        assert!(text.contains("ok       C "), "{text}");
        // A compiler that says its version and compiles nothing. What the cache has from before does not hide it.
        let broken = folder.join("broken");
        std::fs::create_dir_all(&broken).unwrap();
        let compiler = broken.join("cc");
        std::fs::write(&compiler, "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho no cc1 here >&2\nexit 1\n")
            .unwrap();
        std::fs::set_permissions(&compiler, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", broken.display());
        let text = said(&doctor(Some(&path), &cache));
        let line = |what: &str| text.lines().find(|line| line.contains(&format!(" {what} "))).unwrap_or_default();
        assert!(line("C").starts_with("missing") && line("C").contains("does not work: no cc1 here"), "{text}");
        assert!(line("libsodium").contains("not known") && !line("libsodium").contains("cannot be linked"), "{text}");
    }
    // Nothing can be cached: a file is in the place of the folder.
    let taken = folder.join("taken");
    std::fs::write(&taken, "").unwrap();
    let broken = doctor(Some("/nowhere"), &taken.to_string_lossy());
    assert_eq!(broken.status.code(), Some(2), "{}", said(&broken));
    assert!(
        said(&broken).contains("missing  cache") && said(&broken).contains("the basics do not work"),
        "{}",
        said(&broken)
    );
}

#[test]
fn completions_know_every_command_and_shells_take_them() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = said(&mokume(&["completions", shell]));
        for command in commands() {
            assert!(text.contains(&command), "{shell}: no {command}");
        }
        assert!(
            !text.contains("--watched") && !text.contains("-l watched"),
            "{shell}: what the command says to itself"
        );
        let Ok(mut child) = Command::new(shell).arg("-n").stdin(std::process::Stdio::piped()).spawn() else { continue };
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{shell}");
    }
    // As bash calls it.
    let script = format!(
        "{}\nCOMP_WORDS=(mokume do) COMP_CWORD=1\n_mokume mokume do mokume\necho \"${{COMPREPLY[@]}}\"",
        said(&mokume(&["completions", "bash"]))
    );
    match Command::new("bash").args(["-c", &script]).output() {
        Ok(output) => assert_eq!(said(&output).trim(), "doc doctor", "{}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => println!("SKIPPED: no bash"),
    }
}

/// What is typed, and how a shell completes it: a command, an option, a value.
const TYPED: [(&str, &str); 3] = [
    ("mokume compl", "completions"),
    ("mokume sim --recor", "sim --record"),
    ("mokume build --emit wir", "build --emit wireshark"),
];

#[test]
fn fish_completes_what_is_typed() {
    let home = scratch("fish");
    let folder = home.join("fish/completions");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mokume.fish"), mokume(&["completions", "fish"]).stdout).unwrap();
    // It completes existing commands.
    let command = Path::new(env!("CARGO_BIN_EXE_mokume")).parent().unwrap();
    let path = format!("{}:{}", command.display(), std::env::var("PATH").unwrap_or_default());
    for (typed, wanted) in TYPED {
        let mut fish = Command::new("fish");
        let fish = fish.args(["-c", "complete -C $argv[1]", typed]);
        let fish = fish
            .env("PATH", &path)
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", &home)
            .env("XDG_DATA_HOME", home.join("data"));
        let Ok(output) = fish.output() else { return println!("SKIPPED: no fish") };
        let found = said(&output);
        let word = wanted.rsplit(' ').next().unwrap();
        let all: Vec<&str> = found.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(all, [word], "{typed}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// At a terminal, as a user types: the word, the tabulator key, the end of the line. A function in place of the command
/// reports its arguments.
const AT_A_TERMINAL: &str = r#"
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; mokume() { print GOT \$* }; print READY"
zpty -r -m z line '*READY*READY*'
shift
for typed in "$@"; do
    zpty -w -n z "$typed"$'\t\n'
    zpty -r -m z line $'*GOT *\n*'
    print -r -- "${line##*GOT }"
done
zpty -d z
"#;

#[test]
fn zsh_completes_what_is_typed() {
    let folder = scratch("zsh");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("_mokume"), mokume(&["completions", "zsh"]).stdout).unwrap();
    let mut zsh = Command::new("timeout");
    let zsh =
        zsh.args(["60", "zsh", "-f", "-c", AT_A_TERMINAL, "zsh"]).arg(&folder).args(TYPED.map(|(typed, _)| typed));
    if Command::new("zsh").arg("--version").output().is_err() {
        return println!("SKIPPED: no zsh");
    }
    let output = zsh.output().unwrap();
    let found = said(&output);
    let all: Vec<&str> = found.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(all, TYPED.map(|(_, wanted)| wanted), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn each_command_has_a_man_page() {
    let folder = scratch("man");
    let output = mokume(&["man", "--output", &folder.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for command in commands() {
        let page = std::fs::read_to_string(folder.join(format!("mokume-{command}.1"))).expect(&command);
        assert!(page.contains(".TH") && page.contains(&format!("mokume\\-{command}")), "{page}");
        assert!(!page.contains("\\-\\-watched") && !page.contains("\\-\\-behind"), "what is hidden is said: {page}");
    }
    assert_eq!(said(&mokume(&["man"])), std::fs::read_to_string(folder.join("mokume.1")).unwrap());
}
