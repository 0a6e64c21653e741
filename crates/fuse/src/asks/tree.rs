//! A path as a tree of its questions.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use mokume_reaction::{
    to, Automaton, Binary, BlockId, Body, BodyBuilder, CellId, CellKind, Effects, Fallible, HeaderId, Mark, Op, OpKind,
    Operation, Path, SourceId, Terminator, Trigger, Type, Value, VariantId,
};

use super::known::Fact;
use crate::graph::{Graph, Kind, Node};
use crate::text::{finished, refuse, Text};

/// What is asked, and what follows.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    /// Questions; with any other answer the path refuses.
    pub guards: Vec<Ask>,
    pub tail: Tail,
    /// The number of octets that the message surely has here, if that is asked on this way: first, or before it. 0: as before.
    pub least: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) enum Tail {
    /// The way parts by the answer.
    Part(Box<(Ask, [Way; 2])>),
    /// Does what this block of the old path does.
    End(BlockId),
    /// Continues with what several ways do when they go no further, by its number.
    Rest(usize),
    /// The path refuses.
    #[default]
    Exit,
}

/// One question.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub what: What,
    /// Which of its two targets the way takes; no meaning where the way parts.
    pub is_then: bool,
    pub source: Option<SourceId>,
    pub mark: Option<Mark>,
    pub likely: Option<f32>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum What {
    If(Node),
    /// The look-up with this number, and the types of what it finds.
    Find {
        number: u32,
        object: Node,
        cell: CellId,
        key: Vec<Node>,
        found: Vec<Type>,
    },
    Peek {
        message: u32,
        header: HeaderId,
        variant: VariantId,
        fields: Vec<(String, Type)>,
    },
}

impl Way {
    /// Whether the way does nothing but refuse.
    pub fn refuses(&self) -> bool {
        matches!(self.tail, Tail::Exit)
    }

    /// Appends another way. If that one refuses, this one does too.
    pub fn go_on(&mut self, mut on: Way) {
        if on.refuses() {
            *self = Way::default();
            return;
        }
        if on.least > self.least {
            // Its first question is asked first here, too.
            self.guards.splice(0..0, on.guards.drain(..1.min(on.guards.len())));
            self.least = on.least;
        }
        self.guards.append(&mut on.guards);
        self.tail = on.tail;
    }

    /// Appends a parting. If only one way is left, the question becomes a guard.
    pub fn part(&mut self, ask: Ask, ways: [Way; 2]) {
        let is_then = !ways[0].refuses();
        if is_then && !ways[1].refuses() {
            self.tail = Tail::Part(Box::new((ask, ways)));
            return;
        }
        let [then, otherwise] = ways;
        self.guards.push(Ask { is_then, ..ask });
        self.go_on(if is_then { then } else { otherwise });
    }
}

impl Ask {
    /// Whether it is this look-up.
    pub fn finds(&self, number: u32) -> bool {
        matches!(self.what, What::Find { number: own, .. } if own == number)
    }
}

/// A path that has been read.
pub(super) struct Tree<'a> {
    pub automaton: &'a Automaton,
    pub body: &'a Body,
    /// Whether a reaction begins with it: then all objects in maps live (docs/semantics.md, L5).
    pub begins: bool,
    pub graph: Graph<'a>,
    pub way: Way,
    /// What several ways do when they go no further.
    pub rests: Vec<Way>,
    /// A message, and the number of octets that it surely has on the way at hand.
    pub least: (Option<u32>, u64),
    /// Whether it asks less than before, or in another order that matters.
    pub is_better: bool,
    /// Whether a question was put in other words.
    pub is_reworded: bool,
    /// By condition and what is known: the condition under that.
    pub simpler: FxHashMap<(Node, Vec<Fact>), Node>,
    /// By node: what it reads of messages and of state.
    pub read: FxHashMap<Node, Rc<[Node]>>,
    /// By node and least number of octets: whether it reads where another question shows that it may.
    pub barriers: FxHashMap<(Node, u64), bool>,
    /// The nodes of the old path's values.
    nodes: FxHashMap<Value, Node>,
}

/// The state of reading a path.
struct Reader<'a> {
    automaton: &'a Automaton,
    body: &'a Body,
    graph: Graph<'a>,
    nodes: FxHashMap<Value, Node>,
    /// The look-ups so far: object, cell, key.
    finds: Vec<(Node, CellId, Vec<Node>)>,
    ways_in: Vec<u32>,
    /// Blocks to which several ways lead.
    rests: Vec<BlockId>,
}

