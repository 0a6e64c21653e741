//! Layers and paths in a program that calls a stack from within its callbacks: the outputs are the same, with the same
//! octets and times. The programs are the workloads of `./bench`: seeded, with loss, corruption, answers from
//! callbacks, closings and openings.

use std::path::{Path, PathBuf};
use std::process::Command;

use mokume_base::world::RealWorld;
use mokume_driver::path::Fuse;
use mokume_driver::profile::Profile;
use mokume_driver::{build, compile};

/// The stack's file, its name, the program that drives it.
const WORKLOADS: [(&str, &str, &str); 5] = [
    ("examples/host.mok", "Host", "udp_workload.c"),
    ("benches/tcp.mok", "Host", "tcp_workload.c"),
    ("benches/stacks/four.mok", "Four", "stacks/four.c"),
    ("benches/stacks/ten.mok", "Ten", "stacks/ten.c"),
    ("benches/stacks/sliding.mok", "Sliding", "stacks/sliding.c"),
];
const SEEDS: [&str; 3] = ["1", "2", "3"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of the stack in C: without paths, with paths, and with memos. The paths follow `…_usual.mok` beside it, if
/// it exists.
fn files(file: &str, stack: &str) -> [Vec<(String, String)>; 3] {
    files_as(file, stack, build::Style::default())
}

/// The same, written in some style.
fn files_as(file: &str, stack: &str, style: build::Style) -> [Vec<(String, String)>; 3] {
    let name = root().join(file).to_string_lossy().into_owned();
    let checked = compile::check(&RealWorld, &[name]).expect("a file");
    let chosen = compile::choose_stack(&checked, Some(stack)).expect("the stack");
    let mut compiled = compile::compile_to_write(&checked, chosen).0.expect("no errors");
    let usual = file.replace(".mok", "_usual.mok");
    let profile = match root().join(&usual).exists() {
        true => crate::usual::ways(&usual, None, stack).1.profile,
        false => Profile::default(),
    };
    [0, 1, 2].map(|level| {
        compiled.fuse_by(Fuse::to(level), profile.clone());
        build::c_with(&compiled, &[], style).expect("C")
    })
}

/// The program's output for each seed, with the stack compiled with sanitizers, in a separate folder.
fn said(folder: &str, files: &[(String, String)], stack: &str, program: &str) -> Vec<String> {
    said_by(folder, files, program, &["mokume.c".to_owned(), format!("{stack}.c")])
}

/// The same, of these units of translation.
fn said_by(folder: &str, files: &[(String, String)], program: &str, units: &[String]) -> Vec<String> {
    said_as(folder, files, program, units, &[])
}

/// The same, with additional compiler flags.
fn said_as(folder: &str, files: &[(String, String)], program: &str, units: &[String], flags: &[&str]) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("workloads").join(folder);
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("a file in the folder of tests");
    }
    let benches = root().join("benches");
    let compiled = Command::new("cc")
        .args([
            "-std=c11",
            "-O0",
            "-DMK_CHECK_MEMOS=__builtin_trap()",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
            "-I.",
            "-o",
            "program",
        ])
        .args(flags)
        .arg(format!("-I{}", benches.display()))
        .arg(benches.join(program))
        .args(units)
        .current_dir(&folder)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = |seed: &str| {
        let ran = Command::new(folder.join("program")).args([seed, "none"]).output().expect("the program");
        format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
    };
    SEEDS.into_iter().map(run).collect()
}

/// The workloads count instructions with valgrind, whose header they need.
fn is_skipped() -> bool {
    let there = Path::new("/usr/include/valgrind/callgrind.h").exists();
    if !there {
        println!("SKIPPED: the header of valgrind is not there");
    }
    !there
}

