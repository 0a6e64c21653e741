-- Reads packets by the tables of a stack, as `mokume dissect` does: the wires, the keys that say which wire follows which, and the steps
-- of the layers' handlers, which say what a layer drops whatever its state. Knows no protocol.
--
-- A number of up to 32 bits is a number of Lua, a wider one a UInt64; what is not known is nil. Octets are counted from 0, from the
-- front of what the first wire reads; bits from the high bit of the first octet.

local floor = math.floor

-- ---- numbers ----

local function wide(a)
  if type(a) == "number" then return UInt64.new(a % 4294967296, floor(a / 4294967296)) end
  return a
end

local function narrow(a, width)
  if width > 32 then return wide(a) end
  if type(a) ~= "number" then a = a:lower() end
  return a
end

local ZERO, ALL = UInt64.new(0, 0), UInt64.new(4294967295, 4294967295)

local function mask(width)
  if width >= 64 then return ALL end
  return ALL:rshift(64 - width)
end

local function same(a, b)
  if type(a) == "number" and type(b) == "number" then return a == b end
  return wide(a) == wide(b)
end

local function digits(a)
  if type(a) == "number" then return string.format("%.0f", a) end
  return tostring(a)
end

local COMPARE = {
  ["=="] = function(less, a, b) return same(a, b) end,
  ["!="] = function(less, a, b) return not same(a, b) end,
  ["<"] = function(less, a, b) return less(a, b) end,
  ["<="] = function(less, a, b) return same(a, b) or less(a, b) end,
  [">"] = function(less, a, b) return less(b, a) end,
  [">="] = function(less, a, b) return same(a, b) or less(b, a) end,
}

local function below(a, b)
  if type(a) == "number" and type(b) == "number" then return a < b end
  return wide(a) < wide(b)
end

-- `a` before `b` around the circle (RFC 1982).
local function circular(width)
  return function(a, b)
    local distance = (wide(b) - wide(a)):band(mask(width))
    return distance ~= ZERO and distance < UInt64.new(1, 0):lshift(width - 1)
  end
end

local function compare(sign, width, circle, a, b)
  local less = below
  if circle then less = circular(width) end
  return COMPARE[sign](less, a, b)
end

local ARITHMETIC = {
  add = function(a, b) return a + b end,
  sub = function(a, b) return a - b end,
  mul = function(a, b) return a * b end,
  div = function(a, b) if b == ZERO then return ZERO end return a / b end,
  rem = function(a, b) if b == ZERO then return ZERO end return a % b end,
  ["and"] = function(a, b) return a:band(b) end,
  ["or"] = function(a, b) return a:bor(b) end,
  xor = function(a, b) return a:bxor(b) end,
}
ARITHMETIC["add.wrap"], ARITHMETIC["sub.wrap"], ARITHMETIC["mul.wrap"] = ARITHMETIC.add, ARITHMETIC.sub, ARITHMETIC.mul

local function binary(op, width, circle, a, b)
  local plain = ARITHMETIC[op]
  if plain then return narrow(plain(wide(a), wide(b)):band(mask(width)), width) end
  if op == "shl" or op == "shr" then
    if not below(b, width) then return narrow(ZERO, width) end
    local by = wide(b):lower()
    local shifted = op == "shl" and wide(a):lshift(by) or wide(a):rshift(by)
    return narrow(shifted:band(mask(width)), width)
  end
  local less = compare("<", width, circle, a, b)
  if op == "min" then return less and a or b end
  if op == "max" then return less and b or a end
  if below(a, b) then return a end
  return narrow(mask(width), width)
end

-- ---- octets: `all` as a string of those that were captured, `length` on the line; the others are read as zeros ----

local function octet(octets, at)
  return string.byte(octets.all, at + 1) or 0
end

local function few_bits(octets, at, width)
  local first, last = floor(at / 8), floor((at + width - 1) / 8)
  local value = 0
  for place = first, last do value = value * 256 + octet(octets, place) end
  return floor(value / 2 ^ (8 * (last + 1) - at - width)) % 2 ^ width
end

-- Whether a number's first octet is its low one; only whole octets have an order.
local function is_low_first(little, at, width)
  return little and at % 8 == 0 and width % 8 == 0
end

local function bits(octets, at, width, little)
  if is_low_first(little, at, width) then
    local low, high = 0, 0
    for place = width / 8 - 1, 0, -1 do
      local value = octet(octets, at / 8 + place)
      if place >= 4 then high = high * 256 + value else low = low * 256 + value end
    end
    if width <= 32 then return low end
    return UInt64.new(low, high)
  end
  if width <= 32 then return few_bits(octets, at, width) end
  return UInt64.new(few_bits(octets, at + width - 32, 32), few_bits(octets, at, width - 32))
end

-- Whether an octet of these is not zero.
local function is_there(octets, first, last)
  for at = first, last - 1 do
    if octet(octets, at) ~= 0 then return true end
  end
  return false
end

-- The sum of octets as numbers of 16 bits, without the two at `leave`.
local function sum16(octets, first, last, leave)
  local sum = 0
  for at = first, last - 1 do
    if at ~= leave and at - 1 ~= leave then
      local value = octet(octets, at)
      if (at - first) % 2 == 0 then value = value * 256 end
      sum = sum + value
    end
  end
  return sum
end

local function fold(sum)
  while sum > 65535 do sum = floor(sum / 65536) + sum % 65536 end
  return sum
end

-- The checksum with a field, which need not be whole octets, taken as zero.
local function checksum(read, size, own)
  local sum = 0
  local first = read.first
  local last = math.min(first + size, read.last)
  local at, to = -1, -1
  if own and own.bit + own.width <= (last - first) * 8 then at, to = own.bit, own.bit + own.width end
  for place = first, last - 1 do
    local value = octet(read.octets, place)
    local bit = (place - first) * 8
    if bit < to and bit + 8 > at then
      for n = 0, 7 do
        if bit + n >= at and bit + n < to then
          local one = 2 ^ (7 - n)
          if floor(value / one) % 2 == 1 then value = value - one end
        end
      end
    end
    if (place - first) % 2 == 0 then value = value * 256 end
    sum = sum + value
  end
  return wide(65535 - fold(sum))
end

-- ---- wires: the total decoder ----

local Read = {}
Read.__index = Read

-- A refusal leaves by an error, which the caller catches; other errors go on.
local function refuse(reason, bit)
  error({ reason = reason, bit = bit }, 0)
end

