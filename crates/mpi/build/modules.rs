//! What Fortran programs include and use: `mpif.h`, the module `mpi`, and what `mpi_f08` shares with it.

use std::fmt::Write;

use crate::entries::{HANDLES, Width};
use crate::table::{Constant, Parameter, Procedure};

/// A constant as Fortran has it.
pub struct Value {
    pub name: String,
    /// `Comm` of a communicator.
    pub handle: Option<String>,
    /// Whether it has 64 bits.
    pub wide: bool,
    pub value: i64,
}

/// Constants that Fortran has beside those of C.
const OWN: [(&str, i64); 13] = [
    // Those of constructors that MPI 3.0 removed: no datatype says that it comes from one.
    ("MPI_COMBINER_HVECTOR_INTEGER", 118),
    ("MPI_COMBINER_HINDEXED_INTEGER", 119),
    ("MPI_COMBINER_STRUCT_INTEGER", 120),
    ("MPI_VERSION", 5),
    ("MPI_SUBVERSION", 0),
    ("MPI_STATUS_SIZE", 8),
    ("MPI_SOURCE", 1),
    ("MPI_TAG", 2),
    ("MPI_ERROR", 3),
    ("MPI_ADDRESS_KIND", 8),
    ("MPI_COUNT_KIND", 8),
    ("MPI_OFFSET_KIND", 8),
    ("MPI_INTEGER_KIND", 4),
];

/// Functions that come with MPI.
const FUNCTIONS: [&str; 13] = [
    "MPI_DUP_FN",
    "MPI_NULL_COPY_FN",
    "MPI_NULL_DELETE_FN",
    "MPI_COMM_DUP_FN",
    "MPI_COMM_NULL_COPY_FN",
    "MPI_COMM_NULL_DELETE_FN",
    "MPI_TYPE_DUP_FN",
    "MPI_TYPE_NULL_COPY_FN",
    "MPI_TYPE_NULL_DELETE_FN",
    "MPI_WIN_DUP_FN",
    "MPI_WIN_NULL_COPY_FN",
    "MPI_WIN_NULL_DELETE_FN",
    "MPI_CONVERSION_FN_NULL",
];

/// The variables that are known by their addresses, in the order of `src/fortran/special.rs`.
const SPECIAL: &str = "
      INTEGER MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC
      INTEGER MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)
      INTEGER MPI_ERRCODES_IGNORE(1)
      INTEGER MPI_STATUS_IGNORE(8), MPI_STATUSES_IGNORE(8,1)
      COMMON /SIMURGHMPI/ MPI_BOTTOM, MPI_IN_PLACE
      COMMON /SIMURGHMPI/ MPI_BUFFER_AUTOMATIC
      COMMON /SIMURGHMPI/ MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY
      COMMON /SIMURGHMPI/ MPI_ERRCODES_IGNORE
      COMMON /SIMURGHMPI/ MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE
      CHARACTER*1 MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
      COMMON /SIMURGHMPC/ MPI_ARGV_NULL, MPI_ARGVS_NULL
      SAVE /SIMURGHMPI/, /SIMURGHMPC/
";

/// The constants of Fortran.
pub fn values(constants: &[Constant]) -> Vec<Value> {
    let own = OWN.iter().map(|(name, value)| Value {
        name: (*name).to_owned(),
        handle: None,
        wide: false,
        value: *value,
    });
    let found = |name: &str| constants.iter().find(|constant| constant.name == name).expect("it is there");
    let others = constants.iter().filter_map(|constant| {
        let name = constant.name.clone();
        if ["MPI_T_", "MPI_F_"].iter().any(|prefix| name.starts_with(prefix)) {
            return None;
        }
        let meant = if constant.kind == "=" { found(&constant.value) } else { constant };
        let value: i64 = meant.value.parse().ok()?;
        let kind = meant.kind.strip_prefix("MPI_").unwrap_or(&meant.kind);
        match kind {
            // A text of Fortran has no zero at its end.
            "int" if name.starts_with("MPI_MAX_") => {
                Some(Value { name, handle: None, wide: false, value: value - 1 })
            }
            "int" => Some(Value { name, handle: None, wide: false, value }),
            "Offset" => Some(Value { name, handle: None, wide: true, value }),
            kind if HANDLES.contains(&kind) => {
                Some(Value { name, handle: Some(kind.to_owned()), wide: false, value })
            }
            _ => None,
        }
    });
    own.chain(others).collect()
}

