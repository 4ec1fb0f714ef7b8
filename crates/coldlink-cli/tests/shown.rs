//! What people see of links: titles beside names, reasons that sum to what is shown, and lists that are filtered.

mod common;

use common::{Folder, QUICK};
use serde_json::Value;

const GENRES: [&str; 3] = ["comedy", "drama", "crime"];

/// A shop of 120 films with a title, a genre, a price and a text; films of a genre are linked. And two new films.
fn shop() -> Folder {
    let folder = Folder::new();
    let (mut nodes, mut edges) = ("key,title,genre,price,plot\n".to_owned(), "source,target\n".to_owned());
    for film in 0..120 {
        let genre = GENRES[film % 3];
        let price = if film % 10 == 9 { String::new() } else { format!("{}.5", film) };
        nodes += &format!("f{film},The {genre} number {film},{genre},{price},a film of {genre} and more {film}\n");
        for step in [3, 6, 9] {
            edges += &format!("f{film},f{}\n", (film + step) % 120);
        }
    }
    folder.write("films/nodes.csv", nodes);
    folder.write("films/edges.csv", edges);
    let new = "key,title,genre,price,plot\nn1,A long title that no narrow terminal has room for at all,drama,7,a film of drama\nn2,Second,opera,8,a film of gloom\n";
    folder.write("new.csv", new);
    let done = folder.run(&format!("train films -o m {}", QUICK.join(" ")));
    assert_eq!(done.code, 0, "{}", done.err);
    folder
}

/// What the binary prints to a terminal of so many columns.
fn on_terminal(folder: &Folder, columns: &str, line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let done = folder.command(&words).env("COLUMNS", columns).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn a_terminal_shows_a_header_and_titles_and_cuts_nothing_else() {
    let folder = shop();
    let table = on_terminal(&folder, "100", "predict m --new new.csv --top 3 --format table");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "n1  A long title that no narrow terminal has room for at all");
    let columns: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(columns, ["rank", "target", "title", "probability", "score"]);
    assert!(lines[2].contains("  The drama number ") && lines[2].contains(" %"), "{table}");
    let narrow = on_terminal(&folder, "44", "predict m --new new.csv --top 3 --format table");
    let rows = narrow.lines().skip(1).take(4);
    rows.for_each(|line| assert!(line.chars().count() <= 44, "{line}"));
    assert!(narrow.contains("The…") || narrow.contains("drama…"), "{narrow}");
    let pairs = "source,target\nn1,f1\nf2,n2\n";
    folder.write("pairs.csv", pairs);
    let table = on_terminal(&folder, "120", "predict m --new new.csv --pairs pairs.csv --format table");
    assert!(table.trim_start().starts_with("source  title"), "{table}");
    assert!(table.contains("The drama number 1") && table.contains("Second"), "{table}");
}

#[test]
fn files_have_titles_where_they_are_asked_for() {
    let folder = shop();
    let plain = folder.check("predict m --new new.csv --top 1 --format csv");
    assert!(plain.starts_with("source,rank,target,score,probability\n"), "{plain}");
    assert!(!folder.check("predict m --new new.csv --top 1 --format jsonl").contains("title"));
    let shown = folder.check("predict m --new new.csv --top 1 --format csv --show title");
    assert!(shown.starts_with("source,source_title,rank,target,target_title,score,probability\n"), "{shown}");
    assert!(shown.contains("\nn2,Second,1,f"), "{shown}");
    let lines = folder.check("predict m --new new.csv --top 1 --format jsonl --show title");
    let link: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(link["source_title"], "Second");
    assert!(link["target_title"].as_str().unwrap().starts_with("The "), "{link}");
    folder.write("names.csv", "name\nf7\n");
    let known = folder.check("predict m --known names.csv --top 1 --format csv --show title");
    assert!(known.contains("\nf7,The drama number 7,1,f"), "{known}");
    let wrong = folder.run("predict m --new new.csv --show plot");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("texts of column `title` to show, none of `plot`"), "{}", wrong.err);
    assert!(wrong.err.contains("hint: use `--show title`, or train again with `show = \"plot\"`"), "{}", wrong.err);
}

#[test]
fn another_column_is_shown_where_users_say_so_and_added_nodes_have_theirs() {
    let folder = shop();
    folder.write("columns.toml", "show = \"genre\"\n");
    let trained = folder.run(&format!("train films -o g --columns columns.toml {}", QUICK.join(" ")));
    assert_eq!(trained.code, 0, "{}", trained.err);
    let shown = folder.check("predict g --new new.csv --top 1 --format csv --show genre");
    assert!(shown.contains("\nn2,opera,1,f"), "{shown}");
    folder.check("convert films -o films.coldlink --columns columns.toml");
    assert!(folder.check("inspect films.coldlink --schema").contains("show = \"genre\""));
    folder.check("add m --new new.csv");
    folder.write("other.csv", "key,genre\nx,drama\n");
    let found = folder.check("predict m --new other.csv --top 200 --format csv --show title");
    assert!(found.contains(",n2,Second,"), "{found}");
    let cheap = folder.check("predict m --new other.csv --top 200 --where price=8 --format csv");
    assert_eq!(cheap.lines().count(), 2, "{cheap}");
    assert!(cheap.contains(",n2,"), "{cheap}");
    folder.write("columns.toml", "show = \"titel\"\n");
    let wrong = folder.run("inspect films --columns columns.toml");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("no column `titel`") && wrong.err.contains("did you mean `title`?"), "{}", wrong.err);
    folder.write("columns.toml", "[columns.prise]\nkind = \"numeric\"\n");
    let wrong = folder.run("inspect films --columns columns.toml");
    assert!(wrong.err.contains("no column `prise`") && wrong.err.contains("did you mean `price`?"), "{}", wrong.err);
}

