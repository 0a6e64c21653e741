//! Stacks.

use super::{child, children, choice, node, Expr, LayerUse, Name};

choice! {
    /// A member of a stack.
    StackMember { Layer(StackLayer), Export(Export), Setting(StackSetting) }
}

node! {
    /// `stack Host(device: Device) { … }`
    Stack = STACK;
    /// `ip = Ipv4(address) over ethernet[type: 0x0800] with arp, icmp`
    StackLayer = STACK_LAYER;
    /// `over ethernet[type: 0x0800]`, `over (a, b)`
    Over = OVER;
    /// `type: 0x0800` in brackets
    OverKey = OVER_KEY;
    /// `with arp, icmp`
    With = WITH;
    /// `export udp`, `export udp with ttl, mtu`
    Export = EXPORT;
    /// `outputs 64`, `order store, device`
    StackSetting = STACK_SETTING;
}

impl StackSetting {
    /// The setting's word.
    pub fn word(&self) -> String {
        super::first_token(&self.0).map_or(String::new(), |token| token.text().to_string())
    }
    /// The value behind the word.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The names of `order`.
    pub fn names(&self) -> Vec<Name> {
        children(&self.0)
    }
}

impl Stack {
    /// Its name in tests, networks and hosts.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The documentation in front of it.
    pub fn doc(&self) -> String {
        super::doc_of(&self.0)
    }
    /// The members, in order.
    pub fn members(&self) -> Vec<StackMember> {
        children(&self.0)
    }
}

impl StackLayer {
    /// Its name in the stack.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The layer or bundle with its arguments; several are listed from top to bottom.
    pub fn layers(&self) -> Vec<LayerUse> {
        children(&self.0)
    }
    /// All its `over` clauses.
    pub fn clauses(&self) -> Vec<Over> {
        children(&self.0)
    }
    /// What it is over; for `over (a, b)`, each of the two.
    pub fn overs(&self) -> Vec<Over> {
        let of = |over: &Over| {
            let several: Vec<Over> = children(&over.0);
            if several.is_empty() && !over.is_list() {
                vec![over.clone()]
            } else {
                several
            }
        };
        self.clauses().iter().flat_map(of).collect()
    }
    /// The names behind `with`.
    pub fn with(&self) -> Vec<Name> {
        children::<With>(&self.0).iter().flat_map(|with| children(&with.0)).collect()
    }
}

impl Over {
    /// `over ( … )`
    fn is_list(&self) -> bool {
        let tokens = self.0.children_with_tokens().filter_map(|element| element.into_token());
        tokens.into_iter().any(|token| token.kind() == crate::kinds::SyntaxKind::L_PAREN)
    }
    /// The layer or device.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The key that it is bound to there.
    pub fn keys(&self) -> Vec<OverKey> {
        children(&self.0)
    }
}

impl OverKey {
    /// The field of the key.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// Its value.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Export {
    /// The first name of the export.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The names behind `with`.
    pub fn with(&self) -> Vec<Name> {
        children::<With>(&self.0).iter().flat_map(|with| children(&with.0)).collect()
    }
}
