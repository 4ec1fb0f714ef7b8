//! Charts as SVG text, for the command line and the bench.
//!
//! Every chart is a function from data to a whole SVG file. The file needs nothing else, follows the viewer's light or
//! dark scheme, and stands alone or within a web page. All lengths are pixels.

mod axis;
mod bars;
mod check;
mod lines;
mod picture;
mod reliability;
mod text;
mod trials;

pub use bars::{Bar, BarChart, Panel, bars};
#[doc(hidden)]
pub use check::check_well_formed;
pub use lines::{Line, LineChart, lines};
pub use reliability::{ReliabilityBin, reliability};
pub use text::{escaped, number, thousands};
pub use trials::{Trial, trials};