/// A path as a tree; `None` if, before it has asked all, it does something that is not supported here.
pub(super) fn read<'a>(automaton: &'a Automaton, path: &'a Path) -> Option<Tree<'a>> {
    let body = &path.body;
    let mut ways_in = vec![0; body.blocks.len()];
    let targets = body.blocks.iter().flat_map(|block| block.terminator.targets());
    targets.for_each(|target| ways_in[target.block.index()] += 1);
    let mut graph = Graph::new(automaton);
    let params = body.blocks[0].params.iter().enumerate();
    let scalars = params.filter(|(_, param)| body.values[param.index()].ty != Type::Msg);
    let nodes =
        scalars.map(|(at, param)| (*param, graph.add(Kind::Entry(at as u32), body.values[param.index()].ty))).collect();
    let mut reader = Reader { automaton, body, graph, nodes, finds: Vec::new(), ways_in, rests: Vec::new() };
    let way = reader.way(BlockId(0))?;
    let mut rests = Vec::new();
    let mut at = 0;
    while at < reader.rests.len() {
        rests.push(reader.way_of(reader.rests[at])?);
        at += 1;
    }
    Some(Tree {
        automaton,
        body,
        begins: automaton.begins(path.handler),
        graph: reader.graph,
        way,
        rests,
        least: (None, 0),
        is_better: false,
        is_reworded: false,
        simpler: FxHashMap::default(),
        read: FxHashMap::default(),
        barriers: FxHashMap::default(),
        nodes: reader.nodes,
    })
}

impl<'a> Reader<'a> {
    /// The way from a target on.
    fn way(&mut self, block: BlockId) -> Option<Way> {
        let found = &self.body.blocks[block.index()];
        match &found.terminator {
            Terminator::Refuse { .. } if found.ops.is_empty() => Some(Way::default()),
            Terminator::Jump { to } if found.ops.is_empty() && to.args.is_empty() => self.way(to.block),
            _ if self.ways_in[block.index()] > 1 => {
                let known = self.rests.iter().position(|known| *known == block);
                let rest = known.unwrap_or_else(|| {
                    self.rests.push(block);
                    self.rests.len() - 1
                });
                Some(Way { tail: Tail::Rest(rest), ..Way::default() })
            }
            _ => self.way_of(block),
        }
    }

    /// The way from a block on.
    fn way_of(&mut self, mut block: BlockId) -> Option<Way> {
        let mut guards = Vec::new();
        loop {
            let found = &self.body.blocks[block.index()];
            let is_end = matches!(found.terminator, Terminator::Return);
            if !self.read(&found.ops) && !is_end {
                return None;
            }
            let (what, likely) = match &found.terminator {
                Terminator::Return => return Some(Way { guards, tail: Tail::End(block), least: 0 }),
                Terminator::Branch { condition, likely, .. } => (What::If(*self.nodes.get(condition)?), *likely),
                Terminator::Try { op, then, .. } => (self.attempt(op, then.block)?, None),
                _ => return None,
            };
            let targets = found.terminator.targets();
            if targets.iter().any(|target| !target.args.is_empty()) {
                return None;
            }
            let source = found.mark.map(|mark| mark.source);
            let mut ask = Ask { what, is_then: true, source, mark: found.mark, likely };
            let (then, otherwise) = (targets[0].block, targets[1].block);
            let is_inner = |block: BlockId| !self.refuses(block) && self.ways_in[block.index()] == 1;
            match (self.refuses(then), self.refuses(otherwise)) {
                (true, true) => return Some(Way::default()),
                (false, true) if is_inner(then) => block = then,
                (true, false) if is_inner(otherwise) => {
                    ask.is_then = false;
                    block = otherwise;
                }
                _ => {
                    let ways = [self.way(then)?, self.way(otherwise)?];
                    return Some(Way { guards, tail: Tail::Part(Box::new((ask, ways))), least: 0 });
                }
            }
            guards.push(ask);
        }
    }

    fn refuses(&self, block: BlockId) -> bool {
        let found = &self.body.blocks[block.index()];
        found.ops.is_empty()
            && match &found.terminator {
                Terminator::Refuse { .. } => true,
                Terminator::Jump { to } => self.refuses(to.block),
                _ => false,
            }
    }

