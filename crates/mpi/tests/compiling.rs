//! The header, the modules and the library that programs are compiled with are what compilers take.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use simurgh_mpi::toolchain::{Asked, CommandLine, Compiler, Files, Language, Shown, command, shown};

/// A folder for one test, and the cache in it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("simurgh-compiling-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the folder is ours");
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("the folder is ours");
        path
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether there is a compiler; if not, says that nothing was tested.
fn is_there(language: Language) -> bool {
    let found = Compiler::find(language, None).is_ok();
    if !found {
        eprintln!("there is no compiler for {}: nothing is tested", language.name());
    }
    found
}

/// The files, once for all tests: compiling the modules takes seconds.
fn files() -> Files {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("toolchain");
    Files::ready_in(&folder).expect("the folder is ours")
}

fn works(output: std::io::Result<Output>) {
    let output = output.expect("it is called");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "there are no warnings");
}

#[test]
fn the_header_is_c_of_every_age_and_cxx() {
    let place = Place::new("header");
    let source = place.write("a.c", "#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n");
    for (language, standards) in [
        (Language::C, ["-std=c99", "-std=c11", "-std=gnu17"]),
        (Language::Cxx, ["-std=c++11", "-std=c++17", "-std=c++20"]),
    ] {
        if !is_there(language) {
            continue;
        }
        let compiler = Compiler::find(language, None).expect("it is there");
        for standard in standards {
            let mut call = compiler.call();
            call.args(["-fsyntax-only", "-Wall", "-Wextra", "-Wno-deprecated", standard, "-I"])
                .arg(files().include());
            if language == Language::Cxx {
                call.args(["-x", "c++"]);
            }
            works(call.arg(&source).output());
        }
    }
}

const FIXED: &str = "
      PROGRAM FIXED
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER IERR, STATUS(MPI_STATUS_SIZE), VALUES(4)
      DOUBLE PRECISION T
      CALL MPI_INIT(IERR)
      T = MPI_WTIME()
      CALL MPI_SEND(VALUES, 4, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, IERR)
      CALL MPI_RECV(T, 1, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD,
     &              MPI_STATUS_IGNORE, IERR)
      CALL MPI_RECV(T, 1, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD,
     &              STATUS, IERR)
      CALL MPI_FINALIZE(IERR)
      END
";

const FREE: &str = "
program free
  implicit none
  include 'mpif.h'
  integer :: ierr
  integer(kind=MPI_ADDRESS_KIND) :: address
  call MPI_Init(ierr)
  call MPI_Get_address(ierr, address, ierr)
  address = MPI_Aint_add(address, address)
  call MPI_Finalize(ierr)
end program
";

