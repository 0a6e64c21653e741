//! Backgrounds of the layers of a bundle: boxes whose names have a common prefix.

use std::collections::BTreeMap;

use crate::words::Area;

/// The padding around each box.
const PAD: f64 = 10.0;

/// The background of a bundle's layers.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Ground {
    pub name: String,
    /// The area around each box, the uppermost first.
    pub boxes: Vec<Area>,
}

impl Ground {
    /// The area between each box and the nearest one that it stands below, as four corners.
    pub fn between(&self) -> impl Iterator<Item = [(f64, f64); 4]> + '_ {
        let pairs = self.boxes.iter().enumerate().skip(1).map(|(at, below)| {
            let is_over = |above: &&Area| above[0].max(below[0]) < above[2].min(below[2]) && above[1] < below[1];
            (self.boxes[..at].iter().rev().find(is_over).unwrap_or(&self.boxes[at - 1]), below)
        });
        pairs.map(|(above, below)| {
            let (from, to) = ((above[1] + above[3]) / 2.0, (below[1] + below[3]) / 2.0);
            [(above[0], from), (above[2], from), (below[2], to), (below[0], to)]
        })
    }
}

/// The backgrounds of boxes with names `bundle.layer`. A single box has none.
pub(crate) fn grounds(boxes: &[(String, Area)]) -> Vec<Ground> {
    let mut groups: BTreeMap<&str, Vec<Area>> = BTreeMap::new();
    for (name, [left, top, right, bottom]) in boxes {
        if let Some((bundle, _)) = name.split_once('.') {
            groups.entry(bundle).or_default().push([left - PAD, top - PAD, right + PAD, bottom + PAD]);
        }
    }
    let several = groups.into_iter().filter(|(_, boxes)| boxes.len() > 1);
    several
        .map(|(name, mut boxes)| {
            boxes.sort_by(|a, b| a[1].total_cmp(&b[1]));
            Ground { name: name.to_string(), boxes }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_of_a_bundle_stand_on_one_ground() {
        let boxes = [("ip.b", 120.0, 200.0), ("ip.a", 100.0, 100.0), ("udp", 100.0, 0.0), ("tcp.a", 0.0, 0.0)];
        let boxes = boxes.map(|(name, x, y)| (name.to_string(), [x, y, x + 50.0, y + 20.0]));
        let found = grounds(&boxes);
        let areas = vec![[90.0, 90.0, 160.0, 130.0], [110.0, 190.0, 180.0, 230.0]];
        assert_eq!(found, [Ground { name: "ip".into(), boxes: areas }]);
        let between: Vec<_> = found[0].between().collect();
        assert_eq!(between, [[(90.0, 110.0), (160.0, 110.0), (180.0, 210.0), (110.0, 210.0)]]);
    }
}
