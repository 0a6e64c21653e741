/* Mokume in a C program: stacks that are put together, checked and run while the program runs.
 *
 * Link with libmokume_embed. For a stack that is known when the program is built, generated C needs none of this:
 * see the runtime's README.
 *
 * Functions that may fail take `char **why`: NULL, or where the reason goes; free it with mokume_text_free.
 * An instance is single-threaded; several share nothing. Time is in nanoseconds and never runs backwards. */
#ifndef MOKUME_EMBED_H
#define MOKUME_EMBED_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mokume_graph mokume_graph;       /* a stack that is being put together */
typedef struct mokume_stack mokume_stack;       /* one that was found right */
typedef struct mokume_instance mokume_instance; /* one that runs */
typedef struct mokume_line mokume_line;         /* one direction of a line between two, with weather */

enum mokume_kind { MOKUME_WORD, MOKUME_HANDLE, MOKUME_OCTETS };

/* An argument of an event. Octets are valid during the call that gives them. */
typedef struct mokume_value {
    uint32_t kind;               /* enum mokume_kind */
    uint32_t object, generation; /* of a handle: a session */
    uint32_t size;               /* of octets */
    uint64_t word;
    const uint8_t *octets;
} mokume_value;

/* What the stack says at a port. The function may call the instance: that is the next reaction. */
typedef void (*mokume_hear)(void *context, uint64_t at, const char *event, const mokume_value *values, uint32_t count);

void mokume_text_free(char *text);

/* Putting a stack together; texts are copied. `with` names who serves what the layer uses, by commas, or is NULL. */
mokume_graph *mokume_graph_new(const char *name);
void mokume_graph_free(mokume_graph *graph);
void mokume_graph_module(mokume_graph *graph, const char *name);
void mokume_graph_source(mokume_graph *graph, const char *file, const char *text);
void mokume_graph_parameter(mokume_graph *graph, const char *name, const char *type);
void mokume_graph_layer(mokume_graph *graph, const char *name, const char *layer, const char *over, const char *with);
void mokume_graph_export(mokume_graph *graph, const char *layer);
char *mokume_graph_text(const mokume_graph *graph);

/* Checks it as the compiler checks a file; NULL, and all diagnostics as `why`, if it is wrong. */
mokume_stack *mokume_graph_check(const mokume_graph *graph, char **why);
mokume_stack *mokume_stack_of_file(const char *file, const char *stack, char **why);
void mokume_stack_free(mokume_stack *stack);

/* As JSON: {"name", "parameters": [NAME…], "reasons": [NAME…], "ports": [{"name", "kind": "device" or "application", "inputs": [EVENT…],
 * "outputs": [EVENT…]}]}. An EVENT: {"event", "takes": [{"name", "kind": "number", "session", "message" or "reason", "bits" of a
 * number, "is": "time" of one in nanoseconds and "truth" of one that is 0 or 1, "enum" and "names": {NAME: number…} of an enum's, "open": false if it has no others, "most" of a
 * vector's length}…], "defaults": how many may be left out at the end}. The word of a reason is its place in "reasons". */
char *mokume_stack_interface(const mokume_stack *stack);

/* Compiles it into `folder`/lib<name>.so, headers beside it; the path. */
char *mokume_stack_shared_object(const mokume_stack *stack, const char *folder, char **why);

/* `backend`: "interpreter" (or NULL) or "c". `settings`: NULL, or texts like "address=10.0.0.1/24", NULL at the end. */
mokume_instance *mokume_instance_new(const mokume_stack *stack, const char *backend, const char *const *settings,
                                     uint64_t seed, char **why);
void mokume_instance_free(mokume_instance *instance);

void mokume_start(mokume_instance *instance, uint64_t now);
/* An event into the stack: "udp.send_to". 1: done; 0: refused at the door; -1: there is no such event, or it takes others: a plain enum
 * no number without a name, a vector no more elements than its bound. Other numbers are cut to the bits of their types. Elements behind a
 * vector's length are not looked at. */
int mokume_call(mokume_instance *instance, uint64_t now, const char *event, const mokume_value *values, uint32_t count,
                char **why);
void mokume_advance(mokume_instance *instance, uint64_t now);
bool mokume_next_deadline(const mokume_instance *instance, uint64_t *deadline);

/* Users of a port come and go while the stack runs; the number of the user, or -1. */
int mokume_attach(mokume_instance *instance, const char *port, mokume_hear hear, void *context, char **why);
bool mokume_detach(mokume_instance *instance, int user);

/* Devices too, as `mokume run --device` names them: "tap:mok0", "udp:127.0.0.1:7001". Then the machine's clock counts. */
bool mokume_attach_device(mokume_instance *instance, const char *port, const char *device, char **why);
bool mokume_detach_device(mokume_instance *instance, const char *port);
bool mokume_poll(mokume_instance *instance, uint64_t longest, char **why);
uint64_t mokume_now(const mokume_instance *instance);

uint64_t mokume_dropped(const mokume_instance *instance, const char *reason);
/* What became of all messages, as JSON: numbers by name, "dropped" and "consumed" by reason, "counters" of the layers. */
char *mokume_accounts(const mokume_instance *instance);
/* Overflows, indices beyond an array, …: faults of the layers' own, as a JSON array of texts; each is taken once. */
char *mokume_take_reports(mokume_instance *instance);

/* A line: what becomes of frames is a function of the words ("loss 2 % delay 5 ms .. 20 ms", as in a network's link; NULL: they arrive at
 * once), of the seed, of the frames and of when they were sent. */
mokume_line *mokume_line_new(const char *words, uint64_t seed, char **why);
void mokume_line_free(mokume_line *line);
void mokume_line_send(mokume_line *line, uint64_t now, const uint8_t *octets, uint32_t size);
/* The same, with a number by which the frame is known when it arrives. */
void mokume_line_send_as(mokume_line *line, uint64_t now, uint64_t number, const uint8_t *octets, uint32_t size);
/* When the next frame arrives; false if none is under way. */
bool mokume_line_next(const mokume_line *line, uint64_t *at);
/* A frame that has arrived by now, valid until the next call for this line; NULL if none has. */
const uint8_t *mokume_line_arrived(mokume_line *line, uint64_t now, uint32_t *size);
/* The number of the frame that arrived last; 0 if it was sent without one, or bits of it were turned on the way. */
uint64_t mokume_line_number(const mokume_line *line);

#ifdef __cplusplus
}
#endif

#endif
