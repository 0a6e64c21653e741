//! Level 2: fast paths, and the lenses that say what they mean (`docs/automaton.md`, "Paths").
//!
//! A path is `pure steps; one parallel commit; outs`: all reads come before the commit, so nothing can have happened
//! before an exit, by form. A path that exits has done nothing; the event then takes the layered way, from its start.
//! Terms are bit-vectors of 1 to 64 bits and total: C and SMT translate them one to one.

use crate::{
    CellId, ClassId, Endian, FunctionId, HeaderId, LensCellId, LensId, LetId, ParamId, PathObjectId, PortId, ReasonId,
    VariantId,
};

/// The certificate: how the cells of some classes, merged into one record, are read from and written to that record.
///
/// One record stands for one object of each of `classes` (1:1 linked). In the lens's own terms, object 0 is the record
/// at hand and object 1 the record of `around`. A layered cell without a view is stored as itself.
///
/// What must hold for every layered state and every `it`: `get` of a cell that was put is `it`; the `get`s of all other
/// cells are unchanged; the invariants are kept. `refresh` changes no `get` and keeps the invariants.
#[derive(Clone, PartialEq, Debug)]
pub struct Lens {
    pub name: String,
    pub classes: Vec<ClassId>,
    /// The lens of the parent's classes: state shared by all records in one of its records.
    pub around: Option<LensId>,
    pub cells: Vec<LensCell>,
    pub views: Vec<View>,
    /// Conditions, each true between reactions.
    pub invariants: Vec<Term>,
    /// A parallel assignment; empty if there is nothing to refresh.
    pub refresh: Vec<LensUpdate>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct LensCell {
    pub name: String,
    /// Hot cells share the first cache lines of the record.
    pub heat: Heat,
    pub kind: LensCellKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Heat {
    Hot,
    Cold,
}

/// The initial value of a new record, before its layered cells' initial values are put.
#[derive(Clone, PartialEq, Debug)]
pub enum LensCellKind {
    Scalar {
        width: u8,
        init: u64,
    },
    /// Octets that are the same in many packets. Invariants speak of them by sums of two: `sum16(template[2, 2]) == 0`.
    Template {
        init: Vec<u8>,
    },
}

/// How one layered scalar cell is read and written.
#[derive(Clone, PartialEq, Debug)]
pub struct View {
    pub class: ClassId,
    pub cell: CellId,
    pub get: Term,
    /// A parallel assignment; [`Term::It`] is the value put.
    pub put: Vec<LensUpdate>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct LensUpdate {
    pub cell: LensCellId,
    pub value: LensValue,
}

#[derive(Clone, PartialEq, Debug)]
pub enum LensValue {
    Term(Term),
    /// Of exactly the template's size; no piece is of a message.
    Octets(Vec<Piece>),
}

/// One fused reaction to one port event. Its exits lead to the layered reaction to the same event.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    pub name: String,
    pub port: PortId,
    /// The index in [`crate::Port::inputs`]; parameters are that input's.
    pub event: u32,
    pub steps: Vec<Step>,
    /// Carried out at once: all terms see the state before it. No cell is named twice.
    pub commit: Vec<Effect>,
    /// In order.
    pub outs: Vec<PathOut>,
}

/// Objects and names are numbered by their steps, in order, each from 0.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// The record of an object; the path exits if there is none.
    Object {
        name: String,
        lens: LensId,
        from: ObjectSource,
    },
    Let {
        name: String,
        width: u8,
        term: Term,
    },
    /// Exits unless the condition holds. With `refresh`: that record is refreshed first and the condition asked once more.
    Guard {
        condition: Term,
        refresh: Option<PathObjectId>,
    },
}

/// Where a record comes from. It must be of a class of the lens; a null or ended object is an exit.
#[derive(Clone, PartialEq, Debug)]
pub enum ObjectSource {
    /// A parameter of the event, by index.
    Param(u32),
    /// The one object of a unique class.
    Unique(ClassId),
    /// The parent of another record's object of this class.
    Parent(PathObjectId, ClassId),
    /// What a `Ref` cell of another record refers to.
    Cell(PathObjectId, ClassId, CellId),
    /// What a map has at a key, as the value of this index; exits when it has none.
    Find { object: PathObjectId, class: ClassId, cell: CellId, key: Vec<Term>, value: u32 },
}

/// A total function of the state and the event. A condition is a term of width 1.
#[derive(Clone, PartialEq, Debug)]
pub enum Term {
    Number {
        width: u8,
        value: u64,
    },
    Let(LetId),
    /// A scalar parameter of the event, by index.
    Param(u32),
    /// The value that is put; only in [`View::put`].
    It {
        width: u8,
    },
    /// A scalar cell of a record.
    Lens {
        object: PathObjectId,
        cell: LensCellId,
    },
    /// A layered scalar cell: its view's `get` if it has one, else the cell as it is stored.
    Cell {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
    },
    /// An array's element; 0 beyond the array.
    CellAt {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
        index: Box<Term>,
    },
    /// Whether a `Ref` cell refers to nothing.
    IsNull {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
    },
    /// Whether a timer is armed.
    Armed {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
    },
    /// What is left of a quota, width 32.
    Left {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
    },
    /// Whether a place of a message cell holds a message.
    Holds {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
        index: Box<Term>,
    },
    StackParam(ParamId),
    /// Width 64.
    Now,
    /// Octets of a message parameter, width 32.
    Size {
        message: u32,
    },
    /// A field of 8, 16, 24, 32, 48 or 64 bits of a message parameter at an octet (width 32); 0 if any of it is beyond the end.
    Load {
        message: u32,
        at: Box<Term>,
        width: u8,
        endian: Endian,
    },
    /// Whether the octets from `at`, masked, are `value`; false if any of them is beyond the end. `mask` and `value` are of one size.
    MaskedEqual {
        message: u32,
        at: u32,
        mask: Vec<u8>,
        value: Vec<u8>,
    },
    /// Sum of the octets as big-endian u16s (an odd last one padded), modulo 2^32: linear, width 32.
    Sum16(Vec<Piece>),
    /// 32 bits folded to 16 with end-around carry.
    Fold16(Box<Term>),
    /// Bitwise; on conditions, logical.
    Not(Box<Term>),
    Binary {
        op: TermOp,
        a: Box<Term>,
        b: Box<Term>,
    },
    /// Width 1.
    Compare {
        op: TermCompare,
        a: Box<Term>,
        b: Box<Term>,
    },
    If {
        condition: Box<Term>,
        then: Box<Term>,
        otherwise: Box<Term>,
    },
    /// The low bits, or filled up with zeros.
    Cast {
        width: u8,
        a: Box<Term>,
    },
    /// One result of a pure function: the same function as the layers call.
    Call {
        function: FunctionId,
        args: Vec<Term>,
        result: u32,
    },
}

/// Both operands and the result are of one width; all wrap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum TermOp {
    Add,
    Sub,
    Mul,
    /// As `Add` and `Sub`, and the judge shows that nothing is carried where it is reached: widths may then be changed freely.
    AddExact,
    SubExact,
    /// By zero: 0.
    Div,
    /// By zero: 0.
    Rem,
    And,
    Or,
    Xor,
    /// By the width or more: 0.
    Shl,
    Shr,
    Min,
    Max,
}

