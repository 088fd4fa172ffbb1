//! Reports for those who run checks again and again: JUnit's XML for test runners, SARIF for what shows findings beside the code.
//!
//! Both are made of the objects that `--json` prints, one a program, so that programs may be checked in other processes.

use serde_json::{Value, json};
use simurgh_actors::Result;

use super::saved::SaveOptions;
use crate::command::simulate::write_file;

/// What came of checking a program.
pub(super) struct Case {
    /// What the program is called.
    pub name: String,
    /// What `--json` prints; or why it could not be checked.
    pub outcome: std::result::Result<Value, String>,
}

impl Case {
    /// Its verdict, in a word.
    pub(super) fn verdict(&self) -> &str {
        match &self.outcome {
            Ok(object) => object["verdict"].as_str().unwrap_or("cannot-run"),
            Err(_) => "cannot-run",
        }
    }

    /// How long it took, of two searches together.
    pub(super) fn seconds(&self) -> f64 {
        let Ok(object) = &self.outcome else { return 0.0 };
        match object["searches"].as_array() {
            Some(searches) => searches.iter().filter_map(|search| search["seconds"].as_f64()).sum(),
            None => object["seconds"].as_f64().unwrap_or(0.0),
        }
    }

    /// What went wrong.
    pub(super) fn findings(&self) -> &[Value] {
        let found = self.outcome.as_ref().ok().and_then(|object| object["counterexamples"].as_array());
        found.map_or(&[], Vec::as_slice)
    }
}

/// Writes the reports that were asked for.
///
/// # Errors
/// If a file cannot be written.
pub(super) fn write(cases: &[Case], options: &SaveOptions) -> Result {
    if let Some(path) = &options.junit {
        write_file(path, |out| out.write_all(junit(cases).as_bytes()))?;
    }
    if let Some(path) = &options.sarif {
        let text = serde_json::to_string_pretty(&sarif(cases)).expect("plain data becomes JSON");
        write_file(path, |out| writeln!(out, "{text}"))?;
    }
    Ok(())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Text as XML has it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(letter),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}

/// A test suite with a test case for each program.
fn junit(cases: &[Case]) -> String {
    let count = |verdicts: &[&str]| cases.iter().filter(|case| verdicts.contains(&case.verdict())).count();
    let seconds: f64 = cases.iter().map(Case::seconds).sum();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\"",
        cases.len(),
        count(&["violated", "deadlock"]),
        count(&["cannot-run"]),
        count(&["not-exhausted"])
    );
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n<testsuite name=\"simurgh check\" {counts}>\n"
    );
    for case in cases {
        let (name, seconds) = (escaped(&case.name), case.seconds());
        out += &format!("<testcase name=\"{name}\" classname=\"simurgh.check\" time=\"{seconds:.3}\">");
        match (&case.outcome, case.verdict()) {
            (Err(why), _) => out += &format!("<error message=\"{}\"/>", escaped(why)),
            (Ok(object), "not-exhausted") => {
                let why = object["stopped"].as_str().unwrap_or("not all was explored");
                out += &format!("<skipped message=\"not exhausted: {}\"/>", escaped(why));
            }
            _ => {
                for found in case.findings() {
                    out += &format!(
                        "\n<failure type=\"{}\" message=\"{}\">{}</failure>",
                        escaped(text(&found["finding"], "kind")),
                        escaped(text(found, "what")),
                        escaped(&told(found))
                    );
                }
            }
        }
        out += "</testcase>\n";
    }
    out + "</testsuite>\n</testsuites>\n"
}

/// A counterexample in lines: what, where, and the steps of the actors' own.
fn told(found: &Value) -> String {
    let mut out = format!("{}\n", text(found, "what"));
    let finding = &found["finding"];
    if let (Some(file), Some(line)) = (finding["file"].as_str(), finding["line"].as_u64()) {
        out += &format!("at {file}:{line}\n");
    }
    for step in steps(found) {
        let place = step["place"].as_str().map_or_else(String::new, |place| format!("  {place}"));
        out += &format!(
            "{:>4}  {}  {}{place}\n",
            step["number"].to_string(),
            name_of(found, step),
            text(step, "does")
        );
    }
    out
}

/// The calls that actors make, or else all steps.
fn steps(found: &Value) -> impl Iterator<Item = &Value> {
    found["calls"].as_array().or_else(|| found["steps"].as_array()).into_iter().flatten()
}

fn name_of<'a>(found: &'a Value, step: &Value) -> &'a str {
    step["actor"].as_u64().and_then(|actor| found["actors"][actor as usize].as_str()).unwrap_or("network")
}

