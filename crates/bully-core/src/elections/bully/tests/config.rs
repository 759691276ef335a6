//! The errors of a configuration.

use super::*;

#[test]
fn no_agent_starts_with_a_margin_of_which_a_part_is_negative() {
    for (margin, is_good) in [
        (None, true),
        (Some((0, 0)), true),
        (Some((3, 0)), true),
        (Some((3, -1)), false),
        (Some((-3, 1)), false),
    ] {
        let margin = margin.map(Score::from);
        let config = BullyConfig {
            margin,
            ..BullyConfig::default()
        };
        assert_eq!(config.check().is_ok(), is_good, "{margin:?}");
        let asked = Bully::requirements(&Arc::new(config), &id(ME), MemberKind::Voter);
        assert_eq!(asked.is_ok(), is_good, "{margin:?}");
    }
}
