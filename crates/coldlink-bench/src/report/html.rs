//! Tables and charts as one web page that needs nothing else.

use coldlink_chart::escaped;

use super::bars::bars;
use super::compare::{COSTS, Grid, GridCell, Metric, Notes, SHORTFALLS, costs, mark_legend, shortfalls};
use super::numbers::{NONE, deviation, signed, three};
use super::{Block, Cell, MethodRow, Table};

/// A page with tables and charts (each an SVG file and its caption), in light and dark, without scripts.
pub fn html(title: &str, tables: &[&Table], charts: &[(String, String)]) -> String {
    let title = escaped(title);
    let (style, legend, contents) = (include_str!("page.css"), mark_legend(), contents(tables, charts));
    let sections: String = tables.iter().enumerate().map(|(index, table)| section(index, table)).collect();
    let charts: String = charts.iter().map(|(svg, caption)| figure(svg, caption)).collect();
    let heading = if charts.is_empty() { "" } else { "<h2 id=\"charts\">Charts</h2>\n" };
    format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{contents}<p class=\"key\">A cell has our mean ± standard deviation over seeds, and below it the paper's value with the
difference. {legend}</p>
{sections}{heading}{charts}</main>
</body>
</html>
"
    )
}

/// Links to the sections, where there is more than one.
fn contents(tables: &[&Table], charts: &[(String, String)]) -> String {
    let link = |(index, table): (usize, &&Table)| format!("<a href=\"#table-{index}\">{}</a>", escaped(&table.title));
    let mut links: Vec<_> = tables.iter().enumerate().map(link).collect();
    links.extend(charts.first().map(|_| "<a href=\"#charts\">Charts</a>".to_owned()));
    if links.len() < 2 {
        return String::new();
    }
    format!("<nav aria-label=\"Contents\">{}</nav>\n", items("ul", links))
}

/// A table with its bars, notes and costs.
fn section(index: usize, table: &Table) -> String {
    let mut notes = Notes::default();
    let mut html = format!("<section>\n<h2 id=\"table-{index}\">{}</h2>\n", escaped(&table.title));
    html.extend(table.about.iter().map(|text| paragraph(text)));
    for (place, block) in table.blocks.iter().enumerate() {
        html += &format!("<h3>{}</h3>\n{}", escaped(&block.label), paragraph(&block.about));
        html += &figure(&bars(table, place), "");
        for grid in Metric::ALL.map(|metric| Grid::new(metric, table, block, &mut notes)) {
            html += &grid_table(index, block, &grid);
        }
    }
    html += &note_list(index, &notes);
    html += &format!("<h3>{SHORTFALLS}</h3>\n");
    let short = shortfalls(table);
    html += &if short.is_empty() { paragraph("None.") } else { items("ul", short.iter().map(|cell| escaped(cell))) };
    html + &cost_table(table) + "</section>\n"
}

fn figure(svg: &str, caption: &str) -> String {
    let caption =
        if caption.is_empty() { caption } else { &format!("<figcaption>{}</figcaption>", with_code(caption)) };
    format!("<figure>{}{caption}</figure>\n", scrolling("Chart", svg))
}

/// A region that scrolls sideways, also by keyboard.
fn scrolling(label: &str, content: &str) -> String {
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{content}</div>\n",
        escaped(label)
    )
}

fn table_of(caption: &str, head: &str, body: &str) -> String {
    let heading = format!("<caption><span>{}</span></caption>\n<thead>\n<tr>{head}</tr>\n</thead>", escaped(caption));
    scrolling(caption, &format!("<table>\n{heading}\n<tbody>\n{body}</tbody>\n</table>\n"))
}

/// Methods by data sets; for AP, headings tell the share of linked pairs.
fn grid_table(section: usize, block: &Block, grid: &Grid) -> String {
    let explained = match grid.metric {
        Metric::Auc => "AUC: area under the ROC curve",
        Metric::Ap => "AP: average precision; guessing gets the share of linked pairs",
    };
    let mut head = "<th scope=\"col\">method</th>".to_owned();
    for heading in &grid.headings {
        let linked = Some(format!("linked: {}", heading.linked)).filter(|_| grid.metric == Metric::Ap);
        let (label, linked) = (escaped(&heading.set.label), small(linked));
        head += &format!("<th scope=\"col\">{label}{}{linked}</th>", note_link(section, heading.note));
    }
    let body: String = grid.rows.iter().map(|(method, cells)| grid_row(section, method, cells)).collect();
    table_of(&format!("{explained} ({})", block.label), &head, &body)
}

fn grid_row(section: usize, method: &MethodRow, cells: &[GridCell]) -> String {
    let is_reference = method.cells.iter().any(Cell::is_reference);
    let class = if is_reference { " class=\"reference\"" } else { "" };
    let cells: String = cells.iter().map(|cell| grid_cell(section, cell)).collect();
    format!("<tr{class}><th scope=\"row\">{}</th>{cells}</tr>\n", escaped(&method.label))
}

