----------------------------- MODULE Validation -----------------------------
(***************************************************************************)
(* What the kernel did, step by step, against what it should do. The       *)
(* traces are written by crates/explore/tests/spec.rs as a module that     *)
(* extends this one.                                                       *)
(***************************************************************************)
EXTENDS Dependence

CONSTANT Traces

VARIABLES
    trace,  \* which of the traces
    at,     \* how far it is
    st,     \* the state of the specification
    past    \* the steps until now, each as it looked when it was taken

(***************************************************************************)
(* What a trace is made of: the network, and an entry for each state. An   *)
(* entry says which step led there, what each process asks then, what can  *)
(* be seen of the state, which steps are possible, and which earlier steps *)
(* the code says that this one depends on.                                 *)
(***************************************************************************)

Trace(network, entries) == [network |-> network, entries |-> entries]
Entry(step, asks, sends, recvs, travel, met, alive, told, enabled, depends) ==
    [step |-> step, asks |-> asks, sends |-> sends, recvs |-> recvs, travel |-> travel, met |-> met,
     alive |-> alive, told |-> told, enabled |-> enabled, depends |-> depends]
Told(what, post, message, number) == [what |-> what, post |-> post, message |-> message, number |-> number]
\* A process that has ended asks nothing.
Nothing == [op |-> "nothing"]

Entries == Traces[trace].entries
Here == Entries[at]
\* Processes and mailboxes are numbered from 0, sequences from 1.
AskOf(entry, p) == entry.asks[p + 1]

\* The step of an entry, which was asked for in the state before.
StepTo(place) ==
    LET taken == Entries[place].step
    IN  IF Len(taken[1]) = 1
        THEN [by |-> taken[1], ask |-> AskOf(Entries[place - 1], taken[1][1]), choice |-> taken[2]]
        ELSE [by |-> taken[1], ask |-> [op |-> "arrive", post |-> taken[2]], choice |-> None]

\* In which ways the receives and probes of each mailbox choose, in the whole trace.
Observers(one) ==
    LET entries == Traces[one].entries
        acts(place) == Len(entries[place].step[1]) = 1
        ask(place) == AskOf(entries[place - 1], entries[place].step[1][1])
        asked == {ask(place) : place \in {place \in 2 .. Len(entries) : acts(place)}}
    IN  [m \in Mailboxes |-> {WayOf(one_ask) : one_ask \in {one_ask \in asked :
            one_ask.op \in {"recv", "probe"} /\ one_ask.mailbox = m}}]

Init ==
    /\ trace \in DOMAIN Traces
    /\ at = 1
    /\ st = InitialState(Traces[trace].network)
    /\ past = <<>>

Next ==
    /\ at < Len(Entries)
    /\ IsPossible(StepTo(at + 1), st)
    /\ st' = Apply(StepTo(at + 1), st)
    /\ past' = Append(past, Seen(StepTo(at + 1), st, Observers(trace)))
    /\ at' = at + 1
    /\ UNCHANGED trace

Spec == Init /\ [][Next]_<<trace, at, st, past>>

(***************************************************************************)
(* Agreement.                                                              *)
(***************************************************************************)

\* The next step of the trace is one that the specification allows.
StepsAgree == at < Len(Entries) => IsPossible(StepTo(at + 1), st)

\* Each process asks what it may ask, and only who acted asks something else than before.
AsksAgree ==
    \A p \in Processes :
        /\ IF st.alive[p] THEN AskOf(Here, p) # Nothing /\ MayAsk(st, p, AskOf(Here, p))
           ELSE AskOf(Here, p) = Nothing
        /\ at > 1 /\ Here.step[1] # <<p>> => AskOf(Here, p) = AskOf(Entries[at - 1], p)

StatesAgree ==
    /\ \A m \in Mailboxes : st.sends[m] = Here.sends[m + 1] /\ st.recvs[m] = Here.recvs[m + 1]
    /\ st.travel \ st.gone = Here.travel
    /\ st.met = Here.met
    /\ \A p \in Processes : st.alive[p] = Here.alive[p + 1] /\ st.told[p] = Here.told[p + 1]

\* What may happen next is the same.
ChoicesAgree ==
    LET asked == {p \in Processes : st.alive[p]}
        outcomes == UNION {Outcomes(st, p, AskOf(Here, p)) : p \in asked}
    IN  Here.enabled = {<<step.by, step.choice>> : step \in outcomes}
                       \cup {<<step.by, step.ask.post>> : step \in Arrivals(st)}

\* The specification calls the same steps dependent as the code does.
DependenceAgrees ==
    LET last == Len(past)
    IN  Here.depends = {place \in 1 .. last - 1 : Dependent(past[place], past[last])}

Agrees == AsksAgree /\ StatesAgree /\ ChoicesAgree /\ DependenceAgrees

\* For traces whose last entry is wrong on purpose: all others agree, and this one does not.
OnlyTheLastIsRejected ==
    IF at < Len(Entries) THEN StepsAgree /\ Agrees ELSE ~Agrees

=============================================================================
