//! Pages of this crate's diagnostics, for `mokume explain`: code, title, page.

pub static CODES: &[(&str, &str, &str)] = &[
    (
        "M0901",
        "a cycle of events that nothing breaks",
        "An event leads, through other layers, back to itself, all within one reaction: it would never end. Every cycle must cross a device, \
an application port, or a `later` event.\n\nThe message draws the cycle. Break it where a reaction of its own makes sense: a reply of an error service, a \
packet to oneself.\n\n    on fail(msg, reason) { later report(msg) or { drop msg: busy  return } }\n    on report(msg) { below.send(msg) }\n",
    ),
    (
        "M0902",
        "the pool cannot hold what the stack may keep at once",
        "Memory is state: the buffers of all quotas, of the devices' queues, and of the largest reaction must fit the pool, so that allocation within a \
reaction cannot fail. The message is the sum.\n\nGive the pool that many buffers, or keep less: smaller quotas, fewer `later` places, fewer sessions.\n",
    ),
    (
        "M0903",
        "a channel needs a queue (warning)",
        "A handler emits up before down: what follows from its first event may emit on the channel of its second one, so that events must wait in a queue \
to stay in order. It works, and costs a queue.\n\nEmit down before up, as the library does: acknowledge, then deliver.\n\n    below.send(Ack { next: \
next })\n    above.deliver(msg)\n",
    ),
];
