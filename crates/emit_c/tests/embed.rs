//! The sample program of the runtime: compiled with generated C by hand, as a user would do it, and run.

use crate::common;
use std::path::{Path, PathBuf};
use std::process::Command;

use mokume_emit_c::{emit, Options, RUNTIME};

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file in the folder of tests");
}

#[test]
fn the_sample_program_runs() {
    let file =
        common::right_files().into_iter().find(|file| file.name == "stop_and_wait.ra composed").expect("the stack");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("embed");
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    RUNTIME.iter().for_each(|(name, text)| write(&folder, name, text));
    let generated = emit(&file.automaton, &Options::default()).expect("C");
    write(&folder, "stop_and_wait.h", &generated.header);
    write(&folder, "stop_and_wait.c", &generated.source);
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples/embed.c");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-fsanitize=address,undefined", "-I.", "-o", "embed"])
        .args(["stop_and_wait.c", "mokume.c"])
        .arg(sample.canonicalize().expect("the sample"))
        .current_dir(&folder)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(folder.join("embed")).output().expect("the program");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    for word in ["one", "two", "three", "four", "five"] {
        assert_eq!(said.matches(&format!("b got {word}\n")).count(), 1, "{said}");
    }
}

/// With the compiler's own headers only, as on a machine without a C library; and what the code requires of one.
#[test]
fn no_header_of_a_library_is_needed() {
    let file =
        common::right_files().into_iter().find(|file| file.name == "stop_and_wait.ra composed").expect("the stack");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("freestanding");
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    RUNTIME.iter().for_each(|(name, text)| write(&folder, name, text));
    let generated = emit(&file.automaton, &Options::default()).expect("C");
    write(&folder, "stop_and_wait.h", &generated.header);
    write(&folder, "stop_and_wait.c", &generated.source);
    let own = Command::new("cc").arg("-print-file-name=include").output().expect("a C compiler");
    let own = String::from_utf8(own.stdout).expect("a folder");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-ffreestanding", "-nostdinc", "-isystem", own.trim(), "-Wall", "-Wextra", "-Werror"])
        .args(["-fno-stack-protector", "-O1", "-I.", "-r", "-nostdlib", "-o", "both.o", "stop_and_wait.c", "mokume.c"])
        .current_dir(&folder)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let asked = Command::new("nm").args(["-u", "both.o"]).current_dir(&folder).output().expect("nm");
    let asked = String::from_utf8(asked.stdout).expect("names");
    let known = ["memcpy", "memmove", "memset", "memcmp"];
    for name in asked.split_whitespace().filter(|word| *word != "U") {
        assert!(known.contains(&name), "{name} is asked of a library");
    }
}

/// Calls the stack from within its first output.
const ANSWERS: &str = r#"
#include <stdio.h>
#include "answers.h"

static struct answers *stack;

static void said(void *context, uint8_t n)
{
    printf("%d\n", n);
    if (n == 1)
        answers_app_ask(stack, 0);
    (void)context;
}

int main(void)
{
    static _Alignas(64) unsigned char memory[1 << 20];
    struct answers_ports ports = {.app_said = said};
    mk_config config = answers_defaults;
    if (answers_size(&config) > sizeof memory)
        return 1;
    stack = answers_init(memory, &config, &ports);
    answers_start(stack, 0);
    answers_app_go(stack, 0);
    return 0;
}
"#;

/// docs/semantics.md, P1 and P2: outputs leave when their reaction has ended and settled. A call of the stack from
/// within an output begins the next reaction, after what was put off for later.
#[test]
fn a_call_from_within_an_output_is_the_next_reaction() {
    let name = "ports_callbacks_are_the_next_reaction.ra composed";
    let file = common::run_files().into_iter().find(|file| file.name == name).expect("the stack");
    let generated = emit(&file.automaton, &Options::default()).expect("C");
    let said = said_by("answers", (&generated.header, &generated.source), ANSWERS, "answers");
    assert_eq!(said, ["1", "2", "11", "4", "14", "104", "14"]);
}

/// Keeps a message of 100 octets and sends it; from within that output it has the message sent again, ends it, and has others kept and sent.
const LENT: &str = r#"
#include <stdio.h>
#include <string.h>
#include "lent.h"

static struct lent *stack;
static int depth;

static void put(uint8_t n, uint8_t octet, uint32_t size)
{
    uint8_t octets[128];
    memset(octets, octet, size);
    lent_app_put(stack, 0, n, (mk_octets){octets, size});
}

static void frame(void *context, mk_octets out)
{
    (void)context;
    printf("%u %02x %02x %02x\n", out.size, out.at[0], out.at[1], out.at[out.size - 1]);
    if (depth++)
        return;
    lent_app_again(stack, 0, 9);
    lent_app_over(stack, 0);
    put(4, 0xbb, 100);
    lent_app_over(stack, 0);
    put(6, 0xcc, 100);
    printf("%u %02x %02x %02x\n", out.size, out.at[0], out.at[1], out.at[out.size - 1]);
}

int main(void)
{
    static _Alignas(64) unsigned char memory[1 << 20];
    struct lent_ports ports = {.dev_frame = frame};
    mk_config config = lent_defaults;
    if (lent_size(&config) > sizeof memory)
        return 1;
    stack = lent_init(memory, &config, &ports);
    lent_start(stack, 0);
    put(2, 0xaa, 100);
    lent_app_over(stack, 0);
    put(8, 0xdd, 20);
    const mk_accounts *counts = lent_accounts(stack);
    printf("held %u, %u buffers free\n", (unsigned)counts->held, (unsigned)lent_core(stack)->pool.buffers_free);
    return 0;
}
"#;

