//! Blocks and statements.

use super::{
    child, children, choice, expr_after, has_word, node, AstNode, BinaryOp, Expr, FromClause, If, LimitClause, Match,
    Name, Path, ToClause,
};
use crate::kinds::SyntaxKind;

choice! {
    /// A statement. `if` and `match` are statements and expressions; the last one of a block may be its value.
    Stmt {
        Let(LetStmt), Assign(AssignStmt), Expr(ExprStmt), If(If), Match(Match), While(WhileStmt), For(ForStmt),
        Return(ReturnStmt), Pass(PassStmt), Drop(DropStmt), Consume(ConsumeStmt), Fail(FailStmt), Accept(AcceptStmt),
        Take(TakeStmt), Give(GiveStmt), Count(CountStmt), Start(StartStmt), Stop(StopStmt), Remove(RemoveStmt),
        End(EndStmt), Again(AgainStmt), Later(LaterStmt), Renew(RenewStmt),
    }
}

choice! {
    /// What a `let`, a `for` or an `if let` binds.
    BindPattern { Name(NamePattern), Tuple(TuplePattern) }
}

node! {
    /// `{ … }`
    Block = BLOCK;
    /// `let x = e`, `let (a, b) = e`, with `or { … }` or `or new { … }` behind
    LetStmt = LET_STMT;
    /// `x`
    NamePattern = NAME_PATTERN;
    /// `(a, b)`
    TuplePattern = TUPLE_PATTERN;
    /// `x = e`, `x += e`, `m[k] = e or { … }`
    AssignStmt = ASSIGN_STMT;
    /// A call with its `to` and `from`, or a value at the end of a block.
    ExprStmt = EXPR_STMT;
    /// `while c limit 8 { … }`
    WhileStmt = WHILE_STMT;
    /// `for i in a .. b limit 16 { … }`
    ForStmt = FOR_STMT;
    /// `return`, `return e`
    ReturnStmt = RETURN_STMT;
    /// `pass`
    PassStmt = PASS_STMT;
    /// `drop msg: reason`
    DropStmt = DROP_STMT;
    /// `consume msg: reason`
    ConsumeStmt = CONSUME_STMT;
    /// `fail: reason`
    FailStmt = FAIL_STMT;
    /// `accept msg`
    AcceptStmt = ACCEPT_STMT;
    /// `take kept 3 or { … }`
    TakeStmt = TAKE_STMT;
    /// `give kept`
    GiveStmt = GIVE_STMT;
    /// `count hits 3`
    CountStmt = COUNT_STMT;
    /// `start t after 20 ms`, `start t at instant`
    StartStmt = START_STMT;
    /// `stop t`
    StopStmt = STOP_STMT;
    /// `remove m[k]`
    RemoveStmt = REMOVE_STMT;
    /// `end e`
    EndStmt = END_STMT;
    /// `again`
    AgainStmt = AGAIN_STMT;
    /// `renew view`
    RenewStmt = RENEW_STMT;
    /// `later name(…) or { … }`
    LaterStmt = LATER_STMT;
    /// `or { … }`, `or new { … }`
    OrClause = OR_CLAUSE;
}

impl Block {
    /// The statements, in order.
    pub fn statements(&self) -> Vec<Stmt> {
        children(&self.0)
    }
}

impl OrClause {
    /// `or new`
    pub fn is_new(&self) -> bool {
        has_word(&self.0, "new")
    }
    /// The alternative block.
    pub fn block(&self) -> Option<Block> {
        child(&self.0)
    }
}

impl LetStmt {
    /// What it binds.
    pub fn pattern(&self) -> Option<BindPattern> {
        child(&self.0)
    }
    /// Behind the colon, if it is written.
    pub fn ty(&self) -> Option<super::Type> {
        child(&self.0)
    }
    /// The value behind the `=`.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// What happens if there is no value.
    pub fn or(&self) -> Option<OrClause> {
        child(&self.0)
    }
}

impl NamePattern {
    /// What it binds.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
}

impl TuplePattern {
    /// The names, in order.
    pub fn names(&self) -> Vec<Name> {
        children(&self.0)
    }
}

impl BindPattern {
    /// The bound names in order; one for a plain name.
    pub fn names(&self) -> Vec<Name> {
        children(self.syntax())
    }
}

