//! Beginning, end, and what belongs to each process alone.

use simurgh_native::End;

use crate::harness::c;

#[test]
fn globals_are_private() {
    let program = c(r#"
        #include <stdio.h>
        int my_rank(void); void yield_now(void);
        int global = 7; static int zero; int *pointer = &global;
        int main(int argc, char **argv) {
            static int here = 1;
            for (int i = 0; i < 3; i++) { global += my_rank(); zero++; here *= 2; yield_now(); }
            printf("%d %d %d %d\n", my_rank(), *pointer, zero, here);
            return my_rank() % 5;
        }"#);
    for count in [1, 2, 64, 1024, 4096] {
        let run = program.run(count);
        for rank in 0..count {
            assert_eq!(run.end(rank), End::Exited(rank as i32 % 5));
            assert_eq!(run.out(rank), format!("{rank} {} 3 8\n", 7 + 3 * rank));
        }
    }
}
