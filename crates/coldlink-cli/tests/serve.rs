//! The server as a program: where it listens, and how it ends.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use common::Folder;

/// A server on a free port, with its address.
fn start(folder: &Folder, arguments: &[&str]) -> (Child, String) {
    let words = [&["serve", "m", "--port", "0", "--log", "json"], arguments].concat();
    let mut child = folder.command(&words).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap_or_else(|| panic!("{line}")).split('/').next().unwrap();
    assert!(line.starts_with('{') && line.contains("\"nodes\":90"), "{line}");
    (child, address.to_owned())
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_server_answers_until_it_is_told_to_end() {
    let folder = Folder::new();
    assert_eq!(folder.train("m", "").code, 0);
    let (mut child, address) = start(&folder, &[]);
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    assert!(get(&address, "/healthz").contains("\"status\":\"ok\""));
    assert!(get(&address, "/v1/nodes/p7").starts_with("HTTP/1.1 200"));
    Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn others_are_answered_only_with_a_token() {
    let folder = Folder::new();
    assert_eq!(folder.train("m", "").code, 0);
    let refused = folder.run("serve m --address 0.0.0.0 --port 0");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("there is no token\nhint: add `--token-file FILE`"), "{}", refused.err);
    folder.write("token", "short\n");
    let refused = folder.run("serve m --token-file token --port 0");
    assert!(refused.code == 2 && refused.err.contains("the token has 5 characters"), "{}", refused.err);
    folder.write("token", "0123456789abcdef0123\n");
    let (mut child, address) = start(&folder, &["--token-file", "token", "--address", "0.0.0.0"]);
    let address = address.replace("0.0.0.0", "127.0.0.1");
    assert!(get(&address, "/v1/model").starts_with("HTTP/1.1 401"));
    assert!(get(&address, "/healthz").starts_with("HTTP/1.1 200"));
    child.kill().unwrap();
    child.wait().unwrap();
    let missing = folder.run("serve nothing");
    assert!(missing.code == 2 && missing.err.contains("hint: check the path"), "{}", missing.err);
}
