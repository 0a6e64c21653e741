//! Operations and wires on a way: pure ones become terms, cells are renamed, headers are forwarded, octets laid out.

use mokume_reaction::{
    Automaton, Binary, Body, CellKind, Compare, DropReason, Effect, Endian, FieldValue, OpKind, PathArg, PathOut,
    Piece, Step, Target, Term, TermCompare, TermOp, Type, Value as Id, WireExpression, WireId, WireItem,
};

use super::message::{binary, cast, number, width_of, Packet};
use super::walk::{compare, negated, Call, Next, Value, Way};

impl Way {
    /// The results; none if a path cannot say it.
    pub(super) fn operation(&mut self, automaton: &Automaton, op: &OpKind) -> Option<Vec<Value>> {
        use OpKind as K;
        let one = |term: Term| Some(vec![Value::Term(term)]);
        let message = |packet: Packet| Some(vec![Value::Message(packet)]);
        match op {
            K::Const { ty, value } => one(number(ty.width(automaton).max(1), *value)),
            K::Null { .. } => Some(vec![Value::Null]),
            K::Binary { op, a, b } => {
                let (a, b) = (self.term(*a)?, self.term(*b)?);
                one(self.arithmetic(*op, a, b)?)
            }
            K::Compare { op, a, b } => one(self.comparison(automaton, *op, *a, *b)?),
            K::Not { a } => {
                let a = self.term(*a)?;
                one(if width_of(&a) == 1 { negated(a) } else { Term::Not(Box::new(a)) })
            }
            K::Select { c, a, b } => {
                let (condition, then, otherwise) = (self.term(*c)?, self.term(*a)?, self.term(*b)?);
                one(Term::If { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) })
            }
            K::Cast { a, to } => {
                let a = self.term(*a)?;
                one(cast(to.width(automaton), width_of(&a), a))
            }
            K::Param { param } => {
                let width = automaton.params[param.index()].ty.width(automaton);
                one(Term::Cast { width, a: Box::new(Term::StackParam(*param)) })
            }
            K::Now => one(Term::Now),
            K::Unique { class } => {
                let object = self.object(automaton, *class, mokume_reaction::ObjectSource::Unique(*class))?;
                Some(vec![Value::Object(object, *class)])
            }
            K::Parent { object } => {
                let (record, class) = self.object_value(*object)?;
                let parent = automaton.class(class).parent?;
                let source = if automaton.is_unique(parent) {
                    mokume_reaction::ObjectSource::Unique(parent)
                } else {
                    mokume_reaction::ObjectSource::Parent(record, parent)
                };
                Some(vec![Value::Object(self.object(automaton, parent, source)?, parent)])
            }
            K::Get { object, cell } => {
                let at = self.object_value(*object)?;
                match automaton.cell(at.1, *cell).kind {
                    CellKind::Scalar { ty: Type::Ref(_), .. } => Some(vec![self.follow(automaton, at, *cell)?]),
                    _ => one(self.cell(automaton, at, *cell)),
                }
            }
            K::Set { object, cell, value } => {
                let (at, value) = (self.object_value(*object)?, self.term(*value)?);
                if self.has_double(at.0) {
                    return None;
                }
                self.set(at, *cell, value);
                Some(Vec::new())
            }
            K::NewMessage { octets } => message(Packet {
                headers: Vec::new(),
                front: vec![Piece::Octets(octets.clone())],
                rest: None,
                attributes: Vec::new(),
            }),
            K::Push { message: of, header, variant, fields } => {
                let mut packet = self.message(*of)?;
                let fields = fields.iter().map(|field| self.term(*field)).collect::<Option<Vec<_>>>()?;
                packet.headers.push((*header, *variant, fields));
                message(packet)
            }
            K::Pop { message: of, header, variant } => {
                let mut packet = self.message(*of)?;
                let (found, found_variant, fields) = packet.headers.pop()?;
                if (found, found_variant) != (*header, *variant) {
                    return None;
                }
                Some(std::iter::once(Value::Message(packet)).chain(fields.into_iter().map(Value::Term)).collect())
            }
            K::Encode { message: of, wire } => {
                let mut packet = self.message(*of)?;
                self.encode(automaton, &mut packet, *wire)?;
                message(packet)
            }
            K::Size { message: of } => one(self.message(*of)?.size()),
            K::GetAttribute { message: of, attribute } => {
                let described = &automaton.attributes[attribute.index()];
                let default = number(described.ty.width(automaton), described.default);
                let packet = self.message(*of)?;
                let known = packet.attributes.iter().find(|(known, _)| *known == attribute.0);
                one(known.map_or(default, |(_, term)| term.clone()))
            }
            K::SetAttribute { message: of, attribute, value } => {
                let (mut packet, value) = (self.message(*of)?, self.term(*value)?);
                packet.attributes.retain(|(known, _)| *known != attribute.0);
                packet.attributes.push((attribute.0, value));
                message(packet)
            }
            K::Fold16 { a } => one(Term::Fold16(Box::new(self.term(*a)?))),
            K::Emit { target, event, args } => {
                let (object, class) = self.object_value(*target)?;
                let args = args.iter().map(|arg| self.value(*arg)).collect::<Option<Vec<_>>>()?;
                self.emit(Next::Call(Call { object, class, event: event.clone(), args }));
                Some(Vec::new())
            }
            K::Out { port, event, args } => {
                let args = args.iter().map(|arg| self.out_arg(*arg)).collect::<Option<Vec<_>>>()?;
                self.emit(Next::Out(PathOut { port: *port, event: *event, args }));
                Some(Vec::new())
            }
            K::Call { function, args } => {
                let args = args.iter().map(|arg| self.value(*arg)).collect::<Option<Vec<_>>>()?;
                self.inline(automaton, *function, args)
            }
            K::Left { object, cell } => {
                let (object, class) = self.object_value(*object)?;
                one(Term::Left { object, class, cell: *cell })
            }
            K::Sum16 { message: of } => {
                let packet = self.message(*of)?;
                one(Term::Sum16(packet.term().octets))
            }
            K::Load { message: of, at, ty, endian } => {
                let Term::Number { value: at, .. } = self.term(*at)? else { return None };
                let (packet, width) = (self.message(*of)?, ty.width(automaton));
                self.guard(packet.has(at as u32 + u32::from(width) / 8));
                one(packet.load(at as u32, width, *endian)?)
            }
            K::Trim { message: of, size } => {
                let (mut packet, size) = (self.message(*of)?, self.term(*size)?);
                self.guard(compare(TermCompare::Le, size.clone(), packet.size()));
                packet.trim(size)?;
                message(packet)
            }
            K::Skip { message: of, size } => {
                let Term::Number { value: size, .. } = self.term(*size)? else { return None };
                let mut packet = self.message(*of)?;
                self.guard(packet.has(size as u32));
                packet.skip(size as u32)?;
                message(packet)
            }
            K::Count { object, cell, amount } => {
                let ((object, class), amount) = (self.object_value(*object)?, self.term(*amount)?);
                self.ends.push(Effect::Count { object, class, cell: *cell, amount });
                Some(Vec::new())
            }
            K::Drop { message: of, reason: DropReason::Known(reason) } => {
                let rest = self.message(*of)?.rest?;
                self.ends.push(Effect::Drop { message: rest.message, reason: *reason });
                Some(Vec::new())
            }
            K::Consume { message: of, reason } => {
                let rest = self.message(*of)?.rest?;
                self.ends.push(Effect::Consume { message: rest.message, reason: *reason });
                Some(Vec::new())
            }
            _ => None,
        }
    }

    fn out_arg(&self, id: Id) -> Option<PathArg> {
        Some(match self.value(id)? {
            Value::Term(term) => PathArg::Term(term),
            Value::Object(object, class) => PathArg::Object(object, class),
            Value::Message(packet) => PathArg::Message(packet.term()),
            Value::Null => return None,
        })
    }

    /// Operations that report are asked for not to: a path says nothing.
    fn arithmetic(&mut self, op: Binary, a: Term, b: Term) -> Option<Term> {
        let width = width_of(&a);
        let plain = match op {
            Binary::AddWrap => TermOp::Add,
            Binary::SubWrap => TermOp::Sub,
            Binary::MulWrap => TermOp::Mul,
            Binary::And if width == 1 => return Some(both(a, b)),
            Binary::And => TermOp::And,
            Binary::Or => TermOp::Or,
            Binary::Xor => TermOp::Xor,
            Binary::Shl => TermOp::Shl,
            Binary::Shr => TermOp::Shr,
            Binary::Min => TermOp::Min,
            Binary::Max => TermOp::Max,
            Binary::Add => {
                let most = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
                let most = match &b {
                    Term::Number { value, .. } => number(width, most - value),
                    other => binary(TermOp::Sub, number(width, most), other.clone()),
                };
                self.guard(compare(TermCompare::Le, a.clone(), most));
                TermOp::Add
            }
            Binary::Sub => {
                self.guard(compare(TermCompare::Ge, a.clone(), b.clone()));
                TermOp::Sub
            }
            Binary::Div | Binary::Rem => {
                let Term::Number { value: 1.., .. } = b else { return None };
                if op == Binary::Div {
                    TermOp::Div
                } else {
                    TermOp::Rem
                }
            }
            Binary::Within => {
                self.guard(compare(TermCompare::Lt, a.clone(), b));
                return Some(a);
            }
            Binary::Mul => return None,
        };
        Some(binary(plain, a, b))
    }

    fn comparison(&mut self, automaton: &Automaton, op: Compare, a: Id, b: Id) -> Option<Term> {
        let (x, y) = (self.value(a)?, self.value(b)?);
        let (x, y) = match (x, y) {
            (Value::Term(x), Value::Term(y)) => (x, y),
            // A record that was found is not null; two that were found the same way are one.
            (Value::Object(..), Value::Null) | (Value::Null, Value::Object(..)) => {
                return Some(number(1, u64::from(op == Compare::Ne)));
            }
            (Value::Object(x, _), Value::Object(y, _)) if x == y => {
                return Some(number(1, u64::from(op == Compare::Eq)))
            }
            _ => return None,
        };
        let circular = self.is_circular(automaton, a);
        let op = match (op, circular) {
            (Compare::Eq, _) => TermCompare::Eq,
            (Compare::Ne, _) => TermCompare::Ne,
            (Compare::Lt, false) => TermCompare::Lt,
            (Compare::Le, false) => TermCompare::Le,
            (Compare::Gt, false) => TermCompare::Gt,
            (Compare::Ge, false) => TermCompare::Ge,
            (Compare::Lt, true) => TermCompare::SeqLt,
            (Compare::Le, true) => TermCompare::SeqLe,
            (Compare::Gt, true) => TermCompare::SeqGt,
            (Compare::Ge, true) => TermCompare::SeqGe,
        };
        Some(compare(op, x, y))
    }

    fn is_circular(&self, automaton: &Automaton, id: Id) -> bool {
        self.body_at_hand(automaton).is_some_and(|body| matches!(body.values[id.index()].ty, Type::Seq(_)))
    }

    /// Headers into pieces. Only wires of whole octets; sizes of the packet are terms, checksums are left to the layers.
    fn encode(&mut self, automaton: &Automaton, packet: &mut Packet, wire: WireId) -> Option<()> {
        let wire = &automaton.wires[wire.index()];
        let mut headers = Vec::new();
        for expected in &wire.headers {
            let popped = packet.headers.pop()?;
            if popped.0 != *expected {
                return None;
            }
            headers.push(popped);
        }
        let mut pieces = Vec::new();
        self.encode_items(&wire.items, &headers, packet, &mut pieces)?;
        pieces.append(&mut packet.front);
        packet.front = pieces;
        Some(())
    }

    fn encode_items(
        &mut self,
        items: &[WireItem],
        headers: &[(mokume_reaction::HeaderId, mokume_reaction::VariantId, Vec<Term>)],
        packet: &Packet,
        pieces: &mut Vec<Piece>,
    ) -> Option<()> {
        let mut bits: Option<(u64, u8)> = None;
        for item in items {
            match item {
                WireItem::Field(field) => {
                    let value = match &field.value {
                        FieldValue::Constant { value, .. } => number(field.width, *value),
                        FieldValue::Placed | FieldValue::Reserved => number(field.width, 0),
                        FieldValue::Tag => number(field.width, tag_of(items, field.index, headers)?),
                        FieldValue::Header { header, field: place, times, plus, .. } => {
                            let (.., fields) = headers.iter().find(|(known, ..)| known == header)?;
                            let value = fields.get(*place as usize)?.clone();
                            scaled(value, field.width, *times, *plus)?
                        }
                        FieldValue::Computed { expression, .. } => {
                            let size = self.size_of(expression, items, packet)?;
                            cast(field.width, 32, size)
                        }
                    };
                    append(pieces, &mut bits, value, field.width, field.endian)?;
                }
                WireItem::Choice { arms, .. } if has_commons(arms) => return None,
                WireItem::Choice { arms, .. } => {
                    let arm = arms.iter().find(|arm| arm_fits(arm, headers))?;
                    self.encode_items(&arm.items, headers, packet, pieces)?;
                }
                WireItem::Optional { .. } | WireItem::Options(_) | WireItem::List(_) | WireItem::Reach(_) => {
                    return None
                }
            }
        }
        bits.is_none().then_some(())
    }

    fn size_of(&self, expression: &WireExpression, items: &[WireItem], packet: &Packet) -> Option<Term> {
        let header = fixed_size(items)?;
        match expression {
            WireExpression::PacketSize => Some(binary(TermOp::Add, packet.size(), number(32, header))),
            WireExpression::PayloadSize => Some(packet.size()),
            WireExpression::HeaderSize => Some(number(32, header)),
            WireExpression::Number(value) => Some(number(32, *value)),
            WireExpression::Add(a, b) => {
                Some(binary(TermOp::Add, self.size_of(a, items, packet)?, self.size_of(b, items, packet)?))
            }
            _ => None,
        }
    }

    /// The way on which the decoder accepts: for each arm of a choice one.
    pub(super) fn decode(
        mut self,
        automaton: &Automaton,
        body: &Body,
        message: Id,
        wire: WireId,
        then: &Target,
        take_headers: bool,
    ) -> Option<Vec<Way>> {
        let packet = self.message(message)?;
        let described = &automaton.wires[wire.index()];
        if packet.rest.is_none() || !packet.front.is_empty() {
            return None;
        }
        self.likelihood *= 0.99;
        // The size is asked for before the fields: loads behind it are within the packet.
        let first = self.steps.len();
        let start = Reading {
            way: self,
            at: 0,
            fields: Vec::new(),
            headers: Vec::new(),
            variants: Vec::new(),
            trim: None,
            packet,
        };
        let readings = read_items(&described.items, vec![start])?;
        let mut ways = Vec::new();
        for reading in readings {
            let Reading { mut way, at, headers, variants, trim, mut packet, .. } = reading;
            let long = Step::Guard { condition: packet.has(at), refresh: None };
            way.steps.insert(first, long);
            if let Some(size) = trim {
                way.guard(compare(TermCompare::Ge, packet.size(), size.clone()));
                packet.trim(size)?;
            }
            if take_headers {
                packet.skip(at)?;
                for header in described.headers.iter().rev() {
                    let variant = variants
                        .iter()
                        .find(|(known, _)| known == header)
                        .map_or(mokume_reaction::VariantId(0), |(_, v)| *v);
                    let kinds = &automaton.headers[header.index()].variants[variant.index()].fields;
                    let fields = (0..kinds.len()).map(|place| {
                        let found =
                            headers.iter().find(|(known, field, _)| known == header && *field as usize == place);
                        found.map(|(.., term)| cast(kinds[place].1.width(automaton), width_of(term), term.clone()))
                    });
                    packet.headers.push((*header, variant, fields.collect::<Option<Vec<_>>>()?));
                }
            }
            ways.extend(way.go(body, then, vec![Value::Message(packet)]));
        }
        Some(ways)
    }
}

