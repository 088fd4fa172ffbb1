//! The module `mpi_f08`, and its procedures: each hands its arguments to an entry point of ours. Handles and statuses lie in memory as
//! integers do, so that all but buffers are handed on as they are.

use std::fmt::Write;

use crate::entries::{Width, differs};
use crate::modules::{statement, values};
use crate::table::{Constant, Parameter, Procedure};

/// The variables that are known by their addresses: the same memory as in `mpif.h`.
const SPECIAL: &str = "
  integer :: MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC
  integer :: MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1), MPI_ERRCODES_IGNORE(1)
  type(MPI_Status) :: MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE(1)
  common /simurghmpi/ MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC
  common /simurghmpi/ MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY, MPI_ERRCODES_IGNORE
  common /simurghmpi/ MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE
  character(len=1) :: MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
  common /simurghmpc/ MPI_ARGV_NULL, MPI_ARGVS_NULL
  save /simurghmpi/, /simurghmpc/
  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .true.
  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .true.
";

/// What functions of programs look like.
const CALLBACKS: &str = "
  abstract interface
    subroutine MPI_User_function(invec, inoutvec, len, datatype)
      import
      type(c_ptr), value :: invec, inoutvec
      integer :: len
      type(MPI_Datatype) :: datatype
    end subroutine
    subroutine MPI_User_function_c(invec, inoutvec, len, datatype)
      import
      type(c_ptr), value :: invec, inoutvec
      integer(MPI_COUNT_KIND) :: len
      type(MPI_Datatype) :: datatype
    end subroutine
    subroutine MPI_Datarep_extent_function(datatype, extent, extra_state, ierror)
      import
      type(MPI_Datatype) :: datatype
      integer(MPI_ADDRESS_KIND) :: extent, extra_state
      integer :: ierror
    end subroutine
    subroutine MPI_Datarep_conversion_function(userbuf, datatype, count, filebuf, position, extra_state, ierror)
      import
      type(c_ptr), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer :: count, ierror
      integer(MPI_OFFSET_KIND) :: position
      integer(MPI_ADDRESS_KIND) :: extra_state
    end subroutine
    subroutine MPI_Datarep_conversion_function_c(userbuf, datatype, count, filebuf, position, extra_state, ierror)
      import
      type(c_ptr), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer(MPI_COUNT_KIND) :: count
      integer :: ierror
      integer(MPI_OFFSET_KIND) :: position
      integer(MPI_ADDRESS_KIND) :: extra_state
    end subroutine
    subroutine MPI_Grequest_query_function(extra_state, status, ierror)
      import
      integer(MPI_ADDRESS_KIND) :: extra_state
      type(MPI_Status) :: status
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_free_function(extra_state, ierror)
      import
      integer(MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine
    subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
      import
      integer(MPI_ADDRESS_KIND) :: extra_state
      logical :: complete
      integer :: ierror
    end subroutine
";

/// Functions that come with MPI, and what they look like.
const FUNCTIONS: [(&str, &str); 11] = [
    ("MPI_COMM_DUP_FN", "MPI_Comm_copy_attr_function"),
    ("MPI_COMM_NULL_COPY_FN", "MPI_Comm_copy_attr_function"),
    ("MPI_COMM_NULL_DELETE_FN", "MPI_Comm_delete_attr_function"),
    ("MPI_TYPE_DUP_FN", "MPI_Type_copy_attr_function"),
    ("MPI_TYPE_NULL_COPY_FN", "MPI_Type_copy_attr_function"),
    ("MPI_TYPE_NULL_DELETE_FN", "MPI_Type_delete_attr_function"),
    ("MPI_WIN_DUP_FN", "MPI_Win_copy_attr_function"),
    ("MPI_WIN_NULL_COPY_FN", "MPI_Win_copy_attr_function"),
    ("MPI_WIN_NULL_DELETE_FN", "MPI_Win_delete_attr_function"),
    ("MPI_CONVERSION_FN_NULL", "MPI_Datarep_conversion_function"),
    ("MPI_CONVERSION_FN_NULL_C", "MPI_Datarep_conversion_function_c"),
];

/// What is not made from the table.
const BY_HAND: &str = "
  subroutine MPI_F_sync_reg_f08ts(buf)
    type(*), dimension(..) :: buf
    interface
      subroutine simurgh_c(buf) bind(C, name=\"simurgh_f_sync_reg_ts\")
        type(*), dimension(..) :: buf
      end subroutine
    end interface
    call simurgh_c(buf)
  end subroutine
";

/// The text of the module of what functions of programs look like.
pub fn callbacks_module() -> String {
    let opening = "! Made from the tables of Simurgh.\nmodule simurgh_callbacks\n  use simurgh_types\n  implicit none\n  public\n";
    format!("{opening}{CALLBACKS}{}  end interface\nend module simurgh_callbacks\n", callbacks())
}

/// One of the procedures that programs call by one name.
struct Specific<'a> {
    procedure: &'a Procedure,
    width: Width,
}

/// The procedures by the names that programs call them by.
fn generics(procedures: &[Procedure]) -> Vec<(String, Vec<Specific<'_>>)> {
    let mut all = Vec::new();
    for procedure in procedures.iter().filter(|procedure| procedure.languages.contains('8')) {
        let one = |width| Specific { procedure, width };
        let mut same = vec![one(Width::Small)];
        if procedure.large && procedure.parameters.iter().any(differs) {
            same.push(one(Width::Large));
        } else if procedure.large
            && procedure.parameters.iter().any(|parameter| parameter.kind == "POLYFUNCTION")
        {
            // Only the functions differ, by which Fortran cannot tell them apart.
            all.push((format!("{}_c", procedure.name), vec![one(Width::Large)]));
        }
        all.push((procedure.name.clone(), same));
    }
    all
}

/// The text of the procedures. They are no part of the module, so that a program can have its own in their places.
pub fn procedures(procedures: &[Procedure]) -> String {
    let mut text = String::from("! The procedures of mpi_f08. Made from the tables of Simurgh.\n");
    text += BY_HAND;
    for Specific { procedure, width } in generics(procedures).iter().flat_map(|(_, all)| all) {
        text += &body(procedure, *width, &specific(procedure, *width));
    }
    // Kinds are those of the binary interface.
    [("MPI_ADDRESS_KIND", "8"), ("MPI_COUNT_KIND", "8"), ("MPI_OFFSET_KIND", "8"), ("MPI_STATUS_SIZE", "8")]
        .iter()
        .fold(text, |text, (name, value)| text.replace(name, value))
}

/// The text of the module.
pub fn module(procedures: &[Procedure], constants: &[Constant]) -> String {
    let mut text = String::from(
        "! The module mpi_f08 of MPI 5.0. Made from the tables of Simurgh.\nmodule mpi_f08\n  use simurgh_types\n  use simurgh_callbacks\n  use iso_c_binding, only: c_ptr\n  implicit none\n  public\n",
    );
    let kinds = ["MPI_ADDRESS_KIND", "MPI_COUNT_KIND", "MPI_OFFSET_KIND"];
    for value in values(constants).iter().filter(|value| !kinds.contains(&value.name.as_str())) {
        let (name, number) = (&value.name, value.value);
        match &value.handle {
            Some(handle) => {
                writeln!(text, "  type(MPI_{handle}), parameter :: {name} = MPI_{handle}({number})")
            }
            None if value.wide => writeln!(text, "  integer(8), parameter :: {name} = {number}_8"),
            None => writeln!(text, "  integer, parameter :: {name} = {number}"),
        }
        .expect("memory is there");
    }
    text += SPECIAL;
    for (name, kind) in FUNCTIONS {
        writeln!(text, "  procedure({kind}) :: {name}").expect("memory is there");
    }
    for prefix in ["", "P"] {
        let name = format!("{prefix}MPI_F_sync_reg");
        writeln!(
            text,
            "  interface {name}\n    subroutine {name}_f08ts(buf)\n      type(*), dimension(..) :: buf\n    end subroutine\n  end interface"
        )
        .expect("memory is there");
        for (name, all) in generics(procedures) {
            writeln!(text, "  interface {prefix}{name}").expect("memory is there");
            for Specific { procedure, width } in all {
                text += &interface(procedure, width, &format!("{prefix}{}", specific(procedure, width)));
            }
            text += "  end interface\n";
        }
    }
    text + "end module mpi_f08\n"
}

/// What a procedure looks like.
fn interface(procedure: &Procedure, width: Width, name: &str) -> String {
    let parameters: Vec<_> = procedure.fortran_parameters(width).collect();
    let names: Vec<_> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let (word, result) = match procedure.returns.as_str() {
        "int" => ("subroutine", None),
        "double" => ("function", Some("double precision")),
        _ => ("function", Some("integer(MPI_ADDRESS_KIND)")),
    };
    let mut text = statement(4, &format!("{word} {name}({})", names.join(", "))) + "      import\n";
    for parameter in parameters {
        text += &declaration(parameter, width, procedure.keeps_buffers(), false);
    }
    if let Some(result) = result {
        writeln!(text, "    {result} :: {name}").expect("memory is there");
    }
    writeln!(text, "    end {word}").expect("memory is there");
    text
}

/// Functions of attributes and of errors, of each kind of object.
fn callbacks() -> String {
    let mut text = String::new();
    for handle in ["Comm", "Type", "Win"] {
        let kind = if handle == "Type" { "Datatype" } else { handle };
        let lower = handle.to_lowercase();
        let (old, object) = match handle {
            "Type" => ("oldtype".to_owned(), "datatype".to_owned()),
            _ => (format!("old{lower}"), lower.clone()),
        };
        write!(
            text,
            "    subroutine MPI_{handle}_copy_attr_function({old}, {lower}_keyval, extra_state, attribute_val_in, &
        attribute_val_out, flag, ierror)
      import
      type(MPI_{kind}) :: {old}
      integer :: {lower}_keyval, ierror
      integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine
    subroutine MPI_{handle}_delete_attr_function({object}, {lower}_keyval, attribute_val, extra_state, ierror)
      import
      type(MPI_{kind}) :: {object}
      integer :: {lower}_keyval, ierror
      integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine
"
        )
        .expect("memory is there");
    }
    for (handle, name) in [("Comm", "comm"), ("Win", "win"), ("File", "file"), ("Session", "session")] {
        write!(
            text,
            "    subroutine MPI_{handle}_errhandler_function({name}, error_code)
      import
      type(MPI_{handle}) :: {name}
      integer :: error_code
    end subroutine
"
        )
        .expect("memory is there");
    }
    text
}

