# Commands for gdb about the processes of a compiled MPI program: `ranks`, `rank N COMMAND`, and for schedules `simurgh next`.
import re
import struct

import gdb

STAGES = {0: "has not begun", 1: "waits", 2: "runs", 3: "is over"}
# What lies on the stack of a process that does not run, from its pointer up.
SAVED = ["masks", "r15", "r14", "r13", "r12", "rbx", "rbp", "rip"]
REGISTERS = SAVED[1:] + ["rsp"]


def words(address, count):
    memory = gdb.selected_inferior().read_memory(address, 8 * count)
    return struct.unpack("<%dQ" % count, memory.tobytes())


class Process:
    def __init__(self, row, span):
        self.number, self.copy, self.stage_at, self.stack_at = words(row, 4)
        self.span = span

    def stage(self):
        return gdb.selected_inferior().read_memory(self.stage_at, 1).tobytes()[0]

    def has(self, address):
        return self.copy <= address < self.copy + self.span


def processes():
    try:
        table = int(gdb.parse_and_eval("(unsigned long) &simurgh_processes"))
        count, rows, span = words(table, 3)
    except gdb.error:
        count = 0
    if count == 0:
        raise gdb.GdbError("the program has not been started")
    return [Process(rows + 32 * index, span) for index in range(count)]


# Processes whose symbols are there, and what has to be added for others: files, and how far they are from the copy.
known = set()
objects = []


def symbols(process, every):
    """Adds the symbols of a process that were not added when the program was started."""
    if process.number in known:
        return
    known.add(process.number)
    first = every[0].copy
    for path, base in objects:
        gdb.execute("add-symbol-file %s -o %#x" % (path, process.copy + base - first), to_string=True)


def read_symbols(script, every):
    for line in open(script):
        parts = line.split()
        if parts and parts[0] == "add-symbol-file":
            base = int(parts[3], 16)
            for process in every:
                if process.has(base):
                    known.add(process.number)
            if every[0].has(base):
                objects.append((parts[1], base))
    gdb.execute("source " + script, to_string=True)


class At:
    """Puts the registers of a process that does not run into those of the thread, for a while."""

    def __init__(self, process):
        self.process = process

    def __enter__(self):
        self.before = None
        if self.process.stage() != 1:
            return
        self.selected = gdb.selected_frame()
        gdb.newest_frame().select()
        self.before = {name: int(gdb.parse_and_eval("(unsigned long) $" + name)) for name in REGISTERS}
        stack = words(self.process.stack_at, 1)[0]
        values = dict(zip(SAVED, words(stack, len(SAVED))))
        values["rsp"] = stack + 8 * len(SAVED)
        self.put(values)

    def put(self, values):
        for name in REGISTERS:
            gdb.execute("set $%s = %d" % (name, values[name]), to_string=True)

    def __exit__(self, *_):
        if self.before is not None:
            gdb.newest_frame().select()
            self.put(self.before)


def within(process):
    """The innermost frame of the program of a process."""
    frame = gdb.newest_frame()
    while frame is not None and not process.has(frame.pc()):
        frame = frame.older()
    return frame


def place(frame):
    where = frame.find_sal()
    name = frame.name() or "?"
    if where.symtab is None:
        return "in %s" % name
    return "in %s at %s:%d" % (name, where.symtab.filename, where.line)


def call(process):
    """The function of MPI that a process is in."""
    frame, found = gdb.newest_frame(), None
    while frame is not None and not process.has(frame.pc()):
        # The entry points of C and Fortran have the names of the standard, without what all begin with.
        entry = re.search(r"::entry::\w+::(\w+)", frame.name() or "")
        if entry is not None:
            found = "MPI_" + entry.group(1).capitalize()
        frame = frame.older()
    return found


