//! The codes of all faults of automata. `docs/diagnostics` says what each means, with an example; `mokume explain`
//! shows it.

mokume_base::codes! {
    SYNTAX = "M0801";
    UNKNOWN = "M0802";
    TWICE = "M0803";
    NUMBER = "M0804";
    LITERAL = "M0805";
    UNENDED = "M0806";
    OBJECT = "M0807";
    TYPE = "M0810";
    COUNT = "M0811";
    KIND = "M0812";
    UNDEFINED = "M0813";
    LEAK = "M0814";
    USED_TWICE = "M0815";
    UNBOUNDED = "M0816";
    FOREIGN_WRITE = "M0817";
    FOREIGN_READ = "M0818";
    EFFECT = "M0819";
    NO_HANDLER = "M0820";
    OWN_LAYER = "M0821";
    PORT = "M0822";
    SIZE = "M0823";
    PARENT = "M0824";
    LINK = "M0825";
    NOT_DEFINED = "M0826";
    LATER = "M0827";
    CASES = "M0828";
    DANGLING = "M0829";
    WIRE_FIELD = "M0830";
    WIRE_COVER = "M0831";
    WIRE_ARMS = "M0832";
    WIRE_NAME = "M0833";
    WIRE_TRIM = "M0834";
    WIRE_OCTETS = "M0835";
    COMPOSITION = "M0836";
}
