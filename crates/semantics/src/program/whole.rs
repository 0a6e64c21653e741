//! The typed program as a whole.

use rustc_hash::FxHashMap as HashMap;

use mokume_base::{FileId, Form, Notation};

use crate::limits;

use super::signature::{Signature, Vocabulary, STANDARD_REASONS};
use super::{
    Attribute, Bundle, Definition, Enum, Function, FunctionId, Layer, Local, Mention, Network, Record, RecordNotation,
    Service, Stack, Stmt, Test, Type, Use, Vector, Wire, WrittenType,
};

/// The typed program of all files. Ids are indices into these lists.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// By [`EnumId`](super::EnumId).
    pub enums: Vec<Enum>,
    /// The records: those of the source, then those of enums with data, then bounded vectors.
    pub records: Vec<Record>,
    /// Types with a notation, in the order of the source, numbers before records.
    pub written: Vec<WrittenType>,
    /// Attributes of messages.
    pub attributes: Vec<Attribute>,
    /// By [`ServiceId`](super::ServiceId).
    pub services: Vec<Service>,
    /// By [`SignatureId`](super::SignatureId).
    pub signatures: Vec<Signature>,
    /// By [`VocabularyId`](super::VocabularyId).
    pub vocabularies: Vec<Vocabulary>,
    /// Pure functions of files.
    pub functions: Vec<Function>,
    /// The layers: those of the source, then stand-ins for parameters, and copies made for functions that were given.
    pub layers: Vec<Layer>,
    /// The bundles: those of the source, then those made for given layers and functions, and those without a name.
    pub bundles: Vec<Bundle>,
    /// By [`WireId`](super::WireId).
    pub wires: Vec<Wire>,
    /// By [`StackId`](super::StackId).
    pub stacks: Vec<Stack>,
    /// In the order of the source.
    pub tests: Vec<Test>,
    /// In the order of the source.
    pub networks: Vec<Network>,
    /// Mentions, by place, as far as names were resolved; programs with errors have them too.
    pub mentions: Vec<Mention>,
    /// The module of each file that is of one.
    pub modules: HashMap<FileId, usize>,
}

impl Program {
    /// The code of all layers' handlers and functions, then of functions outside layers: the locals, and the body.
    pub fn code(&self) -> impl Iterator<Item = (&[Local], &[Stmt])> {
        let of_layers = self.layers.iter().flat_map(|layer| {
            let handlers = layer.handlers.iter().map(|handler| (&handler.locals[..], &handler.body[..]));
            handlers.chain(layer.functions.iter().map(|function| (&function.locals[..], &function.body[..])))
        });
        of_layers.chain(self.functions.iter().map(|function| (&function.locals[..], &function.body[..])))
    }

    /// Gives all locals their numbers.
    pub fn number_locals(&mut self) {
        let of_layers = self.layers.iter_mut().flat_map(|layer| {
            let handlers = layer.handlers.iter_mut().map(|handler| &mut handler.locals);
            handlers.chain(layer.functions.iter_mut().map(|function| &mut function.locals))
        });
        let all = of_layers.chain(self.functions.iter_mut().map(|function| &mut function.locals));
        all.flatten().zip(1..).for_each(|(local, number)| local.number = number);
    }

    /// The name by which automata call a function in C: its own; for each further of the same name, in another module, with
    /// a number behind it.
    pub fn symbol_of(&self, function: FunctionId) -> String {
        let name = |function: &Function| function.name.text.clone();
        let own = name(&self.functions[function.index()]);
        let before = &self.functions[..function.index()];
        let same = before.iter().filter(|known| known.native.is_some() && known.name.text == own).count();
        if same == 0 {
            return own;
        }
        let mut stem = format!("{own}_");
        while self.functions.iter().any(|known| known.name.text.starts_with(&stem)) {
            stem.push('_');
        }
        format!("{stem}{}", same + 1)
    }

    /// The bounded vector that the type is; `None` for other types.
    pub fn vector(&self, ty: Type) -> Option<Vector> {
        let Type::Record(id) = ty else { return None };
        self.records.get(id.index())?.vector
    }

    /// The form of values of a type that is declared with this notation; `None` if they are shown as plain numbers.
    pub fn form(&self, ty: Type, written: Option<Notation>) -> Option<Form> {
        match (ty, written) {
            (Type::UInt(width), Some(notation)) => Some(Form::Parts { notation, widths: vec![width] }),
            (Type::Duration | Type::Instant, _) => Some(Form::Time),
            (Type::Ranks, _) => Some(Form::Set),
            (Type::Record(id), _) => self.record_form(self.records.get(id.index())?),
            _ => None,
        }
    }

    fn record_form(&self, record: &Record) -> Option<Form> {
        let width = |ty: Type| if let Type::UInt(width) = ty { Some(width) } else { None };
        match (record.written?, record.fields.as_slice()) {
            (RecordNotation::Whole(notation), fields) => {
                let widths = fields.iter().map(|field| width(field.ty)).collect::<Option<_>>()?;
                Some(Form::Parts { notation, widths })
            }
            (RecordNotation::Prefix, [of, length]) => {
                let of = Box::new(self.form(of.ty, of.written).filter(|form| *form != Form::Time)?);
                Some(Form::Prefix { of, width: width(length.ty)? })
            }
            (RecordNotation::Prefix, _) => None,
        }
    }

    /// The layers of a layer or bundle, top to bottom.
    pub fn layers_of(&self, part: &Use) -> Vec<&Layer> {
        let mut layers = Vec::new();
        self.flatten(part, 0, &mut layers, &mut 0);
        layers
    }

    fn flatten<'a>(&'a self, part: &Use, depth: u32, layers: &mut Vec<&'a Layer>, met: &mut u64) {
        // Bundles that are larger or deeper are reported and removed, but this runs before.
        *met += 1;
        if layers.len() as u64 > limits::LAYERS || *met > limits::LAYERS * u64::from(limits::BUNDLE_DEPTH + 2) {
            return;
        }
        match part.of {
            Definition::Layer(id) => layers.extend(self.layers.get(id.index())),
            Definition::Bundle(id) => {
                let parts = self.bundles.get(id.index()).map_or(&[][..], |bundle| &bundle.parts);
                if depth <= limits::BUNDLE_DEPTH {
                    parts.iter().for_each(|part| self.flatten(part, depth + 1, layers, met));
                }
            }
        }
    }

    /// Whether a reason means the same in all layers.
    pub fn is_shared_reason(&self, name: &str) -> bool {
        let declared = self.vocabularies.iter().flat_map(|known| &known.reasons).any(|reason| reason.text == name);
        declared || STANDARD_REASONS.contains(&name)
    }
}
