//! Link types of captures (LINKTYPE_…, of www.tcpdump.org/linktypes.html): what packets begin with, and where a stack
//! that reads frames continues.
//!
//! Keeps: a packet is never read as something that its capture does not say it is.

/// What a packet begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Front {
    /// A frame of one of the stack's devices, by its number in the stack.
    Frame(usize),
    /// A network packet, whose first four bits are the version.
    Packet,
    /// The same after four octets with its family, in the byte order of the capturing machine, or of the network.
    Family(Order),
}

/// A byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Host,
    Network,
}

/// Who chose the stack. Of one that the user names (`--by`) it is only known that it is for its own frames; the
/// library's is for Ethernet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whose {
    Library,
    Users,
}

const PRIVATE: std::ops::RangeInclusive<u32> = 147..=162;

/// What packets of a link type begin with, if a stack can read that; frames are those of this device.
pub fn front(link: u32, whose: Whose, device: usize) -> Option<Front> {
    match link {
        1 => Some(Front::Frame(device)),
        101 | 228 | 229 => Some(Front::Packet),
        0 => Some(Front::Family(Order::Host)),
        108 => Some(Front::Family(Order::Network)),
        link if whose == Whose::Users && PRIVATE.contains(&link) => Some(Front::Frame(device)),
        _ => None,
    }
}

/// Wireshark's table of link types.
pub const TABLE: &str = "wtap_encap";

/// The numbers in it for the link types of [`Front::Frame`]: those for private use, and Ethernet.
pub const ENCAPSULATIONS: [u64; 17] = [1, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60];

/// The Ethernet number for the kind of a packet.
pub fn kind_of_packet(octets: &[u8]) -> Option<u64> {
    match octets.first()? >> 4 {
        4 => Some(KINDS[0]),
        6 => Some(KINDS[1]),
        _ => None,
    }
}

/// The kinds of frames (IEEE 802 numbers) whose packets may come without a frame.
pub const KINDS: [u64; 2] = [0x0800, 0x86dd];

/// The family in four octets. Systems differ in the numbers and in the byte order, which the position of the zeros
/// reveals.
pub fn family(octets: [u8; 4], order: Order) -> u32 {
    match order {
        Order::Host if octets[..2] != [0, 0] => u32::from_le_bytes(octets),
        Order::Host | Order::Network => u32::from_be_bytes(octets),
    }
}

/// The kind for a family: 2 is the same everywhere; for the newer one there are the numbers of Linux, BSD and Darwin.
pub fn kind_of_family(family: u32) -> Option<u64> {
    match family {
        2 => Some(KINDS[0]),
        10 | 24 | 28 | 30 => Some(KINDS[1]),
        _ => None,
    }
}

/// `LINUX_SLL (113)`, or only the number.
pub fn name(link: u32) -> String {
    if PRIVATE.contains(&link) {
        return format!("USER{} ({link})", link - PRIVATE.start());
    }
    match NAMES.iter().find(|(number, _)| *number == link) {
        Some((_, name)) => format!("{name} ({link})"),
        None => link.to_string(),
    }
}

/// Common link types.
const NAMES: [(u32, &str); 36] = [
    (0, "NULL"),
    (1, "ETHERNET"),
    (3, "AX25"),
    (6, "IEEE802_5"),
    (7, "ARCNET_BSD"),
    (8, "SLIP"),
    (9, "PPP"),
    (10, "FDDI"),
    (50, "PPP_HDLC"),
    (51, "PPP_ETHER"),
    (100, "ATM_RFC1483"),
    (101, "RAW"),
    (104, "C_HDLC"),
    (105, "IEEE802_11"),
    (107, "FRELAY"),
    (108, "LOOP"),
    (113, "LINUX_SLL"),
    (114, "LTALK"),
    (117, "PFLOG"),
    (119, "IEEE802_11_PRISM"),
    (127, "IEEE802_11_RADIOTAP"),
    (129, "ARCNET_LINUX"),
    (138, "APPLE_IP_OVER_IEEE1394"),
    (187, "BLUETOOTH_HCI_H4"),
    (189, "USB_LINUX"),
    (192, "PPI"),
    (195, "IEEE802_15_4_WITHFCS"),
    (201, "BLUETOOTH_HCI_H4_WITH_PHDR"),
    (220, "USB_LINUX_MMAPPED"),
    (227, "CAN_SOCKETCAN"),
    (228, "IPV4"),
    (229, "IPV6"),
    (239, "NFLOG"),
    (249, "USBPCAP"),
    (253, "NETLINK"),
    (276, "LINUX_SLL2"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_by_whose_the_stack_is() {
        assert_eq!(front(147, Whose::Library, 0), None);
        assert_eq!(front(147, Whose::Users, 1), Some(Front::Frame(1)));
        assert_eq!(front(113, Whose::Users, 0), None);
        assert_eq!(name(113), "LINUX_SLL (113)");
        assert_eq!(name(148), "USER1 (148)");
        assert_eq!(name(9999), "9999");
    }

    #[test]
    fn families_of_either_order() {
        assert_eq!(family([2, 0, 0, 0], Order::Host), 2);
        assert_eq!(family([0, 0, 0, 2], Order::Host), 2);
        assert_eq!(family([0, 0, 0, 30], Order::Network), 30);
        assert_eq!((kind_of_family(30), kind_of_family(7)), (Some(0x86dd), None));
    }
}
