//! Groups on real sockets: members of a chat are separate processes, over UDP and over a multicast group. One is killed
//! and comes back. Also checks that the commands of the tutorial's chapter on groups print what the page shows.
//!
//! Nothing here relies on delays: each step waits for the members' output. On a busy machine, a member that does not
//! run for some time is excluded and joins again; a line that was sent meanwhile is sent again, as a new one.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(90);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A member: a running process, its standard input, and its output so far.
struct Member {
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
}

impl Member {
    fn start(command: &mut Command) -> Member {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let streams: [Box<dyn std::io::Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for stream in streams {
            let said = said.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    said.lock().unwrap().push(line);
                }
            });
        }
        Member { child, said }
    }

    fn says(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    /// The members of its current view, by their numbers: ranks depend on the order in which members found each other.
    fn view(&self) -> Vec<u64> {
        self.said().iter().rev().find_map(|line| members(line)).unwrap_or_default()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The members of the view in a line: their count follows its number and our rank.
fn members(line: &str) -> Option<Vec<u64>> {
    let numbers = line.split_once("app.view(")?.1.trim_end_matches(')');
    let numbers: Vec<u64> = numbers.split(", ").map(|number| number.parse().unwrap()).collect();
    let mut members = numbers[3..3 + usize::try_from(numbers[2]).unwrap()].to_vec();
    members.sort_unstable();
    Some(members)
}

fn wait(members: &[&Member], what: &str, is_done: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_done() {
        let said: Vec<String> = members.iter().map(|member| member.said().join("\n")).collect();
        assert!(began.elapsed() < PATIENCE, "{what} does not come:\n{}", said.join("\n\n"));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether all are in one view of these members.
fn wait_for_view(all: &[&Member], of: &[u64]) {
    wait(all, &format!("a view of {of:?}"), || all.iter().all(|member| member.view() == of));
}

/// The member's line reaches all, however often it must be sent.
fn say_to_all(all: &mut [&mut Member], who: usize, line: &str) {
    for attempt in 0.. {
        let line = format!("{line} {attempt}");
        all[who].says(&line);
        let quoted = format!("{line:?}");
        let began = Instant::now();
        let has = |member: &Member| member.said().iter().any(|said| said.contains(&quoted));
        while !all.iter().all(|member| has(member)) {
            if began.elapsed() > Duration::from_secs(3) {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        if all.iter().all(|member| has(member)) {
            return;
        }
        assert!(attempt < 20, "`{line}` does not come to all: {:?}", all[who].said());
    }
}

/// What was delivered between two successive views: the views' lines, and the lines between them.
type Stretch = ((String, String), Vec<String>);

fn stretches(said: &[String]) -> Vec<Stretch> {
    let mut found = Vec::new();
    let (mut view, mut lines) = (None::<String>, Vec::new());
    for line in said {
        if let Some((_, words)) = line.split_once("app.view(") {
            // All but our own rank.
            let numbers: Vec<&str> = words.split(", ").collect();
            let words = [&numbers[..1], &numbers[2..]].concat().join(" ");
            if let Some(before) = view.replace(words.clone()) {
                found.push(((before, words), std::mem::take(&mut lines)));
            }
        } else if let Some((_, words)) = line.split_once("app.deliver_from(") {
            lines.push(words.split_once(", ").unwrap().1.to_string());
        }
    }
    found
}

/// Members that went from one view to the same next one delivered the same casts in the same order, and none twice.
fn assert_agreed(lives: &[Vec<String>]) {
    for (at, one) in lives.iter().enumerate() {
        let mut seen = BTreeSet::new();
        for (views, lines) in stretches(one) {
            for line in &lines {
                assert!(seen.insert(line.clone()), "{line} comes twice");
            }
            for other in &lives[at + 1..] {
                for (same, theirs) in stretches(other) {
                    assert!(same != views || theirs == lines, "{views:?}: {lines:?} and {theirs:?}");
                }
            }
        }
    }
}

fn run(folder: &Path, device: &str, own: u32, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    command.current_dir(folder).args(["run", "chat.mok", "--device", device, "--set", &format!("own={own}")]);
    command.args(["--set", "every=100ms", "--lines", "app.send_to(0, 255, line)"]).args(more);
    command
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(root().join("examples/chat.mok"), folder.join("chat.mok")).unwrap();
    folder
}

/// Free UDP ports of this machine.
fn free_ends(count: usize) -> Vec<String> {
    let sockets: Vec<UdpSocket> = (0..count).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    sockets.iter().map(|socket| socket.local_addr().unwrap().to_string()).collect()
}

/// One is killed, and the others go on. It comes back as another member, and hears what is sent from then on.
fn killed_and_back(name: &str, more: &[&str]) {
    let folder = folder(name);
    let ends = free_ends(3);
    let device = |at: usize| format!("udp:{},{}", ends[at], ends.join(","));
    let start = |at: usize, own: u32| Member::start(&mut run(&folder, &device(at), own, more));
    let (mut first, mut second, mut third) = (start(0, 1), start(1, 2), start(2, 3));
    wait_for_view(&[&first, &second, &third], &[1, 2, 3]);
    for at in 0..3 {
        say_to_all(&mut [&mut first, &mut second, &mut third], at, &format!("{at} to all"));
    }
    // The member that defines the order of casts, without a word from it.
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    wait_for_view(&[&second, &third], &[2, 3]);
    say_to_all(&mut [&mut second, &mut third], 1, "one has gone");
    let mut back = start(0, 17);
    wait(&[&second, &third, &back], "a view of three", || {
        [&second, &third, &back].iter().all(|member| member.view().len() == 3)
    });
    say_to_all(&mut [&mut second, &mut third, &mut back], 2, "back again");
    let before = back.said();
    assert!(!before.iter().any(|line| line.contains("one has gone")), "it was not there: {before:?}");
    assert_agreed(&[first.said(), second.said(), third.said(), back.said()]);
}

#[test]
fn a_member_is_killed_and_comes_back() {
    killed_and_back("killed", &[]);
}

#[test]
fn a_member_in_c_is_killed_and_comes_back_on_a_bad_line() {
    killed_and_back("killed_in_c", &["--backend", "c", "--weather", "loss 5 % duplicate 2 % delay 1 ms .. 5 ms"]);
}

#[test]
fn a_check_finds_another_order() {
    let said = |lines: &[&str]| lines.iter().map(|line| line.to_string()).collect::<Vec<_>>();
    let one = said(&[
        "app.view(7, 0, 1, 1)",
        "app.deliver_from(0, 1, \"a\")",
        "app.deliver_from(0, 0, \"b\")",
        "app.view(9, 0, 1, 1)",
    ]);
    let other = said(&[
        "app.view(7, 1, 1, 1)",
        "app.deliver_from(1, 0, \"b\")",
        "app.deliver_from(1, 1, \"a\")",
        "app.view(9, 1, 1, 1)",
    ]);
    assert_agreed(&[one.clone(), one.clone()]);
    assert!(std::panic::catch_unwind(|| assert_agreed(&[one, other])).is_err());
}

/// A group of three hosts, each a network namespace with a link to a bridge: by multicast, and by a list of peers.
#[test]
fn three_hosts_are_a_group() {
    let can = "ip link add probe0 type veth peer name probe1 && command -v nsenter";
    let is_possible = Command::new("unshare").args(["-n", "sh", "-c", can]).output();
    if !is_possible.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: no network namespaces here");
        return;
    }
    let folder = folder("hosts");
    // The namespaces live as long as these processes: the first has the bridge.
    let sleeping = || {
        let mut command = Command::new("unshare");
        Member::start(command.args(["-n", "sh", "-c", "echo here; exec sleep 600"]))
    };
    let spaces: Vec<Member> = (0..4).map(|_| sleeping()).collect();
    let all: Vec<&Member> = spaces.iter().collect();
    wait(&all, "a namespace", || all.iter().all(|space| !space.said().is_empty()));
    let within = |at: usize, program: &str| {
        let mut command = Command::new("nsenter");
        command.args(["-t", &spaces[at].child.id().to_string(), "-n", program]);
        command
    };
    let ip = |at: usize, line: &str| {
        let output = within(at, "ip").args(line.split_whitespace()).output().unwrap();
        assert!(output.status.success(), "ip {line}: {}", String::from_utf8_lossy(&output.stderr));
    };
    ip(0, "link add lan type bridge");
    ip(0, "link set lan up");
    for (host, space) in spaces.iter().enumerate().skip(1) {
        ip(0, &format!("link add to{host} type veth peer name eth0 netns {}", space.child.id()));
        ip(0, &format!("link set to{host} master lan up"));
        ip(host, &format!("address add 10.9.0.{host}/24 dev eth0"));
        ip(host, "link set eth0 up");
    }
    for (peers, base) in [("10.9.0.1:7001,10.9.0.2:7001,10.9.0.3:7001", 0), ("239.255.7.1:7000", 3)] {
        let member = |host: usize| {
            let own = u32::try_from(base + host).unwrap();
            let run = run(&folder, &format!("udp:10.9.0.{host}:7001,{peers}"), own, &[]);
            let mut command = within(host, run.get_program().to_str().unwrap());
            Member::start(command.args(run.get_args()).current_dir(&folder))
        };
        let mut members = [member(1), member(2), member(3)];
        let of = [base + 1, base + 2, base + 3].map(|own| own as u64);
        wait_for_view(&members.iter().collect::<Vec<_>>(), &of);
        for at in 0..3 {
            say_to_all(&mut members.iter_mut().collect::<Vec<_>>(), at, &format!("host {at}"));
        }
        assert_agreed(&members.each_ref().map(Member::said));
    }
}

/// The chat in C, as a separate program, and one under `mokume run` form a group.
#[test]
fn a_program_in_c_is_a_member() {
    let folder = folder("in_c");
    let mut build = Command::new(env!("CARGO_BIN_EXE_mokume"));
    build.args(["build", "chat.mok", "--stack", "Chat", "-o", "out"]).current_dir(&folder);
    assert!(build.output().unwrap().status.success());
    let cc = Command::new("cc")
        .args("-std=gnu11 -Wall -Wextra -Werror -O1 -I out out/Chat.c out/mokume.c -o chat".split(' '))
        .arg(root().join("runtime/examples/chat.c"))
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
    let ends = free_ends(3);
    let chat = |own: usize, ends: [&String; 3]| {
        Member::start(Command::new(folder.join("chat")).arg(own.to_string()).args(ends))
    };
    let mut first = chat(1, [&ends[0], &ends[1], &ends[2]]);
    let mut second = chat(2, [&ends[1], &ends[0], &ends[2]]);
    // Suspicion has its default settings.
    let mut third = Member::start(&mut run(
        &folder,
        &format!("udp:{},{},{}", ends[2], ends[0], ends[1]),
        3,
        &["--set", "every=30ms"],
    ));
    wait(&[&first, &second, &third], "a view of three", || {
        let of_c = |member: &Member| {
            let said = member.said();
            let view = said
                .iter()
                .rev()
                .find_map(|line| line.strip_prefix("view: ")?.split_once("; "))
                .map(|(view, _)| view.len());
            view == Some("1 2 3".len())
        };
        of_c(&first) && of_c(&second) && third.view() == [1, 2, 3]
    });
    for (at, line) in ["from C", "and from C", "from the command"].iter().enumerate() {
        let members = [&mut first, &mut second, &mut third];
        members.into_iter().nth(at).unwrap().says(line);
        let all = [&first, &second, &third];
        wait(&all, line, || all.iter().all(|member| member.said().iter().any(|said| said.contains(line))));
    }
    let wrong = Command::new(folder.join("chat")).args(["1", "nowhere"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

/// The tutorial's commands. Each `mokume run` is a member. Text after `>` is typed when all are in one view. The
/// members must print what the page shows, except for times and the numbers of views.
#[test]
fn the_chapter_on_groups_says_what_happens() {
    let folder = folder("chapter");
    let page = std::fs::read_to_string(root().join("docs/tutorial-group.md")).unwrap();
    let source = page.split("```mok\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the stack");
    let example = std::fs::read_to_string(root().join("examples/chat.mok")).unwrap();
    assert!(example.contains(source.trim()), "examples/chat.mok has what the page shows");
    // Times and numbers of views differ, and ranks depend on the order in which members found each other.
    let without_numbers = |line: &str| {
        let words = line.trim_start().split_once("  ").map_or(line, |(_, words)| words).trim();
        match (members(words), words.split_once("app.deliver_from(")) {
            (Some(members), _) => format!("a view of {members:?}"),
            (None, Some((_, words))) => format!("delivered {}", words.rsplit(", ").next().unwrap()),
            (None, None) => words.to_string(),
        }
    };
    let block = page.split("```console\n").find(|block| block.contains("mokume run")).expect("commands");
    let lines: Vec<&str> = block.split("```").next().unwrap().lines().collect();
    let mut members: Vec<(Member, Vec<String>)> = Vec::new();
    let mut typed: Vec<(usize, &str)> = Vec::new();
    for line in lines {
        if let Some(command) = line.strip_prefix("$ ") {
            let command = command.replacen("mokume ", &format!("exec {} ", env!("CARGO_BIN_EXE_mokume")), 1);
            let mut shell = Command::new("bash");
            members.push((Member::start(shell.args(["-c", &command]).current_dir(&folder)), Vec::new()));
        } else if let Some(text) = line.strip_prefix("> ") {
            typed.push((members.len() - 1, text));
        } else if line.contains("app.") {
            members.last_mut().unwrap().1.push(without_numbers(line));
        }
    }
    assert!(members.len() == 3 && typed.len() >= 2, "three members and what they say");
    let refer = |members: &[(Member, Vec<String>)], is_done: &dyn Fn(&Member) -> bool, what: &str| {
        let all: Vec<&Member> = members.iter().map(|(member, _)| member).collect();
        wait(&all, what, || all.iter().all(|member| is_done(member)));
    };
    refer(&members, &|member| member.view().len() == 3, "a view of three");
    for (at, text) in typed {
        members[at].0.says(text);
        refer(&members, &|member| member.said().iter().any(|line| line.contains(&format!("{text:?}"))), text);
    }
    for (member, shown) in &members {
        let said: Vec<String> = member.said().iter().map(|line| without_numbers(line)).collect();
        for line in shown {
            assert!(said.contains(line), "`{line}` is not said:\n{}", member.said().join("\n"));
        }
    }
}
