//! A run for people and other programs: a capture, a chart, a log.

use std::collections::BTreeMap;

use mokume_draw::{Chart, Direction, Event, MessageId, Unit};
use mokume_reaction::{Automaton, Datum, Handle, PortId, Type};
use mokume_script::Written;
use mokume_simulate::{Fate, RecordedEvent};

use super::{HostRun, Run};
use crate::devices::capture::{CaptureWriter, LinkType};
use crate::failure::Failure;
use crate::labels::{text_of, Labels};

/// What was on the media, in order of time, each frame once.
pub fn capture(run: &Run, name: &str) -> Result<u64, Failure> {
    let private = |host: &HostRun| LinkType::of(&host.automaton) == LinkType::Private;
    let link = if run.hosts.iter().any(private) { LinkType::Private } else { LinkType::Ethernet };
    let mut writer = CaptureWriter::create(name, link)?;
    let mut count = 0;
    for record in &run.records {
        if let RecordedEvent::Sent { frame, .. } = &record.what {
            writer.write(record.at, frame)?;
            count += 1;
        }
    }
    writer.flush()?;
    Ok(count)
}

/// The run as a sequence chart.
pub fn chart(run: &Run, title: &str) -> Chart {
    let names: Vec<&str> = run.hosts.iter().map(|host| host.name.as_str()).collect();
    let labels: Vec<Labels<'_>> = run.hosts.iter().map(|host| Labels::new(&host.automaton)).collect();
    let mut chart = Chart::new(title, Unit::Nanoseconds, &names);
    let mut numbers = BTreeMap::new();
    let mut next = 0;
    for record in &run.records {
        match &record.what {
            RecordedEvent::Sent { host, number, frame, fates, .. } => {
                for (to, fate) in fates {
                    let message = MessageId(next);
                    next += 1;
                    numbers.insert((*number, *to), message);
                    chart.push(
                        record.at,
                        Event::Send { from: *host, to: *to, message, label: labels[*host].label(frame) },
                    );
                    if *fate == Fate::Lost {
                        chart.push(record.at, Event::Lose { message });
                    }
                }
            }
            RecordedEvent::Arrived { host, number, .. } => {
                if let Some(message) = numbers.get(&(*number, *host)) {
                    chart.push(record.at, Event::Receive { message: *message });
                }
            }
            RecordedEvent::Input { host, port, event, args, .. } => {
                let text = run.hosts[*host].input(*port, *event, args);
                chart.push(record.at, Event::Call { at: *host, direction: Direction::In, label: text });
            }
            RecordedEvent::Output { host, port, event, args } => {
                let text = run.hosts[*host].output(*port, *event, args);
                chart.push(record.at, Event::Call { at: *host, direction: Direction::Out, label: text });
            }
            RecordedEvent::Unheard { host, number } => {
                if let Some(message) = numbers.get(&(*number, *host)) {
                    chart.push(record.at, Event::Lose { message: *message });
                }
            }
            RecordedEvent::Crashed { host } => {
                chart.push(record.at, Event::Violation { label: format!("{} crashes", names[*host]) });
            }
            RecordedEvent::Restarted { host } => {
                chart.push(record.at, Event::Violation { label: format!("{} begins again", names[*host]) });
            }
            RecordedEvent::Reported { host, report, place } => {
                chart.push(record.at, Event::Violation { label: format!("{}: {report} at {place}", names[*host]) });
            }
        }
    }
    chart
}

impl HostRun {
    /// `udp.bind(1, 10.0.0.1, 4000)`
    fn input(&self, port: PortId, event: u32, args: &[Datum]) -> String {
        let input = &self.automaton.ports[port.index()].inputs[event as usize];
        self.call(port, &input.event, &input.params, args)
    }

    /// `udp.accepted(session 3, 10.0.0.1, 4000, 10.0.0.2, 7)`
    pub fn output(&self, port: PortId, event: u32, args: &[Datum]) -> String {
        let output = &self.automaton.ports[port.index()].outputs[event as usize];
        self.call(port, &output.event, &output.params, args)
    }

    fn call(&self, port: PortId, event: &str, params: &[(String, Type)], args: &[Datum]) -> String {
        let name = &self.automaton.ports[port.index()].name;
        format!("{name}.{event}{}", arguments(&self.automaton, &self.written, port, params, args))
    }
}

/// `(1, "hello", session 3, 10.0.0.1)`: what goes with an event of a port, whose parameters `params` are.
pub fn arguments(
    automaton: &Automaton,
    written: &Written,
    port: PortId,
    params: &[(String, Type)],
    args: &[Datum],
) -> String {
    let word = |at: usize| match args.get(at) {
        Some(Datum::Word(word)) => Some(*word),
        Some(Datum::Handle(_) | Datum::Message(_)) | None => None,
    };
    let other = |at: usize| match args.get(at) {
        Some(Datum::Word(word)) => word.to_string(),
        Some(Datum::Handle(Handle::NULL)) => "null".to_string(),
        Some(Datum::Handle(handle)) => format!("session {}", handle.object),
        Some(Datum::Message(octets)) => text_of(octets),
        None => "?".to_string(),
    };
    format!("({})", written.arguments(automaton, port, params, &word, &other).join(", "))
}

/// One line of a run's log.
pub struct LogLine {
    pub at: u64,
    pub host: String,
    pub text: String,
}

impl LogLine {
    /// The line for scripts; `at` is in nanoseconds since the start.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({ "at": self.at, "host": self.host, "event": self.text })
    }
}

/// Every event of a run.
pub fn log(run: &Run) -> Vec<LogLine> {
    run.records
        .iter()
        .map(|record| {
            let (host, text) = log_text(run, &record.what);
            LogLine { at: record.at, host: run.hosts[host].name.clone(), text }
        })
        .collect()
}

fn log_text(run: &Run, what: &RecordedEvent) -> (usize, String) {
    let refused = |refused: bool| if refused { " REFUSED" } else { "" };
    match what {
        RecordedEvent::Sent { host, medium, number, frame, fates, .. } => {
            let fates: Vec<String> = fates
                .iter()
                .map(|(to, fate)| match fate {
                    Fate::Lost => format!("{} lost", run.hosts[*to].name),
                    Fate::Arrives(times) => format!("{} ×{}", run.hosts[*to].name, times.len()),
                })
                .collect();
            (*host, format!("sends #{number} on {}: {} octets ({})", run.media[*medium], frame.len(), fates.join(", ")))
        }
        RecordedEvent::Arrived { host, number, refused: no, .. } => {
            (*host, format!("receives #{number}{}", refused(*no)))
        }
        RecordedEvent::Input { host, port, event, args, refused: no } => {
            (*host, format!("<- {}{}", run.hosts[*host].input(*port, *event, args), refused(*no)))
        }
        RecordedEvent::Output { host, port, event, args } => {
            (*host, format!("-> {}", run.hosts[*host].output(*port, *event, args)))
        }
        RecordedEvent::Unheard { host, number } => (*host, format!("has crashed, and does not hear #{number}")),
        RecordedEvent::Crashed { host } => (*host, "CRASHES".to_string()),
        RecordedEvent::Restarted { host } => (*host, "BEGINS AGAIN".to_string()),
        RecordedEvent::Reported { host, report, place } => (*host, format!("REPORT {report} at {place}")),
    }
}