/// What the kinds of findings mean, for whoever reads of a rule.
fn meaning(kind: &str) -> &'static str {
    match kind {
        "deadlock" => "Processes wait for each other for ever",
        "assertion" => "An assertion of the program does not hold",
        "crash" => "A process ends by a fault",
        "abort" => "A process calls MPI_Abort",
        "exit-code" => "A process ends with an exit code other than 0",
        "missing-finalize" => "A process ends without MPI_Finalize",
        "invalid-argument" => "A call of MPI is given what the standard does not allow",
        "call-order" => "A call of MPI comes before MPI_Init, after MPI_Finalize, or twice",
        "truncation" => "A message is longer than its receive",
        "type-mismatch" => "A message is received as something else than it was sent",
        "collective-mismatch" => "Processes call collectives that do not fit together",
        "request" => "A request is never started, never completed, or freed while it is active",
        "leak" => "An object of MPI is never freed",
        "buffer-race" => "Memory is touched while a communication owns it",
        "window-race" => "Accesses to a window conflict, and nothing orders them",
        "file-race" => "Accesses to a file conflict, and nothing orders them",
        "epoch" => "A window is accessed outside of an epoch for it",
        "ready-send" => "A ready send comes before its receive",
        "not-deterministic" => "What a process communicates depends on the order of messages",
        "invariant" => "An invariant does not hold",
        "unsupported" => "Simurgh cannot do what the program asks for",
        _ => "A process fails",
    }
}

/// SARIF 2.1.0: a result for each finding, with the steps of each actor as a flow.
fn sarif(cases: &[Case]) -> Value {
    let all: Vec<(&Case, &Value)> =
        cases.iter().flat_map(|case| case.findings().iter().map(move |found| (case, found))).collect();
    let mut kinds: Vec<&str> = all.iter().map(|(_, found)| text(&found["finding"], "kind")).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let rules: Vec<Value> = kinds
        .iter()
        .map(|kind| json!({ "id": kind, "shortDescription": { "text": meaning(kind) } }))
        .collect();
    let results: Vec<Value> = all.iter().map(|(case, found)| result(case, found, &kinds)).collect();
    let errors: Vec<Value> = cases
        .iter()
        .filter_map(|case| {
            let why = case.outcome.as_ref().err()?;
            Some(json!({ "level": "error", "message": { "text": format!("{}: {why}", case.name) } }))
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "Simurgh", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "invocations": [{
                "executionSuccessful": errors.is_empty(),
                "toolExecutionNotifications": errors,
            }],
            "results": results,
        }],
    })
}

fn result(case: &Case, found: &Value, kinds: &[&str]) -> Value {
    let finding = &found["finding"];
    let kind = text(finding, "kind");
    let mut result = json!({
        "ruleId": kind,
        "ruleIndex": kinds.iter().position(|other| *other == kind),
        "level": "error",
        "message": { "text": text(found, "what") },
        "properties": {
            "program": case.name,
            "rank": finding["rank"],
            "call": finding["call"],
            "schedule": found["schedule"],
        },
    });
    if let (Some(file), Some(line)) = (finding["file"].as_str(), finding["line"].as_u64()) {
        result["locations"] = json!([{ "physicalLocation": physical(file, line) }]);
    }
    let flows = flows(found);
    if !flows.is_empty() {
        result["codeFlows"] = json!([{ "threadFlows": flows }]);
    }
    result
}

fn physical(file: &str, line: u64) -> Value {
    json!({ "artifactLocation": { "uri": uri(file) }, "region": { "startLine": line } })
}

/// The steps of each actor that have a place.
fn flows(found: &Value) -> Vec<Value> {
    let mut flows: Vec<(&str, Vec<Value>)> = Vec::new();
    for step in steps(found) {
        let place = step["place"].as_str().and_then(|place| place.rsplit_once(':'));
        let Some((file, Ok(line))) = place.map(|(file, line)| (file, line.parse())) else { continue };
        let (who, what) = (name_of(found, step), text(step, "does"));
        let location = json!({
            "executionOrder": step["number"],
            "location": { "physicalLocation": physical(file, line), "message": { "text": what } },
        });
        match flows.iter_mut().find(|(name, _)| *name == who) {
            Some((_, locations)) => locations.push(location),
            None => flows.push((who, vec![location])),
        }
    }
    flows.into_iter().map(|(name, locations)| json!({ "id": name, "locations": locations })).collect()
}

/// A file as a reference (RFC 3986).
fn uri(file: &str) -> String {
    let mut uri = String::from(if file.starts_with('/') { "file://" } else { "" });
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char)
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_references() {
        assert_eq!(uri("src/a b.c"), "src/a%20b.c");
        assert_eq!(uri("/home/you/ä.c"), "file:///home/you/%C3%A4.c");
    }

    #[test]
    fn what_cannot_be_said_in_xml_is_left_out() {
        assert_eq!(escaped("a < b & \"c\"\u{1}"), "a &lt; b &amp; &quot;c&quot;\u{fffd}");
    }
}
