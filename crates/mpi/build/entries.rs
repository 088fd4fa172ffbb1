//! The entry points that C programs call: each hands its arguments to the function of `src/calls` that does it.
//!
//! A function of `src/calls` has the name of its procedure without `MPI_`, in lower case. Counts and displacements that a
//! procedure takes as `int`, and its variant for large counts as `MPI_Count`, reach it as 64 bits either way.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::fortran::{ByHand, fortran};
use crate::table::{Parameter, Procedure};

/// Where the function is that does a procedure: the path of its module.
pub type Places = BTreeMap<String, String>;

/// Which of two variants of a procedure.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Width {
    Small,
    Large,
}

/// How an argument arrives from C, how it is handed on, and how it is told: what it is, and its value.
struct Argument {
    arrives: String,
    handed: String,
    told: Option<(String, String)>,
    /// Where an answer is written, if it is one: what it is, its place, and how many there are.
    answered: Option<(String, String)>,
}

pub const HANDLES: [&str; 11] =
    ["Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"];

/// The type in Rust of a scalar type of C.
fn scalar(kind: &str) -> Option<String> {
    Some(match kind {
        "int" | "MPI_Fint" | "MPI_T_cb_safety" | "MPI_T_source_order" => "i32".to_owned(),
        "MPI_Count" | "MPI_Aint" | "MPI_Offset" => "i64".to_owned(),
        "void" => "c_void".to_owned(),
        "char" => "c_char".to_owned(),
        "double" => "f64".to_owned(),
        "MPI_Status" | "MPI_F08_status" => "Status".to_owned(),
        other => {
            let name = other.strip_prefix("MPI_")?;
            if HANDLES.contains(&name) {
                name.to_owned()
            } else if name.starts_with("T_") && !name.ends_with("function") && !name.ends_with('*') {
                "usize".to_owned()
            } else {
                return None;
            }
        }
    })
}

/// The type in Rust of any type of C.
pub fn rust_type(kind: &str) -> String {
    if let Some(kind) = scalar(kind) {
        return kind;
    }
    if kind.ends_with("function") || kind.ends_with("function*") || kind.ends_with("function_c*") {
        return "usize".to_owned();
    }
    if let Some(element) = kind.strip_suffix("(*)[3]") {
        return format!("*const [{}; 3]", rust_type(element));
    }
    let (constness, kind) = match kind.strip_prefix("const ") {
        Some(rest) => ("const", rest),
        None => ("mut", kind),
    };
    match kind.strip_suffix('*') {
        Some(element) => format!("*{constness} {}", rust_type(element)),
        None => scalar(kind).unwrap_or_else(|| panic!("no type of C that is known: {kind:?}")),
    }
}

/// Whether an `int` here is a 64-bit number in the variant for large counts, or the other way round.
pub fn differs(parameter: &Parameter) -> bool {
    let narrow = |kind: &Option<String>| {
        kind.as_deref().is_some_and(|kind| kind.replace("const ", "").starts_with("int"))
    };
    parameter.large.is_some()
        && parameter.small.is_some()
        && narrow(&parameter.small) != narrow(&parameter.large)
}

fn argument(parameter: &Parameter, width: Width, procedure: &Procedure) -> Option<Argument> {
    let name = format!("{}_", parameter.name);
    let kind = if width == Width::Small { &parameter.small } else { &parameter.large };
    if parameter.small.as_deref() == Some("...") {
        return None;
    }
    let Some(kind) = kind else {
        if width == Width::Small && parameter.large.is_some() && procedure.large {
            // Only the variant for large counts has it.
            let pointer = parameter.large.as_deref().is_some_and(|kind| kind.ends_with('*'));
            let handed = if pointer { "CountsOut::none()".to_owned() } else { "0".to_owned() };
            return Some(Argument { arrives: String::new(), handed, told: None, answered: None });
        }
        return None;
    };
    let arrives = rust_type(kind);
    let wide = width == Width::Large;
    let only_large = parameter.small.is_none();
    let handed = if kind.ends_with("function_c*")
        || (procedure.large && kind.ends_with("_function*") && parameter.kind.starts_with("POLY"))
    {
        format!("Function::new({name}, {wide})")
    } else if only_large && kind.ends_with('*') {
        format!("CountsOut::new({name}.cast(), true)")
    } else if differs(parameter) && kind.ends_with('*') {
        if kind.starts_with("const ") {
            format!("Counts::new({name}.cast(), {wide})")
        } else {
            format!("CountsOut::new({name}.cast(), {wide})")
        }
    } else if differs(parameter) {
        format!("i64::from({name})")
    } else {
        name.clone()
    };
    let told = meaning(parameter, kind).map(|meaning| {
        let value = match arrives.as_str() {
            "i32" => format!("{name} as i64"),
            "i64" => name.clone(),
            pointer if pointer.starts_with('*') => format!("{name} as usize as i64"),
            _ => format!("{name}.0 as i64"),
        };
        (format!("(Meaning::{meaning}, {:?})", parameter.name), value)
    });
    let answered = answer(parameter, &arrives, procedure);
    Some(Argument { arrives: format!("{name}: {arrives}"), handed, told, answered })
}

