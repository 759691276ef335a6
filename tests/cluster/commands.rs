//! The same as text, and what there is to read.

use actix_bully::{
    protocol::Role,
    testkit::cluster::{Answer, Cluster, Command, Script},
};

use super::{MS, five, settled, test};

#[test]
fn every_command_does_what_its_verb_does() {
    test(|| async {
        let script: Script = "settle; crash 5; settle; restart 5; settle; stop 4; restart 4; hang 5; \
             settle; resume 5; settle; join 6; settle; leave 6; settle; partition 1 | 2 3; settle; heal; settle; \
             cut 1 2; cut 1 > 3; isolate 4; heal; delay 1ms..2ms; loss 1%; duplicate 1%; \
             loss 0%; duplicate 0%; score 1 10; settle; score 1 none; settle; step-down 5 2; settle; \
             campaign 5; settle; join 7 none; wait 5ms; settle; status; trace; help"
            .parse()
            .unwrap();
        let mut cluster = five().start().unwrap();
        let mut last = None;
        for command in script {
            let said = command.to_string();
            match cluster.run(command).await {
                Ok(Answer::Settled(settled)) => last = settled.leader().cloned(),
                Ok(_) => {}
                Err(wrong) => panic!("{said}: {wrong}"),
            }
        }
        assert_eq!(last.unwrap(), "agent-5");
        assert_eq!(cluster.conditions().delay().max, MS(2));
        let help = cluster.run(Command::Help).await.unwrap().to_string();
        assert!(help.contains("partition 1 2 | 3 4 5"));
        assert!(matches!(cluster.run(Command::Quit).await, Ok(Answer::Quit)));
        let wrong = cluster.run("delay 2ms".parse().unwrap()).await.unwrap();
        assert_eq!(wrong.to_string(), "");
    });
}

#[test]
fn what_was_done_is_recorded_as_it_would_be_typed() {
    test(|| async {
        let mut cluster = settled(five()).await;
        cluster.partition([["1", "2"], ["3", "4"]]).unwrap();
        cluster.set_score("1", (7, -3)).unwrap();
        cluster.cut_one_way("1", "2").unwrap();
        let text = cluster.trace().to_text();
        for typed in [
            "partition agent-1 agent-2 | agent-3 agent-4",
            "score agent-1 7,-3",
            "cut agent-1 > agent-2",
        ] {
            assert!(text.contains(typed), "{text}");
            assert!(typed.parse::<Command>().is_ok());
        }
    });
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
        assert_eq!(cluster.status().agents()[0].role, Role::Leader);
    });
}
