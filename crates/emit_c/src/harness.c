/* Drives any number of stacks by messages of octets: in the compiler's own process, or as a program of its own that is
 * spoken to through its standard input and output (so that it may be built with sanitizers, and may crash alone).
 *
 * Not part of the runtime: it allocates. Numbers are little-endian; machine.rs says what each request holds. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "mokume.h"

extern const mk_interface *const mk_stacks[];
extern const uint32_t mk_stack_count;

#ifdef MK_WITH_FAULTS
int mk_fault_active = -1;
#endif

enum { MAKE = 1, START, INPUT, ADVANCE, NEXT_DEADLINE, ACCOUNTS, COVERAGE, FREE, SET_FAULT, RESET, PROGRESS };

enum { PARAMS = 256 };

/* So many octets are mapped and not reserved: an instance touches only the buffers that it uses. */
#define MUCH ((size_t)1 << 30)

typedef struct octets {
    uint8_t *at;
    size_t size, capacity;
} octets;

typedef struct machine {
    const mk_interface *stack;
    void *memory, *instance;
    size_t mapped; /* octets, if the memory is mapped */
    octets outputs;
    uint32_t output_count;
    uint64_t *covered; /* before it was reset */
} machine;

/* Only MAKE, FREE and SET_FAULT change what machines share: the caller lets each of them run alone. All others touch their own
 * machine, and may run beside others of other machines. */
static machine *machines;
static uint32_t machine_count;

static void *grow(void *memory, size_t size)
{
    void *grown = realloc(memory, size);
    if (!grown) {
        fprintf(stderr, "this machine has no memory left: %zu octets more were needed to run a stack in C\n", size);
        exit(3);
    }
    return grown;
}

static void check_instance(const void *instance)
{
    if (!instance) {
        fprintf(stderr, "a parameter of the stack has no such value\n");
        exit(3);
    }
}

static void put(octets *to, const void *from, size_t size)
{
    if (to->size + size > to->capacity) {
        to->capacity = 2 * (to->size + size);
        to->at = grow(to->at, to->capacity);
    }
    if (size)
        memcpy(to->at + to->size, from, size);
    to->size += size;
}

static void put_number(octets *to, uint64_t value, uint32_t size)
{
    uint8_t number[8];
    mk_put_le(number, size, value);
    put(to, number, size);
}

static uint64_t take_number(const uint8_t **at, uint32_t size)
{
    uint64_t value = mk_get_le(*at, size);
    *at += size;
    return value;
}

static void put_datum(octets *to, const mk_datum *datum)
{
    put_number(to, datum->kind, 1);
    switch (datum->kind) {
    case MK_WORD:
        put_number(to, datum->word, 8);
        break;
    case MK_HANDLE:
        put_number(to, mk_ref_of_handle(datum->handle), 8);
        break;
    default:
        put_number(to, datum->octets.size, 4);
        put(to, datum->octets.at, datum->octets.size);
        break;
    }
}

static mk_datum take_datum(const uint8_t **at)
{
    mk_datum datum = {MK_WORD, 0, {0, 0}, {NULL, 0}};
    datum.kind = (uint32_t)take_number(at, 1);
    switch (datum.kind) {
    case MK_WORD:
        datum.word = take_number(at, 8);
        break;
    case MK_HANDLE:
        datum.handle = mk_handle_of(take_number(at, 8));
        break;
    default:
        datum.octets.size = (uint32_t)take_number(at, 4);
        datum.octets.at = *at;
        *at += datum.octets.size;
        break;
    }
    return datum;
}

static void output(void *context, uint32_t port, uint32_t event, const mk_datum *args, uint32_t count)
{
    machine *m = &machines[(uintptr_t)context];
    put_number(&m->outputs, port, 4);
    put_number(&m->outputs, event, 4);
    put_number(&m->outputs, count, 4);
    for (uint32_t i = 0; i < count; i++)
        put_datum(&m->outputs, &args[i]);
    m->output_count++;
}

