//! Where octets come from and go to in the operating system: the standard input and output, a socket.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Write};
use std::mem::ManuallyDrop;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

use crate::live::{Ready, Wait};

/// What reading gave.
#[derive(PartialEq, Eq, Debug)]
pub enum Taken {
    Octets(Vec<u8>),
    /// There will be no more.
    Ended,
    /// Not now.
    Later,
}

/// One end of a stream in the operating system. Nothing here waits, but for who asked whether it was ready.
pub trait End {
    /// What to wait for before something can be read.
    fn source(&self) -> Option<Wait>;
    /// What to wait for before something can be written.
    fn sink(&self) -> Option<Wait>;
    /// What is there, so many octets at most.
    fn read(&mut self, most: usize) -> Result<Taken, Error>;
    /// Writes from the front as much as there is room for.
    fn write(&mut self, octets: &[u8]) -> Result<usize, Error>;
    /// Nothing more will be written.
    fn shut(&mut self);
    /// The stream broke: whoever is behind this end is to know.
    fn reset(&mut self);
    /// What to wait for before it can be used at all.
    fn coming(&self) -> Option<Wait> {
        None
    }
    /// It was ready that was waited for.
    fn has_come(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

const INPUT: RawFd = 0;
const OUTPUT: RawFd = 1;
const ERRORS: RawFd = 2;

/// What a pipe takes without waiting when it says that it is ready.
const PIPE_ROOM: usize = 4096;

/// The standard input and output, without the buffers of the language's library: what these hold, no wait sees.
pub struct Standard {
    input: ManuallyDrop<File>,
    output: ManuallyDrop<File>,
    is_shut: bool,
}

impl Standard {
    /// The program has one.
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
        written(self.output.write(&octets[..octets.len().min(PIPE_ROOM)]))
    }

    fn shut(&mut self) {
        if !self.is_shut {
            // SAFETY: both are open as long as the program runs. Who reads what we wrote hears its end now: the program may stay.
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
    /// One that is there.
    pub fn accepted(stream: TcpStream) -> Result<Socket, Error> {
        stream.set_nonblocking(true)?;
        Ok(Socket { stream, is_coming: false })
    }

    /// Asks for one, and does not wait for the answer.
    pub fn asked(to: SocketAddr) -> Result<Socket, Error> {
        let family = if to.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        // SAFETY: a descriptor that the kernel has just given us is ours alone.
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

    fn coming(&self) -> Option<Wait> {
        self.is_coming.then(|| self.wait(Ready::ToWrite))
    }

    fn has_come(&mut self) -> Result<(), Error> {
        self.is_coming = false;
        self.stream.take_error()?.map_or(Ok(()), Err)
    }

    fn read(&mut self, most: usize) -> Result<Taken, Error> {
        let mut octets = vec![0; most];
        taken(self.stream.read(&mut octets), octets)
    }

    fn write(&mut self, octets: &[u8]) -> Result<usize, Error> {
        written(self.stream.write(octets))
    }

    fn shut(&mut self) {
        // Gone already: then who is behind it knows.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    fn reset(&mut self) {
        let now = libc::linger { l_onoff: 1, l_linger: 0 };
        // SAFETY: the call reads one `linger`, which lives through it.
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

/// The kernel's call, which the language's library has only for who waits.
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
            // SAFETY: the call reads one address of this size, which lives through it.
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
