//! The processes of a program: private copies, each with its stack and its heaps.

use std::cell::UnsafeCell;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use simurgh_kernel::context::Coroutine;
use simurgh_kernel::simcall::Simcall;

use crate::arena::Arena;
use crate::current::{Heap, Rank, Stage};
use crate::elf::PAGE;
use crate::error::Error;
use crate::fiber::Fiber;
use crate::files::Files;
use crate::image::{Image, SHIM};
use crate::personality::{End, Frame, SourceLine};
use crate::place::{self, Protection};
use crate::region::{Home, Region, heap_bytes, stack_bytes};
use crate::unwind;

/// How processes are begun.
#[derive(Clone, Debug)]
pub struct Options {
    /// What `main` is given, the program's own name first; the path of the program if there is none.
    pub args: Vec<String>,
    /// The environment of each process.
    pub env: Vec<(String, String)>,
    /// Bytes of stack; only what is touched costs. What the system allows programs, if it is not said.
    pub stack: usize,
    /// Bytes of addresses for the heap of a process; only what is touched costs. Less where processes are many.
    pub heap: usize,
    /// Where relative paths begin; that of the host if it is not said.
    pub directory: Option<PathBuf>,
    /// What `gethostname` says to each process; the last is repeated.
    pub hosts: Vec<String>,
    /// The number of the first process.
    pub first: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            args: Vec::new(),
            env: Vec::new(),
            stack: stack_limit(),
            heap: 64 << 30,
            directory: None,
            hosts: Vec::new(),
            first: 0,
        }
    }
}

/// How large a stack `ulimit -s` allows: 8 MiB at least, 1 GiB where it is unlimited.
fn stack_limit() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: fills in what it is given.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) };
    usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX).clamp(8 << 20, 1 << 30)
}

/// Addresses for the heaps of all processes together.
const HEAPS: usize = 8 << 40;
/// More processes than this are mapped with one map each.
const PROTECTED: usize = 512;

/// What the processes of a program share.
pub(crate) struct Shared {
    pub image: Arc<Image>,
    pub options: Options,
    pub args: Vec<CString>,
    pub env: Vec<CString>,
    pub ranks: Vec<UnsafeCell<Rank>>,
    /// How many times they were put back to what they were.
    pub restored: AtomicU64,
    /// What they do to files.
    pub files: Mutex<Files>,
    /// Dropped last: the others may have something in it.
    pub region: Box<Region>,
}

// SAFETY: processes are touched by those alone who hold the gate.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// Private copies of a program, as many as there are processes.
pub struct Processes {
    shared: Arc<Shared>,
}

impl Processes {
    /// Makes so many copies. Nothing of the program runs yet.
    ///
    /// # Errors
    /// When the system does not give the memory or the maps.
    pub fn new(image: Arc<Image>, count: usize, options: Options) -> Result<Processes, Error> {
        crate::signals::install()?;
        crate::fiber::remember_host();
        let program = heap_bytes((options.heap).min(HEAPS / count.max(1)) & !(PAGE - 1));
        let home =
            Home { stack: stack_bytes(options.stack, count), library: (program / 2) & !(PAGE - 1), program };
        let region = Region::reserve(image.span, count, home)?;
        let protection = if count <= PROTECTED { Protection::Segments } else { Protection::None };
        let mut ranks = Vec::with_capacity(count);
        for index in 0..count {
            // SAFETY: the region is reserved for these copies.
            unsafe { place::copy(&image, region.image_of(index), protection)? };
            let [(program, program_bytes), (library, library_bytes)] = region.heaps(index);
            // SAFETY: both ranges are fresh zero pages that belong to this process.
            let arenas =
                unsafe { [Arena::create(program, program_bytes), Arena::create(library, library_bytes)] };
            ranks.push(UnsafeCell::new(Rank {
                number: options.first + index,
                index,
                shared: std::ptr::null(),
                stage: Stage::New,
                stack: 0,
                arguments: 0,
                driver: 0,
                port: std::ptr::null_mut(),
                now: 0.0,
                heap: Heap::Program,
                arenas,
                errno: 0,
                locale: 0,
                directory: directory(&options)?,
                mask: None,
                libgomp: Vec::new(),
                local: std::ptr::null_mut(),
                lines: Default::default(),
                streams: Vec::new(),
                watch: Default::default(),
                descriptors: Vec::new(),
                maps: Vec::new(),
                asked: Default::default(),
                serves: false,
                handlers: Default::default(),
                left: None,
                died_of: libc::SIGABRT,
                cause: None,
                end: None,
            }));
        }
        let text = |text: &str| CString::new(text.replace('\0', "")).expect("there is no zero in it");
        let mut args: Vec<CString> = options.args.iter().map(|arg| text(arg)).collect();
        if args.is_empty() {
            args.push(text(&image.path().to_string_lossy()));
        }
        // Their own backtraces would read debug information in each process that fails; ours are told instead.
        let quiet = ("GFORTRAN_ERROR_BACKTRACE".to_owned(), "0".to_owned());
        let asked = options.env.iter().any(|(name, _)| *name == quiet.0);
        let env = options.env.iter().chain((!asked).then_some(&quiet));
        let env: Vec<CString> = env.map(|(name, value)| text(&format!("{name}={value}"))).collect();
        let shared = Arc::new(Shared {
            image,
            region,
            options,
            args,
            env,
            ranks,
            restored: AtomicU64::new(0),
            files: Mutex::default(),
        });
        for rank in &shared.ranks {
            // SAFETY: nobody else has the processes yet.
            unsafe { (*rank.get()).shared = Arc::as_ptr(&shared) };
        }
        Ok(Processes { shared })
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.shared.ranks.len()
    }