/// Ours with deviation, mark and note; below it the paper's value and the difference.
fn grid_cell(section: usize, cell: &GridCell) -> String {
    let compared = cell.compared;
    let ours = compared.ours.map_or(NONE.to_owned(), |ours| {
        format!("<strong>{}</strong><span class=\"sd\">{}</span>", three(ours.mean), deviation(ours))
    });
    let mark = cell.mark.map_or(String::new(), |mark| {
        let (sign, meaning) = mark.sign();
        format!(" <span role=\"img\" aria-label=\"{meaning}\" title=\"{meaning}\">{sign}</span>")
    });
    let difference = compared.difference().map_or(String::new(), |difference| {
        let side = if difference < -0.0005 { "below" } else { "above" };
        let class = if compared.falls_short() { "short" } else { side };
        format!(" <span class=\"{class}\">{}</span>", signed(difference))
    });
    let paper = compared.paper.map(|paper| format!("paper {}{difference}", three(paper)));
    format!("<td>{ours}{mark}{}{}</td>", note_link(section, cell.note), small(paper))
}

/// A line of its own in a cell.
fn small(line: Option<String>) -> String {
    line.map_or_else(String::new, |line| format!("<span class=\"small\">{line}</span>"))
}

fn note_link(section: usize, note: Option<usize>) -> String {
    note.map_or_else(String::new, |note| {
        format!("<sup><a href=\"#note-{section}-{note}\" aria-label=\"note {note}\">{note}</a></sup>")
    })
}

fn note_list(section: usize, notes: &Notes) -> String {
    let numbered = notes.texts.iter().zip(1..);
    let texts = numbered.map(|(text, note)| format!("<span id=\"note-{section}-{note}\">{}</span>", with_code(text)));
    if notes.texts.is_empty() { String::new() } else { format!("<h3>Notes</h3>\n{}", items("ol", texts)) }
}

/// What each measured cell took, folded away.
fn cost_table(table: &Table) -> String {
    let head: String = COSTS.iter().map(|heading| format!("<th scope=\"col\">{heading}</th>")).collect();
    let mut body = String::new();
    for row in costs(table) {
        let [method, cells @ ..] = row.map(|cell| escaped(&cell));
        let cells = cells.map(|cell| format!("<td>{cell}</td>")).concat();
        body += &format!("<tr><th scope=\"row\">{method}</th>{cells}</tr>\n");
    }
    let table = table_of("Mean reciprocal rank, and what a run took", &head, &body);
    format!("<details>\n<summary>Ranking and cost</summary>\n{table}</details>\n")
}

fn items(tag: &str, items: impl IntoIterator<Item = String>) -> String {
    let items: String = items.into_iter().map(|item| format!("<li>{item}</li>\n")).collect();
    format!("<{tag}>\n{items}</{tag}>\n")
}

fn paragraph(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<p>{}</p>\n", with_code(text)) }
}

/// Escaped text in which what stands in backticks is code.
fn with_code(text: &str) -> String {
    let pieces = text.split('`').map(escaped).enumerate();
    pieces.map(|(index, piece)| if index % 2 == 0 { piece } else { format!("<code>{piece}</code>") }).collect()
}

#[cfg(test)]
mod tests {
    use coldlink_chart::check_well_formed;

    use super::super::samples::{check_contains, compared, empty_tables, table, without_ours};
    use super::*;

    fn check(table: &Table, parts: &[&str]) -> String {
        let page = html("Coldlink <against> the paper", &[table], &[]);
        check_well_formed(&page);
        check_contains(&page, parts);
        page
    }

    #[test]
    fn a_cell_has_ours_and_the_paper_with_a_coloured_difference() {
        check(
            &table(compared(0.864, 0.871)),
            &["<strong>.871</strong>", "paper .864 <span class=\"above\">+.007</span>"],
        );
        check(&table(compared(0.864, 0.801)), &["<span class=\"short\">−.063</span>"]);
    }

    #[test]
    fn an_ap_is_never_without_its_prevalence() {
        check(&table(compared(0.864, 0.871)), &[">linked: .315</span></th>", ">linked: not known</span></th>"]);
    }

    #[test]
    fn missing_sets_and_cells_show_the_reason() {
        let reasons = ["note-0-1\">PubMed: no file of it was found<", "note-0-2\">took <code>too</code> long<"];
        check(&table(without_ours("took `too` long")), &reasons);
    }

    #[test]
    fn text_is_escaped_and_nothing_is_fetched() {
        let mut table = table(compared(0.864, 0.871));
        table.title = "<script>".into();
        table.blocks[0].rows[0].label = "\"<b>".into();
        let page = check(&table, &["&lt;script&gt;", "&quot;&lt;b&gt;"]);
        assert!(!["<script", "<b>", "src=", "url("].iter().any(|bad| page.contains(bad)));
    }

    #[test]
    fn empty_tables_are_written() {
        for table in empty_tables() {
            check(&table, &[]);
        }
        check_well_formed(&html("", &[], &[("<svg></svg>".into(), "nothing".into())]));
    }
}
