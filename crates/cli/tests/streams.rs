//! `mokume connect`, `listen` and `forward` between our stacks, on loopback: they need no privilege.
//!
//! `tests/host/tools.py` covers them against the operating system's own stack.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// Killed at the end of the test, whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The two ends of a link: UDP devices, each the other's peer, on ports that were free a moment ago.
fn link() -> [String; 2] {
    let port = || UdpSocket::bind("127.0.0.1:0").unwrap();
    let (a, b) = (port(), port());
    let address = |socket: &UdpSocket| socket.local_addr().unwrap();
    [format!("udp:{},{}", address(&a), address(&b)), format!("udp:{},{}", address(&b), address(&a))]
}

/// Additional arguments: the stack stays after its stream has ended, as by default.
const LINGERS: &str = "--linger=3s";

fn mokume(words: &[&str], device: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    command.args(words).args(["--device", device, "--for", "60s"]).args(more);
    if words[0] != "forward" && !more.contains(&LINGERS) {
        command.args(["--linger", "0s"]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

const FIRST: [&str; 2] = ["--set", "address=10.9.0.1/24"];
const SECOND: [&str; 4] = ["--set", "address=10.9.0.2/24", "--set", "address6=fd00:9::2/64"];

/// Starts it, and waits until it reports that it is ready.
fn started(mut command: Command) -> Running {
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("listening") || line.starts_with("from"), "{line}");
    // Keeps reading, so that the process never blocks.
    std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    Running(child)
}

/// The output of a command for this input.
fn said(mut command: Command, octets: &[u8]) -> Output {
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let octets = octets.to_vec();
    let writer = std::thread::spawn(move || {
        // A command that has enough does not read the rest.
        let _ = input.write_all(&octets);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn some_octets() -> Vec<u8> {
    (0..300_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Both send and receive much, to the end; returns what the connecting one reported.
fn both_ways(listener: Running, connect: Command) -> String {
    let mut listener = listener;
    let mut input = listener.0.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(&some_octets()).unwrap());
    let mut output = listener.0.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut heard = Vec::new();
        output.read_to_end(&mut heard).unwrap();
        heard
    });
    let said = said(connect, &some_octets());
    let told = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.success(), "{told}");
    assert!(said.stdout == some_octets(), "{} octets came", said.stdout.len());
    writer.join().unwrap();
    assert!(reader.join().unwrap() == some_octets());
    assert!(listener.0.wait().unwrap().success());
    told
}

#[test]
fn two_stacks_talk_and_each_direction_ends_by_itself() {
    let [a, b] = link();
    let told =
        both_ways(started(mokume(&["listen", "7"], &b, &SECOND)), mokume(&["connect", "10.9.0.2", "7"], &a, &FIRST));
    assert_eq!(told, "", "who talks well says nothing beside");
}

/// Who names only ends of IPv6 was asked for an address of IPv4.
#[test]
fn one_family_needs_no_address_of_the_other() {
    let [a, b] = link();
    let own = ["--set", "address6=fd00:9::1/64"];
    let listener = started(mokume(&["listen", "fd00:9::2", "7"], &b, &SECOND[2..]));
    assert_eq!(both_ways(listener, mokume(&["connect", "fd00:9::2", "7"], &a, &own)), "");
    let told = said(mokume(&["connect", "10.9.0.2", "7"], &a, &own), b"");
    assert!(String::from_utf8_lossy(&told.stderr).contains("`address` has no value"), "{told:?}");
}

/// The line keeps the last acknowledgement of the side that ends first, after all is sent and received.
#[test]
fn the_last_word_is_said_behind_the_end() {
    let [a, b] = link();
    let mut listener = started(mokume(&["listen", "7"], &b, &SECOND));
    let more = [&FIRST[..], &["--weather", "delay 200 ms", LINGERS]].concat();
    let mut connect = mokume(&["connect", "10.9.0.2", "7"], &a, &more).spawn().unwrap();
    connect.stdin.take().unwrap().write_all(b"only this").unwrap();
    let mut heard = Vec::new();
    listener.0.stdout.take().unwrap().read_to_end(&mut heard).unwrap();
    assert_eq!(heard, b"only this", "the output ends with the other end's direction");
    drop(listener.0.stdin.take());
    assert!(listener.0.wait().unwrap().success(), "who ends second is answered");
    let connect = connect.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&connect.stderr).into_owned();
    assert!(connect.status.success() && told.contains("the stack stays 3 s"), "{told}");
}

/// The driver knows no protocol: here a session is with a station, and nothing of the internet is involved.
#[test]
fn a_stack_of_the_users_is_asked_how_its_ends_are_written() {
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/library/tcp_over_ethernet.mok");
    let file = ["--file", file.to_str().unwrap()];
    let [a, b] = link();
    let listener =
        started(mokume(&["listen", "7"], &b, &[&file[..], &["--set", "device.mac=02:00:00:00:00:02"]].concat()));
    both_ways(listener, mokume(&["connect", "02:00:00:00:00:02", "7"], &a, &file));
    let said = said(mokume(&["connect", "10.9.0.2", "7"], &a, &file), b"");
    let words = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(
        (said.status.code(), words.contains("it is written as in `80:00:00:00:00:01 80`")),
        (Some(2), true),
        "{words}"
    );
}

/// `>&-`: arriving data is lost, and the command reports it, as for an output that is full.
#[cfg(target_os = "linux")]
#[test]
fn what_comes_to_a_closed_output_is_lost_and_told() {
    let [a, b] = link();
    let mut listener = started(mokume(&["listen", "7"], &b, &SECOND));
    let mut input = listener.0.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(b"nobody hears this"));
    let connect = mokume(&["connect", "10.9.0.2", "7"], &a, &FIRST);
    let mut closed = Command::new("sh");
    closed.args(["-c", "exec \"$@\" >&-", "sh"]).arg(connect.get_program()).args(connect.get_args());
    closed.stdin(Stdio::piped()).stderr(Stdio::piped());
    let said = said(closed, b"");
    let told = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.status.code(), Some(1), "{told}");
    assert!(told.contains("standard input or output"), "{told}");
    let _ = writer.join();
}

