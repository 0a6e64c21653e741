//! Stacks built at run time: equal to those in files, refused like those in files, and the same on both back ends.

use mokume_embed::{Backend, Graph, Layer, Options, Running, Stack, User, Value};

fn host() -> Graph {
    let mut graph = Graph::new("Host");
    for module in ["internet", "ethernet", "arp", "ipv4", "icmp", "udp", "echo"] {
        graph.module(module);
    }
    graph
        .parameter("device", "Device")
        .parameter("address", "Ipv4Cidr")
        .layer(Layer::new("ethernet", "Ethernet(device.mac)").over("device"))
        .layer(Layer::new("arp", "Arp(address.address)").over("ethernet[type: 0x0806]"))
        .layer(Layer::new("ip", "Ipv4(address)").over("ethernet[type: 0x0800]").with("arp").with("icmp"))
        .layer(Layer::new("icmp", "Icmp").over("ip[protocol: 1]").with("ip"))
        .layer(Layer::new("udp", "Udp").over("ip[protocol: 17]").with("icmp"))
        .layer(Layer::new("echo", "Echo").over("udp[port: 7]"))
        .export("udp");
    graph
}

fn options(address: &str, mac: &str, backend: Backend) -> Options {
    Options::default().set("address", address).set("device.mac", mac).backend(backend)
}

/// Exchanges frames between the two until there are none; their users listen to the devices.
fn carry(a: (&mut Running, User), b: (&mut Running, User), now: u64) -> usize {
    let mut frames = 0;
    loop {
        let mut moved = false;
        while let Some(frame) = a.0.next_event(a.1) {
            b.0.call(now, "device.frame", &frame.args).unwrap();
            (moved, frames) = (true, frames + 1);
        }
        while let Some(frame) = b.0.next_event(b.1) {
            a.0.call(now, "device.frame", &frame.args).unwrap();
            (moved, frames) = (true, frames + 1);
        }
        if !moved {
            return frames;
        }
    }
}

/// All that an application receives of an echo, and the number of frames.
fn echo(stack: &Stack, backend: Backend) -> (Vec<String>, usize) {
    let mut a = stack.instance(&options("10.0.0.1/24", "02:00:00:00:00:01", backend)).unwrap();
    let mut b = stack.instance(&options("10.0.0.2/24", "02:00:00:00:00:02", backend)).unwrap();
    let (from_a, from_b) = (a.attach("device").unwrap(), b.attach("device").unwrap());
    let user = a.attach("udp").unwrap();
    a.start(0);
    b.start(0);
    // Local host and port, remote host and port.
    let flow = [0x0a00_0001, 5000, 0x0a00_0002, 7];
    assert!(a.call(1, "udp.bind", &[Value::Word(1), Value::Word(flow[0]), Value::Word(flow[1])]).unwrap());
    let mut args: Vec<Value> = flow.into_iter().map(Value::Word).collect();
    args.push(Value::Message(b"mokume".to_vec()));
    assert!(a.call(2, "udp.send_to", &args).unwrap());
    let frames = carry((&mut a, from_a), (&mut b, from_b), 3);
    assert!(b.detach(from_b) && !b.detach(from_b));
    let mut heard = Vec::new();
    while let Some(event) = a.next_event(user) {
        heard.push(format!("{} {:?}", event.name, event.args));
    }
    assert!(a.take_reports().is_empty() && b.take_reports().is_empty());
    (heard, frames)
}

#[test]
fn a_host_built_at_run_time_answers_alike_on_both_back_ends() {
    let stack = host().check().unwrap_or_else(|refused| panic!("{refused}"));
    let interpreted = echo(&stack, Backend::Interpreter);
    assert!(interpreted.0.iter().any(|event| event.starts_with("deliver_from")), "{interpreted:?}");
    assert_eq!(interpreted, echo(&stack, Backend::C));
}

#[test]
fn a_graph_is_refused_as_a_file_would_be() {
    let mut graph = host();
    graph.layer(Layer::new("again", "Udp").over("ip[protocol: 17]").with("icmq"));
    let refused = graph.check().err().expect("a service that nobody serves, and a key that is taken");
    let text = refused.to_string();
    assert!(text.contains("icmq") && text.contains("Host.mok"), "{text}");
    assert!(refused.json_lines().lines().all(|line| line.starts_with('{')));
    let mut own = Graph::new("Own");
    own.source("mine.mok", "worker Mine { on send(msg) { } }")
        .parameter("device", "Device")
        .layer(Layer::new("mine", "Mine").over("device"))
        .export("mine");
    let text = own.check().err().expect("a message leaks").to_string();
    assert!(text.contains("M0401") && text.contains("mine.mok"), "{text}");
}

