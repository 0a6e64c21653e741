//! `library/usual.txt`: the usual ways of the library's layers, which give good paths without a profile.

use std::path::{Path, PathBuf};

use mokume_base::RealWorld;
use mokume_driver::compile::{self, Compiled};
use mokume_driver::machines::Backend;
use mokume_driver::profile::{self, Written};
use mokume_driver::sim;
use mokume_driver::usual::{shipped, Usual};

/// The networks whose ways count as usual.
const NETWORKS: [(&str, &str, &str); 5] = [
    ("benches/tcp_usual.mok", "Usual", "Host"),
    ("benches/usual.mok", "OverOne", "Both"),
    ("benches/usual.mok", "OverBoth", "Dual"),
    ("benches/usual.mok", "WithEcho", "Host6"),
    ("benches/stacks/sliding_usual.mok", "Usual", "Sliding"),
];

/// One in this many reactions may go a way that is left out.
const RARE: u64 = 1_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A stack in a network of a file, or in its only one, and the ways that its reactions take.
pub fn ways(file: &str, network: Option<&str>, stack: &str) -> (Compiled, Written) {
    let file = root().join(file).to_string_lossy().into_owned();
    let checked = compile::check(&RealWorld, &[file]).expect("a file");
    let network = sim::choose(&checked, network).expect("a network");
    let mut stacks = sim::stacks(&checked, network, &RealWorld).0;
    let number =
        profile::choose(&checked, &stacks.keys().copied().collect::<Vec<_>>(), Some(stack)).expect("the stack");
    let prepared = sim::Prepared::new(&checked, network, &stacks, Backend::Interpreter).expect("a network that runs");
    let written = profile::record(&checked, &prepared, (number, &stacks[&number]), 1..2, &RealWorld, &mut |_, _| {});
    let written = written.expect("a run");
    drop(prepared);
    (stacks.remove(&number).expect("the stack"), written)
}

fn usual() -> Usual {
    let mut usual = Usual::default();
    for (file, network, stack) in NETWORKS {
        let (compiled, written) = ways(file, Some(network), stack);
        usual.add(&mokume_analyse::laid_open(&compiled.composed), &written.profile, RARE);
    }
    usual
}

#[test]
fn what_comes_with_mokume_is_what_its_networks_do() {
    let now = usual().print();
    let was = shipped();
    assert_eq!(Usual::parse(was).map(|usual| usual.print()), Ok(now), "old: `./campaign usual` makes it anew");
}

#[test]
#[ignore = "campaign: usual"]
fn what_is_usual_is_made_anew() {
    std::fs::write(root().join("library/usual.txt"), usual().print()).expect("written");
}

/// A host with TCP, on which a layer of one's own may stand, and what it exports.
fn host(own: &str, top: &str) -> String {
    format!(
        "use internet, ethernet, arp, ipv4, icmp, tcp\n{own}\nstack Host(device: Device, address: Ipv4Cidr) {{\n    outputs 32\n    \
        ethernet = Ethernet(device.mac) over device\n    arp = Arp(address.address) over ethernet[type: 0x0806]\n    \
        ip = Ipv4(address) over ethernet[type: 0x0800] with arp, icmp\n    icmp = Icmp over ip[protocol: 1] with ip\n    \
        tcp = Tcp over ip[protocol: 6]\n    {top}\n}}\n"
    )
}

/// The events of the stack that have no path because they are seldom.
fn seldom(text: &str) -> Vec<String> {
    let checked = compile::check_texts(&RealWorld, vec![("host.mok".into(), text.into())], Vec::new());
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    let stack = compile::choose_stack(&checked, Some("Host")).expect("the stack");
    let composed = compile::compile(&checked, stack, &RealWorld).0.expect("it composes").composed;
    let found = mokume_fuse::paths(&composed, &mokume_driver::usual::of(&composed), mokume_fuse::Passes::ALL);
    let is_seldom = |found: &&mokume_fuse::Found| found.path.as_ref().is_err_and(|why| why.what.contains("too seldom"));
    let name = |found: &mokume_fuse::Found| match &composed.handler(found.handler).trigger {
        mokume_reaction::Trigger::Event(name) => name.clone(),
        other => format!("{other:?}"),
    };
    found.iter().filter(is_seldom).map(name).collect()
}

/// What an application does with TCP says nothing about what it does with a layer on it, nor of events that TCP had in no network.
#[test]
fn what_is_seldom_is_known_by_the_layer_behind_the_port() {
    let plain = seldom(&host("", "export tcp"));
    assert!(["close", "shut", "abort", "untaken"].iter().all(|name| plain.contains(&name.to_string())), "{plain:?}");
    assert!(!plain.contains(&"send".to_string()), "{plain:?}");
    let with_ttl = seldom(&host("", "export tcp with ttl"));
    assert!(with_ttl.contains(&"close".to_string()) && !with_ttl.contains(&"send".to_string()), "{with_ttl:?}");
    assert!(!seldom(&host("", "export tcp with mtu")).contains(&"values".to_string()));
    let own = ["worker Own { }", "worker Own { session { var x: u8 = 0 } on send(msg) { x +%= 1  below.send(msg) } }"];
    let speaks = "vocabulary Mine { down poke(v: u8)  up poked(v: u8) }\n\
        worker Own { speaks Mine session { var x: u8 = 0 } on poke(v) { x = x +% v above.poked(x) } }";
    for own in own.into_iter().chain([speaks]) {
        assert_eq!(seldom(&host(own, "own = Own over tcp\n    export own")), [""; 0], "{own}");
    }
}
