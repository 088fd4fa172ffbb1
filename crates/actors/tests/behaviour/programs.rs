//! Messages, randomness, bad ends, deployments and deadlocks.

use simurgh::prelude::*;

use crate::support::folder::fresh;
use crate::support::log::{Log, Play, fine};
use crate::support::platforms::three_hosts;

#[test]
fn a_message_of_another_type_is_told() {
    let mut play = Play::on(three_hosts());
    play.actor("a", "a", |ctx, _| async move { ctx.mailbox("x").send("text", 1.0).await });
    play.actor("b", "b", |ctx, _| async move { ctx.mailbox::<u32>("x").recv().await.map(drop) });
    let (outcome, _) = play.ends();
    let [failure] = outcome.report.failures.as_slice() else { panic!("{:?}", outcome.report) };
    assert_eq!(
        failure.message,
        "mailbox \"x\" brought a message that is not a u32; give sender and receiver the same type"
    );
    assert!(!outcome.is_fine());
}

#[test]
fn actors_that_come_to_a_bad_end_are_reported_and_hurt_no_other() {
    let mut play = Play::on(three_hosts());
    play.actor("returns an error", "a", |ctx, _| async move {
        ctx.sleep(1.0).await;
        Err("out of ideas".into())
    });
    play.actor("panics", "a", |ctx, _| async move {
        ctx.sleep(2.0).await;
        assert_eq!(1 + 1, 3, "arithmetic");
    });
    play.actor("awaits a stranger", "a", |ctx, _| async move {
        ctx.sleep(3.0).await;
        std::future::pending::<()>().await;
    });
    play.actor("polls two at once", "a", |ctx, _| async move {
        ctx.sleep(4.0).await;
        let (mut one, mut two) = (Box::pin(ctx.sleep(1.0)), Box::pin(ctx.sleep(2.0)));
        std::future::poll_fn(move |cx| {
            let _ = one.as_mut().poll(cx);
            two.as_mut().poll(cx)
        })
        .await;
    });
    play.actor("is well", "b", |ctx, log| async move {
        ctx.sleep(5.0).await;
        log.at(&ctx, "well");
    });
    let (outcome, lines) = play.ends();
    assert_eq!(lines, ["5.000000 well"]);
    let told: Vec<_> = outcome
        .report
        .failures
        .iter()
        .map(|failure| (failure.at.seconds(), failure.name.as_str(), failure.message.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (1.0, "returns an error", "out of ideas"),
            (2.0, "panics", "panicked: assertion `left == right` failed: arithmetic\n  left: 2\n right: 3"),
            (
                3.0,
                "awaits a stranger",
                "awaits a future that has nothing to do with the simulation (a channel or timer of another runtime?)"
            ),
            (
                4.0,
                "polls two at once",
                "panicked: an actor does one thing at a time: start the activities, then wait for one or all of them \
                 (ActivitySet), instead of polling several operations at once"
            ),
        ]
    );
}

#[test]
fn a_seed_is_a_run() {
    let draw = |program_seed, settings_seed| {
        let mut program = Program::with_seed(three_hosts(), program_seed);
        let log = Log::default();
        for name in ["one", "two"] {
            let seen = log.clone();
            program
                .spawn(name, "a", move |ctx: Ctx| async move {
                    let mut random = ctx.random();
                    let chosen = ctx.choose(1000).await;
                    assert!(chosen < 1000);
                    seen.write(format!("{chosen} {}", random.below(1000)));
                })
                .unwrap();
        }
        program.simulate(Settings { seed: settings_seed, ..Settings::default() }).unwrap();
        log.lines()
    };
    assert_eq!(draw(1, 0), draw(1, 0));
    assert_eq!(draw(1, 0), draw(0, 1));
    let runs = [draw(0, 0), draw(1, 0), draw(0, 2)];
    for (first, second) in [(0, 1), (0, 2), (1, 2)] {
        for (line, other) in runs[first].iter().zip(&runs[second]) {
            let differ = line.split(' ').zip(other.split(' ')).all(|(one, other)| one != other);
            assert!(differ, "what is chosen and what is drawn both follow the seed: {line}, {other}");
        }
    }
    let [one, two]: [String; 2] = draw(0, 0).try_into().unwrap();
    assert_ne!(one, two, "each actor has numbers of its own");
}

#[test]
fn actors_make_actors_which_run_first() {
    let mut play = Play::on(three_hosts());
    play.actor("parent", "a", |ctx, log| async move {
        let seen = log.clone();
        let child = ctx
            .spawn("child", "b", |ctx: Ctx| async move {
                seen.at(&ctx, format!("child on {}", ctx.host().name()));
                ctx.sleep(1.0).await;
            })?
            .await;
        log.at(&ctx, "parent");
        child.join().await;
        log.at(&ctx, "joined");
        let error = ctx.spawn("child", "nowhere", |_| async {}).unwrap_err();
        log.write(error.to_string());
        fine()
    });
    assert_eq!(
        play.lines(),
        [
            "0.000000 child on b",
            "0.000000 parent",
            "1.000000 joined",
            "there is no host \"nowhere\" in the platform; `simurgh platform show FILE` lists them"
        ]
    );
}

#[test]
fn an_actor_may_run_a_simulation_of_its_own() {
    let mut play = Play::on(three_hosts());
    play.actor("outer", "a", |ctx, log| async move {
        ctx.sleep(1.0).await;
        let mut inner = Play::on(three_hosts());
        inner.actor("inner", "b", |ctx, log| async move {
            ctx.sleep(5.0).await;
            log.at(&ctx, "inner");
        });
        log.write(inner.lines().concat());
        log.at(&ctx, "outer");
    });
    assert_eq!(play.lines(), ["5.000000 inner", "1.000000 outer"]);
}

#[test]
fn a_deployment_starts_registered_functions() {
    let folder = fresh("deployment");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write(
        "d.xml",
        r#"<platform version="4.1">
        <actor host="a" function="say"><argument value="hello"/></actor>
        <actor host="b" function="say" start_time="2" kill_time="3"><argument value="bye"/></actor>
        </platform>"#,
    );
    write("wrong.xml", "<platform version=\"4.1\">\n<actor host=\"a\" function=\"sing\"/></platform>");
    let mut play = Play::on(three_hosts());
    let log = play.log.clone();
    play.program.register("say", move |ctx: Ctx, arguments: Vec<String>| {
        let log = log.clone();
        async move {
            log.at(&ctx, format!("{} on {}", arguments.concat(), ctx.host().name()));
            ctx.sleep(5.0).await;
            log.at(&ctx, arguments.concat());
        }
    });
    let error = play.program.deploy(folder.join("wrong.xml")).unwrap_err().to_string();
    assert!(
        error.ends_with("wrong.xml:2: there is no function \"sing\"; registered are: \"say\""),
        "{error}"
    );
    play.program.deploy(folder.join("d.xml")).unwrap();
    assert_eq!(play.lines(), ["0.000000 hello on a", "2.000000 bye on b", "5.000000 hello"]);
}
