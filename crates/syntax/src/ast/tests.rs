//! Tests and networks.

use super::{child, children, choice, node, token, Expr, LayerUse, Name, Param, ParamList, Path, RangeExpr};
use crate::kinds::SyntaxKind;

choice! {
    /// A step of a test.
    TestStep {
        Stack(TestStack), Input(InputStep), Expect(ExpectStep), Dropped(DroppedStep), Consumed(ConsumedStep),
        Reported(ReportedStep), Counter(CounterStep),
        After(AfterStep),
    }
}

choice! {
    /// A member of a network.
    NetworkMember {
        Host(Host), Link(Link), At(AtStep), Partition(Partition), Until(Until), Expect(Expectation), When(WhenStep),
        Frame(FrameFault), Outage(Outage), Clock(Clock), Cast(CastLine), Promised(Promised),
        Tally(Tally),
    }
}

node! {
    /// `test "name" { … }`
    Test = TEST;
    /// `suite Segments(S: stack) { test "name" { stack S … } }`
    Suite = SUITE;
    /// `run Segments(Plain)`
    Run = RUN;
    /// `stack Host(address: 10.0.0.1/24, device.mac: …)`
    TestStack = TEST_STACK;
    /// `device.frame(x"01")`
    InputStep = INPUT_STEP;
    /// `=> app.accepted(?s)  app.deliver(s, "one")`, `=> nothing`; several such lines in a row make one list
    ExpectStep = EXPECT_STEP;
    /// `nothing`
    Nothing = NOTHING;
    /// `within 200 ms`
    Within = WITHIN;
    /// `dropped stale 1`
    DroppedStep = DROPPED_STEP;
    /// `consumed used 1`
    ConsumedStep = CONSUMED_STEP;
    /// `reported overflow 1`
    ReportedStep = REPORTED_STEP;
    /// `counter tcp.resends 1`
    CounterStep = COUNTER_STEP;
    /// `after 20 ms`
    AfterStep = AFTER_STEP;
    /// `network Demo { … }`
    Network = NETWORK;
    /// `host a = Host(address: 10.0.0.1/24)`
    Host = HOST;
    /// `link lan { a.device, b.device  loss 10 % }`
    Link = LINK;
    /// `loss 10 %`, `delay 1 ms .. 3 ms`, `burst loss 1 % of 5`, `rate 10 Mbit/s`, `queue 20`, `calm from 6 s`
    LinkOption = LINK_OPTION;
    /// `10 %`
    Percentage = PERCENTAGE;
    /// `10 Mbit/s`
    Rate = RATE;
    /// `at 10 ms  a.udp.bind(1, 0, 4000)`
    AtStep = AT_STEP;
    /// `partition a, b  from 1 s until 2 s`
    Partition = PARTITION;
    /// `crash a  at 2 s`, `restart a(life: 2)  at 3 s`
    Outage = OUTAGE;
    /// `clock a  ahead 3 s  gains 50 us`
    Clock = CLOCK;
    /// `casts app.send_to(_, 255, ..)`, `delivers app.deliver_from`, `views app.view(?v, ..)`
    CastLine = CAST_LINE;
    /// `expect casts total, own`
    Promised = PROMISED;
    /// `until 2 s`
    Until = UNTIL;
    /// `expect b.app.deliver(_, "hello")  until 2 s`, `expect b.app.deliver 20 times`, `expect nothing at a.app.failed_session`
    Expectation = EXPECTATION;
    /// `20 times`
    Times = TIMES;
    /// `expect dropped b.stale 1  until 2 s`, `expect counter b.app.hits 1 .. 5`, `expect consumed used`
    Tally = TALLY;
    /// `when a.app.opened(1, ?s)  after 5 ms  a.app.send(s, "x")`
    WhenStep = WHEN_STEP;
    /// `frame 3 of a.device to b.device  lost`
    FrameFault = FRAME_FAULT;
    /// `lost`, `late 4 ms`, `turned 12`, `twice 1 ms`
    FaultPart = FAULT_PART;
}

impl Test {
    /// The name in quotes.
    pub fn name(&self) -> Option<String> {
        let text = token(&self.0, SyntaxKind::STRING)?;
        Some(String::from_utf8_lossy(&crate::lexer::string_octets(text.text())?).into_owned())
    }
    /// The documentation in front of it.
    pub fn doc(&self) -> String {
        super::doc_of(&self.0)
    }
    /// The steps, in order.
    pub fn steps(&self) -> Vec<TestStep> {
        children(&self.0)
    }
}

