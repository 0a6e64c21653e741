//! The same interface for C. `include/mokume_embed.h` describes each function; names and meanings are those of the Rust
//! side.
//!
//! Keeps: no pointer is kept beyond the call that passes it, except a user's function and its context. Wrong use that
//! can be detected gets an error, not undefined behaviour.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::ptr;

use crate::{Backend, Event, Failure, Graph, Handle, Layer, Options, Running, Stack, User, Value, Way};

/// An argument of an event, laid out as in the header.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CValue {
    kind: u32,
    object: u32,
    generation: u32,
    size: u32,
    word: u64,
    octets: *const u8,
}

const WORD: u32 = 0;
const HANDLE: u32 = 1;
const OCTETS: u32 = 2;

type Hear = extern "C" fn(*mut c_void, u64, *const c_char, *const CValue, u32);

/// An instance and its users.
pub struct Instance {
    running: Running,
    users: BTreeMap<u32, (User, Hear, *mut c_void)>,
    next_user: u32,
    /// Whether a user's function is running: events that it causes are passed on after it returns.
    is_handing_over: bool,
}

/// # Safety
/// `text` is null or ends with a nul.
unsafe fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    // SAFETY: not null, and the caller's word that it ends.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("")
}

fn owned(words: &str) -> *mut c_char {
    CString::new(words.replace('\0', " ")).map_or(ptr::null_mut(), CString::into_raw)
}

/// # Safety
/// `why` is null or may be written.
unsafe fn say(why: *mut *mut c_char, words: &str) {
    if !why.is_null() {
        // SAFETY: the caller's word.
        unsafe { *why = owned(words) };
    }
}

/// # Safety
/// As [`say`].
unsafe fn or_null<T>(result: Result<T, String>, why: *mut *mut c_char) -> *mut T {
    match result {
        Ok(value) => Box::into_raw(Box::new(value)),
        Err(words) => {
            // SAFETY: passed on.
            unsafe { say(why, &words) };
            ptr::null_mut()
        }
    }
}

/// # Safety
/// A text that one of these functions gave, or null; not twice.
#[no_mangle]
pub unsafe extern "C" fn mokume_text_free(words: *mut c_char) {
    if !words.is_null() {
        // SAFETY: it came from `CString::into_raw`.
        drop(unsafe { CString::from_raw(words) });
    }
}

/// # Safety
/// `name` ends with a nul.
#[no_mangle]
pub unsafe extern "C" fn mokume_graph_new(name: *const c_char) -> *mut Graph {
    // SAFETY: the caller's word.
    Box::into_raw(Box::new(Graph::new(unsafe { text(name) })))
}

/// # Safety
/// A graph of [`mokume_graph_new`], or null; not twice.
#[no_mangle]
pub unsafe extern "C" fn mokume_graph_free(graph: *mut Graph) {
    if !graph.is_null() {
        // SAFETY: it came from a box.
        drop(unsafe { Box::from_raw(graph) });
    }
}

/// # Safety
/// A living graph, and a text.
#[no_mangle]
pub unsafe extern "C" fn mokume_graph_module(graph: *mut Graph, name: *const c_char) {
    // SAFETY: the caller's word, here and in the functions that follow.
    unsafe { (*graph).module(text(name)) };
}

/// # Safety
/// A living graph, and texts.
#[no_mangle]
pub unsafe extern "C" fn mokume_graph_source(graph: *mut Graph, file: *const c_char, source: *const c_char) {
    // SAFETY: as above.
    unsafe { (*graph).source(text(file), text(source)) };
}

/// # Safety
/// A living graph, and texts.
#[no_mangle]
pub unsafe extern "C" fn mokume_graph_parameter(graph: *mut Graph, name: *const c_char, ty: *const c_char) {
    // SAFETY: as above.
    unsafe { (*graph).parameter(text(name), text(ty)) };
}

/// # Safety
/// A living graph, and texts; `with` may be null.
#[no_mangle]
pub unsafe extern "C" fn mokume_graph_layer(
    graph: *mut Graph,
    name: *const c_char,
    layer: *const c_char,
    over: *const c_char,
    with: *const c_char,
) {
    // SAFETY: as above.
    let (graph, name, layer, over, with) = unsafe { (&mut *graph, text(name), text(layer), text(over), text(with)) };
    let served = with.split(',').map(str::trim).filter(|one| !one.is_empty());
    graph.layer(served.fold(Layer::new(name, layer).over(over), Layer::with));
}

/// # Safety
/// A living graph, and a text.
#[no_mangle]
pub unsafe extern "C" fn mokume_graph_export(graph: *mut Graph, layer: *const c_char) {
    // SAFETY: as above.
    unsafe { (*graph).export(text(layer)) };
}

