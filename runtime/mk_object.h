/* Objects: the entity, points, sessions and keyed objects of the layers, in a fixed number of places a class.
 *
 * The cells themselves are generated records beside these heads. An object that has ended stays in place until the
 * end of its reaction; then its place is free, and its generation grows, so that old references are recognised. */
#ifndef MK_OBJECT_H
#define MK_OBJECT_H

#include "mk_base.h"

enum mk_object_state { MK_FREE, MK_LIVING, MK_ENDED };

typedef struct mk_object {
    uint32_t generation;
    uint32_t parent;         /* its number in the parent's class */
    uint32_t older, younger; /* the neighbours in the parent, by age; MK_NOBODY at the ends */
    uint8_t state;
    bool dirty, again;
    uint16_t class_index;
    uint32_t settles;        /* in reaction `settled_in` */
    uint64_t settled_in;
    uint64_t age;            /* grows from object to object of the instance */
    uint64_t stream;         /* of random numbers */
    struct mk_object *next, **link; /* in the list of dirty or of ended objects; `link` points at what points at us */
} mk_object;

typedef struct mk_family {
    uint32_t oldest, youngest;
} mk_family;

typedef struct mk_class {
    mk_object *objects;  /* capacity, and one that stands for nobody */
    mk_ref *living;      /* by place: the reference to the living object there, else MK_NULL */
    mk_family *families; /* one for each place of the parent's class, or one */
    uint64_t *free;      /* a bit for each place */
    uint32_t capacity;
    uint32_t parent;     /* index of the class, MK_NOBODY: none */
    uint32_t parents;    /* its capacity, or 1 */
    uint32_t settle_limit;
    uint16_t index;
    bool settles;
} mk_class;

#define MK_FREE_WORDS(capacity) (((capacity) + 63) / 64)

/* What the generator says of a class. Its arrays lie in the instance one behind another, as in mk_class. */
typedef struct mk_class_plan {
    size_t objects; /* the first, in octets */
    uint32_t capacity, parent, parents;
    uint32_t settle_limit;
    bool settles;
} mk_class_plan;

void mk_classes_init(void *stack, mk_class *classes, const mk_class_plan *plans, uint32_t count);
/* The lowest free place, made an object of the family; MK_NOBODY if there is none. */
uint32_t mk_class_take(mk_class *class, uint32_t parent, uint64_t age);
/* Gives the place back. */
void mk_class_free(mk_class *class, uint32_t number);
/* The oldest living object of a family; the next living one that is younger. MK_NOBODY if there is none. */
uint32_t mk_oldest(const mk_class *class, uint32_t parent);
uint32_t mk_younger(const mk_class *class, uint32_t number);

static inline mk_ref mk_self(const mk_class *class, uint32_t number)
{
    return number == MK_NOBODY ? MK_NULL : mk_ref_of(number, class->objects[number].generation);
}

/* Whether a reference means a living object. */
static inline bool mk_lives(const mk_ref *living, uint32_t capacity, mk_ref ref)
{
    return MK_LIKELY(mk_number(ref) < capacity && living[mk_number(ref)] == ref);
}

/* The place of an object that a reference means, ended in this reaction or not; else the place that means nobody. */
static inline uint32_t mk_place(const mk_class *class, mk_ref ref)
{
    uint32_t number = mk_number(ref);
    if (MK_LIKELY(number < class->capacity && class->objects[number].generation == ref >> 32 &&
                  class->objects[number].state != MK_FREE))
        return number;
    return class->capacity;
}

/* The same, where the class's arrays are known. */
static inline uint32_t mk_place_in(const mk_ref *living, uint32_t capacity, const mk_class *class, mk_ref ref)
{
    return mk_lives(living, capacity, ref) ? mk_number(ref) : mk_place(class, ref);
}

/* Whether a reference means an object that was not freed. */
static inline bool mk_is_there(const mk_class *class, mk_ref ref)
{
    return mk_place(class, ref) != class->capacity;
}

static inline bool mk_living(const mk_class *class, mk_ref ref)
{
    return mk_lives(class->living, class->capacity, ref);
}

#endif
