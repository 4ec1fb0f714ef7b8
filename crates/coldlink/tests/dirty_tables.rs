//! Tables with a little dirt become the attributes that they would have become with every column's kind set by hand, and nearly those
//! of the clean table.

use coldlink::columns::{ColumnKind, Columns};
use coldlink::dataset::Dataset;
use coldlink::graph::NodeId;
use coldlink::load::{LoadError, LoadOptions, load, load_new};
use coldlink::synthetic::World;

const ROWS: usize = 1000;

/// A node table, by row.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Products: words of a synthetic world, as tags and as a text, and what else shops know.
    fn clean(world: &World) -> Self {
        let data = world.dataset();
        let row = |node: usize| {
            let words: Vec<String> =
                data.attributes.row(node as NodeId).0.iter().map(|word| format!("w{word}")).collect();
            let (day, month, year) = (node % 28 + 1, node % 12 + 1, 1990 + node % 30);
            vec![
                format!("n{node}"),
                format!("{}, made of {}", words.join(" "), words[0]),
                words.join("|"),
                format!("{}.{:02}", node % 1000 + 1, node % 100),
                format!("{year}"),
                format!("{year}-{month:02}-{day:02}"),
                ["yes", "no"][node % 2].to_owned(),
                ["games", "books", "tools"][node % 3].to_owned(),
            ]
        };
        let header = ["id", "description", "tags", "price", "year", "made", "active", "section"];
        Table { header: header.map(str::to_owned).to_vec(), rows: (0..ROWS).map(row).collect() }
    }

    fn place(&self, column: &str) -> usize {
        self.header.iter().position(|name| name == column).unwrap()
    }

    /// Rewrites every cell of a column.
    fn rewrite(mut self, column: &str, cell: impl Fn(usize, &str) -> String) -> Self {
        let place = self.place(column);
        self.rows.iter_mut().enumerate().for_each(|(row, cells)| cells[place] = cell(row, &cells[place]));
        self
    }

    /// Puts something else into three cells of a column.
    fn spoil(self, column: &str, odd: [&str; 3]) -> Self {
        self.rewrite(column, |row, cell| if row % 333 == 50 { odd[row / 333].to_owned() } else { cell.to_owned() })
    }

    /// Adds a column.
    fn add(mut self, column: &str, cell: impl Fn(usize) -> String) -> Self {
        self.header.push(column.to_owned());
        self.rows.iter_mut().enumerate().for_each(|(row, cells)| cells.push(cell(row)));
        self
    }

    fn load(&self, world: &World, columns: Columns) -> Dataset {
        let folder = tempfile::tempdir().unwrap();
        world.write_tables(folder.path()).unwrap();
        self.write(&folder.path().join("nodes.csv"));
        load(folder.path(), &LoadOptions { columns, ..LoadOptions::default() }).unwrap()
    }

    fn write(&self, path: &std::path::Path) {
        let mut writer = csv::Writer::from_path(path).unwrap();
        writer.write_record(&self.header).unwrap();
        self.rows.iter().for_each(|row| writer.write_record(row).unwrap());
        writer.flush().unwrap();
    }
}

/// The kinds of a clean table's columns, with some others.
fn by_hand(others: &str) -> Columns {
    let kinds =
        "description.kind = \"text\"\ntags.kind = \"multi-valued\"\nprice.kind = \"numeric\"\nyear.kind = \"numeric\"
made.kind = \"date-time\"\nactive.kind = \"boolean\"\nsection.kind = \"categorical\"\n";
    let mut columns = Columns::parse(&format!("[columns]\n{kinds}")).unwrap();
    columns.columns.extend(Columns::parse(&format!("[columns]\n{others}")).unwrap().columns);
    columns
}

/// What is known of a node, by the names of attributes.
fn row(data: &Dataset, node: usize) -> Vec<(&str, f32)> {
    let entries = data.attributes.iter_row(node as NodeId);
    let mut row: Vec<_> = entries.map(|(at, value)| (data.attributes.names().0[at as usize].as_str(), value)).collect();
    row.sort_by(|a, b| a.0.cmp(b.0));
    row
}

