/**
 * Mokume for tree-sitter: what an editor colours, folds and selects by.
 *
 * No word of the language is reserved: a word is a keyword where what follows fits it, which the compiler's parser decides. This grammar
 * decides by the same means as far as one token ahead says so. Declarations, handlers, functions, tests, blocks, calls and names are nodes;
 * an expression is the sequence of its operands and operators. It accepts more than the compiler does: what is wrong, `mokume lsp` tells.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

// Words in front of the name of what they declare.
const LAYER = ["worker", "group", "multiplexor", "router", "endpoint"];
const BRACED = ["wire", "network", "record", "enum", "signature", "vocabulary", "service", "container", "suite", "part", "object"];
const DECLARED = ["bundle", "stack", "type", "const", "attribute", "publish", "var", "timer", "quota", "counter", "array", "map", "messages",
  "host", "link"];

// Words in front of the name of what they do something with: `drop msg`, `count hits`, `export udp`.
const STEP = ["drop", "consume", "accept", "take", "give", "count", "start", "stop", "remove", "end", "later", "renew", "run", "use", "uses",
  "serves", "reads", "writes", "needs", "gives", "breaks", "promise", "speaks", "parts", "limit", "export", "expect", "when", "crash", "restart", "clock", "casts",
  "delivers", "views", "dropped", "consumed", "reported", "partition", "pseudo", "order", "match", "include", "unit", "down", "up", "reasons",
  "over", "with", "to", "from", "encoded", "trim", "choice", "holds", "evict", "owned", "written"];

// Words in front of a number or a time.
const SETTING = ["at", "after", "from", "until", "within", "limit", "capacity", "tick", "outputs", "sessions", "mtu", "frame", "loss", "duplicate",
  "reorder", "corrupt", "delay", "rate", "queue", "late", "twice", "ahead", "behind", "gains", "loses", "every", "grows", "each", "reserve"];

// Words in front of a block: scopes of layers, parts of wires.
const SCOPE = ["header", "key", "address", "entity", "session", "point", "view"];

// Words of control and logic, and words that are no names in practice.
const CONTROL = ["let", "if", "else", "while", "for", "in", "return", "pass", "again", "fail", "match", "likely", "unlikely"];
const LOGIC = ["and", "or", "not", "as", "running", "left"];
const WORD = ["encoded", "compressed", "packed", "aligned", "symmetric", "over", "with", "to", "from", "where", "optional", "options", "each",
  "capacity", "evict", "owned", "holds", "big", "little", "unread", "preserved", "commonly", "refuse", "reserve", "limit", "until", "extern",
  "fn"];

const UNITS = ["ns", "us", "ms", "s", "min"];
const VALUES = ["true", "false"];
const SIDES = ["above", "below"];

const ASSIGN = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "+%=", "-%=", "*%="];
const OPERATOR = ["->", "=>", "..", "==", "!=", "<=", ">=", "<<", ">>", "+%", "-%", "*%", "+", "-", "*", "/", "%", "&", "|", "^", "!", "<", ">",
  "?", "@"];

const some = (words) => choice(...words);
const unique = (words) => [...new Set(words)];
const ALL = unique([...LAYER, ...BRACED, ...DECLARED, ...STEP, ...SETTING, ...SCOPE, ...CONTROL, ...LOGIC, ...WORD, ...UNITS, ...VALUES, ...SIDES,
  "on", "test", "of"]);
const never = unique([...CONTROL, ...LOGIC]);
const alone = unique([...CONTROL, ...LOGIC, ...WORD]);

module.exports = grammar({
  name: "mokume",

  extras: ($) => [/[\s\uFEFF]/, $.comment, $.doc_comment],
  word: ($) => $._word,

  rules: {
    source_file: ($) => repeat($._element),

    _element: ($) =>
      choice($._operand, $.layer, $.declaration, $.function, $.test, $.handler, $.scope, $.block),

    // What stands in heads, up to a block.
    _operand: ($) =>
      choice(
        $.step, $.setting, $.let, $.assignment, $.call, $.label, $.field,
        $.keyword, $.boolean, $.side, $.identifier, alias($._plain, $.identifier),
        $.duration, $.number, $.address, $.string, $.octets,
        $.arguments, $.brackets, $.operator, ",", ";", ":", ".",
      ),

    // ---- declarations ----
    layer: ($) => prec.right(2, seq(some(LAYER), field("name", $._name), optional(field("parameters", $.arguments)), optional(field("body", $.block)))),
    declaration: ($) =>
      prec.right(2, choice(
        seq(some(BRACED), field("name", $._name), optional(seq("of", $._name)), repeat($._operand), field("body", $.block)),
        seq(some(DECLARED), field("name", $._name), optional(field("parameters", $.arguments)), optional(field("body", $.block))),
      )),
    function: ($) => prec.right(2, seq(optional("extern"), "fn", field("name", $._name), field("parameters", $.arguments), repeat($._operand), field("body", $.block))),
    test: ($) => prec.right(2, seq("test", field("name", $.string), field("body", $.block))),
    // `on deliver(msg, seq) from flow { … }`, `on expiry late { … }`
    handler: ($) => prec.right(2, seq("on", field("event", $.event), optional(field("parameters", $.arguments)), repeat($._operand), field("body", $.block))),
    event: ($) => prec.right(4, choice(
      seq("expiry", $._name, repeat(seq(".", $._name))),
      seq("change", $.side, repeat1(seq(".", $._name))),
      seq($._name, repeat(seq(".", $._name))),
    )),
    scope: ($) =>
      prec.right(2, seq(
        some(SCOPE),
        repeat(some(["symmetric", "packed", "aligned", "compressed", "below"])),
        optional(seq("capacity", repeat1($._operand))),
        field("body", $.block),
      )),

    // ---- statements, steps, lines ----
    let: ($) => prec.right(2, seq("let", field("name", choice($._name, $.arguments)))),
    step: ($) => prec.right(1, seq(some(STEP), field("object", choice($._name, $.string)))),
    setting: ($) => prec.right(1, seq(some(SETTING), field("value", choice($.number, $.duration)))),
    assignment: ($) => prec.right(3, seq(field("name", $._called), some(ASSIGN))),

    // ---- expressions ----
    call: ($) => prec(3, seq(field("function", $._called), field("arguments", $.arguments))),
    label: ($) => prec(3, seq(field("name", $._called), ":")),
    field: ($) => prec.right(4, seq(".", field("name", choice($._name, $.number)), optional(field("arguments", $.arguments)))),

    block: ($) => seq("{", repeat($._element), "}"),
    arguments: ($) => seq("(", repeat($._element), ")"),
    brackets: ($) => seq("[", repeat($._element), "]"),

    // ---- words ----
    identifier: ($) => $._word,
    // A word that is a name, whatever else it may be.
    _name: ($) => prec(1, choice($.identifier, alias(some([...ALL, "expiry", "change"]), $.identifier))),
    _called: ($) => prec(1, choice($.identifier, alias(some([...ALL.filter((word) => !never.includes(word)), "expiry", "change"]), $.identifier))),
    // A word that is a keyword only in front of what it is of, and stands alone.
    _plain: () => prec(-1, some([...ALL.filter((word) => ![...alone, ...VALUES, ...SIDES].includes(word)), "expiry", "change"])),
    boolean: () => prec(-1, some(VALUES)),
    side: () => prec(-1, some(SIDES)),
    keyword: () => prec(-1, some(alone)),

    // ---- literals ----
    _word: () => /[A-Za-z_][A-Za-z0-9_]*/,
    number: () => /[0-9][0-9A-Za-z_]*/,
    duration: ($) => prec.right(3, seq(choice($.number, $.address), field("unit", some(UNITS)))),
    address: () => token(choice(
      /[0-9]+(\.[0-9]+)+(\/[0-9]+)?/,
      /[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})(:[0-9a-fA-F]{1,4})+(\/[0-9]+)?/,
      /[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*::([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*)?(\/[0-9]+)?/,
      /::[0-9][0-9a-fA-F]{0,3}(:[0-9a-fA-F]{1,4})*(\/[0-9]+)?/,
    )),
    string: ($) => seq('"', repeat(choice($.escape, token.immediate(prec(1, /[^"\\\n]+/)))), token.immediate('"')),
    escape: () => token.immediate(prec(1, /\\(x[0-9a-fA-F]{2}|[^\n])/)),
    octets: () => /x"[^"\n]*"/,

    doc_comment: () => token(prec(1, /\/\/\/[^\n]*/)),
    comment: () => token(/\/\/[^\n]*/),
    operator: () => prec(-1, some([...ASSIGN, ...OPERATOR])),
  },
});
