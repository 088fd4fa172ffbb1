------------------------------- MODULE Checked -------------------------------
(***************************************************************************)
(* Any program of a few posts, and what must be true of every state that   *)
(* it can reach. The configurations are in checks/.                        *)
(***************************************************************************)
EXTENDS Dependence

CONSTANTS
    UsedNetworks,  \* which networks
    Offered,       \* which kinds of instructions a program may use
    Follows,       \* what may follow a post: "return", "detach" (of a send), "wait", "timed"
    Choosing,      \* by what receives and probes may choose: "any" (by nothing), "source", "tag", "both"
    MaxPosts       \* how many posts a process makes at most

VARIABLE st

(***************************************************************************)
(* Any program.                                                            *)
(***************************************************************************)

\* What a receive or probe may accept: <<sources, tags>>.
Accepted ==
    LET one(set) == {{item} : item \in set}
        chosen(by) == (IF by \in {"source", "both"} THEN one(Processes) ELSE {Processes})
                      \X (IF by \in {"tag", "both"} THEN one(Tags) ELSE {Tags})
    IN  UNION {chosen(by) : by \in Choosing}

\* All the ways in which something chooses, which is known of the program.
Ways == {<<by \in {"source", "both"}, by \in {"tag", "both"}>> : by \in Choosing}
Observers == [m \in Mailboxes |-> Ways]

\* What a process may ask next.
Instructions(s, p) ==
    LET offers(kind) == kind \in Offered
        may_post == Len(s.posts[p]) < MaxPosts
        sets == SUBSET s.open[p]
        given(offered, set) == IF offered THEN set ELSE {}
    IN  IF ~s.alive[p] THEN {}
        ELSE IF s.must[p] # <<>> THEN {s.must[p][1]}
        ELSE UNION {
            given(offers("send") /\ may_post,
                {SendOf(m, c, t, f) : m \in Mailboxes, c \in Contexts, t \in Tags, f \in Follows}),
            given(offers("recv") /\ may_post,
                {RecvOf(m, c, a[1], a[2], f) : m \in Mailboxes, c \in Contexts, a \in Accepted,
                                               f \in Follows \ {"detach"}}),
            given(offers("wait"), {WaitOf(set, FALSE, FALSE, TRUE) : set \in sets \ {{}}}),
            given(offers("wait-again"), {WaitOf(set, FALSE, FALSE, FALSE) : set \in sets \ {{}}}),
            given(offers("timed-wait"), {WaitOf(set, TRUE, g, TRUE) : set \in sets \ {{}}, g \in BOOLEAN}),
            given(offers("test"), {TestOf(set) : set \in sets}),
            given(offers("local"), {LocalOf(2)}),
            given(offers("cancel"), {CancelOf(post) : post \in s.open[p]}),
            given(offers("probe"),
                {ProbeOf(m, c, a[1], a[2]) : m \in Mailboxes, c \in Contexts, a \in Accepted}),
            given(offers("exit"), {Exit})}

Enabled(s) ==
    Arrivals(s) \cup UNION {UNION {Outcomes(s, p, i) : i \in Instructions(s, p)} : p \in Processes}

\* What a process was told is compared where steps are, and then left out: since the program is arbitrary, nothing that may
\* follow depends on it, but for whether a message was handed over that is asked for again, and what there is to take back.
Hushed(s) ==
    [s EXCEPT !.told = [p \in Processes |-> Silence],
              !.claimed = IF "exit" \in Offered THEN @
                          ELSE {post \in @ : Record(s, post).side = "recv" /\ post \in s.open[post[1]]}]

Init == st \in {InitialState(network) : network \in UsedNetworks}
Next == \E step \in Enabled(st) : st' = Hushed(Apply(step, st))
Spec == Init /\ [][Next]_st

(***************************************************************************)
(* Invariants.                                                             *)
(***************************************************************************)

SendRecord == [side : {"send"}, mailbox : Mailboxes, context : Contexts, tag : Tags, detached : BOOLEAN]
RecvRecord == [side : {"recv"}, mailbox : Mailboxes, context : Contexts, sources : SUBSET Processes,
               tags : SUBSET Tags, detached : {FALSE}]
Post == Processes \X (0 .. MaxPosts - 1)
WaitAsk == [op : {"wait"}, set : SUBSET Post, timed : BOOLEAN, giveup : BOOLEAN, release : BOOLEAN]

Elements(sequence) == {sequence[place] : place \in DOMAIN sequence}
Distinct(sequence) == Cardinality(Elements(sequence)) = Len(sequence)
SidePosts(s, side) == {post \in AllPosts(s) : Record(s, post).side = side}

