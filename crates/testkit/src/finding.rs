//! Random stacks that look up several objects for one packet, by keys of few octets, in text form: so a path has memos by numbers of
//! its message, in several tables at once. What is found is told; what was found before changes, ends and begins anew.

use std::fmt::Write;

use mokume_base::Random;

use crate::Hints;

/// The types of keys.
const KEYS: [&str; 6] = ["u8", "u8", "u8", "u16", "seq8", "u24"];
/// The keys of a packet; a message follows.
const FIELDS: usize = 4;
/// So many keys are in use. More than a table's places, if its class is small.
const IN_USE: u64 = 44;

/// A map, the class of its objects, and their cells.
struct Class {
    number: usize,
    keys: Vec<&'static str>,
    cells: Vec<&'static str>,
    capacity: usize,
    /// An earlier map by whose objects it is found, too: `up`.
    up: Option<usize>,
}

/// The text of a stack of one layer: `net.frame` looks up by the numbers of a packet and answers by the same port; `app.learn`, `app.change`
/// and `app.forget` say what is found.
pub fn finding(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x0066_696e_6469_6e67);
    let (fields, classes) = shape(&mut random);
    let mut text = "automaton finding\nlayer l\n".to_owned();
    let list = fields.iter().enumerate().map(|(at, ty)| format!("f{at}: {ty}")).collect::<Vec<_>>().join(", ");
    let _ = writeln!(text, "header l.In {{ {list} }}");
    text += "header l.Out { a: u16, b: u32, c: u16, d: u8 }\nreason l.no\nreason l.odd\nreason l.short\n";
    text += "class l.E capacity 1 {\n  n: u32\n  mode: u8\n  wide: u16 = 5\n";
    for class in &classes {
        let (i, cells) = (class.number, (0..class.keys.len()).map(|at| format!("k{at}")).collect::<Vec<_>>());
        let _ = writeln!(
            text,
            "  t{i}: map {} ({}) -> (@l.C{i}) by {}",
            class.capacity,
            class.keys.join(", "),
            cells.join(", ")
        );
    }
    text += "}\n";
    for class in &classes {
        let _ = writeln!(text, "class l.C{} capacity {} in l.E {{", class.number, class.capacity);
        for (at, key) in class.keys.iter().enumerate() {
            let _ = writeln!(text, "  fixed k{at}: {key}");
        }
        for (at, ty) in class.cells.iter().enumerate() {
            let _ = writeln!(text, "  x{at}: {ty} = {}", random.place(3));
        }
        if let Some(up) = class.up {
            let _ = writeln!(text, "  up: @l.C{up}");
        }
        text += "}\n";
    }
    text += "port app application {\n  in learn(k: u16, x: u16) -> l.E.learn\n  in change(k: u16, x: u16) -> l.E.change\n  \
             in forget(k: u16, which: u8) -> l.E.forget\n  in ask(m: msg) -> l.E.ask\n}\n";
    text += "port net device {\n  in frame(m: msg) -> l.E.arrive\n  out frame(m: msg)\n}\n";
    text += "wire w big {\n  headers l.In\n  short l.short\n";
    for (at, ty) in fields.iter().enumerate() {
        let order = if width(ty) == 8 { "" } else { *random.one_of(&["", " little"]) };
        let _ = writeln!(text, "  field f{at}: {}{order} from l.In.f{at}", width(ty));
    }
    text +=
        "}\nwire v big {\n  headers l.Out\n  short l.short\n  field a: 16 from l.Out.a\n  field b: 32 from l.Out.b\n  \
             field c: 16 from l.Out.c\n  field d: 8 from l.Out.d\n}\n";
    learns(&mut text, &mut random, &classes);
    changes(&mut text, &mut random, &classes);
    forgets(&mut text, &classes);
    for event in ["arrive", "ask"] {
        let _ = write!(
            text,
            "handler l.E.{event}(e, m: msg) {{\n    decode m, w then good(..) else bad(..)\n  bad(r: msg, why: reason):\n    drop r for why\n    \
             return\n  good(k: msg):\n    rest, {} = pop k, l.In\n",
            (0..FIELDS).map(|at| format!("f{at}")).collect::<Vec<_>>().join(", ")
        );
        text += &asks(&mut random, (&fields, &classes));
    }
    text
}

