//! The codes of this crate's diagnostics: M02 names, M03 types, M04 messages, M05 shapes and handlers, M06 wires, M07 stacks.
//!
//! Invariant: every code here has a page in [`crate::pages`], whose wrong example gives the code and whose right one does not.

use mokume_base::Code;

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal;)*) => {
        $(#[doc = $title] pub const $name: Code = Code($code);)*
        /// Code and title of every diagnostic of this crate.
        pub static TITLES: &[(&str, &str)] = &[$(($code, $title)),*];
    };
}

codes! {
    UNKNOWN_NAME = "M0201", "a name that stands for nothing here";
    UNKNOWN_TYPE = "M0202", "an unknown type";
    UNKNOWN_LAYER = "M0203", "an unknown layer or bundle";
    UNKNOWN_MODULE = "M0204", "an unknown module or file";
    DEFINED_TWICE = "M0205", "something is there twice";
    UNKNOWN_FIELD = "M0206", "an unknown field";
    UNKNOWN_PARAMETER = "M0207", "an unknown parameter";
    UNKNOWN_OPERATION = "M0208", "an unknown service or operation";
    UNKNOWN_ATTRIBUTE = "M0209", "an unknown attribute";
    UNKNOWN_STACK = "M0210", "an unknown stack or host";
    UNKNOWN_PUBLISHED = "M0211", "a value that no layer publishes";
    UNKNOWN_VARIANT = "M0212", "an unknown name of an enum, or alternative of a header";
    NO_FUNCTION = "M0213", "an unknown function or operation";
    UNKNOWN_ITEM = "M0214", "the wrong kind of item";
    UNKNOWN_EVENT = "M0215", "an unknown event";
    UNKNOWN_FLOW_PART = "M0216", "an unknown part of a flow";
    UNKNOWN_PORT = "M0217", "an unknown port";
    UNKNOWN_HANDLE = "M0218", "a handle that nothing has bound";
    CIRCLE = "M0219", "a definition that leads back to itself";
    UNUSED_STATE = "M0291", "state that is never used";
    UNUSED_PARAMETER = "M0292", "a parameter that is never used";
    UNUSED_SERVICE = "M0293", "a service that is never used";

    MISMATCH = "M0301", "a value of another type";
    TOO_BIG = "M0302", "a constant that does not fit";
    BAD_OPERANDS = "M0303", "an operator that does not take these types";
    NARROWS = "M0304", "a wider value without a cast";
    WRONG_COUNT = "M0305", "too many or too few";
    MISSING_ARGUMENT = "M0306", "something is missing";
    NO_SCALAR = "M0307", "no scalar where one is needed";
    NOT_EXHAUSTIVE = "M0308", "a `match` that forgets values";
    CASE_TWICE = "M0309", "a case that is never reached";
    NOT_CONSTANT = "M0310", "a value that is not known before the start";
    NO_CAST = "M0311", "a cast that does not exist";
    NOT_ASSIGNABLE = "M0312", "an assignment to what does not change";
    CONSTANT_SET = "M0313", "a constant of an object that is set too late";
    NO_VALUE = "M0314", "no value where one is needed";
    WRONG_STATE = "M0315", "state of another kind";
    NO_TYPE = "M0316", "a type that must be written";
    RECURSION = "M0317", "a function that calls itself";
    MUST_LEAVE = "M0318", "what happens without room is not said";
    FIELDS_MISSING = "M0319", "a record without some of its fields";
    UNUSED_VALUE = "M0320", "a value that nobody uses";
    EMPTY_SIZE = "M0321", "room for nothing";
    UNREACHABLE = "M0390", "code that is never reached";

    LEAK = "M0401", "a message that leaks";
    GIVEN_TWICE = "M0402", "a message that is given away twice";
    USED_AFTER = "M0403", "a message that is used after it was given away";
    GIVEN_IN_LOOP = "M0404", "a message that is given away in a loop";
    PATHS_DISAGREE = "M0405", "a message that may be gone already";
    THROWN_AWAY = "M0406", "a message that is made and thrown away";
    OVERWRITTEN = "M0407", "a message that is overwritten";
    NO_MESSAGE = "M0408", "no message where one is needed";
    MESSAGE_STORED = "M0409", "a message where only values can be";
    UNDECLARED = "M0410", "an attribute that the layer does not declare";

    EVENT_SHAPE = "M0501", "an event that never comes to this shape";
    HIDDEN_FLOW = "M0502", "a part of a flow that this shape does not see";
    ROUTER_SENDS = "M0503", "a router that does not handle `send`";
    HANDLER_PARAMS = "M0504", "parameters that the event does not have";
    HEADER_FIELDS = "M0505", "header fields that are not given exactly";
    SHAPE_MEMBER = "M0506", "a member that this shape does not have";
    OUT_OF_SIGHT = "M0507", "state that this handler cannot see";
    SERVICE_WAY = "M0508", "an operation of a service in the wrong direction";
    WITH_MESSAGE = "M0509", "an alternative with or without its message";
    MISPLACED = "M0510", "a statement in the wrong place";
    HANDLER_TWICE = "M0511", "two handlers for one event";
    NO_LATER = "M0512", "`later` without a handler";
    NOTHING_ABOVE = "M0513", "something of the layer above";
    SHAPE_NEEDS = "M0514", "a member that this shape must have";
    WRONG_WAY = "M0515", "an event that is emitted the wrong way";
    NO_FLOW = "M0516", "a router that does not name the flow";

    WIRE_UNCOVERED = "M0601", "a header field without a place in the wire";
    WIRE_TWICE = "M0602", "a header field with two places in the wire";
    WIRE_LAYER = "M0603", "a layer that the bundle does not have";
    WIRE_FIELD = "M0604", "a header field that the layer does not have";
    WIRE_WIDTH = "M0605", "a field of another width";
    WIRE_CONSTANT = "M0606", "a constant that does not fit its field";
    WIRE_EARLIER = "M0607", "a field that is not known yet";
    WIRE_TAG_TWICE = "M0608", "two arms with one number";
    WIRE_OCTETS = "M0609", "headers that do not end on an octet";
    WIRE_TRIM = "M0610", "a trim to what is no field";
    WIRE_ALTERNATIVE = "M0611", "an alternative without an arm";
    WIRE_TAG = "M0612", "a choice without its field";
    WIRE_VARIANT = "M0613", "an arm for an alternative that does not exist";
    WIRE_VALUE = "M0614", "a value that a wire does not compute";

    UNKNOWN_BELOW = "M0701", "a layer that the stack does not have";
    OVER_CYCLE = "M0702", "layers that stand on themselves";
    UNKNOWN_KEY = "M0703", "a key that the layer below does not have";
    NO_SERVICE = "M0704", "a service that nobody serves";
    UNUSED_WITH = "M0705", "a `with` that is not needed";
    NOT_PUBLISHED = "M0706", "a value that nobody below publishes";
    UNKNOWN_EXPORT = "M0707", "an export that is not possible";
    SHAPE_ORDER = "M0708", "a layer on an endpoint";
    SAME_KEY = "M0709", "two layers on one key";
    NO_SESSIONS = "M0711", "sessions or flow traffic that are not there";
    CROWDED = "M0712", "two layers on what carries one";
    NO_FLOW_PART = "M0714", "a part of a flow that nobody below makes";
    NO_HANDLER = "M0715", "an event that nobody handles";
    UNREACHED = "M0791", "a handler that no stack reaches";
}
