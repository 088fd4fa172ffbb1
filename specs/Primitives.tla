----------------------------- MODULE Primitives -----------------------------
(***************************************************************************)
(* The communication primitives of Simurgh's kernel as its checker drives  *)
(* it: Send, Recv, WaitAny and TestAny, local steps, and what takes posts  *)
(* back (a timeout, a cancellation, the end of a process).                 *)
(*                                                                         *)
(* After Rosa's thesis "Performance and correctness assessment of          *)
(* distributed systems" (2011), 3.9 to 3.12, written anew; README.md says  *)
(* what was mended.                                                        *)
(*                                                                         *)
(* All is functional: a state is a record, Outcomes gives the steps that   *)
(* an instruction allows in a state, Apply the state after a step. So two  *)
(* orders of two steps can be computed and compared.                       *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Processes,  \* numbers
    Mailboxes,  \* numbers
    Contexts,   \* messages of different contexts never meet
    Tags,       \* what a sender may write on a message
    Remember,   \* whether the order in which posts reached a mailbox is kept, to state what it must be
    Broken      \* "none", or what is wrong on purpose, to see that the properties can fail

(***************************************************************************)
(* Names.                                                                  *)
(***************************************************************************)

\* A post is a send or a receive. It is named by who made it and how many posts that process had made before, so that its
\* name does not depend on what others do. None is no post.
None == <<>>

Networks == {"mailbox", "pairwise", "unordered"}

\* What is written on a message: <<context, source, tag>>.
EnvelopeOf(process, record) == <<record.context, process, record.tag>>

\* Whether a receive, or a probe, accepts a message.
Admits(criteria, envelope) ==
    /\ criteria.context = envelope[1]
    /\ envelope[2] \in criteria.sources
    /\ envelope[3] \in criteria.tags

\* Whether some message may be accepted by both.
Overlap(one, other) ==
    /\ one.context = other.context
    /\ one.sources \cap other.sources # {}
    /\ one.tags \cap other.tags # {}

(***************************************************************************)
(* States.                                                                 *)
(***************************************************************************)

Silence == [what |-> "silence", post |-> None, message |-> None, number |-> 0]

InitialState(network) == [
    network |-> network,
    posts   |-> [p \in Processes |-> <<>>],   \* what each process has posted, oldest first
    travel  |-> {},                           \* the messages under way
    sends   |-> [m \in Mailboxes |-> <<>>],   \* the sends in each mailbox, oldest first
    recvs   |-> [m \in Mailboxes |-> <<>>],   \* the receives in each mailbox, oldest first
    met     |-> {},                           \* pairs <<receive, send>> that have met: complete from then on
    gone    |-> {},                           \* posts that were taken back: they have failed
    open    |-> [p \in Processes |-> {}],     \* the own posts that each process may ask about
    claimed |-> {},                           \* the posts whose process was told that they have met
    must    |-> [p \in Processes |-> <<>>],   \* the wait that follows a blocking post, if one is due
    told    |-> [p \in Processes |-> Silence],\* the last answer to each process
    alive   |-> [p \in Processes |-> TRUE],
    arrived |-> [m \in Mailboxes |-> <<>>]    \* what has reached each mailbox, oldest first, if remembered
]

PostsOf(st, p) == {<<p, number>> : number \in 0 .. Len(st.posts[p]) - 1}
AllPosts(st) == UNION {PostsOf(st, p) : p \in Processes}

Record(st, post) == st.posts[post[1]][post[2] + 1]
Envelope(st, post) == EnvelopeOf(post[1], Record(st, post))

\* The post that a post has met.
Partner(st, post) ==
    LET pairs == {pair \in st.met : post = pair[1] \/ post = pair[2]}
    IN  IF pairs = {} THEN None
        ELSE LET pair == CHOOSE pair \in pairs : TRUE
             IN  IF pair[1] = post THEN pair[2] ELSE pair[1]

\* A communication is complete when its two posts have met: time is abstract.
IsOver(st, post) == post \in st.gone \/ Partner(st, post) # None

(***************************************************************************)
(* Instructions: what a process may ask. What it asks is its own affair,   *)
(* so it is no part of the state: the program is arbitrary.                *)
(***************************************************************************)

SendOf(mailbox, context, tag, follow) ==
    [op |-> "send", mailbox |-> mailbox, context |-> context, tag |-> tag, follow |-> follow]
RecvOf(mailbox, context, sources, tags, follow) ==
    [op |-> "recv", mailbox |-> mailbox, context |-> context, sources |-> sources, tags |-> tags,
     follow |-> follow]
\* `timed`: the wait may time out; `giveup`: what has not met is taken back then; `release`: the process will not ask again
\* about what was completed.
WaitOf(set, timed, giveup, release) ==
    [op |-> "wait", set |-> set, timed |-> timed, giveup |-> giveup, release |-> release]
TestOf(set) == [op |-> "test", set |-> set]
LocalOf(choices) == [op |-> "local", choices |-> choices]
CancelOf(post) == [op |-> "cancel", post |-> post]
ProbeOf(mailbox, context, sources, tags) ==
    [op |-> "probe", mailbox |-> mailbox, context |-> context, sources |-> sources, tags |-> tags]
Exit == [op |-> "exit"]

\* Whether a process may ask this: it waits for own posts only that it has not let go of, and what follows a blocking post
\* is the wait for it.
MayAsk(st, p, instruction) ==
    /\ st.alive[p]
    /\ IF st.must[p] # <<>> THEN instruction = st.must[p][1]
       ELSE CASE instruction.op \in {"wait", "test"} -> instruction.set \subseteq st.open[p]
              [] instruction.op = "cancel" -> instruction.post \in st.open[p]
              [] OTHER -> TRUE

(***************************************************************************)
(* Steps. A step is who does it, what was asked, and which of the possible *)
(* outcomes it is: the post that a wait or test takes, the number that is  *)
(* chosen, or None. None after a wait or a test says that nothing was over.*)
(***************************************************************************)

Outcomes(st, p, instruction) ==
    LET step(choice) == [by |-> <<p>>, ask |-> instruction, choice |-> choice]
    IN  CASE instruction.op \in {"wait", "test"} ->
                LET over == {post \in instruction.set : IsOver(st, post)}
                    otherwise == instruction.op = "test" \/ instruction.timed
                IN  IF over # {} THEN {step(post) : post \in over}
                    ELSE IF otherwise THEN {step(None)} ELSE {}
          [] instruction.op = "local" -> {step(<<number>>) : number \in 0 .. instruction.choices - 1}
          [] OTHER -> {step(None)}

\* A message under way may arrive next, unless an earlier one of the same sender, to the same mailbox and in the same
\* context, is under way too and these keep their order.
MayArrive(st, post) ==
    \/ st.network = "unordered"
    \/ \A other \in st.travel :
        \/ other[1] # post[1]
        \/ Record(st, other).mailbox # Record(st, post).mailbox
        \/ Record(st, other).context # Record(st, post).context
        \/ other[2] >= post[2]

\* Arrivals are steps of a channel, of sender, mailbox and context, where these keep their order; else of the message
\* itself.
Arrivals(st) ==
    LET carrier(post) == IF st.network = "pairwise" THEN <<post[1], Record(st, post).mailbox, Record(st, post).context>>
                         ELSE <<post[1], post[2], 0>>
    IN  {[by |-> carrier(post), ask |-> [op |-> "arrive", post |-> post], choice |-> None] :
            post \in {post \in st.travel : MayArrive(st, post)}}

\* Whether a step may be taken in a state.
IsPossible(step, st) ==
    IF step.ask.op = "arrive" THEN step.ask.post \in st.travel /\ MayArrive(st, step.ask.post)
    ELSE /\ MayAsk(st, step.by[1], step.ask)
         /\ step \in Outcomes(st, step.by[1], step.ask)

(***************************************************************************)
(* What steps do.                                                          *)
(***************************************************************************)

\* The place of the oldest in a queue that fits; 0 if none does.
Oldest(queue, Fits(_)) ==
    LET places == {place \in 1 .. Len(queue) : Fits(queue[place])}
        before(one, other) == IF Broken = "newest" THEN one >= other ELSE one <= other
    IN  IF places = {} THEN 0
        ELSE CHOOSE place \in places : \A other \in places : before(place, other)

Without(queue, place) == SubSeq(queue, 1, place - 1) \o SubSeq(queue, place + 1, Len(queue))

\* A post reaches its mailbox: it meets the oldest of the other kind that fits, or joins the queue of its own kind.
Reach(st, post) ==
    LET mailbox == Record(st, post).mailbox
        noted == IF Remember THEN [st EXCEPT !.arrived[mailbox] = Append(@, post)] ELSE st
    IN  IF Record(st, post).side = "send"
        THEN LET fits(recv) == Admits(Record(st, recv), Envelope(st, post))
                 place == Oldest(st.recvs[mailbox], fits)
             IN  IF place = 0 THEN [noted EXCEPT !.sends[mailbox] = Append(@, post)]
                 ELSE [noted EXCEPT !.met = @ \cup {<<st.recvs[mailbox][place], post>>},
                                    !.recvs[mailbox] = Without(@, place)]
        ELSE LET fits(send) == Admits(Record(st, post), Envelope(st, send))
                 place == Oldest(st.sends[mailbox], fits)
             IN  IF place = 0 THEN [noted EXCEPT !.recvs[mailbox] = Append(@, post)]
                 ELSE [noted EXCEPT !.met = @ \cup {<<post, st.sends[mailbox][place]>>},
                                    !.sends[mailbox] = Without(@, place)]

\* Posts are taken back, unless they have met somebody. One that is under way travels on, and nothing comes of it.
TakeBack(st, posts) ==
    LET taken == {post \in posts : ~IsOver(st, post)}
        stays(post) == post \notin taken
    IN  [st EXCEPT !.gone = @ \cup taken,
                   !.sends = [m \in Mailboxes |-> SelectSeq(@[m], stays)],
                   !.recvs = [m \in Mailboxes |-> SelectSeq(@[m], stays)]]

Tell(st, p, what, post, message, number) ==
    [st EXCEPT !.told[p] = [what |-> what, post |-> post, message |-> message, number |-> number]]

\* What the process has of a post that it made: nothing if it is detached, else a name to ask about it by.
Follow(st, p, post, follow) ==
    CASE follow = "detach" -> st
      [] follow = "return" -> [st EXCEPT !.open[p] = @ \cup {post}]
      [] OTHER -> [st EXCEPT !.open[p] = @ \cup {post},
                             !.must[p] = <<WaitOf({post}, follow = "timed", follow = "timed", TRUE)>>]

ApplySend(st, p, ask) ==
    LET post == <<p, Len(st.posts[p])>>
        record == [side |-> "send", mailbox |-> ask.mailbox, context |-> ask.context, tag |-> ask.tag,
                   detached |-> ask.follow = "detach"]
        posted == Follow([st EXCEPT !.posts[p] = Append(@, record)], p, post, ask.follow)
        sent == IF st.network = "mailbox" THEN Reach(posted, post)
                ELSE [posted EXCEPT !.travel = @ \cup {post}]
    IN  Tell(sent, p, "posted", post, None, 0)

ApplyRecv(st, p, ask) ==
    LET post == <<p, Len(st.posts[p])>>
        record == [side |-> "recv", mailbox |-> ask.mailbox, context |-> ask.context,
                   sources |-> ask.sources, tags |-> ask.tags, detached |-> FALSE]
        posted == Follow([st EXCEPT !.posts[p] = Append(@, record)], p, post, ask.follow)
    IN  Tell(Reach(posted, post), p, "posted", post, None, 0)

\* A message that was taken back arrives too, and nothing comes of it.
ApplyArrive(st, ask) ==
    LET arrived == [st EXCEPT !.travel = @ \ {ask.post}]
    IN  IF ask.post \in st.gone THEN arrived ELSE Reach(arrived, ask.post)

\* A wait or a test takes one that is over. The receiving end is handed the message, once.
ApplyTake(st, p, ask, post) ==
    LET receives == Record(st, post).side = "recv" /\ post \notin st.gone
        message == IF receives /\ post \notin st.claimed THEN Partner(st, post) ELSE None
        release == ask.op = "wait" /\ ask.release
        taken == [st EXCEPT !.claimed = IF post \in st.gone THEN @ ELSE @ \cup {post},
                            !.open[p] = IF release THEN @ \ {post} ELSE @,
                            !.must[p] = <<>>]
    IN  Tell(taken, p, IF post \in st.gone THEN "failed" ELSE "taken", post, message, 0)

ApplyTimeout(st, p, ask) ==
    LET left == [st EXCEPT !.open[p] = IF ask.release THEN @ \ ask.set ELSE @, !.must[p] = <<>>]
        given == IF ask.giveup THEN TakeBack(left, ask.set) ELSE left
    IN  Tell(given, p, "timeout", None, None, 0)

ApplyProbe(st, p, ask) ==
    LET queue == st.sends[ask.mailbox]
        fits(send) == Admits(ask, Envelope(st, send))
        place == Oldest(queue, fits)
    IN  IF place = 0 THEN Tell(st, p, "probed", None, None, 0)
        ELSE Tell(st, p, "probed", None, Envelope(st, queue[place]), 0)

\* Who ends takes back what has met nobody, but for messages that it has let go of.
ApplyExit(st, p) ==
    LET ended == [st EXCEPT !.alive[p] = FALSE, !.open[p] = {}, !.told[p] = Silence]
    IN  TakeBack(ended, {post \in PostsOf(st, p) : ~Record(st, post).detached})

Apply(step, st) ==
    LET ask == step.ask
        p == step.by[1]
    IN  CASE ask.op = "send" -> ApplySend(st, p, ask)
          [] ask.op = "recv" -> ApplyRecv(st, p, ask)
          [] ask.op = "arrive" -> ApplyArrive(st, ask)
          [] ask.op \in {"wait", "test"} /\ step.choice # None -> ApplyTake(st, p, ask, step.choice)
          [] ask.op = "wait" /\ step.choice = None -> ApplyTimeout(st, p, ask)
          [] ask.op = "test" /\ step.choice = None -> Tell(st, p, "nothing", None, None, 0)
          [] ask.op = "local" -> Tell(st, p, "chosen", None, None, step.choice[1])
          [] ask.op = "cancel" -> Tell(TakeBack(st, {ask.post}), p, "ready", None, None, 0)
          [] ask.op = "probe" -> ApplyProbe(st, p, ask)
          [] ask.op = "exit" -> ApplyExit(st, p)

=============================================================================
