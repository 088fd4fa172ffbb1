//! What cannot be run is refused, in a line that says what to do.

use std::path::Path;

use simurgh_native::Options;

use crate::harness::{Host, c, run};

fn refused(program: &Path) -> String {
    run(Host::new(), program.to_owned(), 1, Options::default()).err().expect("it is refused").to_string()
}

#[test]
fn programs_that_cannot_be_copied() {
    let fixed = c("int main(void) { return 0; }").with(&["-no-pie"]).compile();
    assert!(refused(&fixed).ends_with("compile with -fPIE and link with -pie"), "{}", refused(&fixed));
    let object = c("int main(void) { return 0; }").with(&["-c"]).compile();
    assert!(refused(&object).ends_with("is an object file; link it to a program"));
    let folder = object.parent().unwrap();
    assert!(refused(folder).ends_with("is a folder; name a program"));
    let script = folder.join("script");
    std::fs::write(&script, "#!/bin/sh\n").unwrap();
    assert!(refused(&script).ends_with("is a script; name the program that it starts"));
    std::fs::write(&script, "text").unwrap();
    assert!(refused(&script).ends_with("(no ELF file)"));
    assert!(refused(&folder.join("nothing")).ends_with("No such file or directory (os error 2)"));
    let mut bytes = std::fs::read(c("int main(void) { return 0; }").compile()).unwrap();
    bytes[18] = 183;
    std::fs::write(&script, &bytes).unwrap();
    assert!(refused(&script).ends_with("build it for x86-64"));
}

#[test]
fn libraries_that_are_missing() {
    let program = c("int my_rank(void); int main(void) { return my_rank(); }").compile();
    struct Nothing;
    impl simurgh_native::Personality for Nothing {}
    let error =
        simurgh_native::Image::read(&program, std::sync::Arc::new(Nothing)).err().unwrap().to_string();
    assert!(error.contains("needs the library libhost.so, which is not found"), "{error}");
}
