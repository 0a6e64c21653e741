//! A dissector in Lua beside `mokume dissect`: what each says of a frame, line by line, and whether it is the same.

use super::*;

/// LINKTYPE_USER0, and Wireshark's number for it; the number of such types.
pub(super) const USER: (u16, u64) = (147, 45);

pub(super) const MOST: usize = 16;

/// A dissector, where its packets begin, and some frames.
pub(super) struct Trial<'a> {
    pub(super) of: String,
    pub(super) dissector: &'a Dissector,
    /// `None`: as frames.
    pub(super) protocol: Option<usize>,
    pub(super) frames: Vec<Frame>,
}

/// The output about a packet, line by line: a layer, a field, a verdict.
pub(super) type Lines = Vec<String>;

pub(super) fn place(field: &str, bit: usize, width: usize) -> String {
    format!("{field} at {}.{} of {width}", bit / 8, bit % 8)
}

/// Our output.
pub(super) fn ours(dissection: &Dissection) -> Lines {
    let mut lines = vec![format!("info {}", dissection.info())];
    for layer in &dissection.layers {
        let by = if layer.wire.is_empty() { String::new() } else { format!(" by {}", layer.wire) };
        let alternatives = layer.alternatives.join(", ");
        let alternatives = if alternatives.is_empty() { alternatives } else { format!(": {alternatives}") };
        lines.push(format!("layer {}{by}{alternatives}", layer.name));
        for field in &layer.fields {
            let name = names::filter(field.alternative.as_deref(), &field.name);
            lines.push(format!("{} = {}", place(&name, field.bit, field.width.into()), field.value));
        }
        let only = layer.condition();
        if let Some(refused) = &layer.refused {
            let (octet, bit) = (refused.bit / 8, refused.bit % 8);
            let bit = if bit == 0 { String::new() } else { format!(", bit {bit}") };
            lines.push(format!("malformed at octet {octet}{bit}: {}{only}", refused.reason));
        }
        if !layer.dropped.is_empty() {
            let reason = |dropped: &dissect::Dropped| {
                let place = dropped.place.as_ref().map_or(String::new(), |place| format!(" ({place})"));
                format!("{}{place}", dropped.reason)
            };
            let reasons: Vec<String> = layer.dropped.iter().map(reason).collect();
            lines.push(format!("dropped in any state: {}{only}", reasons.join(", or ")));
        }
        if let Some(wrong) = &layer.wrong_sum {
            let (octet, field, right) = (wrong.bit / 8, &wrong.field, wrong.right);
            lines.push(format!(
                "refused at octet {octet}: `{field}` is not the checksum of what is there, {right:#06x}{only}"
            ));
        }
        if layer.cut {
            lines.push("cut".to_string());
        }
    }
    lines
}

/// tshark's output, from the first of our layers on. `info` is the column.
pub(super) fn theirs(shown: &[Shown], info: &str) -> Lines {
    let mut lines = vec![format!("info {info}")];
    let mut own = None;
    let mut is_cut = false;
    for one in shown {
        let name = one.get("name");
        if !one.is_field {
            if is_cut {
                lines.push("cut".to_string());
            }
            is_cut = false;
            own = (one.depth == 0 && !["geninfo", "frame", "fake-field-wrapper"].contains(&name))
                .then(|| name.to_string());
            if let Some(own) = &own {
                let text = one.get("showname");
                is_cut = text.contains(" (cut by the capture)");
                let text = text.split(" (cut by the capture)").next().unwrap_or("");
                let text = text.split(" (padding: ").next().unwrap_or("");
                lines.push(format!("layer {text}"));
                let _ = own;
            }
            continue;
        }
        let Some(own) = &own else { continue };
        if name == "_ws.expert.message" {
            lines.push(one.get("show").to_string());
        } else if let Some(name) = name.strip_prefix(&format!("{own}.")).filter(|_| one.depth == 1) {
            lines.push(field(name, one));
        }
    }
    if is_cut {
        lines.push("cut".to_string());
    }
    lines
}

pub(super) fn field(name: &str, shown: &Shown) -> String {
    let octets: usize = shown.get("size").parse().unwrap_or(0);
    let first: usize = shown.get("pos").parse().unwrap_or(0);
    let pattern = shown.get("showname").split_once(" = ").map(|(pattern, _)| pattern.replace(' ', ""));
    let pattern = pattern.filter(|text| text.len() == 8 * octets && text.chars().all(|c| matches!(c, '0' | '1' | '.')));
    let digits = |pattern: &str| -> Vec<usize> {
        pattern.chars().enumerate().filter(|(_, c)| *c != '.').map(|(at, _)| at).collect()
    };
    let (bit, width) = match pattern.map(|pattern| digits(&pattern)) {
        Some(bits) if !bits.is_empty() => (8 * first + bits[0], bits.len()),
        _ => (8 * first, 8 * octets),
    };
    let text = shown.get("show");
    let parts = |sign: char, radix: u32| {
        text.split(sign).try_fold(0u64, |sum, part| Some(sum << 8 | u64::from_str_radix(part, radix).ok()?))
    };
    let value = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None if text.contains('.') => parts('.', 10),
        None if text.contains(':') => parts(':', 16),
        None => text.parse().ok(),
    };
    let value = value.map_or_else(|| format!("`{text}`"), |value| value.to_string());
    format!("{} = {value}", place(name, bit, width))
}

/// The most characters of a line that are compared; Wireshark cuts labels at 240 octets.
pub(super) const SHOWN: usize = 230;

