use crate::counterexample::told::{Difference, Exchanged, How, Taken};
use roxmltree::{Document, Node, ParsingOptions};
use simurgh_explore::Network;
use simurgh_explore::{Step, Violation};

use super::*;

/// Names that break a page which believes them.
const NASTY: [&str; 6] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "]]>&amp;<!--",
    "\" onclick=\"alert(1)",
    "{{title}}{{data}}",
    "tabs\tand\nlines\u{1}\u{2028}'`${1}\\",
];

fn step(number: usize, actor: u32, kind: &'static str, does: String) -> Taken {
    Taken {
        number,
        step: Step { actor, choice: 0 },
        actor: Some(actor),
        kind,
        does,
        mailbox: None,
        message: None,
        other: None,
        bytes: None,
        after: Vec::new(),
        place: Some(Place { file: "src/main.rs", line: 2 }),
        said: Vec::new(),
        shows: Vec::new(),
        fails: None,
        ..Taken::default()
    }
}

fn standing(actor: u32, how: How) -> Standing {
    Standing { actor, how, does: "does <something>".to_owned(), place: None, why: None }
}

/// Everybody sends to the next, which receives; in the end all are stuck.
fn ring(names: &[&str], does: &str) -> (Counterexample, Vec<Vec<Standing>>) {
    let count = names.len() as u32;
    let mut steps = Vec::new();
    for actor in 0..count {
        let sent = steps.len() + 1;
        let mut send = step(sent, actor, "send", format!("sends m{} to {does}", actor + 1));
        send.message = Some(actor + 1);
        let next = (actor + 1) % count;
        let mut receive = step(sent + 1, next, "receive", format!("receives m{} of {does}", actor + 1));
        receive.message = Some(actor + 1);
        receive.after = vec![sent];
        receive.said = vec![Said { actor: next, text: does.to_owned() }];
        receive.shows = vec![Shown { name: does.to_owned(), value: does.to_owned() }];
        steps.extend([send, receive]);
    }
    let standing: Vec<Standing> = (0..count).map(|actor| standing(actor, How::Waits)).collect();
    let mut standings = vec![standing.clone()];
    standings.resize(steps.len() + 1, Vec::new());
    let told = Counterexample {
        what: Some(format!("deadlock: {does}")),
        violation: Some(Violation::Deadlock { actors: (0..count).collect() }),
        place: Some(Place { file: "src/main.rs", line: 3 }),
        difference: None,
        network: Network::Mailbox,
        actors: names.iter().map(|&name| name.to_owned()).collect(),
        said: Vec::new(),
        shows: Vec::new(),
        steps,
        standing,
    };
    (told, standings)
}

fn page(told: &Counterexample, standings: &[Vec<Standing>]) -> String {
    let heading = Heading { program: NASTY.join(" "), replay: Some(NASTY.join(" ")) };
    let source = |file: &str| (file == "src/main.rs").then(|| NASTY[..3].join("\n"));
    in_html(told, standings, &heading, &source)
}

fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}: {page}"))
}

fn of_class<'a>(document: &'a Document<'_>, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'_, '_>| {
        node.attribute("class").is_some_and(|classes| classes.split(' ').any(|other| other == class))
    };
    document.root().descendants().filter(has).collect()
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).and_then(|value| value.parse().ok()).expect("a number")
}

#[test]
fn a_page_is_well_formed_whatever_things_are_called() {
    let (told, standings) = ring(&NASTY, &NASTY.join(" "));
    let page = page(&told, &standings);
    let document = parsed(&page);
    let named = |name: &str| document.root().descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((named("script"), named("img"), named("style")), (1, 0, 1), "{page}");
    let events = |node: Node<'_, '_>| node.attributes().any(|attribute| attribute.name().starts_with("on"));
    assert!(!document.root().descendants().any(events), "{page}");
    assert_eq!(of_class(&document, "step").len(), told.steps.len());
    assert_eq!(of_class(&document, "message").len(), NASTY.len());
    assert_eq!(of_class(&document, "stuck").len(), NASTY.len());
    let title =
        document.root().descendants().find(|node| node.has_tag_name("h1")).and_then(|node| node.text());
    assert!(title.is_some_and(|title| title.contains("</script><script>alert(1)</script>")), "{title:?}");
}

