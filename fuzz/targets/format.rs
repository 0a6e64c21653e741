//! The formatter: what it gives is laid out already, and means the same to the parser.
#![no_main]

use mokume_base::FileId;
use mokume_syntax::format::format;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(once) = format(FileId(0), text) else { return };
    let again = format(FileId(0), &once).unwrap_or_else(|_| panic!("it refuses its own: {once}"));
    assert_eq!(once, again, "formatting twice is formatting once");
});
