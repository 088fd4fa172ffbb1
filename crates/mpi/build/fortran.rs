//! The entry points that Fortran programs call: each converts its arguments, and calls the entry point of C.
//!
//! All arguments come by reference; handles are integers, texts are padded with blanks and have their lengths after the last
//! argument, indices count from 1, and what C knows by a null pointer is known by the address of a variable. Whatever does not
//! follow from the table is written by hand in `src/fortran`.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::entries::{Width, rust_type};
use crate::table::{Parameter, Procedure};

/// Functions that are written by hand, and the modules they are in.
pub type ByHand = BTreeMap<String, String>;

/// Functions that come with MPI under several names.
const ALIASES: [(&str, &str); 8] = [
    ("mpi_type_dup_fn", "mpi_comm_dup_fn"),
    ("mpi_win_dup_fn", "mpi_comm_dup_fn"),
    ("mpi_type_null_copy_fn", "mpi_comm_null_copy_fn"),
    ("mpi_win_null_copy_fn", "mpi_comm_null_copy_fn"),
    ("mpi_null_copy_fn", "mpi_comm_null_copy_fn"),
    ("mpi_type_null_delete_fn", "mpi_comm_null_delete_fn"),
    ("mpi_win_null_delete_fn", "mpi_comm_null_delete_fn"),
    ("mpi_null_delete_fn", "mpi_comm_null_delete_fn"),
];

/// Whose conventions.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Style {
    /// `mpif.h` and the module `mpi`.
    Classic,
    /// The module `mpi_f08`: buffers come as descriptors.
    Descriptors,
}

impl Procedure {
    /// Whether it has a buffer of any type.
    pub fn has_buffer(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.kind == "BUFFER")
    }

    /// Whether `mpi_f08` needs another entry point than `mpif.h`.
    fn differs_in_f08(&self) -> bool {
        self.parameters.iter().any(|parameter| ["BUFFER", "C_BUFFER2"].contains(&parameter.kind.as_str()))
    }

    /// Its parameters in Fortran.
    pub fn fortran_parameters(&self, width: Width) -> impl Iterator<Item = &Parameter> {
        let is_there = move |parameter: &&Parameter| {
            parameter.fortran.is_some()
                || (width == Width::Large && parameter.small.is_none() && parameter.large.is_some())
        };
        self.parameters.iter().filter(is_there)
    }

    /// Whether the buffers belong to it for longer than the call.
    pub fn keeps_buffers(&self) -> bool {
        let name = &self.name["MPI_".len()..];
        let file =
            name.strip_prefix("File_").is_some_and(|rest| rest.starts_with('i') || rest.ends_with("_begin"));
        let immediate = name.starts_with('I') && !name.starts_with("Info") && !name.starts_with("Inter");
        let one_sided = [
            "Put",
            "Rput",
            "Get",
            "Rget",
            "Accumulate",
            "Raccumulate",
            "Get_accumulate",
            "Rget_accumulate",
            "Fetch_and_op",
            "Compare_and_swap",
        ];
        file || immediate || name.ends_with("_init") || one_sided.contains(&name)
    }

    /// Whether only the place of a buffer matters to it.
    fn wants_address(&self) -> bool {
        let names = ["Get_address", "Free_mem", "Win_create", "Win_attach", "Win_detach", "F_sync_reg"];
        let name = &self.name["MPI_".len()..];
        names.contains(&name)
            || name.ends_with("_end")
            || name.ends_with("attach_buffer")
            || name == "Buffer_attach"
    }
}

impl Parameter {
    /// Its type in C.
    pub fn in_c(&self, width: Width) -> Option<&str> {
        if width == Width::Small { self.small.as_deref() } else { self.large.as_deref() }
    }

    /// The handle that it is in C, or an array of them: `Comm`, and whether there is an asterisk.
    pub fn handle(&self, width: Width) -> Option<(&str, bool)> {
        let kind = self.in_c(width)?.trim_start_matches("const ");
        let (name, pointer) = match kind.strip_suffix('*') {
            Some(name) => (name, true),
            None => (kind, false),
        };
        let name = name.strip_prefix("MPI_")?;
        crate::entries::HANDLES.contains(&name).then_some((name, pointer))
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        self.dimensions.is_some()
    }
}

