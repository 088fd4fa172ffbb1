//! Numbers with units, as platform files and scenarios write them: `"125MBps"`, `"1Gf"`, `"50us"`, `"2MiB"`.
//!
//! Prefixes k M G T P E Z Y are powers of 1000, Ki Mi Gi Ti... of 1024. A lower-case `b` is bits, an eighth of a
//! byte. A number without unit is in bytes a second, flop/s, seconds or bytes.

/// Bytes a second: `"125MBps"`, `"1Gbps"`, `"1e6"`.
pub fn parse_bandwidth(text: &str) -> Result<f64, String> {
    parse(text, &BANDWIDTH)
}

/// Flop a second: `"1Gf"`, `"98.095Mf"`.
pub fn parse_speed(text: &str) -> Result<f64, String> {
    parse(text, &SPEED)
}

/// Flop, an amount of work: `"1Gf"`, `"1e9"`.
pub fn parse_flops(text: &str) -> Result<f64, String> {
    parse(text, &FLOPS)
}

/// Seconds: `"50us"`, `"1.5h"`, `"2"`.
pub fn parse_time(text: &str) -> Result<f64, String> {
    parse(text, &TIME)
}

/// Bytes: `"2MiB"`, `"100"`, `"1Gb"` (125 MB).
pub fn parse_size(text: &str) -> Result<f64, String> {
    parse(text, &SIZE)
}

/// For people: `125 MBps`.
pub fn show_bandwidth(value: f64) -> String {
    show(value, "Bps")
}

/// For people: `1 Gf`.
pub fn show_speed(value: f64) -> String {
    show(value, "f")
}

/// For people: `50 us`.
pub fn show_time(seconds: f64) -> String {
    let (scale, unit) = match seconds.abs() {
        0.0 => (1.0, "s"),
        t if t < 1e-6 => (1e9, "ns"),
        t if t < 1e-3 => (1e6, "us"),
        t if t < 1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    };
    format!("{} {unit}", short(seconds * scale))
}

/// For people: `65,536`.
pub fn show_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

struct Quantity {
    /// What the text should be, for messages.
    what: &'static str,
    /// Unit, its value, and whether prefixes apply.
    units: &'static [(&'static str, f64, bool)],
}

const BANDWIDTH: Quantity =
    Quantity { what: "a bandwidth such as \"125MBps\"", units: &[("Bps", 1.0, true), ("bps", 0.125, true)] };
const SPEED: Quantity =
    Quantity { what: "a speed such as \"1Gf\"", units: &[("f", 1.0, true), ("flops", 1.0, true)] };
const FLOPS: Quantity = Quantity { what: "a number of flops such as \"1Gf\"", ..SPEED };
const SIZE: Quantity =
    Quantity { what: "a size such as \"2MiB\"", units: &[("B", 1.0, true), ("b", 0.125, true)] };
const TIME: Quantity = Quantity {
    what: "a time such as \"50us\"",
    units: &[
        ("s", 1.0, false),
        ("ms", 1e-3, false),
        ("us", 1e-6, false),
        ("ns", 1e-9, false),
        ("ps", 1e-12, false),
        ("m", 60.0, false),
        ("h", 3600.0, false),
        ("d", 86400.0, false),
        ("w", 604800.0, false),
    ],
};

const PREFIXES: [char; 8] = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];

fn parse(text: &str, quantity: &Quantity) -> Result<f64, String> {
    let trimmed = text.trim();
    let refuse = || format!("{text:?} is not {}", quantity.what);
    let (digits, unit) = split_number(trimmed);
    let number: f64 = digits.parse().map_err(|_| refuse())?;
    let scale = if unit.is_empty() { 1.0 } else { unit_value(unit, quantity).ok_or_else(refuse)? };
    // 50 / 1e6 is the double nearest to 50 us, 50 * 1e-6 is not.
    let value = if scale < 1.0 { number / (1.0 / scale).round() } else { number * scale };
    if !value.is_finite() {
        return Err(format!("{text:?} is too large a number"));
    }
    if value < 0.0 {
        return Err(format!("{text:?} is negative"));
    }
    Ok(value)
}

/// Cuts a text after its leading decimal number. An `E` is an exponent only if a number follows it: `1Ef` is exaflops.
fn split_number(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    while matches!(bytes.get(end), Some(b'0'..=b'9' | b'.')) {
        end += 1;
    }
    if end > 0 && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let mut exponent = end + 1;
        if matches!(bytes.get(exponent), Some(b'+' | b'-')) {
            exponent += 1;
        }
        if matches!(bytes.get(exponent), Some(b'0'..=b'9')) {
            while matches!(bytes.get(exponent), Some(b'0'..=b'9')) {
                exponent += 1;
            }
            end = exponent;
        }
    }
    (&text[..end], text[end..].trim_start())
}