    /// The question of an operation that may refuse; its results are known from then on.
    fn attempt(&mut self, op: &Fallible, then: BlockId) -> Option<What> {
        let params = &self.body.blocks[then.index()].params;
        match op {
            Fallible::Find { object, cell, key } => {
                let object = *self.nodes.get(object)?;
                let key = key.iter().map(|part| self.nodes.get(part).copied()).collect::<Option<Vec<_>>>()?;
                let asked = (object, *cell, key);
                let number = self.finds.iter().position(|known| *known == asked).unwrap_or_else(|| {
                    self.finds.push(asked.clone());
                    self.finds.len() - 1
                }) as u32;
                let found: Vec<Type> = params.iter().map(|param| self.body.values[param.index()].ty).collect();
                for (at, (param, ty)) in params.iter().zip(&found).enumerate() {
                    let node = self.graph.add(Kind::Found(number, at as u32), *ty);
                    self.nodes.insert(*param, node);
                }
                let (object, cell, key) = asked;
                Some(What::Find { number, object, cell, key, found })
            }
            Fallible::Peek { message, header, variant } => {
                let message = self.message(*message)?;
                let fields = self.automaton.headers[header.index()].variants[variant.index()].fields.clone();
                for (at, (param, (_, ty))) in params.iter().zip(&fields).enumerate() {
                    let node = self.graph.add(Kind::Header(message, at as u32), *ty);
                    self.nodes.insert(*param, node);
                }
                Some(What::Peek { message, header: *header, variant: *variant, fields })
            }
            _ => None,
        }
    }

    fn message(&self, value: Value) -> Option<u32> {
        self.body.blocks[0].params.iter().position(|param| *param == value).map(|at| at as u32)
    }

    /// Reads operations that only make values. Returns whether there are no others.
    fn read(&mut self, ops: &[Op]) -> bool {
        let mut is_all = true;
        for op in ops {
            if !is_all && op.kind.effects().contains(Effects::READS) {
                continue;
            }
            match (self.node(&op.kind), &op.results[..]) {
                (Some(node), [result]) => {
                    self.nodes.insert(*result, node);
                }
                _ => is_all = false,
            }
        }
        is_all
    }

    fn node(&mut self, kind: &OpKind) -> Option<Node> {
        let of = |value: &Value| self.nodes.get(value).copied();
        let at = |graph: &mut Graph, kind, ty| Some(graph.add(kind, ty));
        let automaton = self.automaton;
        match kind {
            OpKind::Const { ty, value } => Some(self.graph.constant(*ty, *value)),
            OpKind::Null { class } => at(&mut self.graph, Kind::Null, Type::Ref(*class)),
            OpKind::Binary { op, a, b } => {
                let (a, b) = (of(a)?, of(b)?);
                (*op != Binary::Within).then(|| self.graph.binary(*op, a, b))
            }
            OpKind::Compare { op, a, b } => {
                let (a, b) = (of(a)?, of(b)?);
                Some(self.graph.compare(*op, a, b))
            }
            OpKind::Not { a } => {
                let a = of(a)?;
                Some(self.graph.not(a))
            }
            OpKind::Select { c, a, b } => {
                let (c, a, b) = (of(c)?, of(a)?, of(b)?);
                Some(self.graph.select(c, a, b))
            }
            OpKind::Cast { a, to } => {
                let a = of(a)?;
                Some(self.graph.cast(a, *to))
            }
            OpKind::Fold16 { a } => {
                let a = of(a)?;
                Some(self.graph.fold(a))
            }
            OpKind::Param { param } => {
                let ty = automaton.params[param.index()].ty;
                at(&mut self.graph, Kind::Param(*param), ty)
            }
            OpKind::Now {} => at(&mut self.graph, Kind::Now, crate::graph::U64),
            OpKind::Unique { class } => at(&mut self.graph, Kind::Unique(*class), Type::Ref(*class)),
            OpKind::Lives { object } => {
                let object = of(object)?;
                at(&mut self.graph, Kind::Lives(object), Type::Bool)
            }
            OpKind::Parent { object } => {
                let object = of(object)?;
                let Type::Ref(class) = self.graph.ty(object) else { return None };
                let parent = automaton.class(class).parent?;
                at(&mut self.graph, Kind::Parent(object), Type::Ref(parent))
            }
            OpKind::Get { object, cell } => {
                let object = of(object)?;
                let ty = self.cell(object, *cell)?;
                at(&mut self.graph, Kind::Get(object, *cell), ty)
            }
            OpKind::GetAt { object, cell, index } => {
                let (object, index) = (of(object)?, of(index)?);
                let ty = self.cell(object, *cell)?;
                at(&mut self.graph, Kind::GetAt(object, *cell, index), ty)
            }
            OpKind::IsArmed { object, cell } => {
                let object = of(object)?;
                at(&mut self.graph, Kind::Armed(object, *cell), Type::Bool)
            }
            OpKind::Waiting { target, event } => {
                let target = of(target)?;
                let Type::Ref(class) = self.graph.ty(target) else { return None };
                let handler = automaton.handler_of(class, &Trigger::Event(event.clone()))?;
                at(&mut self.graph, Kind::Waiting(target, handler), crate::graph::U32)
            }
            OpKind::Left { object, cell } => {
                let object = of(object)?;
                at(&mut self.graph, Kind::Left(object, *cell), crate::graph::U32)
            }
            OpKind::Holds { object, cell, index } => {
                let (object, index) = (of(object)?, of(index)?);
                at(&mut self.graph, Kind::Holds(object, *cell, index), Type::Bool)
            }
            OpKind::Size { message } => {
                let message = self.message(*message)?;
                at(&mut self.graph, Kind::Size(message), crate::graph::U32)
            }
            OpKind::Load { field, message, at: place } => {
                let (message, place) = (self.message(*message)?, of(place)?);
                at(&mut self.graph, Kind::Load(message, *field, place), field.ty())
            }
            OpKind::SumPart { message, at: place, size } => {
                let (message, place, size) = (self.message(*message)?, of(place)?, of(size)?);
                at(&mut self.graph, Kind::Sum(message, place, size), crate::graph::U32)
            }
            OpKind::GetAttribute { message, attribute } => {
                let message = self.message(*message)?;
                let ty = automaton.attributes[attribute.index()].ty;
                at(&mut self.graph, Kind::Attribute(message, *attribute), ty)
            }
            _ => None,
        }
    }

