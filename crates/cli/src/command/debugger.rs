//! Stopping for a debugger.

use simurgh_actors::command_line::shell_word;
use simurgh_kernel::context::Place;

/// Whether a debugger watches this process; where that cannot be known, it is taken to.
pub(super) fn is_attached() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return true };
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_none_or(|tracer| tracer.trim() != "0")
}

/// What to do when there is none.
pub(super) fn how_to_attach() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let command: Vec<String> = words.map(|word| shell_word(&word)).collect();
    format!(
        "--break-at stops for a debugger, and none is there: start `gdb --args {}`, and in it `run`",
        command.join(" ")
    )
}

/// Stops the process, until the debugger lets it go on.
pub(super) fn stop(step: usize, who: &str, place: Option<Place>) {
    let from = place.map_or_else(String::new, |place| {
        format!(
            " from {place}; in gdb: `tbreak {}:{}` and `continue` lead to its next line",
            place.file,
            place.line + 1
        )
    });
    eprintln!("stopped before step {step}: {who} goes on{from}");
    // A debugger that is there takes the signal; the process does not see it.
    let _ = signal_hook::low_level::raise(signal_hook::consts::SIGTRAP);
}
