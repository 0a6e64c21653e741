//! Where variables are declared: with their definition if all uses follow it in its block, else at the first use within
//! the innermost block around all uses.
//!
//! Requires of the tree: a variable is set before it is read, on every way. Keeps: values.

use rustc_hash::FxHashMap as HashMap;

use super::{Expr, Lines, Local, Routine, Stmt};

/// A block within a function: the statement and the number of its inner block, from the outside in.
type Path = Vec<(usize, usize)>;

/// Where a variable is used.
struct Mentions {
    /// The innermost block around all uses.
    around: Path,
    /// The block of the first use, and its statement there.
    first: (Path, usize),
}

pub(super) fn declare(function: &mut Routine) {
    let mut found = Search { path: Path::new(), mentions: HashMap::default() };
    found.block(&function.body);
    let mut declared: HashMap<Path, Vec<(usize, Local)>> = HashMap::default();
    for (local, mentions) in found.mentions {
        if !function.locals[local.0].is_parameter {
            let depth = mentions.around.len();
            let (path, statement) = mentions.first;
            let place = path.get(depth).map_or(statement, |(place, _)| *place);
            declared.entry(mentions.around).or_default().push((place, local));
        }
    }
    declared.values_mut().for_each(|list| list.sort_by_key(|(place, local)| (*place, local.0)));
    place(&mut function.body, &mut Path::new(), &declared);
}

struct Search {
    path: Path,
    mentions: HashMap<Local, Mentions>,
}

impl Search {
    fn block(&mut self, block: &Lines) {
        for (place, statement) in block.iter().enumerate() {
            if let Stmt::Let(local, _) | Stmt::Declare(local) | Stmt::Octets(local, _) = statement {
                self.note(*local, place);
            }
            for head in statement.heads() {
                head.each(&mut |part| {
                    if let Expr::Local(local) = part {
                        self.note(*local, place);
                    }
                });
            }
            for (number, inner) in statement.blocks().enumerate() {
                self.path.push((place, number));
                self.block(inner);
                self.path.pop();
            }
        }
    }

    fn note(&mut self, local: Local, place: usize) {
        let path = &self.path;
        let mentions = self
            .mentions
            .entry(local)
            .or_insert_with(|| Mentions { around: path.clone(), first: (path.clone(), place) });
        let common = mentions.around.iter().zip(path).take_while(|(a, b)| a == b).count();
        mentions.around.truncate(common);
    }
}

/// Inserts the declarations, and turns definitions that do not declare into assignments.
fn place(block: &mut Lines, path: &mut Path, declared: &HashMap<Path, Vec<(usize, Local)>>) {
    let here = declared.get(path).map_or(&[][..], |list| &list[..]);
    let mut placed = Lines::with_capacity(block.len());
    for (number, mut statement) in block.drain(..).enumerate() {
        for (part, inner) in statement.blocks_mut().enumerate() {
            path.push((number, part));
            place(inner, path, declared);
            path.pop();
        }
        let mut own = None;
        for (_, local) in here.iter().filter(|(at, _)| *at == number) {
            match defines(&statement) == Some(*local) {
                true => own = Some(*local),
                false => placed.push(Stmt::Declare(*local)),
            }
        }
        match (statement, own) {
            (Stmt::Declare(local), own) if own != Some(local) => {}
            (Stmt::Set(Expr::Local(local), None, value), Some(_)) => placed.push(Stmt::Let(local, value)),
            (Stmt::Let(local, value), None) => placed.push(Stmt::Set(Expr::Local(local), None, value)),
            (statement, _) => placed.push(statement),
        }
    }
    *block = placed;
}

/// The variable that a statement could declare, since it has no other use of it.
fn defines(statement: &Stmt) -> Option<Local> {
    match statement {
        Stmt::Let(local, _) | Stmt::Declare(local) | Stmt::Octets(local, _) => Some(*local),
        Stmt::Set(Expr::Local(local), None, value) => {
            let mut speaks = false;
            value.each(&mut |part| speaks |= *part == Expr::Local(*local));
            (!speaks).then_some(*local)
        }
        Stmt::Set(..)
        | Stmt::Do(_)
        | Stmt::If { .. }
        | Stmt::While { .. }
        | Stmt::Switch { .. }
        | Stmt::Label(_)
        | Stmt::Goto(_)
        | Stmt::Return(_)
        | Stmt::Unused(_) => None,
    }
}
