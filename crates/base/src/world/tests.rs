//! What both worlds promise.

use super::*;

const LONG: Duration = Duration::from_secs(60);

fn files(world: &dyn World, root: &str) {
    let at = |name: &str| format!("{root}/{name}");
    assert!(!world.exists(&at("a/b.mok")));
    assert!(world.read(&at("a/b.mok")).is_err());
    assert!(world.list(&at("a")).is_err());
    world.write(&at("a/b.mok"), b"one").unwrap();
    world.write(&at("a/c/d.mok"), &[0xff]).unwrap();
    assert_eq!(world.read_text(&at("a/b.mok")).unwrap(), "one");
    assert!(world.read_text(&at("a/c/d.mok")).is_err(), "0xff is no text");
    assert!(world.exists(&at("a/c")) && world.exists(&at("a/c/d.mok")));
    assert_eq!(world.list(&at("a")).unwrap(), ["b.mok", "c/"]);
    world.make_folder(&at("a/e/f")).unwrap();
    assert!(world.is_folder(&at("a/e")) && world.is_folder(&at("a/c")) && !world.is_folder(&at("a/b.mok")));
    assert_eq!((world.list(&at("a/e")).unwrap(), world.list(&at("a/e/f")).unwrap()), (vec!["f/".into()], vec![]));
    world.rename(&at("a/b.mok"), &at("a/c/d.mok")).unwrap();
    assert_eq!(world.read_text(&at("a/c/d.mok")).unwrap(), "one");
    assert_eq!(world.absolute(&at("a/e/../c")).unwrap(), world.absolute(&at("a/c")).unwrap());
    assert!(world.absolute(&at("a/b.mok")).is_err() && world.remove(&at("a/b.mok")).is_err());
    world.remove(&at("a/c")).unwrap();
    assert!(!world.exists(&at("a/c/d.mok")) && world.exists(&at("a/e/f")));
}

#[test]
fn both_worlds_keep_files_alike() {
    files(&MemoryWorld::new(), "here");
    let root = std::env::temp_dir().join(format!("mokume-world-{}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    files(&RealWorld, root.to_str().unwrap());
    std::fs::remove_dir_all(&root).unwrap();
}

#[test]
fn a_program_gets_its_input_and_gives_its_output() {
    let input = vec![b'x'; 300_000]; // more than a pipe holds
    let output = RealWorld.run(&Invocation::of("cat"), &input, LONG).unwrap();
    assert_eq!((output.status, output.timed_out, output.stdout.len()), (Some(0), false, input.len()));
    let failed = RealWorld.run(&Invocation::of("sh").args(["-c", "echo no >&2; exit 3"]), &input, LONG).unwrap();
    assert_eq!((failed.status, failed.stderr.as_slice()), (Some(3), b"no\n".as_slice()));
    assert!(RealWorld.run(&Invocation::of("no-such-program-here"), b"", LONG).is_err());
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    let output = RealWorld.run(&Invocation::of("sleep").args(["1000"]), b"", Duration::from_millis(20)).unwrap();
    assert!(output.timed_out && output.status.is_none());
    let script = "echo begun; sleep 1000; echo never";
    let output = RealWorld.run(&Invocation::of("sh").args(["-c", script]), b"", Duration::from_millis(500)).unwrap();
    assert!(output.timed_out && output.status.is_none());
}

#[test]
fn a_world_in_memory_runs_functions() {
    let world = MemoryWorld::new()
        .with_program("double", |_, input| Output { status: Some(0), stdout: input.repeat(2), ..Output::default() })
        .with_environment("HOME", "/here");
    assert_eq!(world.run(&Invocation::of("double"), b"ab", LONG).unwrap().stdout, b"abab");
    assert!(world.run(&Invocation::of("other"), b"", LONG).is_err());
    assert_eq!((world.environment("HOME").as_deref(), world.environment("PATH")), (Some("/here"), None));
    assert_eq!((world.now(), world.seed()), (Duration::ZERO, 0));
    assert!(world.with_file("./a//b", "c").exists("a/b"));
}

#[test]
fn a_program_runs_in_its_folder() {
    let output = RealWorld.run(&Invocation::of("pwd").within("/"), b"", LONG).unwrap();
    assert_eq!(output.stdout, b"/\n");
}

/// Writes a line, and reads one octet of the answer.
fn talk(world: &dyn World, program: &Invocation) -> (u8, Exit) {
    let mut running = world.start(program).unwrap();
    running.write_all(b"x").unwrap();
    running.flush().unwrap();
    let mut answer = [0];
    running.read_exact(&mut answer).unwrap();
    (answer[0], running.finish())
}

#[test]
fn a_program_is_talked_with_in_both_worlds() {
    let (answer, exit) = talk(&RealWorld, &Invocation::of("sh").args(["-c", "cat; echo over >&2; exit 3"]));
    assert_eq!((answer, exit.how.as_str(), exit.stderr.as_str()), (b'x', "exit status: 3", "over\n"));
    let world = MemoryWorld::new().with_partner("echo", |said| said.to_vec());
    assert_eq!(talk(&world, &Invocation::of("echo")).0, b'x');
    assert!(world.start(&Invocation::of("other")).is_err());
}

#[test]
fn a_tool_in_memory_writes_files_where_it_runs() {
    let world = MemoryWorld::new().with_tool("touch", |world, invocation, _| {
        world.write(&world.path_of(invocation, &invocation.args[0]), b"").unwrap();
        Output { status: Some(0), ..Output::default() }
    });
    let output = world.run(&Invocation::of("touch").args(["../b"]).within("a/c"), b"", LONG).unwrap();
    assert!(output.is_success() && world.exists("a/b"));
}
