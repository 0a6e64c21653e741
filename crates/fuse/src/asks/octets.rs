//! Comparisons of a message's octets with constants: those within one octet, or in adjacent octets, become one
//! comparison.

use mokume_reaction::{Binary, Compare, Endian, OctetField};

use crate::graph::{Kind, Node, U32};

use super::tree::{Tail, Tree, Way, What};

/// Bits of a message: the first one, counted from the high bit of the first octet, and their number.
#[derive(Clone, Copy)]
struct Bits {
    message: u32,
    from: u64,
    width: u64,
}

/// The wanted value of an octet, as far as it is asked: the octet's place, the mask of its bits, and their value.
type Wanted = (u64, u8, u8);

impl Tree<'_> {
    /// Joins comparisons of octets that surely exist.
    pub fn join(&mut self) {
        let mut way = std::mem::take(&mut self.way);
        self.on(&mut way, Self::join_in);
        self.way = way;
    }

    fn join_in(&mut self, way: &mut Way) {
        // The wanted value by octet; beside it, the guards and the octets that they compare.
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut asked: Vec<(usize, Vec<u64>)> = Vec::new();
        for (at, ask) in way.guards.iter().enumerate() {
            let What::If(condition) = ask.what else { continue };
            let Some((bits, value)) = self.bits_are(condition, ask.is_then) else { continue };
            let end = (bits.from + bits.width).div_ceil(8);
            if Some(bits.message) != self.least.0 || end > self.least.1 {
                continue;
            }
            let octets = octets(bits, value);
            // Two that cannot both hold stay separate.
            let differs = |(at, mask, is): &Wanted| {
                wanted.iter().any(|known| known.0 == *at && (known.2 ^ is) & known.1 & mask != 0)
            };
            if octets.iter().any(differs) {
                continue;
            }
            asked.push((at, octets.iter().map(|octet| octet.0).collect()));
            for (at, mask, is) in octets {
                match wanted.iter_mut().find(|known| known.0 == at) {
                    Some(known) => (known.1, known.2) = (known.1 | mask, known.2 | is),
                    None => wanted.push((at, mask, is)),
                }
            }
        }
        wanted.sort_unstable();
        let mut gone: Vec<usize> = Vec::new();
        let mut new: Vec<(usize, Node)> = Vec::new();
        let mut at = 0;
        while at < wanted.len() {
            let (from, octets) = self.unit(&wanted[at..]);
            at += wanted[at..].iter().take_while(|octet| octet.0 < from + octets).count();
            let inside = |place: &u64| (from..from + octets).contains(place);
            let own: Vec<usize> =
                asked.iter().filter(|(_, places)| places.iter().all(inside)).map(|(guard, _)| *guard).collect();
            let touched = asked.iter().filter(|(_, places)| places.iter().any(inside)).count();
            if own.len() < 2 || touched > own.len() {
                continue;
            }
            let Some(message) = self.least.0 else { continue };
            let unit: Vec<Wanted> = wanted.iter().filter(|octet| inside(&octet.0)).copied().collect();
            new.push((own[0], self.compared(message, (from, octets), &unit)));
            gone.extend(own);
            self.is_better = true;
        }
        let mut guards = Vec::new();
        for (at, ask) in std::mem::take(&mut way.guards).into_iter().enumerate() {
            if let Some((_, condition)) = new.iter().find(|(place, _)| *place == at) {
                let mut joined = ask.clone();
                (joined.what, joined.is_then, joined.likely) = (What::If(*condition), true, Some(0.999));
                guards.push(joined);
            }
            if !gone.contains(&at) {
                guards.push(ask);
            }
        }
        way.guards = guards;
        if let Tail::Part(part) = &mut way.tail {
            part.1.iter_mut().for_each(|inner| self.on(inner, Self::join_in));
        }
    }

    /// The octets that are read together with the first of these, as one number: the first one, and their count.
    /// Adjacent octets are joined if all their bits are wanted. An octet of which only some bits are wanted is joined
    /// with at most one neighbour.
    fn unit(&self, wanted: &[Wanted]) -> (u64, u64) {
        let first = wanted[0].0;
        let is_whole = |at: u64| wanted.iter().any(|octet| octet.0 == at && octet.1 == 0xff);
        let is_asked = |at: u64| wanted.iter().any(|octet| octet.0 == at);
        let whole = (0..8).take_while(|more| is_whole(first + more)).count() as u64;
        let octets = match whole {
            8.. => 8,
            4.. => 4,
            2.. => 2,
            _ if is_asked(first + 1) && first + 2 <= self.least.1 => 2,
            _ => 1,
        };
        (first, octets)
    }

    /// Whether these octets have the wanted values, as one comparison.
    fn compared(&mut self, message: u32, (from, octets): (u64, u64), unit: &[Wanted]) -> Node {
        let (mut mask, mut value) = (0u64, 0u64);
        for at in from..from + octets {
            let (bits, is) = unit.iter().find(|octet| octet.0 == at).map_or((0, 0), |octet| (octet.1, octet.2));
            mask = mask << 8 | u64::from(bits);
            value = value << 8 | u64::from(is);
        }
        let field = OctetField { width: 8 * octets as u8, endian: Endian::Big };
        let at = self.graph.constant(U32, from);
        let loaded = self.graph.add(Kind::Load(message, field, at), field.ty());
        let (mask, value) = (self.graph.constant(field.ty(), mask), self.graph.constant(field.ty(), value));
        let masked = self.graph.binary(Binary::And, loaded, mask);
        self.graph.compare(Compare::Eq, masked, value)
    }

    /// The bits that a condition compares, and the value that they must have; `None` if it does not determine them all.
    fn bits_are(&self, condition: Node, holds: bool) -> Option<(Bits, u64)> {
        match (self.graph.kind(condition).clone(), holds) {
            (Kind::Not(inner), _) => self.bits_are(inner, !holds),
            (Kind::Compare(Compare::Eq, a, b), _) => {
                let (bits, value) = (self.bits(a)?, self.graph.known(b)?);
                match (holds, bits.width) {
                    (true, 64) => Some((bits, value)),
                    (true, width) => (value >> width == 0).then_some((bits, value)),
                    (false, 1) => (value < 2).then_some((bits, 1 - value)),
                    (false, _) => None,
                }
            }
            _ => None,
        }
    }

    /// The bits that a number consists of: octets without some bits cut off on either side.
    fn bits(&self, node: Node) -> Option<Bits> {
        let known = |node: Node| self.graph.known(node);
        match *self.graph.kind(node) {
            Kind::Load(message, field, at) if field.endian == Endian::Big || field.width == 8 => {
                Some(Bits { message, from: 8 * known(at)?, width: u64::from(field.width) })
            }
            Kind::Binary(Binary::Shr, a, by) => {
                let (bits, by) = (self.bits(a)?, known(by)?);
                (by < bits.width).then(|| Bits { width: bits.width - by, ..bits })
            }
            Kind::Binary(Binary::And, a, mask) => {
                let (bits, mask) = (self.bits(a)?, known(mask)?);
                let width = u64::from(mask.trailing_ones()).min(bits.width);
                let is_low = mask >> mask.trailing_ones().min(63) == 0 || mask == u64::MAX;
                (is_low && width > 0).then(|| Bits { from: bits.from + bits.width - width, width, ..bits })
            }
            Kind::Binary(Binary::MulWrap, ..) => None,
            Kind::Cast(a) => {
                let bits = self.bits(a)?;
                let mokume_reaction::Type::U(wide) = self.graph.ty(node) else { return None };
                let width = bits.width.min(u64::from(wide));
                Some(Bits { from: bits.from + bits.width - width, width, ..bits })
            }
            _ => None,
        }
    }
}

/// The wanted values of octets if these bits are this number.
fn octets(bits: Bits, value: u64) -> Vec<Wanted> {
    let (first, last) = (bits.from / 8, (bits.from + bits.width - 1) / 8);
    let mut octets = Vec::new();
    for at in first..=last {
        let (mut mask, mut is) = (0u8, 0u8);
        for bit in 8 * at..8 * at + 8 {
            if (bits.from..bits.from + bits.width).contains(&bit) {
                let one = 0x80 >> (bit % 8);
                mask |= one;
                is |= if value >> (bits.from + bits.width - 1 - bit) & 1 == 1 { one } else { 0 };
            }
        }
        octets.push((at, mask, is));
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_across_octets() {
        let bits = Bits { message: 0, from: 3, width: 13 };
        assert_eq!(octets(bits, 0), [(0, 0x1f, 0), (1, 0xff, 0)]);
        assert_eq!(octets(bits, 0x1001), [(0, 0x1f, 0x10), (1, 0xff, 0x01)]);
        assert_eq!(octets(Bits { message: 0, from: 112, width: 4 }, 4), [(14, 0xf0, 0x40)]);
    }
}