local function evaluate(read, e, own)
  local kind = e[1]
  if kind == "number" then return e[2] end
  if kind == "field" then
    local slot = read.slots[e[2]]
    return slot and wide(slot.value) or ZERO
  end
  if kind == "packet" then return wide(read:size()) end
  if kind == "header" then return wide(read.header or 0) end
  if kind == "payload" then return wide(read:size()) - wide(read.header or 0) end
  if kind == "sum_header" then return checksum(read, read.header or 0, own) end
  if kind == "sum_packet" then return checksum(read, read:size(), own) end
  return ARITHMETIC[kind](evaluate(read, e[2], own), evaluate(read, e[3], own))
end

local function named(read, e)
  local kind = e[1]
  if kind == "number" then return true end
  if kind == "field" then return read.slots[e[2]] ~= nil end
  if kind == "packet" then return read.packet_known end
  if kind == "header" then return read.header ~= nil end
  if kind == "payload" then return read.packet_known and read.header ~= nil end
  if kind == "sum_header" or kind == "sum_packet" then return false end
  return named(read, e[2]) and named(read, e[3])
end

function Read:size()
  return self.last - self.first
end

function Read:check()
  local rules = self.rules
  self.rules = {}
  for place, rule in ipairs(rules) do
    local known = self.over or ((not rule.left or named(self, rule.left)) and self.slots[rule.own] and named(self, rule.right))
    if known then
      local slot = self.slots[rule.own]
      local left
      if rule.left then left = evaluate(self, rule.left, slot) else left = slot and wide(slot.value) or ZERO end
      if not compare(rule.sign, 64, false, left, evaluate(self, rule.right, slot)) then
        refuse(rule.otherwise, slot and slot.bit or self.at)
      end
    else
      table.insert(self.rules, rule)
    end
  end
end

function Read:zeros(header, variant)
  local fields = {}
  local of = self.stack.headers[header][variant]
  for place, field in ipairs(of and of.fields or {}) do fields[place] = narrow(0, field.width) end
  return { header = header, variant = variant, fields = fields }
end

function Read:select(header, variant)
  for place, value in ipairs(self.headers) do
    if value.header == header then
      if value.variant ~= variant then self.headers[place] = self:zeros(header, variant) end
      return
    end
  end
end

-- Whether the header's field can have it.
function Read:set(header, variant, place, value)
  local field = self.stack.headers[header][variant].fields[place]
  value = wide(value)
  if mask(field.width) < value then return false end
  if field.only then
    local found = false
    for _, range in ipairs(field.only) do
      found = found or (not (value < wide(range[1])) and not (wide(range[2]) < value))
    end
    if not found then return false end
  end
  self:select(header, variant)
  for _, one in ipairs(self.headers) do
    if one.header == header then one.fields[place] = narrow(value, field.width) end
  end
  return true
end

function Read:get(header, place)
  for _, one in ipairs(self.headers) do
    if one.header == header then return one.fields[place] end
  end
end

function Read:field(item)
  if self.at + item.width > self:size() * 8 then refuse(self.wire.short, self.at) end
  local value = bits(self.octets, self.first * 8 + self.at, item.width, item.little)
  local slot = { bit = self.at, width = item.width, value = value }
  self.slots[item.index] = slot
  table.insert(self.seen, { item = item, bit = self.at, width = item.width, value = value })
  self.at = self.at + item.width
  if item.constant then
    if not same(value, item.constant) then refuse(item.otherwise, slot.bit) end
  elseif item.header then
    local otherwise = item.otherwise or self.wire.short
    local from = wide(value)
    if from < item.plus then refuse(otherwise, slot.bit) end
    from = from - item.plus
    if from % item.times ~= ZERO then refuse(otherwise, slot.bit) end
    if not self:set(item.header, item.variant, item.place, from / item.times) then refuse(otherwise, slot.bit) end
  elseif item.computed then
    table.insert(self.rules, { own = item.index, sign = "==", right = item.computed, otherwise = item.otherwise })
  end
  for _, rule in ipairs(item.where or {}) do
    table.insert(self.rules, { own = item.index, left = rule[1], sign = rule[2], right = rule[3], otherwise = rule[4] })
  end
  self:check()
  if item.trims then
    local size = wide(value) + item.trims
    if size < wide(value) or wide(self:size()) < size or size < wide(floor((self.at + 7) / 8)) then
      refuse(self.wire.short, self.at)
    end
    self.last = self.first + size:tonumber()
    self.packet_known = true
    self:check()
  end
end

local function says_the_same(read, before, arm)
  if #before.commons == 0 or #before.selects ~= #arm.selects then return false end
  for place, select in ipairs(before.selects) do
    if select[1] ~= arm.selects[place][1] or select[2] ~= arm.selects[place][2] then return false end
  end
  for _, common in ipairs(before.commons) do
    local value = read:get(common[1], common[3])
    if value == nil or not same(value, common[4]) then return false end
  end
  return true
end

function Read:choice(item)
  local slot = self.slots[item.on]
  local tag, bit = 0, self.at
  if slot then tag, bit = slot.value, slot.bit end
  local found
  for place, arm in ipairs(item.arms) do
    if not found and same(arm.tag, tag) then found = place end
  end
  if not found then refuse(item.unknown, bit) end
  local arm = item.arms[found]
  for _, select in ipairs(arm.selects) do self:select(select[1], select[2]) end
  for _, common in ipairs(arm.commons) do
    if not self:set(common[1], common[2], common[3], common[4]) then refuse(item.unknown, bit) end
  end
  self:items(arm.items)
  for place = 1, found - 1 do
    if says_the_same(self, item.arms[place], arm) then refuse(item.unknown, bit) end
  end
end

-- An octet of the packet that is not in front of what was read.
function Read:octet(e)
  local octet = evaluate(self, e)
  if octet < wide(floor((self.at + 7) / 8)) or wide(self:size()) < octet then refuse(self.wire.short, self.at) end
  return octet:tonumber()
end

function Read:part(item, part, last)
  if self.at + part.width > last * 8 then refuse(item.malformed, self.at) end
  local bit = self.at
  local value = bits(self.octets, self.first * 8 + bit, part.width, item.little)
  table.insert(self.seen, { item = part, bit = bit, width = part.width, value = value })
  self.at = bit + part.width
  return value, bit
end

function Read:options(item)
  local last = self:octet(item.last)
  while floor(self.at / 8) < last do
    local kind = self:part(item, item.kind, last)
    local found
    for _, arm in ipairs(item.arms) do
      if not found and same(arm.kind, kind) then found = arm end
    end
    if found and found.ends then break end
    if not (found and found.single) then self:option(item, found, last) end
  end
  self.at = last * 8
end