#[test]
fn who_is_refused_hears_why() {
    let [a, b] = link();
    let _listener = started(mokume(&["listen", "7"], &b, &SECOND));
    let said = said(mokume(&["connect", "10.9.0.2", "8"], &a, &FIRST), b"hello");
    assert_eq!(said.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&said.stderr), "mokume: 10.9.0.2 8: refused\n");
}

/// Without a gateway, nothing is asked, and the command does not wait.
#[test]
fn who_asks_for_somebody_to_whom_no_way_leads_hears_it_at_once() {
    let [a, _] = link();
    let began = std::time::Instant::now();
    let said = said(mokume(&["connect", "192.0.2.7", "80"], &a, &FIRST), b"");
    let told = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.status.code(), Some(1), "{told}");
    assert!(told.contains("no way to 192.0.2.7 80") && told.contains("--set gateway="), "{told}");
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}

#[test]
fn what_is_wrong_is_one_line() {
    let on = ["--device", "udp:127.0.0.1:0", "--set", "address=10.9.0.1/24"];
    let nobody = |words: &[&'static str]| [words, &on].concat();
    let zeros = [
        nobody(&["listen", "0"]),
        nobody(&["connect", "10.9.0.2", "0"]),
        nobody(&["forward", "--from", "stack:0", "--to", "127.0.0.1:80"]),
        nobody(&["forward", "--from", "127.0.0.1:0", "--to", "10.9.0.2:0"]),
    ];
    let zeros = zeros.iter().map(|words| (words.as_slice(), "0 stands for any"));
    let cases: [(&[&str], &str); 8] = [
        (&["forward", "--from", "stack:80", "--to", "127.0.0.1:0"], "nobody is at port 0"),
        (
            &["connect", "10.9.0.2", "--device", "udp:127.0.0.1:0", "--set", "address=10.9.0.1/24"],
            "is no end of a stream",
        ),
        (&["connect", "10.9.0.2", "7", "--device", "udp:127.0.0.1:0"], "`address` has no value"),
        (&["connect", "10.9.0.2", "7", "--device", "udp:127.0.0.1:0", "--weather", "rain"], "no `rain`"),
        (&["connect", "10.9.0.2", "7", "--format", "json"], "carries the stream"),
        (&["forward", "--from", "nowhere", "--to", "10.9.0.2:7"], "no address of the operating system"),
        (
            &["forward", "--from", "stack:80", "--to", "127.0.0.1:1", "--from", "stack:80", "--to", "127.0.0.1:2"],
            "`--from stack:80` is there twice",
        ),
        (
            &["forward", "--from", "127.0.0.1:0", "--from", "127.0.0.1:0", "--to", "10.9.0.2:7"],
            "2 of `--from` and 1 of `--to`",
        ),
    ];
    for (words, wanted) in cases.into_iter().chain(zeros) {
        let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(words).stdin(Stdio::null()).output().unwrap();
        let (code, said) = (output.status.code(), [output.stderr, output.stdout].concat());
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(code == Some(2) && said.contains(wanted) && said.lines().count() == 1, "{words:?}: {code:?} {said}");
    }
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/host.mok");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    let output = command.args(["listen", "7", "--file", host.to_str().unwrap()]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("gives no stream at a port"), "{output:?}");
}

/// From a socket of this machine through one stack, over the link, and through another to a socket of this machine.
#[test]
fn ports_are_forwarded_out_and_in() {
    let (server, _inner, device) = server_behind_a_stack();
    let mut outer = outer(&device).spawn().unwrap();
    let mut said = BufReader::new(outer.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let outer = Running(outer);
    let port = line.split_whitespace().nth(1).unwrap_or_else(|| panic!("{line}")).to_string();
    let serving = std::thread::spawn(move || {
        let (mut talk, _) = server.accept().unwrap();
        let mut heard = Vec::new();
        talk.read_to_end(&mut heard).unwrap();
        // After the end of the request: this direction is still open.
        talk.write_all(&heard).unwrap();
    });
    let mut client = TcpStream::connect(port).unwrap();
    let octets = some_octets();
    client.write_all(&octets).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut heard = Vec::new();
    client.read_to_end(&mut heard).unwrap();
    assert!(heard == octets, "{} octets came back", heard.len());
    serving.join().unwrap();
    drop(outer);
}

/// Like Ctrl-C.
fn interrupt(running: &Running) {
    let id = running.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

/// A peer that leaves before it sends anything does not count: the next one gets what was meant for it.
#[test]
fn who_listens_waits_for_another_where_the_first_was_nobody() {
    let [a, b] = link();
    let mut listener = started(mokume(&["listen", "7"], &b, &SECOND));
    listener.0.stdin.take().unwrap().write_all(b"welcome").unwrap();
    let mut first = Running(mokume(&["connect", "10.9.0.2", "7"], &a, &FIRST).spawn().unwrap());
    let _open = first.0.stdin.take();
    let mut heard = [0; 7];
    first.0.stdout.take().unwrap().read_exact(&mut heard).unwrap();
    interrupt(&first);
    assert_eq!((&heard, first.0.wait().unwrap().code()), (b"welcome", Some(1)));
    drop(first);
    let second = said(mokume(&["connect", "10.9.0.2", "7"], &a, &FIRST), b"here I am");
    assert!(second.status.success() && second.stdout == b"welcome", "{second:?}");
    let mut heard = Vec::new();
    listener.0.stdout.take().unwrap().read_to_end(&mut heard).unwrap();
    assert_eq!((heard.as_slice(), listener.0.wait().unwrap().code()), (&b"here I am"[..], Some(0)));
}

/// A stream that is cut is no success; without a stream, being stopped is the normal end.
#[test]
fn streams_that_are_cut_are_counted() {
    for (talks, wanted) in [(true, 1), (false, 0)] {
        let [a, b] = link();
        let listener = started(mokume(&["listen", "7"], &b, &SECOND));
        let mut forward =
            mokume(&["forward", "--from", "127.0.0.1:0", "--to", "10.9.0.2:7"], &a, &FIRST).spawn().unwrap();
        let mut said = BufReader::new(forward.stderr.take().unwrap());
        let mut forward = Running(forward);
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let client = talks.then(|| {
            let mut client = TcpStream::connect(line.split_whitespace().nth(1).unwrap()).unwrap();
            client.write_all(b"one").unwrap();
            let mut listener = listener;
            listener.0.stdout.take().unwrap().read_exact(&mut [0; 3]).unwrap();
            (client, listener)
        });
        interrupt(&forward);
        let mut told = String::new();
        said.read_to_string(&mut told).unwrap();
        assert_eq!(
            (forward.0.wait().unwrap().code(), told.contains("1 stream was cut")),
            (Some(wanted), talks),
            "{told}"
        );
        drop(client);
    }
}

#[test]
fn who_is_silent_is_spoken_of_and_given_up() {
    let [a, _b] = link();
    let more = [&FIRST[..], &["--timeout", "4s"]].concat();
    let output = said(mokume(&["connect", "10.9.0.2", "7"], &a, &more), b"");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert_eq!(
        lines,
        ["no answer yet from 10.9.0.2 7; gives up after 4 s (--timeout)", "mokume: 10.9.0.2 7: no answer in 4 s"]
    );
}

/// The lines that a process writes to its standard error, as they come.
fn lines_of(child: &mut Child) -> std::sync::mpsc::Receiver<String> {
    let said = BufReader::new(child.stderr.take().unwrap());
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || said.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
    told
}

/// The first line with this in it, within a minute.
fn line_with(told: &std::sync::mpsc::Receiver<String>, part: &str) -> String {
    let mut all = Vec::new();
    loop {
        match told.recv_timeout(std::time::Duration::from_secs(60)) {
            Ok(line) if line.contains(part) => return line,
            Ok(line) => all.push(line),
            Err(error) => panic!("{part}: {error}: {all:?}"),
        }
    }
}

/// A server of this machine behind port 80 of a stack, and the device of another stack that is linked to that one.
fn server_behind_a_stack() -> (TcpListener, Running, String) {
    let [a, b] = link();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let served = server.local_addr().unwrap().to_string();
    let inner = started(mokume(&["forward", "--from", "stack:80", "--to", &served], &b, &SECOND));
    (server, inner, a)
}

/// Forwards a port of this machine to that server.
fn outer(device: &str) -> Command {
    mokume(&["forward", "--from", "127.0.0.1:0", "--to", "10.9.0.2:80"], device, &FIRST)
}

/// A client that is gone is noticed although nothing can be read from it, as the other side takes nothing.
#[test]
fn who_is_gone_while_nothing_is_taken_is_noticed() {
    let (server, _inner, device) = server_behind_a_stack();
    let mut outer = Running(outer(&device).spawn().unwrap());
    let told = lines_of(&mut outer.0);
    let port = line_with(&told, "from").split_whitespace().nth(1).unwrap().to_string();
    let mut client = TcpStream::connect(port).unwrap();
    let (mut never_reads, _) = server.accept().unwrap();
    // One octet for the client, which it leaves: closing then resets.
    never_reads.write_all(b"x").unwrap();
    client.peek(&mut [0]).unwrap();
    client.set_write_timeout(Some(std::time::Duration::from_secs(2))).unwrap();
    while client.write(&[0; 65536]).is_ok() {}
    drop(client);
    let line = line_with(&told, "127.0.0.1");
    assert!(line.to_lowercase().contains("reset"), "{line}");
}

/// Without descriptors connections wait, and that is said; they go on when others have ended.
#[test]
fn connections_wait_for_descriptors() {
    let (server, _inner, device) = server_behind_a_stack();
    let whole = outer(&device);
    let mut few = Command::new("sh");
    few.args(["-c", "ulimit -n 16; exec \"$0\" \"$@\""]).arg(whole.get_program()).args(whole.get_args());
    let mut outer = Running(few.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let told = lines_of(&mut outer.0);
    let port = line_with(&told, "from").split_whitespace().nth(1).unwrap().to_string();
    let clients: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(&port).unwrap()).collect();
    assert!(line_with(&told, "connections wait").contains("ulimit -n"));
    drop(clients);
    let (tell, heard_later) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for talk in server.incoming() {
            let mut heard = [0; 5];
            if talk.unwrap().read_exact(&mut heard).is_ok() && heard == *b"later" {
                return tell.send(());
            }
        }
        Ok(())
    });
    let mut client = TcpStream::connect(&port).unwrap();
    client.write_all(b"later").unwrap();
    heard_later.recv_timeout(std::time::Duration::from_secs(60)).expect("the server hears it");
}