static mk_config settings(const uint8_t **at, uint64_t *params)
{
    mk_config config;
    memset(&config, 0, sizeof config);
    config.seed = take_number(at, 8);
    config.buffers = (uint32_t)take_number(at, 4);
    config.buffer_octets = (uint32_t)take_number(at, 4);
    config.messages = (uint32_t)take_number(at, 4);
    config.outputs = (uint32_t)take_number(at, 4);
    config.reports = (uint32_t)take_number(at, 4);
    uint32_t count = (uint32_t)take_number(at, 4);
    for (uint32_t i = 0; i < count && i < PARAMS; i++)
        params[i] = take_number(at, 8);
    return config;
}

static void give_back(machine *m)
{
    if (m->mapped && m->memory)
        munmap(m->memory, m->mapped);
    else
        free(m->memory);
    free(m->outputs.at);
    free(m->covered);
    m->covered = NULL;
    m->memory = m->instance = m->outputs.at = NULL;
}

static void make(const uint8_t *at, octets *answer)
{
    uint64_t params[PARAMS] = {0};
    const mk_interface *stack = mk_stacks[take_number(&at, 4)];
    mk_config config = settings(&at, params);
    machines = grow(machines, (machine_count + 1) * sizeof *machines);
    machine *m = &machines[machine_count];
    memset(m, 0, sizeof *m);
    m->stack = stack;
    size_t size = stack->size(&config);
    if (size == SIZE_MAX) {
        put_number(answer, UINT32_MAX, 4);
        put_number(answer, size, 8);
        return;
    }
    size = (size + 63) & ~(size_t)63;
    if (size >= MUCH) {
        void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        m->memory = mapped == MAP_FAILED ? NULL : mapped;
        m->mapped = size;
    } else {
        m->memory = aligned_alloc(64, size);
    }
    if (!m->memory) {
        put_number(answer, UINT32_MAX, 4);
        put_number(answer, size, 8);
        return;
    }
    m->instance = stack->init(m->memory, &config, params, output, (void *)(uintptr_t)machine_count);
    check_instance(m->instance);
    m->covered = grow(NULL, (stack->branch_count + 1) * sizeof(uint64_t));
    memset(m->covered, 0, (stack->branch_count + 1) * sizeof(uint64_t));
    put_number(answer, machine_count, 4);
    machine_count++;
}

/* With the sizes that it was made with. */
static void reset(uint32_t index, const uint8_t *at)
{
    uint64_t params[PARAMS] = {0};
    machine *m = &machines[index];
    mk_config config = settings(&at, params);
    const uint64_t *taken = m->stack->coverage(m->instance);
    for (uint32_t i = 0; taken && i < m->stack->branch_count; i++)
        m->covered[i] += taken[i];
    m->instance = m->stack->init(m->memory, &config, params, output, (void *)(uintptr_t)index);
    check_instance(m->instance);
}

static void outcome(machine *m, bool refused, octets *answer)
{
    mk_core *core = m->stack->core(m->instance);
    put_number(answer, refused, 1);
    put_number(answer, m->output_count, 4);
    put(answer, m->outputs.at, m->outputs.size);
    put_number(answer, core->report_count, 4);
    for (uint32_t i = 0; i < core->report_count; i++) {
        put_number(answer, core->reports[i].kind, 4);
        put_number(answer, core->reports[i].source, 4);
    }
    m->output_count = 0;
    m->outputs.size = 0;
    core->report_count = 0;
}

static void input(machine *m, const uint8_t *at, octets *answer)
{
    mk_datum args[512];
    uint64_t now = take_number(&at, 8);
    uint32_t port = (uint32_t)take_number(&at, 4), event = (uint32_t)take_number(&at, 4);
    uint32_t count = (uint32_t)take_number(&at, 4);
    for (uint32_t i = 0; i < count && i < sizeof args / sizeof *args; i++)
        args[i] = take_datum(&at);
    outcome(m, !m->stack->input(m->instance, now, port, event, args, count), answer);
}

