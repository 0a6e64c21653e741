//! Programs that are long, or that make the compiler work harder with each line; a number sets their size. The compiler
//! checks each in a time and memory that grow with its length, or refuses it with a code (`docs/limits.md`).

/// A generator: what grows, and the program of a given size.
pub struct Growing {
    pub name: &'static str,
    /// The program's text, whose length grows with the size.
    pub program: fn(usize) -> String,
}

/// All generators. In those whose names begin with `exp`, each step doubles something.
pub const GROWING: &[Growing] = &[
    Growing { name: "exp_records", program: exp_records },
    Growing { name: "exp_vectors", program: exp_vectors },
    Growing { name: "exp_functions", program: exp_functions },
    Growing { name: "exp_own_functions", program: exp_own_functions },
    Growing { name: "exp_bundles", program: exp_bundles },
    Growing { name: "exp_functors", program: exp_functors },
    Growing { name: "exp_containers", program: exp_containers },
    Growing { name: "exp_containers_wide", program: exp_containers_wide },
    Growing { name: "exp_signatures", program: exp_signatures },
    Growing { name: "exp_loops", program: exp_loops },
    Growing { name: "exp_optional_parts", program: exp_optional_parts },
    Growing { name: "exp_constants", program: exp_constants },
    Growing { name: "exp_applied", program: exp_applied },
    Growing { name: "layers_given_containers", program: layers_given_containers },
    Growing { name: "containers_declared", program: containers_declared },
    Growing { name: "chain_of_functions", program: chain_of_functions },
    Growing { name: "chain_of_records", program: chain_of_records },
    Growing { name: "chain_of_types", program: chain_of_types },
    Growing { name: "chain_of_constants", program: chain_of_constants },
    Growing { name: "chain_of_bundles", program: chain_of_bundles },
    Growing { name: "chain_of_layers", program: chain_of_layers },
    Growing { name: "layers_in_a_row", program: layers_in_a_row },
    Growing { name: "layers_on_one", program: layers_on_one },
    Growing { name: "unknown_names", program: unknown_names },
    Growing { name: "unmatched_brackets", program: unmatched_brackets },
    Growing { name: "unclosed_blocks", program: unclosed_blocks },
    Growing { name: "parentheses", program: parentheses },
    Growing { name: "operators", program: operators },
    Growing { name: "alternatives", program: alternatives },
    Growing { name: "fields", program: fields },
    Growing { name: "state", program: state },
    Growing { name: "names_of_an_enum", program: names_of_an_enum },
    Growing { name: "branches", program: branches },
    Growing { name: "branches_that_leave", program: branches_that_leave },
    Growing { name: "objects_or_leave", program: objects_or_leave },
    Growing { name: "drops", program: drops },
    Growing { name: "laters_in_a_row", program: laters_in_a_row },
    Growing { name: "exports_of_one", program: exports_of_one },
    Growing { name: "emissions", program: emissions },
    Growing { name: "stacks", program: stacks },
    Growing { name: "tests", program: tests },
];

/// Lines, one for each number below `count`.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// A stack of `what` over a device.
fn stack(what: &str) -> String {
    format!("stack S(device: Device) {{\n    app = {what} over device\n    export app\n}}\n")
}

fn exp_records(k: usize) -> String {
    let records = lines(k, |i| format!("record R{i} {{ a: R{0}, b: R{0} }}\n", i + 1));
    format!("{records}record R{k} {{ a: u8 }}\nfn whole(x: R0) -> R0 {{ return x }}\nworker L {{ }}\n{}", stack("L"))
}

/// Each constant is the sum of two of the next, and most do not fit.
fn exp_constants(k: usize) -> String {
    let constants = lines(k, |i| format!("const C{i}: u32 = C{0} + C{0}\n", i + 1));
    format!("{constants}const C{k}: u32 = 3000000000\nworker L {{ }}\n{}", stack("L"))
}

/// Each function applies the previous one to what it makes of its layer.
fn exp_applied(k: usize) -> String {
    let bundles = lines(k, |i| format!("bundle D{0}(L: worker) = D{i}(D{i}(L))\n", i + 1));
    format!("worker W {{ }}\nbundle D0(L: worker) = L / L\n{bundles}{}", stack(&format!("D{k}(W)")))
}

