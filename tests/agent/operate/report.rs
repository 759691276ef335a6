//! The content of a report. A client reads an equal report from its text.
use actix_bully::{
    Group,
    agent::BullyAgent,
    operate::{Operated, Report},
};

use super::commands::trio;
use crate::{
    golden::golden,
    stage::{play, settle},
};

#[test]
fn a_report_as_json_is_read_again() {
    play(async {
        let [_c, b, _a] = trio().await;
        let report = Operated::new(&b).report();
        let json = serde_json::to_string_pretty(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
        let term = format!("\"term\": \"{}\"", b.current().term);
        golden(
            "tests/agent/operate/report.json",
            &json.replace(&term, "\"term\": \"TERM\""),
        );
    });
}

#[test]
fn members_that_cannot_be_elected_come_last() {
    play(async {
        let group = Group::new("g").unwrap();
        let agent = |name| BullyAgent::builder(name).join(&group);
        let eye = agent("eye").observer().start().unwrap();
        let _low = agent("low").score(-1).start().unwrap();
        let mute = agent("mute").score(7).start().unwrap();
        let _high = agent("high").score((1, 2)).start().unwrap();
        mute.withdraw_score().unwrap();
        settle().await;
        let agent = Operated::new(&eye).report().agents.remove(0);
        let names: Vec<_> = agent
            .members
            .iter()
            .map(|member| member.agent.as_str())
            .collect();
        assert_eq!(names, ["high", "low", "eye", "mute"]);
        assert_eq!(
            agent
                .status
                .leader
                .map(|leader| leader.id.to_string())
                .as_deref(),
            Some("high")
        );
    });
}
