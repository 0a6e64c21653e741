//! Tasks: the purpose of a handler, and the objects that it runs for.

use std::rc::Rc;

use mokume_reaction as r;
use mokume_semantics::program as s;

use super::{joined, Lowering};

/// A handler to make.
pub struct Task {
    pub inst: usize,
    pub on: On,
    pub trigger: r::Trigger,
    pub params: Vec<(String, r::Type)>,
    pub purpose: Purpose,
    /// The capacity of its `later` queue.
    pub later: u32,
}

/// Which object of an instance handles an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum On {
    Entity,
    View,
    Point,
    Session,
    Lower,
    Object(s::ObjectId),
}

impl From<s::ScopeKind> for On {
    fn from(scope: s::ScopeKind) -> On {
        match scope {
            s::ScopeKind::Session => On::Session,
            s::ScopeKind::SessionBelow => On::Lower,
            s::ScopeKind::Object(id) => On::Object(id),
            s::ScopeKind::Point => On::Point,
            s::ScopeKind::View => On::View,
            s::ScopeKind::Entity => On::Entity,
        }
    }
}

/// The purpose of a handler to make.
#[derive(Clone, PartialEq, Debug)]
pub enum Purpose {
    /// Flow traffic, on the entity.
    FlowSend,
    FlowDeliver,
    Register(Registration, Option<usize>),
    /// For sessions, on the entity.
    Open {
        user: Option<usize>,
    },
    Accepted,
    /// On the session, from above.
    Send,
    Close,
    Abort,
    Refuse,
    Attach,
    /// It will be attached: answers in the meantime are for it.
    Claim,
    /// On the session (or the lower side's object), from below.
    Deliver,
    Opened,
    /// The session below is made, and will be open later.
    Coming,
    Failed,
    Closed,
    /// A failure with a quote: for flow traffic, on the entity; and on a session.
    FailedFlow,
    FailedQuoting,
    /// An operation of a service.
    Service {
        service: s::ServiceId,
        operation: u32,
        uses: Option<u32>,
    },
    /// A handler of the layer that only `later` reaches.
    Own {
        handler: u32,
    },
    Custom {
        name: Rc<str>,
        down: bool,
    },
    /// A published value below has changed.
    Changed {
        name: Rc<str>,
    },
    /// A handler of the layer, by its number.
    Plain {
        handler: Option<u32>,
    },
}

impl Purpose {
    /// Whether the handler is for this event of the language.
    pub fn stands_for(&self, event: &s::Event) -> bool {
        use s::Event as E;
        match self {
            Purpose::FlowSend | Purpose::Send => matches!(event, E::Send { .. }),
            Purpose::FlowDeliver => matches!(event, E::Deliver { .. } | E::Arrives { .. }),
            Purpose::Deliver => matches!(event, E::Deliver { .. }),
            Purpose::Open { .. } => matches!(event, E::Open { .. }),
            Purpose::Accepted => matches!(event, E::Accepted { .. }),
            Purpose::Opened => matches!(event, E::Opened),
            Purpose::Failed => matches!(event, E::Failed { .. }),
            Purpose::Closed => matches!(event, E::Closed),
            Purpose::FailedFlow | Purpose::FailedQuoting => matches!(event, E::FailedQuoting { .. }),
            Purpose::Close => matches!(event, E::Close),
            Purpose::Abort => matches!(event, E::Abort),
            Purpose::Changed { name } => matches!(event, E::Change { name: known } if known.text == **name),
            Purpose::Custom { name, .. } => matches!(event, E::Custom { name: known, .. } if known.text == **name),
            Purpose::Register(registration, _) => match registration.how {
                Register::Listen => matches!(event, E::Listen { .. }),
                Register::Bind => matches!(event, E::Bind { .. }),
                Register::Unlisten => matches!(event, E::Unlisten { .. }),
            },
            Purpose::Refuse
            | Purpose::Attach
            | Purpose::Claim
            | Purpose::Coming
            | Purpose::Service { .. }
            | Purpose::Own { .. }
            | Purpose::Plain { .. } => false,
        }
    }
}

impl<'p> Lowering<'p> {
    /// The layer's own handler for a task, if it has one.
    pub fn handler_of(&self, task: &Task) -> Option<&'p s::Handler> {
        match &task.purpose {
            Purpose::Plain { handler: Some(at) } | Purpose::Own { handler: at } => {
                self.layer(task.inst)?.handlers.get(*at as usize)
            }
            Purpose::Service { service, operation, uses } => {
                self.service_handler(task.inst, *service, *operation, *uses)
            }
            purpose => self.handler_where(task.inst, |event| purpose.stands_for(event)),
        }
    }

    /// The handler of a service's operation: the server's, or that of a user, by the index in its `uses`.
    pub fn service_handler(
        &self,
        inst: usize,
        service: s::ServiceId,
        operation: u32,
        uses: Option<u32>,
    ) -> Option<&'p s::Handler> {
        self.handler_where(inst, |event| {
            matches!(event, s::Event::Service { service: of, operation: which, uses: by, .. }
                if *of == service && *which == operation && *by == uses)
        })
    }

    /// The parameters of a handler that `later` reaches; for flow traffic with the flow.
    pub fn own_params(&mut self, inst: usize, on: On, handler: u32) -> (Vec<(String, r::Type)>, bool) {
        let Some(layer) = self.layer(inst) else { return (Vec::new(), false) };
        let handler = &layer.handlers[handler as usize];
        let mut params = Vec::new();
        if let s::Event::Custom { params: locals, .. } = &handler.event {
            for local in locals {
                let decl = &handler.locals[local.index()];
                let parts = self.border(inst, decl.ty);
                params.extend(parts.into_iter().map(|(rest, ty)| (joined(&decl.name.text, &rest), ty)));
            }
        }
        let at = self.inst(inst);
        let with_flow = on == On::Entity && self.carries_flow(inst) && at.used.flow && !at.top.is_empty();
        if with_flow {
            params.extend(self.flow_params(&at.top));
        }
        (params, with_flow)
    }
}

/// What a layer registers for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Register {
    /// Sessions that others begin.
    Listen,
    /// Flow traffic.
    Bind,
    /// Ends both.
    Unlisten,
}

/// Which components a pattern has: those of the local end, or all if it names something of the remote end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Endpoints {
    Local,
    Both,
}

impl Endpoints {
    /// A written-out pattern has the endpoints that it names; any other flow is a pattern of both.
    pub fn of(flow: &s::Expr) -> Endpoints {
        match &flow.kind {
            s::ExprKind::Flow { remote, .. } if remote.is_empty() => Endpoints::Local,
            _ => Endpoints::Both,
        }
    }
}

/// A registration at the layer below, and its endpoints.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Registration {
    pub how: Register,
    pub endpoints: Endpoints,
}

impl Registration {
    /// `listen`, `listen_from`.
    pub fn name(self) -> String {
        let how = match self.how {
            Register::Listen => "listen",
            Register::Bind => "bind",
            Register::Unlisten => "unlisten",
        };
        match self.endpoints {
            Endpoints::Local => how.to_owned(),
            Endpoints::Both => format!("{how}_from"),
        }
    }
}
