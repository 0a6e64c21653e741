//! Paths as terms: read once, for all states and events.

use super::*;

/// A path read once, for all states and events: when it is taken, and what it does.
pub struct PathReading {
    /// Conjuncts, refreshes left out (a refresh changes no `get`: the lens's own law).
    pub guard: Vec<Term>,
    pub before: Vec<(LensId, Record)>,
    pub after: Vec<(LensId, Record)>,
    pub objects: Vec<BTreeMap<ClassId, Object>>,
    /// Layered cells without a view that the commit sets.
    pub set: Vec<(Object, CellId, Term)>,
    pub outs: Vec<Out>,
    pub dropped: Vec<mokume_reaction::ReasonId>,
    /// What is added to counters, 64 bits.
    pub counted: BTreeMap<(Object, CellId), Term>,
    /// Messages that are made of nothing that came.
    pub taken: u32,
    /// Carries of exact operations: must be false under the guard.
    pub carries: Vec<Term>,
}

impl Reader<'_> {
    /// Reads a path; `params` are the event's, objects among them as [`Origin::Given`] ones. `records` gives a lens's record.
    pub fn read_path(
        &mut self,
        path: &Path,
        params: &[Value],
        mut records: impl FnMut(&mut Terms, &Lens, LensId) -> Record,
    ) -> Result<PathReading, String> {
        let automaton = self.automaton;
        let mut reading = PathReading {
            guard: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            objects: Vec::new(),
            set: Vec::new(),
            outs: Vec::new(),
            dropped: Vec::new(),
            counted: BTreeMap::new(),
            taken: 0,
            carries: Vec::new(),
        };
        let used = uses::of(path);
        let mut lets: Vec<Term> = Vec::new();
        for step in &path.steps {
            match step {
                Step::Object { lens, from, .. } => {
                    let found = self.path_object(from, &reading, &lets, params)?;
                    reading.guard.extend(found.1);
                    let place = reading.objects.len();
                    let (classes, nulls) = self.linked_objects(found.0, &automaton.lenses[lens.index()].classes);
                    // The path exits where an object is missing that it speaks of; of the others nothing is known.
                    for (class, on_the_way) in nulls {
                        if used.contains(&(mokume_reaction::PathObjectId::from(place), class)) {
                            for null in on_the_way {
                                reading.guard.push(self.terms.not(null));
                            }
                        }
                    }
                    let cells = &automaton.lenses[lens.index()].cells;
                    if !cells.is_empty() && reading.before.iter().any(|(other, _)| other == lens) {
                        return Err("two records of one lens, which may be one".into());
                    }
                    reading.objects.push(classes);
                    let record = records(self.terms, &automaton.lenses[lens.index()], *lens);
                    reading.before.push((*lens, record));
                }
                Step::Let { term, .. } => {
                    let scene = reading.scene(&lets, params);
                    let mut carries = Vec::new();
                    self.carries(term, &scene, &mut carries)?;
                    let value = self.source_term(term, &scene)?;
                    reading.carries.append(&mut carries);
                    lets.push(value);
                }
                Step::Guard { condition, refresh } => {
                    if let Some(object) = refresh {
                        uses::settled_before_refresh(automaton, path, step, *object)?;
                    }
                    let scene = reading.scene(&lets, params);
                    let condition = self.condition(condition, &scene)?;
                    reading.guard.push(condition);
                }
            }
        }
        self.read_commit(path, params, &lets, &mut reading)?;
        Ok(reading)
    }

    fn path_object(
        &mut self,
        from: &ObjectSource,
        reading: &PathReading,
        lets: &[Term],
        params: &[Value],
    ) -> Result<(Object, Option<Term>), String> {
        let of = |reading: &PathReading, object: usize, class: &ClassId| {
            reading
                .objects
                .get(object)
                .and_then(|classes| classes.get(class))
                .copied()
                .ok_or("an object that is not there")
        };
        Ok(match from {
            ObjectSource::Param(index) => match params.get(*index as usize) {
                Some(Value::Object(object)) => (*object, None),
                _ => return Err("no object parameter".into()),
            },
            ObjectSource::Unique(class) => (self.object(*class, Origin::Unique(*class)), None),
            ObjectSource::Parent(object, class) => {
                let child = reading.objects.get(object.index()).and_then(|classes| {
                    classes
                        .iter()
                        .find(|(of, _)| self.automaton.class(**of).parent == Some(*class))
                        .map(|(_, object)| *object)
                });
                (self.parent(child.ok_or("a parent of nothing")?).ok_or("a class without a parent")?, None)
            }
            ObjectSource::Cell(object, class, cell) => {
                let object = of(reading, object.index(), class)?;
                let (referred, null) = self.follow(object, *cell).ok_or("no reference")?;
                (referred, Some(self.terms.not(null)))
            }
            ObjectSource::Find { object, class, cell, key, value } => {
                let object = of(reading, object.index(), class)?;
                let scene = reading.scene(lets, params);
                let key = key.iter().map(|part| self.source_term(part, &scene)).collect::<Result<Vec<_>, _>>()?;
                let (found, values) = self.look_up(object, *cell, key)?;
                match values.get(*value as usize) {
                    Some(Value::Object(object)) => (*object, Some(found)),
                    _ => return Err("no handle in the map".into()),
                }
            }
        })
    }

    /// The objects of a lens's classes that 1:1 links join to one of them.
    fn linked_objects(&mut self, first: Object, classes: &[ClassId]) -> Linked {
        let mut found = BTreeMap::from([(self.class_of(first), first)]);
        let mut nulls: BTreeMap<ClassId, Vec<Term>> = BTreeMap::new();
        let links = self.automaton.links.clone();
        let mut grew = true;
        while grew {
            grew = false;
            for link in links.iter().filter(|link| link.kind == mokume_reaction::LinkKind::OneToOne) {
                for (here, there) in [(link.above, link.below), (link.below, link.above)] {
                    let (Some(object), Some(cell)) = (found.get(&here.0).copied(), here.1) else { continue };
                    if classes.contains(&there.0) && !found.contains_key(&there.0) {
                        if let Some((other, null)) = self.follow(object, cell) {
                            found.insert(there.0, other);
                            let mut way = nulls.get(&here.0).cloned().unwrap_or_default();
                            way.push(null);
                            nulls.insert(there.0, way);
                            grew = true;
                        }
                    }
                }
            }
        }
        (found, nulls)
    }

    fn read_commit(
        &mut self,
        path: &Path,
        params: &[Value],
        lets: &[Term],
        reading: &mut PathReading,
    ) -> Result<(), String> {
        let mut after = reading.before.clone();
        let mut set = Vec::new();
        let mut dropped = Vec::new();
        let mut counted = BTreeMap::new();
        let mut carries = Vec::new();
        for effect in &path.commit {
            let scene = reading.scene(lets, params);
            match effect {
                Effect::SetLens { object, cell, value } => {
                    if let LensValue::Term(term) = value {
                        self.carries(term, &scene, &mut carries)?;
                    }
                    let held = self.lens_value(value, &scene)?;
                    after.get_mut(object.index()).ok_or("a record that is not there")?.1.insert(*cell, held);
                }
                Effect::Set { object, class, cell, value } => {
                    self.carries(value, &scene, &mut carries)?;
                    let value = self.source_term(value, &scene)?;
                    let object = reading.objects.get(object.index()).and_then(|classes| classes.get(class)).copied();
                    set.push((object.ok_or("an object that is not there")?, *cell, value));
                }
                Effect::Count { object, class, cell, amount } => {
                    self.carries(amount, &scene, &mut carries)?;
                    let amount = self.source_term(amount, &scene)?;
                    let amount = self.terms.resize(amount, 64);
                    let object = reading.objects.get(object.index()).and_then(|classes| classes.get(class)).copied();
                    let key = (object.ok_or("an object that is not there")?, *cell);
                    let sum = match counted.get(&key) {
                        Some(before) => self.terms.binary(Operator::Add, *before, amount),
                        None => amount,
                    };
                    counted.insert(key, sum);
                }
                Effect::Drop { reason, .. } | Effect::Consume { reason, .. } => dropped.push(*reason),
                _ => return Err("an effect that is not read symbolically".into()),
            }
        }
        let mut outs = Vec::new();
        for out in &path.outs {
            let scene = reading.scene(lets, params);
            let mut args = Vec::new();
            for arg in &out.args {
                args.push(match arg {
                    PathArg::Term(term) => Value::Bits(self.source_term(term, &scene)?),
                    PathArg::Object(object, class) => {
                        let object = reading.objects.get(object.index()).and_then(|classes| classes.get(class));
                        Value::Object(*object.ok_or("an object that is not there")?)
                    }
                    PathArg::Message(message) => Value::Message(Box::new(self.path_message(message, &scene)?)),
                });
            }
            outs.push(Out { port: out.port, event: out.event, args });
        }
        reading.after = after;
        reading.set = set;
        reading.dropped = dropped;
        reading.counted = counted;
        reading.taken = uses::new_buffers(path);
        reading.outs = outs;
        reading.carries.append(&mut carries);
        Ok(())
    }

    fn path_message(&mut self, source: &MessageTerm, scene: &Scene<'_>) -> Result<Message, String> {
        let mut message = self.assemble(&source.octets, scene)?;
        for (header, variant, fields) in source.headers.iter().rev() {
            let fields = fields.iter().map(|field| self.source_term(field, scene).map(Value::Bits));
            message.headers.push((*header, *variant, fields.collect::<Result<Vec<_>, _>>()?));
        }
        Ok(message)
    }
}

impl PathReading {
    fn scene<'s>(&'s self, lets: &'s [Term], params: &'s [Value]) -> Scene<'s> {
        Scene { records: &self.before, objects: &self.objects, lets, params, it: None, known: &self.guard }
    }
}