/// A program's numbers are values from outside, as those of `--set`.
#[test]
fn a_plain_enum_has_no_values_but_its_names() {
    let file = std::env::temp_dir().join(format!("mokume-enum-{}.mok", std::process::id()));
    let text = "enum Kind: u8 { Ask, Tell = 7 }\nattribute kind: Kind = Kind.Ask\n\
        worker W {\n    header { kind: Kind }\n    reads kind\n    on send(msg) { below.send(msg, kind: msg.kind) }\n\
        \u{20}   on deliver(msg) { above.deliver(msg) }\n}\n\
        stack One(device: Device) {\n    app = W over device\n    export app with kind\n}\n";
    std::fs::write(&file, text).unwrap();
    let stack = Stack::of_file(&file.to_string_lossy(), None).unwrap_or_else(|failure| panic!("{failure}"));
    let mut running = stack.instance(&Options::default()).unwrap();
    running.start(0);
    let mut say = |kind| running.call(0, "app.send_to", &[Value::Message(b"x".to_vec()), Value::Word(kind)]);
    assert!(say(7).unwrap() && say(0).unwrap());
    for wrong in [3, 263, u64::MAX] {
        let failure = say(wrong).unwrap_err().to_string();
        assert!(failure.contains("`Kind.Ask` or `Kind.Tell`"), "{failure}");
    }
    let _ = std::fs::remove_file(&file);
}

#[test]
fn an_instance_may_be_given_to_a_thread() {
    let stack = host().check().unwrap_or_else(|refused| panic!("{refused}"));
    for backend in [Backend::Interpreter, Backend::C] {
        let mut running = stack.instance(&options("10.0.0.1/24", "02:00:00:00:00:01", backend)).unwrap();
        let started = std::thread::spawn(move || {
            running.start(5);
            running
        });
        assert!(started.join().unwrap().attach("udp").is_ok());
    }
}

/// docs/semantics.md, P6, and names that a program in another language can use.
#[test]
fn what_is_no_value_is_told() {
    let file = std::env::temp_dir().join(format!("mokume-values-{}.mok", std::process::id()));
    let text = "enum Plan: u8 { Stop = 3, Wait(rounds: u8) }\n\
        vocabulary V { down push(v: [u8; ..4], p: Plan, t: Duration) up pushed(v: [u8; ..4], rounds: u8) }\n\
        worker W {\n    speaks V\n    on push(v, p, t) {\n        let n: u8 = match p { Plan.Wait(rounds) => { rounds } Plan.Stop => { 0 } }\n        \
        if t > 0 s { above.pushed(v, n) }\n    }\n    on send(msg) { below.send(msg) }\n    on deliver(msg) { above.deliver(msg) }\n}\n\
        multiplexor M { key { p: u8 } }\nmultiplexor N { key { p: u8 } }\n\
        stack One(device: Device) {\n    sessions 4\n    app = W over m\n    m = M over n\n    n = N over device\n    export app\n}\n";
    std::fs::write(&file, text).unwrap();
    let stack = Stack::of_file(&file.to_string_lossy(), None).unwrap_or_else(|failure| panic!("{failure}"));
    for backend in [Backend::Interpreter, Backend::C] {
        let mut running = stack.instance(&Options::default().backend(backend)).unwrap();
        running.start(0);
        let user = running.attach("app").unwrap();
        let mut push = |numbers: [u64; 8]| {
            let flow = [1; 4].map(Value::Word);
            let numbers = numbers.map(Value::Word);
            let taken = running.call(0, "app.push_to", &[&flow[..], &numbers[..]].concat());
            taken.map(|taken| taken.then(|| running.next_event(user).unwrap().args[4..].to_vec()))
        };
        let told = |numbers: [u64; 6]| Ok(Some(numbers.map(Value::Word).to_vec()));
        assert_eq!(push([2, 7, 8, 9, 9, 4, 5, 1]).map_err(|failure| failure.message), told([2, 7, 8, 0, 0, 5]));
        assert_eq!(push([0, 7, 8, 9, 9, 3, 5, 1]).map_err(|failure| failure.message), told([0, 0, 0, 0, 0, 0]));
        let failure = push([5, 1, 2, 3, 4, 3, 0, 1]).unwrap_err();
        assert!(failure.message.contains("`5` is no value for `v_length`") && failure.help.contains("4 elements"));
        let failure = push([0, 0, 0, 0, 0, 0, 0, 1]).unwrap_err();
        assert!(failure.help.contains("`Plan.Stop` or `Plan.Wait`"), "{failure}");
    }
    let interface: serde_json::Value = serde_json::from_str(&stack.interface()).unwrap();
    let inputs = interface["ports"][1]["inputs"].as_array().unwrap();
    let push = inputs.iter().find(|input| input["event"] == "push_to").unwrap()["takes"].as_array().unwrap();
    let names: Vec<&str> = push.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names[..5], ["local_p", "local_p_2", "remote_p", "remote_p_2", "v_length"]);
    let of = |name: &str| push.iter().find(|one| one["name"] == name).unwrap();
    assert_eq!((&of("v_length")["most"], &of("t")["is"]), (&4.into(), &"time".into()));
    assert_eq!((&of("p__number")["names"]["Wait"], &of("p__number")["open"]), (&4.into(), &false.into()));
    let _ = std::fs::remove_file(&file);
}

