//! What a layer's own code needs from its shape: emissions, `pass` and `accept`.

use mokume_reaction as r;
use mokume_semantics::program as s;

use crate::code::{Around, Begin, Flow, Fork, Pass, Writer};
use crate::shape::{Beginning, Ending};
use crate::stack::{Giver, Purpose, Register};
use crate::tell::Fields;

/// The implementation for all shapes.
pub struct Shapes;

impl Around for Shapes {
    fn emission<'p>(&self, w: &mut Writer<'_, 'p>, emission: &'p s::Emission, stmt: &'p s::Stmt) {
        w.run_emission(emission, stmt);
    }

    fn begin_session<'p>(&self, w: &mut Writer<'_, 'p>, begin: Begin<'p>) {
        w.begin_here(begin);
    }

    fn listener(&self, w: &mut Writer, flow: Option<Flow>) -> Option<Fork> {
        w.listener_of(flow)
    }

    fn again(&self, w: &mut Writer) {
        w.note_again();
    }

    fn pass(&self, w: &mut Writer) {
        w.pass_on();
    }

    fn accept(&self, w: &mut Writer, message: r::Value, stmt: &s::Stmt) {
        w.accept_unmatched(message, stmt);
    }
}

impl<'p> Writer<'_, 'p> {
    fn run_emission(&mut self, emission: &'p s::Emission, stmt: &'p s::Stmt) {
        use s::Emission as E;
        match emission {
            E::Send { message, fields, to } => self.emit_send(message.as_ref(), fields.as_ref(), to.as_ref()),
            E::Deliver { message, from } => {
                let made = self.made_first(message);
                let from = from.as_ref().map(|from| self.expr(from));
                let message = made.unwrap_or_else(|| self.one(message));
                self.deliver_up(message, from);
            }
            E::Open { flow, args } => {
                let values = self.expr(flow);
                let outer = self.runs.given.clone();
                self.give_by_hand(Giver::Open, args);
                self.open_by_hand(&values);
                self.runs.given = outer;
            }
            E::Listen { flow, args } => {
                let values = self.expr(flow);
                let outer = self.runs.given.clone();
                self.give_by_hand(Giver::Listen, args);
                self.register_by_hand(Register::Listen, flow, &values);
                self.runs.given = outer;
            }
            E::Bind { flow } => {
                let values = self.expr(flow);
                self.register_by_hand(Register::Bind, flow, &values);
            }
            E::Unlisten { flow } => {
                let values = self.expr(flow);
                self.register_by_hand(Register::Unlisten, flow, &values);
            }
            E::Close => self.close_by_hand(Ending::Close),
            E::Abort => self.close_by_hand(Ending::Abort),
            E::Closed => self.say_closed(),
            E::Failed { reason } => {
                let reason = self.why(&reason.text);
                self.fail(reason);
            }
            E::FailedAs { reason } => {
                let reason = self.one(reason);
                self.fail(reason);
            }
            E::FailedFlow { reason, quote, from } => {
                let why = self.one(reason);
                let made = self.made_first(quote);
                let from = self.expr(from);
                let quote = made.unwrap_or_else(|| self.one(quote));
                self.failed_up(why, quote, from.into());
            }
            E::Service { service, operation, uses, args } => self.service((*service, *operation), *uses, args, stmt),
            E::Custom { name, down, args } => {
                let args = self.at_border(args);
                self.custom(&name.text, *down, args);
            }
        }
    }

    fn emit_send(&mut self, message: Option<&'p s::Expr>, fields: Option<&'p s::Fields>, to: Option<&'p s::Expr>) {
        let made = message.and_then(|message| self.made_first(message));
        let fields: Fields =
            fields.map(|fields| (fields.variant, self.written_at_border(&fields.values.iter().collect::<Vec<_>>())));
        let to = to.map(|to| (to.ty, self.expr(to)));
        let message = match message {
            Some(message) => made.unwrap_or_else(|| self.one(message)),
            None => self.zero(r::Type::Msg),
        };
        self.send_down(message, fields, to);
    }

    /// `pass`: the default continuation of the current event.
    pub fn pass_on(&mut self) {
        match self.runs.pass.clone() {
            Pass::Nothing => {}
            Pass::Send(local) => {
                let message = self.of_local(local);
                self.send_down(message, None, None);
            }
            Pass::Deliver(local) => {
                let message = self.of_local(local);
                self.deliver_up(message, None);
            }
            Pass::Open => {
                let flow = self.flow_at_hand();
                self.open_on(&flow);
            }
            Pass::Opened => self.tell_once(Beginning::Opened),
            Pass::Accepted => self.tell_once(Beginning::Accepted),
            Pass::Failed(reason) => self.event_up("failed", Purpose::Failed, vec![reason]),
            Pass::FailedQuoting(why, local) => {
                let quote = self.of_local(local);
                self.pass_failed(why, quote);
            }
            Pass::Close => self.close_on(Ending::Close),
            Pass::Abort => self.close_on(Ending::Abort),
            Pass::Closed => self.event_up("closed", Purpose::Closed, Vec::new()),
            Pass::Register(registration, pattern) => self.register_on(registration, &pattern),
            Pass::Custom { name, down, args } => {
                let args = args.iter().flat_map(|local| self.local_at_border(*local)).collect();
                self.custom(&name, down, args);
            }
        }
    }
}