TypesHold ==
    /\ DOMAIN st = DOMAIN InitialState("mailbox")
    /\ st.network \in UsedNetworks
    /\ \A p \in Processes :
        /\ Len(st.posts[p]) <= MaxPosts
        /\ \A record \in Elements(st.posts[p]) : record \in SendRecord \/ record \in RecvRecord
        /\ st.open[p] \subseteq PostsOf(st, p)
        /\ Len(st.must[p]) <= 1 /\ Elements(st.must[p]) \subseteq WaitAsk
        /\ st.told[p] = Silence
        /\ st.alive[p] \in BOOLEAN
    /\ st.travel \subseteq SidePosts(st, "send")
    /\ st.network = "mailbox" => st.travel = {}
    /\ \A m \in Mailboxes :
        /\ Elements(st.sends[m]) \subseteq {post \in SidePosts(st, "send") : Record(st, post).mailbox = m}
        /\ Elements(st.recvs[m]) \subseteq {post \in SidePosts(st, "recv") : Record(st, post).mailbox = m}
    /\ st.met \subseteq SidePosts(st, "recv") \X SidePosts(st, "send")
    /\ st.gone \subseteq AllPosts(st)
    /\ st.claimed \subseteq UNION {{pair[1], pair[2]} : pair \in st.met}
    /\ \A p \in Processes : st.must[p] # <<>> => MayAsk(st, p, st.must[p][1])

