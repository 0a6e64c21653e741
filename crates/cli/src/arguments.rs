//! What the command takes. Words are those of docs/; a number, address or duration is checked where it is used.

use clap::{Args, Parser, Subcommand, ValueEnum};
use mokume_driver::path::{Pass, Passes};
use mokume_driver::Failure;

/// Network protocols, layer by layer: check, test, run, simulate, build and draw them.
#[derive(Parser, Debug)]
#[command(name = "mokume", version, about, arg_required_else_help = true)]
pub struct Arguments {
    /// The output: text for people, or one JSON object a line.
    #[arg(long, value_enum, default_value_t = Format::Text, global = true)]
    pub format: Format,
    /// When to colour messages.
    #[arg(long, value_enum, default_value_t = When::Auto, global = true)]
    pub color: When,
    /// Timeout of a step of a test, or of C, that gives no answer; `0s`: none.
    #[arg(long, value_name = "DURATION", default_value = "60s", global = true)]
    pub patience: String,
    /// Internal: the file descriptor through which the parent process watches.
    #[arg(long, hide = true, value_name = "DESCRIPTOR")]
    pub watched: Option<i32>,
    /// Internal: the number of tests that began before.
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

/// When output is coloured; `Auto` colours on a terminal, unless `NO_COLOR` is set.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum When {
    Auto,
    Always,
    Never,
}

/// Runs a stack. Without one on the command line, the project's default or the command's own applies.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Backend {
    Interpreter,
    C,
}

/// How much a record says.
#[derive(Args, Debug)]
pub struct Steps {
    /// Also records what the layers do: the lines that run, timers that ring, variables that change (on the interpreter only), and frames
    /// field by field.
    #[arg(long, requires = "record")]
    pub steps: bool,
}

/// Repeated runs.
#[derive(Args, Debug)]
pub struct Watch {
    /// Repeats the command whenever a file that it reads changes, until Ctrl-C; a change during a run takes effect after it.
    #[arg(long)]
    pub watch: bool,
}

