//! M064 and M065: bounded vectors, as values and in wires.

codes! {
    VECTOR_BOUND = "M0640", "a vector with a bound that cannot be kept",
    "A bounded vector is a value: its length and room for each element, side by side, wherever it is kept or passed. Its bound is a constant from 1 to 64, and all its elements together are at most 256 numbers. More are kept in state, in a container.",
    "fn first(all: [u32; ..1000]) -> u32 { return all[0] }",
    "fn first(all: [u32; ..8]) -> u32 { return all[0] }";

    VECTOR_ELEMENT = "M0641", "a vector of what no vector is made of",
    "The elements of a bounded vector are numbers, enums and the like, and records of them. A vector of vectors would be an array of arrays: keep that in state.",
    "fn first(rows: [[u32; ..4]; ..4]) -> u32 { return rows.length }",
    "fn first(row: [u32; ..4]) -> u32 { return row.length }";

    VECTOR_FULL = "M0642", "more elements than the vector has room for",
    "What is written between `[` and `]` is known, and so is the bound.",
    "fn primes() -> [u32; ..2] { return [2, 3, 5] }",
    "fn primes() -> [u32; ..4] { return [2, 3, 5] }";
}
