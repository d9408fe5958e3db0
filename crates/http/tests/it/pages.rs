//! Pages: a cursor leads on to the next, and the last has none.

use bailiwick_core::{Action, Reply};
use serde_json::Value;

use crate::replies::{self, lines, record};
use crate::stage::{Stage, block_on, get};

bailiwick_testkit::tests!(
    tools_are_paged_by_an_opaque_cursor,
    records_are_paged_in_both_directions,
    an_export_goes_on_page_by_page,
);

fn tools_are_paged_by_an_opaque_cursor() {
    block_on(async {
        let names = ["a", "b", "c", "d", "e"];
        let stage = Stage::script(move |_, action| {
            let Action::ToolList { after, limit } = action else { panic!("{action:?}") };
            let left = names.iter().filter(|name| after.as_deref().is_none_or(|after| **name > after));
            let lines =
                left.map(|name| bailiwick_core::ToolLine { name: (*name).to_owned(), ..replies::line() });
            let lines = lines.take(usize::try_from(limit).expect("a number")).collect();
            Box::pin(std::future::ready(Ok(Reply::Tools(lines))))
        })
        .await;
        let mut seen: Vec<Vec<String>> = Vec::new();
        let mut uri = "/v1/tools?limit=2".to_owned();
        loop {
            let page = stage.ask(get(&uri)).await.json();
            let tools = page["tools"].as_array().expect("tools").iter();
            seen.push(tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect());
            let Some(next) = page["next"].as_str() else { break };
            assert!(!names.contains(&next), "{next} is not opaque");
            uri = format!("/v1/tools?limit=2&after={next}");
        }
        assert_eq!(seen, [vec!["a", "b"], vec!["c", "d"], vec!["e"]]);
    });
}

/// The numbers of the records on each page.
async fn numbers(order: &str) -> Vec<Vec<u64>> {
    let stage = Stage::script(move |_, action| {
        let Action::AuditPage { from, newest_first, limit } = action else { panic!("{action:?}") };
        let limit = usize::try_from(limit).expect("a number");
        let numbers: Vec<u64> = if newest_first {
            (1..=5).rev().filter(|seq| from.is_none_or(|from| *seq <= from)).take(limit).collect()
        } else {
            (1..=5).filter(|seq| from.is_none_or(|from| *seq >= from)).take(limit).collect()
        };
        let records = numbers.into_iter().map(record).collect();
        Box::pin(std::future::ready(Ok(Reply::Records(records))))
    })
    .await;
    let mut seen = Vec::new();
    let mut uri = format!("/v1/audit?limit=2{order}");
    loop {
        let page = stage.ask(get(&uri)).await.json();
        let records = page["records"].as_array().expect("records").iter();
        seen.push(records.filter_map(|record| record["seq"].as_u64()).collect());
        let Some(next) = page["next"].as_str() else { return seen };
        uri = format!("/v1/audit?limit=2{order}&after={next}");
    }
}

fn records_are_paged_in_both_directions() {
    block_on(async {
        assert_eq!(numbers("").await, [vec![5, 4], vec![3, 2], vec![1]]);
        assert_eq!(numbers("&order=oldest").await, [vec![1, 2], vec![3, 4], vec![5]]);
    });
}

fn an_export_goes_on_page_by_page() {
    block_on(async {
        let stage = Stage::script(move |_, action| {
            let Action::AuditExport { from, limit: _ } = action else { panic!("{action:?}") };
            let next = (from < 3).then_some(from + 1);
            Box::pin(std::future::ready(Ok(Reply::Lines(lines(from, next)))))
        })
        .await;
        let answer = stage.ask(get("/v1/audit/export")).await;
        assert_eq!(answer.kind(), Some("application/x-ndjson"));
        let read = |line: &str| serde_json::from_str::<Value>(line).expect("a record")["seq"].as_u64();
        assert_eq!(answer.text.lines().map(read).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
        assert!(answer.text.ends_with('\n'));
    });
}