/// The seed of random numbers.
#[derive(Args, Debug)]
pub struct Seed {
    /// The seed of random numbers: same seed, same run. Default: that of `Mokume.toml`, else 1; on devices a new one each time.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Checks files and reports mistakes.
    Check {
        /// Files or folders; default: the project's sources; `-`: the standard input, without compiling its functions in C.
        files: Vec<String>,
        #[command(flatten)]
        watch: Watch,
    },
    /// Runs the `test` blocks of files, on the interpreter and in C.
    Test {
        /// Files or folders; default: the project's sources; `-`: the standard input.
        files: Vec<String>,
        /// Only on this back end.
        #[arg(long, value_enum)]
        backend: Option<Backend>,
        #[command(flatten)]
        fused: Fused,
        /// How far the C compiler optimizes (its `-O`), 0 if it is not said: tests are short, so what takes longest is to compile.
        #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=3))]
        optimize: Option<u8>,
        /// Only tests whose name contains this.
        #[arg(long, value_name = "TEXT")]
        filter: Option<String>,
        /// Writes a record, with a run for each test and back end; `mokume show` reads it.
        #[arg(long, value_name = "FILE")]
        record: Option<String>,
        #[command(flatten)]
        steps: Steps,
        /// Writes a browser page of each failing test into this folder, with its record; the report names the page.
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
        /// Writes a record, event by event; `mokume show` reads it.
        #[arg(long, value_name = "FILE")]
        record: Option<String>,
        /// Sends each line of the standard input to a port as this event, in the notation of tests, with `line` for the line:
        /// `app.send_to(0, 255, line)`. Waits while the port has no credit.
        #[arg(long, value_name = "EVENT")]
        lines: Option<String>,
        #[command(flatten)]
        steps: Steps,
    },
    /// Opens a stream through a stack: sends the standard input, and writes received data to the standard output.
    ///
    /// The end of the input ends only its direction; the command ends after both. Exit code 0: all data arrived, both ways. 1: the stream
    /// was refused, reset or timed out; the standard error says why.
    Connect {
        /// The remote end, in the stack's notation: `10.77.0.1 80`, `fd00:77::1 80`.
        #[arg(required = true, value_name = "HOST PORT", num_args = 1..)]
        remote: Vec<String>,
        /// How long to wait for an answer (`10s`); default: as long as the stack does.
        #[arg(long, value_name = "DURATION")]
        timeout: Option<String>,
        #[command(flatten)]
        stack: StreamStack,
        #[command(flatten)]
        on: OnDevices,
        #[command(flatten)]
        linger: Linger,
    },
    /// Accepts one stream at a port of a stack: sends the standard input, and writes received data to the standard output.
    ///
    /// It refuses further streams. If the peer leaves before it has sent anything, the command waits for the next one, and sends it the
    /// input from the beginning. It ends as `connect` does.
    Listen {
        /// The local end, in the stack's notation: `80`, or `10.77.0.2 80` for this address only.
        #[arg(required = true, value_name = "PORT", num_args = 1..)]
        local: Vec<String>,
        #[command(flatten)]
        stack: StreamStack,
        #[command(flatten)]
        on: OnDevices,
        #[command(flatten)]
        linger: Linger,
    },
    /// Forwards between ports of the operating system and streams of a stack, until it is stopped.
    ///
    /// `--from 127.0.0.1:8080 --to 10.77.0.1:80`: connections to port 8080 of this machine go through the stack to port 80 of that host.
    /// `--from stack:80 --to 127.0.0.1:8080`: connections to the stack's port 80 go to port 8080 of this machine.
    /// The built-in stack has room for 64 streams of each family at once, in both directions; a stack of `--file` with `sessions N` for N.
    /// Exit code 1: streams were cut off when it was stopped, or the stack reported something.
    Forward {
        /// Where streams come from: `ADDRESS:PORT` of this machine, or `stack:PORT`; repeatable.
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
    /// Commands come from the terminal or from a pipe, a line each; `help` lists them. For scripts: `mokume debug net.mok < commands`.
    #[command(verbatim_doc_comment)]
    Debug {
        /// A `.mok` file; default: the sources of `Mokume.toml`.
        file: Option<String>,
        /// Which network, if the file has several.
        #[arg(long, value_name = "NAME")]
        network: Option<String>,
        /// A test, by its name or a unique part of it.
        #[arg(long, value_name = "NAME", conflicts_with = "network")]
        test: Option<String>,
        #[command(flatten)]
        seed: Seed,
        /// Serves an editor by the debug adapter protocol, over the standard input and output; the editor's `launch` says what to run.
        #[arg(long, conflicts_with_all = ["file", "network", "test"])]
        dap: bool,
    },
    /// Runs a file's `network`: hosts on simulated media, in virtual time.
    Sim {
        /// A `.mok` file; default: the sources of `Mokume.toml`; `-`: the standard input.
        file: Option<String>,
        /// Which network, if the file has several.
        #[arg(long, value_name = "NAME")]
        network: Option<String>,
        /// The back end that runs the hosts.
        #[arg(long, value_enum)]
        backend: Option<Backend>,
        /// Runs the same on this back end, too, and compares all events and counts; shows the first difference, and then exits with 1.
        #[arg(long, value_enum, value_name = "BACKEND")]
        against: Option<Backend>,
        #[command(flatten)]
        fused: Fused,
        /// Writes the frames on the media to this capture.
        #[arg(long, value_name = "FILE")]
        pcap: Option<String>,
        /// Writes the sequence chart as a picture (SVG), or as text if the name ends in `.txt`.
        #[arg(long, value_name = "FILE")]
        chart: Option<String>,
        /// Prints every event.
        #[arg(long)]
        log: bool,
        /// Writes a record; `mokume show` reads it.
        #[arg(long, value_name = "FILE")]
        record: Option<String>,
        #[command(flatten)]
        steps: Steps,
        /// Writes a browser page that shows what happened and why; the page, and a record beside it, include the steps of `--steps`.
        #[arg(long, value_name = "FILE")]
        html: Option<String>,
        #[command(flatten)]
        seed: Seed,
        /// Runs this many seeds, from `--seed` (or 1) on; shrinks the first failure to the smallest weather that still fails.
        #[arg(long, value_name = "COUNT", conflicts_with_all = ["pcap", "chart", "log", "record", "html"], value_parser = clap::value_parser!(u64).range(1..))]
        seeds: Option<u64>,
        /// Compares by `--against` only the first seed and each so-many-th after it; default: 1, all.
        #[arg(long, value_name = "COUNT", requires_all = ["seeds", "against"], value_parser = clap::value_parser!(u64).range(1..))]
        every: Option<u64>,
        /// How many seeds run at once; default: the number of cores.
        #[arg(long, value_name = "COUNT", requires = "seeds")]
        jobs: Option<usize>,
        #[command(flatten)]
        watch: Watch,
    },
    /// Runs a file's `network`, and shows which ways the reactions of a stack took: a line for each event. `--profile` of `build`, `path` and
    /// `prove` uses its output.
    Profile {
        /// A `.mok` file; default: the sources of `Mokume.toml`; `-`: the standard input.
        file: Option<String>,
        /// Which network, if the file has several.
        #[arg(long, value_name = "NAME")]
        network: Option<String>,
        /// The stack to profile, if the hosts have several.
        #[arg(long, value_name = "NAME")]
        stack: Option<String>,
        #[command(flatten)]
        seed: Seed,
        /// Runs this many seeds, from `--seed` (or 1) on, and adds up.
        #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        seeds: u64,
        /// The file for the profile.
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
        /// The output: a folder for C, a file for an automaton or a dissector; default: the standard output.
        #[arg(long, short, value_name = "PATH")]
        output: Option<String>,
        /// For a dissector: Wireshark's table, the number in it, and the layer with which the packets begin: `udp.port:4711:agreed`;
        /// repeatable. Default: captures of frames, and the whole stack.
        #[arg(long, value_name = "TABLE:NUMBER[:LAYER]")]
        at: Vec<String>,
        /// For a dissector: the device whose frames it reads, for a stack with several; default: the first.
        #[arg(long, value_name = "NAME")]
        device: Option<String>,
        /// Writes the layers before composing.
        #[arg(long)]
        uncomposed: bool,
        /// Small code: without paths, unless `--fuse` says otherwise, and with functions instead of inlined code.
        #[arg(long, conflicts_with = "uncomposed")]
        size: bool,
        /// Also writes entries that return a call's last output, in place of calling a function of the program: `Host_udp_send_returned`.
        #[arg(long, conflicts_with = "uncomposed")]
        returned: bool,
        /// Also writes entries that take several calls at once: `Host_device_frame_batch`.
        #[arg(long, conflicts_with = "uncomposed")]
        batched: bool,
        /// Uses only paths that `mokume prove` has proved. For other events the layers stay as they are, and a line says so.
        #[arg(long, conflicts_with = "uncomposed")]
        proved: bool,
        #[command(flatten)]
        fused: Fused,
        #[command(flatten)]
        by: ByProfile,
    },
    /// Shows the path of an event: the likeliest way through all layers as one piece of code; or says why there is none.
    Path {
        #[command(flatten)]
        stack: StackChoice,
        /// Shows the path of this event, such as `udp.send`. Default: all events, a line each.
        #[arg(long, value_name = "PORT.EVENT")]
        event: Option<String>,
        /// Writes the event's path as a page: its code beside the source, and what each `--fuse` level leaves of each layer.
        #[arg(long, value_name = "FILE", requires = "event")]
        html: Option<String>,
        #[command(flatten)]
        by: ByProfile,
        #[command(flatten)]
        left_out: LeftOut,
    },
    /// Proves that the paths of a stack do what its layers do, by z3 and bitwuzla: a line for each event. Exit code 1 if one is not proved.
    ///
    /// With two stacks (`mokume prove old.mok == new.mok`): that they do the same, handler by handler.
    Prove {
        #[command(flatten)]
        stack: StackChoice,
        /// Another file, after `==`: proves that its stack does the same.
        #[arg(value_names = ["==", "OTHER"], num_args = 2, conflicts_with_all = ["event", "again", "profile"])]
        other: Vec<String>,
        /// Which stack of the other file; default: as `--stack`.
        #[arg(long, value_name = "NAME", requires = "other")]
        other_stack: Option<String>,
        /// The seed of the runs that compare two stacks; default: 1.
        #[arg(long, value_name = "NUMBER", requires = "other")]
        seed: Option<u64>,
        /// Proves only the path of this event, such as `udp.send`. Default: the paths of all events.
        #[arg(long, value_name = "PORT.EVENT")]
        event: Option<String>,
        /// Time limit for a path; beyond it the path is open.
        #[arg(long, value_name = "SECONDS", default_value_t = 120)]
        limit: u64,
        /// Also judges paths again that have a verdict in `.mokume/proofs`.
        #[arg(long)]
        again: bool,
        #[command(flatten)]
        by: ByProfile,
    },
    /// Writes HTML pages from sources: one for each layer, bundle, wire and stack, with a search that needs no server.
    Doc {
        /// Files or folders; default: the project's sources.
        files: Vec<String>,
        /// Also writes pages of Mokume's whole library; used items of it have pages anyway.
        #[arg(long)]
        library: bool,
        /// Files or folders whose tests are shown as examples; they get no pages themselves.
        #[arg(long, value_name = "PATH")]
        examples: Vec<String>,
        /// The folder for the pages. `--format json` prints an object for each item instead, and writes pages only
        /// with this option.
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
        /// The file for the picture; default: the standard output, a stack as SVG, headers as text.
        #[arg(long, short, value_name = "FILE")]
        output: Option<String>,
    },
    /// Shows a record that `--record` of `sim`, `run` or `test` wrote: its events, a line each, or a chart, a capture or a page.
    Show {
        /// The record; `-`: the standard input.
        file: String,
        /// Lists the runs of the record.
        #[arg(long, conflicts_with_all = ["run", "host", "from", "to", "chart", "pcap", "html"])]
        runs: bool,
        /// Which run, from 1.
        #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        run: u64,
        /// Only events of this host; repeatable.
        #[arg(long, value_name = "NAME")]
        host: Vec<String>,
        /// Only events at this time of the run (`20ms`) or later.
        #[arg(long, value_name = "TIME")]
        from: Option<String>,
        /// Only events at this time or earlier.
        #[arg(long, value_name = "TIME")]
        to: Option<String>,
        /// Writes the sequence chart as a picture (SVG), or as text if the name ends in `.txt`, instead of the events.
        #[arg(long, value_name = "FILE")]
        chart: Option<String>,
        /// Writes the frames to this capture, instead of the events.
        #[arg(long, value_name = "FILE")]
        pcap: Option<String>,
        /// Writes the whole run as a browser page, instead of the events.
        #[arg(long, value_name = "FILE")]
        html: Option<String>,
        /// Compares with the run of the same number in another record: prints where they first differ, or shows both in one page.
        #[arg(long, value_name = "RECORD", conflicts_with_all = ["runs", "host", "from", "to", "chart", "pcap"])]
        against: Option<String>,
    },
    /// Shows what this machine has for C, proofs, TAP devices and Wireshark, and how to get what is missing. Exit code 0 if the basics work.
    ///
    /// It tries each thing: it runs a stack in the interpreter and in C, and creates and removes an interface.
    Doctor,
    /// Prints the completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Prints the man page, or writes a page for each command into a folder.
    Man {
        /// The folder.
        #[arg(long, short, value_name = "FOLDER")]
        output: Option<String>,
    },
    /// Prints the JSON Schema of output for programs.
    Schema {
        /// Which output.
        name: SchemaOf,
    },
    /// Decodes the packets of a capture, field by field, and reports malformed ones.
    Dissect {
        /// The capture: pcap or pcapng; `-` is the standard input.
        file: String,
        /// A `.mok` file whose stack says which wire follows which key; default: the library's own stack.
        #[arg(long, value_name = "FILE")]
        by: Option<String>,
        /// Which stack, if the file has several.
        #[arg(long, value_name = "NAME")]
        stack: Option<String>,
        /// The device whose frames the capture has, for a stack with several; default: the first.
        #[arg(long, value_name = "NAME", requires = "by", conflicts_with = "follow")]
        device: Option<String>,
        /// Which packets, by their numbers: `3`, `3-7`, `1,4-6`, `9-`.
        #[arg(long, short, value_name = "NUMBERS")]
        packets: Option<String>,
        /// Which packets, by their contents: `Tell.value > 200`, `kind == Hello and not refused`, or a name alone for packets that have it.
        #[arg(long, value_name = "FILTER")]
        filter: Option<String>,
        #[command(flatten)]
        follow: Follow,
    },
    /// Shows the octets of memory for each class of objects, for message buffers, and for a whole instance.
    Size {
        #[command(flatten)]
        stack: StackChoice,
        #[command(flatten)]
        fused: Fused,
    },
    /// Formats files: writes those that change, and names them.
    Fmt {
        /// Files or folders; default: the project's sources; `-`: from standard input to standard output.
        files: Vec<String>,
        /// Writes nothing; names files that would change, and exits with 1 if there are any.
        #[arg(long)]
        check: bool,
    },
    /// Serves an editor by the language server protocol, over the standard input and output; see docs/editors.md.
    Lsp {
        /// No effect; some editors pass it.
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Creates a project: a layer, a stack, a test and a network.
    New {
        /// The folder to create.
        name: String,
    },
    /// Explains a diagnostic: `mokume explain M0401`; without a code, lists them all.
    Explain { code: Option<String> },
}

/// How long a stack stays after its one stream.
#[derive(Args, Debug)]
pub struct Linger {
    /// How long the stack stays if we closed first, in case the peer missed its last segment; `0s`: ends at once. An answer of the stack
    /// restarts this time, up to ten times as long in all.
    #[arg(long, value_name = "DURATION", default_value = "3s")]
    pub linger: String,
}

/// How far C is fused.
#[derive(Args, Debug)]
pub struct Fused {
    /// How far C is fused. 2: a path, one piece of code for the usual way through all layers, stands in front of each event's handlers, and
    /// caches its guards on state that seldom changes; 1: no caching; 0: the layers as they are. Default: that of `Mokume.toml`,
    /// else 2; 0 for an automaton.
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
    /// Leaves out a pass that makes paths, to see its effect: `memos=off`; repeatable.
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

/// How often each way is taken.
#[derive(Args, Debug)]
pub struct ByProfile {
    /// The output of `mokume profile` for the stack: the ways that it saw count as usual. Default: the source, and the library's own profile.
    #[arg(long, value_name = "FILE")]
    pub profile: Option<String>,
}

#[derive(Args, Debug)]
pub struct StackChoice {
    /// A `.mok` file; default: the sources of `Mokume.toml`; `-`: the standard input.
    pub file: Option<String>,
    /// Which stack, if the file has several.
    #[arg(long, value_name = "NAME")]
    pub stack: Option<String>,
}

/// The stack that provides streams.
#[derive(Args, Debug)]
pub struct StreamStack {
    /// A `.mok` file with a stack that provides streams at a port; default: a built-in host, with `address`,
    /// `gateway`, `address6` and `gateway6` to set.
    #[arg(long, value_name = "FILE")]
    pub file: Option<String>,
    /// Which stack, if the file has several.
    #[arg(long, value_name = "NAME", requires = "file")]
    pub stack: Option<String>,
}

/// What a stack runs on.
#[derive(Args, Debug)]
pub struct OnDevices {
    /// `[NAME=]tap:INTERFACE`, `[NAME=]udp:LOCAL[,PEER…]` (all peers, or a multicast group, receive every frame) or `[NAME=]pcap:IN[,OUT]`; repeatable, for each device of the stack.
    #[arg(long, value_name = "DEVICE")]
    pub device: Vec<String>,
    /// A parameter of the stack: `address=10.77.0.2/24`, `device.mac=02:00:00:00:00:01`.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The back end that runs it.
    #[arg(long, value_enum)]
    pub backend: Option<Backend>,
    #[command(flatten)]
    pub fused: Fused,
    /// Stops after this time (`10s`); default: at a signal, or at the end.
    #[arg(long = "for", value_name = "DURATION")]
    pub duration: Option<String>,
    /// Writes all received and sent frames to this capture.
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<String>,
    /// `[NAME=]loss 2 % delay 5 ms .. 20 ms rate 10 Mbit/s queue 20`: the weather on the device's line, in each direction,
    /// written as in a network's link; the same for the same `--seed` and frames.
    #[arg(long, value_name = "WORDS")]
    pub weather: Vec<String>,
    #[command(flatten)]
    pub seed: Seed,
}

/// The outputs that have a schema.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SchemaOf {
    /// A line of a record (`--record`), and of `show` and `sim --log` with `--format json`.
    Record,
    /// An object of `dissect --format json`.
    Dissect,
    /// A line of `dissect --follow --format json`.
    Follow,
    /// An object of `doc --format json`.
    Doc,
    /// Any other line with `--format json`.
    Lines,
}

/// How `dissect --follow` runs a stack along a capture.
#[derive(Args, Debug)]
pub struct Follow {
    /// Runs the stack along the capture, which was taken at a host, and shows what its layers do with each packet in their current state.
    #[arg(long)]
    pub follow: bool,
    /// The host of a network at which the capture was taken, with its settings and applications. Without it the stack runs alone.
    #[arg(long, value_name = "NAME", requires = "follow", conflicts_with = "stack")]
    pub host: Option<String>,
    /// The network, if the file has several.
    #[arg(long, value_name = "NAME", requires = "follow", conflicts_with = "stack")]
    pub network: Option<String>,
    /// A parameter of the stack.
    #[arg(long, value_name = "NAME=VALUE", requires = "follow", conflicts_with_all = ["host", "network"])]
    pub set: Vec<String>,
    /// Which packets the host sent, by their contents: `source == 10.0.0.1`. Default: those that its stack sends.
    #[arg(long, value_name = "FILTER", requires = "follow")]
    pub sent: Option<String>,
    /// The seed of the host's random numbers, as with `sim` and `run`; default: inferred from its packets.
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
