//! Prints a summary of a platform file, and with a second argument writes a drawing of it.
//!
//! `cargo run -p simurgh-platform --example show FILE [OUT.svg]`

use simurgh_platform::{Platform, summary, svg};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: show FILE [OUT.svg]");
        std::process::exit(2);
    };
    match Platform::from_file(&file) {
        Ok(platform) => {
            print!("{}", summary(&platform));
            if let Some(out) = arguments.next()
                && let Err(error) = std::fs::write(&out, svg::draw(&platform))
            {
                eprintln!("{out}: {error}");
                std::process::exit(1);
            }
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
