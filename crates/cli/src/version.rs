//! `mokume --version`, `-V` for one line, and `mokume doctor`.

use mokume_base::world::RealWorld;
use mokume_driver::{about, doctor};
use serde_json::json;

use crate::print::Printer;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const COMMIT: &str = env!("MOKUME_COMMIT");
const TARGET: &str = env!("MOKUME_TARGET");

/// The back ends, as `--backend` names them.
const BACK_ENDS: [&str; 2] = ["interpreter", "c"];
/// The outputs of `build --emit`.
const EMITS: [&str; 3] = ["c", "automaton", "wireshark"];

/// Prints the version and what the command contains.
pub fn version(printer: &Printer) {
    let about::Carried { runtime_files, runtime, modules, layers } = about::carried();
    if printer.is_json() {
        return printer.object(&json!({
            "version": VERSION, "commit": COMMIT, "target": TARGET, "runtime": runtime, "backends": BACK_ENDS, "emits": EMITS,
            "modules": modules, "layers": layers,
        }));
    }
    printer.line(format!("mokume {VERSION}"));
    printer.line(format!("commit     {COMMIT}, built for {TARGET}"));
    printer.line(format!("C runtime  {runtime} ({runtime_files} files)"));
    printer.line(format!("runs by    {}", BACK_ENDS.join(", ")));
    printer.line(format!("writes     {}", EMITS.join(", ")));
    printer.line(format!("library    {layers} layers in {modules} modules"));
}

/// Checks what this machine has. Returns 0 if the basics work, else 2.
pub fn doctor(printer: &Printer) -> i32 {
    let findings = doctor::findings(&RealWorld, &doctor::opened);
    let is_well = doctor::is_well(&findings);
    let mut missing = 0;
    for doctor::Finding { what, of, is_basic, found } in &findings {
        missing += usize::from(found.is_err());
        if printer.is_json() {
            let (works, found, help) = match found {
                Ok(found) => (true, found, None),
                Err(missing) => (false, &missing.why, Some(&missing.help)),
            };
            let object =
                json!({ "doctor": what, "of": of, "basic": is_basic, "works": works, "found": found, "help": help });
            printer.object(&object);
            continue;
        }
        match found {
            Ok(found) => printer.line(format!("ok       {what:<10} {found}")),
            Err(missing) => {
                printer.line(format!("missing  {what:<10} {} (for {of}); {}", missing.why, missing.help));
            }
        }
    }
    if !printer.is_json() {
        printer.line(match (is_well, missing) {
            (true, 0) => "all is there".to_owned(),
            (true, 1) => "the basics work; 1 thing is missing, for what stands behind it".to_owned(),
            (true, several) => format!("the basics work; {several} things are missing, for what stands behind each"),
            (false, _) => "the basics do not work".to_owned(),
        });
    }
    if is_well {
        0
    } else {
        2
    }
}