    /// The code of a process, to be run by a kernel: constructors, `main`, exit handlers, destructors. `rank` counts from
    /// [`Options::first`].
    ///
    /// # Panics
    /// When there is no such process.
    pub fn coroutine(&self, rank: usize) -> Box<dyn Coroutine> {
        Box::new(Fiber::new(Arc::clone(&self.shared), self.index(rank), None))
    }

    /// The same for a process that was put back to where it had asked something, and had no answer: it asks that first.
    ///
    /// # Panics
    /// When there is no such process.
    pub fn asking(&self, rank: usize, simcall: Simcall) -> Box<dyn Coroutine> {
        Box::new(Fiber::new(Arc::clone(&self.shared), self.index(rank), Some(simcall)))
    }

    fn index(&self, rank: usize) -> usize {
        let index = rank.checked_sub(self.shared.options.first).filter(|index| *index < self.count());
        index.expect("a process that there is")
    }

    fn rank(&self, rank: usize) -> *mut Rank {
        self.shared.ranks[self.index(rank)].get()
    }

    /// How a process ended, if it did.
    pub fn end(&self, rank: usize) -> Option<End> {
        // SAFETY: whoever asks does not run the process at the same time.
        unsafe { (*self.rank(rank)).end.clone() }
    }

    /// Where a process is that does not run, or was when it ended: the functions of the program that have not returned, the
    /// innermost first.
    pub fn place(&self, rank: usize) -> Vec<Frame> {
        let rank = self.rank(rank);
        // SAFETY: as above; the stack of a process that does not run stays as it was left.
        unsafe {
            if let Some(crash) = (*rank).end.as_ref().and_then(End::crash) {
                return crash.backtrace.clone();
            }
            match (*rank).stage {
                Stage::Suspended | Stage::Over if (*rank).arguments != 0 => {
                    unwind::backtrace(&self.shared, &unwind::Registers::suspended((*rank).stack))
                }
                _ => Vec::new(),
            }
        }
    }

    /// Where the process is that runs at this moment, asked from another thread, and its number. It goes on meanwhile: the
    /// innermost function is right, those that called it as far as they stay. `None` if none runs, or it does not answer.
    pub fn glance(&self) -> Option<(usize, Vec<Frame>)> {
        let (index, registers) = crate::signals::glance(&self.shared)?;
        Some((self.shared.options.first + index, unwind::backtrace(&self.shared, &registers)))
    }

    /// Which turn of a process it is, counted from the beginning of time; none while no process runs.
    pub fn turn() -> Option<u64> {
        crate::current::turn()
    }

    /// How many turns there were so far, whether a process runs or not.
    pub fn turns() -> u64 {
        crate::current::turns()
    }

    /// The line of the program of a call that returns to this address of one of the copies, as [`caller`](crate::caller) gives it.
    pub fn line(&self, address: usize) -> Option<SourceLine> {
        let index = self.shared.region.process_at(address)?;
        // A call that never returns may be the last of its line.
        self.shared.image.line_at((address - self.shared.region.image_of(index)).saturating_sub(1))
    }

    /// Ends the process that runs at this moment, from another thread: one that does not come back. Gives its number; `None` if
    /// none runs. It ends as if by a signal, at the place where it is.
    pub fn interrupt() -> Option<usize> {
        crate::signals::interrupt()
    }

    /// Ends the process that runs, from another thread, if it is the same that ran so long ago and has not come back
    /// meanwhile. Gives its number.
    pub fn interrupt_after(patience: std::time::Duration) -> Option<usize> {
        let before = crate::current::turn()?;
        std::thread::sleep(patience);
        (crate::current::turn() == Some(before)).then(Self::interrupt).flatten()
    }

    /// The personality's own word about a process, as [`set_local`](crate::set_local) left it; null if it was not set. It lies in the
    /// memory of the process, which may have written over it.
    pub fn local<T>(&self, rank: usize) -> *mut T {
        // SAFETY: whoever asks does not run the process at the same time.
        unsafe { (*self.rank(rank)).local.cast() }
    }

    /// How many bytes a process has allocated and not given back.
    pub fn allocated(&self, rank: usize) -> usize {
        // SAFETY: the heaps are alive, and the process does not run at the same time.
        unsafe { (*(*self.rank(rank)).arenas[0]).live() }
    }

    /// Tells a debugger where the processes are, and stops there if it has a breakpoint at `simurgh_debugger_ready`.
    pub fn show_to_debugger(&self) {
        crate::debugger::show(&self.shared);
    }

    /// Commands for gdb that add the symbols of the copies of these processes. What is in no file, but in us, is in this one.
    pub fn gdb_script(&self, ranks: impl IntoIterator<Item = usize>, own: &Path) -> String {
        let mut script = String::from("set confirm off\n");
        for rank in ranks {
            let base = self.shared.region.image_of(self.index(rank));
            for (number, object) in self.shared.image.group.objects.iter().enumerate() {
                let path = if number == SHIM { own } else { &object.path };
                if path.is_file() {
                    let base = base + object.base;
                    script.push_str(&format!("add-symbol-file {} -o {base:#x}\n", path.display()));
                }
            }
        }
        script
    }
}

/// The directory in which processes begin, if one was asked for.
pub(crate) fn directory(options: &Options) -> Result<Option<OwnedFd>, Error> {
    let Some(path) = &options.directory else { return Ok(None) };
    let file = std::fs::File::open(path).map_err(|source| Error::read(path, source))?;
    Ok(Some(file.into()))
}

impl Drop for Shared {
    fn drop(&mut self) {
        for rank in &mut self.ranks {
            crate::shim::close_streams(rank.get_mut());
        }
    }
}
