//! The effects of expressions and statements, and how often variables are used.

use super::visit::each_statement;
use super::{Effect, Expr, Lines, Local, Routine, Stmt};

/// By variable: how often it is read, and how often it is set.
pub(super) struct Uses {
    reads: Vec<u32>,
    definitions: Vec<u32>,
    /// Variables whose memory may change through their address.
    memory: Vec<bool>,
}

fn is_struct(ty: &str) -> bool {
    ty.starts_with("struct ") && !ty.ends_with('*')
}

impl Uses {
    /// The uses of variables in a function.
    pub fn of(function: &Routine) -> Uses {
        let count = function.locals.len();
        // Single items of an array may change.
        let is_array = |local: &super::Variable| local.array.is_some() || is_struct(&local.ty);
        let memory = function.locals.iter().map(is_array).collect();
        // A parameter has a value from the start.
        let definitions = function.locals.iter().map(|local| u32::from(local.is_parameter)).collect();
        let mut uses = Uses { reads: vec![0; count], definitions, memory };
        each_statement(&function.body, &mut |statement| {
            match statement {
                Stmt::Let(local, _) => uses.definitions[local.0] += 1,
                // A declaration without a value: the value comes another way.
                Stmt::Declare(local) => uses.definitions[local.0] += 2,
                Stmt::Set(Expr::Local(local), _, _) => {
                    uses.definitions[local.0] += 2;
                    // It is among the statement's heads, but is not read.
                    uses.reads[local.0] = uses.reads[local.0].wrapping_sub(1);
                }
                _ => {}
            }
            statement.heads().for_each(|head| uses.count(head));
        });
        uses
    }

    fn count(&mut self, head: &Expr) {
        head.each(&mut |part| match part {
            Expr::Local(local) => self.reads[local.0] = self.reads[local.0].wrapping_add(1),
            Expr::Unary(super::Unary::AddressOf, inner) => {
                if let Expr::Local(local) = **inner {
                    self.memory[local.0] = true;
                }
            }
            _ => {}
        });
    }

    /// Accounts for the removal of one of two assignments of a variable; returns whether the other one now defines it.
    pub fn forget_set(&mut self, local: Local) -> bool {
        self.definitions[local.0] -= 2;
        let alone = self.definitions[local.0] == 2 && !self.memory[local.0];
        if alone {
            self.definitions[local.0] = 1;
        }
        alone
    }

    /// Accounts for the removal of the expression.
    pub fn forget(&mut self, expr: &Expr) {
        expr.each(&mut |part| {
            if let Expr::Local(local) = part {
                self.reads[local.0] = self.reads[local.0].wrapping_sub(1);
            }
        });
    }

    /// How often a variable is read.
    pub fn reads(&self, local: Local) -> u32 {
        self.reads[local.0]
    }

    /// Whether its value is never read, and its address not taken.
    pub fn is_never_read(&self, local: Local) -> bool {
        self.reads[local.0] == 0 && !self.memory[local.0]
    }

    /// Whether it keeps the value of its definition.
    pub fn is_set_once(&self, local: Local) -> bool {
        self.definitions[local.0] <= 1 && !self.memory[local.0]
    }

    /// What evaluating the expression may do.
    pub fn effect(&self, expr: &Expr) -> Effect {
        let own = match expr {
            Expr::Local(local) if !self.is_set_once(*local) => Effect::Reads,
            Expr::Call { effect, .. } => *effect,
            Expr::Member(..) | Expr::Arrow(..) | Expr::Index(..) | Expr::Unary(super::Unary::Deref, _) => Effect::Reads,
            // The address of a place is known without reading it.
            Expr::Unary(super::Unary::AddressOf, place) => return self.effect_of_place(place),
            _ => Effect::Pure,
        };
        expr.parts().map(|part| self.effect(part)).fold(own, Effect::max)
    }

    /// The same for finding a place that is written to.
    pub fn effect_of_place(&self, place: &Expr) -> Effect {
        match place {
            Expr::Local(_) | Expr::Name(_) => Effect::Pure,
            Expr::Member(inner, _) => self.effect_of_place(inner),
            Expr::Index(inner, index) => self.effect_of_place(inner).max(self.effect(index)),
            Expr::Arrow(inner, _) => self.effect(inner),
            other => self.effect(other),
        }
    }

    /// What a statement may do, including its blocks.
    pub fn effect_of(&self, statement: &Stmt) -> Effect {
        let own = match statement {
            Stmt::Set(..) => Effect::Acts,
            _ => Effect::Pure,
        };
        let heads = statement.heads().map(|head| self.effect(head));
        let inner = statement.blocks().map(|block| self.effect_of_block(block));
        heads.chain(inner).fold(own, Effect::max)
    }

    fn effect_of_block(&self, block: &Lines) -> Effect {
        block.iter().map(|statement| self.effect_of(statement)).fold(Effect::Pure, Effect::max)
    }
}
