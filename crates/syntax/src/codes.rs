//! The codes of this crate's diagnostics, each with its page for `mokume explain`.

use mokume_base::Code;

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $page:literal;)*) => {
        $(#[doc = $title] pub const $name: Code = Code($code);)*
        /// Code, title and page of every diagnostic of this crate.
        pub static CODES: &[(&str, &str, &str)] = &[$(($code, $title, $page)),*];
    };
}

codes! {
    UNREADABLE = "M0001", "a character that begins no token", "";
    OPEN_STRING = "M0002", "a string without an end", "";
    BAD_NUMBER = "M0003", "a number that is none", "";
    BAD_ADDRESS = "M0004", "an address that is none", "";
    BAD_OCTETS = "M0005", "an octet string with a part that is no octet", "";
    BAD_ESCAPE = "M0006", "an unknown escape in a string", "";
    FOREIGN_COMMENT = "M0007", "a comment of another language", "";
    EXPECTED = "M0100", "something else was expected here", "";
    EXPECTED_EXPRESSION = "M0101", "an expression was expected", "";
    UNCLOSED = "M0102", "a bracket without its partner", "";
    UNOPENED = "M0103", "a closing bracket without its partner", "";
    UNKNOWN_ITEM = "M0104", "no item of a file begins like this", "";
    UNKNOWN_MEMBER = "M0105", "no member of a layer begins like this", "";
    UNKNOWN_STATE = "M0106", "no kind of state begins like this", "";
    UNKNOWN_STATEMENT = "M0107", "no statement begins like this", "";
    SEMICOLON = "M0108", "a semicolon", "";
    FOREIGN_OPERATOR = "M0109", "an operator of another language", "";
    WRONG_ARROW = "M0110", "`->` and `=>` mixed up", "";
    TOO_DEEP = "M0111", "nested too deeply", "";
    EXPECTED_TYPE = "M0112", "a type was expected", "";
    TEST_NOTATION = "M0113", "`?x` and `_` outside of a test", "";
    EXPECTED_BLOCK = "M0114", "a block was expected", "";
    CHAINED_COMPARISON = "M0115", "comparisons in a chain", "";
    MISSING_SEPARATOR = "M0116", "a separator is missing", "";
    ASSIGN_IN_CONDITION = "M0117", "`=` where `==` is meant", "";
    NO_NEGATION = "M0118", "a minus sign in front of a value", "";
    UNKNOWN_STEP = "M0119", "no step of a test or network begins like this", "";
    MISSING_LIMIT = "M0120", "a loop without a limit", "";
    UNKNOWN_WIRE_MEMBER = "M0121", "no part of a wire begins like this", "";
    UNKNOWN_STACK_MEMBER = "M0122", "no part of a stack begins like this", "";
}