fn unit_value(unit: &str, quantity: &Quantity) -> Option<f64> {
    quantity.units.iter().find_map(|&(name, value, prefixed)| {
        let prefix = unit.strip_suffix(name)?;
        if prefix.is_empty() {
            return Some(value);
        }
        if !prefixed {
            return None;
        }
        let (letter, base) = match prefix.strip_suffix('i') {
            Some(letter) => (letter, 1024.0_f64),
            None => (prefix, 1000.0_f64),
        };
        // Both "kB" and "KiB" are customary.
        let letter = if letter == "K" && base > 1000.0 { "k" } else { letter };
        let power = PREFIXES.iter().position(|p| letter.chars().eq([*p]))?;
        Some(value * base.powi(power as i32 + 1))
    })
}

fn show(value: f64, unit: &str) -> String {
    let mut scaled = value;
    let mut prefix = String::new();
    for p in PREFIXES {
        if scaled.abs() < 1000.0 {
            break;
        }
        scaled /= 1000.0;
        prefix = p.to_string();
    }
    format!("{} {prefix}{unit}", short(scaled))
}

/// At most six significant digits, without trailing zeros.
fn short(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { (5 - value.abs().log10().floor() as i32).clamp(0, 12) };
    let text = format!("{value:.*}", digits as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_units() {
        type Parser = fn(&str) -> Result<f64, String>;
        let table: &[(Parser, &str, f64)] = &[
            (parse_bandwidth, "125MBps", 125e6),
            (parse_bandwidth, "1Gbps", 125e6),
            (parse_bandwidth, "1.25E9Bps", 1.25e9),
            (parse_bandwidth, "1.06664e+06Bps", 1.06664e6),
            (parse_bandwidth, "10", 10.0),
            (parse_bandwidth, "1KiBps", 1024.0),
            (parse_bandwidth, "1MiBps", 1048576.0),
            (parse_bandwidth, "252.75kBps", 252_750.0),
            (parse_speed, "1Gf", 1e9),
            (parse_speed, "98.095Mf", 98.095e6),
            (parse_speed, "1Ef", 1e18),
            (parse_speed, "21.496E9f", 21.496e9),
            (parse_speed, "  0f ", 0.0),
            (parse_speed, "3Gflops", 3e9),
            (parse_time, "50us", 50e-6),
            (parse_time, "1.5h", 5400.0),
            (parse_time, "2m", 120.0),
            (parse_time, "1w", 604800.0),
            (parse_time, "0", 0.0),
            (parse_time, "1.0E-4s", 1e-4),
            (parse_time, "10 ps", 10e-12),
            (parse_size, "2MiB", 2097152.0),
            (parse_size, "8kb", 1000.0),
            (parse_size, "100", 100.0),
            (parse_size, "500GiB", 536870912000.0),
        ];
        for (parser, text, expected) in table {
            let value = parser(text).unwrap();
            assert_eq!(value, *expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        let table = [
            (parse_bandwidth(""), "\"\" is not a bandwidth such as \"125MBps\""),
            (parse_bandwidth("fast"), "\"fast\" is not a bandwidth such as \"125MBps\""),
            (parse_bandwidth("1MBs"), "\"1MBs\" is not a bandwidth such as \"125MBps\""),
            (parse_bandwidth("-5MBps"), "\"-5MBps\" is negative"),
            (parse_bandwidth("1e400"), "\"1e400\" is too large a number"),
            (parse_bandwidth("NaN"), "\"NaN\" is not a bandwidth such as \"125MBps\""),
            (parse_bandwidth("inf"), "\"inf\" is not a bandwidth such as \"125MBps\""),
            (parse_speed("1GHz"), "\"1GHz\" is not a speed such as \"1Gf\""),
            (parse_flops("nan"), "\"nan\" is not a number of flops such as \"1Gf\""),
            (parse_time("1.2.3s"), "\"1.2.3s\" is not a time such as \"50us\""),
            (parse_time("5ks"), "\"5ks\" is not a time such as \"50us\""),
            (parse_size("é"), "\"é\" is not a size such as \"2MiB\""),
        ];
        for (result, message) in table {
            assert_eq!(result.unwrap_err(), message);
        }
    }

    #[test]
    fn quantities_for_people() {
        assert_eq!(show_bandwidth(125e6), "125 MBps");
        assert_eq!(show_bandwidth(41_279_125.0), "41.2791 MBps");
        assert_eq!(show_speed(1e9), "1 Gf");
        assert_eq!(show_time(50e-6), "50 us");
        assert_eq!(show_time(0.0), "0 s");
        assert_eq!(show_time(0.0014615), "1.4615 ms");
        assert_eq!(show_time(2097152.0), "2097152 s");
        assert_eq!(
            [0, 999, 1000, 65536, 1234567].map(show_count),
            ["0", "999", "1,000", "65,536", "1,234,567"]
        );
    }
}
