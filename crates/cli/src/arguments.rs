//! What the command takes. Words are those of docs/; a number, address or duration is checked where it is used.

use clap::{Args, Parser, Subcommand, ValueEnum};
use mokume_driver::path::{Pass, Passes};
use mokume_driver::Failure;

/// Network protocols, layer by layer: check, test, run, simulate, build and draw them.
#[derive(Parser, Debug)]
#[command(name = "mokume", version, about, arg_required_else_help = true)]
pub struct Arguments {
    /// What the command prints: text for people, or one JSON object a line.
    #[arg(long, value_enum, default_value_t = Format::Text, global = true)]
    pub format: Format,
    /// Whether messages are coloured.
    #[arg(long, value_enum, default_value_t = When::Auto, global = true)]
    pub color: When,
    /// How long a step of a test, or C, may run without an answer before the test, or the command, is given up; `0s`: for ever.
    #[arg(long, value_name = "DURATION", default_value = "60s", global = true)]
    pub patience: String,
    /// Said by the command to itself: the descriptor by which it is watched.
    #[arg(long, hide = true, value_name = "DESCRIPTOR")]
    pub watched: Option<i32>,
    /// Said by the command to itself: how many tests have been begun before.
    #[arg(long, hide = true, value_name = "COUNT", default_value_t = 0)]
    pub behind: usize,
    #[command(subcommand)]
    pub command: Command,
}

/// What is printed: text for people, or one JSON object a line for scripts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Format {
    Text,
    Json,
}

/// Whether output is coloured; `Auto` colours where a person reads it and `NO_COLOR` is not set.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum When {
    Auto,
    Always,
    Never,
}

/// Who runs a stack. Where a command is given none, the project's default or the command's own is taken.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Backend {
    Interpreter,
    C,
}

/// How much a record says.
#[derive(Args, Debug)]
pub struct Steps {
    /// Writes down, too, what the layers do: the lines that run, timers that ring, variables that change (the interpreter says that, C does
    /// not), and frames field by field.
    #[arg(long, requires = "record")]
    pub steps: bool,
}

/// Again and again.
#[derive(Args, Debug)]
pub struct Watch {
    /// Does it again whenever a file changes that it reads, until Ctrl-C; a change meanwhile is seen at its end.
    #[arg(long)]
    pub watch: bool,
}

