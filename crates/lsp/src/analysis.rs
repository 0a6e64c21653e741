//! What is known of one document: all that `mokume check` knows of its file.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use mokume_base::world::World;
use mokume_base::{Diagnostic, FileId};
use mokume_driver::check::{self, Kept};
use mokume_driver::compile::{self, Checked};
use mokume_driver::Failure;
use mokume_syntax::SyntaxNode;

use crate::overlay::Overlay;

/// A document, checked with all that it uses.
pub struct Analysis {
    pub checked: Checked,
    /// Its project's manifest is wrong: it is checked as if there were none.
    pub failure: Option<Failure>,
    /// Once somebody has asked for them.
    diagnostics: OnceCell<Vec<Diagnostic>>,
    /// What its stacks were as wholes in the text before.
    kept: Rc<RefCell<Kept>>,
    /// Of files that were asked for.
    trees: RefCell<BTreeMap<FileId, SyntaxNode>>,
}

impl Analysis {
    /// Checks a document, as it is in the overlay. `kept` is the document's own.
    pub fn of(world: &Overlay<'_>, name: &str, kept: Rc<RefCell<Kept>>) -> Analysis {
        let (checked, failure) = match compile::check(world, &[name.to_string()]) {
            Ok(checked) => (checked, None),
            Err(failure) => {
                let text = world.read_text(name).unwrap_or_default();
                (compile::check_texts(world, vec![(name.to_string(), text)], Vec::new()), Some(failure))
            }
        };
        Analysis { failure, kept, ..Analysis::of_checked(checked) }
    }

    /// Several files of one project at once, for what their names stand for: nothing is said of what is wrong.
    pub fn of_files(world: &Overlay<'_>, names: &[String]) -> Analysis {
        let checked = compile::check(world, names).unwrap_or_else(|_| {
            let texts = names.iter().map(|name| (name.clone(), world.read_text(name).unwrap_or_default()));
            compile::check_texts(world, texts.collect(), Vec::new())
        });
        Analysis::of_checked(checked)
    }

    /// A file of the library that the program carries, with its module.
    pub fn of_library(world: &Overlay<'_>, module: &str) -> Analysis {
        let checked = compile::check_texts(world, vec![(String::new(), format!("use {module}\n"))], Vec::new());
        Analysis::of_checked(checked)
    }

    fn of_checked(checked: Checked) -> Analysis {
        Analysis {
            checked,
            failure: None,
            diagnostics: OnceCell::new(),
            kept: Rc::default(),
            trees: RefCell::default(),
        }
    }

    /// All that is wrong, by place; with what is wrong with stacks, tests and networks as wholes, which takes longer than what names mean:
    /// nobody who asks for those waits for it.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.diagnostics.get_or_init(|| check::without_c_again(&self.checked, &mut self.kept.borrow_mut()))
    }

    /// What is known by now to be wrong: of stacks as wholes only once somebody has waited for that.
    pub fn diagnostics_so_far(&self) -> &[Diagnostic] {
        self.diagnostics.get().unwrap_or(&self.checked.diagnostics)
    }

    /// The tree of a file.
    pub fn tree(&self, file: FileId) -> SyntaxNode {
        let parse = || mokume_syntax::parse(file, &self.checked.sources.file(file).text).syntax();
        self.trees.borrow_mut().entry(file).or_insert_with(parse).clone()
    }

    /// The file of a name.
    pub fn file(&self, name: &str) -> Option<FileId> {
        self.checked.sources.files().find(|(_, file)| file.name == name).map(|(id, _)| id)
    }

    /// Whether its diagnostics may be others once this document has another text.
    pub fn depends_on(&self, name: &str) -> bool {
        let unknown = mokume_semantics::codes::UNKNOWN_MODULE;
        self.file(name).is_some() || self.checked.diagnostics.iter().any(|found| found.code == unknown)
    }
}