#[test]
fn dirty_tables_become_what_they_would_become_by_hand() {
    let world = World { nodes: ROWS as u32, ..World::default() };
    let clean = || Table::clean(&world);
    let expected = clean().load(&world, by_hand(""));
    let check = |what: &str, dirty: Table, others: &str, odd: &[(&str, usize)]| {
        let found = dirty.load(&world, Columns::default());
        let set = dirty.load(&world, by_hand(others));
        assert_eq!(found.schema, set.schema, "{what}");
        assert_eq!(found.attributes, set.attributes, "{what}");
        let differ = (0..ROWS).filter(|&node| row(&found, node) != row(&expected, node)).count();
        assert!(differ <= ROWS / 100, "{what}: {differ} rows differ from those of the clean table");
        let findings = found.notes.columns.iter().filter(|finding| finding.odd > 0);
        let told: Vec<(&str, usize)> = findings.map(|finding| (finding.column.as_str(), finding.odd)).collect();
        assert_eq!(told, odd, "{what}");
        // A new row that is the same row is read the same.
        let folder = tempfile::tempdir().unwrap();
        dirty.write(&folder.path().join("new.csv"));
        let again = load_new(&folder.path().join("new.csv"), found.schema.as_ref().unwrap(), false).unwrap();
        (0..ROWS as NodeId)
            .for_each(|node| assert_eq!(again.attributes.row(node), found.attributes.row(node), "{what}"));
        found
    };
    check("clean", clean(), "", &[]);
    check("stray bars in texts", clean().spoil("description", ["w1 | w2", "|", "w3 [or] w4|w5"]), "", &[]);
    check("words among prices", clean().spoil("price", ["on request", "12.5.1", "free"]), "", &[("price", 3)]);
    check("words among years", clean().spoil("year", ["about 1990", "soon", "ca."]), "", &[("year", 3)]);
    check("typing errors in dates", clean().spoil("made", ["2024-13-01", "never", "1.2"]), "", &[("made", 3)]);
    check("odd flags", clean().spoil("active", ["maybe", "x", "2"]), "", &[("active", 3)]);
    let comma = clean().rewrite("price", |_, cell| cell.replace('.', ","));
    check("decimal commas", comma, "price = { kind = \"numeric\", decimal = \"comma\" }\n", &[]);
    let euros =
        clean().rewrite("price", |row, cell| if row % 2 == 0 { format!("€ {cell}") } else { format!("{cell} EUR") });
    check("currencies", euros, "", &[]);
    let dates = clean().rewrite("made", |row, cell| {
        let parts: Vec<&str> = cell.split('-').collect();
        match row % 3 {
            0 => cell.to_owned(),
            1 => format!("{}.{}.{}", parts[2], parts[1], parts[0]),
            _ => format!("{}/{}/{}", parts[2], parts[1], parts[0]),
        }
    });
    check("dates in three forms", dates, "made = { kind = \"date-time\", order = \"day-first\" }\n", &[]);
    let commas = clean().rewrite("tags", |_, cell| cell.replace('|', ", "));
    check("tags with commas", commas, "tags = { kind = \"multi-valued\", separator = \",\" }\n", &[]);
    let json = clean().rewrite("tags", |_, cell| format!("[\"{}\"]", cell.replace('|', "\", \"")));
    check("tags as JSON", json, "", &[]);
    let useless = clean()
        .add("lang", |_| "en".to_owned())
        .add("empty", |_| String::new())
        .add("copy", |row| ["games", "books", "tools"][row % 3].to_owned())
        .add("row_id", |row| (7000 + row).to_string())
        .add("key", |row| format!("N-{row:05}"))
        .add("own", |row| format!("n{row}"));
    let ignored = ["lang", "empty", "copy", "row_id", "key", "own"].map(|name| format!("{name}.kind = \"ignore\"\n"));
    let found = check("columns that say nothing", useless, &ignored.concat(), &[]);
    let notes = found.notes_in_words();
    let told = |line: &str| assert!(notes.iter().any(|note| note == line), "{line}: {notes:?}");
    told("left out column `lang`: all rows say the same");
    told("left out column `empty`: all cells are empty");
    told("left out column `copy`: it repeats column `section`");
    told("left out column `own`: it repeats column `id`");
    told("left out column `row_id`: numbers that name rows: nearly every row has its own");
}

#[test]
fn a_column_whose_values_are_never_linked_to_themselves_tells_node_types_if_it_is_called_so_or_links_are_many() {
    let load_some = |nodes: u32, name: &str, columns: &str| {
        let world = World { nodes, node_types: 2, ..World::default() };
        let folder = tempfile::tempdir().unwrap();
        world.write_tables(folder.path()).unwrap();
        let nodes = folder.path().join("nodes.csv");
        let table = std::fs::read_to_string(&nodes).unwrap().replacen("node_type", name, 1);
        std::fs::write(&nodes, table).unwrap();
        let columns = Columns::parse(columns).unwrap();
        load(folder.path(), &LoadOptions { columns, ..LoadOptions::default() }).unwrap()
    };
    let load_named = |name: &str, columns: &str| load_some(300, name, columns);
    let kind = |data: &Dataset, name: &str| data.schema.as_ref().unwrap().column(name).unwrap().0.kind.clone();
    let note = |data: &Dataset, start: &str| data.notes_in_words().iter().any(|line| line.starts_with(start));
    let taken = load_named("kind", "");
    assert_eq!(taken.attributes.types().unwrap().names, ["type0", "type1"]);
    assert!(note(&taken, "column `kind`: taken for the node type: no link joins two nodes of"));
    let said = load_named("kind", "[columns]\nkind.kind = \"categorical\"\n");
    assert!(said.attributes.types().is_none() && !note(&said, "column `kind`"));
    let by_links = load_named("shelf", "");
    assert_eq!(by_links.attributes.types(), taken.attributes.types());
    assert!(note(&by_links, "column `shelf`: taken for the node type: no link joins two nodes of"));
    let proposed = load_some(70, "shelf", "");
    assert!((80..200).contains(&proposed.graph.links()), "{}", proposed.graph.links());
    assert_eq!(kind(&proposed, "shelf"), ColumnKind::categorical());
    assert!(note(&proposed, "column `shelf`: looks like a node type: no link joins two nodes of"));
    let given = load_named("shelf", "[columns]\nshelf.kind = \"type\"\n");
    assert_eq!(given.attributes.types().unwrap().all(), taken.attributes.types().unwrap().all());
}