/// A decoder under way.
struct Reading {
    way: Way,
    /// Octets read.
    at: u32,
    fields: Vec<(mokume_reaction::FieldIndex, Term)>,
    headers: Vec<(mokume_reaction::HeaderId, u32, Term)>,
    variants: Vec<(mokume_reaction::HeaderId, mokume_reaction::VariantId)>,
    trim: Option<Term>,
    packet: Packet,
}

fn read_items(items: &[WireItem], mut readings: Vec<Reading>) -> Option<Vec<Reading>> {
    for item in items {
        match item {
            WireItem::Field(field) => {
                for reading in &mut readings {
                    if field.width % 8 != 0
                        || !matches!(field.width, 8 | 16 | 24 | 32 | 48 | 64)
                        || !field.constraints.is_empty()
                    {
                        return None;
                    }
                    let term = reading.packet.load(reading.at, field.width, field.endian)?;
                    reading.at += u32::from(field.width) / 8;
                    reading.fields.push((field.index, term.clone()));
                    match &field.value {
                        FieldValue::Constant { value, .. } => {
                            reading.way.guard(compare(TermCompare::Eq, term.clone(), number(field.width, *value)));
                        }
                        FieldValue::Header { header, field: place, times: 1, plus: 0, .. } => {
                            reading.headers.push((*header, *place, term.clone()));
                        }
                        FieldValue::Header { header, field: place, times: 1, plus, .. } => {
                            let plus = number(field.width, *plus);
                            reading.way.guard(compare(TermCompare::Ge, term.clone(), plus.clone()));
                            reading.headers.push((*header, *place, binary(TermOp::Sub, term.clone(), plus)));
                        }
                        FieldValue::Tag | FieldValue::Placed | FieldValue::Reserved => {}
                        _ => return None,
                    }
                    if field.trims_plus > 0 {
                        return None;
                    }
                    if field.trims_packet {
                        reading.trim = Some(cast(32, field.width, term));
                    }
                }
            }
            WireItem::Choice { arms, .. } if has_commons(arms) => return None,
            WireItem::Choice { on, arms, .. } => {
                let mut next = Vec::new();
                for reading in readings {
                    let (_, tag) = reading.fields.iter().find(|(index, _)| index == on)?.clone();
                    for arm in arms {
                        let mut taken = Reading {
                            way: reading.way.clone(),
                            at: reading.at,
                            fields: reading.fields.clone(),
                            headers: reading.headers.clone(),
                            variants: reading.variants.clone(),
                            trim: reading.trim.clone(),
                            packet: reading.packet.clone(),
                        };
                        taken.way.guard(compare(TermCompare::Eq, tag.clone(), number(width_of(&tag), arm.tag)));
                        taken.variants.extend(arm.selects.iter().copied());
                        next.extend(read_items(&arm.items, vec![taken])?);
                    }
                }
                readings = next;
            }
            WireItem::Optional { .. } | WireItem::Options(_) | WireItem::List(_) | WireItem::Reach(_) => return None,
        }
    }
    Some(readings)
}