/// The name of one procedure among those that programs call by one name (MPI 5.0, 19.1.5).
fn specific(procedure: &Procedure, width: Width) -> String {
    let large = if width == Width::Large { "_c" } else { "" };
    let descriptors = if procedure.has_buffer() { "ts" } else { "" };
    format!("{}{large}_f08{descriptors}", procedure.name)
}

fn body(procedure: &Procedure, width: Width, name: &str) -> String {
    let parameters: Vec<_> = procedure.fortran_parameters(width).collect();
    let names: Vec<_> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let list = names.join(", ");
    let suffix = if width == Width::Large { "_c" } else { "" };
    let target = format!("simurgh_{}{suffix}", procedure.function());
    let asynchronous = procedure.keeps_buffers();
    let declared = |in_c: bool| {
        parameters
            .iter()
            .map(|parameter| declaration(parameter, width, asynchronous, in_c))
            .collect::<String>()
    };
    let has_function = parameters.iter().any(|parameter| parameter.kind.ends_with("FUNCTION"));
    let callbacks = if has_function { "    use simurgh_callbacks\n" } else { "" };
    let uses = format!("    use simurgh_types\n{callbacks}    implicit none\n");
    if procedure.returns != "int" {
        let kind =
            if procedure.returns == "double" { "double precision" } else { "integer(MPI_ADDRESS_KIND)" };
        return format!(
            "  function {name}({list}) result(answer)\n{uses}{}    {kind} :: answer\n    {kind}, external :: {target}\n    answer = {target}({list})\n  end function {name}\n",
            declared(false)
        );
    }
    let mut text = statement(2, &format!("subroutine {name}({list})"));
    text += &uses;
    text += &declared(false);
    let has_error = names.last() == Some(&"ierror");
    let passed = if has_error { names[..names.len() - 1].join(", ") } else { list };
    let passed = match (has_error, passed.is_empty()) {
        (false, _) => passed,
        (true, true) => "simurgh_error".to_owned(),
        (true, false) => format!("{passed}, simurgh_error"),
    };
    if has_error {
        text += "    integer :: simurgh_error\n";
    }
    if procedure.has_buffer() {
        let texts: Vec<_> = parameters.iter().filter(|parameter| parameter.kind == "STRING").collect();
        let lengths: String = texts.iter().map(|parameter| format!(", {}_len", parameter.name)).collect();
        let given: String =
            texts.iter().map(|parameter| format!(", len({}, kind=c_size_t)", parameter.name)).collect();
        let received = passed.replace("simurgh_error", "ierror");
        text += "    interface\n";
        text += &statement(
            6,
            &format!("subroutine simurgh_c({received}{lengths}) bind(C, name=\"{target}_ts\")"),
        );
        text += "        import\n";
        text += &declared(true);
        for parameter in texts {
            writeln!(text, "      integer(c_size_t), value :: {}_len", parameter.name)
                .expect("memory is there");
        }
        text += "      end subroutine\n    end interface\n";
        text += &statement(4, &format!("call simurgh_c({passed}{given})"));
    } else {
        writeln!(text, "    external :: {target}").expect("memory is there");
        text += &statement(4, &format!("call {target}({passed})"));
    }
    if has_error {
        text += "    if (present(ierror)) ierror = simurgh_error\n";
    }
    writeln!(text, "  end subroutine {name}").expect("memory is there");
    text
}

