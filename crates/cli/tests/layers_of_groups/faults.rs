//! Faults planted in layers, each with the network or the test that must find it.

use std::path::Path;

use super::networks;
use crate::groups::{not_found, planted, sim, Fault};

/// A fault in a layer, and the network that must find it.
const FAULTS: [(&str, Fault); 33] = [
    // Casts come up at a view's end though their causes never do.
    (
        "causal_end",
        Fault {
            layer: "causal",
            from: "{ drop m: no_cause }",
            to: "{ above.deliver(m) }",
            seed: "1",
            broken: "c.app.deliver_from",
        },
    ),
    // … or though their turn never came.
    (
        "token_end",
        Fault {
            layer: "token",
            from: "{ drop m: no_turn }",
            to: "{ above.deliver(m) }",
            seed: "1",
            broken: "c.app.deliver_from",
        },
    ),
    // A cast goes though there is no room for all its pieces.
    (
        "frag_large",
        Fault {
            layer: "frag",
            from: "return !blocked and below.credit > SPARE + (max(octets, 1) - 1) / largest()",
            to: "return !blocked",
            seed: "1",
            broken: "`expect casts own`",
        },
    ),
    // … or though the view ends.
    (
        "frag_large",
        Fault { layer: "frag", from: "return !blocked and", to: "return", seed: "2", broken: "`expect casts agreed`" },
    ),
    // The end of a view waits for one who has failed.
    (
        "pt2pt",
        Fault { layer: "pt2pt", from: "not (r in failed) and Peer", to: "Peer", seed: "3", broken: "_, 2, 1, 2" },
    ),
    // Nothing is waited for.
    (
        "causal",
        Fault {
            layer: "causal",
            from: "        for i in 0 .. after.length limit MOST { if after[i] > heard[i] { return false } }\n",
            to: "",
            seed: "1",
            broken: "`expect casts causal`",
        },
    ),
    // What was delivered since the last cast is not said.
    (
        "causal",
        Fault {
            layer: "causal",
            from: "        is_said = false\n",
            to: "",
            seed: "1",
            broken: "`expect casts causal`",
        },
    ),
    // What may come overtakes what waits.
    (
        "causal",
        Fault {
            layer: "causal",
            from: "f.waiting.is_empty() and may_come(after)",
            to: "may_come(after)",
            seed: "1",
            broken: "`expect casts fifo`",
        },
    ),
    // Whose turn it is does not count.
    (
        "token",
        Fault {
            layer: "token",
            from: "        if likely r == holder and f.waiting.is_empty() {",
            to: "        if likely f.waiting.is_empty() {",
            seed: "2",
            broken: "`expect casts total`",
        },
    ),
    // The token is taken for a cast.
    (
        "token",
        Fault {
            layer: "token",
            from: "        bring(next, r, heir)\n        return true",
            to: "        bring(next, r, STAYS)\n        return true",
            seed: "1",
            broken: "`expect casts real`",
        },
    ),
    // Casts go on when the view ends.
    (
        "token",
        Fault {
            layer: "token",
            from: "        if blocked or holder != me { return }",
            to: "        if holder != me { return }",
            seed: "2",
            broken: "`expect casts agreed`",
        },
    ),
    // The last piece is taken for a whole.
    (
        "frag",
        Fault {
            layer: "frag",
            from: "        below.send(msg, Last)",
            to: "        below.send(msg)",
            seed: "1",
            broken: "`expect casts real`",
        },
    ),
    // Two pieces are taken for a whole.
    (
        "frag",
        Fault {
            layer: "frag",
            from: "                f.front.put(0, all)\n",
            to: "                above.deliver(all)\n",
            seed: "1",
            broken: "`expect casts own`",
        },
    ),
    // Who leaves does not wait for others to have its casts.
    (
        "leave",
        Fault {
            layer: "leave",
            from: "        if everywhere < made { return }\n",
            to: "",
            seed: "13",
            broken: "\"last of b\"",
        },
    ),
    // Who leaves stays in its view.
    (
        "leave",
        Fault { layer: "leave", from: "        below.goes(others)\n", to: "", seed: "1", broken: "b.app.left()" },
    ),
    // Nobody is told.
    (
        "leave",
        Fault {
            layer: "leave",
            from: "            below.send(Bye, loose: true)\n",
            to: "",
            seed: "2",
            broken: "c.app.view(_, _, 2",
        },
    ),
    // Who has left comes in again.
    ("leave", Fault { layer: "heal", from: " and !gone", to: "", seed: "25", broken: "c.app.view(_, _, 4" }),
    // Half is enough.
    (
        "primary",
        Fault { layer: "primary", from: "members > of / 2", to: "members >= of / 2", seed: "1", broken: "\"a alone\"" },
    ),
    // A view ends before all has come.
    (
        "pt2pt",
        Fault {
            layer: "pt2pt",
            from: "if not (r in failed) and Peer[r].sent.size() > 0 { return }",
            to: "if false { return }",
            seed: "1",
            broken: "it came never",
        },
    ),
    // … as nobody waits for `block_ok`.
    (
        "pt2pt",
        Fault {
            layer: "mnak",
            from: "if unlikely told_all { below.have(have()) }",
            to: "if unlikely ending { below.have(have()) }",
            seed: "1",
            broken: "it came never",
        },
    ),
    // Gaps are passed over.
    (
        "pt2pt",
        Fault {
            layer: "pt2pt",
            from: "        if likely seq == p.upto {",
            to: "        if likely seq >= p.upto {",
            seed: "1",
            broken: "`expect casts real`",
        },
    ),
    // It is sent again once.
    (
        "pt2pt",
        Fault {
            layer: "pt2pt",
            from: "            if sent.size() > 0 { start again after patience }",
            to: "",
            seed: "1",
            broken: "it came never",
        },
    ),
    // What came up at the end of the last view is not in the state that is given.
    ("transfer", Fault { layer: "transfer", from: "{ free = before ", to: "{", seed: "1", broken: "app.value" }),
    // Casts are made before all have the same state.
    (
        "transfer",
        Fault {
            layer: "transfer",
            from: "limit send: if settled { 0xffff_ffff } else { 0 }",
            to: "limit send: 0xffff_ffff",
            seed: "1",
            broken: "app.value",
        },
    ),
    // The state of those who have heard least is taken.
    (
        "transfer",
        Fault { layer: "transfer", from: "(count > most or", to: "(count < most or", seed: "1", broken: "app.value" },
    ),
    // What does not open comes up all the same.
    (
        "secure",
        Fault {
            layer: "secure",
            from: "bound(id, by, dest), 0, 8, msg) {\n            drop msg: forged",
            to: "bound(id, by, dest), 0, 8, msg) and false {\n            drop msg: forged",
            seed: "1",
            broken: "`expect casts real`",
        },
    ),
    // The key of a view is not made of the group's.
    (
        "secure",
        Fault {
            layer: "secure",
            from: "first: stream.u64be(0), second: stream.u64be(8), third: stream.u64be(16), fourth: stream.u64be(24)",
            to: "first: 0, second: 0, third: 0, fourth: 0",
            seed: "2",
            broken: "e.app.view(_, _, 2",
        },
    ),
    // Copies are not known.
    ("secure", Fault { layer: "secure", from: "            f.beyond = counter + 1\n", to: "", seed: "1", broken: "" }),
    // What was taken is not heard of.
    (
        "flow",
        Fault {
            layer: "flow",
            from: "        p.taken_octets +%= min(taken_octets -% p.taken_octets, sent_octets -% p.taken_octets)\n",
            to: "",
            seed: "1",
            broken: "",
        },
    ),
    // Who delivers seems to have cast what waited for others, what a holder cast, what was cut; who casts seems to be the first.
    (
        "causal",
        Fault {
            layer: "causal",
            from: "        m.origin = r  m.foreign = false\n",
            to: "        m.origin = me\n",
            seed: "1",
            broken: "`expect casts senders`",
        },
    ),
    (
        "token",
        Fault {
            layer: "token",
            from: "            msg.origin = by  msg.foreign = false\n",
            to: "            msg.origin = me\n",
            seed: "1",
            broken: "`expect casts senders`",
        },
    ),
    (
        "frag",
        Fault {
            layer: "frag",
            from: "        all.origin = r\n",
            to: "        all.origin = me\n",
            seed: "1",
            broken: "`expect casts senders`",
        },
    ),
    (
        "causal",
        Fault {
            layer: "members",
            from: "        msg.origin = me  msg.foreign = false\n",
            to: "",
            seed: "1",
            broken: "`expect casts senders`",
        },
    ),
];

