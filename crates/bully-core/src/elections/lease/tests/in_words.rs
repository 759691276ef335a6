//! Answers, questions and records in the words of the matrix.
//!
//! `r` is the agent's last request. An attempt of the agent has the number of its request. A record is written as its
//! differences from the records of `say.rs`.

use super::*;

type Columns = Vec<(String, String)>;

pub(super) fn answer(me: &Kit, shown: &RegisterShown) -> (String, Columns) {
    let RegisterShown {
        request,
        age: Micros(0),
        waited: Micros(0),
        is_broken: false,
        answer,
    } = shown
    else {
        panic!("a field has no column: {shown:?}");
    };
    let number = request.map_or("none".to_owned(), |number| request_of(me, number));
    let mut columns = vec![("request".to_owned(), number)];
    let kind = match answer {
        Answer::Holds { lease, claim } => {
            columns.push(("lease".to_owned(), content(me, lease, lease_of)));
            columns.push(("claim".to_owned(), content(me, claim, claim_of)));
            "Holds"
        }
        Answer::Applied(version) => {
            columns.push(("version".to_owned(), version_of(me, version)));
            "Applied"
        }
        Answer::Changed => "Changed",
        Answer::Contender(rank) => {
            columns.push((String::new(), format!("{rank:?}")));
            "Contender"
        }
        Answer::Failed => "Failed",
    };
    (kind.to_owned(), columns)
}

pub(super) fn question(me: &Kit, question: &RegisterQuestion, terms: &Terms) -> String {
    match question {
        RegisterQuestion::Read(read) => format!("read, request {}", request_of(me, read.request)),
        RegisterQuestion::Swap(swap) => {
            let SwapRegister {
                request,
                expected,
                record,
            } = &**swap;
            let record = match record {
                Swapped::Lease(record) => format!("lease {}", lease_of(me, record, terms)),
                Swapped::Claim(record) => format!("claim {}", claim_of(me, record, terms)),
            };
            let (over, request) = (version_of(me, expected), request_of(me, *request));
            format!("swap {over} for {record}, request {request}")
        }
    }
}

fn request_of(me: &Kit, number: u64) -> String {
    let last = me.request();
    match (number.checked_sub(last), last.saturating_sub(number)) {
        (Some(0), _) => "r".to_owned(),
        (Some(more), _) => format!("r+{more}"),
        (None, less) => format!("r-{less}"),
    }
}

fn content<R>(me: &Kit, cell: &Cell<R>, words: fn(&Kit, &R, &Terms) -> String) -> String {
    match &cell.content {
        Ok(None) => "none".to_owned(),
        Ok(Some(record)) => words(me, record, &Terms::Absolute),
        Err(_) => "unreadable".to_owned(),
    }
}

fn lease_of(me: &Kit, record: &LeaseRecord, terms: &Terms) -> String {
    let LeaseRecord {
        name,
        term,
        holder,
        lease,
        nonce,
        next,
    } = record;
    let mut words = vec!["released".to_owned()];
    let mut writer = LOW;
    if let Some(holder) = holder {
        writer = holder.id.as_str();
        words = vec![format!("of {writer}")];
        if holder.incarnation != Incarnation(1) {
            words.push(format!("incarnation {}", holder.incarnation));
        }
        if holder.score != score_of(writer) {
            words.push(format!("score {}", holder.score));
        }
        if let Some(about) = &holder.about {
            words.push(format!("about {about:?}"));
        }
    }
    words.push(format!("term {}", terms.of(*term)));
    if let Some(next) = next {
        words.push(format!("for {} within {}", next.id, millis(next.wait)));
    }
    if *lease != Micros::from(Duration::from_millis(LEASE)) {
        words.push(format!("lease {}", millis(*lease)));
    }
    words.extend(elsewhere(name));
    words.extend(by(me, nonce, writer));
    words.join(" ")
}

fn claim_of(me: &Kit, record: &ClaimRecord, terms: &Terms) -> String {
    let ClaimRecord {
        name,
        score,
        seen,
        nonce,
    } = record;
    let writer = nonce.id.as_str();
    let mut words = vec![format!("of {writer}")];
    match score {
        None => words.push("without a score".to_owned()),
        Some(score) if *score == score_of(writer) => {}
        Some(score) => words.push(format!("score {score}")),
    }
    if *seen != Term::ZERO {
        words.push(format!("seen {}", terms.of(*seen)));
    }
    words.extend(elsewhere(name));
    words.extend(by(me, nonce, writer));
    words.join(" ")
}

fn elsewhere(name: &LeaseName) -> Option<String> {
    (*name != config().name).then(|| format!("name {}/{}", name.cluster, name.group))
}

/// Returns the writer of a record, if the writer is this agent, or another agent than `usual`.
fn by(me: &Kit, nonce: &Nonce, usual: &str) -> Option<String> {
    if nonce.id == id(ME) {
        return Some(format!("by {}", version_of(me, &version(Some(nonce)))));
    }
    (nonce.id != id(usual)).then(|| format!("by {}", nonce.id))
}

fn version_of(me: &Kit, version: &Version) -> String {
    let text = str::from_utf8(version.as_bytes()).unwrap();
    if text.is_empty() {
        return "nothing".to_owned();
    }
    let parts: Vec<&str> = text.split(' ').collect();
    let number = parts[2].parse().unwrap();
    match parts[..2] {
        [ME, "1"] if number > 1 << 32 => format!("attempt {}", request_of(me, number)),
        _ => parts.join("."),
    }
}

fn millis(time: Micros) -> String {
    (time.0 / 1_000).to_string()
}
