//! Branches nested deeper than a back end may want to write them.

use super::body::Body;

/// A small depth, then a range around the depth limit of the C back end, some levels to both sides of it.
const DEPTHS: [usize; 3] = [1, 20, 28];

impl Body<'_> {
    /// Nested branches. In the innermost, ways join in front of a loop that uses their values. All ways join at the
    /// end.
    pub(super) fn nest(&mut self) {
        let (a, b) = (self.byte(), self.byte());
        let depth = match self.random.percent(30) {
            true => DEPTHS[0] + self.random.place(4),
            false => DEPTHS[1] + self.random.place(DEPTHS[2] - DEPTHS[1]),
        };
        let (behind, value) = (self.fresh("behind"), self.fresh("v"));
        for level in 0..depth {
            let (flag, inner, beside) = (self.fresh("f"), self.fresh("in"), self.fresh("out"));
            // Most ways lead inwards, since the inner code is to run.
            self.line(format!("{flag} = ne {a}, {}", level * 7));
            self.line(format!("br {flag} {inner}, {beside}"));
            self.label(&beside);
            self.line(format!("out app.word({}, {level})", self.layer));
            self.line(format!("jump {behind}({level}:u8)"));
            self.label(&inner);
        }
        let found = self.innermost(&a, &b);
        self.line(format!("jump {behind}({found})"));
        self.label(&format!("{behind}({value}: u8)"));
        self.bytes.push(value);
    }

    /// Two ways that join with two values each, in front of a loop that counts up to the smaller.
    fn innermost(&mut self, a: &str, b: &str) -> String {
        let (flag, then, otherwise, meet) =
            (self.fresh("f"), self.fresh("then"), self.fresh("else"), self.fresh("meet"));
        let (low, high, some) = (self.fresh("v"), self.fresh("v"), self.fresh("v"));
        self.line(format!("{some} = and {b}, 3"));
        self.line(format!("{flag} = lt {a}, {b}"));
        self.line(format!("br {flag} {then}, {otherwise}"));
        self.label(&then);
        self.line("set e.x, 1".to_string());
        self.line(format!("jump {meet}({some}, {b})"));
        self.label(&otherwise);
        self.line("set e.x, 2".to_string());
        self.line(format!("jump {meet}(2:u8, {a})"));
        self.label(&format!("{meet}({low}: u8, {high}: u8)"));
        let (head, i, more, round, next, over) = (
            self.fresh("loop"),
            self.fresh("v"),
            self.fresh("f"),
            self.fresh("round"),
            self.fresh("v"),
            self.fresh("over"),
        );
        self.line(format!("jump {head}(0:u8)"));
        self.label(&format!("{head}({i}: u8) bound 4"));
        self.line(format!("{more} = lt {i}, {low}"));
        self.line(format!("br {more} {round}, {over}"));
        self.label(&round);
        self.line(format!("{next} = add {i}, 1"));
        self.line(format!("jump {head}({next})"));
        self.label(&over);
        self.line(format!("out app.word({}, {high})", self.layer));
        high
    }
}