/// Each name has its number, and half of the names are matched.
fn names_of_an_enum(k: usize) -> String {
    let names = lines(k, |i| format!("    N{i}\n"));
    let cases = lines(k / 2, |i| format!("        E.N{i} => {{ return {i} }}\n"));
    format!(
        "enum E: u32 {{\n{names}}}\nfn of(e: E) -> u32 {{\n    match e {{\n{cases}        else => {{ return 0 }}\n    }}\n}}\n\
         worker L {{ }}\n{}",
        stack("L")
    )
}

fn exp_vectors(k: usize) -> String {
    let records = lines(k, |i| format!("record R{i} {{ all: [R{}; ..8] }}\n", i + 1));
    let layer = "worker L { entity { var e: [R0; ..2] = [] }  on send(msg) { e = []  below.send(msg) } }\n";
    format!("{records}record R{k} {{ a: u8 }}\n{layer}{}", stack("L"))
}

fn functions(k: usize, call: impl Fn(usize) -> String) -> String {
    let functions = lines(k, |i| format!("fn f{i}(x: u32) -> u32 {{ return {} }}\n", call(i + 1)));
    let layer = "worker L { header { n: u32 } on send(msg) { below.send(msg, n: f0(msg.size)) } }\n";
    format!("{functions}fn f{k}(x: u32) -> u32 {{ return x }}\n{layer}{}", stack("L"))
}

fn exp_functions(k: usize) -> String {
    functions(k, |next| format!("f{next}(x) +% f{next}(x +% 1)"))
}

fn exp_own_functions(k: usize) -> String {
    let functions = lines(k, |i| format!("    fn f{i}() {{ f{0}() f{0}() }}\n", i + 1));
    let layer = format!("worker L {{\n    entity {{ var v: u32 = 0 }}\n{functions}    fn f{k}() {{ v += 1 }}\n");
    format!("{layer}    on send(msg) {{ f0() below.send(msg) }}\n}}\n{}", stack("L"))
}

fn exp_bundles(k: usize) -> String {
    let bundles = lines(k, |i| format!("bundle B{i} = B{0} / B{0}\n", i + 1));
    format!("{bundles}bundle B{k} = L\nworker L {{ }}\n{}", stack("B0"))
}

fn exp_functors(k: usize) -> String {
    let what = format!("{}L{}", "D(".repeat(k.min(150)), ")".repeat(k.min(150)));
    format!("bundle D(Lower: worker) = Lower / Lower\nworker L {{ }}\n{}", stack(&what))
}

fn exp_containers(k: usize) -> String {
    let containers = lines(k, |i| format!("container c{i}<T>(x: T) {{ c{0}<T> a(x)  c{0}<T> b(x) }}\n", i + 1));
    let last = format!("container c{k}<T>(x: T) {{ var y: T = x }}\n");
    format!("{containers}{last}worker L {{ entity {{ c0<u8> z(1) }} }}\n{}", stack("L"))
}

/// Shallow but wide: each contains many of the previous one.
fn exp_containers_wide(k: usize) -> String {
    let held = |i: usize| lines(k.min(20), |at| format!("c{i}<T> a{at}(x)  "));
    let containers = lines(k.min(7), |i| format!("container c{i}<T>(x: T) {{ {} }}\n", held(i + 1)));
    let last = format!("container c{}<T>(x: T) {{ var y: T = x }}\n", k.min(7));
    format!("{containers}{last}worker L {{ entity {{ c0<u8> z(1) }} }}\n{}", stack("L"))
}

/// A long layer, and many stacks that each give it a container of their own.
fn layers_given_containers(k: usize) -> String {
    let containers = lines(k, |i| format!("container c{i}<T>() {{ var y: T = {i} % 200 }}\n"));
    let state = lines(k, |i| format!("var v{i}: u32 = {i}\n"));
    let stacks = lines(k, |i| format!("stack S{i}(device: Device) {{ app = L(c{i}) over device export app }}\n"));
    format!("{containers}worker L(Held: container) {{ entity {{ Held<u8> held()\n{state} }} }}\n{stacks}")
}

/// A long container that is declared many times.
fn containers_declared(k: usize) -> String {
    let functions = lines(k, |i| format!("fn f{i}(x: u32) -> u32 {{ return x +% {i} }}\n"));
    let declared = lines(k, |i| format!("c d{i}()\n"));
    format!("container c() {{ var y: u32 = 0\n{functions} }}\nworker L {{ entity {{ {declared} }} }}\n{}", stack("L"))
}

