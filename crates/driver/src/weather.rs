//! The options of a link, in a network and at a real device.

use mokume_base::World;
use mokume_semantics::program::NetworkLink;
pub use mokume_simulate::{Way, Weather};

use crate::compile;
use crate::failure::Failure;

/// The weather of a link.
pub fn of(link: &NetworkLink) -> Weather {
    Weather {
        loss: link.loss,
        duplicate: link.duplicate,
        reorder: link.reorder,
        corrupt: link.corrupt,
        delay: link.delay,
        burst_loss: link.burst.0,
        burst_length: link.burst.1,
        rate: link.rate,
        queue: link.queue,
        calm_from: link.calm_from,
    }
}

/// Parses `loss 2 % delay 5 ms .. 20 ms`, like the options of a network's link.
pub fn read(words: &str, world: &dyn World) -> Result<Weather, Failure> {
    let wrong = |message: &str, help: &str| Failure::of_use(format!("weather `{}`: {message}", words.trim()), help);
    let help = "write `--weather \"loss 2 % delay 5 ms .. 20 ms rate 10 Mbit/s queue 20\"`";
    if words.trim().is_empty() || words.contains(['{', '}', '\n']) || words.contains("//") {
        return Err(wrong("it says nothing that a link says", help));
    }
    let text = format!(
        "worker Plain {{ }}\nstack Host(device: Device) {{\n    app = Plain over device\n    export app\n}}\n\
         network Weather {{\n    host a = Host()\n    host b = Host()\n    link line {{ a.device, b.device  {words} }}\n    until 1 s\n}}\n"
    );
    let checked = compile::check_texts(world, vec![("weather".to_string(), text)], Vec::new());
    if let Some(first) = checked.diagnostics.first() {
        return Err(wrong(&first.message, first.helps.first().map_or(help, String::as_str)));
    }
    match checked.program.networks.first().map(|network| network.links.as_slice()) {
        Some([link]) => Ok(of(link)),
        Some(_) | None => Err(wrong("it is more than a link says", help)),
    }
}

#[cfg(test)]
mod tests {
    use mokume_base::MemoryWorld;

    use super::*;

    fn said(words: &str) -> Result<Weather, Failure> {
        read(words, &MemoryWorld::new())
    }

    #[test]
    fn a_device_says_its_weather_as_a_link_does() {
        let all = "loss 2 % duplicate 1 % reorder 3 % corrupt 4 % delay 5 ms .. 20 ms burst loss 1 % of 5 rate 10 Mbit/s queue 20 calm from 6 s";
        let weather = Weather {
            loss: 20_000,
            duplicate: 10_000,
            reorder: 30_000,
            corrupt: 40_000,
            delay: (5_000_000, 20_000_000),
            burst_loss: 10_000,
            burst_length: 5,
            rate: 10_000_000,
            queue: 20,
            calm_from: Some(6_000_000_000),
        };
        assert_eq!(said(all), Ok(weather));
    }

    #[test]
    fn what_is_no_weather_is_one_line() {
        for wrong in [
            "",
            "rain",
            "loss",
            "loss 200 %",
            "queue 20",
            "delay 3 ms .. 1 ms",
            "loss 2 % }  link other { a.device",
            "loss 2 % // x",
        ] {
            let failure = said(wrong).expect_err(wrong);
            assert!(
                failure.exit_code() == 2 && !failure.help.is_empty() && !failure.message.contains('\n'),
                "{failure}"
            );
        }
    }
}
