//! Drawing as SVG text: a picture, a scale, and text that keeps to its room.

use super::numbers::number;

/// The font size of everything but the title, in pixels like all lengths here.
pub const TEXT_SIZE: f64 = 12.0;
/// The font size of the title.
const TITLE_SIZE: f64 = 17.0;
/// About how wide a character is, in the font's size: fonts differ, so rather too wide.
const CHARACTER: f64 = 0.6;
/// How far everything stays away from the border.
pub const MARGIN: f64 = 20.0;

/// An SVG picture while it is drawn.
pub struct Picture {
    svg: String,
}

impl Picture {
    /// A picture with nothing but its title, which is set smaller before it is cut short.
    pub fn new(title: &str, (width, height): (f64, f64)) -> Self {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"bench-plot\" role=\"img\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\">\n\
             <title>{}</title>\n<style>\n{}</style>\n",
            escaped(title),
            include_str!("picture.css")
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

    /// The whole SVG file.
    pub fn finish(mut self) -> String {
        self.add("</svg>");
        self.svg
    }
}

/// A quantity along a line of pixels.
pub struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Values from low to high, drawn from a pixel to another.
    pub fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        Scale { low, high, start, end }
    }

    /// The pixel of a value; values beyond the ends are at the ends.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// About so many round values, with the pixel of each.
    pub fn ticks(&self, about: f64) -> Vec<(f64, String)> {
        let step = round_up((self.high - self.low) / about);
        let decimals = (-step.log10() - 1e-9).ceil().max(0.0) as usize;
        let (first, last) = ((self.low / step - 1e-6).ceil() as i64, (self.high / step + 1e-6).floor() as i64);
        (first..=last)
            .map(|index| (index as f64 * step, if index == 0 { 0 } else { decimals }))
            .map(|(value, decimals)| (self.at(value), number(value, decimals)))
            .collect()
    }
}

/// The least of 1, 2, 5, 10, 20, ... and 0.5, 0.2, 0.1, ... that is no less than the value.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= value * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Text as it may stand in SVG and HTML, which have no way to write control characters.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

/// About how wide a text is.
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * CHARACTER * size
}

/// The width of the widest of some texts.
pub fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> f64 {
    texts.map(|text| text_width(text, TEXT_SIZE)).fold(0.0, f64::max)
}

/// A text that is cut short where it would be wider than its room.
pub fn shortened(text: &str, room: f64, size: f64) -> String {
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take((room / (CHARACTER * size)) as usize - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_round_and_within_the_scale() {
        let check = |low, high, labels: &[&str]| {
            let ticks = Scale::new((low, high), (0.0, 100.0)).ticks(5.0);
            assert_eq!(ticks.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(), labels);
        };
        check(0.8, 1.0, &[".80", ".85", ".90", ".95", "1.00"]);
        check(0.0, 1.0, &["0", ".2", ".4", ".6", ".8", "1.0"]);
        check(-3.0, 7200.0, &["0", "2,000", "4,000", "6,000"]);
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("<b> & \"it's\"\u{1b}"), "&lt;b&gt; &amp; &quot;it&#39;s&quot; ");
    }

    #[test]
    fn a_long_title_is_set_smaller_before_it_is_cut_short() {
        let check = |title: &str, told: &str| {
            let svg = Picture::new(title, (440.0, 90.0)).finish();
            assert!(svg.contains(told), "{svg}");
        };
        check("short", "font-size:17.0px\" x=\"20\" y=\"30\">short</text>");
        check(&"x".repeat(50), &format!("font-size:13.3px\" x=\"20\" y=\"30\">{}</text>", "x".repeat(50)));
        check(&"x".repeat(99), &format!("font-size:12.0px\" x=\"20\" y=\"30\">{}…</text>", "x".repeat(54)));
    }

    #[test]
    fn long_text_is_cut_to_its_room() {
        assert_eq!(shortened("short", 100.0, 10.0), "short");
        let cut = shortened(&"long ".repeat(50), 100.0, 10.0);
        assert!(cut.ends_with('…') && text_width(&cut, 10.0) <= 100.0, "{cut}");
    }
}
