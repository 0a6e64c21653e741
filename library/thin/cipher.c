/* ChaCha20-Poly1305 (RFC 8439) for cipher.mok, by libsodium.
 *
 * Numbers stand for octets in order, the first one highest: a key is four of 64 bits, a nonce one of 32 and one of 64. The
 * additional data are the first `extra` octets of two numbers. The tag stands behind the text. */
#include "mk_native.h"

#include <sodium.h>

enum { TAG = crypto_aead_chacha20poly1305_IETF_ABYTES };

static void put(uint8_t *to, uint64_t number, int octets)
{
    for (int at = octets; at > 0; at--, number >>= 8)
        to[at - 1] = (uint8_t)number;
}

struct lock {
    uint8_t key[32], nonce[12], extra[16];
};

static struct lock lock_of(const uint64_t key[4], uint32_t salt, uint64_t counter, uint64_t high, uint64_t low)
{
    struct lock lock;
    for (int part = 0; part < 4; part++)
        put(lock.key + 8 * part, key[part], 8);
    put(lock.nonce, salt, 4);
    put(lock.nonce + 4, counter, 8);
    put(lock.extra, high, 8);
    put(lock.extra + 8, low, 8);
    return lock;
}

bool chacha20_poly1305_seal(uint64_t k0, uint64_t k1, uint64_t k2, uint64_t k3, uint32_t salt, uint64_t counter,
                            uint64_t high, uint64_t low, uint8_t extra, mk_native *msg);
bool chacha20_poly1305_seal(uint64_t k0, uint64_t k1, uint64_t k2, uint64_t k3, uint32_t salt, uint64_t counter,
                            uint64_t high, uint64_t low, uint8_t extra, mk_native *msg)
{
    struct lock lock = lock_of((const uint64_t[]){k0, k1, k2, k3}, salt, counter, high, low);
    if (msg->room - msg->size < TAG || extra > sizeof lock.extra)
        return false;
    crypto_aead_chacha20poly1305_ietf_encrypt(msg->octets, NULL, msg->octets, msg->size, lock.extra, extra, NULL,
                                              lock.nonce, lock.key);
    msg->size += TAG;
    return true;
}

bool chacha20_poly1305_open(uint64_t k0, uint64_t k1, uint64_t k2, uint64_t k3, uint32_t salt, uint64_t counter,
                            uint64_t high, uint64_t low, uint8_t extra, mk_native *msg);
bool chacha20_poly1305_open(uint64_t k0, uint64_t k1, uint64_t k2, uint64_t k3, uint32_t salt, uint64_t counter,
                            uint64_t high, uint64_t low, uint8_t extra, mk_native *msg)
{
    struct lock lock = lock_of((const uint64_t[]){k0, k1, k2, k3}, salt, counter, high, low);
    if (msg->size < TAG || extra > sizeof lock.extra)
        return false;
    if (crypto_aead_chacha20poly1305_ietf_decrypt(msg->octets, NULL, NULL, msg->octets, msg->size, lock.extra, extra,
                                                  lock.nonce, lock.key) != 0)
        return false;
    msg->size -= TAG;
    return true;
}
