//! Tables with a little dirt become the attributes that they would have become with every column's kind set by hand, and nearly those
//! of the clean table.

use coldlink::columns::{ColumnKind, Columns};
use coldlink::dataset::Dataset;
use coldlink::graph::NodeId;
use coldlink::load::{LoadOptions, load, load_new};
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
fn a_column_whose_values_are_never_linked_to_themselves_tells_node_types_if_it_is_called_so() {
    let world = World { nodes: 300, node_types: 2, ..World::default() };
    let load_named = |name: &str, columns: &str| {
        let folder = tempfile::tempdir().unwrap();
        world.write_tables(folder.path()).unwrap();
        let nodes = folder.path().join("nodes.csv");
        let table = std::fs::read_to_string(&nodes).unwrap().replacen("node_type", name, 1);
        std::fs::write(&nodes, table).unwrap();
        let columns = Columns::parse(columns).unwrap();
        load(folder.path(), &LoadOptions { columns, ..LoadOptions::default() }).unwrap()
    };
    let kind = |data: &Dataset, name: &str| data.schema.as_ref().unwrap().column(name).unwrap().0.kind;
    let note = |data: &Dataset, start: &str| data.notes_in_words().iter().any(|line| line.starts_with(start));
    let taken = load_named("kind", "");
    assert_eq!(taken.attributes.types().unwrap().names, ["type0", "type1"]);
    assert!(note(&taken, "column `kind`: taken for the node type: no link joins two nodes of"));
    let said = load_named("kind", "[columns]\nkind.kind = \"categorical\"\n");
    assert!(said.attributes.types().is_none() && !note(&said, "column `kind`"));
    let proposed = load_named("shelf", "");
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