impl AssignStmt {
    /// The operator of `x += e`; `None` for a plain `=`.
    pub fn binary_op(&self) -> Option<BinaryOp> {
        self.op().filter(|op| op != "=").and_then(|op| BinaryOp::from_text(&op))
    }
    /// The assigned place.
    pub fn target(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// `=`, `+=`, …
    pub fn op(&self) -> Option<String> {
        self.0
            .children_with_tokens()
            .filter_map(|element| element.into_token())
            .find(|token| matches!(token.kind(), SyntaxKind::EQ | SyntaxKind::OP_EQ))
            .map(|token| token.text().to_string())
    }
    /// The assigned value.
    pub fn value(&self) -> Option<Expr> {
        expr_after(&self.0, &self.op()?)
    }
    /// What happens if there is no room.
    pub fn or(&self) -> Option<OrClause> {
        child(&self.0)
    }
}

impl ExprStmt {
    /// The call or the value.
    pub fn expr(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The flow behind `to`.
    pub fn to(&self) -> Option<Expr> {
        child::<ToClause>(&self.0).and_then(|clause| clause.value())
    }
    /// The flow behind `from`.
    pub fn from(&self) -> Option<Expr> {
        child::<FromClause>(&self.0).and_then(|clause| clause.value())
    }
    /// What happens if the call is refused.
    pub fn or(&self) -> Option<OrClause> {
        child(&self.0)
    }
}

impl WhileStmt {
    /// The condition of `while c`; `while let` has a [`super::LetCondition`] instead.
    pub fn condition(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The lookup of a `while let`.
    pub fn let_condition(&self) -> Option<super::LetCondition> {
        child(&self.0)
    }
    /// The most iterations.
    pub fn limit(&self) -> Option<Expr> {
        child::<LimitClause>(&self.0).and_then(|clause| clause.value())
    }
    /// The body of the loop.
    pub fn body(&self) -> Option<Block> {
        child(&self.0)
    }
}

impl ForStmt {
    /// What each iteration binds.
    pub fn pattern(&self) -> Option<BindPattern> {
        child(&self.0)
    }
    /// What it iterates over: a range (`Expr::Range`), an object's name, …
    pub fn iterable(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The most iterations.
    pub fn limit(&self) -> Option<Expr> {
        child::<LimitClause>(&self.0).and_then(|clause| clause.value())
    }
    /// The body of the loop.
    pub fn body(&self) -> Option<Block> {
        child(&self.0)
    }
}

macro_rules! one_value {
    ($($node:ident),*) => {$(
        impl $node {
            /// The value behind the word.
            pub fn value(&self) -> Option<Expr> {
                child(&self.0)
            }
        }
    )*};
}
one_value!(ReturnStmt, AcceptStmt, StopStmt, RemoveStmt, EndStmt);

impl DropStmt {
    /// The message.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The reason of the drop.
    pub fn reason(&self) -> Option<Path> {
        child(&self.0)
    }
}

impl ConsumeStmt {
    /// The message.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The reason of the consumption.
    pub fn reason(&self) -> Option<Path> {
        child(&self.0)
    }
}

impl FailStmt {
    /// The reason.
    pub fn reason(&self) -> Option<Path> {
        child(&self.0)
    }
}

macro_rules! quantity {
    ($($node:ident),*) => {$(
        impl $node {
            /// The quota or counter.
            pub fn target(&self) -> Option<Expr> {
                child(&self.0)
            }
            /// The amount; one if absent.
            pub fn amount(&self) -> Option<Expr> {
                children::<Expr>(&self.0).into_iter().nth(1)
            }
            /// What happens if there is not enough.
            pub fn or(&self) -> Option<OrClause> {
                child(&self.0)
            }
        }
    )*};
}
quantity!(TakeStmt, GiveStmt, CountStmt);

impl StartStmt {
    /// The timer.
    pub fn timer(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The duration of `start t after 20 ms`.
    pub fn after(&self) -> Option<Expr> {
        expr_after(&self.0, "after")
    }
    /// The instant of `start t at e`.
    pub fn at(&self) -> Option<Expr> {
        expr_after(&self.0, "at")
    }
}

impl LaterStmt {
    /// The layer's own handler.
    pub fn event(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The arguments, in order.
    pub fn args(&self) -> Vec<super::Arg> {
        child::<super::ArgList>(&self.0).map_or(Vec::new(), |list| list.args())
    }
    /// What happens if there is no room.
    pub fn or(&self) -> Option<OrClause> {
        child(&self.0)
    }
}