#[test]
fn workloads_with_paths_say_what_they_say_without() {
    if is_skipped() {
        return;
    }
    for (file, stack, program) in WORKLOADS {
        let name = program.replace(['/', '.'], "_");
        let [plain, paths, memos] = files(file, stack);
        let layers = said(&format!("{name}_layers"), &plain, stack, program);
        assert!(layers.iter().all(|said| said.contains("digest ")), "{stack}: {layers:?}");
        for (fuse, files, holds) in [(1, &paths, "/* path of "), (2, &memos, "recall_")] {
            assert!(files.iter().any(|(_, text)| text.contains(holds)), "{stack} has paths, or memos");
            let fused = said(&format!("{name}_{fuse}"), files, stack, program);
            assert_eq!(layers, fused, "{stack} at {fuse}");
        }
    }
}

/// A device that takes the front and the handed-in octets separately gets the same frames; one missing octet shows.
#[test]
fn frames_in_parts_are_the_frames() {
    if is_skipped() {
        return;
    }
    let (file, stack, program) = WORKLOADS[0];
    let [plain, _, memos] = files(file, stack);
    let units = ["mokume.c".to_owned(), format!("{stack}.c")];
    let whole = said("parts_layers", &plain, stack, program);
    assert_eq!(said_as("parts_0", &plain, program, &units, &["-DPARTS"]), whole);
    assert_eq!(said_as("parts_2", &memos, program, &units, &["-DPARTS"]), whole);
    let call = "(mk_octets){a0_at, a0_size});";
    let is_less = |text: &str| text.replace(call, "(mk_octets){a0_at, a0_size > 0 ? a0_size - 1 : 0});");
    let faulty: Vec<(String, String)> = memos.iter().map(|(name, text)| (name.clone(), is_less(text))).collect();
    assert_ne!(faulty, memos);
    assert_ne!(said_as("parts_faulty", &faulty, program, &units, &["-DPARTS"]), whole);
}

/// `--returned`.
const RETURNED: build::Style = build::Style { aim: build::Aim::Time, returned: true, batched: false };

/// `--batched`.
const BATCHED: build::Style = build::Style { aim: build::Aim::Time, returned: false, batched: true };

/// Programs whose calls return what leaves last hear the same; a frame that is one octet short shows.
#[test]
fn what_is_returned_is_what_would_leave() {
    if is_skipped() {
        return;
    }
    for (file, stack, program) in [WORKLOADS[0], WORKLOADS[2], WORKLOADS[3]] {
        let name = program.replace(['/', '.'], "_");
        let [plain, _, memos] = files_as(file, stack, RETURNED);
        let units = ["mokume.c".to_owned(), format!("{stack}.c")];
        let layers = said(&format!("returned_{name}_layers"), &plain, stack, program);
        for (level, files) in [(0, &plain), (2, &memos)] {
            let folder = format!("returned_{name}_{level}");
            assert_eq!(said_as(&folder, files, program, &units, &["-DRETURNED"]), layers, "{stack} at {level}");
        }
        let own = "(mk_octets){a0, a0_front + a0_size};";
        let is_less = |text: &str| text.replace(own, "(mk_octets){a0, a0_front + a0_size - 1};");
        let faulty: Vec<(String, String)> = memos.iter().map(|(name, text)| (name.clone(), is_less(text))).collect();
        assert_ne!(faulty, memos);
        assert_ne!(said_as(&format!("returned_{name}_faulty"), &faulty, program, &units, &["-DRETURNED"]), layers);
    }
}

