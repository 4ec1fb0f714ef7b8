//! An SVG picture while it is drawn.

use crate::axis::Axis;
use crate::text::{TEXT_SIZE, escaped, shortened, text_width};

/// The font size of a title that fits.
const TITLE_SIZE: f64 = 17.0;
/// How far everything stays away from the border.
pub const MARGIN: f64 = 20.0;
/// How far along the side an axis starts, with room for its label and numbers before it.
pub const LEFT: f64 = 76.0;
/// About how many numbers an axis has.
const TICKS: f64 = 7.0;

/// An SVG picture while it is drawn.
pub struct Picture {
    svg: String,
}

impl Picture {
    /// A picture with nothing but its title, which is set smaller before it is cut short.
    pub fn new(title: &str, (width, height): (f64, f64)) -> Self {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"coldlink-chart\" role=\"img\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\">\n\
             <title>{}</title>\n<style>\n{}</style>\n",
            escaped(title),
            include_str!("style.css")
        );
        let mut picture = Picture { svg };
        picture.add(r#"<rect class="background" width="100%" height="100%" rx="6"/>"#);
        let room = width - 2.0 * MARGIN;
        let size = (room / text_width(title, 1.0)).clamp(TEXT_SIZE, TITLE_SIZE);
        let text = escaped(&shortened(title, room, size));
        picture.add(format!(r#"<text class="title" style="font-size:{size:.1}px" x="{MARGIN}" y="30">{text}</text>"#));
        picture
    }

    /// Adds an element.
    pub fn add(&mut self, element: impl AsRef<str>) {
        self.svg += element.as_ref();
        self.svg.push('\n');
    }

    /// Adds a text; `class` says how it looks and where in it the place is.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        self.add(format!(r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#, escaped(text)));
    }

    /// Adds a path.
    pub fn path(&mut self, class: &str, path: &str) {
        self.add(format!(r#"<path class="{class}" d="{path}"/>"#));
    }

    /// Adds straight lines from one place to the next.
    pub fn joined(&mut self, class: &str, places: &[(f64, f64)]) {
        let corners: Vec<_> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        self.path(class, &format!("M{}", corners.join("L")));
    }

    /// Adds a dot with a tooltip.
    pub fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64, tooltip: &str) {
        let tooltip = escaped(tooltip);
        self.add(format!(
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"><title>{tooltip}</title></circle>"#
        ));
    }

    /// Adds a row of marks with their meanings. A mark is drawn around `y`, in a width of its own.
    pub fn legend(&mut self, y: f64, marks: &[(&str, f64, &str)]) {
        let mut x = MARGIN;
        for (mark, width, meaning) in marks {
            self.add(format!(r#"<g transform="translate({x:.1} {y:.1})">{mark}</g>"#));
            self.text("", (x + width + 7.0, y + 4.0), meaning);
            x += width + 7.0 + text_width(meaning, TEXT_SIZE) + 12.0;
        }
    }

    /// Adds both axes with their labels, numbers and grid lines.
    pub fn axes(&mut self, (x, x_label): (&Axis, &str), (y, y_label): (&Axis, &str)) {
        let (left, right, top, bottom) = (x.start, x.end, y.end, y.start);
        for (at, label) in x.ticks(TICKS) {
            self.path("grid", &format!("M{at:.1} {top:.1}V{bottom:.1}"));
            self.text("middle", (at, bottom + 18.0), &label);
        }
        for (at, label) in y.ticks(TICKS) {
            self.path("grid", &format!("M{left:.1} {at:.1}H{right:.1}"));
            self.text("end", (left - 8.0, at + 4.0), &label);
        }
        self.path("axis", &format!("M{left:.1} {top:.1}V{bottom:.1}H{right:.1}"));
        self.text("note middle", (x.middle(), bottom + 40.0), &shortened(x_label, right - left, TEXT_SIZE));
        self.add(format!(
            r#"<text class="note middle" transform="translate({:.1} {:.1}) rotate(-90)">{}</text>"#,
            MARGIN + 2.0,
            y.middle(),
            escaped(&shortened(y_label, bottom - top, TEXT_SIZE))
        ));
    }

    /// The whole SVG file.
    pub fn finish(mut self) -> String {
        self.add("</svg>");
        self.svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_title_is_set_smaller_before_it_is_cut_short() {
        let check = |title: &str, size: &str, written: &str| {
            let svg = Picture::new(title, (440.0, 90.0)).finish();
            assert!(svg.contains(&format!(r#"style="font-size:{size}px" x="20" y="30">{written}</text>"#)), "{svg}");
        };
        check("short", "17.0", "short");
        check(&"x".repeat(40), "14.3", &"x".repeat(40));
        check(&"x".repeat(99), "12.0", &format!("{}…", "x".repeat(46)));
    }
}