function Read:option(item, arm, last)
  local first = self.at - item.kind.width
  if not arm and item.unknown then refuse(item.unknown, first) end
  local length, bit = self:part(item, item.length, last)
  local octets = wide(length) * item.times + item.plus
  local head = (item.kind.width + item.length.width) / 8
  if (ALL - item.plus) / item.times < wide(length) or octets < wide(head) or wide(last - first / 8) < octets then
    refuse(item.malformed, bit)
  end
  local size = octets:tonumber()
  if arm then
    local rest, elements = size - head, 0
    if arm.each then
      rest = rest - arm.fixed
      if rest < 0 or rest % arm.each ~= 0 or rest / arm.each > arm.most then refuse(item.malformed, bit) end
      elements = rest / arm.each
    elseif rest ~= arm.fixed then
      refuse(item.malformed, bit)
    end
    self:known_option(arm, elements, first)
  else
    self.passed_over = self.passed_over or is_there(self.octets, self.first + first / 8 + head, self.first + first / 8 + size)
  end
  self.at = first + size * 8
end

function Read:known_option(arm, elements, first)
  local function put(header, variant, place, value)
    if not self:set(header, variant, place, value) then refuse(self.wire.short, first) end
  end
  if not arm.each then
    self:items(arm.items)
    return put(arm.header, arm.variant, arm.place, 1)
  end
  for _, item in ipairs(arm.items) do
    if item.header then put(item.header, item.variant, item.place, 0) end
  end
  local there = {}
  for place = 1, math.min(#arm.items, arm.from + elements * arm.items_each) do there[place] = arm.items[place] end
  self:items(there)
  put(arm.header, arm.variant, arm.place, 1)
  put(arm.header, arm.variant, arm.count, elements)
end

function Read:list(item)
  if not item.malformed then
    local count = wide(self:get(item.header, item.count) or 0)
    for place, element in ipairs(item.elements) do
      if not (wide(place - 1) < count) then break end
      self:items(element)
    end
    return
  end
  local count = 0
  while self.at < self:size() * 8 do
    local element = item.elements[count + 1]
    if not element then refuse(item.malformed, self.at) end
    self:items(element)
    count = count + 1
  end
  if not self:set(item.header, item.variant, item.count, count) then refuse(item.malformed, self.at) end
end

local ITEMS = {
  field = Read.field,
  choice = Read.choice,
  options = Read.options,
  list = Read.list,
  optional = function(read, item)
    for _, test in ipairs(item.when) do
      if not compare(test[2], 64, false, evaluate(read, test[1]), evaluate(read, test[3])) then return end
    end
    read:items(item.items)
  end,
  reach = function(read, item)
    read.header = read:octet(item.last)
    read:check()
  end,
}

function Read:items(items)
  for _, item in ipairs(items) do ITEMS[item.is](self, item) end
end

local function read_wire(stack, wire, octets, first, last)
  local read = setmetatable({
    stack = stack, wire = wire, octets = octets, first = first, last = last, at = 0, slots = {}, headers = {}, rules = {},
    packet_known = not wire.trims, header = wire.header, over = false, seen = {},
  }, Read)
  for place, header in ipairs(wire.headers) do read.headers[place] = read:zeros(header, 1) end
  local good, refusal = pcall(function()
    read:items(wire.items)
    read.over = true
    read.header = read.header or floor((read.at + 7) / 8)
    read:check()
  end)
  if not good then
    if type(refusal) ~= "table" or not refusal.reason then error(refusal, 0) end
    read.refusal = refusal
  else
    read.payload = { first + floor((read.at + 7) / 8), read.last }
  end
  return read
end

-- ---- the layers' handlers: what becomes of a packet, whatever their state ----

-- More blocks than this are not looked at for one wire's layers.
local LONGEST = 2000

local function copied(values)
  local copy = {}
  for place, value in pairs(values) do copy[place] = value end
  return copy
end

local function other(message, changes)
  local copy = copied(message)
  for name, value in pairs(changes) do
    if value == false then copy[name] = nil else copy[name] = value end
  end
  return copy
end

local function popped(message)
  if not message or not message.headers then return message end
  local headers = {}
  for place = 2, #message.headers do headers[place - 1] = message.headers[place] end
  return other(message, { headers = headers })
end

local function top(message)
  return message and message.headers and message.headers[1]
end

local function cut(message, first, last)
  if not message then return nil end
  -- What stays whole is what the wire has received.
  if first and first == message.first and last == message.last then return message end
  return other(message, { first = first or false, last = last or false, met = false })
end

-- The size that is known, at most that of the message.
local function most(size, message)
  if below(size, message.last - message.first) then return wide(size):tonumber() end
  return message.last - message.first
end

local function sum_of(walk, values, step)
  local message = values[step[3]]
  if not message or not message.first then return nil end
  local first, last = message.first, message.last
  if step[4] then
    if not values[step[4]] then return nil end
    first = first + most(values[step[4]], message)
    if not values[step[5]] then return nil end
    local size = values[step[5]]
    if below(size, last - first) then last = first + wide(size):tonumber() end
  end
  if last > walk.octets.captured then return nil end
  return sum16(walk.octets, first, last) % 4294967296
end

local function loaded(walk, values, step)
  local message, at, size = values[step[3]], values[step[4]], step[5]
  if not message or not message.first or not at then return nil end
  if below(message.last - message.first, wide(at) + wide(size)) or below(wide(at) + wide(size), at) then
    return narrow(0, size * 8)
  end
  local first = message.first + wide(at):tonumber()
  if first + size > walk.octets.captured then return nil end
  return bits(walk.octets, first * 8, size * 8, step[6])
end

-- The packet, and no quote of it.
local function is_packet(value)
  return type(value) == "table" and not value.quoted
end

local follow_handler

local STEPS = {
  constant = function(walk, values, step) return step[3] end,
  binary = function(walk, values, step)
    local a, b = values[step[6]], values[step[7]]
    if a == nil or b == nil then return nil end
    return binary(step[3], step[4], step[5], a, b)
  end,
  compare = function(walk, values, step)
    local a, b = values[step[6]], values[step[7]]
    if a == nil or b == nil then return nil end
    return compare(step[3], step[4], step[5], a, b) and 1 or 0
  end,
  ["not"] = function(walk, values, step)
    local a = values[step[4]]
    if a == nil then return nil end
    return narrow(mask(step[3]) - wide(a), step[3])
  end,
  select = function(walk, values, step)
    local c, a, b = values[step[3]], values[step[4]], values[step[5]]
    if c == 0 then return b end
    if c ~= nil then return a end
    if a ~= nil and b ~= nil and same(a, b) then return a end
    return nil
  end,
  cast = function(walk, values, step)
    local a = values[step[4]]
    if a == nil then return nil end
    return narrow(wide(a):band(mask(step[3])), step[3])
  end,
  fold = function(walk, values, step)
    local a = values[step[3]]
    if a == nil then return nil end
    local once = a % 65536 + floor(a / 65536)
    return once % 65536 + floor(once / 65536)
  end,
  pop = function(walk, values, step)
    local message = values[step[3]]
    local found = top(message)
    if found and (found.header ~= step[4] or found.variant ~= step[5]) then found = nil end
    for place, field in ipairs(step[6]) do values[field] = found and found.fields[place] end
    return popped(message)
  end,
  size = function(walk, values, step)
    local message = values[step[3]]
    return message and message.first and message.last - message.first
  end,
  sum = sum_of,
  load = loaded,
  trim = function(walk, values, step)
    local message, size = values[step[3]], values[step[4]]
    if not message or not message.first or size == nil then return cut(message) end
    return cut(message, message.first, message.first + most(size, message))
  end,
  skip = function(walk, values, step)
    local message, size = values[step[3]], values[step[4]]
    if not message or not message.first or size == nil then return cut(message) end
    return cut(message, message.first + most(size, message), message.last)
  end,
  split = function(walk, values, step)
    local message, at = values[step[3]], values[step[4]]
    if not message or not message.first or at == nil then
      values[step[5]] = cut(message)
      return cut(message)
    end
    local place = message.first + most(at, message)
    values[step[5]] = cut(message, place, message.last)
    return cut(message, message.first, place)
  end,
  get_attribute = function(walk, values, step)
    local message = values[step[3]]
    return message and message.attributes[step[4]]
  end,
  set_attribute = function(walk, values, step)
    local message = values[step[3]]
    if not message then return nil end
    local attributes = copied(message.attributes)
    attributes[step[4]] = values[step[5]]
    return other(message, { attributes = attributes })
  end,
  same = function(walk, values, step) return values[step[3]] end,
  quote = function(walk, values, step)
    local message, packet = values[step[3]], walk.packet
    if not message or not message.first or packet.wire ~= step[4] then return nil end
    return { first = packet.first, last = packet.met, attributes = copied(walk.stack.attributes), met = false, quoted = true }
  end,
  changed = function(walk, values, step) return cut(values[step[3]]) end,
  emit = function(walk, values, step)
    local class, args = step[3], step[5]
    local message = args[1] and values[args[1]]
    if not step[4] or not is_packet(message) then
      for _, arg in ipairs(args) do
        if is_packet(values[arg]) then walk.used = true end
      end
      return nil
    end
    local given = {}
    if walk.within[walk.stack.layers[class]] then
      for place, arg in ipairs(args) do given[place] = values[arg] end
      if walk.stack.handlers[class] then follow_handler(walk, class, given) else walk.used = true end
      return nil
    end
    for place = 2, #args do given[place - 1] = values[args[place]] end
    table.insert(walk.ups, {
      first = message.first, last = message.last, class = class, args = given, count = #args - 1, attributes = message.attributes,
    })
    return nil
  end,
  drop = function(walk, values, step)
    if not is_packet(values[step[3]]) then return nil end
    for _, drop in ipairs(walk.drops) do
      if drop == step[4] then return nil end
    end
    table.insert(walk.drops, step[4])
  end,
  held = function(walk, values, step)
    if is_packet(values[step[3]]) then walk.held = true end
  end,
  kept = function(walk, values, step)
    if is_packet(values[step[3]]) then walk.used, walk.kept = true, true end
  end,
  used = function(walk, values, step)
    if is_packet(values[step[3]]) then walk.used = true end
  end,
}

-- Where a block leads: pairs of a target, and what its block is given.
local ENDS = {
  ["return"] = function() return {} end,
  jump = function(walk, values, e) return { { e[2], {} } } end,
  branch = function(walk, values, e)
    local c = values[e[2]]
    if c == nil then return { { e[3], {} }, { e[4], {} } } end
    if same(c, 0) then return { { e[4], {} } } end
    return { { e[3], {} } }
  end,
  switch = function(walk, values, e)
    local value, ways = values[e[2]], {}
    for _, case in ipairs(e[3]) do
      if value ~= nil and same(case[1], value) then return { { case[2], {} } } end
      table.insert(ways, { case[2], {} })
    end
    if value ~= nil then return { { e[4], {} } } end
    table.insert(ways, { e[4], {} })
    return ways
  end,
  match = function(walk, values, e)
    local message, ways = values[e[2]], {}
    local found = top(message)
    if found and found.header == e[3] then
      for _, case in ipairs(e[4]) do
        if case[1] == found.variant then
          local given = { popped(message) }
          for place, field in ipairs(found.fields) do given[place + 1] = field end
          return { { case[2], given } }
        end
      end
      return {}
    end
    for _, case in ipairs(e[4]) do table.insert(ways, { case[2], { popped(message) } }) end
    return ways
  end,
  decode = function(walk, values, e)
    local message = values[e[2]]
    if message and message.met and walk.packet.wire == e[3] then
      local packet = walk.packet
      local decoded = { first = packet.payload[1], last = packet.payload[2], headers = packet.headers, met = false }
      return { { e[4], { other(message, decoded) } } }
    end
    local decoded = message and other(message, { first = false, last = false, headers = false, met = false })
    return { { e[4], { decoded } }, { e[5], { message } } }
  end,
  validate = function(walk, values, e)
    local message = values[e[2]]
    if message and message.met and walk.packet.wire == e[3] then return { { e[4], { message } } } end
    local decoded = message and other(message, { first = false, last = false, headers = false, met = false })
    return { { e[4], { decoded } }, { e[5], { message } } }
  end,
  peek = function(walk, values, e)
    local found = top(values[e[2]])
    if not found then return { { e[5], {} }, { e[6], {} } } end
    if found.header == e[3] and found.variant == e[4] then return { { e[5], found.fields } } end
    return { { e[6], {} } }
  end,
  either = function(walk, values, e)
    for _, message in ipairs(e[2]) do
      if is_packet(values[message]) then walk.used, walk.kept = true, true end
    end
    return { { e[3], {} }, { e[4], {} } }
  end,
}

local function enter(routine, target, given, values)
  local params = routine[target[1]].params
  local results = #params - #target[2]
  local all = {}
  for place = 1, results do all[place] = given[place] end
  for place, arg in ipairs(target[2]) do all[results + place] = values[arg] end
  for place, param in ipairs(params) do values[param] = all[place] end
end

local function follow_block(walk, routine, at, values)
  while true do
    walk.blocks = walk.blocks + 1
    if walk.blocks > LONGEST then walk.over = true end
    if walk.over then return end
    local block = routine[at]
    for _, step in ipairs(block.steps) do
      local given = STEPS[step[1]](walk, values, step)
      if step[2] then values[step[2]] = given end
    end
    local ways = ENDS[block.last[1]](walk, values, block.last)
    if #ways == 0 then return end
    for place = 1, #ways - 1 do
      local copy = copied(values)
      enter(routine, ways[place][1], ways[place][2], copy)
      follow_block(walk, routine, ways[place][1][1], copy)
    end
    local last = ways[#ways]
    enter(routine, last[1], last[2], values)
    at = last[1][1]
  end
end

follow_handler = function(walk, class, given)
  local routine = walk.stack.handlers[class]
  if not routine then
    walk.over = true
    return
  end
  local values = {}
  for place, param in ipairs(routine[1].params) do
    if place > 1 then values[param] = given[place - 1] end
  end
  follow_block(walk, routine, 1, values)
end

local function equal(a, b)
  return a ~= nil and b ~= nil and same(a, b)
end

local function common(stack, a, b)
  local up = { attributes = {}, count = 0, args = {} }
  if a.first and a.first == b.first and a.last == b.last then up.first, up.last = a.first, a.last end
  if a.class and a.class == b.class then
    up.class, up.count = a.class, a.count
    for place = 1, a.count do
      if equal(a.args[place], b.args[place]) then up.args[place] = a.args[place] end
    end
  end
  for place = 1, stack.attribute_count do
    if equal(a.attributes[place], b.attributes[place]) then up.attributes[place] = a.attributes[place] end
  end
  return up
end

-- What becomes of a packet in the layers of a protocol: `drops`, what goes `up`, and whether a layer keeps it.
local function follow(stack, protocol, octets, packet, beside, above)
  local walk = {
    stack = stack, octets = octets, packet = packet, within = protocol.within, blocks = 0, over = false, drops = {}, used = false, ups = {},
  }
  local message = { first = packet.first, last = packet.last, attributes = beside.attributes or {}, met = true }
  local takers = protocol.takers
  local given = { message }
  if beside.class and stack.handlers[beside.class] then
    takers = { beside.class }
    for place = 1, beside.count do given[place + 1] = beside.args[place] end
  end
  if #takers == 0 then
    local whole = packet.wire and packet.payload or { packet.first, packet.last }
    return {}, { first = whole[1], last = whole[2], attributes = {}, perhaps = true }
  end
  for _, class in ipairs(takers) do follow_handler(walk, class, given) end
  local drops = walk.drops
  if walk.used or walk.held or walk.over or #walk.ups > 0 then drops = {} end
  -- Ways to layers that the keys do not select are not taken.
  local ups, selected = {}, {}
  for _, class in ipairs(above and above.takers or {}) do selected[class] = true end
  for _, up in ipairs(walk.ups) do
    if selected[up.class] then table.insert(ups, up) end
  end
  if #ups == 0 then ups = walk.ups end
  local up = ups[1]
  for place = 2, #ups do up = common(stack, up, ups[place]) end
  if up then up.perhaps = walk.used or walk.over end
  return drops, up, walk.held or walk.kept or (walk.over and not up)
end

-- ---- checksums over fields of the wires in front ----

local function sum_of_number(value)
  value = wide(value)
  local low, high = value:lower(), value:higher()
  return low % 65536 + floor(low / 65536) + high % 65536 + floor(high / 65536)
end

local function add_under(under, wire, read)
  if #wire.pseudo == 0 then
    for place = #under, 1, -1 do under[place] = nil end
    under.is_unread = false
  end
  -- Other values may count instead, as the last address of a route.
  under.is_unread = under.is_unread or read.passed_over
  for _, name in ipairs(wire.pseudo) do
    for _, seen in ipairs(read.seen) do
      if seen.item.name == name then
        for place = #under, 1, -1 do
          if under[place][1] == name then table.remove(under, place) end
        end
        table.insert(under, { name, seen.value })
        break
      end
    end
  end
end

local function wrong_sum(wire, read, octets, under)
  if not wire.sums then return nil end
  local found
  for _, seen in ipairs(read.seen) do
    if not found and seen.item.name == wire.sums and seen.width == 16 and seen.bit % 16 == 0 then found = seen end
  end
  if not found or same(found.value, 0) or #under == 0 or under.is_unread then return nil end
  local sum = sum16(octets, read.first, read.last, read.first + found.bit / 8)
  for _, one in ipairs(under) do sum = sum + sum_of_number(one[2]) end
  sum = fold(sum + sum_of_number(read.last - read.first))
  local right = 65535 - sum
  if found.value == right or (found.value == 65535 and right == 0) then return nil end
  return { name = wire.sums, bit = read.first * 8 + found.bit, right = right }
end

-- ---- which wire follows ----

-- Whether the keys have their values at the first of their fields, the receiver's, or at the last, the sender's.
local function keys_are(keys, headers, is_sent)
  for _, key in ipairs(keys) do
    local found
    for place = #headers, 1, -1 do
      if not found and headers[place].header == key.header then found = headers[place] end
    end
    local places = found and key.at[found.variant] or {}
    local place = places[is_sent and #places or 1]
    if not place or not equal(found.fields[place], key.value) then return false end
  end
  return true
end

-- The next protocol, whether no key of the packet selects it, and whether the keys say so at the sender's end alone: those
-- layers sent the packet.
local function next_of(above, headers)
  for _, is_sent in ipairs({ false, true }) do
    for _, one in ipairs(above) do
      if #one.keys > 0 and keys_are(one.keys, headers, is_sent) then return one.to, false, is_sent end
    end
  end
  for _, one in ipairs(above) do
    if #one.keys == 0 then return one.to, true, false end
  end
end

-- Whether a refusal may be for what the capture has not.
local function looks_behind(read, octets, first)
  if octets.captured == octets.length then return false end
  local captured = math.max(octets.captured - first, 0)
  if read.refusal.bit >= captured * 8 then return true end
  for _, seen in ipairs(read.seen) do
    if seen.bit == read.refusal.bit then
      return read:size() > captured and seen.item.sums_packet == true
    end
  end
  return false
end

-- ---- what is shown ----

local function parts(form, value)
  local width, all = form.bits, {}
  for place = form.width / width - 1, 0, -1 do
    table.insert(all, wide(value):rshift(place * width):band(mask(width)):lower())
  end
  return all
end

-- Numbers in hexadecimal between colons; the longest row of zeros is left out.
local function short(all)
  local from, size = 1, 0
  for first = 1, #all do
    local last = first
    while all[last] == 0 do last = last + 1 end
    if last - first >= 2 and last - first > size then from, size = first, last - first end
  end
  if size == #all then return "::0" end
  local function hex(first, last)
    local texts = {}
    for place = first, last do table.insert(texts, string.format("%x", all[place])) end
    return table.concat(texts, ":")
  end
  if size == 0 then return hex(1, #all) end
  return hex(1, from - 1) .. "::" .. hex(from + size, #all)
end

-- The numbers of the bits that are set: `[0, 2]`.
local function set(value)
  local all = {}
  for bit = 0, 63 do
    if wide(value):rshift(bit):band(UInt64.new(1, 0)) ~= ZERO then table.insert(all, bit) end
  end
  return "[" .. table.concat(all, ", ") .. "]"
end

-- Nanoseconds without rounding: `20.5 ms`. By their digits, as there may be more than a number of Lua holds.
local function time(value)
  local text = digits(value)
  if text == "0" then return "0 s" end
  local places, unit = 0, "ns"
  if #text > 9 then places, unit = 9, "s" elseif #text > 6 then places, unit = 6, "ms" elseif #text > 3 then places, unit = 3, "us" end
  local rest = text:sub(#text - places + 1):gsub("0+$", "")
  return text:sub(1, #text - places) .. (rest == "" and "" or "." .. rest) .. " " .. unit
end

-- As the type says that it is written.
local function written(form, value)
  if form.as == "time" then return time(value) end
  if form.as == "set" then return set(value) end
  local all = parts(form, value)
  local count = math.ceil(form.bits / 4)
  if form.as == "dotted" then
    for place, part in ipairs(all) do all[place] = digits(part) end
    return table.concat(all, ".")
  end
  if form.as == "colons" then
    for place, part in ipairs(all) do all[place] = string.format("%0" .. count .. "x", part) end
    return table.concat(all, ":")
  end
  return short(all)
end

local function told(item, value)
  if item.form then return written(item.form, value) end
  local name = item.names and item.names[digits(value)]
  return name or digits(value)
end

-- So many fields of an alternative stand in a packet's summary.
local TELLING = 6

-- Octets of a list are told together, so many of them.
local OCTETS = 16

local function is_octet(seen)
  return seen.width == 8 and not seen.item.form and not (seen.item.names and seen.item.names[digits(seen.value)])
end

local function octets_told(run)
  local text, hex, is_text = {}, {}, true
  for place = 1, math.min(#run, OCTETS) do
    local value = run[place].value
    is_text = is_text and value >= 0x20 and value < 0x7f
    text[place], hex[place] = string.char(value), string.format("%02x", value)
  end
  local more = #run > OCTETS and "…" or ""
  if is_text then return '"' .. table.concat(text) .. more .. '"' end
  return 'x"' .. table.concat(hex) .. more .. '"'
end

local function words_of(layer, alternative, words)
  local count, run = 0, {}
  local function say()
    if #run == 0 then return end
    if count < TELLING then
      local one = run[1]
      local value = #run > 1 and octets_told(run) or told(one.item, one.value)
      table.insert(words, one.item.name .. "=" .. value)
      count = count + 1
    end
    run = {}
  end
  for _, seen in ipairs(layer.seen) do
    if seen.item.header and seen.item.alternative == alternative then
      local last = run[#run]
      local goes_on = last and is_octet(last) and is_octet(seen) and last.item.name == seen.item.name and last.bit + 8 == seen.bit
      if not goes_on then say() end
      table.insert(run, seen)
    end
  end
  say()
end

-- `untold`: alternatives that no field tells.
local function alternatives_of(seen, untold)
  local all, known = {}, {}
  local function add(name)
    if name and not known[name] then
      known[name] = true
      table.insert(all, name)
    end
  end
  for _, one in ipairs(seen) do add(one.item.chooses and one.item.chooses[digits(one.value)]) end
  for _, one in ipairs(seen) do add(one.item.alternative) end
  for _, name in ipairs(untold) do add(name) end
  return all
end

local function is_refused(layer)
  return layer.refused ~= nil or #layer.drops > 0 or layer.wrong ~= nil
end

-- How many layers are below the first that may be another's, if one of those refuses the packet; else all.
local function sure(layers)
  local count, is_doubtful = 0, false
  while layers[count + 1] and not layers[count + 1].may_be_for_another do count = count + 1 end
  for place = count + 1, #layers do is_doubtful = is_doubtful or is_refused(layers[place]) end
  return is_doubtful and count or #layers
end

local function summary(layers)
  for place = sure(layers), 1, -1 do
    local layer = layers[place]
    local telling = #layer.alternatives > 0
    for _, seen in ipairs(layer.seen) do telling = telling or seen.item.header ~= nil end
    if telling then
      local words = {}
      words_of(layer, nil, words)
      for _, name in ipairs(layer.alternatives) do
        table.insert(words, name)
        words_of(layer, name, words)
      end
      return table.concat(words, " ")
    end
  end
  return ""
end

local function place_of(bit)
  local text = "octet " .. digits(floor(bit / 8))
  if bit % 8 ~= 0 then text = text .. ", bit " .. digits(bit % 8) end
  return text
end

-- ---- a packet, layer by layer ----

-- Layers of a packet from a protocol on, and what of it no wire follows.
local function dissect(stack, protocol, octets, of_frame, is_sent)
  local layers, headers, under = {}, {}, {}
  local rest = { 0, octets.length }
  local beside = of_frame and { attributes = copied(stack.attributes) } or { perhaps = is_sent }
  -- `is_over`: what follows the last layer goes to nobody.
  local is_part, is_over, may_be_for_another = false, false, false
  -- The protocols that read nothing where `rest` begins: read again, they would be so forever.
  local idle = {}
  if octets.captured == 0 and octets.length > 0 then protocol = nil end
  while protocol and (rest[1] < octets.captured or octets.captured == octets.length) do
    local at, wire = protocol, protocol.wire
    local layer = { protocol = at, wire = wire, first = rest[1], last = rest[1], seen = {}, alternatives = {}, drops = {} }
    layer.may_be_for_another = may_be_for_another
    protocol = nil
    local packet, is_free, is_sent
    if not wire then
      protocol, is_free, is_sent = next_of(at.above, headers)
      packet = { first = rest[1], last = rest[2] }
    else
      local met = rest[2]
      local read = read_wire(stack, wire, octets, rest[1], met)
      local there = {}
      for _, seen in ipairs(read.seen) do
        if read.first * 8 + seen.bit + seen.width <= octets.captured * 8 then table.insert(there, seen) end
      end
      layer.cut = #there < #read.seen
      local is_whole = not layer.cut and not read.refusal
      layer.seen, layer.alternatives = there, alternatives_of(there, is_whole and wire.untold or {})
      local last = there[#there]
      if last then layer.last = rest[1] + floor((last.bit + last.width + 7) / 8) end
      if layer.cut or (read.refusal and looks_behind(read, octets, rest[1])) then
        layer.cut = true
        rest = { layer.last, octets.captured }
      elseif read.refusal then
        layer.refused = { reason = read.refusal.reason, bit = rest[1] * 8 + read.refusal.bit }
        rest = { layer.last, rest[2] }
      else
        if read.last <= octets.captured then layer.wrong = wrong_sum(wire, read, octets, under) end
        add_under(under, wire, read)
        layer.last = read.payload[1]
        layer.padding = { math.min(read.payload[2], octets.captured), math.min(rest[2], octets.captured) }
        rest = read.payload
        if layer.last > layer.first then idle = {} end
        if not idle[at] then
          idle[at] = true
          for _, header in ipairs(read.headers) do table.insert(headers, header) end
          protocol, is_free, is_sent = next_of(at.above, headers)
          packet = { wire = wire.id, first = read.first, last = read.last, met = met, payload = read.payload, headers = read.headers }
        end
      end
    end
    may_be_for_another = may_be_for_another or (is_free and at.multiplexes or false)
    if packet and stack.handlers and is_sent then
      beside = { perhaps = true }
    elseif packet and stack.handlers then
      local drops, up, kept = follow(stack, at, octets, packet, beside, protocol)
      -- What a layer in front may have taken for itself these layers need not see.
      if not beside.perhaps then layer.drops = drops end
      if up then up.perhaps = up.perhaps or beside.perhaps end
      beside = up or {}
      if not up then
        is_part = kept
        is_over = true
        protocol = nil
      elseif up.first then
        local padding = layer.padding or { 0, 0 }
        local behind = { math.min(rest[2], up.last), math.max(padding[2], rest[2]) }
        layer.last = math.max(up.first, layer.last)
        if behind[1] < behind[2] then layer.padding = behind end
        if packet.payload then under.is_unread = under.is_unread or is_there(octets, packet.payload[1], up.first) end
        rest = { up.first, up.last }
      else
        is_part = true
        protocol = nil
      end
    end
    if wire or #layer.drops > 0 then table.insert(layers, layer) end
  end
  rest = { math.min(rest[1], octets.captured), math.min(rest[2], octets.captured) }
  return layers, rest, is_part or is_over
end

local function show_field(tree, tvb, layer, seen)
  local item = seen.item
  local bit = layer.first * 8 + seen.bit
  local first, last = floor(bit / 8), floor((bit + seen.width + 7) / 8)
  local field = item.shown[bit % 8 + 1]
  local range = tvb:range(first, last - first)
  local line
  if field.explicit then
    line = tree:add(field.field, range, wide(seen.value))
  elseif is_low_first(item.little, bit, seen.width) then
    line = tree:add_le(field.field, range)
  else
    line = tree:add(field.field, range)
  end
  if item.form and not field.native then line:append_text(" (" .. written(item.form, seen.value) .. ")") end
  if item.unread then line:append_text(" (not read)") end
end

-- What is called so and written as an address is what these columns show; a name's halves are one address.
local ENDS = { source = "src", destination = "dst" }

local function show_ends(pinfo, layer)
  local function seen_as(name)
    for _, seen in ipairs(layer.seen) do
      if seen.item.name == name and seen.item.form and seen.item.form.as ~= "time" then return seen end
    end
  end
  for name, column in pairs(ENDS) do
    local whole, high, low = seen_as(name), seen_as(name .. "_high"), seen_as(name .. "_low")
    if whole then
      pinfo.cols[column] = written(whole.item.form, whole.value)
    elseif high and low then
      local all = parts(high.item.form, high.value)
      for _, part in ipairs(parts(low.item.form, low.value)) do table.insert(all, part) end
      pinfo.cols[column] = short(all)
    end
  end
end

local function show(stack, tvb, pinfo, tree, layers)
  local last = sure(layers)
  for place, layer in ipairs(layers) do
    local proto = layer.wire and layer.wire.proto or stack.proto
    local shown = tree:add(proto.proto, tvb:range(layer.first, math.min(layer.last, tvb:len()) - layer.first))
    local text = layer.protocol.name
    if layer.wire then text = text .. " by " .. layer.wire.name end
    if #layer.alternatives > 0 then text = text .. ": " .. table.concat(layer.alternatives, ", ") end
    shown:set_text(text)
    for _, seen in ipairs(layer.seen) do show_field(shown, tvb, layer, seen) end
    local function tell(kind, words)
      if not layer.may_be_for_another then return shown:add_proto_expert_info(proto[kind], words) end
      shown:add_proto_expert_info(proto.may_be_refused, words .. "; if it is for `" .. layer.protocol.name .. "`")
    end
    if layer.refused then tell("malformed", "malformed at " .. place_of(layer.refused.bit) .. ": " .. layer.refused.reason) end
    if #layer.drops > 0 then tell("dropped", "dropped in any state: " .. table.concat(layer.drops, ", or ")) end
    if layer.wrong then
      tell("damaged", string.format("refused at octet %d: `%s` is not the checksum of what is there, 0x%04x",
        floor(layer.wrong.bit / 8), layer.wrong.name, layer.wrong.right))
    end
    if layer.cut then shown:append_text(" (cut by the capture)") end
    local padding = layer.padding
    if padding and padding[1] < padding[2] then
      shown:append_text(string.format(" (padding: %d from %d)", padding[2] - padding[1], padding[1]))
    end
    if place <= last then
      pinfo.cols.protocol = layer.wire and layer.wire.name or layer.protocol.name
      show_ends(pinfo, layer)
    end
  end
  local said = summary(layers)
  if said ~= "" then pinfo.cols.info = said end
end

-- ---- what Wireshark is told of a stack ----

-- A protocol of Wireshark under the first name that is free.
local function new_proto(names, title)
  for place = 1, 1000 do
    local name = names[place] or (names[#names] .. "_" .. place)
    -- What it is called at length must be free, too.
    local good, proto = pcall(Proto.new, name, place == 1 and title or (title .. " " .. place))
    if good then return proto, name end
  end
  error("no filter name is free that begins with " .. names[1], 0)
end

local KINDS = { "uint8", "uint16", "uint24", "uint32" }

local function new_field(name, item, phase)
  local width = item.width
  local octets = math.ceil((phase + width) / 8)
  local is_whole = phase == 0 and width % 8 == 0
  local form = item.form
  if form and is_whole and form.bits == 8 then
    if form.as == "dotted" and width == 32 then return { field = ProtoField.ipv4(name, item.name), native = true } end
    if form.as == "colons" and width == 48 and not item.little then return { field = ProtoField.ether(name, item.name), native = true } end
  end
  local kind = KINDS[octets] or "uint64"
  local shown = base.DEC
  if width > 4 and not item.names then shown = (item.constant or item.computed) and base.HEX_DEC or base.DEC_HEX end
  local names
  if item.names and kind ~= "uint64" then
    names, shown = {}, base.DEC
    for number, text in pairs(item.names) do names[tonumber(number)] = text end
  end
  -- Masks of more than 32 bits are not taken: such a field within octets is added with its value.
  if is_whole or kind == "uint64" then
    return { field = ProtoField[kind](name, item.name, shown, names), explicit = not is_whole }
  end
  return { field = ProtoField[kind](name, item.name, shown, names, mask(width):lshift(8 * octets - phase - width):tonumber()) }
end

local function each_item(items, visit)
  for _, item in ipairs(items) do
    visit(item)
    if item.is == "options" then
      visit(item.kind)
      visit(item.length)
    end
    for _, inner in ipairs(item.arms or {}) do each_item(inner.items or {}, visit) end
    for _, inner in ipairs(item.elements or {}) do each_item(inner, visit) end
    if item.items then each_item(item.items, visit) end
  end
end

local function experts(proto, name)
  local made = {
    proto = proto,
    malformed = ProtoExpert.new(name .. ".malformed", "The wire refuses it", expert.group.MALFORMED, expert.severity.ERROR),
    dropped = ProtoExpert.new(name .. ".dropped", "A layer drops it in any state", expert.group.PROTOCOL, expert.severity.WARN),
    damaged = ProtoExpert.new(name .. ".damaged", "Its checksum is wrong", expert.group.CHECKSUM, expert.severity.ERROR),
    may_be_refused = ProtoExpert.new(name .. ".may_be_refused", "Refused if it is for this layer", expert.group.PROTOCOL, expert.severity.NOTE),
  }
  proto.experts = { made.malformed, made.dropped, made.damaged, made.may_be_refused }
  return made
end

-- Each field of a wire, with what tells it from others.
local function each_field(wire, visit)
  each_item(wire.items, function(item)
    local names = {}
    for number, text in pairs(item.names or {}) do table.insert(names, number .. "=" .. text) end
    table.sort(names)
    for _, phase in ipairs(item.phases or {}) do
      local form = item.form and item.form.as or ""
      visit(item, phase, table.concat({ item.filter, item.width, phase, form, table.concat(names, ",") }, " "))
    end
  end)
end

-- A wire that stands twice in a stack, as on two devices, is one protocol with one set of fields.
local function register_wire(stack, wire, all)
  local keys = { wire.filters[1] }
  each_field(wire, function(_, _, key) table.insert(keys, key) end)
  local of = table.concat(keys, "\n")
  local one = all[of]
  if not one then
    local proto, name = new_proto(wire.filters, wire.name .. " (" .. stack.name .. ")")
    one = { known = {} }
    all[of] = one
    local fields = {}
    each_field(wire, function(item, phase, key)
      if not one.known[key] then
        one.known[key] = new_field(name .. "." .. item.filter, item, phase)
        table.insert(fields, one.known[key].field)
      end
    end)
    proto.fields = fields
    one.proto = experts(proto, name)
  end
  each_item(wire.items, function(item) item.shown = item.phases and {} end)
  each_field(wire, function(item, phase, key)
    item.shown[phase + 1] = one.known[key]
  end)
  wire.proto = one.proto
end

local function reader(stack, protocol, of_frame)
  return function(tvb, pinfo, tree)
    local octets = { all = tvb:raw(0, tvb:len()), captured = tvb:len(), length = tvb:reported_len() }
    -- A table of ports gives packets of both directions.
    local numbers = protocol.numbers
    local is_sent = not of_frame and numbers and numbers[pinfo.src_port] and not numbers[pinfo.dst_port] or false
    local layers, rest, is_kept = dissect(stack, protocol, octets, of_frame, is_sent)
    show(stack, tvb, pinfo, tree, layers)
    if rest[1] < rest[2] then
      local behind = tvb:range(rest[1], rest[2] - rest[1])
      local last = layers[#layers]
      local is_good = last and not last.cut and not last.refused and #last.drops == 0 and not is_kept
      local of = is_good and last.protocol.keyed
      local key = of and of.value(last)
      local taken = key and of.open:try(key, behind:tvb(), pinfo, tree) or 0
      if taken == 0 then Dissector.get("data"):call(behind:tvb(), pinfo, tree) end
    end
    return tvb:len()
  end
end

-- What Wireshark gives packets to that begin with this protocol. Layers without a wire have a protocol of their own there, and where one
-- wire is of several.
local function proto_of(stack, protocol, name)
  if protocol.wire and protocol.wire.proto.read_by == protocol then return protocol.wire.proto.proto end
  local own = new_proto({ name .. "_" .. protocol.name:lower():gsub("[^a-z0-9_]", "_") }, protocol.name .. " (" .. stack.name .. ")")
  own.dissector = reader(stack, protocol, protocol.first)
  return own
end

-- Registers the wires of a stack, the tables of its keys, and where its packets are found.
local function register(stack)
  local name
  stack.proto, name = new_proto(stack.filters, "Stack " .. stack.name)
  stack.proto = experts(stack.proto, name)
  local all = {}
  for _, wire in ipairs(stack.wires) do register_wire(stack, wire, all) end
  for _, protocol in ipairs(stack.protocols) do
    for _, one in ipairs(protocol.above) do one.to = stack.protocols[one.to] end
    local proto = protocol.wire and protocol.wire.proto
    if proto and not proto.read_by then
      proto.read_by = protocol
      proto.proto.dissector = reader(stack, protocol, protocol.first)
    end
  end
  for _, protocol in ipairs(stack.protocols) do
    local keyed = protocol.keyed
    if keyed then
      keyed.open = DissectorTable.new(name .. "." .. keyed.name, protocol.name .. "." .. keyed.field, ftypes.UINT32, base.DEC, stack.proto.proto)
      for _, one in ipairs(protocol.above) do
        local proto = one.to.wire and one.to.wire.proto.proto
        if proto and one.keys[1] and one.keys[1].value and type(one.keys[1].value) == "number" then
          keyed.open:add(one.keys[1].value, proto)
        end
      end
      keyed.value = function(layer)
        for _, seen in ipairs(layer.seen) do
          if seen.item.header and seen.item.name == keyed.field and type(seen.value) == "number" then return seen.value end
        end
      end
    end
  end
  stack.proto.proto.dissector = stack.first and reader(stack, stack.protocols[stack.first], true) or function() return 0 end
  for _, at in ipairs(stack.at) do
    local proto = stack.proto.proto
    if at.protocol then
      local protocol = stack.protocols[at.protocol]
      proto = proto_of(stack, protocol, name)
      protocol.numbers = protocol.numbers or {}
      protocol.numbers[at.number] = true
    end
    DissectorTable.get(at.table):add(at.number, proto)
  end
end
