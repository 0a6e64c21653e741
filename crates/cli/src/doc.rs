//! `mokume doc`: documentation of sources, as pages or as JSON objects.

use mokume_base::world::RealWorld;
use mokume_document::{self as document, Asked};
use mokume_driver::Failure;

use crate::common::refused;
use crate::print::{Printer, Status};

/// The default folder for pages.
const FOLDER: &str = "doc";

/// Writes pages, or prints an object for each item.
pub fn doc(asked: &Asked<'_>, output: Option<&str>, printer: &Printer) -> Result<i32, Failure> {
    let mut status = Status::new(printer);
    status.show(|| "reading sources, and making pages of them".to_owned());
    let read = document::read(&RealWorld, asked)?;
    if read.checked.has_errors() {
        status.end();
        return Err(refused(&read.checked.diagnostics, &read.checked, printer));
    }
    let made = document::document(&read);
    status.end();
    if printer.is_json() {
        made.objects.iter().for_each(|object| printer.object(object));
    }
    if let Some(folder) = output.or((!printer.is_json()).then_some(FOLDER)) {
        document::write(&RealWorld, &made, folder)?;
        printer.note(format!("{} pages: open {folder}/index.html", made.pages()));
    }
    Ok(0)
}
