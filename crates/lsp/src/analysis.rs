//! The analysis of one document: all that `mokume check` finds out about its file.

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
use crate::shorthand::{self, Form};

/// A document, checked with all that it uses.
pub struct Analysis {
    pub checked: Checked,
    /// Why its project's manifest cannot be read. The document is then checked without one.
    pub failure: Option<Failure>,
    /// All diagnostics; computed at the first request.
    diagnostics: OnceCell<Vec<Diagnostic>>,
    /// The results for whole stacks, kept from the previous text.
    kept: Rc<RefCell<Kept>>,
    /// The syntax trees of files that were requested.
    trees: RefCell<BTreeMap<FileId, SyntaxNode>>,
    /// The words that may be two names, of files that were requested.
    shorthands: RefCell<BTreeMap<FileId, Shorthands>>,
}

/// Words that may be two names, by where they begin.
type Shorthands = Rc<BTreeMap<u32, Form>>;

impl Analysis {
    /// Checks a document, with its text in the overlay. `kept` belongs to the document.
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

    /// Checks several files of one project together, to resolve their names; errors are ignored.
    pub fn of_files(world: &Overlay<'_>, names: &[String]) -> Analysis {
        let checked = compile::check(world, names).unwrap_or_else(|_| {
            let texts = names.iter().map(|name| (name.clone(), world.read_text(name).unwrap_or_default()));
            compile::check_texts(world, texts.collect(), Vec::new())
        });
        Analysis::of_checked(checked)
    }

    /// Checks a file of the built-in library, with its module.
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
            shorthands: RefCell::default(),
        }
    }

    /// All diagnostics, by place. Those about whole stacks, tests and networks take longer than resolving names, so
    /// requests about names do not compute them.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.diagnostics.get_or_init(|| check::without_c_again(&self.checked, &mut self.kept.borrow_mut()))
    }

    /// The diagnostics known so far; those about whole stacks only if [`Analysis::diagnostics`] has computed them.
    pub fn diagnostics_so_far(&self) -> &[Diagnostic] {
        self.diagnostics.get().unwrap_or(&self.checked.diagnostics)
    }

    /// The syntax tree of a file.
    pub fn tree(&self, file: FileId) -> SyntaxNode {
        let parse = || mokume_syntax::parse(file, &self.checked.sources.file(file).text).syntax();
        self.trees.borrow_mut().entry(file).or_insert_with(parse).clone()
    }

    /// The words of a file that may be two names, by where they begin.
    pub fn shorthands(&self, file: FileId) -> Shorthands {
        if let Some(known) = self.shorthands.borrow().get(&file) {
            return Rc::clone(known);
        }
        let found = Rc::new(shorthand::of_tree(&self.tree(file), file));
        self.shorthands.borrow_mut().insert(file, Rc::clone(&found));
        found
    }

    /// The file of this name.
    pub fn file(&self, name: &str) -> Option<FileId> {
        self.checked.sources.files().find(|(_, file)| file.name == name).map(|(id, _)| id)
    }

    /// Whether a change of the named document may change the diagnostics.
    pub fn depends_on(&self, name: &str) -> bool {
        let unknown = mokume_semantics::codes::UNKNOWN_MODULE;
        self.file(name).is_some() || self.checked.diagnostics.iter().any(|found| found.code == unknown)
    }
}
