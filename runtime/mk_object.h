/* Objects: the entity, points, sessions and keyed objects of the layers, in a fixed number of places a class.
 *
 * The cells themselves are generated records beside these heads. An object that has ended stays in place until the
 * end of its reaction; then its place is free, and its generation grows, so that old references are recognised.
 *
 * What every object has is its head. The rest is in arrays beside, which a class has where it asks for them: a session
 * is to be small, and there are many. */
#ifndef MK_OBJECT_H
#define MK_OBJECT_H

#include "mk_base.h"

/* Set in the generation of what does not live, so that no reference has it; MK_ENDED, too, until its place is free. */
#define MK_ENDED MK_GENERATIONS
#define MK_NOT_LIVING (UINT32_C(1) << 31)

typedef struct mk_object {
    uint32_t generation;
} mk_object;

/* Of a class with an `on settle`. */
typedef struct mk_settling {
    uint32_t next;       /* in the list of dirty objects: where it stands, see mk_core.c; 0: none */
    uint32_t link;       /* where the list says that it is next; 0: it is not in it */
    uint16_t settled_in; /* the reaction */
    uint16_t class_index;
    uint32_t settles : 30; /* in that reaction */
    uint32_t dirty : 1, again : 1;
} mk_settling;

/* Of a class that is walked, or whose objects end with their parent, or may have different parents. */
typedef struct mk_kin {
    uint32_t parent;         /* its number in the parent's class */
    uint32_t older, younger; /* the neighbours in the parent, by age; MK_NOBODY at the ends */
} mk_kin;

typedef struct mk_family {
    uint32_t oldest, youngest;
} mk_family;

typedef struct mk_class {
    mk_object *objects;    /* capacity, and one that stands for nobody; so all up to `families` */
    mk_settling *settling; /* NULL: it does not settle */
    mk_kin *kin;           /* NULL: not asked for */
    mk_family *families;   /* one for each place of the parent's class, or one; where there is `kin` */
    uint64_t *ages;        /* growing from object to object of the instance; NULL: no timer asks */
    uint64_t *streams;     /* of random numbers; NULL: none is drawn */
    uint64_t *free;        /* a bit for each place */
    uint64_t *ended;       /* the same, of those that ended in the reaction at hand; NULL: none ever ends */
    uint32_t ended_from, ended_to; /* words of it in which there may be some: from, and behind the last */
    uint32_t capacity;
    uint32_t parent;     /* index of the class, MK_NOBODY: none */
    uint32_t parents;    /* its capacity, or 1 */
    uint32_t settle_limit;
    uint16_t index;
} mk_class;

#define MK_FREE_WORDS(capacity) (((capacity) + 63) / 64)

/* Where something stands in the instance, in octets. What is small has less than 4 GiB. */
#ifdef MK_SMALL
typedef uint32_t mk_offset;
#else
typedef size_t mk_offset;
#endif

/* What the generator says of a class: where in the instance its arrays stand, 0: not there. */
typedef struct mk_class_plan {
    mk_offset objects, settling, kin, families, ages, streams, free, ended;
    uint32_t capacity, parent, parents;
    uint32_t settle_limit;
} mk_class_plan;

void mk_classes_init(void *stack, mk_class *classes, const mk_class_plan *plans, uint32_t count);
/* The lowest free place, made an object of the family; MK_NOBODY if there is none. */
uint32_t mk_class_take(mk_class *class, uint32_t parent, uint64_t age);
static inline bool mk_is_alive(const mk_object *object)
{
    return !(object->generation & MK_NOT_LIVING);
}

/* Gives the place back. */
void mk_class_free(mk_class *class, uint32_t number);
/* The oldest living object of a family; the next living one that is younger. MK_NOBODY if there is none. */
uint32_t mk_oldest(const mk_class *class, uint32_t parent);
uint32_t mk_younger(const mk_class *class, uint32_t number);

/* The reference to an object that lives or has just ended. */
static inline mk_ref mk_self(const mk_class *class, uint32_t number)
{
    return number == MK_NOBODY ? MK_NULL
                               : mk_ref_of(number, class->objects[number].generation & ~(MK_NOT_LIVING | MK_ENDED));
}

/* Whether a reference means a living object. */
static MK_OFTEN bool mk_lives(const mk_object *objects, uint32_t capacity, mk_ref ref)
{
    return MK_LIKELY(mk_number(ref) < capacity && objects[mk_number(ref)].generation == (uint32_t)(ref >> 32));
}

/* The same of a handle: one that nobody was given may have bits that no generation has. */
static inline bool mk_lives_by(const mk_object *objects, uint32_t capacity, mk_handle handle)
{
    uint32_t number = handle.object - 1;
    return MK_LIKELY(number < capacity && objects[number].generation == handle.generation && handle.generation < MK_GENERATIONS);
}

/* The place of an object that a reference means, ended in this reaction or not; else the place that means nobody. */
static inline uint32_t mk_place(const mk_class *class, mk_ref ref)
{
    uint32_t number = mk_number(ref);
    if (MK_UNLIKELY(number >= class->capacity))
        return class->capacity;
    uint32_t generation = class->objects[number].generation;
    /* What has ended differs in both bits. */
    bool is_there = generation == ref >> 32 || generation == (ref >> 32 | MK_NOT_LIVING | MK_ENDED);
    return MK_LIKELY(is_there) ? number : class->capacity;
}

/* The same, where the class's arrays are known. */
static inline uint32_t mk_place_in(const mk_object *objects, uint32_t capacity, const mk_class *class, mk_ref ref)
{
    return mk_lives(objects, capacity, ref) ? mk_number(ref) : mk_place(class, ref);
}

/* Whether a reference means an object that was not freed. */
static inline bool mk_is_there(const mk_class *class, mk_ref ref)
{
    return mk_place(class, ref) != class->capacity;
}

static inline bool mk_living(const mk_class *class, mk_ref ref)
{
    return mk_lives(class->objects, class->capacity, ref);
}

#endif
