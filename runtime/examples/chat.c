/* A chat in total order: what each member says to all, all read in one order. The stack is `Chat` of examples/chat.mok, built by
 * `mokume build chat.mok --stack Chat -o out`; members talk by UDP.
 *
 *   chat OWN 127.0.0.1:7001 127.0.0.1:7002 …     OWN is the member, another in each life; then its own end, then those of the others */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "Chat.h"

enum { MOST = 8, ALL = 255, LONGEST = 1024 };

static int sock;
static struct sockaddr_in ends[MOST];
static int count;

static uint64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

/* A frame leaves: to all others. What cannot be sent is lost, and asked for again. */
static void frame(void *context, mk_octets octets)
{
    (void)context;
    for (int i = 1; i < count; i++)
        (void)!sendto(sock, octets.at, octets.size, 0, (struct sockaddr *)&ends[i], sizeof ends[i]);
}

static void deliver(void *context, uint8_t own, uint8_t from, mk_octets octets)
{
    (void)context;
    printf("%d%s: %.*s\n", from, from == own ? " (we)" : "", (int)octets.size, (const char *)octets.at);
}

/* Who is there: the members in the order of their ranks. */
static void view(void *context, uint32_t id, uint8_t me, uint8_t length, uint16_t a, uint16_t b, uint16_t c, uint16_t d, uint16_t e,
                 uint16_t f, uint16_t g, uint16_t h)
{
    uint16_t members[MOST] = {a, b, c, d, e, f, g, h};
    (void)context;
    (void)id;
    printf("view:");
    for (int i = 0; i < length; i++)
        printf(" %d", members[i]);
    printf("; we are %d\n", me);
}

/* Credit is asked for before each line: a member that is ahead of the others waits. */
static uint32_t room;

static void credit(void *context, uint32_t messages, uint32_t octets)
{
    (void)context;
    (void)octets;
    room = messages;
}

static bool end_of(const char *text, struct sockaddr_in *end)
{
    char address[64];
    const char *colon = strrchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof address)
        return false;
    memcpy(address, text, (size_t)(colon - text));
    address[colon - text] = 0;
    *end = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(colon + 1))};
    return inet_pton(AF_INET, address, &end->sin_addr) == 1;
}

/* The lines that are whole, as long as there is room for them; how many octets are left. */
static size_t say(struct Chat *chat, char *typed, size_t size)
{
    char *end;
    while ((end = memchr(typed, '\n', size)) != NULL) {
        Chat_app_credit_to(chat, now());
        if (room == 0)
            break;
        uint32_t length = (uint32_t)(end - typed);
        Chat_app_send_to(chat, now(), 0, ALL, (mk_octets){(const uint8_t *)typed, length});
        size -= length + 1;
        memmove(typed, end + 1, size);
    }
    return size;
}

int main(int words, char **word)
{
    static uint8_t datagram[65536];
    static char typed[LONGEST];
    size_t typed_size = 0;
    bool is_open = true;
    if (words < 3 || words > MOST + 2) {
        fprintf(stderr, "chat OWN ADDRESS:PORT [ADDRESS:PORT …]\n");
        return 2;
    }
    for (int i = 2; i < words; i++)
        if (!end_of(word[i], &ends[count++])) {
            fprintf(stderr, "chat: `%s` is no ADDRESS:PORT\n", word[i]);
            return 2;
        }
    sock = socket(AF_INET, SOCK_DGRAM, 0);
    if (sock < 0 || bind(sock, (struct sockaddr *)&ends[0], sizeof ends[0]) < 0) {
        fprintf(stderr, "chat: %s: %s\n", word[2], strerror(errno));
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);

    mk_config config = Chat_defaults;
    struct Chat_params params = Chat_default_params;
    params.own = (uint16_t)atoi(word[1]);
    struct Chat_ports ports = {.device_frame = frame, .app_deliver_from = deliver, .app_view = view, .app_credit_to = credit};
    void *memory = aligned_alloc(64, (Chat_size(&config) + 63) & ~(size_t)63);
    if (!memory)
        return 1;
    struct Chat *chat = Chat_init(memory, &config, &params, &ports);
    Chat_start(chat, now());

    for (;;) {
        uint64_t deadline, at = now();
        int wait = Chat_next_deadline(chat, &deadline) ? deadline <= at ? 0 : (int)((deadline - at) / 1000000 + 1) : -1;
        bool is_full = typed_size == sizeof typed;
        struct pollfd from[2] = {{.fd = sock, .events = POLLIN}, {.fd = is_open && !is_full ? 0 : -1, .events = POLLIN}};
        if (poll(from, 2, wait) < 0 && errno != EINTR)
            return 1;
        if (from[0].revents) {
            ssize_t size = recv(sock, datagram, sizeof datagram, MSG_DONTWAIT);
            if (size >= 0)
                Chat_device_frame(chat, now(), (mk_octets){datagram, (uint32_t)size});
        }
        if (from[1].revents) {
            ssize_t size = read(0, typed + typed_size, sizeof typed - typed_size);
            is_open = size > 0;
            typed_size += size > 0 ? (size_t)size : 0;
        }
        typed_size = say(chat, typed, typed_size);
        /* No line is so long: what there is goes as one. */
        if (typed_size == sizeof typed && !memchr(typed, '\n', typed_size))
            typed[typed_size - 1] = '\n';
        Chat_advance(chat, now());
    }
}
