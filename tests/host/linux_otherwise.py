"""What Linux (6.x) does otherwise than the tests by segments say: why, and of which tests a part of the name. For `scripts.py`."""

REASONS = {
    "it measures the handshake, and retransmits after 200 ms (and a tail loss probe, RFC 8985, sooner); we begin with a second (RFC 6298 2.1)": [
        "LAST-ACK is sent again",
        "RFC 5681 3.1: a timeout halves",
        "RFC 5681 3.1: a single timeout",
        "MUST-18: what was sent twice",
        "one octet at a time is measured",
        "RFC 6298 5.4: a timeout sends",
        "RFC 6298 2: the timeout follows",
        "RFC 6582 3.2, step 2",
        "MUST-40: an acknowledgement that waits",
        "where the answer to a SYN was lost",
        "RFC 7323 4.1",
        "the timeout stays twice as long",
    ],
    "it begins with ten segments (RFC 6928), not with four (RFC 5681 3.1)": [
        "RFC 5681 3.2, RFC 3042: two duplicates",
        "RFC 5681 3.2, RFC 6582 3.2: recovery",
        "RFC 3522 3.2",
    ],
    "it lets one short segment go where all that is under way is full (Minshall's Nagle)": [
        "a full segment goes though",
        "MUST-61, SHLD-27",
        "MUST-65: a segment size in another",
        "MUST-4, MUST-5, MUST-6",
        "MUST-64: an option may begin",
    ],
    "a window that shrinks without a new number or acknowledgement is not looked at": [
        "RFC 9293 3.8.6.2.1: less than half of what they take",
        "RFC 9293 3.8.6.2.1: half of the largest",
        "RFC 9293 3.8.6.2.1: less than half waits",
        "SHLD-15, SHLD-16",
        "SND.WL1, SND.WL2",
        "where the window has shrunk an acknowledgement",
    ],
    "it asks for room with an empty segment of a number that was acknowledged, not with an octet (RFC 9293 3.8.6.1)": [
        "RFC 9293 3.8.6.1: where there is no room",
        "RFC 9293 3.8.6: the end asks for room",
        "that it is urgent is said where there is no room",
    ],
    "its window is another than ours, so that the edge is elsewhere": [
        "a reset ends a connection with the next number alone",
        "SYN-RECEIVED takes what begins in the window",
    ],
    "its numbers grow with another clock (64 ns), and by 65,537 behind TIME-WAIT": [
        "RFC 6528 3",
        "MAY-2, RFC 6191",
        "SHLD-4, RFC 6191",
    ],
    "another SYN in SYN-RECEIVED is reset, not challenged (RFC 5961 4.2)": ["another SYN, of another number", "a half-open connection challenges"],
    "a SYN with FIN is dropped where it listens": ["all flags at once"],
    "an acknowledgement may be no older than what was ever acknowledged": ["as far back as the largest window"],
    "its reset for text behind a close has no acknowledgement": ["MAY-1, SHLD-3"],
    "a closed socket in FIN-WAIT-2 does not answer what it has had": ["a close is a close"],
    "text behind the other end's FIN is dropped without a word (RFC 9293 3.10.7.4: it should not be there)": ["CLOSE-WAIT takes no text"],
    "a segment that is sent again does not take the end with it": ["the end goes with the last octets alone"],
    "an option whose length cannot be ends the options; we drop the segment (MUST-7 leaves it open)": ["MUST-7"],
    "text without a time is taken where times were agreed on (RFC 7323 3.2: should not)": ["RFC 7323 2, 3.2"],
    "a time that is a little older is not old": ["RFC 7323 5.3, R1", "disagree about the time"],
    "a reset of a closed socket in LAST-ACK is not told": ["in LAST-ACK and CLOSING a reset is told"],
    "urgent text does not wait for what is under way": ["text in front of what is urgent"],
    "a segment has no less than 48 octets, not 64": ["nobody means less than 64"],
}
OTHERWISE = {part: why for why, parts in REASONS.items() for part in parts}
# Where it is a matter of time this may not show on a busy machine.
TIMED = next(iter(REASONS.values()))
