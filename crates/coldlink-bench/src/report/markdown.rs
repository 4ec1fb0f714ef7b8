//! A table of an experiment as Markdown.

use super::Table;
use super::compare::{COSTS, Grid, GridCell, Metric, Notes, SHORTFALLS, costs, mark_legend, shortfalls};
use super::numbers::{NONE, three};

/// A table as a file of its own: every number, with what has to be said about it.
pub fn markdown(table: &Table) -> String {
    let mut notes = Notes::default();
    let mut parts = vec![format!("# {}", on_one_line(&table.title))];
    parts.extend(table.about.iter().cloned());
    for block in &table.blocks {
        parts.extend([format!("## {}", on_one_line(&block.label)), block.about.clone()]);
        for grid in Metric::ALL.map(|metric| Grid::new(metric, table, block, &mut notes)) {
            parts.push(grid_table(grid.metric.label(), &grid, |row, set| one_metric(&grid.rows[row].1[set])));
        }
    }
    parts.push("A cell: the paper's value → **ours** ± standard deviation over seeds (difference).".to_owned());
    parts.extend([mark_legend(), numbered(&notes)]);
    parts.extend(["## Ranking and cost".to_owned(), cost_table(table)]);
    parts.extend([format!("## {SHORTFALLS}"), shortfall_list(table)]);
    joined(parts)
}

/// Each block as one compact table, AUC / AP of the paper against ours.
pub fn readme(table: &Table) -> String {
    let mut notes = Notes::default();
    let mut parts = Vec::new();
    for block in &table.blocks {
        let [auc, ap] = Metric::ALL.map(|metric| Grid::new(metric, table, block, &mut notes));
        let text = |row: usize, set: usize| both_metrics(&auc.rows[row].1[set], &ap.rows[row].1[set]);
        if table.blocks.len() > 1 {
            parts.push(format!("*{}*", on_one_line(&block.label)));
        }
        parts.push(grid_table("AUC / AP", &ap, text));
    }
    if parts.is_empty() {
        return String::new();
    }
    parts.extend(["A cell: the paper's → **ours**.".to_owned(), numbered(&notes)]);
    joined(parts)
}

/// Methods by data sets, with the text of each cell; where there is AP, the first row is the share of linked pairs.
fn grid_table(corner: &str, grid: &Grid, text: impl Fn(usize, usize) -> String) -> String {
    let mut lines = vec![vec![corner.to_owned()]];
    lines[0].extend(grid.headings.iter().map(|heading| in_cell(&heading.set.label) + &raised(heading.note)));
    if grid.metric == Metric::Ap {
        lines.push(vec!["*prevalence: share of linked pairs*".to_owned()]);
        lines[1].extend(grid.headings.iter().map(|heading| heading.linked.clone()));
    }
    for (row, (method, cells)) in grid.rows.iter().enumerate() {
        let cells = cells.iter().enumerate().map(|(set, cell)| text(row, set) + &raised(cell.note));
        lines.push(std::iter::once(in_cell(&method.label)).chain(cells).collect());
    }
    lined_up(&lines)
}

/// Such as `.864 → **.871** ±.008 (+.007) ▲`.
fn one_metric(cell: &GridCell) -> String {
    cell.compared.text("**") + &cell.mark.map_or(String::new(), |mark| format!(" {}", mark.sign().0))
}

/// Such as `.864 / .804 → **.871 / .812**`.
fn both_metrics(auc: &GridCell, ap: &GridCell) -> String {
    let paper = auc.compared.paper.zip(ap.compared.paper);
    let ours = auc.compared.ours.zip(ap.compared.ours);
    let paper = paper.map_or(String::new(), |(auc, ap)| format!("{} / {} → ", three(auc), three(ap)));
    paper + &ours.map_or(NONE.to_owned(), |(auc, ap)| format!("**{} / {}**", three(auc.mean), three(ap.mean)))
}

fn cost_table(table: &Table) -> String {
    let rows = [COSTS.map(str::to_owned)].into_iter().chain(costs(table));
    let lines: Vec<_> = rows.map(|row| row.map(|cell| in_cell(&cell)).to_vec()).collect();
    lined_up(&lines)
}

fn shortfall_list(table: &Table) -> String {
    let items: Vec<_> = shortfalls(table).iter().map(|cell| format!("- {}", on_one_line(cell))).collect();
    if items.is_empty() { "None.".to_owned() } else { items.join("\n") }
}

/// Lines of cells as a Markdown table; the first is the heading.
fn lined_up(lines: &[Vec<String>]) -> String {
    let mut written: Vec<_> = lines.iter().map(|cells| format!("| {} |", cells.join(" | "))).collect();
    written.insert(1, format!("|{}", "---|".repeat(lines[0].len())));
    written.join("\n")
}

fn numbered(notes: &Notes) -> String {
    let items = notes.texts.iter().enumerate().map(|(index, text)| format!("{}. {}", index + 1, on_one_line(text)));
    items.collect::<Vec<_>>().join("\n")
}

/// The number of a note, raised.
fn raised(note: Option<usize>) -> String {
    note.map_or_else(String::new, |note| format!(" <sup>{note}</sup>"))
}

/// A text as it may stand in a cell.
fn in_cell(text: &str) -> String {
    on_one_line(text).replace('|', "\\|")
}

/// A text that ends no heading or list, and opens no tag.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('<', "&lt;")
}

/// Parts with an empty line between them; empty ones are left out.
fn joined(mut parts: Vec<String>) -> String {
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::samples::{check_contains, compared, empty_tables, table, without_ours};
    use super::*;

    #[test]
    fn a_cell_has_paper_ours_deviation_difference_and_mark() {
        let row = "| DEAL | .864 → **.871** ±.008 (+.007) ▲ |";
        let cost = "| DEAL | Paper | Cora | 5 | – | 123,456 | 900 | 40.2 |";
        check_contains(&markdown(&table(compared(0.864, 0.871))), &[row, cost, "below the paper\n\nNone.\n"]);
    }

    #[test]
    fn an_ap_is_never_without_its_prevalence() {
        let table = table(compared(0.864, 0.871));
        let linked = "| *prevalence: share of linked pairs* | .315 | not known |\n";
        check_contains(&markdown(&table), &[linked]);
        check_contains(&readme(&table), &[linked, "| DEAL | .864 / .804 → **.871 / .812** | .966 / .931 → – |"]);
        let no_sets = Table { sets: Vec::new(), ..table };
        assert!(!markdown(&no_sets).contains(".812") && !readme(&no_sets).contains(".812"));
    }

    #[test]
    fn missing_sets_and_cells_show_the_reason() {
        let table = table(without_ours("took too long"));
        let notes = "1. PubMed: no file of it was found\n2. took too long\n";
        for text in [markdown(&table), readme(&table)] {
            check_contains(&text, &["| Cora | PubMed <sup>1</sup> |", "| DEAL | – <sup>2</sup> |", notes]);
        }
    }

    #[test]
    fn cells_far_below_the_paper_are_listed() {
        let text = markdown(&table(compared(0.864, 0.801)));
        check_contains(&text, &["below the paper\n\n- DEAL, Paper, Cora: .864 → .801 ±.008 (−.063)\n"]);
    }

    #[test]
    fn labels_stay_in_their_cell() {
        assert_eq!(in_cell("a|b\n<i>"), "a\\|b &lt;i>");
    }

    #[test]
    fn empty_tables_are_written() {
        for table in empty_tables() {
            check_contains(&markdown(&table), &["# Links of new nodes\n"]);
            assert_eq!(readme(&table).is_empty(), table.blocks.is_empty());
        }
    }
}
