//! Stacks over several devices: a frame is read by the layers over the device that it came or left by.

use std::process::Command;

use crate::networks::sim;

const TWO: &str = "service Hand { give(n: u8) }
worker Head {
    header { magic: u32 }
    on send(msg) { below.send(msg, magic: 7) }
    on deliver(msg) { above.deliver(msg) }
}
endpoint Left {
    header { wide: u32, small: u8 }
    uses Hand as hand
    on deliver(msg, small) {
        consume msg: taken
        hand.give(small)
    }
}
endpoint Right {
    header { tiny: u8 }
    serves Hand
    on hand.give(n) { below.send(message(\"to the right\"), tiny: n) }
    on deliver(msg) { consume msg: heard }
}
stack Gate(left: Device, right: Device) {
    l = Left over left with r
    r = Right / Head over right
}
endpoint Says {
    header { wide: u32, small: u8 }
    entity { timer t }
    on start { start t after 1 ms }
    on expiry t { below.send(message(\"from the left\"), wide: 1, small: 9) }
    on deliver(msg) { consume msg: heard }
}
stack L(device: Device) { s = Says over device }
endpoint Listens {
    header { tiny: u8 }
    on deliver(msg, tiny) { if tiny == 9 { consume msg: heard } else { drop msg: other } }
}
stack R(device: Device) { r = Listens / Head over device }
network Both {
    host a = L()
    host g = Gate()
    host b = R()
    link one { a.device, g.left  delay 1 ms }
    link two { g.right, b.device  delay 1 ms }
    until 10 ms
}
";

/// Every frame was read by the layers over the first device, and called refused by hosts that took it.
#[test]
fn a_frame_is_read_by_the_layers_over_its_device() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("gateways");
    std::fs::create_dir_all(&folder).unwrap();
    let capture = folder.join("two.pcap");
    let capture = capture.to_str().unwrap();
    let (code, said) = sim("two_devices", TWO, &["--log", "--pcap", capture]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("17 octets (b ×1): r tiny=9") && !said.contains("refused by"), "{said}");
    let by = folder.join("two.mok");
    std::fs::write(&by, TWO).unwrap();
    let dissect = |device: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mokume"));
        command.args(["dissect", capture, "--by", by.to_str().unwrap(), "--stack", "Gate"]).args(device);
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let first = dissect(&[]);
    let right = dissect(&["--device", "right", "--packets", "2"]);
    assert!(first.contains("small") && first.contains("from the left"), "{first}");
    assert!(right.contains("magic") && !right.contains("malformed"), "{right}");
    let wrong = dissect(&["--device", "middle"]);
    assert!(wrong.contains("stack `Gate` has no device `middle`") && wrong.contains("left, right"), "{wrong}");
}