/// Constants and variables, in lines that are right in fixed and in free form.
fn declarations(constants: &[Constant]) -> String {
    let mut text = String::new();
    for Value { name, wide, value, .. } in values(constants) {
        let kind = if wide { "INTEGER*8" } else { "INTEGER" };
        writeln!(text, "      {kind} {name}\n      PARAMETER ({name}={value})").expect("memory is there");
    }
    for name in ["MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"] {
        writeln!(text, "      LOGICAL {name}\n      PARAMETER ({name}=.FALSE.)").expect("memory is there");
    }
    text + SPECIAL
}

/// The text of `mpif.h`.
pub fn mpif(constants: &[Constant]) -> String {
    let mut text = String::from("! MPI 5.0 for Fortran. Made from the tables of Simurgh.\n");
    text += &declarations(constants);
    for prefix in ["", "P"] {
        writeln!(text, "      DOUBLE PRECISION {prefix}MPI_WTIME, {prefix}MPI_WTICK")
            .expect("memory is there");
        writeln!(text, "      EXTERNAL {prefix}MPI_WTIME, {prefix}MPI_WTICK").expect("memory is there");
        writeln!(text, "      INTEGER*8 {prefix}MPI_AINT_ADD, {prefix}MPI_AINT_DIFF")
            .expect("memory is there");
        writeln!(text, "      EXTERNAL {prefix}MPI_AINT_ADD, {prefix}MPI_AINT_DIFF")
            .expect("memory is there");
    }
    for name in FUNCTIONS {
        writeln!(text, "      EXTERNAL {name}").expect("memory is there");
    }
    text
}

/// Types and sizes that both modules share.
pub fn types() -> String {
    let mut text = String::from(
        "! Made from the tables of Simurgh.\nmodule simurgh_types\n  use iso_c_binding\n  implicit none\n  public\n  integer, parameter :: MPI_ADDRESS_KIND = 8, MPI_COUNT_KIND = 8, MPI_OFFSET_KIND = 8\n",
    );
    for handle in HANDLES {
        writeln!(text, "  type, bind(C) :: MPI_{handle}\n    integer :: MPI_VAL\n  end type MPI_{handle}")
            .expect("memory is there");
    }
    text += "  type, bind(C) :: MPI_Status
    integer :: MPI_SOURCE
    integer :: MPI_TAG
    integer :: MPI_ERROR
    integer :: MPI_internal(5)
  end type MPI_Status
";
    for (operator, word) in [("==", "is"), ("/=", "is_not")] {
        writeln!(text, "  interface operator({operator})").expect("memory is there");
        for handle in HANDLES {
            writeln!(text, "    module procedure simurgh_{word}_{handle}").expect("memory is there");
        }
        text += "  end interface\n";
    }
    text += "  interface MPI_Sizeof\n";
    for (name, _, _, guard) in sizes() {
        text += &guarded(guard, &format!("    module procedure simurgh_sizeof_{name}\n"));
    }
    text += "  end interface\n  interface PMPI_Sizeof\n";
    for (name, _, _, guard) in sizes() {
        text += &guarded(guard, &format!("    module procedure simurgh_sizeof_{name}\n"));
    }
    text += "  end interface\ncontains\n";
    for (operator, word) in [("==", "is"), ("/=", "is_not")] {
        for handle in HANDLES {
            let name = format!("simurgh_{word}_{handle}");
            writeln!(
                text,
                "  elemental function {name}(a, b) result(same)\n    type(MPI_{handle}), intent(in) :: a, b\n    logical :: same\n    same = a%MPI_VAL {operator} b%MPI_VAL\n  end function {name}"
            )
            .expect("memory is there");
        }
    }
    for (name, kind, size, guard) in sizes() {
        let name = format!("simurgh_sizeof_{name}");
        text += &guarded(
            guard,
            &format!(
                "  subroutine {name}(x, size, ierror)\n    {kind}, dimension(..) :: x\n    integer, intent(out) :: size\n    integer, optional, intent(out) :: ierror\n    size = {size}\n    if (present(ierror)) ierror = 0\n  end subroutine {name}\n"
            ),
        );
    }
    text + "end module simurgh_types\n"
}

fn guarded(guard: bool, text: &str) -> String {
    if guard { format!("#ifdef __GFORTRAN__\n{text}#endif\n") } else { text.to_owned() }
}

/// The types whose sizes `MPI_Sizeof` tells: name, declaration, bytes, and whether not all compilers have it.
fn sizes() -> Vec<(String, String, String, bool)> {
    let mut all = Vec::new();
    for bytes in [1, 2, 4, 8, 16] {
        for kind in ["integer", "logical"] {
            all.push((format!("{kind}{bytes}"), format!("{kind}({bytes})"), bytes.to_string(), bytes == 16));
        }
    }
    for kind in [4, 8, 10, 16] {
        let bytes = if kind == 10 { 16 } else { kind };
        all.push((format!("real{kind}"), format!("real({kind})"), bytes.to_string(), kind == 10));
        all.push((format!("complex{kind}"), format!("complex({kind})"), (2 * bytes).to_string(), kind == 10));
    }
    all.push(("character".to_owned(), "character(len=*)".to_owned(), "len(x)".to_owned(), false));
    all
}