#[test]
fn wrong_calls_are_answered() {
    let stack = host().check().unwrap_or_else(|refused| panic!("{refused}"));
    let failure = stack.instance(&Options::default()).err().expect("no address").to_string();
    assert!(failure.contains("address"), "{failure}");
    let set = options("10.0.0.1/24", "02:00:00:00:00:01", Backend::Interpreter);
    let mut running = stack.instance(&set).unwrap();
    assert!(running.call(0, "udp.send_to", &[]).unwrap_err().help.contains("start"));
    running.start(0);
    running.start(5);
    assert!(running.attach("upd").unwrap_err().help.contains("udp"));
    assert!(running.call(0, "udp.sing", &[]).unwrap_err().help.contains("send_to"));
    assert!(running.call(0, "udp.send_to", &[Value::Word(1)]).unwrap_err().message.contains("other arguments"));
    assert!(running.call(0, "udp.close", &[Value::Word(1)]).is_err());
    assert!(running.attach_device("udp", "tap:mok0").is_err());
    assert!(running.attach_device("device", "floppy:a").is_err());
}

#[test]
fn a_device_comes_and_goes_while_the_stack_runs() {
    let stack = host().check().unwrap_or_else(|refused| panic!("{refused}"));
    let set = options("10.0.0.1/24", "02:00:00:00:00:01", Backend::Interpreter);
    let mut running = stack.instance(&set).unwrap();
    let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    peer.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    running.attach_device("device", &format!("udp:127.0.0.1:0,{}", peer.local_addr().unwrap())).unwrap();
    // The host announces its address when it starts.
    running.poll(1_000_000).unwrap();
    let mut frame = [0; 2048];
    assert!(peer.recv(&mut frame).unwrap() >= 42);
    assert!(running.traffic().sent >= 1);
    assert!(running.detach_device("device").unwrap() && !running.detach_device("device").unwrap());
}