#[test]
fn a_category_that_links_stay_within_is_no_node_type() {
    let world = World { nodes: 300, topics: 3, links_within: 1.0, ..World::default() };
    let table = Table {
        header: ["id", "kind"].map(str::to_owned).to_vec(),
        rows: (0..300).map(|node| vec![format!("n{node}"), format!("topic {}", node / 100)]).collect(),
    };
    let data = table.load(&world, Columns::default());
    assert!(data.attributes.types().is_none() && data.notes_in_words().iter().all(|note| !note.contains("node type")));
}

/// A graph from two texts.
fn from_texts(nodes: &str, edges: &str, options: &LoadOptions) -> Result<Dataset, LoadError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("nodes.csv"), nodes).unwrap();
    std::fs::write(folder.path().join("edges.csv"), edges).unwrap();
    load(folder.path(), options)
}

const SHOP: &str = "id,price,price,maker\n007,1.5,2,a\n12,2.5,4,b\nAb,3.5,6,a\n";
const SALES: &str = "source,target\n007,12\n12,Ab\n";

#[test]
fn what_spreadsheets_put_between_cells_is_found_out() {
    let expected = from_texts(SHOP, SALES, &LoadOptions::default()).unwrap();
    for mark in [";", "\t", "|"] {
        let [nodes, edges] =
            [SHOP, SALES].map(|text| format!("\u{feff}{}", text.replace(',', mark).replace('\n', "\r\n")));
        let found = from_texts(&nodes, &edges, &LoadOptions::default()).unwrap();
        assert_eq!((found.attributes, found.graph), (expected.attributes.clone(), expected.graph.clone()), "{mark:?}");
    }
    // A comma within quotes separates nothing, and a header with commas has them between its cells.
    let quoted = from_texts("id;\"a,b\"\n007;1\n12;2\nAb;3\n", SALES, &LoadOptions::default()).unwrap();
    assert_eq!(quoted.schema.unwrap().columns[0].name, "a,b");
    let commas = from_texts("id,a;b\n007,1\n12,2\nAb,3\n", SALES, &LoadOptions::default()).unwrap();
    assert_eq!(commas.schema.unwrap().columns[0].name, "a;b");
}

#[test]
fn two_columns_of_one_name_are_told_apart() {
    let data = from_texts(SHOP, SALES, &LoadOptions::default()).unwrap();
    let names: Vec<String> = data.schema.unwrap().columns.into_iter().map(|column| column.name).collect();
    assert_eq!(names, ["price", "price (2)", "maker"]);
    let data = from_texts("id,x,x,x (2),,\n007,1,1,5,,\n12,2,2,6,,\nAb,3,3,8,,\n", SALES, &LoadOptions::default());
    let notes = data.unwrap().notes_in_words();
    assert!(notes.contains(&"left out column `x (2)`: it repeats column `x`".to_owned()), "{notes:?}");
    assert!(notes.contains(&"left out column `column 6`: all cells are empty".to_owned()), "{notes:?}");
}

#[test]
fn links_may_name_nodes_in_another_form() {
    let expected = from_texts(SHOP, SALES, &LoadOptions::default()).unwrap();
    let other = "source,target\n7.0,12.0\n0012,aB\n";
    let found = from_texts(SHOP, other, &LoadOptions::default()).unwrap();
    assert_eq!(found.graph, expected.graph);
    let note = "4 ends of links are written in another way than their nodes, as `7.0` for `007`";
    assert_eq!(found.notes_in_words(), [note]);
    assert!(expected.notes_in_words().is_empty());
    let refused =
        |nodes: &str, edges: &str, options: &LoadOptions| from_texts(nodes, edges, options).unwrap_err().to_string();
    let strict = LoadOptions { strict_input: true, ..LoadOptions::default() };
    assert!(refused(SHOP, other, &strict).ends_with("line 2: node `7.0` has a link but no row in `nodes.csv`"));
    // Which of two nodes is meant cannot be told.
    let both = format!("{SHOP}7,9,9,b\n");
    assert!(
        refused(&both, other, &LoadOptions::default())
            .ends_with("line 2: node `7.0` has a link but no row in `nodes.csv`")
    );
    assert_eq!(from_texts(&both, SALES, &LoadOptions::default()).unwrap().notes.other_forms, None);
}

