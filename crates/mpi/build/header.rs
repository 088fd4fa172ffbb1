//! `mpi.h`: types, constants and prototypes, with the values of the standard binary interface.

use std::fmt::Write;

use crate::table::{Callback, Constant, Parameter, Procedure};

const OPENING: &str = "/* MPI 5.0, with the standard binary interface. Made from the tables of Simurgh. */
#ifndef SIMURGH_MPI_H
#define SIMURGH_MPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {
#endif

#define SIMURGH 1
#define MPI_VERSION 5
#define MPI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

typedef struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

typedef struct {
    MPI_Fint MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_F08_status;
#define MPI_F_STATUS_IGNORE ((MPI_Fint*)0)
#define MPI_F_STATUSES_IGNORE ((MPI_Fint*)0)
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status*)0)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status*)0)

typedef struct MPI_ABI_Op* MPI_Op;
typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Group* MPI_Group;
typedef struct MPI_ABI_Win* MPI_Win;
typedef struct MPI_ABI_File* MPI_File;
typedef struct MPI_ABI_Session* MPI_Session;
typedef struct MPI_ABI_Message* MPI_Message;
typedef struct MPI_ABI_Info* MPI_Info;
typedef struct MPI_ABI_Errhandler* MPI_Errhandler;
typedef struct MPI_ABI_Request* MPI_Request;
typedef struct MPI_ABI_Datatype* MPI_Datatype;
typedef struct MPI_T_enum_t* MPI_T_enum;
typedef struct MPI_T_cvar_handle_t* MPI_T_cvar_handle;
typedef struct MPI_T_pvar_handle_t* MPI_T_pvar_handle;
typedef struct MPI_T_pvar_session_t* MPI_T_pvar_session;
typedef struct MPI_T_event_instance_t* MPI_T_event_instance;
typedef struct MPI_T_event_registration_t* MPI_T_event_registration;
typedef int MPI_T_cb_safety;
typedef int MPI_T_source_order;

";

const CLOSING: &str = "
#ifdef __cplusplus
}
#endif
#endif
";

/// Names that the standard has removed, and that programs still use.
const FORMER_TYPES: &str = "
typedef MPI_Comm_errhandler_function MPI_Handler_function;
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
";

/// The text of the header.
pub fn header(procedures: &[Procedure], callbacks: &[Callback], constants: &[Constant]) -> String {
    let mut text = OPENING.to_owned();
    for Callback { name, returns, small, large } in callbacks {
        writeln!(text, "typedef {returns} {name}({small});").expect("memory is there");
        if let Some(large) = large {
            writeln!(text, "typedef {returns} {name}_c({large});").expect("memory is there");
        }
    }
    text += FORMER_TYPES;
    text.push('\n');
    for Constant { name, kind, value } in constants {
        let line = match kind.as_str() {
            "=" => format!("#define {name} {value}"),
            "int" => format!("#define {name} ({value})"),
            pointer => format!("#define {name} (({pointer}){value})"),
        };
        text += &line;
        text.push('\n');
    }
    for prefix in ["", "P"] {
        text.push('\n');
        for procedure in procedures {
            text += &prototype(prefix, procedure, "", |parameter| parameter.small.as_deref());
            if procedure.large {
                text += &prototype(prefix, procedure, "_c", |parameter| parameter.large.as_deref());
            }
        }
    }
    text + CLOSING
}

fn prototype(
    prefix: &str,
    procedure: &Procedure,
    suffix: &str,
    of: impl Fn(&Parameter) -> Option<&str>,
) -> String {
    let written = procedure.parameters.iter().filter_map(|parameter| {
        let kind = of(parameter)?;
        Some(match kind.strip_suffix("(*)[3]") {
            Some(element) => format!("{element} {}[][3]", parameter.name),
            None if kind == "..." => kind.to_owned(),
            None => format!("{kind} {}", parameter.name),
        })
    });
    let parameters = written.collect::<Vec<_>>().join(", ");
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters };
    format!("{} {prefix}{}{suffix}({parameters});\n", procedure.returns, procedure.name)
}