/// Memos in tables (`emit_c/kept`): each fault of a table makes the checked memos stop the program.
#[test]
fn faults_of_tables_of_memos_show() {
    if is_skipped() {
        return;
    }
    let (file, stack, program) = WORKLOADS[0];
    let [plain, _, memos] = files(file, stack);
    let layers = said("tables_layers", &plain, stack, program);
    let own = |text: &str| text.contains("find_kept_0");
    assert!(memos.iter().any(|(_, text)| own(text)), "{stack} has a table");
    let faults: [(&str, &str, &str); 3] = [
        ("another key at the place", "kept->word0 == word0 && kept->word1 == word1", "kept->word1 != 0"),
        ("what another key gave", "_memo_1.memos = 0;", "_memo_1.memos = k->memos;"),
        ("what has changed", "    mk_forget(&k->memos);", "    ;"),
    ];
    for (number, (name, right, wrong)) in faults.iter().enumerate() {
        let planted: Vec<(String, String)> =
            memos.iter().map(|(file, text)| (file.clone(), text.replace(right, wrong))).collect();
        assert_ne!(planted, memos, "{name}");
        assert_ne!(said(&format!("tables_{number}"), &planted, stack, program), layers, "{name}");
    }
}

/// Hand-written programs beside the stacks in the tables of `./bench`: the stack, its program, and faults that show.
const BY_HAND: [(&str, &str, &str, &[Planted]); 1] = [(
    "benches/stacks/sliding.mok",
    "Sliding",
    "sliding",
    &[
        ("resent", "transmit(k, when, 0, in_window(k))", "transmit(k, when, 1, in_window(k))"),
        ("window", "before >= WINDOW", "before > WINDOW"),
        ("held", "if (before < WINDOW)", "if (before <= WINDOW)"),
        (
            "said_again",
            "    say_next(k);\n    if (is_next)",
            "    if (is_next)\n        say_next(k);\n    if (is_next)",
        ),
        ("counted", "k->sends = 0, k->again_at = NEVER", "k->again_at = NEVER"),
        ("timer", "k->oldest = next, k->sends = 0, k->again_at = NEVER", "k->oldest = next, k->sends = 0"),
    ],
)];