/// Unsigned, or circular (as [`crate::Type::Seq`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum TermCompare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    SeqLt,
    SeqLe,
    SeqGt,
    SeqGe,
}

/// A run of octets; octets of a message are shared, not copied, where the back end can.
#[derive(Clone, PartialEq, Debug)]
pub enum Piece {
    Octets(Vec<u8>),
    /// A part of a record's template.
    Template {
        object: PathObjectId,
        cell: LensCellId,
        from: u32,
        size: u32,
    },
    /// A number of whole octets.
    Field {
        value: Term,
        endian: Endian,
    },
    /// `size` octets of a message parameter from `from` (both of width 32), or all up to its end; cut at its end.
    Message {
        message: u32,
        from: Term,
        size: Option<Term>,
    },
}

/// A message made by a path: headers that are not encoded (outermost first), and octets.
#[derive(Clone, PartialEq, Debug)]
pub struct MessageTerm {
    pub headers: Vec<(HeaderId, VariantId, Vec<Term>)>,
    pub octets: Vec<Piece>,
}

/// What the commit does. Message parameters that are neither in an out nor kept are dropped or consumed here, by name.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    SetLens {
        object: PathObjectId,
        cell: LensCellId,
        value: LensValue,
    },
    /// A layered scalar cell without a view.
    Set {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
        value: Term,
    },
    SetAt {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
        index: Term,
        value: Term,
    },
    Arm {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
        deadline: Term,
    },
    Disarm {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
    },
    Count {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
        amount: Term,
    },
    /// A guard has made sure that so much is left.
    Take {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
        amount: Term,
    },
    Give {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
        amount: Term,
    },
    /// Into a place that a guard has found empty.
    Keep {
        object: PathObjectId,
        class: ClassId,
        cell: CellId,
        index: Term,
        message: MessageTerm,
    },
    /// A message parameter's end, as the layers count it.
    Drop {
        message: u32,
        reason: ReasonId,
    },
    Consume {
        message: u32,
        reason: ReasonId,
    },
}

/// An event that leaves by a port.
#[derive(Clone, PartialEq, Debug)]
pub struct PathOut {
    pub port: PortId,
    /// The index in [`crate::Port::outputs`].
    pub event: u32,
    pub args: Vec<PathArg>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum PathArg {
    Term(Term),
    /// The object of this class that the record stands for.
    Object(PathObjectId, ClassId),
    Message(MessageTerm),
}
