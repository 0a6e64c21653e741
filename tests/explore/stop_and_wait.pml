/* Stop and wait with a sequence bit, as stop_and_wait.ra, in the world of the explorer's tests; written by hand.
 *
 * One process, and each step of the world one d_step, so that the states are the same ones, and can be counted.
 * Host 0 is `a`, host 1 is `b`; net[h] is what is under way from h to the other. A message is its number plus one.
 *
 * Set from outside: FROM_A, FROM_B (messages), CAPACITY; a fault: ACKNOWLEDGEMENT_NOT_CHECKED, BIT_NOT_TOGGLED,
 * TIMER_NOT_RESTARTED, DUPLICATES_NOT_ACKNOWLEDGED; CALM for the progress property.
 */
#define DATA 0
#define ACK 1

chan net[2] = [CAPACITY] of { bit, bit, byte };

bit next[2];
bool busy[2];
byte kept[2];
bit expected[2];
bool armed[2];

byte sent[2];
byte credit[2] = 1;
byte received[2];

#ifdef CALM
bool calm;
#define STORMY (!calm)
#define MAY_EXPIRE (!calm || (empty(net[0]) && empty(net[1])))
#else
#define STORMY true
#define MAY_EXPIRE true
#endif

#define DONE (sent[0] == FROM_A && sent[1] == FROM_B && received[1] == FROM_A && received[0] == FROM_B)

hidden byte kind;
hidden byte seq;
hidden byte message;

/* A full channel loses the packet. */
inline put(h, k, s, m) {
    if
    :: len(net[h]) < CAPACITY -> net[h]!k, s, m
    :: else
    fi
}

inline send(h) {
    sent[h]++;
    credit[h]--;
    busy[h] = true;
    kept[h] = sent[h];
    put(h, DATA, next[h], kept[h]);
    armed[h] = true
}

inline expire(h) {
    armed[h] = false;
    put(h, DATA, next[h], kept[h]);
#ifndef TIMER_NOT_RESTARTED
    armed[h] = true
#endif
}

/* A packet of the other arrives at h: kind, seq and message are set. */
inline arrive(h) {
    if
    :: kind == DATA ->
#ifdef DUPLICATES_NOT_ACKNOWLEDGED
        if
        :: seq == expected[h] -> put(h, ACK, seq, 0)
        :: else
        fi;
#else
        put(h, ACK, seq, 0);
#endif
        if
        :: seq == expected[h] ->
#ifndef BIT_NOT_TOGGLED
            expected[h] = 1 - expected[h];
#endif
            assert(message == received[h] + 1);
            received[h]++
        :: else
        fi
    :: else ->
        if
#ifdef ACKNOWLEDGEMENT_NOT_CHECKED
        :: busy[h] ->
#else
        :: busy[h] && seq == next[h] ->
#endif
            next[h] = 1 - next[h];
            busy[h] = false;
            kept[h] = 0;
            armed[h] = false;
            credit[h]++
        :: else
        fi
    fi;
    kind = 0;
    seq = 0;
    message = 0
}

active proctype world() {
end:
    do
    :: d_step { sent[0] < FROM_A && credit[0] > 0 -> send(0) }
    :: d_step { sent[1] < FROM_B && credit[1] > 0 -> send(1) }
    :: d_step { armed[0] && MAY_EXPIRE -> expire(0) }
    :: d_step { armed[1] && MAY_EXPIRE -> expire(1) }
    :: d_step { nempty(net[0]) -> net[0]?kind, seq, message; arrive(1) }
    :: d_step { nempty(net[1]) -> net[1]?kind, seq, message; arrive(0) }
    :: d_step { nempty(net[0]) && STORMY -> net[0]?<kind, seq, message>; arrive(1) }
    :: d_step { nempty(net[1]) && STORMY -> net[1]?<kind, seq, message>; arrive(0) }
    :: d_step { nempty(net[0]) && STORMY -> net[0]?kind, seq, message; kind = 0; seq = 0; message = 0 }
    :: d_step { nempty(net[1]) && STORMY -> net[1]?kind, seq, message; kind = 0; seq = 0; message = 0 }
#ifdef CALM
    :: d_step { !calm -> calm = true }
#endif
    od
}

#ifdef CALM
/* From whatever state the network becomes calm in, all is delivered. It implies "can still be delivered". */
ltl progress { [] (calm -> <> DONE) }
#endif
