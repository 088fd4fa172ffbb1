//! Random MPI programs that are right, round by round, and mistakes of which it is known what is found.

use std::fmt::Write;

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    /// A number below another.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn flips(&mut self) -> bool {
        self.below(2) == 1
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// A program: what its processes do, and the same with one mistake.
pub struct Fuzzed {
    pub processes: usize,
    /// In how many ways its messages can be received; 0 if it also matters when it looks.
    pub ways: usize,
    pub right: String,
    pub wrong: String,
    /// The mistake, and what is found: one of these.
    pub mistake: &'static str,
    pub found: &'static [&'static str],
}

const DEADLOCK: &[&str] = &["deadlock"];
const REQUEST: &[&str] = &["[request]"];
const BUFFER: &[&str] = &["[buffer-race]"];
const LEAK: &[&str] = &["[leak]"];
const INVALID: &[&str] = &["[invalid-argument]"];
const MISMATCH: &[&str] = &["[collective-mismatch]"];
const WINDOW: &[&str] = &["[window-race]"];

type Mistake = (&'static str, &'static [&'static str]);

/// What all processes do before they go on with the next round.
#[derive(Clone, Debug)]
enum Round {
    /// One process sends to another.
    Message {
        from: usize,
        to: usize,
        send: &'static str,
        posts: bool,
        any: bool,
        probes: bool,
        later: bool,
    },
    /// Each process sends to the next.
    Ring {
        immediate: bool,
    },
    /// All others send to one, which receives from any.
    FanIn {
        root: usize,
        posts: bool,
    },
    Collective {
        which: &'static str,
        root: usize,
        immediate: bool,
    },
    Communicator,
    Type {
        strided: bool,
    },
    Window,
    /// One process sends to another, which polls.
    Poll {
        from: usize,
        to: usize,
        how: &'static str,
    },
    /// Partitions of one process for another, which looks for one of them.
    Partitions {
        from: usize,
        to: usize,
    },
    /// A send that is begun twice.
    Persistent {
        from: usize,
        to: usize,
    },
}

const ROOTED: [&str; 4] = ["Bcast", "Reduce", "Gather", "Scatter"];
const COLLECTIVES: [&str; 9] =
    ["Barrier", "Bcast", "Reduce", "Gather", "Scatter", "Allreduce", "Allgather", "Alltoall", "Scan"];

impl Round {
    fn new(random: &mut Random, n: usize) -> Self {
        let from = random.below(n);
        let to = (from + 1 + random.below(n - 1)) % n;
        match random.below(13) {
            0..=2 => {
                let (send, posts) = (random.of(&["Send", "Ssend", "Isend", "Issend"]), random.flips());
                let (any, probes, later) = (random.flips(), !posts && random.flips(), random.flips());
                Round::Message { from, to, send, posts, any, probes, later }
            }
            3 => Round::Ring { immediate: random.flips() },
            4 => Round::FanIn { root: random.below(n), posts: random.flips() },
            5 | 6 => {
                let which = random.of(&COLLECTIVES);
                Round::Collective { which, root: random.below(n), immediate: random.flips() }
            }
            7 => Round::Communicator,
            8 => Round::Type { strided: random.flips() },
            9 => Round::Window,
            10 => Round::Poll { from, to, how: random.of(&["Test", "Iprobe", "Testany"]) },
            11 => Round::Partitions { from, to },
            _ => Round::Persistent { from, to },
        }
    }

    fn ways(&self, n: usize) -> usize {
        match self {
            Round::FanIn { .. } => (1..n).product(),
            Round::Poll { .. } | Round::Partitions { .. } => 0,
            _ => 1,
        }
    }

    fn mistakes(&self, n: usize) -> Vec<Mistake> {
        match self {
            Round::Message { send, posts, .. } => {
                let mut all = vec![
                    ("tag", DEADLOCK),
                    ("no send", DEADLOCK),
                    ("short", &["[truncation]"]),
                    ("float", &["[type-mismatch]"]),
                    ("to nobody", INVALID),
                    ("negative tag", INVALID),
                ];
                if send.starts_with('I') {
                    all.extend([("no wait for send", REQUEST), ("store", BUFFER)]);
                }
                if *posts {
                    all.extend([("no wait for receive", REQUEST), ("load", BUFFER)]);
                }
                all
            }
            Round::Ring { .. } => vec![("load", BUFFER), ("receives first", DEADLOCK)],
            Round::FanIn { .. } => {
                let mut all = vec![("one is missing", DEADLOCK), ("one too many", DEADLOCK)];
                all.extend((n > 2).then_some(("order", ["aborted"].as_slice())));
                all
            }
            Round::Collective { which, immediate, .. } => {
                let mut all = vec![("another collective", MISMATCH)];
                all.push(("not by all", &["[collective-mismatch]", "deadlock"]));
                all.extend(ROOTED.contains(which).then_some(("another root", MISMATCH)));
                let reduces = ["Reduce", "Allreduce", "Scan"].contains(which);
                all.extend(reduces.then_some(("another operator", MISMATCH)));
                all.extend(immediate.then_some(("no wait", REQUEST)));
                all
            }
            Round::Communicator => vec![("not freed", LEAK), ("freed before", INVALID)],
            Round::Type { .. } => vec![("not freed", LEAK), ("not committed", INVALID)],
            Round::Window => {
                let mut all = vec![("not freed", LEAK), ("no fence", &["[epoch]"]), ("load", WINDOW)];
                all.extend((n > 2).then_some(("one place", WINDOW)));
                all
            }
            Round::Poll { .. } => vec![("at once", &["aborted"]), ("no send", DEADLOCK)],
            Round::Partitions { .. } => vec![("store", BUFFER), ("not ready", DEADLOCK), ("load", BUFFER)],
            Round::Persistent { .. } => {
                vec![("not freed", REQUEST), ("store", BUFFER), ("not started", DEADLOCK)]
            }
        }
    }

    /// What is done in a round, and what at the end of the program.
    fn text(&self, r: usize, n: usize, mistake: &str) -> (String, String) {
        let is = |name: &str| mistake == name;
        let (mut now, mut end) = (String::new(), String::new());
        match self {
            Round::Message { from, to, send, posts, any, probes, later } => {
                let value = 100 * r + from;
                let destination = if is("to nobody") { n } else { *to };
                let tag = if is("negative tag") { -5 } else { r as i32 };
                let request = if send.starts_with('I') { format!(", &sent[{r}]") } else { String::new() };
                let waits = if send.starts_with('I') && !is("no wait for send") {
                    format!("if (rank == {from}) MPI_Wait(&sent[{r}], IGNORE);")
                } else {
                    String::new()
                };
                if !is("no send") {
                    let store = if is("store") { format!("out[{r}][1]++;") } else { String::new() };
                    let _ = write!(
                        now,
                        "if (rank == {from}) {{ out[{r}][0] = {value}; MPI_{send}(out[{r}], 2, MPI_INT, {destination}, {tag}, WORLD{request}); {store} }} "
                    );
                    if *later { &mut end } else { &mut now }.push_str(&waits);
                }
                let source = if *any { "MPI_ANY_SOURCE".to_owned() } else { from.to_string() };
                let count = if is("short") { 1 } else { 2 };
                let of = if is("float") { "MPI_FLOAT" } else { "MPI_INT" };
                let tag = if is("tag") { r + 50 } else { r };
                if *probes {
                    let _ = write!(now, "if (rank == {to}) MPI_Probe({source}, {tag}, WORLD, IGNORE); ");
                }
                let expect = format!("expect(in[{r}][0], {value});");
                if *posts {
                    let load = if is("load") { format!("seen = in[{r}][0];") } else { String::new() };
                    let _ = write!(
                        now,
                        "if (rank == {to}) {{ MPI_Irecv(in[{r}], {count}, {of}, {source}, {tag}, WORLD, &got[{r}]); {load} }} "
                    );
                    if !is("no wait for receive") {
                        let waits = format!("if (rank == {to}) {{ MPI_Wait(&got[{r}], IGNORE); {expect} }} ");
                        if *later { &mut end } else { &mut now }.push_str(&waits);
                    }
                } else {
                    let _ = write!(
                        now,
                        "if (rank == {to}) {{ MPI_Recv(in[{r}], {count}, {of}, {source}, {tag}, WORLD, IGNORE); {expect} }}"
                    );
                }
            }
            Round::Ring { immediate } => {
                let load = if is("load") { format!("seen = in[{r}][0];") } else { String::new() };
                let receive = format!("in[{r}], 1, MPI_INT, (rank + {n} - 1) % {n}, {r}, WORLD");
                let send = format!("out[{r}], 1, MPI_INT, (rank + 1) % {n}, {r}, WORLD");
                let _ = write!(now, "out[{r}][0] = rank; ");
                let _ = match (is("receives first"), immediate) {
                    (true, _) => write!(now, "MPI_Recv({receive}, IGNORE); MPI_Send({send}); "),
                    (_, true) => write!(
                        now,
                        "MPI_Irecv({receive}, &got[{r}]); MPI_Isend({send}, &sent[{r}]); {load} MPI_Wait(&sent[{r}], IGNORE); MPI_Wait(&got[{r}], IGNORE); "
                    ),
                    (_, false) => write!(
                        now,
                        "MPI_Irecv({receive}, &got[{r}]); MPI_Send({send}); {load} MPI_Wait(&got[{r}], IGNORE); "
                    ),
                };
                let _ = write!(now, "expect(in[{r}][0], (rank + {n} - 1) % {n});");
            }
            Round::FanIn { root, posts } => {
                let missing = if is("one is missing") {
                    format!("&& rank != {}", (root + 1) % n)
                } else {
                    String::new()
                };
                let _ = write!(
                    now,
                    "out[{r}][0] = rank; if (rank != {root} {missing}) MPI_Send(out[{r}], 1, MPI_INT, {root}, {r}, WORLD); "
                );
                let many = if is("one too many") { n } else { n - 1 };
                let receives = if *posts && !is("one too many") {
                    format!(
                        "MPI_Request all[{many}]; for (int i = 0; i < {many}; i++) MPI_Irecv(&in[{r}][i], 1, MPI_INT, MPI_ANY_SOURCE, {r}, WORLD, &all[i]); MPI_Waitall({many}, all, MPI_STATUSES_IGNORE);"
                    )
                } else {
                    format!(
                        "for (int i = 0; i < {many}; i++) MPI_Recv(&in[{r}][i], 1, MPI_INT, MPI_ANY_SOURCE, {r}, WORLD, IGNORE);"
                    )
                };
                let order = if is("order") {
                    format!("expect(in[{r}][0], {});", (root + 1) % n)
                } else {
                    String::new()
                };
                let _ = write!(now, "if (rank == {root}) {{ {receives} {order} }}");
            }
            Round::Collective { which, root, immediate } => {
                let root = if is("another root") {
                    format!("rank ? {root} : {}", (root + 1) % n)
                } else {
                    root.to_string()
                };
                let sum = if is("another operator") { "rank ? MPI_SUM : MPI_MAX" } else { "MPI_SUM" };
                let (out, into) = (format!("out[{r}], 1, MPI_INT"), format!("in[{r}], 1, MPI_INT"));
                let arguments = match *which {
                    "Barrier" => String::new(),
                    "Bcast" => format!("{into}, {root}, "),
                    "Reduce" => format!("out[{r}], in[{r}], 1, MPI_INT, {sum}, {root}, "),
                    "Gather" | "Scatter" => format!("{out}, {into}, {root}, "),
                    "Allgather" | "Alltoall" => format!("{out}, {into}, "),
                    _ => format!("out[{r}], in[{r}], 1, MPI_INT, {sum}, "),
                };
                let condition = match mistake {
                    "not by all" => "if (rank) ",
                    "another collective" if *which == "Barrier" => {
                        "if (!rank) MPI_Allreduce(&rank, (void *)&seen, 1, MPI_INT, MPI_SUM, WORLD); else "
                    }
                    "another collective" => "if (!rank) MPI_Barrier(WORLD); else ",
                    _ => "",
                };
                let wait =
                    if is("no wait") { String::new() } else { format!("MPI_Wait(&got[{r}], IGNORE);") };
                let _ = match immediate {
                    true => write!(
                        now,
                        "{condition} {{ MPI_I{}({arguments} WORLD, &got[{r}]); {wait} }}",
                        which.to_lowercase()
                    ),
                    false => write!(now, "{condition} MPI_{which}({arguments} WORLD);"),
                };
                if *which == "Allreduce" && !is("no wait") {
                    let _ = write!(now, " expect(in[{r}][0], 0);");
                }
            }
            Round::Communicator => {
                let (before, after) = match mistake {
                    "freed before" => ("MPI_Comm copy = comm; MPI_Comm_free(&comm); comm = copy;", ""),
                    "not freed" => ("", ""),
                    _ => ("", "MPI_Comm_free(&comm);"),
                };
                let _ = write!(
                    now,
                    "{{ MPI_Comm comm; MPI_Comm_dup(WORLD, &comm); {before} MPI_Allreduce(out[{r}], in[{r}], 1, MPI_INT, MPI_SUM, comm); {after} }}"
                );
            }
            Round::Type { strided } => {
                let make = if *strided {
                    "MPI_Type_vector(2, 1, 2, MPI_INT, &type)"
                } else {
                    "MPI_Type_contiguous(2, MPI_INT, &type)"
                };
                let commit = if is("not committed") { "" } else { "MPI_Type_commit(&type);" };
                let free = if is("not freed") { "" } else { "MPI_Type_free(&type);" };
                let _ = write!(
                    now,
                    "{{ MPI_Datatype type; {make}; {commit} MPI_Sendrecv(out[{r}], 1, type, (rank + 1) % {n}, {r}, in[{r}], 2, MPI_INT, (rank + {n} - 1) % {n}, {r}, WORLD, IGNORE); {free} }}"
                );
            }
            Round::Poll { .. } | Round::Partitions { .. } | Round::Persistent { .. } => {
                self.write_polled(r, mistake, &mut now);
            }
            Round::Window => {
                let (target, place) =
                    if is("one place") { ("0".to_owned(), 0) } else { (format!("(rank + 1) % {n}"), 2) };
                let fence = if is("no fence") { "" } else { "MPI_Win_fence(0, win);" };
                let load = if is("load") { format!("seen = in[{r}][2];") } else { String::new() };
                let free = if is("not freed") { "" } else { "MPI_Win_free(&win);" };
                let _ = write!(
                    now,
                    "{{ MPI_Win win; out[{r}][0] = rank; MPI_Win_create(in[{r}], 16, 4, MPI_INFO_NULL, WORLD, &win); MPI_Win_fence(0, win); MPI_Put(out[{r}], 1, MPI_INT, {target}, {place}, 1, MPI_INT, win); {load} {fence} {free} }}"
                );
            }
        }
        (now, end)
    }

    /// The same of requests that are looked at, or begun again.
    fn write_polled(&self, r: usize, mistake: &str, now: &mut String) {
        let is = |name: &str| mistake == name;
        let if_is = |name: &str, text: String| if is(name) { text } else { String::new() };
        let unless = |name: &str, text: String| if is(name) { String::new() } else { text };
        match self {
            Round::Poll { from, to, how } => {
                let value = 100 * r + from;
                let send =
                    format!("out[{r}][0] = {value}; MPI_Send(out[{r}], 1, MPI_INT, {to}, {r}, WORLD);");
                let _ = write!(now, "if (rank == {from}) {{ {} }} ", unless("no send", send));
                let poll = match *how {
                    "Test" => format!("MPI_Test(&got[{r}], &flag, IGNORE);"),
                    "Testany" => format!("MPI_Testany(1, &got[{r}], &i, &flag, IGNORE);"),
                    _ => format!("MPI_Iprobe({from}, {r}, WORLD, &flag, IGNORE);"),
                };
                let message = format!("in[{r}], 1, MPI_INT, {from}, {r}, WORLD");
                let (before, after) = match *how {
                    "Iprobe" => (String::new(), format!("MPI_Recv({message}, IGNORE);")),
                    _ => (format!("MPI_Irecv({message}, &got[{r}]);"), String::new()),
                };
                let polls = match is("at once") {
                    true => format!("{poll} expect(flag, 1);"),
                    false => format!("while (!flag) {poll}"),
                };
                let _ = write!(
                    now,
                    "if (rank == {to}) {{ int flag = 0, i = 0; (void)i; {before} {polls} {after} expect(in[{r}][0], {value}); }}"
                );
            }
            Round::Partitions { from, to } => {
                let store = if_is("store", format!("out[{r}][0]++;"));
                let load = if_is("load", format!("seen = in[{r}][2];"));
                let last = unless("not ready", format!("MPI_Pready(0, sent[{r}]);"));
                let _ = write!(
                    now,
                    "if (rank == {from}) {{ MPI_Psend_init(out[{r}], 2, 2, MPI_INT, {to}, {r}, WORLD, MPI_INFO_NULL, &sent[{r}]); \
                     MPI_Start(&sent[{r}]); MPI_Pready(1, sent[{r}]); out[{r}][1] = 7; {last} {store} \
                     MPI_Wait(&sent[{r}], IGNORE); MPI_Request_free(&sent[{r}]); }} \
                     if (rank == {to}) {{ int flag = 0; \
                     MPI_Precv_init(in[{r}], 2, 2, MPI_INT, {from}, {r}, WORLD, MPI_INFO_NULL, &got[{r}]); \
                     MPI_Start(&got[{r}]); {load} while (!flag) MPI_Parrived(got[{r}], 0, &flag); expect(in[{r}][1], 7); \
                     MPI_Wait(&got[{r}], IGNORE); MPI_Request_free(&got[{r}]); }}"
                );
            }
            Round::Persistent { from, to } => {
                let store = if_is("store", format!("out[{r}][0]++;"));
                let condition = if_is("not started", "if (!i)".to_owned());
                let free = unless("not freed", format!("MPI_Request_free(&sent[{r}]);"));
                let _ = write!(
                    now,
                    "if (rank == {from}) {{ MPI_Send_init(out[{r}], 1, MPI_INT, {to}, {r}, WORLD, &sent[{r}]); \
                     for (int i = 0; i < 2; i++) {{ out[{r}][0] = i; {condition} MPI_Start(&sent[{r}]); {store} \
                     MPI_Wait(&sent[{r}], IGNORE); }} {free} }} \
                     if (rank == {to}) for (int i = 0; i < 2; i++) {{ \
                     MPI_Recv(in[{r}], 1, MPI_INT, {from}, {r}, WORLD, IGNORE); expect(in[{r}][0], i); }}"
                );
            }
            _ => unreachable!("others are written elsewhere"),
        }
    }
}

/// A program of two processes and few messages, which plain search exhausts, mostly.
pub fn small(random: &mut Random) -> Fuzzed {
    let is_small = |round: &Round| {
        matches!(round, Round::Message { .. } | Round::FanIn { .. } | Round::Poll { .. } | Round::Ring { .. })
    };
    let mut rounds = Vec::new();
    let count = 1 + random.below(2);
    while rounds.len() < count {
        rounds.extend(Some(Round::new(random, 2)).filter(is_small));
    }
    fuzzed(random, 2, &rounds)
}

/// A random program, and a random mistake in it.
pub fn program(random: &mut Random) -> Fuzzed {
    let processes = 2 + random.below(2);
    let rounds: Vec<Round> = (0..1 + random.below(5)).map(|_| Round::new(random, processes)).collect();
    fuzzed(random, processes, &rounds)
}

/// A program of these rounds, with a random mistake in one of them.
fn fuzzed(random: &mut Random, processes: usize, rounds: &[Round]) -> Fuzzed {
    let wrong = random.below(rounds.len());
    let (mistake, found) = random.of(&rounds[wrong].mistakes(processes));
    let text = |mistaken: Option<usize>| {
        let (mut now, mut end) = (String::new(), String::new());
        for (number, round) in rounds.iter().enumerate() {
            let mistake = if mistaken == Some(number) { mistake } else { "" };
            let (lines, later) = round.text(number, processes, mistake);
            let _ = writeln!(now, "    {lines}");
            if !later.is_empty() {
                let _ = writeln!(end, "    {later}");
            }
        }
        now + &end
    };
    let ways = rounds.iter().map(|round| round.ways(processes)).product();
    Fuzzed { processes, ways, right: text(None), wrong: text(Some(wrong)), mistake, found }
}

/// Programs as one: the first argument is the number of one of them, the second says that it is wrong.
pub fn source(programs: &[Fuzzed]) -> String {
    let mut text = String::from(
        "#include <mpi.h>\n#include <stdlib.h>\n#define WORLD MPI_COMM_WORLD\n#define IGNORE MPI_STATUS_IGNORE\n\
         static int rank, out[8][16], in[8][16];\nstatic volatile int seen;\n\
         static MPI_Request sent[8], got[8];\nstatic void expect(int is, int wanted) { if (is != wanted) abort(); }\n",
    );
    for (number, program) in programs.iter().enumerate() {
        let Fuzzed { right, wrong, mistake, .. } = program;
        let _ = writeln!(text, "static void right{number}(void) {{\n{right}}}");
        let _ = writeln!(text, "/* {mistake} */\nstatic void wrong{number}(void) {{\n{wrong}}}");
    }
    let _ = writeln!(text, "static void (*const all[][2])(void) = {{");
    for number in 0..programs.len() {
        let _ = writeln!(text, "    {{right{number}, wrong{number}}},");
    }
    text + "};\nint main(int argc, char **argv) {\n    MPI_Init(&argc, &argv);\n    MPI_Comm_rank(WORLD, &rank);\n    \
            all[atoi(argv[1])][argc > 2]();\n    MPI_Finalize();\n    return 0;\n}\n"
}
