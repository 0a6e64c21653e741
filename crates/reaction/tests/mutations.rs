//! Broken texts and broken automata are refused; nothing panics.

use std::path::Path;

use mokume_base::{Random, SourceMap};
use mokume_reaction::text::{parse, print};
use mokume_reaction::*;

fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reaction");
    let mut paths = Vec::new();
    for folder in ["form", "right", "wrong"] {
        paths.extend(std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// One to four changes of lines, words and characters.
fn mutate(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=random.place(4) {
        let (at, other) = (random.place(lines.len()), random.place(lines.len()));
        match random.place(6) {
            0 => drop(lines.remove(at)),
            1 => lines.swap(at, other),
            2 => lines.insert(at, lines[other].clone()),
            3 => swap_words(&mut lines, at, other, random),
            4 => change_character(&mut lines[at], random),
            _ => {
                let cut = random.place(lines[at].len() + 1);
                let cut = (0..=cut).rev().find(|cut| lines[at].is_char_boundary(*cut)).unwrap_or(0);
                lines[at].truncate(cut);
            }
        }
        if lines.is_empty() {
            lines.push("automaton empty".to_owned());
        }
    }
    lines.join("\n")
}

fn swap_words(lines: &mut [String], at: usize, other: usize, random: &mut Random) {
    let from: Vec<String> = lines[other].split(' ').map(str::to_owned).collect();
    let mut words: Vec<String> = lines[at].split(' ').map(str::to_owned).collect();
    let index = random.place(words.len());
    words[index] = from[random.place(from.len())].clone();
    lines[at] = words.join(" ");
}

fn change_character(line: &mut String, random: &mut Random) {
    const CHARACTERS: &[char] =
        &['{', '}', '(', ')', '[', ']', ',', ':', '=', '.', '0', '9', 'm', 's', '`', '"', '@', '#', 'é', '-', '>'];
    let mut characters: Vec<char> = line.chars().collect();
    let new = CHARACTERS[random.place(CHARACTERS.len())];
    let at = random.place(characters.len() + 1);
    match characters.get_mut(at) {
        Some(old) if random.place(2) == 0 => *old = new,
        _ => characters.insert(at, new),
    }
    *line = characters.into_iter().collect();
}

/// What holds for every text: it is read without a panic, and if it is well formed it survives print and parse.
fn exercise(text: &str) {
    let mut map = SourceMap::default();
    let parsed = parse(map.add("mutated", text), text);
    let faults = verify(&parsed.automaton);
    let printed = print(&parsed.automaton);
    if parsed.diagnostics.is_empty() && faults.is_empty() {
        let again = parse(map.add("printed", printed.as_str()), &printed);
        assert!(again.diagnostics.is_empty(), "{:?}\n{printed}", again.diagnostics);
        assert!(again.automaton == parsed.automaton, "{printed}");
    }
    faults.iter().for_each(|fault| drop(fault.diagnostic(&parsed.automaton, &parsed.places)));
}

#[test]
fn two_thousand_mutated_texts_never_panic() {
    let texts = texts();
    let mut random = Random::new(0x6d6f_6b75_6d65);
    for round in 0..2000 {
        let text = mutate(&texts[round % texts.len()], &mut random);
        let run = std::panic::catch_unwind(|| exercise(&text));
        assert!(run.is_ok(), "round {round}:\n{text}");
    }
}

#[test]
fn identifiers_that_refer_to_nothing_are_faults() {
    let text = texts().into_iter().find(|text| text.contains("automaton fcfs_sequencer_credit")).unwrap();
    let mut map = SourceMap::default();
    let sound = parse(map.add("sound", text.as_str()), &text).automaton;
    assert_eq!(verify(&sound), []);
    type Plant = fn(&mut Automaton);
    let plants: &[Plant] = &[
        |a| a.classes[1].parent = Some(ClassId(99)),
        |a| a.classes[0].layer = LayerId(99),
        |a| a.links[0].above.1 = Some(CellId(99)),
        |a| a.handlers[0].class = ClassId(99),
        |a| a.handlers[0].body.blocks.clear(),
        |a| a.handlers[0].body.values.truncate(2),
        |a| a.handlers[0].body.values[1].ty = Type::Ref(ClassId(99)),
        |a| a.handlers[0].source = Some(SourceId(99)),
        |a| a.handlers[0].body.blocks[0].mark = Some(Mark { source: SourceId(99), nth: 0 }),
        |a| a.wires[0].headers.push(HeaderId(99)),
        |a| a.ports[0].inputs[0].class = ClassId(99),
        |a| a.handlers[3].body.blocks[0].terminator = Terminator::Jump { to: to(BlockId(99), []) },
    ];
    for (index, plant) in plants.iter().enumerate() {
        let mut broken = sound.clone();
        plant(&mut broken);
        let faults = verify(&broken);
        assert!(faults.iter().any(|fault| fault.code == codes::DANGLING), "plant {index}: {faults:?}");
        print(&broken);
        faults.iter().for_each(|fault| drop(fault.diagnostic(&broken, &Places::default())));
    }
}

#[test]
fn faults_that_only_a_program_can_make_are_found() {
    let text = texts().into_iter().find(|text| text.contains("automaton fcfs_sequencer_credit\n")).unwrap();
    let mut map = SourceMap::default();
    let sound = parse(map.add("sound", text.as_str()), &text).automaton;
    type Plant = fn(&mut Automaton);
    let plants: &[(Plant, mokume_base::Code)] = &[
        (|a| a.handlers[0].params.clear(), codes::COUNT),
        (|a| drop(a.handlers[0].params.pop()), codes::COUNT),
        (|a| a.wires[0].items.reverse(), codes::WIRE_FIELD),
        (|a| a.classes[1].capacity = 0, codes::SIZE),
        (|a| a.tick = 0, codes::SIZE),
        (|a| a.handlers.swap_remove(0).params.clear(), codes::NO_HANDLER),
        (
            |a| {
                a.composition = Some(Composition {
                    queued: vec![(LayerId(1), LayerId(0)), (LayerId(0), LayerId(1))],
                    ..Composition::default()
                })
            },
            codes::COMPOSITION,
        ),
        (|a| a.headers[0].variants.clear(), codes::DANGLING),
        (|a| a.reasons[0].name = a.reasons[1].name.clone(), codes::TWICE),
    ];
    for (number, (plant, code)) in plants.iter().enumerate() {
        let mut broken = sound.clone();
        plant(&mut broken);
        let faults = verify(&broken);
        assert!(faults.iter().any(|fault| fault.code == *code), "plant {number}: {faults:?}");
    }
}