    /// The type of a cell's content.
    fn cell(&self, object: Node, cell: CellId) -> Option<Type> {
        let Type::Ref(class) = self.graph.ty(object) else { return None };
        match self.automaton.cell(class, cell).kind {
            CellKind::Scalar { ty, .. } | CellKind::Array { ty, .. } => Some(ty),
            _ => None,
        }
    }
}

impl Tree<'_> {
    /// Works on a way, on which as many octets are sure as it asks for.
    pub fn on(&mut self, way: &mut Way, work: impl FnOnce(&mut Self, &mut Way)) {
        let before = self.least.1;
        self.least.1 = before.max(way.least);
        work(self, way);
        self.least.1 = before;
    }
}

impl<'a> Tree<'a> {
    /// The path as a body.
    pub fn write(&self) -> Option<Body> {
        let given = &self.body.blocks[0].params;
        let infos = given.iter().map(|param| &self.body.values[param.index()]);
        let params: Vec<(String, Type)> = infos.map(|info| (info.name.clone(), info.ty)).collect();
        let mut builder = BodyBuilder::new(&params);
        let entry = builder.current()?;
        let params = builder.params(entry).to_vec();
        let exit = builder.block("exit", &[]);
        let rests: Vec<BlockId> = self.rests.iter().map(|_| builder.block("rest", &[])).collect();
        let mut known: Vec<Option<FxHashMap<Node, Value>>> = vec![None; rests.len()];
        let mut writer = Writer { tree: self, exit, rests: &rests, known: &mut known, is_lost: false };
        writer.way(&self.way, &mut builder, &params, FxHashMap::default());
        for (at, rest) in self.rests.iter().enumerate() {
            builder.select(rests[at]);
            match writer.known[at].take() {
                Some(values) => writer.way(rest, &mut builder, &params, values),
                // No way leads there any more.
                None => writer.way(&Way::default(), &mut builder, &params, FxHashMap::default()),
            }
        }
        let is_lost = writer.is_lost;
        refuse(&mut builder, exit, &params);
        (!is_lost).then(|| finished(builder))
    }
}

struct Writer<'t, 'a> {
    tree: &'t Tree<'a>,
    exit: BlockId,
    rests: &'t [BlockId],
    /// By rest: what is known on every way that leads there.
    known: &'t mut Vec<Option<FxHashMap<Node, Value>>>,
    is_lost: bool,
}