/// Fields that are left out for their values: the layers do that.
fn has_commons(arms: &[mokume_reaction::WireArm]) -> bool {
    arms.iter().any(|arm| !arm.commons.is_empty())
}

fn both(a: Term, b: Term) -> Term {
    match (&a, &b) {
        (Term::Number { value: 1, .. }, _) => b,
        (_, Term::Number { value: 1, .. }) => a,
        (Term::Number { value: 0, .. }, _) | (_, Term::Number { value: 0, .. }) => number(1, 0),
        _ => binary(TermOp::And, a, b),
    }
}

fn scaled(value: Term, width: u8, times: u64, plus: u64) -> Option<Term> {
    if times != 1 {
        return None;
    }
    let from = width_of(&value);
    let wide = cast(width, from, value);
    Some(binary(TermOp::Add, wide, number(width, plus)))
}

fn arm_fits(
    arm: &mokume_reaction::WireArm,
    headers: &[(mokume_reaction::HeaderId, mokume_reaction::VariantId, Vec<Term>)],
) -> bool {
    arm.selects.iter().all(|(header, variant)| headers.iter().any(|(h, v, _)| (h, v) == (header, variant)))
}

fn tag_of(
    items: &[WireItem],
    index: mokume_reaction::FieldIndex,
    headers: &[(mokume_reaction::HeaderId, mokume_reaction::VariantId, Vec<Term>)],
) -> Option<u64> {
    items.iter().find_map(|item| match item {
        WireItem::Choice { on, arms, .. } if *on == index => {
            arms.iter().find(|arm| arm_fits(arm, headers)).map(|arm| arm.tag)
        }
        _ => None,
    })
}

