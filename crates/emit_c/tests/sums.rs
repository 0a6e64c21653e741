//! Sums and copies of octets in the runtime, against simple versions: every number of octets up to 3,000, and some of
//! the longest.

use crate::common::ran_with_runtime;

const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include "mokume.h"

static uint32_t plain(const uint8_t *octets, uint32_t size)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < size; i++)
        sum += i % 2 ? octets[i] : (uint32_t)octets[i] << 8;
    return sum;
}

static int is_wrong(uint32_t size, uint64_t stream)
{
    /* Memory of their own, so that a sanitizer sees what is read beyond. */
    uint8_t *octets = calloc(size ? size : 1, 1), *copy = calloc(size ? size : 1, 1);
    for (uint32_t i = 0; i < size; i++)
        octets[i] = stream ? (uint8_t)mk_sample(&stream) : 0xff;
    int wrong = mk_sum16(octets, size) != plain(octets, size);
    /* The same on a path, of a part too: what is beyond the end is not there. Its octets in the machine's order give the same folded. */
    for (int brisk = 0; brisk < 2; brisk++) {
        uint32_t at = size / 3, part = size / 2, rest = size - at < part ? size - at : part;
        uint32_t sum = plain(octets + at, rest);
        wrong |= mk_sum16_as(brisk, octets, size) != plain(octets, size);
        wrong |= mk_sum16_part_as(brisk, octets, size, at, size) != plain(octets + at, size - at);
        wrong |= mk_sum16_part_as(brisk, octets, size, at, part) != sum;
        wrong |= mk_fold_raw(mk_sum_raw_part(octets, size, at, part)) != mk_fold16((sum & 0xffff) + (sum >> 16));
        wrong |= mk_fold16(mk_sum16_modulo_part(octets, size, at, part) + at) != mk_fold16(sum + at);
        wrong |= mk_folds_to_ones(mk_sum_raw_part(octets, size, at, part)) != (mk_fold16(sum) == 0xffff);
    }
    /* Numbers of 32 bits, whole and by halves. */
    uint64_t whole = 0;
    uint32_t halves = 0;
    for (uint32_t i = 0; i + 4 <= size && i < 4 * 100; i += 4)
        whole += mk_get_be_32(octets + i), halves += mk_get_be_16(octets + i) + (uint32_t)mk_get_be_16(octets + i + 2);
    wrong |= mk_fold_wide(whole) != mk_fold16(halves);
    if (size <= MK_FEW_OCTETS) {
        mk_copy_few(copy, octets, size);
        wrong |= size && memcmp(copy, octets, size) != 0;
    }
    free(octets), free(copy);
    return wrong;
}

int main(void)
{
    for (uint32_t size = 0; size < 3000; size++) {
        if (is_wrong(size, 0) || is_wrong(size, size + 1))
            return printf("%u octets\n", size), 1;
    }
    for (uint32_t size = 60000; size < 70000; size += 311) {
        if (is_wrong(size, 0))
            return printf("%u octets\n", size), 1;
    }
    return 0;
}
"#;

#[test]
fn sums_of_octets_are_plain_sums() {
    let sanitized = &["-O1", "-fsanitize=address,undefined"];
    for flags in [&sanitized[..], &["-O1", "-fsanitize=address,undefined", "-march=x86-64-v3"], &["-O3"], &["-Os"]] {
        assert_eq!(ran_with_runtime("sums", PROGRAM, flags), "", "{flags:?}");
    }
    // A forgotten odd last octet is found.
    assert_eq!(ran_with_runtime("sums", PROGRAM, &["-O1", "-DMK_FAULT(name)=1"]), "1 octets\n");
}
