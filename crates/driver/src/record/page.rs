//! A record as a page: one file that a browser opens without a network, with the record inside.

use mokume_record::{Event, Run};

/// The page without a record (`runtime/viewer/record.html`).
const PAGE: &str = include_str!("../../../../runtime/viewer/record.html");

/// Where the record stands in it, as an array: its head, then its events.
const PLACE: &str = "RECORD";

/// A run as a page.
pub fn page(run: &Run) -> String {
    let events = run.events.iter().map(Event::line);
    let lines: Vec<String> = std::iter::once(run.head.line()).chain(events).collect();
    // Nothing of it may end the element that it stands in.
    let record = format!("[{}]", lines.join(",\n").replace('<', "\\u003c"));
    PAGE.replacen(PLACE, &record, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_says_does_not_end_its_element() {
        let head = r#"{"record":1,"kind":"test","name":"</script><b>","place":null,"seed":0,"backend":"c","link":147,"hosts":[],"media":[]}"#;
        let run = mokume_record::read(head).unwrap().remove(0);
        let page = page(&run);
        let data = page.split(r#"id="record">"#).nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
        let read: Vec<serde_json::Value> = serde_json::from_str(data).unwrap();
        assert_eq!(read[0]["name"], "</script><b>");
        assert_eq!(PAGE.matches(PLACE).count(), 1);
        assert!(
            !PAGE.contains("http://")
                || PAGE.matches("http://").count() == PAGE.matches("http://www.w3.org/2000/svg").count()
        );
        assert!(!PAGE.contains("https://"));
    }
}