/// The line without what Wireshark lacks: fields of more than 4 octets have no mask, so only their first octets are compared;
/// and long lines are cut.
pub(super) fn loosened(line: &str) -> String {
    let line: String = line.chars().take(SHOWN).collect();
    let line = line.as_str();
    let Some((before, rest)) = line.split_once(" at ") else { return line.to_string() };
    let Some((at, rest)) = rest.split_once(" of ") else { return line.to_string() };
    let Some((width, value)) = rest.split_once(" = ") else { return line.to_string() };
    let numbers = at.split_once('.').and_then(|(octet, bit)| {
        Some((octet.parse::<usize>().ok()?, bit.parse::<usize>().ok()?, width.parse::<usize>().ok()?))
    });
    match numbers {
        Some((octet, bit, width)) if (bit + width).div_ceil(8) > 4 => format!("{before} at {octet} = {value}"),
        _ => line.to_string(),
    }
}

pub(super) fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, &body, &length].concat()
}

/// A capture with an interface for each trial.
pub(super) fn capture(trials: &[Trial]) -> Vec<u8> {
    let head = [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    let mut file = block(0x0a0d_0d0a, &head);
    for place in 0..trials.len() {
        let link = (USER.0 + place as u16).to_le_bytes();
        file.extend(block(1, &[link[0], link[1], 0, 0, 0, 0, 4, 0]));
    }
    for (place, trial) in trials.iter().enumerate() {
        for (octets, length) in &trial.frames {
            let words = [place as u32, 0, 0, octets.len() as u32, *length as u32];
            let head: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            file.extend(block(6, &[head, octets.clone()].concat()));
        }
    }
    file
}

/// What was compared.
#[derive(Default, Debug)]
pub(super) struct Compared {
    pub(super) packets: usize,
    pub(super) fields: usize,
    pub(super) refused: usize,
    pub(super) dropped: usize,
    pub(super) summed: usize,
    pub(super) cut: usize,
    pub(super) wrong: Vec<String>,
}

pub(super) fn tshark(folder: &Path, scripts: &[PathBuf], file: &Path, more: &[&str]) -> String {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(file);
    for script in scripts {
        command.arg("-X").arg(format!("lua_script:{}", script.display()));
    }
    let output = command.args(more).env("HOME", folder).output().expect("tshark runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_wrong = |line: &&str| line.contains("Lua") || line.contains("lua") || line.contains("rror");
    let wrong: Vec<&str> = said.lines().filter(is_wrong).collect();
    assert!(wrong.is_empty() && output.status.success(), "{}: {}: {said}", file.display(), output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Compares as many trials at once as tshark has link types for. `fault` changes the scripts.
pub(super) fn compare(name: &str, trials: &[Trial], fault: &dyn Fn(String) -> String, seen: &mut Compared) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wireshark");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (batch, trials) in trials.chunks(MOST).enumerate() {
        let mut scripts = Vec::new();
        for (place, trial) in trials.iter().enumerate() {
            let at = At { table: "wtap_encap".into(), number: USER.1 + place as u64, protocol: trial.protocol };
            let script = folder.join(format!("{name}-{batch}-{place}.lua"));
            std::fs::write(&script, fault(wireshark::lua(trial.dissector, vec![at]))).expect("written");
            scripts.push(script);
        }
        let file = folder.join(format!("{name}-{batch}.pcapng"));
        std::fs::write(&file, capture(trials)).expect("written");
        let packets = pdml(&tshark(&folder, &scripts, &file, &["-T", "pdml"])).expect("PDML");
        let columns = ["-T", "fields", "-E", "separator=/t", "-e", "frame.number", "-e", "_ws.col.Info"];
        let info = tshark(&folder, &scripts, &file, &columns);
        let info: Vec<&str> = info.lines().map(|line| line.split_once('\t').map_or("", |(_, info)| info)).collect();
        let all: Vec<(&Trial, &Frame)> =
            trials.iter().flat_map(|trial| trial.frames.iter().map(move |frame| (trial, frame))).collect();
        assert_eq!((packets.len(), info.len()), (all.len(), all.len()), "{name}");
        for ((shown, info), (trial, (octets, length))) in packets.iter().zip(info).zip(all) {
            let dissection = match trial.protocol {
                Some(protocol) => trial.dissector.dissect_at(octets, *length, protocol),
                None => trial.dissector.dissect_cut(octets, *length, Front::Frame(0)),
            };
            let (own, other) = (ours(&dissection), theirs(shown, info));
            seen.packets += 1;
            for layer in &dissection.layers {
                seen.fields += layer.fields.len();
                seen.refused += usize::from(layer.refused.is_some());
                seen.dropped += usize::from(!layer.dropped.is_empty());
                seen.summed += usize::from(layer.wrong_sum.is_some());
                seen.cut += usize::from(layer.cut);
            }
            let places = own.iter().map(|line| loosened(line)).zip(other.iter().map(|line| loosened(line)));
            let differs = places.into_iter().find(|(own, other)| own != other).or_else(|| {
                let at = own.len().min(other.len());
                let text = |lines: &Lines| lines.get(at).cloned().unwrap_or_else(|| "nothing".to_string());
                (own.len() != other.len()).then(|| (text(&own), text(&other)))
            });
            if let Some((own, other)) = differs {
                let of = &trial.of;
                seen.wrong.push(format!("{of}: {octets:02x?} of {length}: ours `{own}`, in Lua `{other}`"));
            }
        }
    }
}

pub(super) fn told(what: &str, seen: &Compared) {
    let Compared { packets, fields, refused, dropped, summed, cut, wrong } = seen;
    println!(
        "FIGURE: wireshark, {what}: {packets} packets, {fields} fields; malformed {refused}, dropped in any state {dropped}, wrong \
         sums {summed}, cut {cut}; {} differences",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.iter().take(10).cloned().collect::<Vec<_>>().join("\n"));
}