/// What a run tells where no word is broken: so many copies, so many casts beyond the credit.
const TOLD: [(&str, &str); 2] = [("secure", "app.Secure.replayed"), ("flow", "88  app.application.no_credit")];

#[test]
fn faults_planted_in_layers_of_groups_are_found() {
    let networks = networks();
    for (name, told) in TOLD {
        let (_, text) = networks.iter().find(|(layer, _)| *layer == name).unwrap();
        let (is_right, said) = sim(&format!("told_{name}"), text, None, &["--seed", "1"]);
        assert!(is_right && said.contains(told), "{name}: {said}");
    }
    are_found("layer_fault", &FAULTS);
}

/// Each fault is found by the network of its name.
pub fn are_found(folder: &str, faults: &[(&str, Fault)]) {
    let networks = networks();
    let mut missed = Vec::new();
    for (at, (name, fault)) in faults.iter().enumerate() {
        let (_, text) = networks.iter().find(|(layer, _)| layer == name).unwrap();
        let told = TOLD.iter().find(|(layer, _)| layer == name).map(|(_, told)| *told);
        let shows = |is_right: bool, said: &str| {
            let is_found = match fault.broken {
                "" => !said.contains(told.unwrap()),
                broken => !is_right && said.contains(broken),
            };
            is_found && !said.contains("error[")
        };
        missed.extend(not_found(&format!("{folder}{at}"), text, fault, &shows));
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Faults that show in no network, as others keep from what they allow, or as nobody there forges frames: `tests/library` finds them.
const FAULTS_OF_TESTS: [Fault; 13] = [
    // In a view that ends before all have told, states may become different, and are taken for the same in the next.
    Fault {
        layer: "transfer",
        from: "        line = line *% 0x0100_0193 +% view.id\n",
        to: "",
        seed: "",
        broken: "by another number in each view",
    },
    // What is told, and a state, count though the view ends, where others may not hear them.
    Fault {
        layer: "transfer",
        from: " or blocked or origin in told",
        to: " or origin in told",
        seed: "",
        broken: "what is told as a view ends",
    },
    // …
    Fault {
        layer: "transfer",
        from: "or settled or blocked { drop msg: late  return }",
        to: "or settled { drop msg: late  return }",
        seed: "",
        broken: "what is told as a view ends",
    },
    // Who gets a state does not say how much is in it.
    Fault {
        layer: "transfer",
        from: "            heard = count\n",
        to: "",
        seed: "",
        broken: "by another number in each view",
    },
    // A cast seems to come from somebody in the view, though its member is not there any more.
    Fault { layer: "transfer", from: "msg.foreign = true\n", to: "\n", seed: "", broken: "may not be any more" },
    // It is said whose state one has where nothing may be cast, …
    Fault {
        layer: "transfer",
        from: "if blocked or below.credit == 0 { return }",
        to: "if blocked { return }",
        seed: "",
        broken: "when it can be cast in this view",
    },
    // … and when the view ends.
    Fault {
        layer: "transfer",
        from: "if blocked or below.credit == 0 { return }",
        to: "if below.credit == 0 { return }",
        seed: "",
        broken: "and not when it ends",
    },
    // A state that no packet holds goes, and is dropped further below.
    Fault {
        layer: "transfer",
        from: "        if msg.size > below.mtu { drop msg: too_big  return }\n",
        to: "",
        seed: "",
        broken: "a state that no packet holds",
    },
    // Too much waits, and what is left is taken for all.
    Fault {
        layer: "transfer",
        from: " else { forget() } }\n",
        to: " }\n",
        seed: "",
        broken: "for whom too much waits",
    },
    // …, though there are casts that may be heard.
    Fault {
        layer: "transfer",
        from: "if settled and !blocked { hear() } else { forget() }",
        to: "forget()",
        seed: "",
        broken: "those that wait go up sooner",
    },
    // More comes up than may wait: in a network others wait for the token, too, and cast no more.
    Fault { layer: "token", from: "{ hold_back(full | [r]) }", to: "{ }", seed: "", broken: "so much waits" },
    // Who has the token and nothing to cast does not hear that another wants it.
    Fault {
        layer: "token",
        from: "wanting |= [origin]  if holder == me { wake() }",
        to: "wanting |= [origin]",
        seed: "",
        broken: "so much waits",
    },
    // What was sealed by nobody, of another view, goes up as it is.
    Fault {
        layer: "secure",
        from: "if id != view.id and chacha20_poly1305_open(key_of(id), by, counter, bound(id, by, dest), 0, 8, msg) {",
        to: "if id != view.id {",
        seed: "",
        broken: "what does not open is not heard",
    },
    // Not found by anything: without `id != view.id` an old frame of this view comes up again as one of another view. Frames of other
    // views may come again in any case, and what `Intra` hears in them it asks for or checks by their numbers.
];

#[test]
fn faults_planted_in_layers_of_groups_are_found_by_tests_of_the_library() {
    are_found_by_tests("test", &FAULTS_OF_TESTS);
}

/// Each fault is found by a test of `tests/library`, which holds without it.
pub fn are_found_by_tests(name: &str, faults: &[Fault]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/library/group_layers.mok");
    let text = std::fs::read_to_string(file).unwrap();
    let tested = |folder: &str, fault: &Fault| {
        let folder = planted(folder, &text, Some(fault));
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_mokume"));
        command.args(["test", "group.mok", "--backend", "interpreter", "--filter", fault.broken]).current_dir(folder);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (at, fault) in faults.iter().enumerate() {
        let (is_right, said) = tested(&format!("{name}_fault{at}"), fault);
        assert!(!is_right && said.contains(fault.broken), "{}: {said}", fault.from);
        let none = Fault { to: fault.from, ..*fault };
        let (is_right, said) = tested(&format!("{name}_no_fault{at}"), &none);
        assert!(is_right, "{said}");
    }
}