fn exp_signatures(k: usize) -> String {
    let signatures = lines(k, |i| format!("signature G{i} {{ include G{0}  include G{0} }}\n", i + 1));
    format!("{signatures}signature G{k} {{ unit message }}\nworker L {{ gives G0 }}\n{}", stack("L"))
}

fn exp_loops(k: usize) -> String {
    let k = k.min(150);
    let (begin, end) = (lines(k, |i| format!("for i{i} in 0 .. 60000 limit 60000 {{\n")), "}\n".repeat(k));
    let handler = format!("on send(msg) {{\n{begin}x +%= 1\n{end}below.send(msg) }}");
    format!("worker L {{ entity {{ var x: u32 = 0 }}\n{handler} }}\n{}", stack("L"))
}

fn exp_optional_parts(k: usize) -> String {
    let header = lines(k, |i| format!("b{i}: u8, x{i}: u8, "));
    let given = lines(k, |i| format!(", b{i}: 1, x{i}: 0"));
    let wire = lines(k, |i| format!("b{i}: u8 = L.b{i}\noptional when b{i} == 1 {{ x{i}: u8 = L.x{i} }}\n"));
    let layer = format!("worker L {{ header {{ {header}z: u8 }} on send(msg) {{ below.send(msg{given}, z: 0) }} }}\n");
    format!("{layer}bundle B = L encoded W\nwire W big {{\n{wire}z: u8 = L.z\n}}\n{}", stack("B"))
}

fn chain_of_functions(k: usize) -> String {
    functions(k, |next| format!("f{next}(x) +% 1"))
}

fn chain_of_records(k: usize) -> String {
    let records = lines(k, |i| format!("record R{i} {{ a: R{} }}\n", i + 1));
    format!("{records}record R{k} {{ a: u8 }}\nfn whole(x: R0) -> R0 {{ return x }}\nworker L {{ }}\n{}", stack("L"))
}

fn chain_of_types(k: usize) -> String {
    let types = lines(k, |i| format!("type T{i} = T{}\n", i + 1));
    format!("{types}type T{k} = u8\nworker L {{ }}\n{}", stack("L"))
}

fn chain_of_constants(k: usize) -> String {
    let constants = lines(k, |i| format!("const C{i}: u64 = C{} + 1\n", i + 1));
    format!("{constants}const C{k}: u64 = 1\nworker L {{ }}\n{}", stack("L"))
}

fn chain_of_bundles(k: usize) -> String {
    let bundles = lines(k, |i| format!("bundle B{i} = B{} / L\n", i + 1));
    format!("{bundles}bundle B{k} = L\nworker L {{ }}\n{}", stack("B0"))
}

fn chain_of_layers(k: usize) -> String {
    let layers = lines(k, |i| format!("    a{} = L over a{i}\n", i + 1));
    format!("worker L {{ }}\nstack S(device: Device) {{\n    a0 = L over device\n{layers}    export a{k}\n}}\n")
}

fn layers_in_a_row(k: usize) -> String {
    format!("worker L {{ }}\n{}", stack(&["L"].repeat(k.max(1)).join(" / ")))
}

fn layers_on_one(k: usize) -> String {
    let layers = lines(k, |i| format!("    a{i} = L over ports[port: {i}]\n    export a{i}\n"));
    let ports = "multiplexor Ports { key { port: u16 } }\nworker L { }\n";
    format!("{ports}stack S(device: Device) {{\n    ports = Ports over device\n{layers}}}\n")
}

fn unknown_names(k: usize) -> String {
    let lets = lines(k, |i| format!("let x{i} = unknown{i}\n"));
    format!("worker L {{ on send(msg) {{\n{lets}below.send(msg) }} }}\n{}", stack("L"))
}

fn unmatched_brackets(k: usize) -> String {
    "} ] ) @ ".repeat(k)
}

fn unclosed_blocks(k: usize) -> String {
    "worker L { on send(msg) { ".repeat(k)
}

fn parentheses(k: usize) -> String {
    format!("const C: u32 = {}1{}\n", "(".repeat(k), ")".repeat(k))
}

fn operators(k: usize) -> String {
    format!("const C: u32 = {}\n", vec!["1"; k.max(1)].join(" +% "))
}

