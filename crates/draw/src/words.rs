//! Places labels of curves: on the curve or beside it, where they overlap no box and no other label.

use crate::svg::width;

/// The font size, in pixels.
pub(crate) const SIZE: f64 = 11.0;

/// Left, top, right, bottom.
pub(crate) type Area = [f64; 4];

/// Areas of a picture that are occupied.
#[derive(Default)]
pub(crate) struct Taken {
    areas: Vec<Area>,
}

/// A curve from the first to the last point, with the other two as control points, as SVG's `C` draws it.
#[derive(Clone, Copy)]
pub(crate) struct Curve(pub [(f64, f64); 4]);

impl Curve {
    /// The point at a fraction of the curve: 0 is its start, 1 its end.
    fn at(&self, part: f64) -> (f64, f64) {
        let rest = 1.0 - part;
        let weights = [rest * rest * rest, 3.0 * rest * rest * part, 3.0 * rest * part * part, part * part * part];
        let sum = |of: fn(&(f64, f64)) -> f64| self.0.iter().zip(weights).map(|(point, by)| of(point) * by).sum();
        (sum(|point| point.0), sum(|point| point.1))
    }
}

/// Distances from the middle of a curve at which labels are tried, in hundredths.
const FROM_THE_MIDDLE: [i32; 19] = [0, -6, 6, -12, 12, -18, 18, -24, 24, -30, 30, -34, 34, -38, 38, -42, 42, -45, 45];

impl Taken {
    /// Marks an area as occupied.
    pub fn add(&mut self, area: Area) {
        self.areas.push(area);
    }

    /// The best baseline centre for a label, within this width: near the curve's middle, below or above it, or at its
    /// side. Marks it as occupied.
    pub fn place(&mut self, words: &str, curve: Curve, within: f64, below: f64) -> (f64, f64) {
        let wide = width(words, SIZE);
        let aside = wide / 2.0 + 8.0;
        let tried = FROM_THE_MIDDLE.iter().flat_map(|from| {
            let (x, y) = curve.at(0.5 + f64::from(*from) / 100.0);
            [(x, y + below), (x, y + 9.0 - below), (x + aside, y + 4.0), (x - aside, y + 4.0)]
        });
        let area = |(x, y): (f64, f64)| [x - wide / 2.0, y - SIZE, x + wide / 2.0, y + 4.0];
        let cost = |at: (f64, f64)| {
            let [left, _, right, _] = area(at);
            let outside = (2.0 - left).max(0.0) + (right - within).max(0.0);
            outside * SIZE + self.areas.iter().map(|one| over(*one, area(at))).sum::<f64>()
        };
        let mut best = ((0.0, 0.0), f64::INFINITY);
        for at in tried {
            let cost = cost(at);
            if cost < best.1 {
                best = (at, cost);
            }
            if cost == 0.0 {
                break;
            }
        }
        self.add(area(best.0));
        best.0
    }
}

/// The area of overlap.
fn over(a: Area, b: Area) -> f64 {
    let wide = a[2].min(b[2]) - a[0].max(b[0]);
    let high = a[3].min(b[3]) - a[1].max(b[1]);
    if wide > 0.0 && high > 0.0 {
        wide * high
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: Curve = Curve([(100.0, 0.0), (100.0, 100.0), (100.0, 200.0), (100.0, 300.0)]);

    #[test]
    fn words_stand_at_the_middle_where_nothing_does() {
        assert_eq!(Taken::default().place("says", LINE, 500.0, 15.0), (100.0, 165.0));
    }

    #[test]
    fn words_go_where_no_box_is() {
        let mut taken = Taken::default();
        taken.add([0.0, 100.0, 200.0, 200.0]);
        let at = taken.place("says", LINE, 500.0, 15.0);
        assert!(at.1 + 4.0 <= 100.0 || at.1 - SIZE >= 200.0, "{at:?}");
        let second = taken.place("says", LINE, 500.0, 15.0);
        assert!((second.1 - at.1).abs() >= SIZE || (second.0 - at.0).abs() >= width("says", SIZE), "{at:?} {second:?}");
    }

    #[test]
    fn words_stay_in_the_picture() {
        let edge = Curve([(3.0, 0.0), (3.0, 50.0), (3.0, 90.0), (3.0, 140.0)]);
        let (x, _) = Taken::default().place("says a lot", edge, 500.0, 15.0);
        assert!(x - width("says a lot", SIZE) / 2.0 >= 2.0, "{x}");
    }
}
