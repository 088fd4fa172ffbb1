//! The reader of documents against another, which makes a tree: the same elements, or the same refusal.

use proptest::prelude::*;
use roxmltree::{Node, ParsingOptions};

use super::document::{Bookmark, Document};
use super::element::Element;
use super::{NODES_MAX, platform_from_text};
use crate::error::Error;

/// All that a reader of platforms can see of an element.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    depth: usize,
    tag: String,
    line: u32,
    /// Name, value, and whether it has a prefix.
    attributes: Vec<(String, String, bool)>,
    /// The first characters directly inside, and their line.
    text: (String, u32),
}

fn ours(text: &str, nodes_max: u32) -> Result<Vec<Seen>, String> {
    let told = |error: Error| match error {
        Error::Malformed { place, problem, .. } => format!("{}: {problem}", place.line.unwrap_or(0)),
        other => panic!("{other}"),
    };
    let (mut document, root) = Document::new(text, "d.xml", nodes_max).map_err(told)?;
    let mut all = Vec::new();
    look(&mut document, &root, &mut all).map_err(told)?;
    document.finish().map_err(told)?;
    for (bookmark, seen) in &mut all {
        let again = document.revisit(*bookmark).map_err(told)?;
        assert_eq!((again.tag(), again.line()), (&*seen.tag, seen.line), "come back to in {text:?}");
        assert_eq!(attributes(&again), seen.attributes, "come back to in {text:?}");
        seen.text = document.text(&again).map_err(told)?;
    }
    Ok(all.into_iter().map(|(_, seen)| seen).collect())
}

fn look<'t>(
    document: &mut Document<'t>,
    element: &Element<'t>,
    all: &mut Vec<(Bookmark, Seen)>,
) -> Result<(), Error> {
    let seen = Seen {
        depth: element.depth,
        tag: element.tag().to_owned(),
        line: element.line(),
        attributes: attributes(element),
        text: (String::new(), 0),
    };
    all.push((document.bookmark(element), seen));
    let mut child = Element::default();
    while document.child(element, &mut child)? {
        look(document, &child, all)?;
    }
    Ok(())
}

fn attributes(element: &Element<'_>) -> Vec<(String, String, bool)> {
    let one = |attribute: &super::element::Attribute<'_>| {
        (attribute.name.to_owned(), attribute.value.clone().into_owned(), attribute.is_prefixed)
    };
    element.attributes.iter().map(one).collect()
}

fn theirs(text: &str, nodes_limit: u32) -> Result<Vec<Seen>, String> {
    let options = ParsingOptions { allow_dtd: true, nodes_limit, ..Default::default() };
    let tree = roxmltree::Document::parse_with_options(text, options)
        .map_err(|error| format!("{}: this is not well-formed XML: {error}", error.pos().row))?;
    let line = |node: &Node<'_, '_>| tree.text_pos_at(node.range().start).row;
    let seen = |node: Node<'_, '_>| {
        let inside = node.children().find(Node::is_text);
        Seen {
            depth: node.ancestors().filter(Node::is_element).count(),
            tag: node.tag_name().name().to_owned(),
            line: line(&node),
            attributes: node
                .attributes()
                .map(|attribute| {
                    (
                        attribute.name().to_owned(),
                        attribute.value().to_owned(),
                        attribute.namespace().is_some(),
                    )
                })
                .collect(),
            text: inside.map_or((String::new(), line(&node)), |text| {
                (text.text().unwrap_or_default().to_owned(), line(&text))
            }),
        }
    };
    Ok(tree.descendants().filter(Node::is_element).map(seen).collect())
}

/// Says whether there is a document.
fn compare(text: &str) -> bool {
    let (mut ours, mut theirs) = (ours(text, NODES_MAX), theirs(text, NODES_MAX));
    // The other takes a carriage return beside a reference for another (section 2.11 does not).
    if text.contains('&') && text.contains('\r') {
        for seen in ours.iter_mut().chain(&mut theirs).flatten() {
            seen.text.0.retain(|letter| !matches!(letter, '\r' | '\n'));
        }
    }
    // Elements in an entity must be closed in it (section 4.3.2), which the other sees to in its own way.
    if text.contains("<!ENTITY") && ours.is_err() && theirs.is_err() {
        return false;
    }
    let shown = |refused: &Result<Vec<Seen>, String>| {
        refused.as_ref().err().map(|error| crate::error::one_line(error.clone()))
    };
    if ours.is_err() || theirs.is_err() {
        assert_eq!(shown(&ours), shown(&theirs), "{text:?}");
    }
    assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{text:?}");
    ours.is_ok()
}