/// The films that a condition leaves.
fn films(folder: &Folder, condition: &str) -> Vec<usize> {
    let found = folder.run_words(&[
        "predict", "m", "--new", "new.csv", "--top", "200", "--format", "csv", "-q", "--where", condition,
    ]);
    assert_eq!(found.code, 0, "{condition}: {}", found.err);
    let rows = found.out.lines().skip(1).filter(|line| line.starts_with("n1,"));
    let mut films: Vec<usize> = rows.map(|row| row.split(',').nth(2).unwrap()[1..].parse().unwrap()).collect();
    films.sort_unstable();
    films
}

#[test]
fn lists_are_filtered_by_numbers_and_by_several_values() {
    let folder = shop();
    assert_eq!(films(&folder, "price<3"), [0, 1, 2]);
    assert_eq!(films(&folder, "price <= 2.5"), [0, 1, 2]);
    assert_eq!(films(&folder, "price>=117.5"), [117, 118]);
    assert_eq!(films(&folder, "price=10.5..12.5"), [10, 11, 12]);
    assert_eq!(films(&folder, "price=7.5,11.5,8"), [7, 11]);
    assert_eq!(films(&folder, "price>1000"), Vec::<usize>::new());
    assert_eq!(films(&folder, "genre=comedy").len(), 40);
    assert_eq!(films(&folder, "genre=comedy,drama").len(), 80);
    let check = |condition: &str, said: &[&str]| {
        let done = folder.run_words(&["predict", "m", "--new", "new.csv", "--where", condition]);
        assert_eq!(done.code, 2, "{condition}");
        said.iter().for_each(|said| assert!(done.err.contains(said), "{condition}: {said} is not in\n{}", done.err));
    };
    check("price=cheap", &["column `price` has numbers, and `cheap` says nothing about them", "hint: write `<20`"]);
    check("genre<5", &["column `genre` is of kind categorical", "hint: name values, such as `genre=a`"]);
    check("prize<5", &["there is no column `prize`", "hint: did you mean `price`?"]);
    check("genre=comedi", &["no node has `genre=comedi`", "hint: did you mean `comedy`?"]);
    check("genre", &["must be COLUMN=VALUE"]);
    let none = folder.run_words(&["predict", "m", "--new", "new.csv", "--where", "price<0"]);
    assert!(none.code == 0 && none.err.contains("note: no known node has `price<0`"), "{}", none.err);
}

#[test]
fn reasons_sum_to_what_is_shown_with_distinctive_ones_first() {
    let folder = shop();
    let table = on_terminal(&folder, "90", "predict m --new new.csv --top 1 --explain --format table");
    let why: String = table.lines().skip(3).take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("");
    assert!(table.lines().all(|line| line.chars().count() <= 90), "{table}");
    let place = |part: &str| why.find(part).unwrap_or_else(|| panic!("{part} is not in {why}"));
    let places = ["drama", "similar nodes", "baseline", "links are rare", " = ", " %"].map(place);
    assert!(places.is_sorted(), "{why}");
    let (parts, whole) = why.split_once(" = ").unwrap();
    let number = |part: &str| part.rsplit(' ').next().unwrap().parse::<f64>().unwrap_or_else(|_| panic!("{part}"));
    let sum: f64 = parts.split(", ").map(number).sum();
    assert!((sum - number(whole.split(',').next().unwrap())).abs() < 0.06, "{sum}: {why}");
}

#[test]
fn pairs_are_explained_where_their_source_is_new() {
    let folder = shop();
    folder.write("pairs.csv", "source,target\nn1,f1\nf2,f5\nn2,f4\n");
    let done = folder.run("predict m --new new.csv --pairs pairs.csv --explain --format jsonl");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("note: 1 pair with a known source is not explained"), "{}", done.err);
    let links: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!([0, 1, 2].map(|pair| links[pair].get("explanation").is_some()), [true, false, true]);
    let asked = folder.check("predict m --new new.csv --top 200 --explain --format jsonl");
    let asked = asked.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let same = asked.into_iter().find(|link| link["source"] == "n2" && link["target"] == "f4").unwrap();
    assert_eq!(same["explanation"], links[2]["explanation"], "as in a list");
}
