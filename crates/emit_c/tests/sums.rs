//! Sums and copies of octets in the runtime, against the plain ones: every number of octets up to 3,000, some of the longest.

use std::path::{Path, PathBuf};
use std::process::Command;

use mokume_emit_c::RUNTIME;

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
    if (size <= MK_MANY_OCTETS / 2) {
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

/// What the program says, compiled so.
fn ran(folder: &Path, flags: &[&str]) -> String {
    let compiled = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I.", "-o", "sums", "sums.c", "mokume.c"])
        .args(flags)
        .current_dir(folder)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(folder.join("sums")).output().expect("the program");
    format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
}

#[test]
fn sums_of_octets_are_plain_sums() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sums");
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    RUNTIME.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).expect("a file of the runtime"));
    std::fs::write(folder.join("sums.c"), PROGRAM).expect("a file in the folder of tests");
    for flags in [&["-O1", "-fsanitize=address,undefined"][..], &["-O3"], &["-Os"]] {
        assert_eq!(ran(&folder, flags), "", "{flags:?}");
    }
    // An odd last octet that is forgotten is found.
    assert_eq!(ran(&folder, &["-O1", "-DMK_FAULT(name)=1"]), "1 octets\n");
}