/// # Safety
/// A living graph.
#[no_mangle]
pub unsafe extern "C" fn mokume_graph_text(graph: *const Graph) -> *mut c_char {
    // SAFETY: as above.
    owned(&unsafe { &*graph }.text())
}

/// # Safety
/// A living graph; `why` is null or may be written.
#[no_mangle]
pub unsafe extern "C" fn mokume_graph_check(graph: *const Graph, why: *mut *mut c_char) -> *mut Stack {
    // SAFETY: as above.
    unsafe { or_null((*graph).check().map_err(|refused| refused.to_string()), why) }
}

/// # Safety
/// Texts; `stack` may be null; `why` is null or may be written.
#[no_mangle]
pub unsafe extern "C" fn mokume_stack_of_file(
    file: *const c_char,
    stack: *const c_char,
    why: *mut *mut c_char,
) -> *mut Stack {
    // SAFETY: as above.
    unsafe {
        let name = text(stack);
        let stack = Stack::of_file(text(file), (!name.is_empty()).then_some(name));
        or_null(stack.map_err(|failure| failure.to_string()), why)
    }
}

/// # Safety
/// A stack that one of these functions gave, or null; not twice.
#[no_mangle]
pub unsafe extern "C" fn mokume_stack_free(stack: *mut Stack) {
    if !stack.is_null() {
        // SAFETY: it came from a box.
        drop(unsafe { Box::from_raw(stack) });
    }
}

/// # Safety
/// A living stack, and a text; `why` is null or may be written.
#[no_mangle]
pub unsafe extern "C" fn mokume_stack_shared_object(
    stack: *const Stack,
    folder: *const c_char,
    why: *mut *mut c_char,
) -> *mut c_char {
    // SAFETY: as above.
    match unsafe { (*stack).shared_object(text(folder).as_ref()) } {
        Ok(path) => owned(&path.to_string_lossy()),
        Err(failure) => {
            // SAFETY: as above.
            unsafe { say(why, &failure.to_string()) };
            ptr::null_mut()
        }
    }
}

/// # Safety
/// A living stack, texts, `settings` null or an array of texts that ends with null; `why` is null or may be written.
#[no_mangle]
pub unsafe extern "C" fn mokume_instance_new(
    stack: *const Stack,
    backend: *const c_char,
    settings: *const *const c_char,
    seed: u64,
    why: *mut *mut c_char,
) -> *mut Instance {
    // SAFETY: as above.
    unsafe { or_null(instance(&*stack, text(backend), settings, seed).map_err(|failure| failure.to_string()), why) }
}

/// # Safety
/// As [`mokume_instance_new`].
unsafe fn instance(
    stack: &Stack,
    backend: &str,
    settings: *const *const c_char,
    seed: u64,
) -> Result<Instance, Failure> {
    let backend = Backend::named(if backend.is_empty() { "interpreter" } else { backend })?;
    let mut options = Options { backend, seed, ..Options::default() };
    let mut next = settings;
    // SAFETY: the array ends with null.
    while !next.is_null() && unsafe { !(*next).is_null() } {
        // SAFETY: before the null, texts.
        options.set.push(mokume_driver::run::setting(unsafe { text(*next) })?);
        // SAFETY: still within the array.
        next = unsafe { next.add(1) };
    }
    let running = stack.instance(&options)?;
    Ok(Instance { running, users: BTreeMap::new(), next_user: 0, is_handing_over: false })
}

/// # Safety
/// An instance of [`mokume_instance_new`], or null; not twice, and not from a user's function.
#[no_mangle]
pub unsafe extern "C" fn mokume_instance_free(instance: *mut Instance) {
    if !instance.is_null() {
        // SAFETY: it came from a box.
        drop(unsafe { Box::from_raw(instance) });
    }
}

/// # Safety
/// A living instance.
#[no_mangle]
pub unsafe extern "C" fn mokume_start(instance: *mut Instance, now: u64) {
    // SAFETY: as above.
    unsafe {
        (*instance).running.start(now);
        hand_over(instance);
    }
}

/// # Safety
/// A living instance; `values` are `count`; octets are valid during the call; `why` is null or may be written.
#[no_mangle]
pub unsafe extern "C" fn mokume_call(
    instance: *mut Instance,
    now: u64,
    event: *const c_char,
    values: *const CValue,
    count: u32,
    why: *mut *mut c_char,
) -> c_int {
    // SAFETY: as above.
    let called = unsafe {
        let given = if count == 0 { &[] } else { std::slice::from_raw_parts(values, count as usize) };
        let args: Vec<Value> = given.iter().map(|one| value(one)).collect();
        (*instance).running.call(now, text(event), &args)
    };
    match called {
        Ok(accepted) => {
            // SAFETY: as above.
            unsafe { hand_over(instance) };
            c_int::from(accepted)
        }
        Err(failure) => {
            // SAFETY: as above.
            unsafe { say(why, &failure.to_string()) };
            -1
        }
    }
}