/// How a parameter is declared, by programs or where it is handed to C.
fn declaration(parameter: &Parameter, width: Width, asynchronous: bool, in_c: bool) -> String {
    let name = &parameter.name;
    if name == "ierror" {
        let optional = if in_c { "" } else { ", optional" };
        return format!("    integer{optional}, intent(out) :: ierror\n");
    }
    let c_type = parameter.in_c(width).unwrap_or_default();
    let given = c_type.trim_start_matches("const ").trim_end_matches('*');
    let intent = match (parameter.kind.as_str(), parameter.direction.as_str()) {
        ("FUNCTION" | "POLYFUNCTION", _) => "",
        // What is written to may be a constant that is known by its address.
        ("BUFFER", direction) if direction != "in" || !c_type.starts_with("const ") => "",
        ("STATUS", "out") => "",
        (_, "in") => ", intent(in)",
        (_, "inout") => ", intent(inout)",
        _ if parameter.is_array() => "",
        _ => ", intent(out)",
    };
    let kind = match parameter.kind.as_str() {
        "BUFFER" => {
            let asynchronous = if asynchronous { ", asynchronous" } else { "" };
            return format!("    type(*), dimension(..){intent}{asynchronous} :: {name}\n");
        }
        "C_BUFFER" | "C_BUFFER2" => return format!("    type(c_ptr){intent} :: {name}\n"),
        "STRING" if in_c => return format!("    character(kind=c_char){intent} :: {name}(*)\n"),
        "STRING" | "STRING_ARRAY" | "STRING_2DARRAY" => "character(len=*)".to_owned(),
        "FUNCTION" | "POLYFUNCTION" => return format!("    procedure({given}) :: {name}\n"),
        "STATUS" => {
            let dimensions = parameter.dimensions.as_deref().unwrap_or_default();
            let array = if dimensions.contains(',') { "(*)" } else { "" };
            return format!("    type(MPI_Status){intent} :: {name}{array}\n");
        }
        "F08_STATUS" => "type(MPI_Status)".to_owned(),
        "LOGICAL" | "LOGICAL_VOID" => "logical".to_owned(),
        _ => match given {
            "int" | "MPI_Fint" => "integer".to_owned(),
            "int(*)[3]" => "integer".to_owned(),
            "void" | "MPI_Aint" => "integer(MPI_ADDRESS_KIND)".to_owned(),
            "MPI_Count" => "integer(MPI_COUNT_KIND)".to_owned(),
            "MPI_Offset" => "integer(MPI_OFFSET_KIND)".to_owned(),
            handle => format!("type({handle})"),
        },
    };
    let dimensions = match parameter.dimensions.as_deref() {
        Some(dimensions) => dimensions.replace("COUNT", "count"),
        None if parameter.small.is_none() && parameter.name.starts_with("array_of") => "(*)".to_owned(),
        None => String::new(),
    };
    format!("    {kind}{intent} :: {name}{dimensions}\n")
}