/// One entry point, being written.
#[derive(Default)]
struct Body {
    arrives: Vec<String>,
    lengths: Vec<String>,
    before: String,
    handed: Vec<String>,
    after: String,
}

/// The text of the entry points; the names under which each is offered go to `offered`.
pub fn fortran(procedures: &[Procedure], by_hand: &ByHand, offered: &mut Vec<(String, String)>) -> String {
    let mut text = String::new();
    for procedure in procedures.iter().filter(|procedure| procedure.languages.contains('f')) {
        let function = procedure.function();
        let classic = place(&function, by_hand).unwrap_or_else(|| {
            text += &entry(procedure, Width::Small, Style::Classic, &function);
            format!("f::{function}")
        });
        for prefix in ["mpi_", "pmpi_"] {
            offer(&format!("{prefix}{function}"), &classic, offered);
        }
        if !procedure.languages.contains('8') {
            continue;
        }
        for (width, suffix) in [(Width::Small, ""), (Width::Large, "_c")] {
            if width == Width::Large && !procedure.large {
                continue;
            }
            let own = format!("{function}{suffix}_08");
            let address = if width == Width::Small && !procedure.differs_in_f08() {
                classic.clone()
            } else if let Some(hand) = place(&own, by_hand) {
                hand
            } else {
                text += &entry(procedure, width, Style::Descriptors, &own);
                format!("f::{own}")
            };
            if procedure.has_buffer() {
                offered.push((format!("simurgh_{function}{suffix}_ts"), shown(&address)));
            } else {
                offer(&format!("simurgh_{function}{suffix}"), &address, offered);
            }
        }
    }
    for (function, module) in by_hand {
        let Some(own) = function.strip_prefix("also_") else { continue };
        let others = ALIASES.iter().filter(|(_, known)| *known == own).map(|(name, _)| *name);
        for name in others.chain([own]) {
            for prefix in ["", "p"] {
                offer(&format!("{prefix}{name}"), &format!("{module}::{function}"), offered);
            }
        }
    }
    format!("pub mod f {{\nuse super::*;\nuse crate::fortran::*;\n{text}}}\n")
}

fn place(function: &str, by_hand: &ByHand) -> Option<String> {
    by_hand.get(function).map(|module| format!("{module}::{function}"))
}

fn shown(address: &str) -> String {
    format!("{address} as *const () as usize")
}

/// All forms in which compilers write the name of an external procedure.
fn offer(name: &str, address: &str, offered: &mut Vec<(String, String)>) {
    for form in forms(name) {
        offered.push((form, shown(address)));
    }
}

/// All forms in which compilers write a name of Fortran.
pub fn forms(name: &str) -> [String; 4] {
    [format!("{name}_"), name.to_owned(), format!("{name}__"), name.to_uppercase()]
}

fn entry(procedure: &Procedure, width: Width, style: Style, name: &str) -> String {
    let suffix = if width == Width::Large { "_c" } else { "" };
    let mut body = Body::default();
    for parameter in &procedure.parameters {
        argument(procedure, parameter, width, style, &mut body);
    }
    let mut text = String::new();
    let mut arrives = body.arrives;
    arrives.push("ierror_: *mut i32".to_owned());
    arrives.append(&mut body.lengths);
    writeln!(text, "#[allow(unused_mut, unused_variables)]").expect("memory is there");
    writeln!(text, "pub unsafe extern \"C\" fn {name}({}) {{ unsafe {{", arrives.join(", "))
        .expect("memory is there");
    text += "let special = special();\n";
    text += &body.before;
    let called = format!("c::{}{suffix}", procedure.function());
    writeln!(text, "let result = {called}({});", body.handed.join(", ")).expect("memory is there");
    text += &body.after;
    text + "set(ierror_, result);\n}}\n"
}

/// The length of an array of handles.
fn length(procedure: &Procedure, parameter: &Parameter) -> String {
    let known: Vec<_> = procedure.parameters.iter().map(|other| other.name.as_str()).collect();
    let function = procedure.function();
    if function.contains("neighbor_alltoallw") {
        let which = if parameter.name.starts_with("send") { 1 } else { 0 };
        return format!("neighbors(Comm::from_fortran(*comm_)).{which}");
    }
    if function.contains("alltoallw") {
        return "peers(Comm::from_fortran(*comm_))".to_owned();
    }
    let name = ["max_datatypes", "incount", "count"]
        .into_iter()
        .find(|name| known.contains(name))
        .unwrap_or_else(|| panic!("{}: how long is {}?", procedure.name, parameter.name));
    format!("length(i64::from(*{name}_))")
}

