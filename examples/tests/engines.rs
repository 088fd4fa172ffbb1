//! The table of engines and systems in the documentation is what the engines need and the systems offer.

use std::path::Path;

use simurgh_search::engine::table;

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
