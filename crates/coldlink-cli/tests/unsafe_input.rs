//! Input that nobody should trust: pipes, devices, files that unpack without end, quotes that never close, names that a terminal
//! would obey. Each gives the right answer or an error that says what to do.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Done, Folder};

/// No command here needs longer; one that does waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs a command with something on its standard input, and does not wait for ever.
fn run_with(mut command: Command, input: &[u8]) -> Done {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    // Whoever refuses its input closes it.
    std::thread::spawn(move || drop(stdin.write_all(&input)));
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{command:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

fn check(folder: &Folder, line: &str, parts: &[&str]) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let done = run_with(folder.command(&words), b"");
    assert_eq!(done.code, 2, "{line}\n{}{}", done.out, done.err);
    for part in parts.iter().chain(&["\nhint: "]) {
        assert!(done.err.contains(part), "{line}: {part} is not in\n{}", done.err);
    }
}

/// A graph of two linked nodes, with a table of its own instead of `nodes.csv`.
fn with_nodes(folder: &Folder, name: &str, nodes: impl AsRef<[u8]>) -> String {
    folder.write("pair.csv", "source,target\na,b\n");
    folder.write(name, nodes);
    format!("convert --nodes {name} --edges pair.csv -o out.coldlink")
}

fn gzipped(text: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

#[cfg(unix)]
#[test]
fn new_nodes_and_tables_may_come_through_a_pipe() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    let from_file = folder.check("predict papers.model --new new.csv --top 2");
    let predict = ["predict", "papers.model", "--top", "2", "--new", "/dev/stdin"];
    let piped = run_with(folder.command(&predict), &folder.read("new.csv"));
    assert_eq!((piped.code, piped.out.as_str()), (0, from_file.as_str()), "{}", piped.err);
    let packed = run_with(folder.command(&predict), &gzipped(&folder.read("new.csv")));
    assert_eq!((packed.code, packed.out), (0, from_file), "{}", packed.err);

    folder.check("convert papers -o file.coldlink");
    let convert = "convert --nodes papers/nodes.csv --edges /dev/stdin -o pipe.coldlink";
    let words: Vec<&str> = convert.split_whitespace().collect();
    let done = run_with(folder.command(&words), &folder.read("papers/edges.csv"));
    assert_eq!(done.code, 0, "{}", done.err);
    let links = |done: &str| done.split(", ").nth(1).unwrap().to_owned();
    assert_eq!(links(&done.out), links(&folder.check("convert papers -o again.coldlink")));
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_once_and_never_waited_for_where_it_is_only_looked_at() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    let made = Command::new("mkfifo").arg(folder.path("fifo")).status().unwrap();
    assert!(made.success());
    let not_regular = "is not a regular file";
    check(&folder, "convert fifo -o out.coldlink", &[not_regular]);
    check(&folder, "train papers -o fifo", &[not_regular]);
    check(&folder, "add papers.model --new new.csv -o fifo", &[not_regular]);
    check(&folder, "predict papers.model --new new.csv -o fifo", &[not_regular]);
    let done = run_with(folder.command(&["predict", "fifo", "--new", "new.csv"]), b"");
    assert!(done.code == 2 && done.err.contains(not_regular), "{}", done.err);

    let (rows, fifo) = (folder.read("new.csv"), folder.path("fifo"));
    let writer = std::thread::spawn(move || std::fs::write(fifo, rows).unwrap());
    let read = folder.check("predict papers.model --new fifo --top 1");
    writer.join().unwrap();
    assert_eq!(read, folder.check("predict papers.model --new new.csv --top 1"));
}

#[cfg(unix)]
#[test]
fn a_device_that_never_ends_is_refused() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    let device = "`/dev/zero` is a device, not a file";
    check(&folder, "predict papers.model --new /dev/zero", &[device]);
    check(&folder, "predict papers.model --new new.csv --pairs /dev/zero", &[device]);
    check(&folder, "predict papers.model --new new.csv --exclude /dev/zero", &[device]);
    check(&folder, "convert --nodes /dev/zero --edges papers/edges.csv -o out.coldlink", &[device]);
    check(&folder, "convert /dev/zero -o out.coldlink", &["`/dev/zero` is not a regular file"]);
    let columns = run_with(folder.command(&["inspect", "papers", "--columns", "/dev/zero"]), b"");
    assert!(columns.code == 2 && columns.err.contains("more than 16 MiB"), "{}", columns.err);
}