#[test]
fn documents_that_are_read() {
    for text in [
        "<a/>",
        "<?xml version='1.0' encoding=\"utf-8\" standalone='yes' ?>\n<a\n>\n</a >\n<!-- end --> <?p?>\n",
        "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<a b='1' c = \"2\"/>",
        "<!DOCTYPE a PUBLIC 'x' 'y' [<!ELEMENT a (b)> <!ATTLIST a b CDATA ''> <!-- c --> <?p d?> ] ><a/>",
        "<!DOCTYPE a [<!ENTITY e 'x\ty'><!ENTITY % p \"q\"><!ENTITY f SYSTEM 'g' NDATA h>]>\n<a b='1&e;2\n3\r\n4\r5'>&e;</a>",
        "<!DOCTYPE a [<!ENTITY e \"<b c='1'/>\n<b>t</b>\">]>\n<a>\n &e;\n<c/>&e;u</a>",
        "<!DOCTYPE a [<!ENTITY e '&f;&f;'><!ENTITY f '&#60;&amp;&lt;'>]><a>&e;</a>",
        "<!DOCTYPE a [<!ENTITY e ''>]><a>&e;<b/>text</a>",
        "<a>1\r\n2\r3\n4&#13;5<![CDATA[<&\r\n]]>6<!-- -->7</a>",
        "<a>\n<!-- two\nlines -->\n<?and\nthree ?>\n<b>\n</b><![CDATA[\n]]><c/></a>",
        "<a b='\u{e9}\u{10000}' \u{e9}='&#xe9;&#233;&#x110000;'>\u{e9}</a>",
        "<a xmlns='u' xmlns:n='v'><n:b n:c='1' c='2' xml:lang='fr'/><b xmlns:m='w' m:c='' n:c=''/></a>",
        "<:a :b='1'></:a>",
        "<a b='>' c='\"' d=\"'\">] ]> &gt;</a>",
        "<a b1='' b2='' b3='' b4='' b5='' b6='&lt;'/>",
    ] {
        assert!(compare(text), "{text:?}");
    }
}

#[test]
fn documents_that_are_refused() {
    for text in [
        "",
        " ",
        "a",
        "<",
        "<a",
        "<a ",
        "<a b",
        "<a b=",
        "<a b='",
        "<a b='1'",
        "<a b='1'c='2'/>",
        "<a b='<'/>",
        "<a b='\u{1}<'/>",
        "<a b=1/>",
        "<a b>",
        "<a/ >",
        "<a>",
        "<a><",
        "<a></",
        "<a></a",
        "<a></b>",
        "<a><b></a></b>",
        "<n:a></a>",
        "<a/><b/>",
        "<a/>text",
        "text<a/>",
        "<1/>",
        "<a:/>",
        "<a:b:c/>",
        "<a:1/>",
        "<1:a/>",
        "<a 1='2'/>",
        "<a b='1' c='2' b='3'/>",
        "<a b1='' b2='' b3='' b4='' b5='' b5=''/>",
        "<a b1='' b2='' b3='' b4='' b5='' b2=''/>",
        "<n:a/>",
        "<a n:b='1'/>",
        "<a n:b='1' c='' c=''/>",
        "<a xmlns:n='u' xmlns:m='u' n:b='' m:b=''/>",
        "<a xmlns:n='u' xmlns:n='v'/>",
        "<a><b xmlns:n='u'/><n:c/></a>",
        "<a><b xmlns:n='u'></b><n:c/></a>",
        "<xmlns:a/>",
        "<a xmlns:xml='u'/>",
        "<a xmlns:n='http://www.w3.org/XML/1998/namespace'/>",
        "<a xmlns='http://www.w3.org/XML/1998/namespace'/>",
        "<a xmlns:n='http://www.w3.org/2000/xmlns/'/>",
        "<a xmlns='http://www.w3.org/2000/xmlns/'/>",
        "<a>\n]]></a>",
        "<a>\u{1}</a>",
        "<a>\u{ffff}</a>",
        "<a b='\u{fffe}'/>",
        "<a>&</a>",
        "<a>&b</a>",
        "<a>&b;</a>",
        "<a>&#;</a>",
        "<a>&#1;</a>",
        "<a>&#99999999999;</a>",
        "<a b='\n&b;'/>",
        "<a b='&lt'/>",
        "<a>&amp</a>;",
        "<a><!b></a>",
        "<a><!-- -- --></a>",
        "<a><!-- ---></a>",
        "<a><!-- \u{1} --></a>",
        "<a><!-- ",
        "<a><?</a>",
        "<a><?p ",
        "<a><?1?></a>",
        "<a><?xml version='1.0'?></a>",
        "<a><![CDATA[</a>",
        "<a><![CDATA[\u{1}]]></a>",
        " <?xml version='1.0'?><a/>",
        "<?xml encoding='utf-8'?><a/>",
        "<?xml version='1.0'encoding='utf-8'?><a/>",
        "<?xml version='1.0' other='1'?><a/>",
        "<?xml version='1.0'",
        "<?xml version='<'?>",
        "<!DOCTYPE",
        "<!DOCTYPE a",
        "<!DOCTYPE >",
        "<!DOCTYPE a b>",
        "<!DOCTYPE a SYSTEM>",
        "<!DOCTYPE a SYSTEM 'b>",
        "<!DOCTYPE a [",
        "<!DOCTYPE a [<!ELEMENT",
        "<!DOCTYPE a [b]>",
        "<!DOCTYPE a []b>",
        "<!DOCTYPE a []",
        "<a/><!DOCTYPE a>",
    ] {
        assert!(!compare(text), "{text:?}");
    }
}