fn argument(procedure: &Procedure, parameter: &Parameter, width: Width, style: Style, body: &mut Body) {
    let kind = parameter.kind.as_str();
    let Some(in_c) = parameter.in_c(width) else { return };
    let name = format!("{}_", parameter.name);
    let is_in_fortran = parameter.fortran.is_some() || parameter.small.is_none();
    assert!(
        is_in_fortran,
        "{}: {} is not there in Fortran: write it by hand",
        procedure.name, parameter.name
    );
    let fortran = parameter.fortran.as_deref().unwrap_or_default();
    let mut plain = |kind: &str, handed: String| {
        body.arrives.push(format!("{name}: {kind}"));
        body.handed.push(handed);
    };
    let note = |text: &mut String, line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    match kind {
        "BUFFER" if style == Style::Descriptors => buffer(procedure, parameter, width, body),
        "BUFFER" => plain("*mut c_void", format!("special.buffer({name})")),
        "C_BUFFER2" if style == Style::Classic => {
            plain("*mut c_void", "(&raw mut nothing).cast()".to_owned());
            note(&mut body.before, "let mut nothing: *mut c_void = std::ptr::null_mut();".to_owned());
        }
        "STRING" => {
            plain("*mut c_char", format!("{name}text.as_ptr()"));
            body.lengths.push(format!("{name}len: usize"));
            if parameter.direction == "in" {
                let stripped = procedure.name.starts_with("MPI_Info_");
                note(&mut body.before, format!("let {name}text = Text::new({name}, {name}len, {stripped});"));
            } else {
                let room = ["valuelen", "buflen", "pset_len"]
                    .into_iter()
                    .find(|known| procedure.parameters.iter().any(|other| other.name == *known))
                    .map_or("8192".to_owned(), |length| format!("length(i64::from(*{length}_))"));
                note(&mut body.before, format!("let {name}text = Room::new({room});"));
                note(&mut body.after, format!("{name}text.write({name}, {name}len);"));
            }
        }
        "STATUS" => plain("*mut Status", format!("special.status({name})")),
        "WEIGHT" => plain("*mut i32", format!("special.weights({name})")),
        "FUNCTION" | "POLYFUNCTION" => plain("usize", name.clone()),
        "INFO_VALUE_LENGTH" | "STRING_LENGTH" if parameter.direction == "inout" => {
            // In C the zero at the end counts.
            plain("*mut i32", format!("&raw mut {name}room"));
            note(
                &mut body.before,
                format!("let mut {name}room = if *{name} > 0 {{ *{name} + 1 }} else {{ 0 }};"),
            );
            note(&mut body.after, format!("if {name}room > 0 {{ *{name} = {name}room - 1; }}"));
        }
        "INDEX" if parameter.direction == "out" && procedure.name != "MPI_Graph_get" => {
            plain("*mut i32", name.clone());
            let line = if parameter.is_array() {
                format!("count_from_one({name}, *outcount_);")
            } else {
                format!("count_from_one({name}, 1);")
            };
            note(&mut body.after, line);
        }
        "LOGICAL" if !in_c.ends_with('*') => plain("*mut i32", format!("i32::from(*{name} != 0)")),
        _ if parameter.handle(width).is_some() => {
            let (handle, pointer) = parameter.handle(width).expect("it is one");
            let writes = !in_c.starts_with("const ") && parameter.direction != "in";
            if !pointer {
                plain("*mut i32", format!("{handle}::from_fortran(*{name})"));
            } else if parameter.is_array() {
                plain("*mut i32", format!("{name}all.as_mut_ptr()"));
                let length = length(procedure, parameter);
                let skipped = procedure.name.contains("lltoallw") && parameter.name == "sendtypes";
                let condition = if skipped && style == Style::Classic {
                    "special.is_in_place(sendbuf_)"
                } else if skipped {
                    "special.is_in_place(crate::fortran::address(sendbuf_))"
                } else {
                    "false"
                };
                let reads = parameter.direction != "out";
                note(
                    &mut body.before,
                    format!(
                        "let mut {name}all: Vec<{handle}> = if {condition} {{ Vec::new() }} else {{ handles({name}, {length}, {reads}, {handle}::from_fortran) }};"
                    ),
                );
                if writes {
                    note(&mut body.after, format!("put_handles(&{name}all, {name}, {handle}::to_fortran);"));
                }
            } else {
                plain("*mut i32", format!("&raw mut {name}own"));
                note(&mut body.before, format!("let mut {name}own = {handle}::from_fortran(*{name});"));
                if writes {
                    note(&mut body.after, format!("*{name} = {name}own.to_fortran();"));
                }
            }
        }
        // Addresses and the like that had no larger integer when the procedure was new.
        _ if fortran == "INTEGER"
            && in_c.trim_start_matches("const ").starts_with("MPI_Aint")
            && width == Width::Small =>
        {
            match (in_c.ends_with('*'), parameter.is_array()) {
                (false, _) => plain("*mut i32", format!("i64::from(*{name})")),
                (true, false) => {
                    plain("*mut i32", format!("&raw mut {name}own"));
                    note(&mut body.before, format!("let mut {name}own = 0_i64;"));
                    note(&mut body.after, format!("*{name} = {name}own as i32;"));
                }
                (true, true) => {
                    plain("*mut i32", format!("{name}all.as_mut_ptr()"));
                    let line = format!(
                        "let mut {name}all: Vec<i64> = handles({name}, length(i64::from(*count_)), true, i64::from);"
                    );
                    note(&mut body.before, line);
                }
            }
        }
        _ if in_c.ends_with("(*)[3]") => plain("*mut i32", format!("{name}.cast()")),
        _ if in_c.ends_with('*') => {
            let arrives = rust_type(in_c).replace("*const ", "*mut ");
            plain(&arrives, name.clone());
        }
        _ => {
            let arrives = format!("*mut {}", rust_type(in_c.trim_start_matches("const ")));
            plain(&arrives, format!("*{name}"));
        }
    }
}

