//! The life of objects: they are made if their class has room, released with the objects in them, and freed after the
//! reaction (docs/semantics.md, L).

use mokume_reaction::{CellKind, ClassId, Type};

use crate::host::{Content, Object, ENDED, NULL};
use crate::react::Reaction;

impl Reaction<'_> {
    /// Makes an object; `NULL` if there is no room, or if its parent has ended.
    pub fn make_object(&mut self, class: ClassId, parent: Option<(ClassId, u64)>) -> u64 {
        let info = &self.program.classes[class.index()];
        let alive = parent.is_none_or(|(class, object)| self.is_living(class, object));
        if !alive || self.host.objects[class.index()].len() >= info.capacity {
            return NULL;
        }
        let object = Object::new(self.program, &info.cells, parent.map_or(0, |(_, place)| place));
        self.host.objects[class.index()].push(object);
        self.host.objects[class.index()].len() as u64 - 1
    }

    /// Ends an object and the objects in it. The messages they hold are dropped, and return to their quotas.
    pub fn release(&mut self, class: ClassId, object: u64) {
        let info = &self.program.classes[class.index()];
        if !self.is_living(class, object) || info.is_unique {
            return;
        }
        self.host.objects[class.index()][object as usize].has_ended = true;
        self.clear(class, object);
        for child in info.children.clone() {
            for place in 0..self.host.objects[child.index()].len() {
                if self.host.objects[child.index()][place].parent == object {
                    self.release(child, place as u64);
                }
            }
        }
    }

    fn clear(&mut self, class: ClassId, object: u64) {
        for cell in 0..self.program.classes[class.index()].cells.len() {
            let content = &mut self.host.objects[class.index()][object as usize].cells[cell];
            match (content, &self.program.classes[class.index()].cells[cell]) {
                (Content::Timer(armed), _) => *armed = false,
                (Content::Messages(places), CellKind::Messages { quota, .. }) => {
                    let held = places.iter_mut().filter_map(Option::take).count();
                    if let Some((owner, quota)) = quota {
                        self.give_back(class, object, *owner, quota.index(), held as u32);
                    }
                }
                _ => {}
            }
        }
    }

    fn give_back(&mut self, mut class: ClassId, mut object: u64, owner: ClassId, cell: usize, units: u32) {
        while class != owner {
            let parent = self.object(class, object).map(|object| object.parent);
            let (Some(up), Some(parent)) = (self.program.automaton.class(class).parent, parent) else { return };
            (class, object) = (up, parent);
        }
        let Some(CellKind::Quota { amount }) = self.program.classes[class.index()].cells.get(cell).cloned() else {
            return;
        };
        if let Some(Content::Quota(left)) = self.object_mut(class, object).map(|object| &mut object.cells[cell]) {
            *left = (*left + units).min(amount);
        }
    }

    /// Removes ended objects; the others move up, and every reference is adjusted.
    pub fn free_ended(&mut self) {
        let mut moves: Vec<Vec<u64>> = Vec::new();
        let mut any = false;
        for class in 0..self.host.objects.len() {
            for place in 0..self.host.objects[class].len() {
                if self.host.objects[class][place].has_ended {
                    self.clear(ClassId::from(class), place as u64);
                    any = true;
                }
            }
            let mut next = 0;
            let to = |object: &Object| {
                next += u64::from(!object.has_ended);
                if object.has_ended {
                    ENDED
                } else {
                    next - 1
                }
            };
            moves.push(self.host.objects[class].iter().map(to).collect());
        }
        if any {
            self.move_references(&moves);
            self.host.objects.iter_mut().for_each(|objects| objects.retain(|object| !object.has_ended));
        }
    }

    fn move_references(&mut self, moves: &[Vec<u64>]) {
        let program = self.program;
        let moved = |class: ClassId, object: u64| {
            moves[class.index()].get(usize::try_from(object).unwrap_or(usize::MAX)).copied().unwrap_or(object)
        };
        let renew = |ty: Type, word: &mut u64| {
            if let Type::Ref(class) = ty {
                *word = moved(class, *word);
            }
        };
        for (class, objects) in self.host.objects.iter_mut().enumerate() {
            let parent = program.automaton.classes[class].parent;
            for object in objects {
                if let Some(parent) = parent {
                    object.parent = moved(parent, object.parent);
                }
                for (content, kind) in object.cells.iter_mut().zip(&program.classes[class].cells) {
                    renew_cell(content, kind, &renew);
                }
            }
        }
        if let Some((class, object)) = &mut self.host.application.handle {
            *object = moved(*class, *object);
        }
        for (handler, target, args) in &mut self.later {
            let handler = program.automaton.handler(*handler);
            *target = moved(handler.class, *target);
            handler.params.iter().zip(args).for_each(|((_, ty), word)| renew(*ty, word));
        }
        for (class, place) in &mut self.unsettled {
            *place = usize::try_from(moved(*class, *place as u64)).unwrap_or(usize::MAX);
        }
    }
}

fn renew_cell(content: &mut Content, kind: &CellKind, renew: &impl Fn(Type, &mut u64)) {
    match (content, kind) {
        (Content::Word(word), CellKind::Scalar { ty, .. }) => renew(*ty, word),
        (Content::Array(words), CellKind::Array { ty, .. }) => words.iter_mut().for_each(|word| renew(*ty, word)),
        (Content::Map(entries), CellKind::Map { key, value, .. }) => {
            *entries = std::mem::take(entries)
                .into_iter()
                .map(|(mut keys, mut values)| {
                    keys.iter_mut().zip(key).for_each(|(word, ty)| renew(*ty, word));
                    values.iter_mut().zip(value).for_each(|(word, ty)| renew(*ty, word));
                    (keys, values)
                })
                .collect();
        }
        _ => {}
    }
}
