//! Constructors of cells: for a scalar, for a flow, for a map to objects.

use std::rc::Rc;

use mokume_reaction as r;

use super::{Info, Lowering};
use crate::plan::Component;

impl<'p> Lowering<'p> {
    /// Changes the information about an instance.
    pub fn change(&mut self, inst: usize, f: impl FnOnce(&mut Info)) {
        f(Rc::make_mut(&mut self.infos[inst]));
    }

    /// A new cell of a class. If the name is taken, it gets a `_` appended.
    pub fn cell(
        &mut self,
        class: r::ClassId,
        name: &str,
        kind: r::CellKind,
        fixed: bool,
        source: Option<r::SourceId>,
    ) -> r::CellId {
        let cells = &mut self.a.classes[class.index()].cells;
        let taken = |name: &str| cells.iter().any(|cell| cell.name == name);
        let mut unique = name.to_owned();
        while taken(&unique) {
            unique.push('_');
        }
        cells.push(r::Cell { name: unique, kind, fixed, source });
        r::CellId::from(cells.len() - 1)
    }

    /// A cell of one scalar, initially zero; `fixed`: it is written once.
    pub(super) fn scalar_cell(&mut self, class: r::ClassId, name: &str, ty: r::Type, fixed: bool) -> r::CellId {
        self.cell(class, name, r::CellKind::Scalar { ty, init: 0 }, fixed, None)
    }

    /// A cell for each component of a flow.
    pub(super) fn flow_cells(&mut self, class: r::ClassId, flow: &[Component]) -> Vec<r::CellId> {
        self.cells_of_flow(class, flow, true)
    }

    /// The same for a flow that may be learnt later, unless it is `fixed`.
    pub(super) fn cells_of_flow(&mut self, class: r::ClassId, flow: &[Component], fixed: bool) -> Vec<r::CellId> {
        let params = self.flow_params(flow);
        params.into_iter().map(|(name, ty)| self.scalar_cell(class, &format!("flow_{name}"), ty, fixed)).collect()
    }

    /// A map from keys to objects; a single reference if nothing tells the objects apart.
    pub(super) fn map_to(
        &mut self,
        entity: r::ClassId,
        name: &str,
        key: Vec<(String, r::Type)>,
        class: r::ClassId,
        capacity: u32,
    ) -> r::CellId {
        let value = r::Type::Ref(class);
        let kind = match key.is_empty() {
            true => r::CellKind::Scalar { ty: value, init: 0 },
            false => r::CellKind::Map { key: r::types(&key), value: vec![value], capacity, by: Vec::new() },
        };
        self.cell(entity, name, kind, false, None)
    }

    /// Makes a map find objects by these cells, if they are its key: fixed, and of its types.
    pub(super) fn index_by(&mut self, owner: r::ClassId, map: r::CellId, cells: &[r::CellId]) {
        let found = self.a.cell(owner, map);
        let r::CellKind::Map { key, value, .. } = &found.kind else { return };
        let [r::Type::Ref(of)] = value[..] else { return };
        let is_key = |(cell, ty): (&r::CellId, &r::Type)| {
            let cell = self.a.cell(of, *cell);
            cell.fixed && matches!(cell.kind, r::CellKind::Scalar { ty: own, .. } if own == *ty)
        };
        let same = cells.len() == key.len() && cells.iter().zip(key).all(is_key);
        if !same || !self.a.is_unique(owner) {
            return;
        }
        if let r::CellKind::Map { by, .. } = &mut self.a.classes[owner.index()].cells[map.index()].kind {
            *by = cells.to_vec();
        }
    }

    /// The stack's parameter of this name, if it was declared.
    pub fn param(&self, name: &str) -> Option<r::ParamId> {
        self.a.params.iter().position(|param| param.name == name).map(r::ParamId::from)
    }
}

/// Scalars with the names that they have within the stack.
pub fn plain(params: Vec<(String, r::Type)>) -> Vec<(String, r::Type)> {
    params.into_iter().map(|(name, ty)| (joined("", &name), ty)).collect()
}

/// The name of a scalar: the value's name, then its own.
pub fn joined(name: &str, rest: &str) -> String {
    format!("{name}{}", rest.replace('.', "_"))
}
