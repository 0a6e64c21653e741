//! `mokume run` over the operating system's UDP, on loopback: it needs no privilege, and both back ends answer alike.

use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const PROGRAM: &str = "/// Answers with what it got, numbered.
endpoint Answers {
    header { number: u8 }
    entity { var answered: u8 = 0 }
    on deliver(msg) from flow {
        answered += 1
        below.send(msg, number: answered) to flow
    }
}
stack Server(device: Device) { answers = Answers over device }
";

/// Killed at the end of the test, whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn answers(backend: &str) -> Vec<Vec<u8>> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("answers-{backend}.mok"));
    std::fs::write(&file, PROGRAM).unwrap();
    // Free a moment ago; if another process takes it in between, the test fails visibly.
    let port = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Command::new(env!("CARGO_BIN_EXE_mokume"))
        .args(["run", file.to_str().unwrap(), "--backend", backend, "--for", "60s"])
        .args(["--device", &format!("udp:127.0.0.1:{port}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut server = Running(server);
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.connect(("127.0.0.1", port)).unwrap();
    client.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut answers = Vec::new();
    let mut packet = [0; 64];
    for _ in 0..500 {
        // Until the server listens, the system returns an error, or nothing.
        let _ = client.send(b"\x00hello");
        if let Ok(size) = client.recv(&mut packet) {
            answers.push(packet[..size].to_vec());
            if answers.len() == 3 {
                break;
            }
        } else {
            assert!(server.0.try_wait().unwrap().is_none(), "the server has ended");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    answers
}

/// A capture of a real device has the date on which it was made.
#[test]
fn a_capture_begins_now() {
    let capture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("announced.pcap");
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/host.mok");
    let began = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let output = Command::new(env!("CARGO_BIN_EXE_mokume"))
        .args(["run", host.to_str().unwrap(), "--for", "300ms", "--set", "address=10.0.0.1/24"])
        .args(["--device", "udp:127.0.0.1:0,127.0.0.1:9", "--pcap", capture.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let octets = std::fs::read(capture).unwrap();
    let seconds = u32::from_le_bytes(octets[24..28].try_into().expect("a host announces its address"));
    assert!((began..began + 60).contains(&u64::from(seconds)), "{seconds}, and it began at {began}");
}

#[test]
fn a_stack_over_udp_answers_alike_on_both_back_ends() {
    let interpreted = answers("interpreter");
    assert_eq!(interpreted, vec![b"\x01hello".to_vec(), b"\x02hello".to_vec(), b"\x03hello".to_vec()]);
    if Command::new("cc").arg("--version").output().is_err() {
        println!("SKIPPED: no C compiler");
        return;
    }
    assert_eq!(answers("c"), interpreted);
}

/// A run that writes a capture of its announcements, in the background.
fn captured(capture: &str, more: &[&str]) -> Command {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/host.mok");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
    command.args([
        "run",
        host.to_str().unwrap(),
        "--set",
        "address=10.0.0.1/24",
        "--device",
        "udp:127.0.0.1:0,127.0.0.1:9",
    ]);
    command.args(["--pcap", capture]).args(more);
    command
}

/// The sizes of a capture's frames; it must end with a whole one.
fn frames(name: &Path) -> Vec<usize> {
    let octets = std::fs::read(name).unwrap();
    let (mut at, mut found) = (24, Vec::new());
    while at < octets.len() {
        let size = u32::from_le_bytes(octets[at + 8..at + 12].try_into().unwrap()) as usize;
        at += 16 + size;
        found.push(size);
    }
    assert_eq!(at, octets.len(), "{found:?}");
    found
}

/// `/dev/full` takes nothing, like a full disk; a file-size limit lets some of it through.
#[test]
fn a_capture_that_finds_no_room_is_an_error() {
    let output = captured("/dev/full", &["--for", "10s"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot write capture `/dev/full`") && said.contains("disk full"), "{said}");
    let network = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/demo.mok");
    let mut sim = Command::new(env!("CARGO_BIN_EXE_mokume"));
    let output = sim.args(["sim", network.to_str().unwrap(), "--pcap", "/dev/full"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("/dev/full"), "{said}");
}

/// The host's first frames are in the file while it runs. However it is ended, the file ends with a whole frame.
#[test]
fn a_signal_ends_a_capture_cleanly() {
    for signal in ["HUP", "TERM", "INT", "PIPE", "KILL"] {
        let name = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ended-{signal}.pcap"));
        let _ = std::fs::remove_file(&name);
        let child = captured(name.to_str().unwrap(), &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut child = Running(child);
        for _ in 0..300 {
            if std::fs::metadata(&name).is_ok_and(|file| file.len() > 24) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.0.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let ended = child.0.wait().unwrap();
        assert!(signal == "KILL" || ended.success(), "{signal}: {ended}");
        assert!(!frames(&name).is_empty(), "{signal}");
    }
}

/// The reader of the output goes away: the run ends as other commands do, and the capture is whole.
#[test]
fn a_reader_that_goes_away_leaves_a_whole_capture() {
    let name = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unread.pcap");
    let mut child = Running(
        captured(name.to_str().unwrap(), &["--format", "json", "--for", "5s"]).stdout(Stdio::piped()).spawn().unwrap(),
    );
    let mut first = [0; 1];
    std::io::Read::read_exact(child.0.stdout.as_mut().unwrap(), &mut first).unwrap();
    drop(child.0.stdout.take());
    let ended = child.0.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(13), "{ended}");
    assert!(!frames(&name).is_empty());
}

/// A capture of one frame: the link type, the octets, and how many there were.
fn capture(name: &str, link: u32, frame: &[u8], length: u32) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let head = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65536, link, 0, 0, frame.len() as u32, length];
    let octets = [head.map(u32::to_le_bytes).concat(), frame.to_vec()].concat();
    std::fs::write(&path, octets).unwrap();
    path.to_string_lossy().into_owned()
}

/// Packets without a link header went into a stack on Ethernet as if they were frames; cut ones, without a word.
#[test]
fn a_capture_holds_frames_of_the_stacks_link() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/host.mok");
    let run = |file: &Path, capture: &str, more: &[&str]| {
        let device = format!("pcap:{capture}");
        let words = ["run", file.to_str().unwrap(), "--for", "100ms", "--device", &device];
        let output = Command::new(env!("CARGO_BIN_EXE_mokume")).args(words).args(more).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let address = ["--set", "address=10.0.0.1/24"];
    let packet = [0x45, 0, 0, 20];
    let (code, said) = run(&host, &capture("raw.pcap", 101, &packet, 4), &address);
    assert!(
        code == Some(2) && said.contains("link type RAW (101), and `device` takes those of ETHERNET (1)"),
        "{said}"
    );
    for (link, length) in [(1, 4), (147, 4)] {
        let (code, said) = run(&host, &capture("own.pcap", link, &packet, length), &address);
        assert!(code == Some(0) && !said.contains("cut"), "{said}");
    }
    let (code, said) = run(&host, &capture("cut.pcap", 1, &packet, 60), &address);
    assert!(code == Some(0) && said.contains("cut.pcap`: 1 frame cut when captured"), "{said}");
    // A stack that asks nothing of its device takes what there is.
    let plain = Path::new(env!("CARGO_TARGET_TMPDIR")).join("answers-capture.mok");
    std::fs::write(&plain, PROGRAM).unwrap();
    let (code, said) = run(&plain, &capture("raw.pcap", 101, &packet, 4), &[]);
    assert_eq!(code, Some(0), "{said}");
}

/// A mistyped name made an interface, and nobody heard of it.
#[test]
fn an_interface_that_is_made_is_told() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/host.mok");
    let run = format!(
        "{} run {} --for 100ms --set address=10.0.0.1/24 --device tap:NAME 2>&1",
        env!("CARGO_BIN_EXE_mokume"),
        host.display()
    );
    let script = format!(
        "ip tuntap add there0 mode tap || exit 77\n{}\necho ----\n{}",
        run.replace("NAME", "there0"),
        run.replace("NAME", "nosuch0")
    );
    let output = Command::new("unshare").args(["-n", "sh", "-c", &script]).output().unwrap();
    if !output.status.success() && !String::from_utf8_lossy(&output.stdout).contains("----") {
        println!("SKIPPED: no TAP here");
        return;
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let (there, made) = said.split_once("----").unwrap();
    assert!(!there.contains("was not there"), "{there}");
    assert!(made.contains("TAP device `nosuch0` was not there, and is made"), "{made}");
}
