//! C++, Fortran and OpenMP; thread-local variables; executables of several kinds.

use simurgh_native::End;

use crate::harness::{c, cpp, fortran};

#[test]
fn cpp_streams_exceptions_and_statics() {
    let program = cpp(r#"
        #include <iostream>
        #include <vector>
        #include <string>
        #include <map>
        #include <stdexcept>
        #include <iomanip>
        #include <sstream>
        #include <random>
        extern "C" { int my_rank(void); void yield_now(void); }
        struct Loud { const char *name; Loud(const char *n) : name(n) { std::cout << "+" << n << std::endl; } ~Loud() { std::cout << "-" << name << std::endl; } };
        Loud global("global");
        template <class T> struct Counted { static int count; }; template <class T> int Counted<T>::count = 0;
        inline int &inlined() { static int value = 0; return value; }
        thread_local std::string mine = "tls";
        int main() {
            int r = my_rank(); static Loud local("local");
            std::cout << std::hex << 255 << std::dec; yield_now(); std::cout << " " << 255 << "\n";
            for (int i = 0; i <= r; i++) { Counted<int>::count++; inlined() += 2; mine += 'x'; yield_now(); }
            std::vector<std::map<int, std::string>> many(r + 1); many[r][3] = "three";
            try {
                try { yield_now(); throw std::runtime_error("number " + std::to_string(r)); }
                catch (std::exception &e) { yield_now(); std::cout << e.what() << "\n"; try { throw 7; } catch (int i) { yield_now(); std::cout << i << "\n"; } yield_now(); throw; }
            } catch (std::runtime_error &e) { std::cout << "again " << e.what() << "\n"; }
            std::ostringstream s; s << std::setprecision(3) << 3.14159; std::cout << s.str() << " " << Counted<int>::count << inlined() << mine << "\n";
            std::random_device d; std::mt19937 g(d()); std::cerr << g() << std::endl;
            return r;
        }"#);
    for count in [1, 3, 64] {
        let run = program.run(count);
        for rank in 0..count {
            assert_eq!(run.end(rank), End::Exited(rank as i32), "{}", run.err(rank));
            let xs = "x".repeat(rank + 1);
            let expected = format!(
                "+global\n+local\nff 255\nnumber {rank}\n7\nagain number {rank}\n3.14 {}{}tls{xs}\n-local\n-global\n",
                rank + 1,
                2 * rank + 2
            );
            assert_eq!(run.out(rank), expected);
        }
    }
}

#[test]
fn cpp_a_thousand_processes() {
    let run = cpp(r#"
        #include <iostream>
        extern "C" { int my_rank(void); void yield_now(void); }
        int main() { try { yield_now(); throw my_rank(); } catch (int i) { yield_now(); std::cout << i << std::endl; } }"#)
    .run(1024);
    for rank in 0..1024 {
        assert_eq!(run.out(rank), format!("{rank}\n"));
    }
}

#[test]
fn cpp_exceptions_that_nobody_catches() {
    let run = cpp(r#"
        #include <vector>
        #include <iostream>
        extern "C" { int my_rank(void); void yield_now(void); }
        int main() { yield_now(); std::vector<int> v; if (my_rank() == 1) return v.at(3); std::cout << "fine\n"; }"#)
    .run(3);
    assert!(matches!(run.end(1), End::Aborted(_)));
    assert!(run.err(1).contains("vector::_M_range_check"), "{}", run.err(1));
    assert_eq!((run.out(0), run.out(2)), ("fine\n".to_owned(), "fine\n".to_owned()));
}

#[test]
fn thread_local_variables() {
    for flags in [&["-fPIE", "-pie"][..], &["-fPIC", "-shared"], &["-fPIC", "-shared", "-mtls-dialect=gnu2"]]
    {
        let program = c(r#"
            #include <stdio.h>
            int my_rank(void); void yield_now(void);
            int target = 3; __thread int first = 42; __thread int zero; __thread int *pointer = &target; static __thread char large[5000];
            int main(void) { first += my_rank(); zero--; large[4999] = my_rank(); yield_now(); printf("%d %d %d %d\n", first, zero, *pointer, large[4999]); return 0; }"#)
        .with(flags);
        let run = program.run(20);
        for rank in 0..20 {
            assert_eq!(
                run.out(rank),
                format!("{} -1 3 {rank}\n", 42 + rank),
                "{flags:?} {:?}",
                run.end(rank)
            );
        }
    }
}

#[test]
fn executables_of_several_kinds() {
    let source = r#"
        #include <stdio.h>
        int my_rank(void); void yield_now(void);
        int data[100] = {1}; int *table[] = {&data[0], &data[5]}; void (*f)(void) = yield_now;
        static int one(void) { return 1; } static int (*choose(void))(void) { return one; }
        int chosen(void) __attribute__((ifunc("choose")));
        int main(void) { data[5] = my_rank(); f(); printf("%d %d\n", *table[1], chosen()); return 0; }"#;
    let kinds: [&[&str]; 6] = [
        &["-O2"],
        &["-s"],
        &["-Wl,-z,now", "-Wl,-z,relro"],
        &["-Wl,-z,norelro", "-Wl,-z,noseparate-code"],
        &["-Wl,-z,pack-relative-relocs"],
        &["-fPIC", "-shared"],
    ];
    for flags in kinds {
        let run = c(source).with(flags).run(5);
        for rank in 0..5 {
            assert_eq!(run.out(rank), format!("{rank} 1\n"), "{flags:?} {:?}", run.end(rank));
        }
    }
}

#[test]
fn fortran_units_common_and_saved_variables() {
    let program = fortran(
        r#"
program test
  implicit none
  interface
    function my_rank() bind(c); use iso_c_binding; integer(c_int) :: my_rank; end function
    subroutine yield_now() bind(c); end subroutine
  end interface
  integer :: shared, i, r
  common /block/ shared
  character(len=40) :: name, arg
  real :: x(3)
  r = my_rank(); shared = 10 * r
  call yield_now()
  call add(); call yield_now(); call add()
  call random_number(x)
  write(name, '(a,i0)') '/tmp/simurgh-native-f', r
  open(10, file=name); write(10, *) shared; call yield_now(); rewind(10); read(10, *) i; close(10, status='delete')
  call get_command_argument(0, arg)
  print '(a,3(1x,i0))', 'values', r, shared, i
  write(*, '(a)', advance='no') 'rest'
  if (r == 1) stop 3
  if (r == 2) error stop 4
  if (r == 3) then
    open(11, file='/nowhere/at/all')
  end if
contains
  subroutine add()
    integer, save :: calls = 0
    integer :: shared
    common /block/ shared
    calls = calls + 1; shared = shared + calls
  end subroutine
end program"#,
    );
    for count in [4, 64] {
        let run = program.run(count);
        for rank in 0..count {
            let shared = 10 * rank + 3;
            assert_eq!(
                run.out(rank),
                format!("values {rank} {shared} {shared}\nrest"),
                "{:?} {}",
                run.end(rank),
                run.err(rank)
            );
            let code = [0, 3, 4, 2].get(rank).copied().unwrap_or(0);
            assert_eq!(run.end(rank), End::Exited(code), "{}", run.err(rank));
        }
        assert!(run.err(3).contains("/nowhere/at/all"), "{}", run.err(3));
    }
}

#[test]
fn openmp_between_requests() {
    let program = c(r#"
        #include <omp.h>
        #include <stdio.h>
        #include <stdlib.h>
        int my_rank(void); void yield_now(void);
        static int mine = 5;
        #pragma omp threadprivate(mine)
        int main(void) {
            int r = my_rank(), sum = 0, threads = 0, right = 0;
            omp_set_num_threads(1 + r % 3); yield_now();
            for (int i = 0; i < 3; i++) {
                #pragma omp parallel reduction(+:sum)
                { threads = omp_get_num_threads(); char *p = malloc(100); sum += omp_get_thread_num() + 1; free(p);
                  #pragma omp atomic
                  right += mine == 5;
                  #pragma omp master
                  yield_now();
                }
                yield_now();
            }
            printf("%d %d %d\n", threads, sum, right); return 0;
        }"#)
    .with(&["-fopenmp"]);
    let run = program.run(12);
    for rank in 0..12 {
        let threads = 1 + rank % 3;
        assert_eq!(
            run.out(rank),
            format!("{threads} {} {}\n", 3 * threads * (threads + 1) / 2, 3 * threads),
            "{:?}",
            run.end(rank)
        );
    }
}