class Ranks(gdb.Command):
    """Lists the processes: what each of them is about, and where."""

    def __init__(self):
        super().__init__("ranks", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        every = processes()
        for process in every:
            stage = process.stage()
            mark = "*" if stage == 2 else " "
            text = STAGES.get(stage, "?")
            if stage in (1, 2):
                symbols(process, every)
                with At(process):
                    frame = within(process)
                    inside = call(process)
                    if inside is not None and stage == 1:
                        text += " in " + inside
                    if frame is not None:
                        text += ", " + place(frame)
            print("%s rank %-4d %s" % (mark, process.number, text))


class Rank(gdb.Command):
    """Looks at one process: `rank 3` shows where it is, `rank 3 print x` prints a variable there."""

    def __init__(self):
        super().__init__("rank", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        parts = argument.split(None, 1)
        every = processes()
        if walking and not (parts and parts[0].isdigit()):
            # The one that moves.
            parts = [str(step()[1])] + ([argument] if argument else [])
        if not parts or not parts[0].isdigit() or int(parts[0]) >= len(every):
            raise gdb.GdbError("give a rank from 0 to %d, and perhaps a command" % (len(every) - 1))
        process = every[int(parts[0])]
        if process.stage() not in (1, 2):
            raise gdb.GdbError("rank %d %s" % (process.number, STAGES[process.stage()]))
        symbols(process, every)
        with At(process):
            frame = within(process)
            if frame is None:
                raise gdb.GdbError("rank %d is in no function of the program" % process.number)
            frame.select()
            if len(parts) > 1:
                gdb.execute(parts[1])
                return
            number = 0
            while frame is not None and process.has(frame.pc()) and frame.name() is not None:
                print("#%-2d %s" % (number, place(frame)))
                number, frame = number + 1, frame.older()


# Whether a schedule is followed, call by call.
walking = False


def step():
    """The number of the step that comes, whose it is, and what it comes to."""
    table = int(gdb.parse_and_eval("(unsigned long) &simurgh_step"))
    number, rank, at, length = words(table, 4)
    text = gdb.selected_inferior().read_memory(at, length).tobytes().decode() if number else ""
    return number, rank, text


def source(frame):
    """The lines around that of a frame, with a mark before it."""
    where = frame.find_sal()
    if where.symtab is None:
        return
    try:
        lines = open(where.symtab.fullname()).read().splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for number in range(max(1, where.line - 2), min(len(lines), where.line + 2) + 1):
        print("%s %5d  %s" % (">" if number == where.line else " ", number, lines[number - 1]))


def show_step():
    number, rank, text = step()
    every = processes()
    process = every[rank]
    print("step %d: rank %d: %s" % (number, rank, text))
    if process.stage() != 1:
        return
    symbols(process, every)
    with At(process):
        frame = within(process)
        if frame is not None:
            print("rank %d is %s" % (rank, place(frame)))
            source(frame)


def show_end():
    running = [process for process in processes() if process.stage() == 2]
    if not running:
        return
    # Below it is what says that it ends.
    frame = within(running[0])
    while frame is not None and frame.find_sal().symtab is None:
        frame = frame.older()
    if frame is not None:
        frame.select()
        print("rank %d ends here, %s" % (running[0].number, place(frame)))
        source(frame)


class Simurgh(gdb.Command):
    """Walks through a schedule: `simurgh next` goes to the next call, `simurgh end` to the end, `simurgh ranks` lists all processes."""

    def __init__(self):
        super().__init__("simurgh", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)

    def invoke(self, argument, from_tty):
        if argument == "ranks":
            gdb.execute("ranks")
        elif argument == "next":
            gdb.execute("continue")
        elif argument == "end":
            for stop in list(gdb.breakpoints()):
                if stop.location == "simurgh_debugger_step":
                    stop.enabled = False
            gdb.execute("continue")
        else:
            raise gdb.GdbError("simurgh next, simurgh end or simurgh ranks")


def stopped(event):
    hit = [stop.location for stop in getattr(event, "breakpoints", [])]
    if "simurgh_debugger_step" in hit:
        return show_step()
    if "simurgh_debugger_end" in hit:
        return show_end()
    try:
        running = [process for process in processes() if process.stage() == 2]
    except (gdb.GdbError, gdb.error):
        return
    if running:
        print("[rank %d]" % running[0].number)


def walk(script):
    """Goes to where a schedule begins, and stops before each call of it."""
    global walking
    walking = True
    every = begin(script)
    if every is None:
        return
    for name in ["simurgh_debugger_step", "simurgh_debugger_end"]:
        gdb.Breakpoint(name).silent = True
    print("%d ranks are there, and have called MPI_Init. `simurgh next` goes from call to call, `simurgh end` to the end." % len(every))
    print("`ranks` lists them, `rank` shows where the one is that moves, `rank print x` and `rank 3 print x` look at variables.")


def start(script):
    """Goes to where all processes are there and none has run, and reads their symbols."""
    every = begin(script)
    if every is None:
        return
    print("%d ranks are there, and none has begun. Set breakpoints, then `continue`." % len(every))
    print("`ranks` lists them, `rank 3` shows where one is, `rank 3 print x` looks at its variables.")


def begin(script):
    """Goes to where all processes are there, and reads their symbols."""
    # What is done before that is nobody's business.
    gdb.execute("handle SIGSEGV SIGBUS SIGFPE SIGILL nostop noprint pass", to_string=True)
    gdb.execute("set breakpoint pending on")
    gdb.execute("set confirm off")
    gdb.execute("set pagination off")
    gdb.execute("tbreak simurgh_debugger_ready", to_string=True)
    gdb.execute("run")
    try:
        every = processes()
    except gdb.GdbError:
        # It ended before that, and has said why.
        code = gdb.parse_and_eval("$_exitcode")
        if code.type.code != gdb.TYPE_CODE_VOID and int(code) != 0:
            gdb.execute("quit %d" % int(code))
        return None
    gdb.execute("handle SIGSEGV SIGBUS SIGFPE SIGILL stop print pass", to_string=True)
    read_symbols(script, every)
    gdb.events.stop.connect(stopped)
    return every


Ranks()
Rank()
Simurgh()