/// The text of the module `mpi`.
pub fn module(procedures: &[Procedure], constants: &[Constant]) -> String {
    let mut text =
        String::from("! The module mpi of MPI 5.0. Made from the tables of Simurgh.\nmodule mpi\n");
    let types: Vec<_> = HANDLES.iter().map(|handle| format!("MPI_{handle}")).collect();
    text += &statement(
        2,
        &format!(
            "use simurgh_types, only: {}, MPI_Status, MPI_Sizeof, PMPI_Sizeof, operator(==), operator(/=), C_PTR",
            types.join(", ")
        ),
    );
    text += "  implicit none\n  public\n";
    text += &declarations(constants);
    for name in FUNCTIONS {
        writeln!(text, "  external :: {name}").expect("memory is there");
    }
    for prefix in ["", "P"] {
        for procedure in procedures.iter().filter(|procedure| procedure.languages.contains('f')) {
            let name = format!("{prefix}{}", procedure.name);
            let with_pointer = procedure.parameters.iter().any(|parameter| parameter.kind == "C_BUFFER");
            if with_pointer {
                writeln!(text, "  interface {name}").expect("memory is there");
                text += &interface(procedure, &name, false);
                text += &interface(procedure, &format!("{name}_cptr"), true);
            } else {
                text += "  interface\n";
                text += &interface(procedure, &name, false);
            }
            text += "  end interface\n";
        }
        let name = format!("{prefix}MPI_F_sync_reg");
        writeln!(
            text,
            "  interface\n    subroutine {name}(buf)\n{}    end subroutine {name}\n  end interface",
            anything("buf")
        )
        .expect("memory is there");
    }
    text + "end module mpi\n"
}

/// A dummy argument that any actual argument fits.
fn anything(name: &str) -> String {
    format!(
        "      !DEC$ ATTRIBUTES NO_ARG_CHECK :: {name}\n      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}\n      !$PRAGMA IGNORE_TKR {name}\n      !DIR$ IGNORE_TKR {name}\n      !IBM* IGNORE_TKR {name}\n      type(*), dimension(*) :: {name}\n"
    )
}

fn interface(procedure: &Procedure, name: &str, with_pointer: bool) -> String {
    let parameters: Vec<_> = procedure.fortran_parameters(Width::Small).collect();
    let names: Vec<_> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let word = if procedure.returns == "int" { "subroutine" } else { "function" };
    let mut text = statement(4, &format!("{word} {name}({})", names.join(", ")));
    text += "      import\n";
    match procedure.returns.as_str() {
        "int" => {}
        "double" => writeln!(text, "      double precision :: {name}").expect("memory is there"),
        _ => writeln!(text, "      integer(kind=MPI_ADDRESS_KIND) :: {name}").expect("memory is there"),
    }
    for parameter in parameters {
        text += &declaration(parameter, with_pointer);
    }
    writeln!(text, "    end {word} {name}").expect("memory is there");
    text
}

fn declaration(parameter: &Parameter, with_pointer: bool) -> String {
    let name = &parameter.name;
    let kind = parameter.fortran.as_deref().expect("it is there in Fortran");
    match parameter.kind.as_str() {
        "BUFFER" | "C_BUFFER2" => return anything(name),
        "C_BUFFER" if with_pointer => return format!("      type(C_PTR) :: {name}\n"),
        "FUNCTION" | "POLYFUNCTION" => return format!("      external :: {name}\n"),
        _ => {}
    }
    let kind = if kind == "CHARACTER*(*)" { "character(len=*)" } else { kind };
    let dimensions = parameter.dimensions.as_deref().unwrap_or_default();
    // The arrays of C whose lengths are arguments too.
    let dimensions = dimensions.replace("COUNT", "count");
    format!("      {} :: {name}{dimensions}\n", kind.to_lowercase())
}

/// A statement in free form, on as many lines as it needs.
pub fn statement(indent: usize, text: &str) -> String {
    let mut lines = String::new();
    let mut line = " ".repeat(indent);
    for word in text.split_inclusive(' ') {
        if line.len() + word.len() > 120 {
            lines += &format!("{}&\n", line);
            line = " ".repeat(indent + 4);
        }
        line += word;
    }
    lines + line.trim_end() + "\n"
}
