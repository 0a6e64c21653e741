//! Message framing: a header with a length, then JSON. Keeps: an invalid message is reported, and the next one is read.

use std::io::{self, BufRead};

use lsp_server::Message;

/// The most octets of a message; editors send nothing near this size.
const LONGEST: usize = 1 << 28;

/// Input from the editor.
pub enum Frame {
    /// A message.
    Message(Message),
    /// An invalid message, and why it is invalid.
    Broken(String),
    /// The end of the input.
    End,
}

/// Reads the editor's next message.
pub fn read(input: &mut impl BufRead) -> Frame {
    match body(input) {
        Ok(Some(Ok(octets))) => match serde_json::from_slice(&octets) {
            Ok(message) => Frame::Message(message),
            Err(error) => Frame::Broken(format!("this is no message of the protocol: {error}")),
        },
        Ok(Some(Err(why))) => Frame::Broken(why),
        // A broken pipe means that the editor has gone.
        Ok(None) | Err(_) => Frame::End,
    }
}

fn body(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, String>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        match (line.trim_end(), length) {
            ("", Some(length)) => return whole(input, length).map(Some),
            ("", None) => return Ok(Some(Err("a header without `Content-Length: N`".into()))),
            (line, _) => match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().ok();
                }
                Some(_) => {}
                None => return Ok(Some(Err("a header is `Content-Length: N` and an empty line".into()))),
            },
        }
    }
}

fn whole(input: &mut impl BufRead, length: usize) -> io::Result<Result<Vec<u8>, String>> {
    if length > LONGEST {
        io::copy(&mut io::Read::take(input, length as u64), &mut io::sink())?;
        return Ok(Err(format!("a message of {length} octets is too long: {LONGEST} are the most")));
    }
    let mut octets = vec![0; length];
    input.read_exact(&mut octets)?;
    Ok(Ok(octets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_hides_none_that_follows() {
        let good = r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#;
        let framed = |text: &[u8]| [format!("Content-Length: {}\r\n\r\n", text.len()).as_bytes(), text].concat();
        for bad in [framed(b"{"), framed(b"\xff\xfe"), framed(b"{}"), b"what\r\n".to_vec(), b"X: 1\r\n\r\n".to_vec()] {
            let mut input = io::Cursor::new([bad.clone(), framed(good.as_bytes())].concat());
            assert!(matches!(read(&mut input), Frame::Broken(_)), "{}", String::from_utf8_lossy(&bad));
            assert!(matches!(read(&mut input), Frame::Message(Message::Notification(_))));
            assert!(matches!(read(&mut input), Frame::End));
        }
        let mut input = io::Cursor::new(b"Content-Length: 9000\r\n\r\ncut off".to_vec());
        assert!(matches!(read(&mut input), Frame::End));
        let mut input = io::Cursor::new(b"Content-Length: 99999999999999\r\n\r\ncut off".to_vec());
        assert!(matches!(read(&mut input), Frame::Broken(_)));
    }
}
