//! The codes of this crate's diagnostics. `docs/diagnostics` has a page for each, which `mokume explain` prints and the
//! tests read.

mokume_base::codes! {
    UNREADABLE = "M0001";
    OPEN_STRING = "M0002";
    BAD_NUMBER = "M0003";
    BAD_OCTETS = "M0005";
    BAD_ESCAPE = "M0006";
    FOREIGN_COMMENT = "M0007";
    EXPECTED = "M0100";
    EXPECTED_EXPRESSION = "M0101";
    UNCLOSED = "M0102";
    UNOPENED = "M0103";
    UNKNOWN_ITEM = "M0104";
    UNKNOWN_MEMBER = "M0105";
    UNKNOWN_STATE = "M0106";
    UNKNOWN_STATEMENT = "M0107";
    SEMICOLON = "M0108";
    FOREIGN_OPERATOR = "M0109";
    WRONG_ARROW = "M0110";
    TOO_DEEP = "M0111";
    EXPECTED_TYPE = "M0112";
    TEST_NOTATION = "M0113";
    EXPECTED_BLOCK = "M0114";
    CHAINED_COMPARISON = "M0115";
    MISSING_SEPARATOR = "M0116";
    ASSIGN_IN_CONDITION = "M0117";
    NO_NEGATION = "M0118";
    UNKNOWN_STEP = "M0119";
    MISSING_LIMIT = "M0120";
    UNKNOWN_WIRE_MEMBER = "M0121";
    UNKNOWN_STACK_MEMBER = "M0122";
    OTHER_UNIT = "M0364";
}