/// Where chance starts.
#[derive(Args, Debug)]
pub struct Seed {
    /// Where chance starts: the same seed, the same run. Left out: what `Mokume.toml` says, else 1, and on devices another each time.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Reads files and says what is wrong with them.
    Check {
        /// Files or folders; a project's sources when left out; `-`: the standard input, whose functions in C are not compiled.
        files: Vec<String>,
        #[command(flatten)]
        watch: Watch,
    },
    /// Runs the `test` blocks of files, on the interpreter and in C.
    Test {
        /// Files or folders; a project's sources when left out.
        files: Vec<String>,
        /// Only on this one.
        #[arg(long, value_enum)]
        backend: Option<Backend>,
        #[command(flatten)]
        fused: Fused,
        /// Only tests whose name contains this.
        #[arg(long, value_name = "TEXT")]
        filter: Option<String>,
        /// Writes down what happens, a run for each test and back end; `mokume show` reads it.
        #[arg(long, value_name = "FILE")]
        record: Option<String>,
        #[command(flatten)]
        steps: Steps,
        /// Writes a page for a browser of each test that fails into this folder, with its record; the report says its name.
        #[arg(long, value_name = "FOLDER")]
        html: Option<String>,
        #[command(flatten)]
        watch: Watch,
    },
    /// Runs a stack on devices: TAP interfaces, UDP sockets and captures.
    Run {
        #[command(flatten)]
        stack: StackChoice,
        #[command(flatten)]
        on: OnDevices,
        /// Writes down what happens, as it happens; `mokume show` reads it.
        #[arg(long, value_name = "FILE")]
        record: Option<String>,
        /// Each line of the standard input goes in as this event of a port, as tests write it, with `line` for the line:
        /// `app.send_to(0, 255, line)`. It waits while the port has no credit.
        #[arg(long, value_name = "EVENT")]
        lines: Option<String>,
        #[command(flatten)]
        steps: Steps,
    },
    /// Opens a stream by a stack: the standard input is sent, what comes goes to the standard output.
    ///
    /// The end of the input ends its direction only; the command ends when both have. Exit code 0: all arrived, both ways. 1: the stream
    /// was refused, reset or timed out, and why stands on the standard error.
    Connect {
        /// The other end, as the stack writes it: `10.77.0.1 80`, `fd00:77::1 80`.
        #[arg(required = true, value_name = "HOST PORT", num_args = 1..)]
        remote: Vec<String>,
        /// How long to wait for an answer (`10s`); as long as the stack does, when left out.
        #[arg(long, value_name = "DURATION")]
        timeout: Option<String>,
        #[command(flatten)]
        stack: StreamStack,
        #[command(flatten)]
        on: OnDevices,
        #[command(flatten)]
        linger: Linger,
    },
    /// Waits for one stream at a port of a stack: the standard input is sent, what comes goes to the standard output.
    ///
    /// Others are refused when one has come. Who is gone before he has said anything was none: the next one is waited for, and hears the
    /// input from its beginning. It ends as `connect` does.
    Listen {
        /// Our end, as the stack writes it: `80`, or `10.77.0.2 80` for this address only.
        #[arg(required = true, value_name = "PORT", num_args = 1..)]
        local: Vec<String>,
        #[command(flatten)]
        stack: StreamStack,
        #[command(flatten)]
        on: OnDevices,
        #[command(flatten)]
        linger: Linger,
    },
    /// Joins ports of the operating system with streams of a stack, until it is stopped.
    ///
    /// `--from 127.0.0.1:8080 --to 10.77.0.1:80`: who connects to 8080 of this machine talks, by the stack, with port 80 of that host.
    /// `--from stack:80 --to 127.0.0.1:8080`: who connects to the stack's port 80 talks with 8080 of this machine.
    /// The command's own stack has room for 64 streams of each family at once, in both directions; a stack of `--file` with `sessions N` for N.
    /// Exit code 1: streams were cut when it was stopped, or the stack reported something.
    Forward {
        /// Where streams come from: `ADDRESS:PORT` of this machine, or `stack:PORT`; again for each that is joined.
        #[arg(long, value_name = "END", required = true)]
        from: Vec<String>,
        /// Where they go, in the same order.
        #[arg(long, value_name = "END", required = true)]
        to: Vec<String>,
        #[command(flatten)]
        stack: StreamStack,
        #[command(flatten)]
        on: OnDevices,
    },
    /// Runs a file's `network`, or a test of it, step by step on the interpreter; forwards and backwards.
    ///
    /// Commands come from the terminal or from a pipe, a line each; `help` lists them. `mokume debug net.mok < commands` does for scripts.
    #[command(verbatim_doc_comment)]
    Debug {
        /// A `.mok` file; the sources of `Mokume.toml` when left out.
        file: Option<String>,
        /// Which network, where the file has several.
        #[arg(long, value_name = "NAME")]
        network: Option<String>,
        /// A test, by its name or a part that no other has.
        #[arg(long, value_name = "NAME", conflicts_with = "network")]
        test: Option<String>,
        #[command(flatten)]
        seed: Seed,
        /// Serves an editor by the debug adapter protocol, over the standard input and output; what runs is said by its `launch`.
        #[arg(long, conflicts_with_all = ["file", "network", "test"])]
        dap: bool,
    },
    /// Runs a file's `network`: hosts on simulated media, in virtual time.
    Sim {
        /// A `.mok` file; the sources of `Mokume.toml` when left out.
        file: Option<String>,
        /// Which network, where the file has several.
        #[arg(long, value_name = "NAME")]
        network: Option<String>,
        /// What runs the hosts.
        #[arg(long, value_enum)]
        backend: Option<Backend>,
        #[command(flatten)]
        fused: Fused,
        /// Writes what was on the media to this capture.
        #[arg(long, value_name = "FILE")]
        pcap: Option<String>,
        /// Writes the sequence chart as a picture (SVG), or as text if the name ends in `.txt`.
        #[arg(long, value_name = "FILE")]
        chart: Option<String>,
        /// Prints every event.
        #[arg(long)]
        log: bool,
        /// Writes down what happens; `mokume show` reads it.
        #[arg(long, value_name = "FILE")]
        record: Option<String>,
        #[command(flatten)]
        steps: Steps,
        /// Writes a page for a browser, to see what happened and why; it has what `--steps` says, and so has a record beside it.
        #[arg(long, value_name = "FILE")]
        html: Option<String>,
        #[command(flatten)]
        seed: Seed,
        /// Runs so many seeds, from `--seed` (or 1) on; the first that fails is shrunk to the smallest weather that still does.
        #[arg(long, value_name = "COUNT", conflicts_with_all = ["pcap", "chart", "log", "record", "html"], value_parser = clap::value_parser!(u64).range(1..))]
        seeds: Option<u64>,
        /// How many seeds run at once; as many as there are cores when left out.
        #[arg(long, value_name = "COUNT", requires = "seeds")]
        jobs: Option<usize>,
        #[command(flatten)]
        watch: Watch,
    },
    /// Runs a file's `network`, and tells which ways the reactions of a stack took: a line for each event. `--profile` of `build`, `path` and
    /// `prove` goes by what it writes.
    Profile {
        /// A `.mok` file; the sources of `Mokume.toml` when left out.
        file: Option<String>,
        /// Which network, where the file has several.
        #[arg(long, value_name = "NAME")]
        network: Option<String>,
        /// The stack of the hosts that are watched, where they have several.
        #[arg(long, value_name = "NAME")]
        stack: Option<String>,
        #[command(flatten)]
        seed: Seed,
        /// Runs so many seeds, from `--seed` (or 1) on, and adds up.
        #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        seeds: u64,
        /// Where the profile goes.
        #[arg(long, short, value_name = "FILE")]
        output: Option<String>,
    },
    /// Compiles a stack.
    Build {
        #[command(flatten)]
        stack: StackChoice,
        /// What to write.
        #[arg(long, value_enum, default_value_t = Emit::C)]
        emit: Emit,
        /// Where to: a folder for C, a file for an automaton or a dissector; the standard output when left out.
        #[arg(long, short, value_name = "PATH")]
        output: Option<String>,
        /// Of a dissector: the table of Wireshark's, the number there, and the layer that its packets begin with: `udp.port:4711:agreed`; may
        /// come again. Left out: captures of frames, and the whole stack.
        #[arg(long, value_name = "TABLE:NUMBER[:LAYER]")]
        at: Vec<String>,
        /// The layers as they were written, before composing.
        #[arg(long)]
        uncomposed: bool,
        /// As little code as can be: without paths, if `--fuse` does not say otherwise, and with functions where else code stands in place.
        #[arg(long, conflicts_with = "uncomposed")]
        size: bool,
        /// Only with paths that `mokume prove` has proved: where there is no verdict, the layers stay as they are, and a line says so.
        #[arg(long, conflicts_with = "uncomposed")]
        proved: bool,
        #[command(flatten)]
        fused: Fused,
        #[command(flatten)]
        by: ByProfile,
    },
    /// Shows the likeliest way through all layers of a stack for an event of a port, or says why there is none.
    Path {
        #[command(flatten)]
        stack: StackChoice,
        /// An event, such as `udp.send`: its path is shown. Left out: all events, a line each.
        #[arg(long, value_name = "PORT.EVENT")]
        event: Option<String>,
        /// Writes the event's path as a page: its code beside the source, and what each `--fuse` leaves of each layer.
        #[arg(long, value_name = "FILE", requires = "event")]
        html: Option<String>,
        #[command(flatten)]
        by: ByProfile,
        #[command(flatten)]
        left_out: LeftOut,
    },
    /// Proves that the paths of a stack do what its layers do, by z3 and bitwuzla: a line for each event. 1 if one is not proved.
    ///
    /// Of two stacks (`mokume prove old.mok == new.mok`): that they do the same, handler by handler.
    Prove {
        #[command(flatten)]
        stack: StackChoice,
        /// Another file, behind `==`: whether its stack does the same.
        #[arg(value_names = ["==", "OTHER"], num_args = 2, conflicts_with_all = ["event", "again", "profile"])]
        other: Vec<String>,
        /// Which stack of the other file; as `--stack` when left out.
        #[arg(long, value_name = "NAME", requires = "other")]
        other_stack: Option<String>,
        /// Where the chance of the runs starts that compare two stacks; 1 when left out.
        #[arg(long, value_name = "NUMBER", requires = "other")]
        seed: Option<u64>,
        /// An event, such as `udp.send`: only its path. Left out: the paths of all events.
        #[arg(long, value_name = "PORT.EVENT")]
        event: Option<String>,
        /// How long to work on a path; one that takes longer is open.
        #[arg(long, value_name = "SECONDS", default_value_t = 120)]
        limit: u64,
        /// Judges again what is kept in `.mokume/proofs`, too.
        #[arg(long)]
        again: bool,
        #[command(flatten)]
        by: ByProfile,
    },
    /// Writes pages of what sources say: one for each layer, bundle, wire and stack, with a search that needs no server.
    Doc {
        /// Files or folders; a project's sources when left out.
        files: Vec<String>,
        /// Also all of Mokume's library; what the files use of it has pages anyway.
        #[arg(long)]
        library: bool,
        /// Files or folders whose tests are shown as examples, and of which nothing else is said.
        #[arg(long, value_name = "PATH")]
        examples: Vec<String>,
        /// The folder that the pages go to. With `--format json`, an object for each item is printed instead, and pages are written only
        /// if this is said.
        #[arg(long, short, value_name = "FOLDER")]
        output: Option<String>,
    },
    /// Draws a stack as SVG (or DOT, if the output's name ends in `.dot`), or its headers as RFCs do, as text or SVG.
    Graph {
        #[command(flatten)]
        stack: StackChoice,
        /// What to draw.
        #[arg(long, value_enum, default_value_t = Drawn::Stack)]
        what: Drawn,
        /// The picture; the standard output when left out: a stack as SVG, headers as text.
        #[arg(long, short, value_name = "FILE")]
        output: Option<String>,
    },
    /// Shows a record, which `--record` of `sim`, `run` and `test` writes: its events, a line each, or as a chart or a capture.
    Show {
        /// The record.
        file: String,
        /// Lists the runs of the record.
        #[arg(long, conflicts_with_all = ["run", "host", "from", "to", "chart", "pcap", "html"])]
        runs: bool,
        /// Which run, from 1.
        #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        run: u64,
        /// Only what is of this host; again for each.
        #[arg(long, value_name = "NAME")]
        host: Vec<String>,
        /// Only what happened at this time of the run (`20ms`) or later.
        #[arg(long, value_name = "TIME")]
        from: Option<String>,
        /// Only what happened at this time or earlier.
        #[arg(long, value_name = "TIME")]
        to: Option<String>,
        /// Writes the sequence chart as a picture (SVG), or as text if the name ends in `.txt`, instead of the events.
        #[arg(long, value_name = "FILE")]
        chart: Option<String>,
        /// Writes the frames to this capture, instead of the events.
        #[arg(long, value_name = "FILE")]
        pcap: Option<String>,
        /// Writes the run as a page for a browser, whole, instead of the events.
        #[arg(long, value_name = "FILE")]
        html: Option<String>,
        /// Another record, whose run of the same number is held against this one: says where they differ first, or shows both in one page.
        #[arg(long, value_name = "RECORD", conflicts_with_all = ["runs", "host", "from", "to", "chart", "pcap"])]
        against: Option<String>,
    },
    /// Says what this machine has, and how to get what is missing: for C, proofs, TAP devices, Wireshark. 0 if the basics work.
    ///
    /// Each thing is tried: a stack is run by the interpreter and in C, an interface is made and removed.
    Doctor,
    /// Prints the completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Prints the man page, or writes a page of each command into a folder.
    Man {
        /// The folder.
        #[arg(long, short, value_name = "FOLDER")]
        output: Option<String>,
    },
    /// Prints the JSON Schema of what the command writes for programs.
    Schema {
        /// Of what.
        name: SchemaOf,
    },
    /// Takes the packets of a capture apart, field by field, and says where one is malformed.
    Dissect {
        /// The capture: pcap or pcapng; `-` is the standard input.
        file: String,
        /// A `.mok` file whose stack says which wire follows which key; the library's own when left out.
        #[arg(long, value_name = "FILE")]
        by: Option<String>,
        /// Which stack, where the file has several.
        #[arg(long, value_name = "NAME")]
        stack: Option<String>,
        /// Which packets, by their numbers: `3`, `3-7`, `1,4-6`, `9-`.
        #[arg(long, short, value_name = "NUMBERS")]
        packets: Option<String>,
        /// Which packets, by what they hold: `Tell.value > 200`, `kind == Hello and not refused`, or a name alone for those that have it.
        #[arg(long, value_name = "FILTER")]
        filter: Option<String>,
        #[command(flatten)]
        follow: Follow,
    },
    /// Octets of memory for each class of objects, for message buffers, and for all of an instance.
    Size {
        #[command(flatten)]
        stack: StackChoice,
        #[command(flatten)]
        fused: Fused,
    },
    /// Lays files out: writes those that differ, and names them.
    Fmt {
        /// Files or folders; a project's sources when left out; `-` from standard input to standard output.
        files: Vec<String>,
        /// Writes nothing; names what differs, and ends with 1 if anything does.
        #[arg(long)]
        check: bool,
    },
    /// Serves an editor by the language server protocol, over the standard input and output; see docs/editors.md.
    Lsp {
        /// As it is anyway; some editors say it.
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Makes a project to begin with: a layer, a stack, a test and a network.
    New {
        /// The folder to make.
        name: String,
    },
    /// Tells about a diagnostic: `mokume explain M0401`; without a code, lists them all.
    Explain { code: Option<String> },
}

/// How long a stack stays behind its one stream.
#[derive(Args, Debug)]
pub struct Linger {
    /// How long the stack stays where we ended first, for who has not heard its last word; `0s` ends at once. What the stack answers
    /// meanwhile begins it anew, ten times as long in all at most.
    #[arg(long, value_name = "DURATION", default_value = "3s")]
    pub linger: String,
}

/// How far C is fused.
#[derive(Args, Debug)]
pub struct Fused {
    /// How far C is fused. 2: the usual way through all layers stands as one piece of code in front of each event's handlers, and what it
    /// asks of state that seldom changes is remembered; 1: nothing is remembered; 0: the layers as they are. Left out: what `Mokume.toml`
    /// says, else 2; an automaton is written as 0.
    #[arg(long = "fuse", value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=2))]
    pub level: Option<u8>,
    #[command(flatten)]
    pub left_out: LeftOut,
}

impl Fused {
    /// The level that is told, and the passes that run.
    ///
    /// Fails where passes are left out and none would run.
    pub fn told(&self) -> Result<(Option<u8>, Passes), Failure> {
        if self.level == Some(0) && !self.left_out.passes.is_empty() {
            let help = "say `--fuse 2`, or leave out `--pass`";
            return Err(Failure::of_use("a pass makes paths, and at `--fuse 0` there is none", help));
        }
        Ok((self.level, self.left_out.rest()))
    }
}

/// Passes that do not run.
#[derive(Args, Debug)]
pub struct LeftOut {
    /// Leaves a pass out that paths are made by, to see what it does: `memos=off`; may come again.
    #[arg(long = "pass", value_name = "NAME=off", value_parser = left_out)]
    pub passes: Vec<Pass>,
}

impl LeftOut {
    /// Those that run.
    pub fn rest(&self) -> Passes {
        self.passes.iter().fold(Passes::ALL, |passes, pass| passes.without(*pass))
    }
}

fn left_out(text: &str) -> Result<Pass, String> {
    let all = || Pass::ALL.map(|pass| format!("\n  {:<14}{}", pass.name(), pass.does())).concat();
    let Some(name) = text.strip_suffix("=off") else {
        return Err(format!("a pass is left out by `NAME=off`; there are:{}", all()));
    };
    Pass::named(name).ok_or_else(|| format!("there is no pass `{name}`; there are:{}", all()))
}

/// What is known of how often which way is taken.
#[derive(Args, Debug)]
pub struct ByProfile {
    /// What `mokume profile` wrote of the stack: the ways that it saw are the usual ones. Left out: what the source says.
    #[arg(long, value_name = "FILE")]
    pub profile: Option<String>,
}

#[derive(Args, Debug)]
pub struct StackChoice {
    /// A `.mok` file; the sources of `Mokume.toml` when left out.
    pub file: Option<String>,
    /// Which stack, where the file has several.
    #[arg(long, value_name = "NAME")]
    pub stack: Option<String>,
}

/// The stack that gives streams.
#[derive(Args, Debug)]
pub struct StreamStack {
    /// A `.mok` file with a stack that gives streams at a port; a host of the command's own when left out, with `address`,
    /// `gateway`, `address6` and `gateway6` to set.
    #[arg(long, value_name = "FILE")]
    pub file: Option<String>,
    /// Which stack, where the file has several.
    #[arg(long, value_name = "NAME", requires = "file")]
    pub stack: Option<String>,
}

/// What a stack runs on.
#[derive(Args, Debug)]
pub struct OnDevices {
    /// `[NAME=]tap:INTERFACE`, `[NAME=]udp:LOCAL[,PEER…]` (several peers, or a multicast group, hear all that is sent) or `[NAME=]pcap:IN[,OUT]`; again for each device of the stack.
    #[arg(long, value_name = "DEVICE")]
    pub device: Vec<String>,
    /// A parameter of the stack: `address=10.77.0.2/24`, `device.mac=02:00:00:00:00:01`.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// What runs it.
    #[arg(long, value_enum)]
    pub backend: Option<Backend>,
    #[command(flatten)]
    pub fused: Fused,
    /// Stops after this time (`10s`); until a signal, or the end, when left out.
    #[arg(long = "for", value_name = "DURATION")]
    pub duration: Option<String>,
    /// Writes all frames that come and go to this capture.
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<String>,
    /// `[NAME=]loss 2 % delay 5 ms .. 20 ms rate 10 Mbit/s queue 20`: what becomes of frames on the device's line, in each direction,
    /// in the words of a network's link; the same for the same `--seed` and frames.
    #[arg(long, value_name = "WORDS")]
    pub weather: Vec<String>,
    #[command(flatten)]
    pub seed: Seed,
}

/// What there is a schema of.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SchemaOf {
    /// A line of what `--record` writes, and of `show` and `sim --log` with `--format json`.
    Record,
    /// An object of `dissect --format json`.
    Dissect,
    /// A line of `dissect --follow --format json`.
    Follow,
    /// An object of `doc --format json`.
    Doc,
    /// A line of any other command with `--format json`.
    Lines,
}

