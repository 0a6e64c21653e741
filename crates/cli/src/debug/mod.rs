//! `mokume debug`: chooses the network or test, and what controls it: a terminal, a file of commands, or an editor.

mod dap;
mod terminal;

use std::io::BufReader;
use std::sync::{Mutex, PoisonError};

use mokume_base::world::RealWorld;
use mokume_driver::compile::{self, Checked};
use mokume_driver::debug::{self, Target};
use mokume_driver::{sim, test, Failure};

use serde_json::Value;

use crate::arguments::{Format, When};
use crate::common::{accepted, refused};
use crate::debug::dap::Wire;
use crate::print::Printer;

/// The options of the command line.
pub struct Asked<'a> {
    pub network: Option<&'a str>,
    pub test: Option<&'a str>,
    pub seed: Option<u64>,
}

/// Runs the chosen network or test under a user's control.
pub fn debug(checked: &Checked, asked: &Asked<'_>, printer: &Printer) -> Result<i32, Failure> {
    let lead = |target: &Target<'_>| {
        let terminal = terminal::Terminal::new(&target.facts(), printer.output());
        debug::run(target, Box::new(terminal), &RealWorld)
    };
    with_target(checked, asked, printer, lead)?;
    Ok(0)
}

/// Serves an editor over the debug adapter protocol until it leaves. Its `launch` request says what to run. Returns the
/// exit code; fails if the editor left without a word.
pub fn serve(seed: Option<u64>, printer: &Printer) -> Result<i32, Failure> {
    let mut wire = Wire::new(Box::new(BufReader::new(std::io::stdin())), Box::new(printer.output()));
    let mut counting = dap::Counting::of(&serde_json::Value::Null);
    // Errors of a program go over the protocol, not to the printer.
    let own = printer;
    let printer = Printer::new(Format::Text, When::Never);
    while let Some(request) = wire.read() {
        match request.command.as_str() {
            "initialize" => {
                counting = dap::Counting::of(&request.arguments);
                wire.answer(&request, dap::capabilities());
            }
            "launch" => {
                let text = |name: &str| request.arguments[name].as_str().map(str::to_string);
                let Some(program) = text("program") else {
                    wire.refuse(&request, "`program` is missing: the `.mok` file that is to run");
                    continue;
                };
                let (network, test) = (text("network"), text("test"));
                let seed = request.arguments["seed"].as_u64().or(seed);
                let asked = Asked { network: network.as_deref(), test: test.as_deref(), seed };
                let stop_on_entry = request.arguments["stopOnEntry"].as_bool().unwrap_or(false);
                let checked = match accepted(&[program], &printer) {
                    Ok(checked) => checked,
                    Err(failure) => {
                        wire.refuse(
                            &request,
                            &format!("{}: {}; `mokume check` lists them", failure.message, failure.help),
                        );
                        continue;
                    }
                };
                let slot = Mutex::new(Some(wire));
                let lead = |target: &Target<'_>| {
                    let taken = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                    let Some(mut wire) = taken else { return Ok(()) };
                    wire.answer(&request, Value::Null);
                    debug::run(target, Box::new(dap::Adapter::new(wire, counting, stop_on_entry)), &RealWorld)
                };
                let ran = with_target(&checked, &asked, &printer, lead);
                match (ran, slot.into_inner().unwrap_or_else(PoisonError::into_inner)) {
                    // The run did not begin: the editor may send another `launch`.
                    (Err(failure), Some(mut back)) => {
                        back.refuse(&request, &format!("{}: {}", failure.message, failure.help));
                        wire = back;
                    }
                    (Ok(()), _) => return Ok(0),
                    (Err(_), None) => return Ok(1),
                }
            }
            "disconnect" | "terminate" => {
                wire.answer(&request, Value::Null);
                return Ok(0);
            }
            other => wire.refuse(&request, &format!("`{other}` has its time behind `launch`")),
        }
    }
    own.arrived()?;
    Err(Failure::of_peer(
        "the editor left without `disconnect`; editors start this command, docs/debugging.md says how",
    ))
}

/// Prepares the chosen network or test, and passes it to `lead`.
fn with_target(
    checked: &Checked,
    asked: &Asked<'_>,
    printer: &Printer,
    lead: impl FnOnce(&Target<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let world = RealWorld;
    if let Some(name) = chosen_test(checked, asked)? {
        let mut prepared = test::prepare(checked, &name, &world);
        let wrong = std::mem::take(&mut prepared.diagnostics);
        if compile::has_errors(&wrong) {
            return Err(refused(&wrong, checked, printer));
        }
        let number = prepared.names().iter().position(|known| *known == name);
        let number = number.ok_or_else(|| {
            Failure::of_program(format!("the test \"{name}\" cannot be run"), "`mokume check` says why")
        })?;
        let target = Target::Test { checked, prepared, number };
        return lead(&target);
    }
    let network = sim::choose(checked, asked.network)?;
    let stacks = sim::sound_stacks(checked, network, &world).map_err(|wrong| refused(&wrong, checked, printer))?;
    let seed = asked.seed.or(checked.manifest.defaults.seed).unwrap_or(1);
    let prepared = sim::Prepared::new(checked, network, &stacks, Target::BACKEND)?;
    lead(&Target::Network { prepared, seed })
}

/// The name of the chosen test; `None` if a network is to run.
fn chosen_test(checked: &Checked, asked: &Asked<'_>) -> Result<Option<String>, Failure> {
    let own = |place: mokume_base::Span| checked.roots.contains(&place.file);
    let tests = checked.program.tests.iter().filter(|test| own(test.place()));
    let names: Vec<&str> = tests.map(|test| test.name.as_str()).collect();
    let listed = || match names.is_empty() {
        true => "the file has none: write `test \"name\" { stack … }`".to_string(),
        false => format!("there is {}", names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")),
    };
    let Some(wanted) = asked.test else {
        let has_network = checked.program.networks.iter().any(|network| own(network.name.span));
        return match (asked.network.is_some() || has_network, names.as_slice()) {
            (true, _) => Ok(None),
            (false, [one]) => Ok(Some((*one).to_string())),
            (false, []) => Err(Failure::of_use(
                "the file has no network and no test",
                "write `network Name { host a = Stack(…) … }`, or a `test`",
            )),
            (false, _) => Err(Failure::of_use(
                "the file has several tests",
                format!("choose one with `--test NAME`: {}", listed()),
            )),
        };
    };
    let meant: Vec<&&str> = match names.iter().find(|name| **name == wanted) {
        Some(exact) => vec![exact],
        None => names.iter().filter(|name| name.contains(wanted)).collect(),
    };
    match meant.as_slice() {
        [one] => Ok(Some((**one).to_string())),
        [] => Err(Failure::of_use(format!("no test is called \"{wanted}\""), listed())),
        several => Err(Failure::of_use(
            format!("{} tests have \"{wanted}\" in their names", several.len()),
            format!("say the whole name: {}", listed()),
        )),
    }
}
