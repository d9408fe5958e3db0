//! Answers that no client should fall for: wrong lengths, torn bodies, floods, bombs, headers that are none.

use super::{Answer, Coding, Framing, Piece};

impl Answer {
    /// Never a byte.
    pub fn silent() -> Self {
        Self::Raw(vec![Piece::Silence])
    }

    /// 200 and a head, but never a byte of the body.
    pub fn bodiless() -> Self {
        Self::new(200).framing(Framing::Claimed(1000)).piece(Piece::Silence)
    }

    /// Closes instead of answering.
    pub fn hang_up() -> Self {
        Self::Raw(vec![Piece::Close])
    }

    /// 200 with a body that does not end.
    pub fn endless() -> Self {
        Self::new(200).framing(Framing::Close).piece(Piece::Endless(vec![b'x'; 64 * 1024]))
    }

    /// 200 in chunks that do not end.
    pub fn endless_chunks() -> Self {
        Self::new(200).framing(Framing::Chunked).piece(Piece::Endless(vec![b'x'; 64 * 1024]))
    }

    /// First lines and headers that do not end.
    pub fn endless_headers() -> Self {
        let line = b"x-more: and more\r\n".repeat(1000);
        Self::Raw(vec![Piece::Bytes(b"HTTP/1.1 200 OK\r\n".to_vec()), Piece::Endless(line)])
    }

    /// 103 again and again, and never the answer.
    pub fn endless_interim() -> Self {
        Self::Raw(vec![Piece::Endless(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".repeat(100))])
    }

    /// 200 that promises more than it sends, and closes: a truncated body.
    pub fn truncated(body: &str, promised: u64) -> Self {
        Self::ok(body).framing(Framing::Claimed(promised)).piece(Piece::Close)
    }

    /// 200 that promises less than it sends.
    pub fn overlong(body: &str, promised: u64) -> Self {
        Self::ok(body).framing(Framing::Claimed(promised)).piece(Piece::Close)
    }

    /// 200 with two lengths.
    pub fn two_lengths(body: &str, other: u64) -> Self {
        Self::ok(body).header("content-length", other.to_string())
    }

    /// 200 with a length and chunks at once.
    pub fn length_and_chunks(body: &str, length: u64) -> Self {
        Self::new(200)
            .header("content-length", length.to_string())
            .framing(Framing::Chunked)
            .piece(Piece::Bytes(body.into()))
    }

    /// 200 in chunks, of which the second is none.
    pub fn chunked_garbage() -> Self {
        Self::raw(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\nNO SIZE\r\nsecond\r\n0\r\n\r\n",
        )
    }

    /// 200 in chunks, torn within the second.
    pub fn chunked_truncated() -> Self {
        Self::raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\nff\r\nsec")
    }

    /// 200 with a part of its body, and then the connection is reset.
    pub fn reset(part: &str) -> Self {
        Self::ok(part).framing(Framing::Claimed(1 << 20)).piece(Piece::Reset)
    }

    /// 200 with one header of this many bytes.
    pub fn huge_header(bytes: usize) -> Self {
        Self::ok("huge").header("x-huge", vec![b'h'; bytes])
    }

    /// 200 with this many headers.
    pub fn many_headers(count: usize) -> Self {
        (0..count).fold(Self::ok("many"), |answer, number| answer.header(&format!("x-many-{number}"), "1"))
    }

    /// 200 with a line of these bytes among its headers, sound or not.
    pub fn header_line(line: &[u8]) -> Self {
        Self::raw([b"HTTP/1.1 200 OK\r\n", line, b"\r\ncontent-length: 2\r\n\r\nok"].concat())
    }

    /// Not HTTP at all.
    pub fn gibberish() -> Self {
        Self::raw("SSH-2.0-something\r\n\r\n")
    }

    /// A status that has no body (204, 304), with one.
    pub fn with_forbidden_body(status: u16, body: &str) -> Self {
        Self::new(status).body(body)
    }

    /// 200 with a body of many zeros, packed small.
    pub fn bomb(coding: Coding, size: usize) -> Self {
        Self::new(200).header("content-encoding", coding.label()).body(coding.bomb(size))
    }

    /// 200 with a bomb that is packed once more, so that it is smaller still.
    pub fn nested_bomb(inner: Coding, outer: Coding, size: usize) -> Self {
        let body = outer.pack(&inner.bomb(size));
        Self::new(200).header("content-encoding", format!("{}, {}", inner.label(), outer.label())).body(body)
    }

    /// 200 with a body that is not what its label says.
    pub fn mislabelled(label: Coding, body: &[u8]) -> Self {
        Self::new(200).header("content-encoding", label.label()).body(body)
    }

    /// 200 with a packed body that is torn in its middle, of a length that is true.
    pub fn packed_torn(coding: Coding, body: &[u8]) -> Self {
        let mut packed = coding.pack(body);
        packed.truncate(packed.len() / 2);
        Self::new(200).header("content-encoding", coding.label()).body(packed)
    }

    /// 200 with a packed body and more bytes after its end.
    pub fn packed_and_more(coding: Coding, body: &[u8], more: &[u8]) -> Self {
        let mut packed = coding.pack(body);
        packed.extend(more);
        Self::new(200).header("content-encoding", coding.label()).body(packed)
    }
}