fn alternatives(k: usize) -> String {
    let header: Vec<String> = (0..k.max(2)).map(|i| format!("A{i} {{ x: u8 }} with message")).collect();
    let handlers = lines(k.max(2), |i| format!("on deliver(msg, A{i}) {{ above.deliver(msg) }}\n"));
    let send = "on send(msg) { below.send(msg, A0 { x: 1 }) }\n";
    format!("worker L {{ header {{ {} }}\n{send}{handlers}}}\n{}", header.join(" | "), stack("L"))
}

fn fields(k: usize) -> String {
    let (header, given) = (lines(k, |i| format!("h{i}: u8, ")), lines(k, |i| format!(", h{i}: 0")));
    format!("worker L {{ header {{ {header}z: u8 }} on send(msg) {{ below.send(msg{given}, z: 0) }} }}\n{}", stack("L"))
}

fn state(k: usize) -> String {
    let (vars, uses) = (lines(k, |i| format!("var v{i}: u32 = 0\n")), lines(k, |i| format!("v{i} += 1\n")));
    format!("worker L {{ entity {{\n{vars}}}\non send(msg) {{\n{uses}below.send(msg) }} }}\n{}", stack("L"))
}

fn branches(k: usize) -> String {
    let ifs = lines(k, |i| format!("if v == {i} {{ v = {} }}\n", i + 1));
    format!("worker L {{ entity {{ var v: u32 = 0 }} on send(msg) {{\n{ifs}below.send(msg) }} }}\n{}", stack("L"))
}

/// After each line some ways have left, so every line has two ways in.
fn branches_that_leave(k: usize) -> String {
    let ifs =
        lines(k, |i| format!("if v == {i} {{ v = 1 }} else {{ if v == {} {{ drop msg: x return }} v = 2 }}\n", i + 1));
    format!("worker L {{ entity {{ var v: u32 = 0 }} on send(msg) {{\n{ifs}below.send(msg) }} }}\n{}", stack("L"))
}

fn objects_or_leave(k: usize) -> String {
    let found = lines(k, |i| {
        format!("if v == {i} {{ v = 1 }} else {{ let o = O[{i}] or new {{ drop msg: x return }} o.n += 1 }}\n")
    });
    let state = "entity { var v: u32 = 0 }\nobject O[key: u16] capacity 4 { var n: u32 = 0 }";
    format!("worker L {{ {state} on send(msg) {{\n{found}below.send(msg) }} }}\n{}", stack("L"))
}

/// Each drop has a reason of its own.
fn drops(k: usize) -> String {
    let ifs = lines(k, |i| format!("if h == {i} {{ drop msg: r{i} return }}\n"));
    let send = "on send(msg) { below.send(msg, h: 0) }";
    format!(
        "worker L {{ header {{ h: u32 }} {send}\non deliver(msg, h) {{\n{ifs}above.deliver(msg) }} }}\n{}",
        stack("L")
    )
}

fn laters_in_a_row(k: usize) -> String {
    let events = lines(k, |i| format!("on e{i}() {{ v +%= {i} later e{}() or {{ }} }}\n", i + 1));
    let send = "on send(msg) { below.send(msg) later e0() or { } }";
    format!("worker L {{ entity {{ var v: u32 = 0 }} {send}\n{events}on e{k}() {{ v = 0 }} }}\n{}", stack("L"))
}

/// As many exports as one layer may have above it.
fn exports_of_one(k: usize) -> String {
    let exports = lines(k.min(250), |i| format!("    a{i} = L over keys[key: {}]\n    export a{i}\n", i + 1));
    format!(
        "multiplexor Keys {{ key symmetric {{ key: u16 }} }}\nworker L {{ }}\nstack S(device: Device) {{\n    keys = Keys over device\n{exports}}}\n"
    )
}

fn emissions(k: usize) -> String {
    let sends = "below.send(msg.share())\n".repeat(k);
    format!("worker L {{ on send(msg) {{\n{sends}below.send(msg) }} }}\n{}", stack("L"))
}

fn stacks(k: usize) -> String {
    let stacks = lines(k, |i| stack("L").replace("stack S", &format!("stack S{i}")));
    format!("worker L {{ }}\n{stacks}")
}

fn tests(k: usize) -> String {
    let step = "app.send_to(\"x\")\n    => device.frame(\"x\")";
    let tests = lines(k, |i| format!("test \"t{i}\" {{\n    stack S\n    {step}\n}}\n"));
    format!("worker L {{ }}\n{}{tests}", stack("L"))
}