#[test]
fn a_row_that_is_there_twice_counts_once() {
    let twice = SHOP.replace("Ab,", "12,2.5,4,b\nAb,");
    let found = from_texts(&twice, SALES, &LoadOptions::default()).unwrap();
    let expected = from_texts(SHOP, SALES, &LoadOptions::default()).unwrap();
    assert_eq!(
        (&found.attributes, &found.graph, &found.names),
        (&expected.attributes, &expected.graph, &expected.names)
    );
    assert_eq!(found.notes_in_words(), ["ignored 1 repeated row of nodes"]);
    let problem = |nodes: &str, strict_input: bool| {
        let options = LoadOptions { strict_input, ..LoadOptions::default() };
        from_texts(nodes, SALES, &options).unwrap_err().to_string()
    };
    assert!(problem(&twice, true).ends_with("line 4: node `12` already has a row, on line 3"));
    let other = format!("{twice}12,9,9,b\n");
    assert!(problem(&other, false).ends_with("line 4: node `12` already has a row, on line 3"));
}

#[test]
fn the_column_of_names_is_the_one_that_links_use() {
    let nodes =
        "name,code,words,like\nfirst,c1,\"a b c d e\",c1\nsecond,c2,\"a b x y z\",c1\nthird,c3,\"c d e f g\",c1\n";
    let name = |edges: &str| from_texts(nodes, edges, &LoadOptions::default()).map(|data| data.schema.unwrap().id);
    assert_eq!(name("source,target\nc1,c2\nc2,c3\n").unwrap(), "code");
    assert_eq!(name("source,target\nfirst,second\nsecond,third\n").unwrap(), "name");
    assert!(name("source,target\nx,y\n").is_err());
    let said = LoadOptions { columns: Columns::parse("id = \"name\"\n").unwrap(), ..LoadOptions::default() };
    assert!(from_texts(nodes, "source,target\nc1,c2\n", &said).is_err());
}

/// Real tables, where they are there: their columns are what one would say they are.
#[test]
fn real_tables_are_read_as_they_would_be_by_hand() {
    let beside = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("DEAL_DATA").map_or_else(beside, std::path::PathBuf::from);
    let check = |name: &str, by_hand: &str| {
        let path = folder.join(name);
        if !path.is_dir() {
            return;
        }
        let load = |columns: Columns| load(&path, &LoadOptions { columns, ..LoadOptions::default() }).unwrap();
        let (found, set) = (load(Columns::default()), load(Columns::parse(by_hand).unwrap()));
        assert_eq!(found.schema, set.schema, "{name}");
        assert!(found.attributes == set.attributes, "{name}");
    };
    check("citeulike", CITEULIKE);
    check("debian", DEBIAN);
}

/// What one who knows the table would say.
const DEBIAN: &str = "id = \"id\"
[columns]
id.kind = \"text\"
description.kind = \"text\"
section.kind = \"categorical\"
priority.kind = \"categorical\"
maintainer.kind = \"categorical\"
source.kind = \"categorical\"
installed_size.kind = \"numeric\"
tags.kind = \"multi-valued\"
architecture.kind = \"categorical\"
homepage_host.kind = \"categorical\"
";

/// The same.
const CITEULIKE: &str = "id = \"id\"
[columns]
type.kind = \"type\"
text.kind = \"text\"
tags.kind = \"multi-valued\"
";

#[test]
fn new_rows_that_are_there_twice_count_once_in_a_file() {
    let data = from_texts(SHOP, SALES, &LoadOptions::default()).unwrap();
    let (schema, folder) = (data.schema.unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path().join("new.csv");
    let read = |rows: &str, strict: bool| {
        std::fs::write(&path, format!("id,price,maker\n{rows}")).unwrap();
        load_new(&path, &schema, strict)
    };
    let new = read("x,1.5,a\ny,2.5,b\nx,1.5,a\n", false).unwrap();
    assert_eq!((new.names.len(), new.mismatches.repeated_rows), (2, 1));
    assert!(new.mismatches.notes().contains(&"ignored 1 repeated row".to_owned()));
    assert!(read("x,1.5,a\nx,2.5,a\n", false).is_err() && read("x,1.5,a\nx,1.5,a\n", true).is_err());
}