const MODULE: &str = "
program with_module
  use mpi
  use iso_c_binding
  implicit none
  integer :: ierr, keyval, newcomm, many, requests(2), statuses(MPI_STATUS_SIZE, 2)
  real :: one
  real(8) :: grid(4, 4, 4)
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  integer(kind=MPI_ADDRESS_KIND) :: extra
  type(c_ptr) :: memory
  call MPI_Init(ierr)
  call MPI_Bcast(one, 1, MPI_REAL, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(grid, 64, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Isend(grid(1, 1, 1), 1, MPI_DOUBLE_PRECISION, 0, tag=3, comm=MPI_COMM_WORLD, request=requests(1), ierror=ierr)
  call MPI_Irecv(grid(:, 1, 2), 4, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, statuses, ierr)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, one, 1, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, extra, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, newcomm, ierr)
  call MPI_Sizeof(grid, many, ierr)
  call MPI_Alloc_mem(extra, MPI_INFO_NULL, memory, ierr)
  call MPI_Alloc_mem(extra, MPI_INFO_NULL, extra, ierr)
  call MPI_Get_processor_name(name, many, ierr)
  if (MPI_Wtime() < 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  call MPI_Finalize(ierr)
end program
";

const MODERN: &str = "
module operators
contains
  subroutine add(invec, inoutvec, len, datatype)
    use mpi_f08
    use iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b
  end subroutine
end module
program modern
  use mpi_f08
  use operators
  implicit none
  integer :: me, many, ranks(2)
  integer :: grid(8, 8)
  integer(MPI_COUNT_KIND) :: large
  type(MPI_Comm) :: comm
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Op) :: op
  type(MPI_Win) :: win
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  if (comm == MPI_COMM_NULL .or. comm%MPI_VAL == 0) call MPI_Abort(comm, 1)
  call MPI_Isend(grid(::2, 1), 4, MPI_INTEGER, me, 1, comm, requests(1))
  large = 8
  call MPI_Irecv(grid(2, :), large, MPI_INTEGER, me, 1, comm, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Recv(grid, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status)
  print *, status%MPI_SOURCE, status%MPI_TAG
  call MPI_Op_create(add, .true., op)
  call MPI_Allreduce(MPI_IN_PLACE, grid, 64, MPI_INTEGER, op, comm)
  call PMPI_Barrier(comm)
  call MPI_Sizeof(grid, many)
  call MPI_Win_create(grid, 256_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, win)
  call MPI_F_sync_reg(grid)
  call MPI_Win_free(win)
  call MPI_Finalize()
end program
";

#[test]
fn fortran_of_every_kind_compiles_and_links() {
    if !is_there(Language::Fortran) || !is_there(Language::C) {
        return;
    }
    let place = Place::new("fortran");
    let compiler = Compiler::find(Language::Fortran, None).expect("it is there");
    let files = files();
    let modules = files.modules(&compiler).expect("the modules are compiled");
    files.fortran_library(&compiler).expect("the modules are compiled");
    let library = files.library(&compiler).expect("the library is made");
    for (name, text) in
        [("fixed.f", FIXED), ("free.f90", FREE), ("with_module.f90", MODULE), ("modern.f90", MODERN)]
    {
        let source = place.write(name, text);
        let program = place.0.join(name.split('.').next().expect("it has a name"));
        let mut call = compiler.call();
        // Calls of one procedure with buffers of several types are what `mpif.h` is about.
        if name == "fixed.f" {
            call.args(["-std=legacy", "-w"]);
        }
        call.arg("-I").arg(files.include()).arg("-I").arg(&modules).arg(source).arg("-o").arg(&program);
        call.current_dir(&place.0).arg("-Wl,--gc-sections,--gc-keep-exported").arg("-L").arg(&modules);
        works(call.arg("-L").arg(&library).args(["-lsimurgh_fortran", "-lmpi_abi"]).output());
        let names =
            Command::new("nm").arg("-D").arg(&program).output().expect("binutils come with the compiler");
        let names = String::from_utf8_lossy(&names.stdout).into_owned();
        assert!(
            names.contains("simurghmpi_") || name == "free.f90",
            "the special variables can be found: {names}"
        );
        assert!(!names.contains("simurgh_file_open"), "what is not called is left out: {names}");
    }
}

#[test]
fn a_program_that_is_run_by_itself_says_how_to_run_it() {
    if !is_there(Language::C) {
        return;
    }
    let place = Place::new("alone");
    let source = place.write("a.c", "#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n");
    let compiler = Compiler::find(Language::C, None).expect("it is there");
    let library = files().library(&compiler).expect("the library is made");
    let program = place.0.join("a");
    let mut call = compiler.call();
    call.arg("-I")
        .arg(files().include())
        .arg(source)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&library)
        .arg("-lmpi_abi");
    works(call.output());
    let mut run = Command::new(&program);
    let output = run.env("LD_LIBRARY_PATH", &library).env("PATH", "").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("simurgh run -n"));
}

#[test]
fn command_lines_gain_what_is_needed_and_no_more() {
    if !is_there(Language::C) {
        return;
    }
    let words = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
    let made = |text: &str| {
        let line = CommandLine::read(Language::C, words(text));
        let made = command(&line, &files()).expect("there is a compiler").words;
        made.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let compiling = made("-c a.c -o a.o");
    assert!(
        compiling.iter().any(|word| word.starts_with("-I"))
            && !compiling.iter().any(|word| word == "-lmpi_abi")
    );
    let linking = made("a.o -o a");
    assert_eq!(linking.last().map(String::as_str), Some("-lmpi_abi"));
    assert!(linking.iter().any(|word| word.starts_with("-Wl,-rpath,/")), "{linking:?}");
    let asking = CommandLine::read(Language::C, words("-showme:libs"));
    assert_eq!(asking.asked, Asked::Showing(Shown::Libraries));
    assert_eq!(shown(&asking, Shown::Libraries, "mpicc", &files()).expect("there is a compiler"), "mpi_abi");
}

/// Two calls with arguments of different types, of a procedure without an interface.
const MIXED: &str = "
      PROGRAM MIXED
      INCLUDE 'mpif.h'
      INTEGER IERR, WHOLE(4)
      REAL HALF
      CALL MPI_SEND(WHOLE, 4, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, IERR)
      CALL MPI_SEND(HALF, 1, MPI_REAL, 0, 1, MPI_COMM_WORLD, IERR)
      END
";

#[test]
fn old_fortran_may_send_what_it_likes() {
    if !is_there(Language::Fortran) {
        return;
    }
    let place = Place::new("mixed");
    let words =
        ["-c".into(), place.write("mixed.f", MIXED).into(), "-o".into(), place.0.join("mixed.o").into()];
    let line = CommandLine::read(Language::Fortran, words);
    let made = command(&line, &files()).expect("there is a compiler");
    let output = Command::new(&made.words[0]).args(&made.words[1..]).output().expect("it is called");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