/// What a program says that is compiled with the generated C of a stack.
fn said_by(name: &str, (header, source): (&str, &str), program: &str, folder: &str) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    RUNTIME.iter().for_each(|(name, text)| write(&folder, name, text));
    write(&folder, &format!("{name}.h"), header);
    write(&folder, &format!("{name}.c"), source);
    write(&folder, "main.c", program);
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Werror", "-I.", "-o", "program", &format!("{name}.c"), "mokume.c", "main.c"])
        .current_dir(&folder)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(folder.join("program")).output().expect("the program");
    String::from_utf8_lossy(&ran.stdout).lines().map(str::to_string).collect()
}

/// A message that is sent and kept is copied once: what is in front of the frame stands in the room in front of the kept message. The frame
/// stays as it is while the program has it, whatever the program has the stack do meanwhile; without a path the program sees the same.
#[test]
fn a_frame_that_stands_in_a_kept_message_stays_as_it_is() {
    let file = |level: &str| {
        let name = format!("kept_messages_lend_their_room.ra {level}");
        common::run_files().into_iter().find(|file| file.name == name).expect("the stack").automaton
    };
    let by_layers = emit(&file("composed"), &Options::default()).expect("C");
    let by_paths = emit(&file("fused"), &Options::default()).expect("C");
    assert!(by_paths.source.contains("return kept_give_dev_frame_fronted("), "{}", by_paths.source);
    let expected = said_by("lent", (&by_layers.header, &by_layers.source), LENT, "lent_by_layers");
    assert_eq!(expected[..2], ["101 02 aa aa", "101 02 aa aa"]);
    assert_eq!(said_by("lent", (&by_paths.header, &by_paths.source), LENT, "lent_by_paths"), expected);
    // If the message is not held meanwhile, the program sees what others write there.
    let not_held =
        by_paths.source.replace("mk_lend(&k->core, buffer);", "").replace("mk_lend_over(&k->core, buffer);", "");
    assert_ne!(not_held, by_paths.source);
    let said = said_by("lent", (&by_paths.header, &not_held), LENT, "lent_not_held");
    assert_ne!(said[1], "101 02 aa aa", "{said:?}");
}

/// From within the output of a kept message it ends that message, and has more messages kept than the pool has room for.
const ENDED: &str = r#"
#include <stdio.h>
#include "ended.h"

static struct ended *stack;
static uint8_t octets[100];

static void frame(void *context, mk_octets out)
{
    (void)context, (void)out;
    ended_app_over(stack, 0);
    for (int i = 0; i < 12; i++)
        ended_app_only(stack, 0, (mk_octets){octets, sizeof octets});
}

static void said(void *context, mk_octets in)
{
    (void)context;
    printf("%u\n", in.size);
}

int main(void)
{
    static _Alignas(64) unsigned char memory[1 << 20];
    struct ended_ports ports = {.dev_frame = frame, .app_said = said};
    mk_config config = ended_defaults;
    config.buffers = 8;
    config.messages = 64;
    if (ended_size(&config) > sizeof memory)
        return 1;
    stack = ended_init(memory, &config, &ports);
    ended_start(stack, 0);
    /* The least that a reaction may need. */
    ended_core(stack)->peak = 1;
    mk_note_brink(ended_core(stack));
    ended_app_put(stack, 0, 2, (mk_octets){octets, sizeof octets});
    for (int i = 0; i < 12; i++)
        ended_app_show(stack, 0);
    return 0;
}
"#;

/// The buffer of a frame that stands in a kept message is nobody else's while the program has it: who calls from within gets room for as many
/// messages as there is without it, each with its octets.
#[test]
fn a_kept_message_that_ends_from_within_leaves_its_buffer_taken() {
    let name = "kept_messages_end_from_within.ra fused";
    let file = common::run_files().into_iter().find(|file| file.name == name).expect("the stack");
    let generated = emit(&file.automaton, &Options::default()).expect("C");
    assert!(generated.source.contains("return kept_give_dev_frame_fronted("), "{}", generated.source);
    let said = said_by("ended", (&generated.header, &generated.source), ENDED, "ended");
    assert!(!said.is_empty() && said.iter().all(|size| size == "100"), "{said:?}");
    // If it is held, but counts for the others, one of them is kept without octets.
    let lent = generated.source.replace("mk_lend(&k->core, buffer);", "buffer->references++;");
    let lent = lent.replace("mk_lend_over(&k->core, buffer);", "mk_buffer_release(&k->core.pool, buffer);");
    let said = said_by("ended", (&generated.header, &lent), ENDED, "ended_not_counted");
    assert!(said.contains(&"0".to_string()), "{said:?}");
}

/// Every file of the runtime is among those that are written beside generated stacks.
#[test]
fn the_runtime_is_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime");
    for entry in std::fs::read_dir(folder).expect("runtime") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let is_code = name.ends_with(".c") || name.ends_with(".h");
        assert!(!is_code || RUNTIME.iter().any(|(known, _)| *known == name), "{name} is missing");
    }
}