#[test]
fn a_shared_object_has_the_functions_of_its_header() {
    let folder = std::env::temp_dir().join(format!("mokume-embed-{}", std::process::id()));
    let stack = host().check().unwrap_or_else(|refused| panic!("{refused}"));
    let object = stack.shared_object(&folder).unwrap();
    let octets = std::fs::read(&object).unwrap();
    let header = std::fs::read_to_string(folder.join("Host.h")).unwrap();
    assert!(header.contains("Host_init"));
    for function in ["Host_init", "Host_udp_send_to", "Host_interface"] {
        assert!(octets.windows(function.len()).any(|window| window == function.as_bytes()), "{function}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Events of a vocabulary pass a port like all others.
#[test]
fn an_application_speaks_a_vocabulary_on_both_back_ends() {
    let mut graph = Graph::new("Spoken");
    graph
        .source(
            "presence.mok",
            "vocabulary Presence {\n    down ask(who: u8)\n    up known(who: u8, here: bool)\n}\n\
             worker Tells {\n    speaks Presence\n    on ask(who) { above.known(who, who == 3) }\n}\n",
        )
        .parameter("device", "Device")
        .layer(Layer::new("tells", "Tells").over("device"))
        .export("tells");
    let stack = graph.check().unwrap_or_else(|refused| panic!("{refused}"));
    for backend in [Backend::Interpreter, Backend::C] {
        let mut running = stack.instance(&Options::default().backend(backend)).unwrap();
        let user = running.attach("tells").unwrap();
        running.start(0);
        assert!(running.call(1, "tells.ask_to", &[Value::Word(3)]).unwrap());
        let heard = running.next_event(user).unwrap();
        assert_eq!((heard.name.as_str(), heard.args), ("known_from", vec![Value::Word(3), Value::Word(1)]));
    }
}

#[test]
fn what_is_given_has_a_default() {
    let mut graph = Graph::new("Given");
    graph
        .source(
            "patient.mok",
            "worker Patient {\n    header { tries: u8, wait: u16 }\n    session {\n        const tries: u8 = 3 from open\n        const wait: u16 = 7 from open, listen\n    }\n    \
             on send(msg) { below.send(msg, tries: tries, wait: wait) }\n    on deliver(msg) { above.deliver(msg) }\n}\n",
        )
        .parameter("device", "Device")
        .layer(Layer::new("app", "Patient").over("device"))
        .export("app");
    let stack = graph.check().unwrap_or_else(|refused| panic!("{refused}"));
    for backend in [Backend::Interpreter, Backend::C] {
        let mut running = stack.instance(&Options::default().backend(backend)).unwrap();
        let (user, wire) = (running.attach("app").unwrap(), running.attach("device").unwrap());
        running.start(0);
        assert!(running.call(1, "app.open", &[Value::Word(1), Value::Word(5)]).unwrap());
        let opened = running.next_event(user).unwrap();
        assert!(running.call(1, "app.send", &[opened.args[1].clone(), Value::Message(b"x".to_vec())]).unwrap());
        assert_eq!(running.next_event(wire).unwrap().args, vec![Value::Message(vec![5, 7, 0, b'x'])]);
        let without = running.call(1, "app.open", &[]).unwrap_err().to_string();
        assert!(without.contains("user, tries, wait"), "{without}");
        assert!(running.call(1, "app.open", &vec![Value::Word(1); 4]).is_err());
    }
}

#[test]
fn a_message_beyond_the_credit_is_told() {
    let mut graph = Graph::new("Limited");
    graph
        .source(
            "two.mok",
            "worker Two {\n    entity { var left: u32 = 2 }\n    limit send: left\n    \
             on send(msg) {\n        left -= 1\n        below.send(msg)\n    }\n}\n",
        )
        .parameter("device", "Device")
        .layer(Layer::new("app", "Two").over("device"))
        .export("app");
    let stack = graph.check().unwrap_or_else(|refused| panic!("{refused}"));
    for backend in [Backend::Interpreter, Backend::C] {
        let mut running = stack.instance(&Options::default().backend(backend)).unwrap();
        let user = running.attach("app").unwrap();
        running.start(0);
        let mut send = || running.call(1, "app.send_to", &[Value::Message(b"x".to_vec())]).unwrap();
        assert_eq!([send(), send(), send()], [true, true, false]);
        assert!(running.call(1, "app.credit_to", &[]).unwrap());
        assert_eq!(running.next_event(user).unwrap().args, vec![Value::Word(0), Value::Word(0xffff_ffff)]);
    }
}

#[test]
fn a_stack_says_what_it_takes_and_a_line_says_what_arrives() {
    let stack = host().check().unwrap_or_else(|refused| panic!("{refused}"));
    let interface = stack.interface();
    let send =
        "{\"defaults\":0,\"event\":\"send_to\",\"takes\":[{\"bits\":32,\"kind\":\"number\",\"name\":\"local_host\"}";
    assert!(interface.contains(send) && interface.contains("{\"kind\":\"reason\",\"name\":\"why\"}"), "{interface}");
    let arrived = |words: &str, seed| {
        let mut line = mokume_embed::line(words, seed).unwrap();
        (0..100_u8).for_each(|number| line.send(u64::from(number) * 1_000_000, &[number; 40]));
        std::iter::from_fn(|| line.next_time().and_then(|at| line.arrived(at).map(|frame| (at, frame))))
            .collect::<Vec<_>>()
    };
    assert_eq!(arrived("", 1).len(), 100);
    assert_eq!(arrived("loss 50 %", 1), arrived("loss 50 %", 1));
    assert_ne!(arrived("loss 50 %", 1), arrived("loss 50 %", 2));
    assert!(mokume_embed::line("rain", 1).is_err());
}
