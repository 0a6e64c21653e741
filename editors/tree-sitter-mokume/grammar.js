/**
 * Mokume for tree-sitter: what an editor colours, folds and selects by.
 *
 * No word of the language is reserved: a word is a keyword where what follows fits it, which the compiler's parser decides. This grammar
 * decides by the same means as far as one token ahead says so, and reads declarations, handlers, blocks, calls and names as nodes; an
 * expression is the sequence of its operands and operators. It accepts more than the compiler does: what is wrong, `mokume lsp` tells.
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

// Words that begin a declaration with a name: `worker Echo`, `timer late`.
const DECLARE = {
  layer: ["worker", "group", "multiplexor", "router", "endpoint"],
  item: ["bundle", "wire", "stack", "network", "record", "enum", "signature", "vocabulary", "service", "container", "suite", "type", "part",
    "const", "attribute"],
  member: ["object", "publish", "var", "timer", "quota", "counter", "array", "map", "messages", "host", "link"],
};

// Words that begin a statement, a step or a line of a network, and are one where a name follows: `drop msg`, `count hits`.
const STEP = ["drop", "consume", "accept", "take", "give", "count", "start", "stop", "remove", "end", "later", "renew", "run", "use", "uses",
  "serves", "reads", "writes", "needs", "gives", "speaks", "parts", "limit", "export", "expect", "when", "crash", "restart", "clock", "casts",
  "delivers", "views", "dropped", "consumed", "reported", "partition", "pseudo", "order", "match", "include", "unit", "down", "up", "all", "may",
  "begins", "ends", "reasons", "in", "out"];

// Words that are keywords wherever they do not stand as a name, in front of `:`, `=`, `.` or a list of arguments.
const WORD = ["encoded", "compressed", "packed", "aligned", "symmetric", "over", "with", "to", "from", "until", "after", "at", "within", "where",
  "trim", "choice", "optional", "options", "each", "written", "short", "capacity", "evict", "owned", "by", "holds", "big", "little", "open",
  "default", "unread", "preserved", "commonly", "likely", "unlikely", "every", "grows", "several", "nothing", "tick", "outputs", "sessions",
  "frame", "lost", "late", "twice", "loss", "duplicate", "reorder", "corrupt", "delay", "rate", "queue", "times", "of", "refuse", "reserve",
  "boundaries", "rest", "ahead", "gains", "behind", "loses"];

// Words with which blocks of layers begin: `session { … }`.
const SCOPE = ["header", "key", "address", "entity", "session", "point", "view"];

// Words of control and logic: never a name that is called.
const CONTROL = ["let", "if", "else", "while", "for", "return", "pass", "again", "fail"];
const LOGIC = ["and", "or", "not", "as", "running", "left"];

const UNITS = ["ns", "us", "ms", "s", "min"];

const OPERATORS = ["+%=", "-%=", "*%=", "<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "->", "=>", "..", "==", "!=", "<=", ">=",
  "<<", ">>", "+%", "-%", "*%", "+", "-", "*", "/", "%", "&", "|", "^", "!", "<", ">", "=", "?", "@", ":", ".", ",", ";"];

const some = (words) => choice(...words);
const unique = (words) => [...new Set(words)];
const ALL = unique([...DECLARE.layer, ...DECLARE.item, ...DECLARE.member, ...STEP, ...WORD, ...SCOPE, ...CONTROL, ...LOGIC, ...UNITS,
  "on", "fn", "extern", "test", "true", "false", "above", "below"]);
const plain = ALL.filter((word) => !CONTROL.includes(word) && !LOGIC.includes(word) && word !== "in");

module.exports = grammar({
  name: "mokume",

  extras: ($) => [/[\s\uFEFF]/, $.comment, $.doc_comment],
  word: ($) => $._identifier,
  conflicts: () => [],
  inline: ($) => [$._element],

  rules: {
    source_file: ($) => repeat($._element),

    _element: ($) =>
      choice(
        $.layer, $.declaration, $.function, $.test, $.handler, $.scope, $.step, $.let,
        $.call, $.label, $.keyword, $.boolean, $.direction, $.identifier,
        $.duration, $.number, $.address, $.string, $.octets,
        $.block, $.arguments, $.brackets, $.field, $.operator,
      ),

    // ---- declarations ----
    layer: ($) => prec.right(2, seq(some(DECLARE.layer), field("name", $._name), optional(field("parameters", $.arguments)), optional(field("body", $.block)))),
    declaration: ($) =>
      prec.right(2, seq(
        field("kind", some([...DECLARE.item, ...DECLARE.member])),
        field("name", $._name),
        optional(field("parameters", $.arguments)),
        optional(field("body", $.block)),
      )),
    function: ($) => prec.right(2, seq(optional("extern"), "fn", field("name", $._name), field("parameters", $.arguments))),
    test: ($) => prec.right(2, seq("test", field("name", $.string), field("body", $.block))),
    // `on deliver(msg, seq) from flow { … }`, `on expiry late { … }`
    handler: ($) =>
      prec.right(2, seq(
        "on",
        field("event", $.event),
        optional(field("parameters", $.arguments)),
      )),
    event: ($) => prec.right(2, seq($._name, repeat(choice($._name, seq(".", $._name))))),
    scope: ($) => prec.right(2, seq(some(SCOPE), optional(some(["symmetric", "packed", "aligned", "compressed", "below"])), field("body", $.block))),

    // ---- statements ----
    let: ($) => prec.right(2, seq("let", field("name", choice($._name, $.arguments)))),
    step: ($) => prec.right(1, seq(some(STEP), field("object", $._name))),

    // ---- expressions ----
    call: ($) => prec(3, seq(field("function", $._called), field("arguments", $.arguments))),
    label: ($) => prec(3, seq(field("name", $._called), ":")),
    field: ($) => prec.right(4, seq(".", field("name", choice($._name, $.number)), optional(field("arguments", $.arguments)))),

    block: ($) => seq("{", repeat($._element), "}"),
    arguments: ($) => seq("(", repeat($._element), ")"),
    brackets: ($) => seq("[", repeat($._element), "]"),

    // ---- words ----
    identifier: ($) => $._identifier,
    // A word that is a name, whatever else it may be.
    _name: ($) => choice($.identifier, alias(some(ALL), $.identifier)),
    _called: ($) => choice($.identifier, alias(some(plain), $.identifier)),
    boolean: () => choice("true", "false"),
    direction: () => choice("above", "below"),
    keyword: () => some(ALL.filter((word) => !["true", "false", "above", "below"].includes(word))),

    // ---- literals ----
    _identifier: () => /[A-Za-z_][A-Za-z0-9_]*/,
    number: () => /[0-9][0-9A-Za-z_]*/,
    duration: ($) => prec.right(3, seq(choice($.number, $.address), field("unit", some(UNITS)))),
    address: () => token(choice(
      /[0-9]+(\.[0-9]+)+(\/[0-9]+)?/,
      /[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){2,}(\/[0-9]+)?/,
      /[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*::([0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4})*)?(\/[0-9]+)?/,
      /::[0-9][0-9a-fA-F]{0,3}(:[0-9a-fA-F]{1,4})*(\/[0-9]+)?/,
    )),
    string: ($) => seq('"', repeat(choice($.escape, token.immediate(prec(1, /[^"\\\n]+/)))), token.immediate('"')),
    escape: () => token.immediate(prec(1, /\\(x[0-9a-fA-F]{2}|[^\n])/)),
    octets: () => /x"[^"\n]*"/,

    doc_comment: () => token(prec(1, /\/\/\/[^\n]*/)),
    comment: () => token(/\/\/[^\n]*/),
    operator: () => some(OPERATORS),
  },
});
