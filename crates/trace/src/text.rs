//! Names and numbers as the formats want them: escaped, exact, or short enough for people.

use simurgh_platform::shortened;

/// Seconds as exact microseconds: the decimal point of the shortest decimal is moved, nothing is rounded.
pub(crate) fn microseconds(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "0".to_owned();
    }
    let scientific = format!("{seconds:e}");
    let (mantissa, exponent) = scientific.split_once('e').expect("{:e} writes an exponent");
    let exponent: i32 = exponent.parse().expect("{:e} writes a whole exponent");
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits = mantissa.replace('.', "");
    // The number is 0.digits * 10^point.
    let point = exponent + 1 + 6;
    let plain = if point <= 0 {
        format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize))
    } else if (point as usize) < digits.len() {
        format!("{}.{}", &digits[..point as usize], &digits[point as usize..])
    } else {
        format!("{digits}{}", "0".repeat(point as usize - digits.len()))
    };
    let plain = if digits == "0" { "0".to_owned() } else { plain };
    format!("{sign}{plain}")
}

/// A string of JSON, quotes included.
pub(crate) fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a string is always valid JSON")
}

/// A number of JSON; what is no number is null.
pub(crate) fn json_number(value: f64) -> String {
    if value.is_finite() && value == value.trunc() && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        serde_json::Number::from_f64(value).map_or_else(|| "null".to_owned(), |number| number.to_string())
    }
}

/// Text of XML, fit for elements and attributes. Characters that XML cannot hold are replaced.
pub(crate) fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push(' '),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// A string of Paje, quotes included. The format knows no escapes: quotes become apostrophes, control characters spaces.
pub(crate) fn paje(text: &str) -> String {
    let plain = |character: char| match character {
        '"' => '\'',
        character if character.is_control() => ' ',
        character => character,
    };
    let text: String = text.chars().map(plain).collect();
    format!("\"{text}\"")
}

/// One line of text: whatever breaks lines becomes a space, and words that nobody reads to the end are shortened.
pub(crate) fn line(text: &str) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    shortened(&text.chars().map(plain).collect::<String>()).into_owned()
}

/// A quantity in three digits with a prefix: `1.25 MB`.
pub(crate) fn quantity(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 9] = [
        (1e18, "E"),
        (1e15, "P"),
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
    ];
    if value == 0.0 || !value.is_finite() {
        return format!("{value} {unit}");
    }
    // What rounds up to 1000 belongs to the next prefix.
    let fits = |(scale, _): &(f64, &str)| value.abs() >= scale * 0.9995;
    let (scale, prefix) = PREFIXES.into_iter().find(fits).unwrap_or((1e-9, "n"));
    format!("{} {prefix}{unit}", three_digits(value / scale))
}

/// Part of a whole: `43 %`, `0.2 %`.
pub(crate) fn percent(ratio: f64) -> String {
    format!("{} %", three_digits(ratio * 100.0))
}

fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_exact() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1000000"),
            (0.1, "100000"),
            (1e-6, "1"),
            (1e-9, "0.001"),
            (1.5e-10, "0.00015"),
            (0.123456789012345, "123456.789012345"),
            (12.000000001, "12000000.001"),
            (1e10, "10000000000000000"),
            (-2.5e-7, "-0.25"),
            (f64::NAN, "0"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(microseconds(seconds), expected, "{seconds} s");
        }
    }

    #[test]
    fn microseconds_read_back_to_the_same_date() {
        let mut seconds = 1e-12_f64;
        while seconds < 1e9 {
            let exact: f64 = format!("{}e-6", microseconds(seconds)).parse().unwrap();
            assert_eq!(exact, seconds);
            seconds *= 1.7;
        }
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(xml("a<b>&\"c'\nd\te\u{1}"), "a&lt;b&gt;&amp;&quot;c&#39;&#10;d e\u{fffd}");
        assert_eq!(json("a\"b\\c\n\u{1}"), r#""a\"b\\c\n\u0001""#);
        assert_eq!(paje("say \"hi\"\nthere"), "\"say 'hi' there\"");
        assert_eq!(line("a\nb\tc"), "a b c");
    }

    #[test]
    fn json_numbers_are_short_and_valid() {
        assert_eq!(json_number(1e9), "1000000000");
        assert_eq!(json_number(0.5), "0.5");
        assert_eq!(json_number(1e300), "1e+300");
        assert_eq!(json_number(f64::INFINITY), "null");
    }

    #[test]
    fn quantities_have_three_digits() {
        let cases = [
            (0.0, "0 B"),
            (999.0, "999 B"),
            (999.6, "1 kB"),
            (1_250_000.0, "1.25 MB"),
            (12_345_678.0, "12.3 MB"),
            (0.0005, "500 µB"),
            (2.5e-9, "2.5 nB"),
        ];
        for (value, expected) in cases {
            assert_eq!(quantity(value, "B"), expected);
        }
        assert_eq!(
            (percent(0.4321), percent(1.0), percent(0.002)),
            ("43.2 %".into(), "100 %".into(), "0.2 %".into())
        );
    }
}
