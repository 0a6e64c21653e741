/* Vectors that are too long and numbers without a name, as arguments and as parameters. */
#include <stdio.h>
#include <stdlib.h>
#include "Valued.h"

static void frame(void *context, mk_octets octets)
{
    (void)context;
    printf(" frame");
    for (uint32_t i = 0; i < octets.size; i++)
        printf(" %02x", octets.at[i]);
}

static void pushed(void *context, uint8_t n, uint8_t a, uint8_t b, uint8_t c, uint8_t d, bool all)
{
    (void)context;
    printf(" pushed %u: %u %u %u %u, %d", n, a, b, c, d, all);
}

static void told(void *context, bool same)
{
    (void)context;
    printf(" same %d", same);
}

static void kinds(void *context, uint8_t kind, uint8_t level)
{
    (void)context;
    printf(" kind %u level %u", kind, level);
}

static void plans(void *context, uint8_t plan, uint8_t rounds)
{
    (void)context;
    printf(" plan %u rounds %u", plan, rounds);
}

static void *memory;
static struct Valued *stack;

static void begin(struct Valued_params params)
{
    static const struct Valued_ports ports = {.device_frame = frame, .app_pushed_from = pushed, .app_told_from = told, .app_kinds_from = kinds, .app_plans_from = plans};
    mk_config config = Valued_defaults;
    free(memory);
    params.device_mtu = 1500;
    memory = aligned_alloc(64, (Valued_size(&config) + 63) & ~(size_t)63);
    stack = Valued_init(memory, &config, &params, &ports);
    printf("begins: %d\n", stack != NULL);
    if (stack)
        Valued_start(stack, 0);
}

static void taken(bool is)
{
    printf(" -> %d\n", is);
}

static void sent(void)
{
    taken(Valued_app_send_to(stack, 1, (mk_octets){(const uint8_t *)"x", 1}));
}

int main(void)
{
    struct Valued_params params = Valued_default_params;
    begin((params.p_length = 5, params));
    begin((params.p_length = 250, params));
    begin((params.p_length = 2, params.k = 0, params));
    begin((params.k = Valued_KIND_OTHER + 1, params));
    /* What is behind the length is nothing. */
    begin((params.k = Valued_KIND_OTHER, params.p_2 = 77, params));
    sent();
    taken(Valued_app_push_to(stack, 1, 5, 1, 2, 3, 4));
    taken(Valued_app_push_to(stack, 1, 255, 1, 2, 3, 4));
    sent();
    taken(Valued_app_push_to(stack, 1, 4, 1, 2, 3, 4));
    taken(Valued_app_push_to(stack, 1, 1, 1, 2, 3, 4));
    sent();
    taken(Valued_app_same_to(stack, 1, 2, 1, 2, 3, 4, 2, 1, 2, 9, 9));
    taken(Valued_app_same_to(stack, 1, 2, 1, 2, 3, 4, 5, 1, 2, 3, 4));
    taken(Valued_app_kind_to(stack, 1, Valued_KIND_TELL, 200));
    taken(Valued_app_kind_to(stack, 1, 0, 0));
    taken(Valued_app_kind_to(stack, 1, 77, 0));
    taken(Valued_app_plan_to(stack, 1, Valued_PLAN_WAIT, 5));
    taken(Valued_app_plan_to(stack, 1, Valued_PLAN_STOP, 5));
    taken(Valued_app_plan_to(stack, 1, 0, 5));
    printf("refused: %u\n", (unsigned)Valued_accounts(stack)->refused);
    mk_config config = Valued_defaults;
    config.buffers = config.buffer_octets = UINT32_MAX;
    struct Valued_ports ports = {.device_frame = frame};
    printf("size: %d, begins: %d\n", Valued_size(&config) == SIZE_MAX, Valued_init(memory, &config, &params, &ports) != NULL);
    free(memory);
    return 0;
}