#[test]
fn a_small_file_that_unpacks_without_end_is_refused() {
    let folder = Folder::new();
    let mut text = b"id,x\na,1\nb,2\n".to_vec();
    (0..9_000_000).for_each(|_| text.extend_from_slice(b"\n\n\n\n\n\n\n\n\n\n"));
    let line = with_nodes(&folder, "nodes.csv.gz", gzipped(&text));
    check(&folder, &line, &["nodes.csv.gz` has ", " bytes, but unpacks to more than 64 MiB", "unpack it first"]);
}

#[test]
fn a_cell_without_end_is_refused_with_its_line_unless_it_is_allowed() {
    let folder = Folder::new();
    let long = "x".repeat((16 << 20) + 1);
    let said = "column `words` has a cell of more than 16 MiB";
    let line = with_nodes(&folder, "nodes.csv", format!("id,words,n\na,soup,1\nb,{long},2\n"));
    check(&folder, &line, &["nodes.csv` line 3: ", said, "`--max-cell`"]);
    folder.check(&format!("{line} --max-cell 20M"));
    let line = with_nodes(
        &folder,
        "nodes.jsonl",
        format!("{{\"id\": \"a\", \"words\": \"soup\"}}\n{{\"id\": \"b\", \"words\": \"{long}\"}}\n"),
    );
    check(&folder, &line, &["nodes.jsonl` line 2: ", said]);
}

#[test]
fn a_quote_that_is_never_closed_is_named_with_the_line_where_it_opens() {
    let folder = Folder::new();
    let rows: String = (0..50).map(|row| format!("p{row},{}soup\n", if row == 2 { "\"" } else { "" })).collect();
    let line = with_nodes(&folder, "nodes.csv", format!("id,words\n{rows}"));
    check(&folder, &line, &["nodes.csv` line 4: a quote opens here and is never closed", "close the quote"]);
}

#[test]
fn infinite_numbers_are_counted_and_told_or_refused() {
    let folder = Folder::new();
    let line = with_nodes(&folder, "nodes.csv", "id,x\na,inf\nb,2\nc,-Infinity\nd,1e999\ne,5\n");
    let done = folder.run(&line);
    let told =
        "note: column `x`: 3 cells are not numeric and count as missing, first on line 2: `inf`, `-Infinity`, `1e999`";
    assert!(done.code == 0 && done.err.contains(told), "{}", done.err);
    check(&folder, &format!("{line} --strict-input"), &["line 2: column `x`: cannot read `inf` as numeric"]);
    assert!(folder.check("inspect out.coldlink").contains("column `x`                numeric"));
}

#[test]
fn names_that_a_terminal_would_obey_are_escaped_for_people_and_exact_for_programs() {
    let folder = Folder::new();
    assert_eq!(folder.train("papers.model", "").code, 0);
    let name = "x\u{1b}[31m\u{202e}";
    folder.write("odd.csv", format!("id,words,old,\u{1b}extra\n{name},soup|salt,1,1\n\"two\nlines\",soup,1,1\n"));
    let table = folder.run("predict papers.model --new odd.csv --top 1 --format table");
    assert_eq!(table.code, 0, "{}", table.err);
    assert!(table.out.starts_with("x\\u{1b}[31m\\u{202e}\n"), "{}", table.out);
    assert!(
        table.out.contains("\ntwo\\nlines\n") && table.err.contains("`\\u{1b}extra`"),
        "{}{}",
        table.out,
        table.err
    );
    for format in ["csv", "jsonl"] {
        let exact = folder.run(&format!("predict papers.model --new odd.csv --top 1 --format {format}"));
        let expected = if format == "csv" { name.to_owned() } else { "x\\u001b[31m\u{202e}".to_owned() };
        assert!(exact.out.contains(&expected), "{}", exact.out);
    }
    folder.write("pairs.csv", format!("source,target\n\"{name}\nhint: pay\",p1\n"));
    let done = folder.run("predict papers.model --new odd.csv --pairs pairs.csv");
    assert!(done.err.contains("`x\\u{1b}[31m\\u{202e}\\nhint: pay`"), "{}", done.err);
    assert!(!table.err.contains('\u{1b}') && !done.err.contains('\u{1b}'));
}