\* A send meets one receive at most, and a receive one send: both in one mailbox, and the one accepts the other.
MatchedOnce ==
    \A pair \in st.met :
        /\ Record(st, pair[1]).mailbox = Record(st, pair[2]).mailbox
        /\ Admits(Record(st, pair[1]), Envelope(st, pair[2]))
        /\ \A other \in st.met : other = pair \/ (other[1] # pair[1] /\ other[2] # pair[2])

\* Each post is in one place: under way, in a queue once, met, or taken back (which then may still be under way).
InOnePlace ==
    /\ \A m \in Mailboxes : Distinct(st.sends[m]) /\ Distinct(st.recvs[m])
    /\ \A post \in AllPosts(st) :
        LET places == <<post \in st.travel \ st.gone, post \in Elements(st.sends[Record(st, post).mailbox]),
                        post \in Elements(st.recvs[Record(st, post).mailbox]),
                        \E pair \in st.met : post \in {pair[1], pair[2]}, post \in st.gone>>
        IN  Cardinality({place \in DOMAIN places : places[place]}) = 1

\* No send and receive wait in one mailbox that fit each other.
NothingOverlooked ==
    \A m \in Mailboxes : \A recv \in Elements(st.recvs[m]), send \in Elements(st.sends[m]) :
        ~Admits(Record(st, recv), Envelope(st, send))

\* So where every receive accepts every message, a mailbox holds posts of one kind.
OneKind ==
    Cardinality(Contexts) = 1 /\ Choosing = {"any"} =>
        \A m \in Mailboxes : st.sends[m] = <<>> \/ st.recvs[m] = <<>>

\* First in, first out: where an older send would have fitted, it has met another receive before, or was taken back; the
\* same for receives. Two posts meet when the later of them reaches the mailbox.
Place(s, post) ==
    LET reached == s.arrived[Record(s, post).mailbox]
    IN  CHOOSE place \in DOMAIN reached : reached[place] = post
MetAt(s, pair) ==
    IF Place(s, pair[1]) > Place(s, pair[2]) THEN Place(s, pair[1]) ELSE Place(s, pair[2])
FirstInFirstOut ==
    \A pair \in st.met :
        LET reached == Elements(st.arrived[Record(st, pair[1]).mailbox]) \ st.gone
            sooner(post) == \E other \in st.met :
                                post \in {other[1], other[2]} /\ MetAt(st, other) < MetAt(st, pair)
        IN  \A post \in reached :
                /\ /\ Record(st, post).side = "send"
                   /\ Place(st, post) < Place(st, pair[2])
                   /\ Admits(Record(st, pair[1]), Envelope(st, post))
                   => sooner(post)
                /\ /\ Record(st, post).side = "recv"
                   /\ Place(st, post) < Place(st, pair[1])
                   /\ Admits(Record(st, post), Envelope(st, pair[2]))
                   => sooner(post)

\* Messages of one sender reach a mailbox in the order in which they were sent.
ChannelsKeepOrder ==
    \A m \in Mailboxes : \A i, j \in DOMAIN st.arrived[m] :
        LET one == st.arrived[m][i]
            other == st.arrived[m][j]
        IN  /\ Record(st, one).side = "send" /\ Record(st, other).side = "send"
            /\ one[1] = other[1] /\ i < j
            => one[2] < other[2]

(***************************************************************************)
(* Independence.                                                           *)
(***************************************************************************)

\* A state as the processes can tell it from others: two sends in one mailbox have an order if some receive of the program
\* could accept both, two receives if some message is accepted by both.
Visible(s) ==
    LET pairs(queue) == UNION {{<<queue[i], queue[j]>> : i \in 1 .. j - 1} : j \in DOMAIN queue}
        contended(queue) == {pair \in pairs(queue) :
                                TellApart(Ways, Envelope(s, pair[1]), Envelope(s, pair[2]))}
        contending(queue) == {pair \in pairs(queue) : Overlap(Record(s, pair[1]), Record(s, pair[2]))}
    IN  [s EXCEPT !.sends = [m \in Mailboxes |-> <<Elements(@[m]), contended(@[m])>>],
                  !.recvs = [m \in Mailboxes |-> <<Elements(@[m]), contending(@[m])>>],
                  !.arrived = <<>>]

Same(one, other) == Visible(one) = Visible(other)

\* Steps that may be next: each with the state after it.
Ahead(s, steps) == {[step |-> step, by |-> step.by, after |-> Apply(step, s)] : step \in steps}

\* Neither step makes the other impossible, and both orders lead to the same state: I(A, B) of the thesis.
Commute(a, b) ==
    /\ IsPossible(b.step, a.after)
    /\ IsPossible(a.step, b.after)
    /\ Same(Apply(b.step, a.after), Apply(a.step, b.after))

\* Some order of the processes: of two steps that commute, one is looked at first.
IsBefore(one, other) ==
    \/ Len(one) < Len(other)
    \/ Len(one) = Len(other) /\ \E i \in DOMAIN one :
        one[i] < other[i] /\ \A j \in 1 .. i - 1 : one[j] = other[j]

\* All pairs of steps of different processes, of two kinds each, commute.
AllCommute(one_kind, other_kind, Condition(_, _)) ==
    LET enabled == Enabled(st)
        of(kind) == Ahead(st, {step \in enabled : step.ask.op \in kind})
    IN  \A a \in of(one_kind), b \in of(other_kind) :
            a.by # b.by /\ Condition(a.step, b.step) /\ (one_kind = other_kind => IsBefore(a.by, b.by))
                => Commute(a, b)

Always(a, b) == TRUE
MailboxOf(step) == IF step.ask.op = "arrive" THEN Record(st, step.ask.post).mailbox ELSE step.ask.mailbox
ElsewhereThan(a, b) == MailboxOf(a) # MailboxOf(b)
NoTimeout(a, b) == \A step \in {a, b} : ~(step.ask.op = "wait" /\ step.choice = None)

\* The theorems of the thesis. Where messages travel, it is their arrival that is a send to a mailbox.
Theorem2 == AllCommute({"send", "arrive"}, {"recv"}, Always)
Theorem3 == /\ AllCommute({"send", "arrive"}, {"send", "arrive"}, ElsewhereThan)
            /\ AllCommute({"recv"}, {"recv"}, ElsewhereThan)
Theorem4 == AllCommute({"wait", "test"}, {"wait", "test"}, NoTimeout)
Theorem5 == AllCommute({"local"}, {"local"}, Always)
Theorem6 == AllCommute({"local"}, {"send", "arrive", "recv"}, Always)
Theorem7 == AllCommute({"local"}, {"wait", "test"}, Always)

\* They are not true for want of such pairs: this is to be violated.
SomethingIsMissing ==
    LET enabled == Enabled(st)
        pair(one_kind, other_kind) ==
            \E a, b \in enabled : a.by # b.by /\ a.ask.op \in one_kind /\ b.ask.op \in other_kind
    IN  ~(/\ pair({"send"}, {"recv"}) /\ pair({"send"}, {"send"}) /\ pair({"recv"}, {"recv"})
          /\ pair({"wait"}, {"wait"}) /\ pair({"wait"}, {"test"}) /\ pair({"test"}, {"test"})
          /\ pair({"local"}, {"local"}) /\ pair({"local"}, {"send"}) /\ pair({"local"}, {"recv"})
          /\ pair({"local"}, {"wait"}) /\ pair({"local"}, {"test"}))

Look(step, s) == Seen(step, s, Observers)

\* What the dependence relation calls independent commutes wherever both are possible.
IndependentCommute ==
    LET ahead == Ahead(st, Enabled(st))
    IN  \A a, b \in ahead :
            IsBefore(a.by, b.by) /\ ~Dependent(Look(a.step, st), Look(b.step, st)) => Commute(a, b)

\* What an engine relies on: it compares two steps that it took one after the other, each as it was when taken. If the
\* relation calls them independent, then the second was possible before the first, and both orders lead to the same state.
IndependentSwap ==
    \A a \in Enabled(st) :
        LET seen == Look(a, st)
            after == Apply(a, st)
        IN  \A b \in Enabled(after) :
                a.by # b.by /\ ~Dependent(seen, Look(b, after)) =>
                    /\ IsPossible(b, st)
                    /\ LET swapped == Apply(b, st)
                       IN  IsPossible(a, swapped) /\ Same(Apply(b, after), Apply(a, swapped))

=============================================================================
