/* Objects; see mk_object.h. */
#include "mk_object.h"

static void mk_class_init(mk_class *class)
{
    memset(class->objects, 0, ((size_t)class->capacity + 1) * sizeof *class->objects);
    for (uint32_t i = 0; i <= class->capacity; i++)
        class->objects[i].class_index = class->index;
    for (uint32_t i = 0; i < class->capacity; i++)
        class->living[i] = MK_NULL;
    class->objects[class->capacity].parent = MK_NOBODY;
    for (uint32_t i = 0; i < MK_FREE_WORDS(class->capacity); i++)
        class->free[i] = UINT64_MAX;
    if (class->capacity % 64)
        class->free[class->capacity / 64] = (UINT64_C(1) << class->capacity % 64) - 1;
    for (uint32_t i = 0; i < class->parents; i++)
        class->families[i] = (mk_family){MK_NOBODY, MK_NOBODY};
}

void mk_classes_init(void *stack, mk_class *classes, const mk_class_plan *plans, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const mk_class_plan *plan = &plans[i];
        mk_object *objects = (mk_object *)(void *)((uint8_t *)stack + plan->objects);
        mk_ref *living = (mk_ref *)(void *)(objects + plan->capacity + 1);
        mk_family *families = (mk_family *)(void *)(living + plan->capacity + 1);
        uint64_t *free = (uint64_t *)(void *)(families + plan->parents);
        classes[i] = (mk_class){objects, living, families, free, plan->capacity, plan->parent, plan->parents,
                                plan->settle_limit, (uint16_t)i, plan->settles};
        mk_class_init(&classes[i]);
    }
}

static uint32_t mk_lowest(uint64_t bits)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(bits);
#else
    uint32_t n = 0;
    while (!(bits >> n & 1))
        n++;
    return n;
#endif
}

uint32_t mk_class_take(mk_class *class, uint32_t parent, uint64_t age)
{
    uint32_t word = 0;
    while (word < MK_FREE_WORDS(class->capacity) && !class->free[word])
        word++;
    if (word == MK_FREE_WORDS(class->capacity))
        return MK_NOBODY;
    uint32_t number = word * 64 + mk_lowest(class->free[word]);
    class->free[word] &= class->free[word] - 1;

    mk_object *object = &class->objects[number];
    mk_family *family = &class->families[parent];
    object->state = MK_LIVING;
    class->living[number] = mk_ref_of(number, object->generation);
    object->parent = parent;
    object->age = age;
    object->dirty = object->again = false;
    object->link = NULL;
    object->settles = 0;
    object->younger = MK_NOBODY;
    object->older = family->youngest;
    *(family->youngest == MK_NOBODY ? &family->oldest : &class->objects[family->youngest].younger) = number;
    family->youngest = number;
    return number;
}

void mk_class_free(mk_class *class, uint32_t number)
{
    mk_object *object = &class->objects[number];
    mk_family *family = &class->families[object->parent];
    *(object->older == MK_NOBODY ? &family->oldest : &class->objects[object->older].younger) = object->younger;
    *(object->younger == MK_NOBODY ? &family->youngest : &class->objects[object->younger].older) = object->older;
    object->state = MK_FREE;
    object->generation += MK_FAULT(generation) ? 0 : 1;
    class->free[number / 64] |= UINT64_C(1) << number % 64;
}

static uint32_t mk_living_from(const mk_class *class, uint32_t number)
{
    while (number != MK_NOBODY && class->objects[number].state != MK_LIVING && !MK_FAULT(walk_ended))
        number = class->objects[number].younger;
    return number;
}

uint32_t mk_oldest(const mk_class *class, uint32_t parent)
{
    return parent < class->parents ? mk_living_from(class, class->families[parent].oldest) : MK_NOBODY;
}

uint32_t mk_younger(const mk_class *class, uint32_t number)
{
    return number < class->capacity ? mk_living_from(class, class->objects[number].younger) : MK_NOBODY;
}