#[test]
fn entities_that_are_refused() {
    for (text, expected) in [
        ("<!DOCTYPE a [<!ENTITY>]><a/>", "expected a whitespace not '>' at 1:22"),
        ("<!DOCTYPE a [<!ENTITY e f>]><a/>", "expected a quote, SYSTEM or PUBLIC not 'f' at 1:25"),
        ("<!DOCTYPE a [<!ENTITY e S>]><a/>", "invalid ExternalID at 1:25"),
        ("<!DOCTYPE a [<!ENTITY e 'f' g>]><a/>", "expected '>' not 'g' at 1:29"),
        ("<!DOCTYPE a [<!ENTITY e SYSTEM 'f'>]><a>&e;</a>", "unknown entity reference 'e' at 1:41"),
        ("<!DOCTYPE a [<!ENTITY e '&#60;'>]><a b='&e;'/>", "unescaped '<' found at 1:26"),
        ("<!DOCTYPE a [<!ENTITY e '</a>'>]><a>&e;</a>", "unexpected close tag at 1:26"),
        (
            "<!DOCTYPE a [<!ENTITY e '<b>'>]><a>&e;</b></a>",
            "an entity ends at 1:29 before the elements in it",
        ),
        (
            "<!DOCTYPE a [<!ENTITY e '&e;'>]><a>&e;</a>",
            "a possible entity reference loop is detected at 1:29",
        ),
        (
            "<!DOCTYPE a [<!ENTITY e '&e;'>]><a b='&e;'/>",
            "a possible entity reference loop is detected at 1:29",
        ),
    ] {
        let expected = format!("1: this is not well-formed XML: {expected}");
        assert_eq!(ours(text, NODES_MAX).unwrap_err(), expected);
        assert!(theirs(text, NODES_MAX).is_err(), "{text}");
    }
}

/// Two hundred bytes that stand for a billion must not be tried.
#[test]
fn a_billion_laughs_are_refused() {
    let mut laughs = "<!DOCTYPE a [<!ENTITY l0 'ha'>".to_owned();
    for level in 1..10 {
        laughs += &format!("<!ENTITY l{level} '{}'>", format!("&l{};", level - 1).repeat(10));
    }
    for document in [format!("{laughs}]><a>&l9;</a>"), format!("{laughs}]><a b='&l9;'/>")] {
        let refused = ours(&document, NODES_MAX).unwrap_err();
        assert!(refused.contains("a possible entity reference loop is detected"), "{refused}");
    }
}

#[test]
fn nodes_are_counted() {
    let text = "<?p?><a> <b/>text<![CDATA[same]]> run<!-- -->more<c></c></a>\n<!-- -->";
    let most = (1..30).find(|&most| theirs(text, most).is_ok()).unwrap();
    assert_eq!(ours(text, most - 1), Err("1: this is not well-formed XML: nodes limit reached".to_owned()));
    assert_eq!(ours(text, most), theirs(text, most));
}

#[test]
fn shapes_that_no_platform_has() {
    let deep = |depth: usize| format!("{}<b/>{}", "<a>".repeat(depth), "</a>".repeat(depth));
    assert!(compare(&deep(256)));
    assert_eq!(ours(&deep(257), NODES_MAX), Err("1: the elements are nested too deep".to_owned()));
    let wide = |count: usize| {
        let attributes: String = (0..count).map(|at| format!("\nb{at}=''")).collect();
        format!("<a{attributes}/>")
    };
    assert!(compare(&wide(256)));
    assert_eq!(ours(&wide(257), NODES_MAX), Err("1: an element has more than 256 attributes".to_owned()));
}

