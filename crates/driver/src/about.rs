//! The contents of this program: `mokume --version`.

use mokume_base::SourceMap;
use mokume_emit_c::RUNTIME;
use mokume_syntax::SyntaxKind;

use crate::library;

/// Built-in parts without their own version, counted or hashed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Carried {
    /// Files of the C runtime.
    pub runtime_files: usize,
    /// A digest of their names and texts: equal digests mean equal runtimes.
    pub runtime: String,
    /// Modules of the library.
    pub modules: usize,
    /// Workers and bundles in them.
    pub layers: usize,
}

/// What is built into this program.
pub fn carried() -> Carried {
    let files = library::files();
    let mut modules: Vec<&str> = files.iter().filter_map(|(name, _)| Some(name.split_once('/')?.0)).collect();
    modules.dedup();
    let layers = files.iter().map(|(name, text)| layers_of(name, text)).sum();
    Carried { runtime_files: RUNTIME.len(), runtime: digest(RUNTIME), modules: modules.len(), layers }
}

/// Counts the workers and bundles that a file declares.
fn layers_of(name: &str, text: &str) -> usize {
    let mut sources = SourceMap::default();
    let file = sources.add(name.to_string(), text.to_string());
    let tree = mokume_syntax::parse(file, text).syntax();
    let is_layer = |kind| matches!(kind, SyntaxKind::LAYER | SyntaxKind::BUNDLE);
    tree.children().filter(|node| is_layer(node.kind())).count()
}

/// FNV-1a: detects accidental differences, not malicious ones. The texts contain no nul, which separates them.
fn digest(files: &[(&str, &str)]) -> String {
    let octets = files.iter().flat_map(|(name, text)| [name.as_bytes(), b"\0", text.as_bytes(), b"\0"]).flatten();
    let sum =
        octets.fold(0xcbf2_9ce4_8422_2325_u64, |sum, octet| (sum ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01b3));
    format!("{sum:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_counted_by_what_is_declared() {
        assert_eq!(layers_of("a", "/// worker X { }\nworker A { }\nbundle B() = A / A\nconst worker_C: u32 = 1\n"), 2);
        let carried = carried();
        assert!(carried.layers > 60 && carried.modules > 10, "{carried:?}");
    }

    #[test]
    fn another_runtime_has_another_digest() {
        assert_eq!(digest(&[("a", "b")]), digest(&[("a", "b")]));
        assert_ne!(digest(&[("a", "b")]), digest(&[("a", "c")]));
        assert_ne!(digest(&[("a", "b"), ("c", "")]), digest(&[("a", "bc")]));
    }
}
