//! Tests of commands as text, and of the texts that a cluster prints. The commands are the commands of the example
//! `cluster`.

use std::time::Duration;

use actix_bully::{protocol::Role, testkit::cluster::Cluster};
use bully_core::{
    protocol::Election,
    record::{RecordedCommand, TraceEntry, What},
};

use super::{
    MS,
    command::{Answer, Command, Verb, read},
    five, settled, test,
};

#[test]
fn commands_about_the_run_are_answered() {
    test(|| async {
        let mut cluster = settled(five()).await;
        let mut answers = Vec::new();
        for command in read("settle; status; trace; help; wait 5ms; quit").unwrap() {
            answers.push(command.run(&mut cluster).await.unwrap());
        }
        let [
            Answer::Settled(settled),
            Answer::Status(status),
            Answer::Text(trace),
            Answer::Text(help),
            Answer::Done,
            Answer::Quit,
        ] = answers.as_slice()
        else {
            panic!("{answers:?}");
        };
        assert_eq!(settled.leader().unwrap(), "agent-5");
        assert_eq!(status.agents().len(), 5);
        assert!(
            trace.contains("agent-5") && help.contains("cut agent-1 > agent-2"),
            "{help}"
        );
    });
}

fn command_of(entry: &TraceEntry) -> Option<&RecordedCommand> {
    if let What::Command(command) = &entry.what {
        return Some(command);
    }
    None
}

/// Runs each command of the script, and asserts that the cluster accepts it. Returns the recorded commands.
async fn given<E: Election>(cluster: &mut Cluster<E>, script: &str) -> Vec<RecordedCommand> {
    cluster.settle().await.unwrap();
    for command in read(script).unwrap() {
        let said = command.to_string();
        let done = command.run(cluster).await;
        assert!(done.is_ok(), "{said}: {done:?}");
    }
    let recording = cluster.recording("bully");
    let commands = recording.entries().iter().filter_map(command_of);
    let commands: Vec<_> = commands.skip(1).cloned().collect();
    let (script, test) = (recording.to_script(), recording.to_rust_test().unwrap());
    for command in &commands {
        assert!(
            script
                .as_ref()
                .is_ok_and(|script| script.contains(&format!("\n{command}\n")))
        );
        let call = format!(".apply(&\"{command}\".parse()?)");
        assert!(
            *command == RecordedCommand::Settle || test.contains(&call),
            "{command}"
        );
    }
    commands
}

/// Each form of a command must run here, so a new command needs a scene.
#[test]
fn every_form_is_carried_out_and_recorded_with_its_words() {
    test(|| async {
        let scenes = [
            "expire agent-5; settle; crash agent-4 agent-5; restart agent-5; restart agent-4; \
             stop agent-4 agent-5; restart agent-5; restart agent-4; kill agent-5; restart agent-5; \
             hang agent-5; resume agent-5; freeze agent-5; resume agent-5; settle",
            "join agent-6; leave agent-6; join agent-6 50; leave agent-6; join agent-6 none; \
             leave agent-6; join-observer agent-6; leave agent-6; join-observer agent-6 50; settle; \
             leave agent-5; settle",
            "score agent-2 50; score agent-2 10,-300; score agent-2 none; campaign agent-1; settle; \
             step-down agent-5; settle",
            "step-down agent-5 agent-3; settle",
            "partition agent-1 agent-2 | agent-3; cut agent-1 agent-2; cut agent-1 > agent-2; \
             isolate agent-3; mend agent-1 agent-2; rejoin agent-3; heal; \
             network delay 5ms..20ms loss 10% duplicate 0.5% slow 1% 1s any-order",
            "add-voter agent-6; remove-voter agent-5; replace-voter agent-5 agent-6",
        ];
        let mut done = Vec::new();
        for scene in scenes {
            let network = actix_bully::testkit::faults::Conditions::builder();
            let network = network.delay(MS(1)..=MS(3)).build().unwrap();
            let builder = Cluster::builder().agents(5).network(network);
            let is_quorum = scene.starts_with("expire") || scene.starts_with("add-voter");
            let mut cluster = if is_quorum { builder.quorum() } else { builder }
                .start()
                .unwrap();
            if scene.starts_with("add-voter") {
                cluster.join("6", 6).unwrap();
            }
            done.extend(given(&mut cluster, scene).await);
        }
        for (form, _) in RecordedCommand::FORMS {
            let command: RecordedCommand = form.parse().unwrap();
            assert!(done.contains(&command), "{form}");
        }
    });
}

#[test]
fn the_words_about_the_run_are_read_beside_those_of_the_cluster() {
    let verb = |text: &str| text.parse::<Command>().unwrap().verb;
    assert_eq!(
        verb(" wait  1.25ms "),
        Verb::Wait(Duration::from_micros(1_250))
    );
    assert_eq!(verb("until 2s"), Verb::Until(Duration::from_secs(2)));
    assert_eq!(verb("heal"), Verb::Given(RecordedCommand::Heal));
    for (said, advice) in [
        ("wait 5", "write a number with ns, us, ms or s"),
        ("crsh 5", "did you mean `crash`? `help` lists all."),
        ("cut 1", "write `cut agent-1 agent-2`"),
    ] {
        let refused = said.parse::<Command>().unwrap_err();
        assert!(refused.contains(advice), "{said}: {refused}");
    }
}

#[test]
fn a_script_is_commands_in_order_or_refused_as_a_whole() {
    let script = read("crash 5; settle\n# a remark\n\nstatus # another;; quit\n;heal").unwrap();
    let script: Vec<_> = script.iter().map(ToString::to_string).collect();
    assert_eq!(script, ["crash 5", "settle", "status", "heal"]);
    let each = read("restart 4 5; crash 1 2").unwrap();
    let each: Vec<_> = each.iter().map(ToString::to_string).collect();
    assert_eq!(each, ["restart 4", "restart 5", "crash 1 2"]);
    assert!(read("").unwrap().is_empty());
    let wrong = read("crash 5; setle").unwrap_err();
    assert!(wrong.contains("`setle`"));
}

#[test]
fn the_status_is_an_aligned_table() {
    test(|| async {
        let builder = Cluster::builder()
            .agent("a", (3, -20))
            .witness("witness")
            .observer("o");
        let mut cluster = settled(builder).await;
        cluster.join("late", 1).unwrap();
        cluster.crash("late").await.unwrap();
        cluster.settle().await.unwrap();
        assert_eq!(
            cluster.status().to_string(),
            "AGENT    SCORE     STATE  ROLE      TERM  LEADER\n\
             a        (3, -20)  up     leader    1     a\n\
             witness  none      up     follower  1     a\n\
             o        observer  up     follower  1     a\n\
             late     1         down   -         -     -"
        );
        assert_eq!(cluster.status().agents()[0].status.role, Role::Leader);
    });
}
