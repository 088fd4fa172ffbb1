//! The table of engines and systems in the documentation is what the engines need and the systems offer.

use std::path::Path;

use simurgh_search::engine::{Engine, OTHERS, Offer};

/// A table of all engines, in Markdown: what each needs of a system, and which systems offer that.
fn table(systems: &[(&str, &[Offer])]) -> String {
    let names: Vec<&str> = systems.iter().map(|(name, _)| *name).collect();
    let mut text = format!("| engine | goes through | needs | {} |\n", names.join(" | "));
    text += &format!("|{}\n", " --- |".repeat(3 + systems.len()));
    for (name, needs, what) in Engine::ALL.into_iter().map(Engine::facts).chain(OTHERS) {
        let offered = |(_, offers): &(&str, &[Offer])| {
            if needs.iter().all(|need| offers.contains(need)) { "yes" } else { "no" }
        };
        let offered: Vec<&str> = systems.iter().map(offered).collect();
        let needs: Vec<&str> = needs.iter().map(in_words).collect();
        text += &format!("| `{name}` | {what} | {} | {} |\n", needs.join(", "), offered.join(" | "));
    }
    text
}

fn in_words(offer: &Offer) -> &'static str {
    match offer {
        Offer::Steps => "steps",
        Offer::Independence => "independence",
        Offer::StateKeys => "state fingerprints",
        Offer::Cycles => "cycles",
        Offer::ReadsFrom => "reads-from",
        Offer::LocalStates => "local states",
    }
}

#[test]
fn the_table_of_engines_is_that_of_the_code() {
    let systems = [("actors", simurgh_explore::OFFERS), ("protocols", simurgh_protocol::OFFERS)];
    let expected = table(&systems);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/verify.md");
    let text = std::fs::read_to_string(&page).expect("the page is there");
    let (begin, end) = ("<!-- table of engines -->\n", "<!-- end of the table of engines -->");
    let from = text.find(begin).expect("it has a table of engines") + begin.len();
    let length = text[from..].find(end).expect("the table has an end");
    if std::env::var_os("SIMURGH_WRITE_TABLES").is_some() {
        let written = format!("{}{expected}{}", &text[..from], &text[from + length..]);
        std::fs::write(&page, written).expect("the page can be written");
        return;
    }
    assert_eq!(&text[from..from + length], expected, "SIMURGH_WRITE_TABLES=1 writes it anew");
}