/// What is written where an argument says, when the call is over: its kind and its size, and the place and how many. Buffers are
/// checked where they are used; so are arrays whose length the arguments do not say.
fn answer(parameter: &Parameter, arrives: &str, procedure: &Procedure) -> Option<(String, String)> {
    let name = parameter.name.as_str();
    let kind = parameter.kind.as_str();
    let element = arrives.strip_prefix("*mut ")?;
    let is_written = match parameter.direction.as_str() {
        "out" => !matches!(kind, "BUFFER" | "LOGICAL_VOID"),
        // What was freed, and how far a buffer is filled.
        "inout" => procedure.name.ends_with("_free") && kind != "REQUEST" || name == "position",
        _ => false,
    };
    if !is_written || procedure.name.starts_with("MPI_T_") {
        return None;
    }
    let has = |name: &str| procedure.parameters.iter().any(|other| other.name == name);
    let is_text = kind == "STRING";
    // A status is an array to Fortran.
    let is_array = parameter.dimensions.is_some()
        && !is_text
        && kind != "C_BUFFER2"
        && !(kind == "STATUS" && name == "status");
    let (meaning, count) = match name {
        "flag" => ("Flag", "1"),
        // Who has no room for it is told its length.
        _ if is_text && (has("buflen") || has("pset_len")) => return None,
        _ if is_text => ("Text", "1"),
        "outcount" => ("Number", "1"),
        _ if !is_array => ("One", "1"),
        _ if has("outcount") => ("Numbered", "1"),
        "ranks2" => ("One", "i64::from(n_)"),
        // As many as there are dimensions, which may be fewer.
        "coords" | "dims" | "periods" if has("maxdims") => ("One", "i64::from(maxdims_.min(1))"),
        "array_of_statuses" => ("One", "i64::from(count_)"),
        _ => return None,
    };
    let bytes = if element == "c_void" { "usize" } else { element };
    Some((
        format!("(Answer::{meaning}, std::mem::size_of::<{bytes}>())"),
        format!("({name}_ as usize, {count})"),
    ))
}

/// What an argument means to people who read of the call; nothing if they need not know of it.
fn meaning(parameter: &Parameter, kind: &str) -> Option<&'static str> {
    if parameter.direction == "out" {
        return None;
    }
    let is_array = parameter.dimensions.is_some();
    match (parameter.kind.as_str(), kind) {
        ("REQUEST", "MPI_Request*") if is_array => Some("Requests"),
        ("REQUEST", "MPI_Request*") => Some("Request"),
        (_, "MPI_Datatype") => Some("Datatype"),
        (_, "MPI_Comm") => Some("Comm"),
        (_, "MPI_Op") => Some("Op"),
        ("TAG", "int") => Some("Tag"),
        (elements, "int" | "MPI_Count") if elements.contains("XFER_NUM_ELEM") => Some("Count"),
        (_, "int") if ["dest", "source", "root", "target_rank"].contains(&parameter.name.as_str()) => {
            Some("Rank")
        }
        ("COLOR" | "KEY" | "ARRAY_LENGTH_NNI", "int") => Some("Number"),
        _ => None,
    }
}

/// The text of the entry points, and of the table of what is offered to programs; and the names in it.
pub fn entries(procedures: &[Procedure], places: &Places, by_hand: &ByHand) -> (String, Vec<String>) {
    let mut text = String::from("// Made by build.rs from the table of procedures.\n");
    let mut offered = Vec::new();
    for procedure in procedures {
        for (width, suffix) in [(Width::Small, ""), (Width::Large, "_c")] {
            if width == Width::Large && !procedure.large {
                continue;
            }
            let name = format!("{}{suffix}", procedure.name);
            let function = format!("{}{}", procedure.function(), suffix);
            text += &entry(procedure, width, &function, places);
            for prefix in ["", "P"] {
                offered.push((format!("{prefix}{name}"), format!("c::{function} as *const () as usize")));
            }
        }
    }
    let mut module = format!("pub mod c {{\nuse super::*;\n{text}}}\n");
    module += &fortran(procedures, by_hand, &mut offered);
    module += &procedures_enum(procedures, places);
    offered.sort();
    // A table, not a function that makes one: compilers are slow on functions of ten thousand lines.
    writeln!(module, "pub static OFFERED: &[Offered] = &[").expect("memory is there");
    for (name, address) in &offered {
        let address = address.trim_end_matches(" as usize");
        writeln!(module, "Offered {{ name: {name:?}, address: {address} }},").expect("memory is there");
    }
    let names = offered.into_iter().map(|(name, _)| name).collect();
    (module + "];\n", names)
}

