//! A stack as data: named layers, what each stands over, and what an application sees.

use std::fmt::Write;

use mokume_base::world::{Invocation, Output, RealWorld, Running, World};
use mokume_driver::compile;

use crate::stack::{Refused, Stack};

/// One layer of a stack, or a bundle in the place of a layer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layer {
    name: String,
    layer: String,
    over: String,
    with: Vec<String>,
}

impl Layer {
    /// `Layer::new("ip", "Ipv4(address)")`: the name in this stack, and the layer with its parameters.
    pub fn new(name: &str, layer: &str) -> Layer {
        Layer { name: name.into(), layer: layer.into(), ..Layer::default() }
    }

    /// Sets what the layer stands over, written as in a stack of a file: `device`, `ethernet[type: 0x0800]`.
    pub fn over(mut self, below: &str) -> Layer {
        self.over = below.into();
        self
    }

    /// Sets the layer that provides the services it uses.
    pub fn with(mut self, layer: &str) -> Layer {
        self.with.push(layer.into());
        self
    }
}

/// A stack under construction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph {
    name: String,
    modules: Vec<String>,
    sources: Vec<(String, String)>,
    parameters: Vec<(String, String)>,
    layers: Vec<Layer>,
    exports: Vec<String>,
}

impl Graph {
    /// A stack without layers. The C functions carry its name if it is built as C.
    pub fn new(name: &str) -> Graph {
        Graph {
            name: name.into(),
            modules: Vec::new(),
            sources: Vec::new(),
            parameters: Vec::new(),
            layers: Vec::new(),
            exports: Vec::new(),
        }
    }

    /// Imports the layers of a module of the library, such as `ethernet`.
    pub fn module(&mut self, name: &str) -> &mut Graph {
        self.modules.push(name.into());
        self
    }

    /// Adds the layers of a source text. Diagnostics call the text `file`.
    pub fn source(&mut self, file: &str, text: &str) -> &mut Graph {
        self.sources.push((file.into(), text.into()));
        self
    }

    /// Adds a parameter of the stack: `("device", "Device")`, `("address", "Ipv4Cidr")`, `("own", "u32")`.
    pub fn parameter(&mut self, name: &str, ty: &str) -> &mut Graph {
        self.parameters.push((name.into(), ty.into()));
        self
    }

    /// Adds a layer. The layers below it may be added later.
    pub fn layer(&mut self, layer: Layer) -> &mut Graph {
        self.layers.push(layer);
        self
    }

    /// Gives the application a port to a layer; the port has the layer's name.
    pub fn export(&mut self, layer: &str) -> &mut Graph {
        self.exports.push(layer.into());
        self
    }

    /// The stack as the equivalent source text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if !self.modules.is_empty() {
            let _ = writeln!(text, "use {}\n", self.modules.join(", "));
        }
        for (file, _) in &self.sources {
            let _ = writeln!(text, "use \"{file}\"");
        }
        let parameters: Vec<String> = self.parameters.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        let _ = writeln!(text, "stack {}({}) {{", self.name, parameters.join(", "));
        for layer in &self.layers {
            let _ = write!(text, "    {} = {} over {}", layer.name, layer.layer, layer.over);
            if !layer.with.is_empty() {
                let _ = write!(text, " with {}", layer.with.join(", "));
            }
            text.push('\n');
        }
        for export in &self.exports {
            let _ = writeln!(text, "    export {export}");
        }
        text.push_str("}\n");
        text
    }

    /// Checks the stack as the compiler checks one in a file: every layer, every boundary, every cycle, and the memory
    /// it needs.
    ///
    /// # Errors
    /// All diagnostics at once. Their places are in the graph's text, in a file with the graph's name.
    pub fn check(&self) -> Result<Stack, Box<Refused>> {
        self.check_in(&RealWorld)
    }

    /// Like [`Graph::check`], with files from `world`.
    pub fn check_in(&self, world: &dyn World) -> Result<Stack, Box<Refused>> {
        let place = format!("{}.mok", self.name);
        let overlay = Overlay { world, files: &self.sources };
        let mut checked = compile::check_texts(&overlay, vec![(place, self.text())], Vec::new());
        let stack = compile::choose_stack(&checked, Some(&self.name)).ok();
        let Some(stack) = stack.filter(|_| !checked.has_errors()) else { return Err(Refused::of(checked)) };
        let (compiled, diagnostics) = compile::compile(&checked, stack, world);
        checked.diagnostics.extend(diagnostics);
        match compiled {
            Some(compiled) => Ok(Stack::new(compiled, Refused::of(checked).to_string())),
            None => Err(Refused::of(checked)),
        }
    }
}

/// A world with some additional files.
struct Overlay<'a> {
    world: &'a dyn World,
    files: &'a [(String, String)],
}

impl World for Overlay<'_> {
    fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
        match self.files.iter().find(|(name, _)| name == path) {
            Some((_, text)) => Ok(text.clone().into_bytes()),
            None => self.world.read(path),
        }
    }

    fn exists(&self, path: &str) -> bool {
        self.files.iter().any(|(name, _)| name == path) || self.world.exists(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.world.write(path, bytes)
    }

    fn list(&self, folder: &str) -> std::io::Result<Vec<String>> {
        self.world.list(folder)
    }

    fn now(&self) -> std::time::Duration {
        self.world.now()
    }

    fn seed(&self) -> u64 {
        self.world.seed()
    }

    fn environment(&self, name: &str) -> Option<String> {
        self.world.environment(name)
    }

    fn make_folder(&self, path: &str) -> std::io::Result<()> {
        self.world.make_folder(path)
    }

    fn rename(&self, from: &str, to: &str) -> std::io::Result<()> {
        self.world.rename(from, to)
    }

    fn remove(&self, path: &str) -> std::io::Result<()> {
        self.world.remove(path)
    }

    fn is_folder(&self, path: &str) -> bool {
        self.world.is_folder(path)
    }

    fn absolute(&self, path: &str) -> std::io::Result<String> {
        self.world.absolute(path)
    }

    fn temporary(&self) -> String {
        self.world.temporary()
    }

    fn run(&self, program: &Invocation, stdin: &[u8], timeout: std::time::Duration) -> std::io::Result<Output> {
        self.world.run(program, stdin, timeout)
    }

    fn start(&self, program: &Invocation) -> std::io::Result<Box<dyn Running>> {
        self.world.start(program)
    }
}