/// A fault: its name, the text that it changes, and the replacement.
type Planted = (&'static str, &'static str, &'static str);

/// A hand-written program does what the stack does; otherwise its figures would mean nothing.
#[test]
fn by_hand_says_what_the_stack_says() {
    if is_skipped() {
        return;
    }
    for (file, stack, name, faults) in BY_HAND {
        let (program, folder) = (format!("stacks/{name}.c"), format!("{name}_by_hand"));
        let [plain, ..] = files(file, stack);
        let right = said(&format!("{folder}_layers"), &plain, stack, &program);
        assert!(right.iter().all(|said| said.contains("digest ")), "{stack}: {right:?}");
        let by_hand =
            std::fs::read_to_string(root().join(format!("benches/stacks/{name}_by_hand.c"))).expect("the one by hand");
        let says = |folder: &str, text: String| {
            let mut files = plain.clone();
            files.push(("by_hand.c".to_owned(), text));
            said_by(folder, &files, &program, &["by_hand.c".to_owned()])
        };
        assert_eq!(right, says(&folder, by_hand.clone()), "{stack}");
        for (fault, from, to) in faults {
            assert_eq!(by_hand.matches(from).count(), 1, "{fault}: what it changes stands there once");
            assert_ne!(right, says(&format!("{folder}_{fault}"), by_hand.replace(from, to)), "{fault} is seen");
        }
    }
}

/// What the hand-written window does when the other end behaves unexpectedly, which the workload does not show.
const STREWN: [Planted; 5] = [
    ("former", "epoch == k->former_epoch", "false"),
    ("given_up", "++k->sends >= TRIES", "++k->sends > TRIES"),
    ("closed", "    end_session(k, user);\n    if (k->count == 0)", "    end_session(k, user);\n    if (0)"),
    ("trimmed", "at += 2, size = said - 2;", "at += 2, size -= 2;"),
    ("gone", "k->accounts.gone += waiting(k);", ""),
];

/// Sessions that end, windows that give up, frames of all kinds, and the accounts.
#[test]
fn the_window_by_hand_takes_what_comes() {
    if is_skipped() {
        return;
    }
    let [plain, ..] = files("benches/stacks/sliding.mok", "Sliding");
    let program = "../crates/driver/tests/sliding_strewn.c";
    let by_hand = std::fs::read_to_string(root().join("benches/stacks/sliding_by_hand.c")).expect("the one by hand");
    let says = |folder: &str, text: String| {
        let mut files = plain.clone();
        files.push(("by_hand.c".to_owned(), text));
        said_by(&format!("strewn_{folder}"), &files, program, &["by_hand.c".to_owned()])
    };
    let right = said("strewn_layers", &plain, "Sliding", program);
    for what in ["accepted", "message", "session failed", "closed", "refused", "received "] {
        assert!(right.iter().all(|said| said.contains(what)), "{what}");
    }
    assert!(right == says("by_hand", by_hand.clone()), "the same is said");
    for (fault, from, to) in STREWN {
        assert_eq!(by_hand.matches(from).count(), 1, "{fault}: what it changes stands there once");
        assert!(right != says(fault, by_hand.replace(from, to)), "{fault} is seen");
    }
}

/// Prints what leaves, when reading it begins and when it ends; while a frame or a message is read, others are sent.
/// Answers are handed in from within the callback, too.
const ANSWERS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include "Numbered.h"

static struct Numbered *stack;
static mk_handle session;
static int begun, calls, depth;

static void show(const char *what, int number, mk_octets octets)
{
    printf("%s %d:", what, number);
    for (uint32_t i = 0; i < octets.size; i++)
        printf(" %02x", octets.at[i]);
    puts("");
}

static void on_frame(void *context, mk_octets frame);

static bool send(mk_octets text)
{
#ifdef RETURNED
    if (depth) {
        struct Numbered_returned left;
        bool taken = Numbered_users_send_returned(stack, 0, session, text, &left);
        if (left.output == Numbered_RETURNED_DEVICE_FRAME)
            on_frame(NULL, left.device_frame.msg);
        return taken;
    }
#endif
    return Numbered_users_send(stack, 0, session, text);
}

static void say(const char *text)
{
    if (calls++ < 40)
        printf("%d sent\n", send((mk_octets){(const uint8_t *)text, (uint32_t)strlen(text)}));
}

static void on_frame(void *context, mk_octets frame)
{
    int own = begun++;
    depth++;
    uint8_t back[256];
    (void)context;
    show("frame", own, frame);
    say("from a frame");
    /* Ports change places: it comes from the other end. */
    memcpy(back, frame.at, frame.size);
    memcpy(back + 4, frame.at + 6, 2), memcpy(back + 6, frame.at + 4, 2);
    if (calls++ < 40)
        printf("%d handed in\n", Numbered_device_frame(stack, 0, (mk_octets){back, frame.size}));
    say("and another one");
    show("frame read", own, frame);
    depth--;
}

static void on_deliver(void *context, mk_handle to, mk_octets message)
{
    int own = begun++;
    (void)context, (void)to;
    depth++;
    show("message", own, message);
    say("from a message");
    show("message read", own, message);
    depth--;
}

static void on_opened(void *context, uint32_t user, mk_handle opened, uint16_t local_port, uint16_t remote_port)
{
    (void)context, (void)user, (void)local_port, (void)remote_port;
    session = opened;
}

int main(void)
{
    mk_config config = Numbered_defaults;
    struct Numbered_ports ports = {.device_frame = on_frame, .users_opened = on_opened, .users_deliver = on_deliver};
    struct Numbered_params params = Numbered_default_params;
    stack = Numbered_init(aligned_alloc(64, (Numbered_size(&config) + 63) / 64 * 64), &config, &params, &ports);
    Numbered_start(stack, 0);
    Numbered_users_open(stack, 0, 1, 1000, 2000);
    say("first");
    begun = 100, calls = 0;
    say("");
    printf("%d left\n", (int)Numbered_accounts(stack)->delivered);
    free(stack);
    return 0;
}
"#;

/// Frames of the other end, in the stack of Promela++'s sliding window: for each, an acknowledgement and a message
/// leave. While one of them is read, a message is sent, and a frame that comes too early is handed in.
const PAIRS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include "Sliding.h"

static struct Sliding *stack;
static mk_handle session;
static int begun, calls, number;

static void show(const char *what, int own, mk_octets octets)
{
    printf("%s %d:", what, own);
    for (uint32_t i = 0; i < octets.size; i++)
        printf(" %02x", octets.at[i]);
    puts("");
}

static void hand_in(int seq)
{
    uint8_t frame[] = {0, 15, 0, 42, 0, 0, 0, (uint8_t)seq, 0, 9, 0, 80, 0, 'h', 'i'};
    printf("%d handed in\n", Sliding_device_frame(stack, 0, (mk_octets){frame, sizeof frame}));
}

static void call(void)
{
    if (calls++ >= 6)
        return;
    printf("%d sent\n", Sliding_users_send(stack, 0, session, (mk_octets){(const uint8_t *)"an answer", 9}));
    hand_in(number + 3);
}

static void on_frame(void *context, mk_octets frame)
{
    int own = begun++;
    (void)context;
    show("frame", own, frame);
    call();
    show("frame read", own, frame);
}

static void on_deliver(void *context, mk_handle to, mk_octets message)
{
    int own = begun++;
    (void)context, (void)to;
    show("message", own, message);
    call();
    show("message read", own, message);
}

static void on_accepted(void *context, mk_handle accepted, uint16_t local_port, uint16_t remote_port)
{
    (void)context, (void)local_port, (void)remote_port;
    session = accepted;
}

int main(void)
{
    mk_config config = Sliding_defaults;
    struct Sliding_ports ports = {.device_frame = on_frame, .users_accepted = on_accepted, .users_deliver = on_deliver};
    struct Sliding_params params = Sliding_default_params;
    stack = Sliding_init(aligned_alloc(64, (Sliding_size(&config) + 63) / 64 * 64), &config, &params, &ports);
    Sliding_start(stack, 0);
    Sliding_users_listen(stack, 0, 1, 80);
    for (; number < 12; number++, calls = number % 3 ? 6 : 0)
        hand_in(number);
    printf("%d left\n", (int)Sliding_accounts(stack)->delivered);
    free(stack);
    return 0;
}
"#;

/// Sends a message that leaves alone, then one behind which another leaves; says how each frame comes.
const TWICE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include "Twice.h"

static void on_frame(void *context, mk_octets frame)
{
    (void)context;
    printf("handed over: %02x\n", frame.at[0]);
}

int main(void)
{
    mk_config config = Twice_defaults;
    struct Twice_ports ports = {.device_frame = on_frame};
    struct Twice_params params = Twice_default_params;
    struct Twice *stack = Twice_init(aligned_alloc(64, (Twice_size(&config) + 63) / 64 * 64), &config, &params, &ports);
    Twice_start(stack, 0);
    Twice_advance(stack, 0);
    for (uint32_t size = 1; size <= 2; size++) {
        struct Twice_returned left;
        Twice_app_send_to_returned(stack, 0, (mk_octets){(const uint8_t *)"hi", size}, &left);
        if (left.output == Twice_RETURNED_DEVICE_FRAME)
            printf("returned: %02x\n", left.device_frame.msg.at[0]);
        else
            puts("returned: nothing");
    }
    free(stack);
    return 0;
}
"#;

/// Sends until the credit is used up, first from within a frame's callback, then at once: what each call answers.
const BEYOND: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include "Sliding.h"

static struct Sliding *stack;
static mk_handle session;
static int begun, taken;

static bool say(void)
{
    return Sliding_users_send(stack, 0, session, (mk_octets){(const uint8_t *)"a message", 9});
}

static void on_frame(void *context, mk_octets frame)
{
    (void)context, (void)frame;
    if (begun++)
        return;
    while (taken < 1000 && say())
        taken++;
}

static void on_opened(void *context, uint32_t user, mk_handle opened, uint16_t local_port, uint16_t remote_port)
{
    (void)context, (void)user, (void)local_port, (void)remote_port;
    session = opened;
}

int main(void)
{
    mk_config config = Sliding_defaults;
    struct Sliding_ports ports = {.device_frame = on_frame, .users_opened = on_opened};
    struct Sliding_params params = Sliding_default_params;
    stack = Sliding_init(aligned_alloc(64, (Sliding_size(&config) + 63) / 64 * 64), &config, &params, &ports);
    Sliding_start(stack, 0);
    Sliding_users_open(stack, 0, 1, 1000, 2000);
    bool first = say();
    printf("%d, %d more from within, then %d\n", first, taken, say());
    free(stack);
    return 0;
}
"#;

/// Sends more than the credit in one batch, then lets the stack take frames in batches, later and later; says what each answers.
const IN_BATCHES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "Sliding.h"

enum { MANY = 100 };

static struct Sliding *stack;
static mk_handle session;
static uint8_t frames[MANY][64], text[MANY];
static struct Sliding_device_frame_call kept[MANY];
static size_t count;

static size_t send_all(uint64_t now, const struct Sliding_users_send_call *calls, size_t many)
{
#ifdef IN_BATCHES
    return Sliding_users_send_batch(stack, now, calls, many);
#else
    for (size_t i = 0; i < many; i++)
        if (!Sliding_users_send(stack, now, calls[i].session, calls[i].msg))
            return i;
    return many;
#endif
}

static size_t take_all(uint64_t now, const struct Sliding_device_frame_call *calls, size_t many)
{
#ifdef IN_BATCHES
    return Sliding_device_frame_batch(stack, now, calls, many);
#else
    for (size_t i = 0; i < many; i++)
        if (!Sliding_device_frame(stack, now, calls[i].msg))
            return i;
    return many;
#endif
}

static void on_frame(void *context, mk_octets frame)
{
    (void)context;
    printf("frame");
    for (size_t i = 0; i < frame.size; i++)
        printf(" %02x", frame.at[i]);
    printf("\n");
    if (count < MANY && frame.size <= sizeof *frames) {
        memcpy(frames[count], frame.at, frame.size);
        kept[count] = (struct Sliding_device_frame_call){{frames[count], frame.size}};
        if (++count == 3) /* a call from within */
            printf("%d from within\n", Sliding_users_send(stack, 0, session, (mk_octets){text, 5}));
    }
}

static void on_deliver(void *context, mk_handle to, mk_octets message)
{
    (void)context;
    printf("%u gets %u: %02x\n", to.object, message.size, message.size ? message.at[0] : 0);
}

static void on_opened(void *context, uint32_t user, mk_handle opened, uint16_t local_port, uint16_t remote_port)
{
    (void)context, (void)user, (void)local_port, (void)remote_port;
    session = opened;
}

int main(void)
{
    mk_config config = Sliding_defaults;
    struct Sliding_ports ports = {.device_frame = on_frame, .users_opened = on_opened, .users_deliver = on_deliver};
    struct Sliding_params params = Sliding_default_params;
    stack = Sliding_init(aligned_alloc(64, (Sliding_size(&config) + 63) / 64 * 64), &config, &params, &ports);
    Sliding_start(stack, 0);
    Sliding_users_listen(stack, 0, 2, 1000);
    Sliding_users_open(stack, 0, 1, 1000, 1000);
    static struct Sliding_users_send_call calls[MANY];
    for (uint8_t i = 0; i < MANY; i++)
        text[i] = i, calls[i] = (struct Sliding_users_send_call){session, {text + i, i % 7u}};
    struct Sliding_users_send_call zeros = {{0}, {text, 1}}; /* of nobody, though the first session lives */
    printf("%zu sent by zeros\n", send_all(0, &zeros, 1));
    printf("%zu sent\n", send_all(0, calls, MANY));
    for (uint64_t now = 1; now < 20; now++) {
        printf("%zu taken\n", take_all(now * now * 100000000, kept, count));
        printf("%zu sent\n", send_all(now * now * 100000000, calls + now, 2));
    }
    calls[1].session.generation ^= 1; /* of nobody */
    printf("%zu sent\n", send_all(40000000000, calls, 3));
    free(stack);
    return 0;
}
"#;

/// The output of a program that calls a stack from each callback.
fn answers(folder: &str, files: &[(String, String)], (stack, program): (&str, &str)) -> String {
    let mut files = files.to_vec();
    files.push(("main.c".to_owned(), program.to_owned()));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("answers").join(stack).join(folder);
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    for (name, text) in &files {
        std::fs::write(folder.join(name), text).expect("a file in the folder of tests");
    }
    let compiled = Command::new("cc")
        .args([
            "-std=c11",
            "-Werror",
            "-O0",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
            "-I.",
            "-o",
            "program",
        ])
        .args(["mokume.c", &format!("{stack}.c"), "main.c"])
        .current_dir(&folder)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(folder.join("program")).output().expect("the program");
    format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
}

/// Each change of what paths hand over shows in the program's output.
fn is_seen(faults: &[(&str, &str, &str)], files: &[(String, String)], program: (&str, &str), right: &str) {
    for (name, from, to) in faults {
        let mut files = files.to_vec();
        let changed: usize = files.iter().map(|(_, text)| text.matches(from).count()).sum();
        assert!(changed > 0, "{name}: nothing to change");
        files.iter_mut().for_each(|(_, text)| *text = text.replace(from, to));
        assert_ne!(answers(name, &files, program), right, "{name}");
    }
}

const NESTED: (&str, &str, &str) = ("nested", "if (MK_UNLIKELY(k->core.leaving))", "if (0)");
const WRITTEN_OVER: (&str, &str, &str) = ("written_over", "k->core.front -= FRONT;", "k->core.front -= 0;");
const FORGOTTEN: (&str, &str, &str) = ("forgotten", "return mk_end_quiet(&k->core);", "return true;");

/// docs/semantics.md, P1 and P2: with paths, too, a call from within an output is the next reaction, and its outputs
/// wait.
#[test]
fn calls_from_callbacks_are_the_next_reaction_on_paths() {
    let [plain, _, fused] = files("benches/sequencer.mok", "Numbered");
    let program = ("Numbered", ANSWERS);
    let (layers, right) = (answers("layers", &plain, program), answers("paths", &fused, program));
    assert!(layers.contains("message read") && layers.contains("frame read 101"), "{layers}");
    assert_eq!(layers, right);
    is_seen(&[NESTED, WRITTEN_OVER, FORGOTTEN], &fused, program, &right);
}

/// The calls from within callbacks are of the entries that return: nothing may be returned while another output leaves.
#[test]
fn nothing_is_returned_while_another_leaves() {
    let [plain, _, fused] = files_as("benches/sequencer.mok", "Numbered", RETURNED);
    let returned = format!("#define RETURNED\n{ANSWERS}");
    let program = ("Numbered", returned.as_str());
    let right = answers("returned_ordinary", &plain, ("Numbered", ANSWERS));
    assert!(answers("returned_layers", &plain, program) == right);
    assert!(answers("returned_paths", &fused, program) == right);
    let within = ("returned_within", "return !core->leaving && core->quiet", "return core->quiet");
    is_seen(&[within], &fused, program, &right);
}

/// A batch does what its calls do one by one.
#[test]
fn batches_do_what_their_calls_do() {
    let [plain, _, fused] = files_as("benches/stacks/sliding.mok", "Sliding", BATCHED);
    let batched = format!("#define IN_BATCHES\n{IN_BATCHES}");
    let program = ("Sliding", batched.as_str());
    let right = answers("one_by_one", &plain, ("Sliding", IN_BATCHES));
    assert!(right.contains("gets") && right.contains("from within"), "{right}");
    let is_refused = right.contains("0 sent by zeros\n") && right.contains("\n31 sent\n");
    assert!(is_refused, "a handle of zeros reaches the first session: {right}");
    assert_eq!(answers("batches_of_layers", &plain, program), right);
    assert_eq!(answers("batches_of_paths", &fused, program), right);
    let faults = [
        (
            "batch_goes_on",
            "            return i;\n    }\n    return count;",
            "            continue;\n    }\n    return count;",
        ),
        (
            "batch_says_one_more",
            "            return i;\n    }\n    return count;",
            "            return i + 1;\n    }\n    return count;",
        ),
        ("batch_of_the_first", "(k, now, calls[i].session, calls[i].msg)", "(k, now, calls[0].session, calls[0].msg)"),
        ("batch_without_time", "(k, now, calls[i].msg)", "(k, k->core.now, calls[i].msg)"),
        (
            "zeros_are_the_first",
            "uint32_t number = handle.object - 1;",
            "uint32_t number = handle.object - !!handle.object;",
        ),
    ];
    is_seen(&faults, &fused, program, &right);
}

/// Nothing may be returned where something is put off: it leaves behind, in the same call.
#[test]
fn nothing_is_returned_before_what_waits() {
    let (file, stack) = ("crates/driver/tests/twice.mok", "Twice");
    let [plain, _, fused] = files_as(file, stack, RETURNED);
    let program = (stack, TWICE);
    let right = answers("layers", &plain, program);
    assert_eq!(right, "handed over: 00\nreturned: nothing\nhanded over: 01\nhanded over: 02\nreturned: nothing\n");
    assert!(fused.iter().any(|(_, text)| text.contains("return_give_device_frame_fronted(k,")), "there is a path");
    let by_paths = answers("paths", &fused, program);
    assert_eq!(by_paths, "returned: 00\nhanded over: 01\nhanded over: 02\nreturned: nothing\n");
    let behind = ("returned_behind", "return !core->leaving && core->quiet != 0", "return !core->leaving");
    is_seen(&[behind], &fused, program, &by_paths);
}

/// The same where two outputs of a path leave at once: the second is unchanged, whatever was called from within the
/// first.
#[test]
fn outputs_that_leave_together_leave_in_order() {
    let [plain, _, fused] = files("benches/stacks/sliding.mok", "Sliding");
    let program = ("Sliding", PAIRS);
    let (layers, right) = (answers("layers", &plain, program), answers("paths", &fused, program));
    let times = |what: &str| layers.lines().filter(|line| line.starts_with(what)).count();
    assert!(times("message read") == 12 && times("frame read") > 16 && times("1 sent") > 8, "{layers}");
    assert_eq!(layers, right);
    let together = "give_device_frame_head_users_deliver(";
    assert!(fused.iter().any(|(_, text)| text.matches(together).count() > 1), "the two leave together");
    is_seen(&[NESTED, WRITTEN_OVER, FORGOTTEN], &fused, program, &right);
}

/// A call answers whether its own message was within the credit, whatever was sent from within it.
#[test]
fn a_call_answers_for_its_own_message() {
    let [plain, _, fused] = files("benches/stacks/sliding.mok", "Sliding");
    let program = ("Sliding", BEYOND);
    let right = answers("beyond", &plain, program);
    let more = right.strip_prefix("1, ").and_then(|rest| rest.strip_suffix(" more from within, then 0\n"));
    assert!(more.is_some_and(|more| more != "0" && more != "1000"), "{right}");
    assert_eq!(answers("beyond_by_paths", &fused, program), right);
    let text = &plain.iter().find(|(name, _)| name == "Sliding.c").expect("the stack").1;
    let before =
        text.split("bool is_within = ").nth(1).and_then(|rest| rest.split(';').next()).expect("what is compared");
    let late = format!("return mk_end(&k->core) && {before};");
    is_seen(&[("late", "return mk_end(&k->core) && is_within;", &late)], &plain, program, &right);
}
