#define _POSIX_C_SOURCE 200809L
#include "Sliding.h"
#define STACK(name) Sliding_##name
#define INSTANCE struct Sliding
#define PORTS struct Sliding_ports
#define PARAMS struct Sliding_params
/* As its authors had it. What is too large for a packet would be said again until the session ends; while a loss is waited for, more is refused. */
#define OCTETS 16
#define MOST 1400
#define LEAST 1000
#include "two_ends.h"
