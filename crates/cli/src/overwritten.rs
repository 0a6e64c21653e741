//! What a command writes is no file that it reads, no source, and not written twice: nothing that the user has is lost by a
//! slip in a name.

use std::path::{Path, PathBuf};

use mokume_base::world::World;
use mokume_driver::devices::{self, Kind};
use mokume_driver::Failure;

use crate::arguments::{Command, OnDevices};

/// Fails if the command would overwrite what it reads, or one of its outputs by another.
pub fn nothing_is_overwritten(command: &Command, world: &dyn World) -> Result<(), Failure> {
    let (read, written) = files(command);
    if written.iter().any(|name| name == "-") {
        let help = "name a file; `/dev/stdout` is the standard output";
        return Err(Failure::of_use("`-` is the standard input, and no file to write", help));
    }
    let (read, written) = (of_disk(world, &read), of_disk(world, &written));
    for (place, (name, path)) in written.iter().enumerate() {
        if path.extension().is_some_and(|ending| ending == "mok") || path.ends_with("Mokume.toml") {
            return Err(Failure::of_use(format!("`{name}` would be overwritten: it is a source"), ANOTHER));
        }
        if read.iter().any(|(_, other)| other == path) {
            return Err(Failure::of_use(format!("`{name}` would be overwritten: it is read, too"), ANOTHER));
        }
        if written[..place].iter().any(|(_, other)| other == path) {
            return Err(Failure::of_use(format!("`{name}` would be written twice"), "name two files"));
        }
    }
    Ok(())
}

const ANOTHER: &str = "name another file";

/// The names of the files that a command reads, as far as its words say them, and of those that it writes.
fn files(command: &Command) -> (Vec<String>, Vec<String>) {
    let (mut read, mut written) = (Vec::new(), Vec::new());
    match command {
        Command::Test { files, record, .. } => {
            read.extend(files.iter().cloned());
            written.extend(record.clone());
        }
        Command::Run { stack, on, record, .. } => {
            read.extend(stack.file.clone());
            written.extend(record.clone());
            of_devices(on, &mut read, &mut written);
        }
        Command::Connect { stack, on, .. } | Command::Listen { stack, on, .. } | Command::Forward { stack, on, .. } => {
            read.extend(stack.file.clone());
            of_devices(on, &mut read, &mut written);
        }
        Command::Sim { file, pcap, chart, record, html, .. } => {
            read.extend(file.clone());
            written.extend([pcap, chart, record, html].into_iter().flatten().cloned());
        }
        Command::Profile { file, output, .. } => {
            read.extend(file.clone());
            written.extend(output.clone());
        }
        Command::Build { stack, output, by, .. } => {
            read.extend([&stack.file, &by.profile].into_iter().flatten().cloned());
            written.extend(output.clone());
        }
        Command::Path { stack, html, by, .. } => {
            read.extend([&stack.file, &by.profile].into_iter().flatten().cloned());
            written.extend(html.clone());
        }
        Command::Graph { stack, output, .. } => {
            read.extend(stack.file.clone());
            written.extend(output.clone());
        }
        Command::Show { file, chart, pcap, html, against, .. } => {
            read.push(file.clone());
            read.extend(against.clone());
            written.extend([chart, pcap, html].into_iter().flatten().cloned());
        }
        _ => {}
    }
    (read, written)
}

fn of_devices(on: &OnDevices, read: &mut Vec<String>, written: &mut Vec<String>) {
    written.extend(on.pcap.clone());
    for device in &on.device {
        // What is no device is told where it is opened.
        if let Ok((_, Kind::Capture { read: from, write })) = devices::parse(device) {
            read.push(from);
            written.extend(write);
        }
    }
}

/// These names with the files they mean; without `-`, and without folders and the kernel's files, which keep what they had.
fn of_disk<'n>(world: &dyn World, names: &'n [String]) -> Vec<(&'n str, PathBuf)> {
    let one = |name: &'n String| {
        let path = Path::new(name);
        let folder = path.parent().map(Path::to_string_lossy).filter(|folder| !folder.is_empty());
        // A file that is not there yet is where its folder is.
        let absolute = world.absolute(name).map(PathBuf::from).or_else(|_| {
            let folder = world.absolute(&folder.unwrap_or(".".into()))?;
            std::io::Result::Ok(Path::new(&folder).join(path.file_name().unwrap_or_default()))
        });
        let absolute = absolute.unwrap_or_else(|_| path.to_path_buf());
        let is_apart =
            name == "-" || world.is_folder(name) || ["/dev", "/proc"].iter().any(|at| absolute.starts_with(at));
        (!is_apart).then_some((name.as_str(), absolute))
    };
    names.iter().filter_map(one).collect()
}
