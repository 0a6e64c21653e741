//! The codes of this crate's diagnostics. `docs/diagnostics` has a page for each: what it means, why it is wrong, and a
//! wrong and a right example. `mokume explain` prints these pages; the tests read them.
//!
//! M02 names, M03 types, M04 messages, M05 shapes and handlers (from M0550 on types of layers), M06 wires, M07 stacks;
//! from x90 on warnings.

mokume_base::codes! {
    // ---- how values are written ----
    NOT_WRITTEN_SO = "M0004";
    NOTATION = "M0322";

    // ---- names ----
    UNKNOWN_NAME = "M0201";
    UNKNOWN_TYPE = "M0202";
    UNKNOWN_LAYER = "M0203";
    UNKNOWN_MODULE = "M0204";
    DEFINED_TWICE = "M0205";
    UNKNOWN_FIELD = "M0206";
    UNKNOWN_PARAMETER = "M0207";
    UNKNOWN_OPERATION = "M0208";
    UNKNOWN_ATTRIBUTE = "M0209";
    UNKNOWN_STACK = "M0210";
    UNKNOWN_PUBLISHED = "M0211";
    UNKNOWN_VARIANT = "M0212";
    NO_FUNCTION = "M0213";
    UNKNOWN_ITEM = "M0214";
    UNKNOWN_EVENT = "M0215";
    UNKNOWN_FLOW_PART = "M0216";
    UNKNOWN_PORT = "M0217";
    UNKNOWN_HANDLE = "M0218";
    CIRCLE = "M0219";
    CLASH = "M0220";
    HIDES_BUILT_IN = "M0221";
    // ---- parts of layers ----
    PART_OF_ANOTHER = "M0230";
    PART_MEMBER = "M0231";
    PART_UNDECLARED = "M0232";
    PART_PRIVATE = "M0233";
    HOLDS_NO_FLOW = "M0234";
    UNTAKEN_PART = "M0296";
    IDLE_SHARE = "M0297";
    UNUSED_FUNCTION = "M0290";
    UNUSED_STATE = "M0291";
    UNUSED_PARAMETER = "M0292";
    UNUSED_SERVICE = "M0293";
    HIDES_STATE = "M0294";
    AFTER_END = "M0295";
    NEVER_READ = "M0298";
    UNUSED_LOCAL = "M0299";

    // ---- types and values ----
    MISMATCH = "M0301";
    TOO_BIG = "M0302";
    BAD_OPERANDS = "M0303";
    NARROWS = "M0304";
    WRONG_COUNT = "M0305";
    MISSING_ARGUMENT = "M0306";
    NO_SCALAR = "M0307";
    NOT_EXHAUSTIVE = "M0308";
    CASE_TWICE = "M0309";
    NOT_CONSTANT = "M0310";
    NO_CAST = "M0311";
    NOT_ASSIGNABLE = "M0312";
    CONSTANT_SET = "M0313";
    NO_VALUE = "M0314";
    WRONG_STATE = "M0315";
    NO_TYPE = "M0316";
    RECURSION = "M0317";
    MUST_LEAVE = "M0318";
    FIELDS_MISSING = "M0319";
    UNUSED_VALUE = "M0320";
    NO_ZERO = "M0323";
    EMPTY_SIZE = "M0321";
    UNREACHABLE = "M0390";
    ALWAYS_SAME = "M0396";
    EITHER_BIT = "M0397";
    UNENDING = "M0398";

    // ---- what is out of range, and what a layer begins and never ends ----
    BEYOND_THE_QUOTA = "M0385";
    UNTAKEN_QUOTA = "M0386";
    UNGIVEN = "M0387";
    ONLY_FILLS = "M0388";
    NEVER_ENDS = "M0392";
    MAY_BE_FULL = "M0393";
    BEFORE_REFUSE = "M0394";
    TOO_LATE = "M0375";
    LONELY_LINK = "M0376";
    OUT_OF_TURN = "M0368";
    ARGUMENT_ORDER = "M0361";
    UNEXPECTED_CASTS = "M0395";
    UNLINKED = "M0391";
    DIVIDES_BY_ZERO = "M0370";
    SHIFTED_AWAY = "M0371";
    BEYOND_THE_END = "M0372";
    BEYOND_MEMORY = "M0373";
    COUNTER_WRITTEN = "M0374";
    CHECKSUM_WIDTH = "M0377";
    NOT_INVERTIBLE = "M0378";
    NO_PACKET_PASSES = "M0379";
    TYPE_TOO_LARGE = "M0380";
    TOO_MANY_LAYERS = "M0381";
    TOO_MUCH_CODE = "M0382";
    TOO_MANY_ROUNDS = "M0383";
    TOO_DEEP = "M0384";
    WRITTEN_OUT = "M0389";
    UNHEARD_TIMER = "M0518";
    NEVER_STARTED = "M0519";
    UNTAKEN = "M0520";
    UNUSED_ALTERNATIVE = "M0521";
    UNSAID_HEADER = "M0522";

    // ---- containers, functions that may refuse, functions in C ----
    REFUSAL_UNMET = "M0330";
    REFUSES_NOT = "M0331";
    REFUSED_NAMELESS = "M0332";
    REFUSAL_MISPLACED = "M0338";
    CONTAINER_TYPES = "M0333";
    CONTAINER_MEMBER = "M0334";
    CONTAINER_UNKNOWN = "M0335";
    CONTAINER_WALK = "M0336";
    QUOTA_WANTED = "M0337";
    DATA_PARTS = "M0343";
    DATA_IN_VALUE = "M0344";
    EXTERN_TYPES = "M0340";
    EXTERN_FILE = "M0341";

    // ---- messages ----
    LEAK = "M0401";
    GIVEN_TWICE = "M0402";
    USED_AFTER = "M0403";
    GIVEN_IN_LOOP = "M0404";
    PATHS_DISAGREE = "M0405";
    THROWN_AWAY = "M0406";
    OVERWRITTEN = "M0407";
    NO_MESSAGE = "M0408";
    MESSAGE_STORED = "M0409";
    UNDECLARED = "M0410";

    // ---- shapes and handlers ----
    EVENT_SHAPE = "M0501";
    HIDDEN_FLOW = "M0502";
    ROUTER_SENDS = "M0503";
    HANDLER_PARAMS = "M0504";
    HEADER_FIELDS = "M0505";
    SHAPE_MEMBER = "M0506";
    OUT_OF_SIGHT = "M0507";
    SERVICE_WAY = "M0508";
    WITH_MESSAGE = "M0509";
    MISPLACED = "M0510";
    HANDLER_TWICE = "M0511";
    NO_LATER = "M0512";
    NOTHING_ABOVE = "M0513";
    SHAPE_NEEDS = "M0514";
    WRONG_WAY = "M0515";
    NO_FLOW = "M0516";
    NOT_SERVED = "M0517";
    NO_SESSION_YET = "M0523";
    BEGUN_TWICE = "M0524";
    SILENT = "M0525";
    UNSENT = "M0526";
    HELD_VIEW = "M0527";

    // ---- types of layers, events of one's own, back-pressure ----
    SIGNATURE_PART = "M0550";
    SIGNATURE_DISAGREES = "M0551";
    UNMET_NEED = "M0552";
    PADDED = "M0553";
    EMPTY_GIFT = "M0554";
    HIGHER_PARAMETER = "M0555";
    HIGHER_ARGUMENT = "M0556";
    VOCABULARY_WAY = "M0557";
    NO_ORIGIN = "M0559";
    LOCAL_REASON = "M0560";
    NEVER_CHANGES = "M0561";
    BEYOND_CREDIT = "M0562";
    BEYOND_MTU = "M0563";
    UNTOLD_HEADER = "M0564";
    ARGUMENTS_REFUSED = "M0565";

    // ---- layers over several others, points, and what ends where in a stack's graph ----
    WHICH_BELOW = "M0530";
    OTHER_SIDE = "M0531";
    WITH_WHOM = "M0350";
    BEYOND_BELOW = "M0352";
    TO_ALL_BELOW = "M0353";
    UNLIKE_BELOW = "M0740";
    UNSAID = "M0741";
    UNHEARD = "M0742";

    // ---- views ----
    NO_VIEW = "M0940";
    RANK_KEPT = "M0941";
    VIEW_RENEWED = "M0942";
    CAST_AFTER = "M0943";
    NO_RESERVE = "M0944";
    OLD_VIEW = "M0945";

    // ---- wires ----
    WIRE_UNCOVERED = "M0601";
    WIRE_TWICE = "M0602";
    WIRE_LAYER = "M0603";
    WIRE_FIELD = "M0604";
    WIRE_WIDTH = "M0605";
    WIRE_CONSTANT = "M0606";
    WIRE_EARLIER = "M0607";
    WIRE_TAG_TWICE = "M0608";
    WIRE_OCTETS = "M0609";
    WIRE_TRIM = "M0610";
    WIRE_ALTERNATIVE = "M0611";
    WIRE_TAG = "M0612";
    WIRE_VARIANT = "M0613";
    WIRE_VALUE = "M0614";
    WIRE_ALONE = "M0615";
    WIRE_WAYS = "M0616";
    WIRE_LAYER_TWICE = "M0618";
    UNUSED_WIRE = "M0619";
    WIRE_CONDITION = "M0620";
    WIRE_LAST = "M0621";
    WIRE_OPTION_LENGTH = "M0622";
    WIRE_OPTION_KIND = "M0623";
    WIRE_OPTION_FIELDS = "M0624";
    WIRE_PRESENT = "M0625";
    WIRE_PLACE = "M0626";
    BYTE_ORDER = "M0627";
    WIRE_ROUNDED = "M0628";
    COMMON = "M0670";
    LIMIT = "M0672";

    // ---- bounded vectors, as values and in wires ----
    VECTOR_BOUND = "M0640";
    WIRE_COUNT = "M0643";
    WIRE_UNCOUNTED = "M0644";
    WIRE_ELEMENT = "M0645";
    WIRE_UNTIL = "M0665";
    WIRE_OPTION_LIST = "M0666";
    WIRE_OWN = "M0667";
    WIRE_OF_ANOTHER = "M0617";
    VECTOR_FULL = "M0642";

    // ---- stacks ----
    UNKNOWN_BELOW = "M0701";
    OVER_CYCLE = "M0702";
    UNKNOWN_KEY = "M0703";
    NO_SERVICE = "M0704";
    UNUSED_WITH = "M0705";
    NOT_PUBLISHED = "M0706";
    UNKNOWN_EXPORT = "M0707";
    SETTING = "M0731";
    SHAPE_ORDER = "M0708";
    SAME_KEY = "M0709";
    NO_SESSIONS = "M0711";
    CROWDED = "M0712";
    NO_FLOW_PART = "M0714";
    NO_HANDLER = "M0715";
    UNREACHED = "M0791";
    ATTRIBUTE_MISSED = "M0792";
    LEFT_OUT = "M0793";
    UNANSWERED = "M0794";
    FROM_ELSEWHERE = "M0795";
    ATTRIBUTES_OF_ONE_NAME = "M0796";
}