static void accounts(machine *m, octets *answer)
{
    mk_core *core = m->stack->core(m->instance);
    const mk_accounts *a = &core->accounts;
    const uint64_t totals[] = {a->received, a->gone, a->delivered, a->merged, a->held, a->refused,
                               core->exhausted + core->pool.exhausted + core->agenda.exhausted};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        put_number(answer, totals[i], 8);
    put_number(answer, m->stack->reason_count, 4);
    for (uint32_t i = 0; i < m->stack->reason_count; i++) {
        put_number(answer, a->dropped[i], 8);
        put_number(answer, a->consumed[i], 8);
    }
    put_number(answer, m->stack->counter_count, 4);
    for (uint32_t i = 0; i < m->stack->counter_count; i++)
        put_number(answer, m->stack->counters(m->instance)[i], 8);
}

static void coverage(machine *m, octets *answer)
{
    const uint64_t *taken = m->stack->coverage(m->instance);
    uint32_t count = taken ? m->stack->branch_count : 0;
    put_number(answer, count, 4);
    for (uint32_t i = 0; i < count; i++)
        put_number(answer, m->covered[i] + taken[i], 8);
}

/* How many branches were ever taken. */
static void progress(machine *m, octets *answer)
{
    const uint64_t *taken = m->stack->coverage(m->instance);
    uint32_t count = taken ? m->stack->branch_count : 0, found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += (m->covered[i] | taken[i]) != 0;
    put_number(answer, found, 4);
}

/* Answers a request. Who calls has room for the answer, nothing at first, which grows as needed. */
void mk_harness_call(const uint8_t *request, octets *answer);
void mk_harness_call(const uint8_t *request, octets *answer)
{
    uint64_t deadline = 0;
    uint32_t what = (uint32_t)take_number(&request, 1);
    answer->size = 0;
    if (what == MAKE) {
        make(request, answer);
    } else if (what == SET_FAULT) {
#ifdef MK_WITH_FAULTS
        mk_fault_active = (int)(int32_t)(uint32_t)take_number(&request, 4);
#endif
    } else {
        uint32_t index = (uint32_t)take_number(&request, 4);
        machine *m = &machines[index];
        switch (what) {
        case START:
            m->stack->start(m->instance, take_number(&request, 8));
            outcome(m, false, answer);
            break;
        case INPUT:
            input(m, request, answer);
            break;
        case ADVANCE:
            m->stack->advance(m->instance, take_number(&request, 8));
            outcome(m, false, answer);
            break;
        case NEXT_DEADLINE:
            put_number(answer, m->stack->next_deadline(m->instance, &deadline), 1);
            put_number(answer, deadline, 8);
            break;
        case ACCOUNTS:
            accounts(m, answer);
            break;
        case COVERAGE:
            coverage(m, answer);
            break;
        case RESET:
            reset(index, request);
            break;
        case PROGRESS:
            progress(m, answer);
            break;
        default:
            give_back(m);
            break;
        }
    }
}

#ifdef MK_HARNESS_PROGRAM
int main(void)
{
    octets request = {NULL, 0, 0}, answer = {NULL, 0, 0};
    uint8_t head[4];
    while (fread(head, 1, 4, stdin) == 4) {
        uint32_t size = (uint32_t)mk_get_le(head, 4);
        if (size > request.capacity) {
            request.at = grow(request.at, size);
            request.capacity = size;
        }
        if (fread(request.at, 1, size, stdin) != size)
            break;
        mk_harness_call(request.at, &answer);
        mk_put_le(head, 4, answer.size);
        fwrite(head, 1, 4, stdout);
        fwrite(answer.at, 1, answer.size, stdout);
        fflush(stdout);
    }
    for (uint32_t i = 0; i < machine_count; i++)
        give_back(&machines[i]);
    free(machines);
    free(answer.at);
    free(request.at);
    return 0;
}
#endif
