# Commands for gdb about the processes of a compiled MPI program: `ranks`, and `rank N COMMAND`.
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


def stopped(event):
    try:
        running = [process for process in processes() if process.stage() == 2]
    except (gdb.GdbError, gdb.error):
        return
    if running:
        print("[rank %d]" % running[0].number)


def start(script):
    """Goes to where all processes are there and none has run, and reads their symbols."""
    gdb.execute("set breakpoint pending on")
    gdb.execute("set confirm off")
    gdb.execute("set pagination off")
    gdb.execute("tbreak simurgh_debugger_ready", to_string=True)
    gdb.execute("run")
    try:
        every = processes()
    except gdb.GdbError:
        return
    read_symbols(script, every)
    gdb.events.stop.connect(stopped)
    print("%d ranks are there, and none has begun. Set breakpoints, then `continue`." % len(every))
    print("`ranks` lists them, `rank 3` shows where one is, `rank 3 print x` looks at its variables.")


Ranks()
Rank()
