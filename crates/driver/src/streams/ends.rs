//! Ends of streams in the operating system: the standard input and output, a socket.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Write};
use std::mem::ManuallyDrop;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

use crate::live::{Ready, Wait};

/// The result of a read.
#[derive(PartialEq, Eq, Debug)]
pub enum Taken {
    Octets(Vec<u8>),
    /// The stream has ended.
    Ended,
    /// Nothing is available now.
    Later,
}

/// One end of a stream in the operating system. Nothing here blocks, if the caller has waited until it is ready to read.
pub trait End {
    /// What to wait for before reading.
    fn source(&self) -> Option<Wait>;
    /// What to wait for before writing.
    fn sink(&self) -> Option<Wait>;
    /// What to wait for while nothing is read or written: it breaks.
    fn breaking(&self) -> Option<Wait> {
        None
    }
    /// Fails if it is broken.
    fn is_whole(&mut self) -> Result<(), Error> {
        Ok(())
    }
    /// Reads what is available, at most this many octets.
    fn read(&mut self, most: usize) -> Result<Taken, Error>;
    /// Writes as many octets from the front as there is room for, and returns how many: 0 if there is none now.
    fn write(&mut self, octets: &[u8]) -> Result<usize, Error>;
    /// Ends writing.
    fn shut(&mut self);
    /// The stream broke: signals that to the process at this end.
    fn reset(&mut self);
    /// What to wait for before it can be used at all.
    fn coming(&self) -> Option<Wait> {
        None
    }
    /// What was waited for is ready.
    fn has_come(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

const INPUT: RawFd = 0;
const OUTPUT: RawFd = 1;
const ERRORS: RawFd = 2;

/// The octets that a pipe accepts without blocking when it is ready.
const PIPE_ROOM: usize = 4096;

/// The standard input and output, without the buffers of Rust's library: waiting would not see what these hold.
pub struct Standard {
    input: ManuallyDrop<File>,
    output: ManuallyDrop<File>,
    is_shut: bool,
}

impl Standard {
    /// The program's own.
    pub fn new() -> Standard {
        // SAFETY: both are open as long as the program runs, and are never closed here.
        let file = |descriptor| ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
        Standard { input: file(INPUT), output: file(OUTPUT), is_shut: false }
    }
}

impl End for Standard {
    fn source(&self) -> Option<Wait> {
        Some(Wait { descriptor: INPUT, what: Ready::ToRead })
    }

    fn sink(&self) -> Option<Wait> {
        (!self.is_shut).then_some(Wait { descriptor: OUTPUT, what: Ready::ToWrite })
    }

    fn read(&mut self, most: usize) -> Result<Taken, Error> {
        let mut octets = vec![0; most];
        taken(self.input.read(&mut octets), octets)
    }

    fn write(&mut self, octets: &[u8]) -> Result<usize, Error> {
        // The descriptor is not ours alone, so it is left as it is: one that blocks.
        if !(Wait { descriptor: OUTPUT, what: Ready::ToWrite }).is_ready() {
            return Ok(0);
        }
        written(self.output.write(&octets[..octets.len().min(PIPE_ROOM)]))
    }

    fn shut(&mut self) {
        if !self.is_shut {
            // SAFETY: both are open as long as the program runs. The reader of our output now sees its end, even if the
            // program continues.
            unsafe { libc::dup2(ERRORS, OUTPUT) };
        }
        self.is_shut = true;
    }

    fn reset(&mut self) {
        self.is_shut = true;
    }
}

/// A connection of the operating system.
pub struct Socket {
    stream: TcpStream,
    is_coming: bool,
}

impl Socket {
    /// An existing connection.
    pub fn accepted(stream: TcpStream) -> Result<Socket, Error> {
        stream.set_nonblocking(true)?;
        Ok(Socket { stream, is_coming: false })
    }

    /// Starts a connection, without waiting for the answer.
    pub fn asked(to: SocketAddr) -> Result<Socket, Error> {
        let family = if to.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        // SAFETY: the kernel has just given us this descriptor, so it is ours alone.
        let stream = unsafe {
            let descriptor = libc::socket(family, libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, 0);
            if descriptor < 0 {
                return Err(Error::last_os_error());
            }
            TcpStream::from_raw_fd(descriptor)
        };
        match connect(&stream, to) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            Ok(()) | Err(_) => Ok(Socket { stream, is_coming: true }),
        }
    }

    fn wait(&self, what: Ready) -> Wait {
        Wait { descriptor: self.stream.as_raw_fd(), what }
    }
}

impl End for Socket {
    fn source(&self) -> Option<Wait> {
        (!self.is_coming).then(|| self.wait(Ready::ToRead))
    }