impl Suite {
    /// Its name in `run`.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The stacks that its tests run on.
    pub fn params(&self) -> Vec<Param> {
        child::<ParamList>(&self.0).map_or(Vec::new(), |list| list.params())
    }
    /// The tests, in order.
    pub fn tests(&self) -> Vec<Test> {
        children(&self.0)
    }
}

impl Run {
    /// The suite, with the stacks for it.
    pub fn suite(&self) -> Option<LayerUse> {
        child(&self.0)
    }
}

impl TestStack {
    /// The stack with its settings.
    pub fn stack(&self) -> Option<LayerUse> {
        child(&self.0)
    }
}

impl InputStep {
    /// The call: `port.event(args)`.
    pub fn call(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl ExpectStep {
    /// `=> nothing`
    pub fn is_nothing(&self) -> bool {
        child::<Nothing>(&self.0).is_some()
    }
    /// `within 200 ms`: how long the outputs may take.
    pub fn within(&self) -> Option<Expr> {
        child::<Within>(&self.0).and_then(|within| child(&within.0))
    }
    /// The outputs, as calls whose arguments may hold `?s` and `_`.
    pub fn outputs(&self) -> Vec<Expr> {
        children(&self.0)
    }
}

impl DroppedStep {
    /// The reason of the drop.
    pub fn reason(&self) -> Option<Path> {
        child(&self.0)
    }
    /// How many messages; one if absent.
    pub fn count(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl ConsumedStep {
    /// The reason of the consumption.
    pub fn reason(&self) -> Option<Path> {
        child(&self.0)
    }
    /// How many messages; one if absent.
    pub fn count(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl ReportedStep {
    /// The kind of report.
    pub fn report(&self) -> Option<Path> {
        child(&self.0)
    }
    /// How often; once if absent.
    pub fn count(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl CounterStep {
    /// The counter, perhaps with its layer in front.
    pub fn counter(&self) -> Option<Path> {
        child(&self.0)
    }
    /// Its sum over all objects; one if absent.
    pub fn count(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl AfterStep {
    /// How much time passes.
    pub fn duration(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Network {
    /// Its name.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The documentation in front of it.
    pub fn doc(&self) -> String {
        super::doc_of(&self.0)
    }
    /// The members, in order.
    pub fn members(&self) -> Vec<NetworkMember> {
        children(&self.0)
    }
}

impl Host {
    /// Its name in the network.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The stack with its settings.
    pub fn stack(&self) -> Option<LayerUse> {
        child(&self.0)
    }
}

impl Link {
    /// Its name in reports.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The devices that it connects: `a.device`, …
    pub fn devices(&self) -> Vec<Path> {
        children(&self.0)
    }
    /// The options, in order.
    pub fn options(&self) -> Vec<LinkOption> {
        children(&self.0)
    }
}

impl LinkOption {
    /// The property of the medium.
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The number of `10 %`.
    pub fn percentage(&self) -> Option<u64> {
        let percentage: Percentage = child(&self.0)?;
        crate::lexer::number(token(&percentage.0, SyntaxKind::NUMBER)?.text())
    }
    /// `10 Mbit/s`
    pub fn rate(&self) -> Option<Rate> {
        child(&self.0)
    }
    /// A plain value, the whole range, or the length of a burst.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// `1 ms .. 3 ms`
    pub fn range(&self) -> Option<RangeExpr> {
        child(&self.0)
    }
}

impl Rate {
    /// The number in front of the unit.
    pub fn number(&self) -> Option<u64> {
        crate::lexer::number(token(&self.0, SyntaxKind::NUMBER)?.text())
    }
    /// `Mbit`
    pub fn unit(&self) -> Option<String> {
        Some(token(&self.0, SyntaxKind::IDENT)?.text().to_string())
    }
}

impl AtStep {
    /// The time, counted from the start.
    pub fn instant(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The call: `a.udp.bind(1, 0, 4000)`.
    pub fn call(&self) -> Option<Expr> {
        children::<Expr>(&self.0).into_iter().nth(1)
    }
}

impl Partition {
    /// The hosts that are cut off from the others.
    pub fn hosts(&self) -> Vec<Name> {
        children(&self.0)
    }
    /// The start.
    pub fn from(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The end.
    pub fn until(&self) -> Option<Expr> {
        children::<Expr>(&self.0).into_iter().nth(1)
    }
}

impl Outage {
    /// The first word, `crash` or `restart`.
    pub fn word(&self) -> String {
        token(&self.0, SyntaxKind::IDENT).map(|word| word.text().to_string()).unwrap_or_default()
    }
    /// The host that crashes.
    pub fn host(&self) -> Option<Name> {
        child(&self.0)
    }
    /// The host that restarts, with new arguments for its stack.
    pub fn again(&self) -> Option<LayerUse> {
        child(&self.0)
    }
    /// The time.
    pub fn at(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Clock {
    /// The host whose clock it is.
    pub fn host(&self) -> Option<Name> {
        child(&self.0)
    }
    /// `ahead 3 s`, `gains 50 us`, `loses 50 us`
    pub fn parts(&self) -> Vec<FaultPart> {
        children(&self.0)
    }
}

impl CastLine {
    /// The first word: `casts`, `delivers` or `views`.
    pub fn word(&self) -> String {
        token(&self.0, SyntaxKind::IDENT).map(|word| word.text().to_string()).unwrap_or_default()
    }
    /// A call with patterns, or the bare `app.deliver_from`.
    pub fn event(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Promised {
    /// `total`, `own`, …
    pub fn words(&self) -> Vec<Name> {
        children(&self.0)
    }
}

impl Until {
    /// How long the network runs.
    pub fn duration(&self) -> Option<Expr> {
        child(&self.0)
    }
}

impl Expectation {
    /// `nothing at`: the output must not occur.
    pub fn is_nothing(&self) -> bool {
        child::<Nothing>(&self.0).is_some()
    }
    /// A call with patterns, or the bare `b.app.deliver`, with any arguments.
    pub fn output(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The number of `20 times`.
    pub fn times(&self) -> Option<Expr> {
        child::<Times>(&self.0).and_then(|times| child(&times.0))
    }
    /// The time of `until 2 s`; absent: the end of the network's run.
    pub fn until(&self) -> Option<Expr> {
        child::<Until>(&self.0).and_then(|until| until.duration())
    }
}

impl Tally {
    /// The second word: `dropped`, `consumed` or `counter`; after a report also `reported`.
    pub fn word(&self) -> String {
        let mut words = self.0.children_with_tokens().filter_map(|element| element.into_token());
        words
            .find(|word| word.kind() == SyntaxKind::IDENT && word.text() != "expect")
            .map_or_else(String::new, |word| word.text().to_string())
    }
    /// What is counted, perhaps with a host and layers in front.
    pub fn counted(&self) -> Option<Path> {
        child(&self.0)
    }
    /// The total, or the whole range; absent: one or more.
    pub fn count(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// `1 .. 5`
    pub fn range(&self) -> Option<RangeExpr> {
        child(&self.0)
    }
    /// The time of `until 2 s`; absent: the end of the network's run.
    pub fn until(&self) -> Option<Expr> {
        child::<Until>(&self.0).and_then(|until| until.duration())
    }
}

impl WhenStep {
    /// The output that it waits for: a call with patterns, or the bare `a.app.opened`.
    pub fn output(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// `after 5 ms`
    pub fn after(&self) -> Option<Expr> {
        child::<AfterStep>(&self.0).and_then(|after| after.duration())
    }
    /// The call that follows the output.
    pub fn call(&self) -> Option<Expr> {
        children::<Expr>(&self.0).into_iter().nth(1)
    }
}

impl FrameFault {
    /// The number, from 1, of the frame among those that the device sends.
    pub fn number(&self) -> Option<Expr> {
        child(&self.0)
    }
    /// The sending device, and the receiving one for which the fault holds; absent: for all receivers.
    pub fn devices(&self) -> Vec<Path> {
        children(&self.0)
    }
    /// What happens to the frame.
    pub fn parts(&self) -> Vec<FaultPart> {
        children(&self.0)
    }
}

impl FaultPart {
    /// `lost`, `late`, `turned`, `twice`
    pub fn name(&self) -> Option<Name> {
        child(&self.0)
    }
    /// How late it is, or which bit is flipped.
    pub fn value(&self) -> Option<Expr> {
        child(&self.0)
    }
}