/// Octets of a wire without choices.
fn fixed_size(items: &[WireItem]) -> Option<u64> {
    let mut bits = 0;
    for item in items {
        match item {
            WireItem::Field(field) => bits += u64::from(field.width),
            _ => return None,
        }
    }
    Some(bits / 8)
}

/// A field behind the others. Fields within octets must be constant.
fn append(pieces: &mut Vec<Piece>, bits: &mut Option<(u64, u8)>, value: Term, width: u8, endian: Endian) -> Option<()> {
    if let (None, 0) = (&bits, width % 8) {
        pieces.push(match value {
            Term::Number { value, .. } => {
                let octets = value.to_be_bytes()[8 - usize::from(width) / 8..].to_vec();
                Piece::Octets(if endian == Endian::Big { octets } else { octets.into_iter().rev().collect() })
            }
            value => Piece::Field { value, endian },
        });
        return Some(());
    }
    let Term::Number { value, .. } = value else { return None };
    let (before, had) = bits.take().unwrap_or((0, 0));
    let mut all = before << width | value;
    let mut have = had + width;
    while have >= 8 {
        pieces.push(Piece::Octets(vec![(all >> (have - 8)) as u8]));
        have -= 8;
        all &= (1 << have) - 1;
    }
    if have > 0 {
        *bits = Some((all, have));
    }
    Some(())
}