/// # Safety
/// Its octets are valid.
unsafe fn value(given: &CValue) -> Value {
    match given.kind {
        HANDLE => Value::Handle(Handle { object: given.object, generation: given.generation }),
        OCTETS if given.size == 0 || given.octets.is_null() => Value::Message(Vec::new()),
        // SAFETY: the caller's word.
        OCTETS => Value::Message(unsafe { std::slice::from_raw_parts(given.octets, given.size as usize) }.to_vec()),
        _ => Value::Word(given.word),
    }
}

fn c_value(value: &Value) -> CValue {
    let none = CValue { kind: WORD, object: 0, generation: 0, size: 0, word: 0, octets: ptr::null() };
    match value {
        Value::Word(word) => CValue { word: *word, ..none },
        Value::Handle(handle) => CValue { kind: HANDLE, object: handle.object, generation: handle.generation, ..none },
        Value::Message(octets) => CValue { kind: OCTETS, size: octets.len() as u32, octets: octets.as_ptr(), ..none },
    }
}

/// # Safety
/// A living instance.
#[no_mangle]
pub unsafe extern "C" fn mokume_advance(instance: *mut Instance, now: u64) {
    // SAFETY: as above.
    unsafe {
        (*instance).running.advance(now);
        hand_over(instance);
    }
}

/// # Safety
/// A living instance; `deadline` may be written.
#[no_mangle]
pub unsafe extern "C" fn mokume_next_deadline(instance: *const Instance, deadline: *mut u64) -> bool {
    // SAFETY: as above.
    match unsafe { (*instance).running.next_deadline() } {
        Some(at) => {
            // SAFETY: as above.
            unsafe { *deadline = at };
            true
        }
        None => false,
    }
}

/// # Safety
/// A living instance, a text, a function that may be called with `context` while it is attached.
#[no_mangle]
pub unsafe extern "C" fn mokume_attach(
    instance: *mut Instance,
    port: *const c_char,
    hear: Hear,
    context: *mut c_void,
    why: *mut *mut c_char,
) -> c_int {
    // SAFETY: as above.
    let (instance, port) = unsafe { (&mut *instance, text(port)) };
    match instance.running.attach(port) {
        Ok(user) => {
            let number = instance.next_user;
            instance.next_user += 1;
            instance.users.insert(number, (user, hear, context));
            number as c_int
        }
        Err(failure) => {
            // SAFETY: as above.
            unsafe { say(why, &failure.to_string()) };
            -1
        }
    }
}

/// # Safety
/// A living instance.
#[no_mangle]
pub unsafe extern "C" fn mokume_detach(instance: *mut Instance, user: c_int) -> bool {
    // SAFETY: as above.
    let instance = unsafe { &mut *instance };
    let known = u32::try_from(user).ok().and_then(|user| instance.users.remove(&user));
    known.is_some_and(|(user, ..)| instance.running.detach(user))
}

/// # Safety
/// A living instance, and texts; `why` is null or may be written.
#[no_mangle]
pub unsafe extern "C" fn mokume_attach_device(
    instance: *mut Instance,
    port: *const c_char,
    device: *const c_char,
    why: *mut *mut c_char,
) -> bool {
    // SAFETY: as above.
    let attached = unsafe { (*instance).running.attach_device(text(port), text(device)) };
    if let Err(failure) = &attached {
        // SAFETY: as above.
        unsafe { say(why, &failure.to_string()) };
    }
    attached.is_ok()
}

/// # Safety
/// A living instance, and a text.
#[no_mangle]
pub unsafe extern "C" fn mokume_detach_device(instance: *mut Instance, port: *const c_char) -> bool {
    // SAFETY: as above.
    unsafe { (*instance).running.detach_device(text(port)) }.unwrap_or(false)
}

/// # Safety
/// A living instance; `why` is null or may be written.
#[no_mangle]
pub unsafe extern "C" fn mokume_poll(instance: *mut Instance, longest: u64, why: *mut *mut c_char) -> bool {
    // SAFETY: as above.
    unsafe {
        let polled = (*instance).running.poll(longest);
        hand_over(instance);
        if let Err(failure) = &polled {
            say(why, &failure.to_string());
        }
        polled.is_ok()
    }
}

/// # Safety
/// A living instance.
#[no_mangle]
pub unsafe extern "C" fn mokume_now(instance: *const Instance) -> u64 {
    // SAFETY: as above.
    unsafe { (*instance).running.now() }
}

/// # Safety
/// A living instance, and a text.
#[no_mangle]
pub unsafe extern "C" fn mokume_dropped(instance: *const Instance, reason: *const c_char) -> u64 {
    // SAFETY: as above.
    unsafe { (*instance).running.dropped(text(reason)) }
}

