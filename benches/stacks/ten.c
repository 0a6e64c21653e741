#define _POSIX_C_SOURCE 200809L
#include "Ten.h"
#define STACK(name) Ten_##name
#define INSTANCE struct Ten
#define PORTS struct Ten_ports
#define PARAMS struct Ten_params
#define LEFT struct Ten_returned
#include "two_ends.h"
