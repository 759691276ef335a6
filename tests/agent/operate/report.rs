//! What a report shows, and that a client reads the same again.
use actix_bully::{
    Group,
    agent::BullyAgent,
    operate::{Operated, Report},
};

use super::commands::trio;
use crate::stage::{play, settle};

#[test]
fn a_report_as_json_is_read_again() {
    play(async {
        let [_c, b, _a] = trio().await;
        let report = Operated::new(&b).report();
        let json = serde_json::to_string_pretty(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
        let expected = r#"{
  "bridge": null,
  "agents": [
    {
      "agent": "b",
      "group": "orders",
      "lifecycle": "running",
      "incarnation": "1",
      "role": "follower",
      "term": "TERM",
      "leader": {
        "id": "c",
        "incarnation": "1",
        "term": "TERM"
      },
      "leader_about": null,
      "leading": null,
      "draining": false,
      "work_panics": 0,
      "work_stalls": 0,
      "tie_broken": false,
      "lease_left_ms": null,
      "voters": [],
      "epoch": 0,
      "members": [
        {
          "agent": "c",
          "kind": "voter",
          "score": 3,
          "presence": "up",
          "incarnation": "1",
          "about": null,
          "node": null
        },"#;
        let term = b.current().term.to_string();
        let expected = expected.replace("TERM", &term);
        assert!(json.starts_with(&expected), "{json}");
        assert!(
            json.contains("\"member_count\": 3,\n      \"contenders\": [],\n      \"messages\": {\n        \"closed\": 0,"),
            "{json}"
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

#[test]
fn an_explanation_is_the_diagnosis_in_both_forms() {
    play(async {
        let [c, b, _a] = trio().await;
        let explained = Operated::new(&c).agent(&b).explain();
        for (agent, explanation) in [&c, &b].into_iter().zip(explained) {
            let diagnosis = agent.diagnosis();
            assert_eq!(explanation.text, diagnosis.to_string());
            assert_eq!(
                explanation.diagnosis,
                serde_json::to_value(&diagnosis).unwrap()
            );
        }
    });
}