/// # Safety
/// A living stack.
#[no_mangle]
pub unsafe extern "C" fn mokume_stack_interface(stack: *const Stack) -> *mut c_char {
    // SAFETY: as above.
    owned(&unsafe { &*stack }.interface())
}

/// # Safety
/// A living instance.
#[no_mangle]
pub unsafe extern "C" fn mokume_accounts(instance: *const Instance) -> *mut c_char {
    // SAFETY: as above.
    owned(&unsafe { &*instance }.running.accounts_text())
}

/// # Safety
/// A living instance.
#[no_mangle]
pub unsafe extern "C" fn mokume_take_reports(instance: *mut Instance) -> *mut c_char {
    // SAFETY: as above.
    let reports = unsafe { &mut *instance }.running.take_reports();
    owned(&serde_json::Value::from(reports).to_string())
}

/// One direction of a line, and the frame that arrived last, with its number.
pub struct Line {
    way: Way,
    number: u64,
    arrived: Vec<u8>,
}

/// # Safety
/// A text, or null; `why` is null or may be written.
#[no_mangle]
pub unsafe extern "C" fn mokume_line_new(words: *const c_char, seed: u64, why: *mut *mut c_char) -> *mut Line {
    // SAFETY: as above.
    unsafe {
        let way = crate::line(text(words), seed).map_err(|failure| failure.to_string());
        or_null(way.map(|way| Line { way, number: 0, arrived: Vec::new() }), why)
    }
}

/// # Safety
/// A line of [`mokume_line_new`], or null; not twice.
#[no_mangle]
pub unsafe extern "C" fn mokume_line_free(line: *mut Line) {
    if !line.is_null() {
        // SAFETY: it came from a box.
        drop(unsafe { Box::from_raw(line) });
    }
}

/// # Safety
/// A living line; `size` octets, or null if there are none.
#[no_mangle]
pub unsafe extern "C" fn mokume_line_send(line: *mut Line, now: u64, octets: *const u8, size: u32) {
    // SAFETY: as above.
    unsafe { mokume_line_send_as(line, now, 0, octets, size) }
}

/// # Safety
/// As [`mokume_line_send`].
#[no_mangle]
pub unsafe extern "C" fn mokume_line_send_as(line: *mut Line, now: u64, number: u64, octets: *const u8, size: u32) {
    // SAFETY: as above.
    unsafe {
        let frame = if octets.is_null() { &[] } else { std::slice::from_raw_parts(octets, size as usize) };
        (*line).way.send_as(now, frame, number);
    }
}

/// # Safety
/// A living line.
#[no_mangle]
pub unsafe extern "C" fn mokume_line_number(line: *const Line) -> u64 {
    // SAFETY: as above.
    unsafe { (*line).number }
}

/// # Safety
/// A living line; `at` may be written.
#[no_mangle]
pub unsafe extern "C" fn mokume_line_next(line: *const Line, at: *mut u64) -> bool {
    // SAFETY: as above.
    match unsafe { &*line }.way.next_time() {
        Some(time) => {
            // SAFETY: as above.
            unsafe { *at = time };
            true
        }
        None => false,
    }
}

/// # Safety
/// A living line; `size` may be written.
#[no_mangle]
pub unsafe extern "C" fn mokume_line_arrived(line: *mut Line, now: u64, size: *mut u32) -> *const u8 {
    // SAFETY: as above.
    let line = unsafe { &mut *line };
    match line.way.arrived_as(now) {
        Some((number, frame)) => {
            (line.number, line.arrived) = (number, frame);
            // SAFETY: as above.
            unsafe { *size = line.arrived.len() as u32 };
            line.arrived.as_ptr()
        }
        None => ptr::null(),
    }
}

/// Calls the users' functions until no event is left. These functions may call the instance, so no reference to it
/// lives while one runs.
///
/// # Safety
/// A living instance, which no function frees.
unsafe fn hand_over(instance: *mut Instance) {
    // SAFETY: one field, read and written at once.
    if unsafe { std::mem::replace(&mut (*instance).is_handing_over, true) } {
        return;
    }
    // SAFETY: the reference ends with the call.
    while let Some((event, hear, context)) = next(unsafe { &mut *instance }) {
        let name = CString::new(event.name).unwrap_or_default();
        let args: Vec<CValue> = event.args.iter().map(c_value).collect();
        hear(context, event.at, name.as_ptr(), args.as_ptr(), args.len() as u32);
    }
    // SAFETY: as before.
    unsafe { (*instance).is_handing_over = false };
}

fn next(instance: &mut Instance) -> Option<(Event, Hear, *mut c_void)> {
    let running = &mut instance.running;
    instance
        .users
        .values()
        .find_map(|(user, hear, context)| running.next_event(*user).map(|event| (event, *hear, *context)))
}
