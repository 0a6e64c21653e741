//! Places where nothing stops by itself: the ends of messages with their objects, the parts of groups; and commands that are none.

use std::io::Write;

use super::{network, of_driver, of_test, start};

/// A test could count such messages, and the debugger said that none ends so.
#[test]
fn messages_that_end_with_their_object_are_places() {
    for place in ["drop ended", "drop"] {
        let out = of_test("group.mok", "forgotten", &format!("break {place}\ncontinue\nwhere\nstate\nback reaction\n"));
        assert!(out.contains("Kept  20 ms  ") && out.contains("a message ends: ended  (point 1)"), "{out}");
        assert!(out.contains("(mokume) where\nKept  20 ms"), "{out}");
        assert!(out.contains("kept = 2 of 2"), "{out}");
    }
    let out = of_test("group.mok", "forgotten", "break drop nothing\n");
    assert!(out.contains("there is again, ended, full, no_room"), "{out}");
}

/// They are written as handlers are, and were not known.
#[test]
fn what_a_view_begins_and_ends_with_is_a_place() {
    let commands = "break view_begin\nbreak Missed.view_end\ncontinue\nprint view.size\nprint lost\ncontinue\ncontinue\nprint view.size\n\
        continue\nprint lost\nbreak Missed.deliver if view.size == 3 and lost == [2]\nbreak view_middle\n";
    let out = of_test("group.mok", "a view", commands);
    assert!(out.contains("group.mok:29  if lost != []") && out.contains("print view.size\n0\n"), "{out}");
    assert!(out.contains("group.mok:26  for r in view { lost |= [r] }"), "{out}");
    assert!(out.contains("print view.size\n3\n"), "{out}");
    assert!(out.contains("print lost\n[]\n") && out.contains("print lost\n[0]\n"), "{out}");
    assert!(out.contains("point 3: on Missed.deliver if view.size == 3"), "{out}");
    assert!(out.contains("there is no event `view_middle` here"), "{out}");
}

/// A name that no enum has was never met, and nobody said so.
#[test]
fn a_condition_with_no_name_of_an_enum_is_refused() {
    let commands = "break Keeps.deliver if plan == Plan.Lots\nbreak Keeps.deliver if plan == Many\nbreak drop if plan == Plan.Many\ncontinue\n";
    let out = of_test("group.mok", "forgotten", commands);
    assert!(out.contains("nothing is called `Plan.Lots` here, and no enum has such a name"), "{out}");
    assert!(out.contains("a message ends: ended"), "{out}");
}

/// What stands behind a command that is one word was not looked at.
#[test]
fn what_stands_behind_a_word_is_not_left_out() {
    let out = network("behind", "step 5\nwhere all\nstep\n");
    assert!(out.contains("nothing stands behind `step`, so `5` is not known"), "{out}");
    assert!(out.contains("nothing stands behind `where`, so `all` is not known"), "{out}");
    // A line that is no UTF-8 is a wrong command, and not the end.
    let file = of_driver("group.mok");
    let mut child = start(&["debug", file.to_str().unwrap(), "--test", "forgotten"]);
    child.stdin.take().unwrap().write_all(b"st\xffep\nwhere\n").unwrap();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(out.contains("there is no command `st") && out.contains("(mokume) where\nKept  0 s"), "{out}");
}
