//! As much of HTTP as it takes to ask and to see the status: the generator must not be what is measured.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than the server's own limit.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection that is kept for the next request.
pub struct Client {
    stream: TcpStream,
    read: Vec<u8>,
    /// Where the body of the last answer begins.
    body: usize,
}

impl Client {
    /// Connects to `host:port`.
    pub async fn connect(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, read: Vec::new(), body: 0 })
    }

    /// Sends bytes as they are and reads one answer: its status. A connection that ends without one is an error.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<u16> {
        self.stream.write_all(bytes).await?;
        timeout(PATIENCE, self.answer()).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    /// The same with nothing to come after the bytes.
    pub async fn send_and_end(&mut self, bytes: &[u8]) -> io::Result<u16> {
        self.stream.write_all(bytes).await?;
        self.stream.shutdown().await?;
        timeout(PATIENCE, self.answer()).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    /// The body of the last answer.
    pub fn body(&self) -> &[u8] {
        &self.read[self.body..]
    }

    async fn answer(&mut self) -> io::Result<u16> {
        self.read.clear();
        self.body = 0;
        let head = loop {
            if let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let text = String::from_utf8_lossy(&self.read[..head]).to_lowercase();
        let malformed = || io::Error::from(io::ErrorKind::InvalidData);
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(malformed)?;
        let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.map_or(Ok(0), |length| length.trim().parse()).map_err(|_| malformed())?;
        self.body = head;
        while self.read.len() < head + length {
            self.more().await?;
        }
        Ok(status)
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.read).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// A request as bytes.
pub fn post(path: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A request without a body.
pub fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}