    fn sink(&self) -> Option<Wait> {
        (!self.is_coming).then(|| self.wait(Ready::ToWrite))
    }

    fn breaking(&self) -> Option<Wait> {
        (!self.is_coming).then(|| self.wait(Ready::ToBreak))
    }

    fn is_whole(&mut self) -> Result<(), Error> {
        self.stream.take_error()?.map_or(Ok(()), Err)
    }

    fn coming(&self) -> Option<Wait> {
        self.is_coming.then(|| self.wait(Ready::ToWrite))
    }

    fn has_come(&mut self) -> Result<(), Error> {
        self.is_coming = false;
        self.is_whole()
    }

    fn read(&mut self, most: usize) -> Result<Taken, Error> {
        let mut octets = vec![0; most];
        taken(self.stream.read(&mut octets), octets)
    }

    fn write(&mut self, octets: &[u8]) -> Result<usize, Error> {
        written(self.stream.write(octets))
    }

    fn shut(&mut self) {
        // If it fails, the connection is gone already, and its peer knows.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    fn reset(&mut self) {
        let now = libc::linger { l_onoff: 1, l_linger: 0 };
        // SAFETY: the call reads one `linger`, which outlives it.
        unsafe {
            libc::setsockopt(
                self.stream.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_LINGER,
                std::ptr::from_ref(&now).cast(),
                size_of::<libc::linger>() as libc::socklen_t,
            );
        }
    }
}

/// Whether there are no descriptors left, of the process or of the system.
pub fn is_of_descriptors(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

fn taken(read: Result<usize, Error>, mut octets: Vec<u8>) -> Result<Taken, Error> {
    match read {
        Ok(0) => Ok(Taken::Ended),
        Ok(size) => {
            octets.truncate(size);
            Ok(Taken::Octets(octets))
        }
        Err(error) if is_later(&error) => Ok(Taken::Later),
        Err(error) => Err(error),
    }
}

fn written(wrote: Result<usize, Error>) -> Result<usize, Error> {
    match wrote {
        Err(error) if is_later(&error) => Ok(0),
        other => other,
    }
}

fn is_later(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// The system call; Rust's library only has a blocking version.
fn connect(stream: &TcpStream, to: SocketAddr) -> Result<(), Error> {
    let descriptor = stream.as_raw_fd();
    let result = match to {
        SocketAddr::V4(to) => {
            let name = libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: to.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(to.ip().octets()) },
                sin_zero: [0; 8],
            };
            // SAFETY: the call reads one address of this size, which outlives it.
            unsafe { libc::connect(descriptor, std::ptr::from_ref(&name).cast(), size(&name)) }
        }
        SocketAddr::V6(to) => {
            let name = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: to.port().to_be(),
                sin6_flowinfo: to.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: to.ip().octets() },
                sin6_scope_id: to.scope_id(),
            };
            // SAFETY: as above.
            unsafe { libc::connect(descriptor, std::ptr::from_ref(&name).cast(), size(&name)) }
        }
    };
    if result == 0 {
        return Ok(());
    }
    Err(Error::last_os_error())
}

fn size<T>(_: &T) -> libc::socklen_t {
    size_of::<T>() as libc::socklen_t
}
