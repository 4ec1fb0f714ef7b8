//! Which column people know nodes by: its texts stand beside names where nodes are shown.

use super::kind::Columns;
use super::survey::Surveys;

/// What such a column is called, the likeliest first.
const NAMES: [&str; 10] = [
    "title",
    "name",
    "label",
    "displayname",
    "fullname",
    "productname",
    "heading",
    "headline",
    "caption",
    "preferredlabel",
];

/// The place of a column's name among those of such columns.
fn place(name: &str) -> Option<usize> {
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    NAMES.iter().position(|known| name == *known)
}

/// Whether a column is called as such columns are.
pub(crate) fn is_called_a_title(name: &str) -> bool {
    place(name).is_some()
}

impl Surveys {
    /// The column that is shown beside the one of names: as users say, or one that is called so and in which most rows have a text of
    /// their own.
    pub(crate) fn shown(&self, header: &[String], id: usize, given: &Columns) -> Option<usize> {
        if let Some(said) = &given.show {
            return header.iter().position(|name| name == said);
        }
        let is_text = |column: &usize| {
            let survey = &self.0[*column];
            survey.told() > 0 && survey.is_mostly_different() && !survey.nearly_all(survey.numbers.cells)
        };
        let called = (0..header.len()).filter(|&column| column != id);
        let called = called.filter_map(|column| place(&header[column]).map(|place| (place, column)));
        called.filter(|(_, column)| is_text(column)).min().map(|(_, column)| column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: [&str; 4], given: &str, expected: Option<&str>) {
        let header = names.map(str::to_owned);
        let mut surveys = Surveys::of(4);
        for row in 0..60 {
            let cells = [format!("n{row}"), format!("The tale {row}"), (row % 3).to_string(), row.to_string()];
            surveys.look(&cells.map(serde_json::Value::from).to_vec());
        }
        let found = surveys.shown(&header, 0, &Columns::parse(given).unwrap());
        assert_eq!(found.map(|column| names[column]), expected, "{names:?}");
    }

    #[test]
    fn a_text_that_is_called_a_title_is_shown() {
        check(["id", "title", "x", "y"], "", Some("title"));
        check(["id", "Display Name", "x", "y"], "", Some("Display Name"));
        check(["id", "text", "x", "y"], "", None);
        check(["id", "text", "label", "name"], "", None);
        check(["name", "text", "x", "y"], "", None);
        check(["id", "text", "title", "y"], "show = \"text\"\n", Some("text"));
        check(["id", "title", "x", "y"], "show = \"\"\n", None);
    }
}
