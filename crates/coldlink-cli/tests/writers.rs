//! Several programs that change one model at the same time: whatever was acknowledged is in the file.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use coldlink::model::Model;
use common::Folder;

/// A server on a free port; it ends with this.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(folder: &Folder, model: &str) -> Self {
        let words = ["serve", model, "--port", "0", "--log", "json"];
        let mut child = folder.command(&words).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert_ne!(log.read_line(&mut line).unwrap(), 0, "the server does not start");
            if let Some((_, rest)) = line.split_once("serving at http://") {
                break rest.split('/').next().unwrap().to_owned();
            }
        };
        // Somebody must read on, or the server would wait.
        thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Serving { child, address }
    }

    /// Adds a node; whether the server says that it is there.
    fn add(&self, name: &str) -> bool {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let body = format!("{{\"nodes\": [{{\"id\": \"{name}\", \"words\": \"soup\"}}]}}");
        let length = body.len();
        write!(stream, "POST /v1/nodes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.starts_with("HTTP/1.1 201")
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn no_acknowledged_node_is_lost_among_programs_that_add_at_once() {
    const ROUNDS: usize = 4;
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    let serving = Serving::start(&folder, "papers.model");
    let by_program = &|program: usize| -> Vec<String> {
        let added = (0..ROUNDS).map(|round| {
            let name = format!("program{program}-{round}");
            folder.write(&format!("{name}.csv"), format!("id,words,old\n{name},soup|salt,1\n"));
            let done = folder.run(&format!("add papers.model --new {name}.csv --quiet"));
            assert_eq!(done.code, 0, "{}{}", done.out, done.err);
            name
        });
        added.collect()
    };
    let over_http = &|client: usize| -> Vec<String> {
        let names = (0..2 * ROUNDS).map(|round| format!("client{client}-{round}"));
        names.filter(|name| serving.add(name)).collect()
    };
    let acknowledged: Vec<String> = thread::scope(|scope| {
        let programs: Vec<_> = (0..3).map(|program| scope.spawn(move || by_program(program))).collect();
        let clients: Vec<_> = (0..2).map(|client| scope.spawn(move || over_http(client))).collect();
        programs.into_iter().chain(clients).flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(acknowledged.len() >= 3 * ROUNDS + 2, "the server added next to nothing: {acknowledged:?}");
    let model = Model::open(&folder.path("papers.model")).unwrap();
    let lost: Vec<_> = acknowledged.iter().filter(|name| model.find(name).is_none()).collect();
    assert!(lost.is_empty(), "lost {lost:?}");
    assert!(!folder.names().iter().any(|name| name.ends_with(".partial")));
}
