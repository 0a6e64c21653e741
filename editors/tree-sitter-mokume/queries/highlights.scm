; The last pattern that fits decides.

(identifier) @variable
((identifier) @constant (#match? @constant "^[A-Z][A-Z0-9_]+$"))
((identifier) @type (#match? @type "^[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*$"))
((identifier) @type.builtin
  (#match? @type.builtin "^(bool|u[0-9]{1,2}|seq[0-9]{1,2}|Duration|Instant|Message|Reason|Rank|Ranks|Flow|LowerFlow|Device)$"))

(label name: (identifier) @property)
(field name: (identifier) @property)
(call function: (identifier) @function.call)
(field name: (identifier) @function.method.call arguments: (arguments))

(layer ["worker" "group" "multiplexor" "router" "endpoint"] @keyword.type name: (identifier) @type.definition)
(declaration
  ["bundle" "wire" "stack" "network" "record" "enum" "signature" "vocabulary" "service" "container" "suite" "part" "object" "type"] @keyword.type
  .
  name: (identifier) @type.definition)
(declaration "of" @keyword)
(declaration
  ["const" "attribute" "publish" "var" "timer" "quota" "counter" "array" "map" "messages" "host" "link"] @keyword
  .
  name: (identifier) @variable)
(function "extern" @keyword)
(function "fn" @keyword.function name: (identifier) @function)
(test "test" @keyword)
(handler "on" @keyword.function)
(event ["expiry" "change"] @keyword)
(event . (identifier) @function)
(scope [
  "header" "key" "address" "entity" "session" "point" "view" "symmetric" "packed" "aligned" "compressed" "capacity"
] @keyword)
(let "let" @keyword)
(step [
  "drop" "consume" "accept" "take" "give" "count" "start" "stop" "remove" "end" "later" "renew" "run" "use" "uses" "serves"
  "reads" "writes" "needs" "gives" "breaks" "promise" "speaks" "parts" "limit" "export" "expect" "when" "crash" "restart" "clock" "casts" "delivers"
  "views" "dropped" "consumed" "reported" "partition" "pseudo" "order" "match" "include" "unit" "down" "up" "reasons" "over"
  "with" "to" "from" "encoded" "trim" "choice" "holds" "evict" "owned" "written"
] @keyword)
(setting [
  "at" "after" "from" "until" "within" "limit" "capacity" "tick" "outputs" "sessions" "mtu" "frame" "loss" "duplicate" "reorder"
  "corrupt" "delay" "rate" "queue" "late" "twice" "ahead" "behind" "gains" "loses" "every" "grows" "each" "reserve"
] @keyword)

(keyword) @keyword
((keyword) @keyword.conditional (#any-of? @keyword.conditional "if" "else" "match"))
((keyword) @keyword.repeat (#any-of? @keyword.repeat "while" "for" "in"))
((keyword) @keyword.return (#eq? @keyword.return "return"))
((keyword) @keyword.operator (#any-of? @keyword.operator "and" "or" "not" "as" "running" "left"))
(side) @variable.builtin
(boolean) @boolean

(number) @number
(duration ["ns" "us" "ms" "s" "min"] @type.builtin)
(address) @number
(string) @string
(octets) @string
(escape) @string.escape
(comment) @comment
(doc_comment) @comment.documentation

(operator) @operator
(assignment [
  "=" "+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>=" "+%=" "-%=" "*%="
] @operator)
["," ";" ":" "."] @punctuation.delimiter
["{" "}" "(" ")" "[" "]"] @punctuation.bracket