/// All procedures by number, with their names and whether there is something behind them.
fn procedures_enum(procedures: &[Procedure], places: &Places) -> String {
    let mut text = String::from(
        "/// The names of the procedures, and whether they are implemented.\npub const PROCEDURES: &[(&str, bool)] = &[\n",
    );
    for procedure in procedures {
        writeln!(text, "({:?}, {}),", procedure.name, places.contains_key(&procedure.function()))
            .expect("memory is there");
    }
    text + "];\n"
}

fn entry(procedure: &Procedure, width: Width, function: &str, places: &Places) -> String {
    let arguments: Vec<_> =
        procedure.parameters.iter().filter_map(|parameter| argument(parameter, width, procedure)).collect();
    let arrives: Vec<_> = arguments
        .iter()
        .map(|argument| argument.arrives.as_str())
        .filter(|arrives| !arrives.is_empty())
        .collect();
    let handed: Vec<_> = arguments.iter().map(|argument| argument.handed.as_str()).collect();
    let returned = rust_type(&procedure.returns);
    let number = format!("Procedure::{}", variant(&procedure.name));
    let on = object(procedure, width);
    let call = match places.get(&procedure.function()) {
        None => format!("crate::entry::missing({:?})", procedure.name),
        Some(place) => {
            let call = format!("{place}::{}(me, {})", procedure.function(), handed.join(", "));
            // A type tells which variant has made it.
            let call = match width == Width::Large && procedure.name.starts_with("MPI_Type_") {
                true => format!("crate::entry::large(me, |me| {call})"),
                false => call,
            };
            // The integer of a handle is no error code.
            if procedure.returns == "int" && !procedure.name.ends_with("_toint") {
                let told: Vec<_> = arguments.iter().filter_map(|argument| argument.told.as_ref()).collect();
                let list = |of: fn(&(String, String)) -> &str| {
                    told.iter().map(|told| of(told)).collect::<Vec<_>>().join(", ")
                };
                let (meanings, values) = (list(|told| &told.0), list(|told| &told.1));
                // How many come before what is counted by it.
                let mut answered: Vec<_> =
                    arguments.iter().filter_map(|argument| argument.answered.as_ref()).collect();
                answered.sort_by_key(|(meaning, _)| {
                    !meaning.contains("::Flag") as u8 + meaning.contains("::Numbered") as u8
                });
                let list = |of: fn(&(String, String)) -> &str| {
                    answered.iter().map(|answered| of(answered)).collect::<Vec<_>>().join(", ")
                };
                let (answers, places) = (list(|answered| &answered.0), list(|answered| &answered.1));
                format!(
                    "crate::entry::called({number}, {on}, &Arguments {{ meanings: &[{meanings}], values: &[{values}], answers: &[{answers}], places: &[{places}] }}, |me| {call})"
                )
            } else {
                format!("crate::entry::answer({number}, |me| {call})")
            }
        }
    };
    let unused = if places.contains_key(&procedure.function()) { "" } else { "#[allow(unused_variables)]\n" };
    format!(
        "{unused}pub unsafe extern \"C\" fn {function}({}) -> {returned} {{ {call} }}\n",
        arrives.join(", ")
    )
}

/// Whose error handler is called: that of the first communicator, window, file or session among the arguments.
pub fn object(procedure: &Procedure, width: Width) -> String {
    let found = procedure.parameters.iter().find_map(|parameter| {
        let kind = if width == Width::Small { &parameter.small } else { &parameter.large };
        let name = kind.as_deref()?.strip_prefix("MPI_")?;
        ["Comm", "Win", "File", "Session"].contains(&name).then(|| format!("On::{name}({}_)", parameter.name))
    });
    found.unwrap_or_else(|| "On::Nothing".to_owned())
}

/// `CommSplitType` of `MPI_Comm_split_type`.
pub fn variant(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
    };
    name["MPI_".len()..].split('_').map(word).collect()
}

/// The procedures as an enumeration.
pub fn enumeration(procedures: &[Procedure]) -> String {
    let mut text = String::from(
        "/// A procedure of MPI.\n#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]\n#[repr(u16)]\n#[allow(missing_docs)]\npub enum Procedure {\n",
    );
    for procedure in procedures {
        writeln!(text, "    {},", variant(&procedure.name)).expect("memory is there");
    }
    text + "}\n"
}