/// Packets with keys that [`finding`] of the same seed learns, and these keys.
pub fn finding_hints(seed: u64) -> Hints {
    let (fields, _) = shape(&mut Random::new(seed ^ 0x0066_696e_6469_6e67));
    let mut random = Random::new(seed);
    // Keys near each other, and far ones.
    let words: Vec<u64> = (0..IN_USE).map(|key| if key % 4 == 0 { random.below(256) } else { 3 + key }).collect();
    let message = |random: &mut Random| {
        let mut octets = Vec::new();
        let all = *random.one_of(&words);
        let alike = random.percent(50);
        for ty in &fields {
            // The octets of a key are alike, whatever their order.
            let key = if alike { all } else { *random.one_of(&words) };
            octets.extend(std::iter::repeat_n(key as u8, width(ty) as usize / 8));
        }
        octets.extend([1, 2, 3]);
        octets
    };
    let messages = (0..90).map(|_| message(&mut random)).collect();
    Hints { messages, words }
}

fn width(ty: &str) -> u32 {
    ty.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(8)
}

/// The fields of a packet, and the maps.
fn shape(random: &mut Random) -> (Vec<&'static str>, Vec<Class>) {
    let fields: Vec<&str> = (0..FIELDS).map(|_| *random.one_of(&KEYS)).collect();
    let mut classes = Vec::new();
    for number in 0..2 + random.place(4) {
        let keys = (0..1 + usize::from(random.percent(20))).map(|_| *random.one_of(&fields)).collect();
        let cells = (0..2 + random.place(3)).map(|_| *random.one_of(&["u8", "u8", "u16", "u32", "seq8"])).collect();
        let capacity = *random.one_of(&[4, 8, 8, 20, 40, 60]);
        let up = (number > 0 && random.percent(35)).then(|| random.place(number));
        classes.push(Class { number, keys, cells, capacity, up });
    }
    (fields, classes)
}

/// The lines that make the key of a class from `k`: all octets of a number are alike.
fn key_of(class: &Class, text: &mut String) -> String {
    let mut names = Vec::new();
    for (at, ty) in class.keys.iter().enumerate() {
        let name = format!("q{}_{at}", class.number);
        let octets = match width(ty) {
            8 => 1,
            16 => 0x101,
            _ => 0x1_0101,
        };
        let _ = write!(text, "    w{name} = cast k to u32\n    l{name} = and w{name}, 255\n    m{name} = mul.wrap l{name}, {octets}\n    {name} = cast m{name} to {ty}\n");
        names.push(name);
    }
    names.join(", ")
}

/// Finds or makes an object in each map, and sets what it knows.
fn learns(text: &mut String, random: &mut Random, classes: &[Class]) {
    *text += "handler l.E.learn(e, k: u16, x: u16) {\n";
    for class in classes {
        let i = class.number;
        let key = key_of(class, text);
        let _ = write!(
            text,
            "    find e.t{i}[{key}] then known{i}(..) else fresh{i}\n  known{i}(o{i}: @l.C{i}):\n    jump have{i}(o{i})\n  fresh{i}:\n    \
             new l.C{i} in e then made{i}(..) else on{i}\n  made{i}(n{i}: @l.C{i}):\n"
        );
        for (at, part) in key.split(", ").enumerate() {
            let _ = writeln!(text, "    set n{i}.k{at}, {part}");
        }
        let _ = write!(
            text,
            "    insert e.t{i}[{key}], n{i} then in{i} else full{i}\n  full{i}:\n    release n{i}\n    jump on{i}\n  in{i}:\n    jump have{i}(n{i})\n  \
             have{i}(s{i}: @l.C{i}):\n"
        );
        sets(text, random, class);
        if let Some(up) = class.up {
            let other = &classes[up];
            // By the same keys, in what way they fit.
            let fits: Option<Vec<String>> = other
                .keys
                .iter()
                .map(|ty| class.keys.iter().position(|own| own == ty).map(|at| format!("q{i}_{at}")))
                .collect();
            if let Some(fits) = fits {
                let _ = write!(
                    text,
                    "    find e.t{up}[{}] then upper{i}(..) else on{i}\n  upper{i}(u{i}: @l.C{up}):\n    set s{i}.up, u{i}\n",
                    fits.join(", ")
                );
            }
        }
        let _ = write!(text, "    jump on{i}\n  on{i}:\n");
    }
    *text += "    return\n}\n";
}