impl Writer<'_, '_> {
    fn way(&mut self, way: &Way, builder: &mut BodyBuilder, params: &[Value], values: FxHashMap<Node, Value>) {
        let tree = self.tree;
        let mut text = Text { automaton: tree.automaton, builder, params, values, is_lost: false };
        for ask in &way.guards {
            let [then, otherwise] = self.ask(ask, &mut text);
            let (on, off) = if ask.is_then { (then, otherwise) } else { (otherwise, then) };
            text.builder.select(off.0);
            text.builder.end(Terminator::Jump { to: to(self.exit, []) });
            text.builder.select(on.0);
            text.values.extend(on.1);
        }
        match &way.tail {
            Tail::Exit => text.builder.end(Terminator::Jump { to: to(self.exit, []) }),
            Tail::End(block) => self.end(*block, &mut text),
            Tail::Rest(rest) => {
                let here = &text.values;
                match &mut self.known[*rest] {
                    Some(known) => known.retain(|node, value| here.get(node) == Some(value)),
                    None => self.known[*rest] = Some(here.clone()),
                }
                text.builder.end(Terminator::Jump { to: to(self.rests[*rest], []) });
            }
            Tail::Part(part) => {
                let (ask, ways) = &**part;
                let targets = self.ask(ask, &mut text);
                let (before, is_lost) = (text.values, text.is_lost);
                self.is_lost |= is_lost;
                for (way, (block, found)) in ways.iter().zip(targets) {
                    builder.select(block);
                    let mut values = before.clone();
                    values.extend(found);
                    self.way(way, builder, params, values);
                }
                return;
            }
        }
        self.is_lost |= text.is_lost;
    }

    /// Ends a block with a question. Returns the two following blocks, and what is found there.
    fn ask(&self, ask: &Ask, text: &mut Text) -> [(BlockId, Vec<(Node, Value)>); 2] {
        let graph = &self.tree.graph;
        text.builder.set_source(ask.source);
        let (then, found) = match &ask.what {
            What::If(condition) => {
                let condition = text.value(graph, *condition);
                let then = text.builder.block("", &[]);
                let otherwise = text.builder.block("", &[]);
                let likely = ask.likely;
                let branch = Terminator::Branch { condition, then: to(then, []), otherwise: to(otherwise, []), likely };
                text.builder.end_at(branch, ask.mark);
                return [(then, Vec::new()), (otherwise, Vec::new())];
            }
            What::Find { number, object, cell, key, found } => {
                let object = text.value(graph, *object);
                let key = key.iter().map(|part| text.value(graph, *part)).collect();
                let params: Vec<(String, Type)> = found.iter().map(|ty| (String::new(), *ty)).collect();
                let then = text.builder.block("", &params);
                let nodes = (0..).map(|at| Kind::Found(*number, at)).zip(found);
                let nodes: Vec<Option<Node>> = nodes.map(|(kind, ty)| graph.node_of(&kind, *ty)).collect();
                (then, (Fallible::Find { object, cell: *cell, key }, nodes))
            }
            What::Peek { message, header, variant, fields } => {
                let then = text.builder.block("", fields);
                let nodes = (0..).map(|at| Kind::Header(*message, at)).zip(fields);
                let nodes = nodes.map(|(kind, (_, ty))| graph.node_of(&kind, *ty)).collect();
                let message = text.message(*message);
                (then, (Fallible::Peek { message, header: *header, variant: *variant }, nodes))
            }
        };
        let otherwise = text.builder.block("", &[]);
        let (op, nodes) = found;
        let attempt = Terminator::Try { op, then: to(then, []), otherwise: to(otherwise, []) };
        text.builder.end_at(attempt, ask.mark);
        let given = nodes.into_iter().zip(text.builder.params(then).to_vec());
        let known = given.filter_map(|(node, value)| Some((node?, value))).collect();
        [(then, known), (otherwise, Vec::new())]
    }

    /// Writes what a block of the old path does.
    fn end(&self, block: BlockId, text: &mut Text) {
        let tree = self.tree;
        let body = tree.body;
        let deeds: Vec<&Op> = body.blocks[block.index()].ops.iter().filter(|op| !is_read(tree, op)).collect();
        // All reads come before all writes.
        for op in &deeds {
            text.builder.set_source(op.source);
            for operand in op.kind.operands() {
                if let Some(node) = tree.nodes.get(&operand) {
                    text.value(&tree.graph, *node);
                }
            }
        }
        let params = &body.blocks[0].params;
        let mut made: FxHashMap<Value, Value> = params.iter().copied().zip(text.params.iter().copied()).collect();
        for op in deeds {
            text.builder.set_source(op.source);
            let mut kind = op.kind.clone();
            kind.for_each_operand_mut(&mut |operand| {
                *operand = match tree.nodes.get(operand) {
                    Some(node) => text.value(&tree.graph, *node),
                    None => made.get(operand).copied().unwrap_or(*operand),
                };
            });
            let results = text.builder.op(tree.automaton, kind);
            made.extend(op.results.iter().copied().zip(results));
        }
        text.builder.set_source(None);
        text.builder.end(Terminator::Return);
    }
}

/// Whether an operation only makes a value that has a node.
fn is_read(tree: &Tree, op: &Op) -> bool {
    matches!(&op.results[..], [result] if tree.nodes.contains_key(result))
}