/// How `dissect --follow` runs a stack along a capture.
#[derive(Args, Debug)]
pub struct Follow {
    /// Runs the stack along the capture, as it was taken at a host, and says what its layers do with each packet in the state they are in.
    #[arg(long, requires = "by")]
    pub follow: bool,
    /// The host of a network at which the capture was taken: its settings, and what its applications do. Without it the stack runs alone.
    #[arg(long, value_name = "NAME", requires = "follow", conflicts_with = "stack")]
    pub host: Option<String>,
    /// The network, where the file has several.
    #[arg(long, value_name = "NAME", requires = "follow", conflicts_with = "stack")]
    pub network: Option<String>,
    /// A parameter of the stack.
    #[arg(long, value_name = "NAME=VALUE", requires = "follow", conflicts_with_all = ["host", "network"])]
    pub set: Vec<String>,
    /// Which packets the host sent, by what they hold: `source == 10.0.0.1`. Without it those that its stack sends.
    #[arg(long, value_name = "FILTER", requires = "follow")]
    pub sent: Option<String>,
    /// What the host draws at random comes from this number, as with `sim` and `run`; else what its packets say of it.
    #[arg(long, value_name = "NUMBER", requires = "follow")]
    pub seed: Option<u64>,
}

/// What `mokume draw` draws.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Drawn {
    Stack,
    Headers,
}

/// What `mokume build` writes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Emit {
    Automaton,
    C,
    Wireshark,
}