fn sets(text: &mut String, random: &mut Random, class: &Class) {
    let i = class.number;
    for (at, ty) in class.cells.iter().enumerate() {
        let more = random.place(7);
        let _ = write!(text, "    y{i}_{at} = add.wrap x, {more}\n    z{i}_{at} = cast y{i}_{at} to {ty}\n    set s{i}.x{at}, z{i}_{at}\n");
    }
}

/// Changes what is known, without a change of maps.
fn changes(text: &mut String, random: &mut Random, classes: &[Class]) {
    *text += "handler l.E.change(e, k: u16, x: u16) {\n    set e.wide, x\n";
    for class in classes {
        if random.percent(30) {
            continue;
        }
        let i = class.number;
        let key = key_of(class, text);
        let _ = write!(text, "    find e.t{i}[{key}] then known{i}(..) else on{i}\n  known{i}(s{i}: @l.C{i}):\n");
        let at = random.place(class.cells.len());
        let _ = write!(
            text,
            "    z{i} = cast x to {}\n    set s{i}.x{at}, z{i}\n    jump on{i}\n  on{i}:\n",
            class.cells[at]
        );
    }
    *text += "    return\n}\n";
}

/// Ends an object of one map.
fn forgets(text: &mut String, classes: &[Class]) {
    let cases: Vec<String> = classes.iter().map(|class| format!("{} -> gone{}", class.number, class.number)).collect();
    let _ = writeln!(
        text,
        "handler l.E.forget(e, k: u16, which: u8) {{\n    w = rem which, 12\n    switch w {{ {}, else none }}",
        cases.join(", ")
    );
    for class in classes {
        let i = class.number;
        let _ = writeln!(text, "  gone{i}:");
        let key = key_of(class, text);
        let _ = write!(text, "    remove e.t{i}[{key}] then out{i}(..) else none\n  out{i}(o{i}: @l.C{i}):\n    release o{i}\n    return\n");
    }
    *text += "  none:\n    return\n}\n";
}

