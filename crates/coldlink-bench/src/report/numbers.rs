//! How numbers are written: `.871`, `+.007`, `12,345`.

use super::Spread;

/// What stands where there is no number.
pub const NONE: &str = "–";

/// A number with its thousands apart and no zero before the point.
pub fn number(value: f64, decimals: usize) -> String {
    let text = coldlink_chart::number(value, decimals);
    let (sign, digits) = text.split_at(if text.starts_with('−') { '−'.len_utf8() } else { 0 });
    let digits = digits.strip_prefix('0').filter(|fraction| !fraction.is_empty()).unwrap_or(digits);
    format!("{sign}{digits}")
}

/// A number with three decimals.
pub fn three(value: f64) -> String {
    number(value, 3)
}

/// A difference with three decimals and its sign.
pub fn signed(value: f64) -> String {
    let sign = if value >= 0.0005 { "+" } else { "" };
    sign.to_owned() + &three(value)
}

/// The standard deviation after a space, or nothing where there is none.
pub fn deviation(spread: Spread) -> String {
    spread.sd.filter(|sd| sd.is_finite()).map_or_else(String::new, |sd| format!(" ±{}", three(sd)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_decimals_and_no_zero_before_the_point() {
        assert_eq!([three(0.8713), three(0.9999), three(-0.0121), three(-0.0001)], [".871", "1.000", "−.012", ".000"]);
        assert_eq!([signed(0.007), signed(-0.03), signed(0.0001), signed(f64::NAN)], ["+.007", "−.030", ".000", "–"]);
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!([number(123456.0, 0), number(-1234.5, 1), number(999.0, 0)], ["123,456", "−1,234.5", "999"]);
    }

    #[test]
    fn a_single_seed_has_no_deviation() {
        assert_eq!(deviation(Spread { mean: 0.9, sd: Some(0.008) }), " ±.008");
        assert_eq!(deviation(Spread { mean: 0.9, sd: None }), "");
    }
}
