----------------------------- MODULE Dependence -----------------------------
(***************************************************************************)
(* When the order of two steps may matter: the arms that concern           *)
(* communication of `dependent` in crates/explore/src/dependence.rs.       *)
(***************************************************************************)
EXTENDS Primitives

\* By what a receive or probe chooses: <<by source, by tag>>.
WayOf(criteria) == <<criteria.sources # Processes, criteria.tags # Tags>>

\* Whether something that chooses in one of these ways could accept both messages, and so tell which of them came first.
TellApart(ways, one, other) ==
    /\ one[1] = other[1]
    /\ \E way \in ways :
        (way[1] => one[2] = other[2]) /\ (way[2] => one[3] = other[3])

\* A step as it looks in a state: what `Transition` carries in crates/explore/src/transition.rs. `posts` are the posts that
\* are waited for or taken back, as they are now; `observers` says in which ways the receives and probes of each mailbox
\* choose, in the whole program.
Seen(step, st, observers) ==
    LET ask == step.ask
        p == step.by[1]
        awaited(post) == [post |-> post, mailbox |-> Record(st, post).mailbox,
                          side |-> Record(st, post).side, partner |-> Partner(st, post),
                          envelope |-> IF Record(st, post).side = "send" THEN Envelope(st, post) ELSE None,
                          criteria |-> Record(st, post)]
        blank == [by |-> step.by, kind |-> "local", post |-> None, mailbox |-> {}, envelope |-> None, ways |-> {},
                  criteria |-> [context |-> None, sources |-> {}, tags |-> {}], posts |-> {},
                  timeout |-> FALSE]
        \* Broken on purpose: that some choose by nothing is not known.
        ways(mailbox) == observers[mailbox] \ (IF Broken = "observers" THEN {<<FALSE, FALSE>>} ELSE {})
        next == <<p, Len(st.posts[p])>>
        criteria == [context |-> ask.context, sources |-> ask.sources, tags |-> ask.tags]
    IN  CASE ask.op = "send" /\ st.network = "mailbox" ->
                [blank EXCEPT !.kind = "send", !.post = next, !.mailbox = {ask.mailbox},
                              !.envelope = EnvelopeOf(p, ask), !.ways = ways(ask.mailbox)]
          [] ask.op = "send" /\ st.network # "mailbox" -> [blank EXCEPT !.kind = "submit", !.post = next]
          [] ask.op = "arrive" ->
                [blank EXCEPT !.kind = "send", !.post = ask.post, !.mailbox = {Record(st, ask.post).mailbox},
                              !.envelope = Envelope(st, ask.post),
                              !.ways = ways(Record(st, ask.post).mailbox)]
          [] ask.op = "recv" ->
                [blank EXCEPT !.kind = "recv", !.post = next, !.mailbox = {ask.mailbox}, !.criteria = criteria]
          [] ask.op = "probe" ->
                [blank EXCEPT !.kind = "probe", !.mailbox = {ask.mailbox}, !.criteria = criteria]
          [] ask.op \in {"wait", "test"} ->
                [blank EXCEPT !.kind = "wait", !.posts = {awaited(post) : post \in ask.set},
                              !.timeout = ask.op = "wait" /\ step.choice = None]
          [] ask.op = "cancel" -> [blank EXCEPT !.kind = "withdraw", !.posts = {awaited(ask.post)}]
          [] ask.op = "exit" ->
                \* Who ends takes back what it was not told of.
                [blank EXCEPT !.kind = "withdraw",
                              !.posts = {awaited(post) : post \in {post \in PostsOf(st, p) :
                                  ~Record(st, post).detached /\ post \notin st.gone \cup st.claimed}}]
          [] OTHER -> blank

\* Whether a step that posts may meet a post, or see it: the one is a message that the other accepts.
MayMeet(one, seen) ==
    /\ seen.mailbox = {one.mailbox}
    /\ IF seen.kind = "send" THEN one.side = "recv" /\ Admits(one.criteria, seen.envelope)
                             ELSE one.side = "send" /\ Admits(seen.criteria, one.envelope)

\* Whether a post, or the arrival of what was posted, completed one of a set, or may yet do so.
Completed(posts, seen) ==
    \E one \in posts :
        IF one.partner # None THEN seen.post \in {one.partner, one.post}
        ELSE seen.post = one.post \/ MayMeet(one, seen)

\* Whether taking posts back matters to a step: it might have met one of them, or seen it, or waits for it.
Withdrawn(posts, seen) ==
    \E one \in {one \in posts : one.partner = None} :
        CASE seen.kind = "send" -> MayMeet(one, seen) \/ seen.post = one.post
          [] seen.kind \in {"recv", "probe"} -> MayMeet(one, seen)
          [] seen.kind \in {"wait", "withdraw"} -> one.post \in {other.post : other \in seen.posts}
          [] OTHER -> FALSE

\* Half of the relation. An arm that is broken on purpose says that the order does not matter.
Ordered(a, b) ==
    CASE a.kind = "send" /\ b.kind = "send" ->
            Broken # "send-send" /\ a.mailbox = b.mailbox /\ TellApart(a.ways \cup b.ways, a.envelope, b.envelope)
      [] a.kind = "send" /\ b.kind = "submit" -> Broken # "submit-arrive" /\ a.post = b.post
      [] a.kind = "send" /\ b.kind = "probe" ->
            Broken # "send-probe" /\ a.mailbox = b.mailbox /\ Admits(b.criteria, a.envelope)
      [] a.kind = "send" /\ b.kind \in {"wait", "withdraw"} ->
            Broken # "send-" \o b.kind /\ Completed(b.posts, a)
      [] a.kind = "recv" /\ b.kind = "recv" ->
            Broken # "recv-recv" /\ a.mailbox = b.mailbox /\ Overlap(a.criteria, b.criteria)
      [] a.kind = "recv" /\ b.kind = "probe" ->
            Broken # "recv-probe" /\ a.mailbox = b.mailbox /\ Overlap(a.criteria, b.criteria)
      [] a.kind = "recv" /\ b.kind \in {"wait", "withdraw"} ->
            Broken # "recv-" \o b.kind /\ Completed(b.posts, a)
      [] a.kind = "wait" -> a.timeout /\ Broken # "timeout" /\ Withdrawn(a.posts, b)
      [] a.kind = "withdraw" -> Broken # "withdraw" /\ Withdrawn(a.posts, b)
      [] OTHER -> FALSE

\* Steps of one process are done in its order.
Dependent(a, b) == a.by = b.by \/ Ordered(a, b) \/ Ordered(b, a)

=============================================================================
