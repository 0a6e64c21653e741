//! `mokume run` over the operating system's UDP, on loopback: no privilege is needed, and both back ends answer alike.

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

/// Ended with the test, whatever happens.
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
    // Free a moment ago: nobody else asks for it in between, or the test says so.
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
        // Until the server listens, the system says so, or says nothing.
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

/// A capture of a real device bears the day that it was made on.
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
