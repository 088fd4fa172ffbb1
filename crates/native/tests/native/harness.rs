//! Compiles programs, and runs them with a host that offers little.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use simurgh_kernel::context::{Body, Door, Resumed};
use simurgh_kernel::ids::ActorId;
use simurgh_kernel::simcall::{Answer, Simcall};
use simurgh_models::SimTime;
use simurgh_native::{End, Error, Export, Image, Options, Personality, Processes, ask, current};
use simurgh_platform::HostId;

extern "C" fn my_rank() -> i32 {
    current().expect("a process runs") as i32
}

extern "C" fn yield_now() {
    ask(Simcall::Yield);
}

/// What the tests' programs may call, and what they wrote.
#[derive(Default)]
pub struct Host {
    exports: Vec<Export>,
    written: Mutex<BTreeMap<(usize, i32), Vec<u8>>>,
    pub input: Mutex<Vec<u8>>,
}

impl Host {
    pub fn new() -> Arc<Self> {
        let exports = vec![
            Export { name: "my_rank", address: my_rank as *const () as usize },
            Export { name: "yield_now", address: yield_now as *const () as usize },
        ];
        Arc::new(Self { exports, ..Self::default() })
    }

    /// Forgets what was written.
    pub fn forget(&self) {
        self.written.lock().unwrap().clear();
    }

    pub fn text(&self, rank: usize, fd: i32) -> String {
        let written = self.written.lock().unwrap();
        String::from_utf8_lossy(written.get(&(rank, fd)).map_or(&[], Vec::as_slice)).into_owned()
    }
}

impl Personality for Host {
    fn exports(&self) -> &[Export] {
        &self.exports
    }

    fn provides(&self, library: &str) -> bool {
        library == "libhost.so"
    }

    fn output(&self, rank: usize, fd: i32, bytes: &[u8]) {
        self.written.lock().unwrap().entry((rank, fd)).or_default().extend_from_slice(bytes);
    }

    fn input(&self, _rank: usize, bytes: &mut [u8]) -> usize {
        let mut input = self.input.lock().unwrap();
        let count = bytes.len().min(input.len());
        bytes[..count].copy_from_slice(&input[..count]);
        input.drain(..count);
        count
    }
}

/// A program's source, and how it is compiled.
pub struct Source {
    pub text: String,
    pub language: &'static str,
    pub flags: Vec<&'static str>,
}

pub fn c(text: &str) -> Source {
    Source { text: text.to_owned(), language: "c", flags: vec!["-g", "-O1", "-Wno-all"] }
}

pub fn cpp(text: &str) -> Source {
    Source { text: text.to_owned(), language: "cpp", flags: vec!["-g", "-O1"] }
}

pub fn fortran(text: &str) -> Source {
    Source { text: text.to_owned(), language: "f90", flags: vec!["-g", "-O1"] }
}

/// A library to link with: what the host offers, empty.
fn stub() -> PathBuf {
    static STUB: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    let make = || {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("host-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let source = folder.join("host.c");
        std::fs::write(&source, "int my_rank(void){return 0;} void yield_now(void){}").unwrap();
        let library = folder.join("libhost.so");
        let made = Command::new("gcc")
            .args(["-shared", "-fPIC", "-Wl,-soname,libhost.so", "-o"])
            .args([&library, &source])
            .status();
        assert!(made.is_ok_and(|status| status.success()), "gcc does not run: apt-get install -y gcc");
        library
    };
    STUB.get_or_init(make).clone()
}

impl Source {
    pub fn with(mut self, flags: &[&'static str]) -> Self {
        self.flags.extend_from_slice(flags);
        self
    }

    /// Compiles it in a folder of its own.
    pub fn compile(&self) -> PathBuf {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("native-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let source = folder.join(format!("program.{}", self.language));
        std::fs::write(&source, &self.text).unwrap();
        let program = folder.join("program");
        let compiler = match self.language {
            "c" => "gcc",
            "cpp" => "g++",
            _ => "gfortran",
        };
        let status = Command::new(compiler)
            .arg("-o")
            .arg(&program)
            .arg(&source)
            .args(&self.flags)
            .arg(stub())
            .status()
            .unwrap_or_else(|error| {
                panic!("{compiler} does not run ({error}): apt-get install -y {compiler}")
            });
        assert!(status.success(), "{compiler} could not compile {}", source.display());
        program
    }

    /// What it writes when the operating system runs it.
    pub fn run_really(&self) -> String {
        let folder = stub().parent().unwrap().to_owned();
        let output = Command::new(self.compile()).env("LD_LIBRARY_PATH", folder).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn run(&self, count: usize) -> Run {
        self.run_with(count, Options::default())
    }

    pub fn run_with(&self, count: usize, options: Options) -> Run {
        run(Host::new(), self.compile(), count, options).unwrap()
    }
}

/// What came of a run.
pub struct Run {
    host: Arc<Host>,
    pub processes: Processes,
    pub endings: Vec<Option<String>>,
    pub now: f64,
}

impl Run {
    /// What a process wrote to its standard output.
    pub fn out(&self, rank: usize) -> String {
        self.host.text(rank, 1)
    }

    pub fn err(&self, rank: usize) -> String {
        self.host.text(rank, 2)
    }

    pub fn end(&self, rank: usize) -> End {
        self.processes.end(rank).expect("it has ended")
    }

    /// The message of a crash, with the number of its line.
    pub fn crash(&self, rank: usize) -> String {
        let end = self.end(rank);
        let crash = end.crash().unwrap_or_else(|| panic!("{end}"));
        format!("{}: {}", crash.place.as_ref().map_or(0, |place| place.line), crash.message)
    }
}

/// Runs processes in turn, until all have ended. Time passes when they sleep.
pub fn run(host: Arc<Host>, program: PathBuf, count: usize, options: Options) -> Result<Run, Error> {
    let image = Arc::new(Image::read(&program, host.clone())?);
    let processes = Processes::new(image, count, options)?;
    let mut run = Run { host, processes, endings: vec![None; count], now: 0.0 };
    drive(&mut run, count);
    Ok(run)
}

fn drive(run: &mut Run, count: usize) {
    let mut bodies: Vec<Option<Body>> =
        (0..count).map(|rank| Some(Body::Coroutine(run.processes.coroutine(rank)))).collect();
    let mut door = Door::new();
    let mut wake = vec![0.0; count];
    let mut begun = vec![false; count];
    while bodies.iter().any(Option::is_some) {
        let alive = |rank: &usize| bodies[*rank].is_some();
        run.now = (0..count).filter(alive).map(|rank| wake[rank]).fold(f64::INFINITY, f64::min).max(run.now);
        for rank in 0..count {
            let Some(body) = &mut bodies[rank] else { continue };
            if wake[rank] > run.now {
                continue;
            }
            let answer = std::mem::replace(&mut begun[rank], true).then_some(Answer::Ready);
            door.prepare(ActorId(rank as u32), HostId(0), SimTime::new(run.now), answer);
            match body.resume(&mut door) {
                Resumed::Asked => match door.simcall.take().expect("it asks") {
                    Simcall::Yield => {}
                    Simcall::Sleep(seconds) => wake[rank] = run.now + seconds,
                    other => panic!("{other:?}"),
                },
                Resumed::Ended => bodies[rank] = None,
                Resumed::Failed(fault) => {
                    run.endings[rank] = Some(fault.to_string());
                    bodies[rank] = None;
                }
            }
        }
    }
}
