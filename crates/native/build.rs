//! Compiles the shim, the part of a program's C library that each process has for itself.

use std::path::PathBuf;
use std::process::Command;

const FILES: [&str; 10] = [
    "openmp.c",
    "start.c",
    "hosted.c",
    "stdio.c",
    "descriptors.c",
    "files.c",
    "time.c",
    "random.c",
    "misc.c",
    "getopt.c",
];

fn main() {
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-env-changed=CC");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where")).join("shim.so");
    let target = std::env::var("TARGET").unwrap_or_default();
    if !(target.starts_with("x86_64-") && target.contains("linux-gnu")) {
        // Programs are refused there, with a message.
        std::fs::write(&out, b"").expect("the folder for what is built can be written");
        return;
    }
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let status = Command::new(&compiler)
        .args([
            "-O2",
            "-fPIC",
            "-shared",
            "-nostdlib",
            "-fno-builtin",
            "-fno-stack-protector",
            "-U_FORTIFY_SOURCE",
        ])
        .args(["-fcf-protection=none", "-Wall", "-Wno-return-type", "-Werror=implicit-function-declaration"])
        .args(["-Wl,--hash-style=gnu", "-Wl,-soname,libsimurgh-shim.so", "-s", "-o"])
        .arg(&out)
        .args(FILES.map(|file| format!("shim/{file}")))
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{compiler} could not compile the shim of compiled programs: {status}"),
        Err(error) => {
            panic!("{compiler} does not run ({error}): install a C compiler (gcc), or say which by CC")
        }
    }
}