/// Pieces that are likely to mean something beside each other.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "<a>",
        "</a>",
        "<b/>",
        "<b c='1'/>",
        "<b c=\"2\" d='3'>",
        "</b>",
        "<b c='&lt;&e;\t'/>",
        "<n:b n:c='1' c='2'/>",
        "<b xmlns:n='u'>",
        "<b c='' c=''/>",
        "<a\nb\n=\n'\r\n'\n>",
        "</a\n>",
        "<!-- c\n -->",
        "<!--",
        "-->",
        "<?p q?>",
        "<?p",
        "?>",
        "<![CDATA[<a>]]>",
        "<![CDATA[",
        "]]>",
        "&amp;",
        "&e;",
        "&f;",
        "&#10;",
        "&",
        ";",
        "\r\n",
        "\r",
        "\n",
        " ",
        "text",
        "é",
        "\u{1}",
        "<",
        ">",
        "/",
        "=",
        "'",
        "\"",
        "<!",
        "</",
        "a",
        ":",
        "<é/>",
        "<b c='é'/>",
        "<b c='\u{fffe}'/>",
    ]);
    fixed.prop_map(str::to_owned)
}

/// Elements in elements, well-formed.
fn element() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "<a/>",
        "<a b='1'/>",
        "<c d=\"x\n&gt;\" e='é'/>",
        "text",
        "\n",
        "&lt;&#65;",
        "\r\n",
        "<!-- - -->",
        "<?p?>",
        "<![CDATA[]]]]>",
        "&e;",
        "<n:a n:b='' b='' xmlns:n='u'/>",
        "&f;",
    ]);
    let leaf = leaf.prop_map(str::to_owned);
    leaf.prop_recursive(6, 40, 6, |inner| {
        (prop::collection::vec(inner, 0..6), "[a-c]", prop::bool::ANY).prop_map(|(inside, tag, is_spread)| {
            let space = if is_spread { "\n" } else { "" };
            format!("<{tag}{space}>{}</{tag}{space}>", inside.concat())
        })
    })
}

fn beginning() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "",
        "",
        "\n",
        "<?xml version='1.0'?>\n",
        "<!DOCTYPE a SYSTEM 'b'>\n",
        "<!DOCTYPE a [<!ENTITY e 'x\r\n&f;'><!ENTITY f 'y'>]>\n",
        "<!DOCTYPE a [<!ENTITY e '<a b=\"&f;\">\n</a>'><!ENTITY f '&amp;'>]>",
        "<!DOCTYPE a [<!ENTITY f ''><!ENTITY e '&f;<!-- -->'>",
    ]);
    fixed.prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: simurgh_testing::cases(4000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn well_formed_or_nearly(start in beginning(), inside in prop::collection::vec(element(), 0..6), cut in prop::option::weighted(0.3, (0.0..1.0_f64, 1..4_usize))) {
        let mut text = format!("{start}<a>{}</a>\n", inside.concat());
        if let Some((at, length)) = cut {
            let letters: Vec<char> = text.chars().collect();
            let from = (at * letters.len() as f64) as usize;
            text = letters.iter().take(from).chain(letters.iter().skip(from + length)).collect();
        }
        compare(&text);
    }

    #[test]
    fn pieces_in_any_order(start in beginning(), pieces in prop::collection::vec(piece(), 0..12), is_inside in prop::bool::ANY) {
        let pieces = pieces.concat();
        compare(&if is_inside { format!("{start}<a>{pieces}</a>") } else { start + &pieces });
    }
}

/// So much must be read in seconds: references, line ends and entities are looked at once, wherever they are.
#[test]
#[expect(clippy::disallowed_methods, reason = "how long it takes is what is tested")]
fn what_is_not_plain_is_read_in_linear_time() {
    let limit = std::time::Duration::from_secs(10);
    let start = std::time::Instant::now();
    let values = "<prop id=\"a\" value=\"x &amp; y\ttab\"/>\n".repeat(200_000);
    let text = format!(
        "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"None\">\n{values}<host speed=\"1Gf\"/></zone></platform>"
    );
    let error = platform_from_text(&text, "values.xml", std::path::Path::new(".")).unwrap_err().to_string();
    assert!(error.starts_with("values.xml:200003: "), "{error}");
    let declared = format!("<!DOCTYPE a [<!ENTITY e 'x'>{}<!ENTITY f 'y'>]>", "\n".repeat(100_000));
    compare(&format!("{declared}<a>{}</a>", "&e;&f;".repeat(100_000)));
    assert!(start.elapsed() < limit, "{:?}", start.elapsed());
}