#[test]
fn the_script_knows_the_names_as_they_are() {
    let (told, standings) = ring(&NASTY, "plain");
    let page = page(&told, &standings);
    let line = page.lines().find_map(|line| line.strip_prefix("const data = ")).expect("there is data");
    let data: serde_json::Value = serde_json::from_str(line.trim_end_matches(';')).expect("it is JSON");
    let names: Vec<_> =
        data["actors"].as_array().expect("a list").iter().filter_map(|name| name.as_str()).collect();
    assert_eq!(names, NASTY);
    assert_eq!(data["steps"][1]["after"][0], 1);
    assert_eq!(data["steps"][0]["source"], serde_json::json!([0, 2, 1, [NASTY[0], NASTY[1], NASTY[2]]]));
    assert_eq!(data["stands"][0], serde_json::json!([0, "waits", "does <something>"]));
    assert!(!line.contains(['<', '>', '&']), "{line}");
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let (told, standings) = ring(&["a", "b"], "m");
    let page = page(&told, &standings).replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for outside in ["http:", "https:", "//cdn", "@import", "url(", "<link", "fetch("] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// With any number of actors, the label of a step ends before the line of the next actor, and no two rows are the same.
#[test]
fn labels_do_not_run_into_the_next_column() {
    for count in [1, 2, 3, 5, 20, 100] {
        let names: Vec<String> = (0..count).map(|n| format!("a rather long name of an actor {n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (told, standings) = ring(&names, "a mailbox of which the name is much too long to be shown");
        let page = page(&told, &standings);
        let document = parsed(&page);
        let mut lines: Vec<f64> = Vec::new();
        let mut rows: Vec<f64> = Vec::new();
        for step in of_class(&document, "step") {
            let circle = step.children().find(|node| node.has_tag_name("circle")).expect("a mark");
            lines.push(number(circle, "cx"));
            rows.push(number(circle, "cy"));
        }
        lines.sort_by(f64::total_cmp);
        lines.dedup();
        assert_eq!(lines.len(), count);
        assert!(rows.windows(2).all(|pair| pair[1] - pair[0] >= 20.0), "{rows:?}");
        for step in of_class(&document, "step") {
            let label = step.children().find(|node| node.has_tag_name("text")).expect("a label");
            let length = label.text().unwrap_or_default().chars().count();
            let end = number(label, "x") + length as f64 * 6.0;
            let next = lines.iter().find(|&&line| line > number(label, "x")).copied();
            let width = of_class(&document, "sheet")[0]
                .descendants()
                .find(|node| node.has_tag_name("svg"))
                .map(|node| number(node, "width"));
            let limit = next.or(width).expect("there is an end");
            assert!(end <= limit, "{count} actors: {:?} ends at {end}, beyond {limit}", label.text());
            assert!(length >= 8, "{count} actors: {:?}", label.text());
        }
    }
}

/// A message that passes another actor just where that one takes a step goes round it.
#[test]
fn an_arrow_does_not_lead_through_the_step_of_another() {
    let (mut told, standings) = ring(&["a", "b", "c"], "m");
    told.steps.truncate(3);
    for (index, (actor, kind)) in [(0, "send"), (1, "choose"), (2, "receive")].into_iter().enumerate() {
        told.steps[index] = step(index + 1, actor, kind, kind.to_owned());
    }
    told.steps[2].after = vec![1];
    let straight = |told: &Counterexample| {
        let page = page(told, &standings);
        let document = parsed(&page);
        let path = of_class(&document, "message")[0].attribute("d").expect("a path").to_owned();
        // M x y Q x y x y M...: the middle is on the line between the ends, or it is not.
        let numbers: Vec<f64> =
            path.split(['M', 'Q', 'L', ' ']).filter_map(|word| word.parse().ok()).collect();
        let line = (numbers[1] + numbers[5]) / 2.0;
        (numbers[3] - line).abs() < 1.0
    };
    assert!(!straight(&told));
    told.steps[1].actor = Some(0);
    assert!(straight(&told));
}

/// What differs from another execution stands out as what fails does.
#[test]
fn a_difference_stands_out_where_it_is() {
    let (mut told, standings) = ring(&["a", "b"], "m");
    let exchanged = |step| Exchanged { does: "goes <there>".to_owned(), step, place: None };
    let (here, there) = (exchanged(Some(3)), exchanged(None));
    told.violation = None;
    told.difference =
        Some(Difference { actor: 1, what: "sends", number: 1, here, there, schedule: Vec::new() });
    let page = page(&told, &standings);
    let document = parsed(&page);
    let wrong: Vec<_> =
        of_class(&document, "fails").iter().filter_map(|node| node.attribute("data-step")).collect();
    assert_eq!(wrong, ["3", "3"], "{page}");
}

#[test]
fn an_execution_in_which_nothing_happens_has_a_page() {
    let (mut told, _) = ring(&["a"], "m");
    told.steps.clear();
    told.violation = None;
    told.what = None;
    let page = page(&told, &[]);
    let document = parsed(&page);
    assert_eq!(of_class(&document, "step").len(), 0);
    assert!(page.contains("one of them takes no step and is not drawn"), "{page}");
}