/// A buffer that comes as a descriptor.
fn buffer(procedure: &Procedure, parameter: &Parameter, width: Width, body: &mut Body) {
    let name = format!("{}_", parameter.name);
    body.arrives.push(format!("{name}: *const Descriptor"));
    body.handed.push(format!("{name}place.address()"));
    let position =
        procedure.parameters.iter().position(|other| std::ptr::eq(other, parameter)).expect("it is there");
    let number = format!("Procedure::{}", crate::entries::variant(&procedure.name));
    let mut made = String::new();
    if procedure.wants_address() {
        write!(made, "let {name}place = Place::at(&special, {name});").expect("memory is there");
    } else if procedure.keeps_buffers() {
        // A datatype for the section takes the place of count and datatype, where they belong to this buffer alone.
        let followers: Vec<_> = procedure.parameters[position + 1..].iter().take(2).collect();
        match followers[..] {
            [count, datatype]
                if count.kind.contains("NUM_ELEM") && !count.is_array() && datatype.kind == "DATATYPE" && !datatype.is_array()
                    && !is_reduction(procedure) =>
            {
                let (count, datatype) = (format!("{}_", count.name), format!("{}_", datatype.name));
                let kind = rust_type(procedure.parameters[position + 1].in_c(width).expect("a count is there"));
                write!(
                    made,
                    "let mut {name}count = i64::from(*{count}); let mut {name}type = *{datatype};\n\
                     let {name}place = match Place::section(&special, {name}, &mut {name}count, &mut {name}type, {number}) {{ Ok(place) => place, Err(error) => {{ set(ierror_, error); return; }} }};\n\
                     let mut {name}small = {name}count as {kind};\nlet {count} = &raw mut {name}small; let {datatype} = &raw mut {name}type;"
                )
                .expect("memory is there");
            }
            _ => write!(
                made,
                "let {name}place = match Place::whole(&special, {name}, {number}) {{ Ok(place) => place, Err(error) => {{ set(ierror_, error); return; }} }};"
            )
            .expect("memory is there"),
        }
    } else {
        let writes = parameter.direction != "in";
        write!(made, "let {name}place = Place::copied(&special, {name}, {writes});")
            .expect("memory is there");
        if writes {
            writeln!(body.after, "drop({name}place);").expect("memory is there");
        }
    }
    body.before += &made;
    body.before.push('\n');
}

fn is_reduction(procedure: &Procedure) -> bool {
    procedure.name.contains("educe") || procedure.name.contains("scan")
}
