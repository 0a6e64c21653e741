//! `mokume new`: lets the driver create a project, and prints what to do with it.

use std::path::Path;

use mokume_base::world::RealWorld;
use mokume_driver::{new, Failure};
use serde_json::json;

use crate::print::Printer;

/// Creates a project in a folder, and prints what to do next. Fails if the folder exists.
pub fn new(folder: &str, printer: &Printer) -> Result<i32, Failure> {
    let written = new::project(&RealWorld, folder)?;
    for file in &written {
        if printer.is_json() {
            printer.object(&json!({ "file": file }));
        } else {
            printer.line(file);
        }
    }
    let source = written.last().and_then(|file| Path::new(file).file_name()).unwrap_or_default().to_string_lossy();
    printer.note(format!("next: cd {folder}; mokume check; mokume test; mokume sim src/{source}"));
    Ok(0)
}