/// Two objects of a class are written on the sides of a branch: both are perhaps one, by two names.
fn ways(
    text: &mut String,
    random: &mut Random,
    (classes, found): (&[Class], &[(usize, String)]),
    told: &mut Vec<(String, &str)>,
) {
    let pairs = (1..found.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    for (n, (a, b)) in pairs.filter(|(a, b)| found[*a].0 == found[*b].0).enumerate() {
        let (class, one, other) = (&classes[found[a].0], &found[a].1, &found[b].1);
        let at = random.place(class.cells.len());
        let (ty, most) = (class.cells[at], 1 + random.place(250));
        // On one side perhaps both, in either order.
        let mut sets = vec![format!("    set {one}.x{at}, first{n}\n")];
        if random.percent(50) {
            sets.insert(random.place(2), format!("    set {other}.x{at}, second{n}\n"));
        }
        let _ = write!(
            text,
            "    asked{n} = cast f{} to u32\n    low{n} = lt asked{n}, {most}\n    first{n} = cast asked{n} to {ty}\n    second{n} = add.wrap first{n}, 7\n    \
             br low{n} then{n}, else{n}\n  then{n}:\n{}    jump meet{n}\n  else{n}:\n    set {other}.x{at}, second{n}\n    \
             jump meet{n}\n  meet{n}:\n    after{n} = get {one}.x{at}\n",
            random.place(FIELDS),
            sets.concat()
        );
        told.push((format!("after{n}"), ty));
    }
}

/// Looks up by the fields of a packet, and tells what was found.
fn asks(random: &mut Random, (fields, classes): (&[&'static str], &[Class])) -> String {
    let mut text = String::new();
    let mut told: Vec<(String, &str)> = Vec::new();
    let mut found: Vec<(usize, String)> = Vec::new();
    let of = |ty: &str| (0..fields.len()).filter(|at| fields[*at] == ty).collect::<Vec<usize>>();
    // Perhaps only two of one class, by two fields: then the way on which both are one is likely enough to have a path.
    let is_twin = |class: &&Class| class.keys.len() == 1 && of(class.keys[0]).len() > 1;
    let twins = classes.iter().find(is_twin).filter(|_| random.percent(40));
    let steps = if twins.is_some() { 2 } else { 2 + random.place(5) };
    for step in 0..steps {
        let class = twins.unwrap_or(&classes[random.place(classes.len())]);
        let i = class.number;
        let by_up = found.iter().rev().find_map(|(of, name)| {
            let up = classes[*of].up.filter(|up| *up == i)?;
            Some((up, name.clone()))
        });
        let object = format!("s{step}");
        match by_up.filter(|_| random.percent(60)) {
            Some((_, name)) => {
                let _ = write!(
                    text,
                    "    {object} = get {name}.up\n    lives{step} = lives {object}\n    br lives{step} @0.9 there{step}, no{step}\n  no{step}:\n    \
                     drop rest, l.no\n    return\n  there{step}:\n"
                );
            }
            None => {
                let key = class.keys.iter().map(|ty| match twins {
                    Some(_) => format!("f{}", of(ty)[step]),
                    None => format!("f{}", random.one_of(&of(ty))),
                });
                let key: Vec<String> = key.collect();
                let _ = write!(
                    text,
                    "    find e.t{i}[{}] then got{step}(..) else no{step}\n  no{step}:\n    drop rest, l.no\n    return\n  got{step}({object}: @l.C{i}):\n",
                    key.join(", ")
                );
            }
        }
        found.push((i, object.clone()));
        let mut odd: Option<String> = None;
        for (at, ty) in class.cells.iter().enumerate() {
            let name = format!("v{step}_{at}");
            let _ = writeln!(text, "    {name} = get {object}.x{at}");
            told.push((name.clone(), *ty));
            if twins.is_none() && random.percent(60) {
                let _ = writeln!(text, "    is{step}_{at} = eq {name}, {}", 200 + random.place(5));
                let is = format!("is{step}_{at}");
                odd = Some(match odd {
                    None => is,
                    Some(before) => {
                        let _ = writeln!(text, "    or{step}_{at} = or {before}, {is}");
                        format!("or{step}_{at}")
                    }
                });
            }
        }
        if twins.is_none() && random.percent(40) {
            let cell = *random.one_of(&["mode", "wide"]);
            let _ = write!(text, "    own{step} = get e.{cell}\n    ow{step} = eq own{step}, 201\n");
            odd = Some(match odd {
                None => format!("ow{step}"),
                Some(before) => {
                    let _ = writeln!(text, "    all{step} = or {before}, ow{step}");
                    format!("all{step}")
                }
            });
        }
        if let Some(odd) = odd {
            let _ = write!(
                text,
                "    br {odd} @0.05 odd{step}, go{step}\n  odd{step}:\n    drop rest, l.odd\n    return\n  go{step}:\n"
            );
        }
        if random.percent(30) {
            let at = random.place(class.cells.len());
            let ty = class.cells[at];
            if random.percent(40) {
                let _ = write!(text, "    up{step} = add.wrap v{step}_{at}, 1\n    set {object}.x{at}, up{step}\n");
                told.push((format!("up{step}"), ty));
            }
        }
    }
    ways(&mut text, random, (classes, &found), &mut told);
    // What was found, in four sums.
    let mut sums: Vec<String> = Vec::new();
    for (at, ty) in ["u16", "u32", "u16", "u8"].iter().enumerate() {
        let mut all = String::new();
        for (n, (name, of)) in told.iter().enumerate().filter(|(n, _)| n % 4 == at) {
            let mut wide = name.clone();
            if of != ty {
                wide = format!("c{at}_{n}");
                let _ = writeln!(text, "    {wide} = cast {name} to {ty}");
            }
            all = if all.is_empty() {
                wide
            } else {
                let _ = write!(text, "    t{at}_{n} = mul.wrap {all}, 3\n    a{at}_{n} = add.wrap t{at}_{n}, {wide}\n");
                format!("a{at}_{n}")
            };
        }
        sums.push(if all.is_empty() { "7".to_owned() } else { all });
    }
    let _ = write!(
        text,
        "    n = get e.n\n    n1 = add.wrap n, 1\n    set e.n, n1\n    out1 = push rest, l.Out{{a: {}, b: {}, c: {}, d: {}}}\n    out2 = encode out1, v\n    \
         out net.frame(out2)\n    return\n}}\n",
        sums[0], sums[1], sums[2], sums[3]
    );
    text
}
