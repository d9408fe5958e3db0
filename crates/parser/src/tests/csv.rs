//! CSV to rows and back.

use proptest::prelude::*;

use super::{gives, refuses};
use crate::Reason;
use crate::csv::{self, Columns, Header, ReadOptions, WriteOptions};

fn lists() -> ReadOptions {
    ReadOptions { header: Header::None, ..ReadOptions::default() }
}

#[track_caller]
fn has_rows(text: &str, expected: &str) {
    gives(csv::parse(text, &lists()), expected);
}

#[track_caller]
fn has_objects(text: &str, expected: &str) {
    gives(csv::parse(text, &ReadOptions::default()), expected);
}

#[test]
fn fields_are_split_where_the_format_says() {
    has_rows("", "[]");
    has_rows("\n\r\n", "[]");
    has_rows("a", r#"[["a"]]"#);
    has_rows("a,b\nc,d", r#"[["a","b"],["c","d"]]"#);
    has_rows("a,b\r\nc,d\r\n", r#"[["a","b"],["c","d"]]"#);
    has_rows("a\rb\r", r#"[["a"],["b"]]"#);
    has_rows("a\n\n\nb", r#"[["a"],["b"]]"#);
    has_rows(",", r#"[["",""]]"#);
    has_rows("a,\n,b", r#"[["a",""],["","b"]]"#);
    has_rows("\"\"", r#"[[""]]"#);
    has_rows("\"a,b\",c", r#"[["a,b","c"]]"#);
    has_rows("\"a\"\"b\"", r#"[["a\"b"]]"#);
    has_rows("\"\"\"\"", r#"[["\""]]"#);
    has_rows("\"a\nb\r\nc\"", r#"[["a\nb\r\nc"]]"#);
    has_rows("a\"b,c\"", r#"[["a\"b","c\""]]"#);
    has_rows(" a , b ", r#"[[" a "," b "]]"#);
    has_rows("\u{feff}a", r#"[["a"]]"#);
    has_rows("a\0b", r#"[["a\u0000b"]]"#);
    has_rows("é,日本,😀", r#"[["é","日本","😀"]]"#);
    has_rows("a,b\nc", r#"[["a","b"],["c"]]"#);
    has_rows("=1+1,-2", r#"[["=1+1","-2"]]"#);
}

#[test]
fn a_header_names_the_fields() {
    has_objects("", "[]");
    has_objects("a,b", "[]");
    has_objects("a,b\n1,2", r#"[{"a":"1","b":"2"}]"#);
    has_objects("a,b\n1", r#"[{"a":"1","b":null}]"#);
    has_objects("a,a,a_2,\n1,2,3,4", r#"[{"a":"1","a_2":"2","a_2_2":"3","column_4":"4"}]"#);
    has_objects("\"a\nb\"\n1", r#"[{"a\nb":"1"}]"#);
    has_objects("__proto__\n1", r#"[{"__proto__":"1"}]"#);
    let named = ReadOptions { header: Header::Names(vec!["x".into(), "y".into()]), ..ReadOptions::default() };
    gives(csv::parse("1,2\n3", &named), r#"[{"x":"1","y":"2"},{"x":"3","y":null}]"#);
    refuses(
        csv::parse("a\n1,2", &ReadOptions::default()),
        Reason::Malformed,
        "2 fields, the header has 1 (line 2",
    );
    refuses(csv::parse("1,2,3", &named), Reason::Malformed, "3 fields, the header has 2");
}

#[test]
fn delimiter_quote_and_trim_can_be_chosen() {
    let tabs = ReadOptions { delimiter: '\t', quote: '\'', ..lists() };
    gives(csv::parse("a\t'b\t''c'\t\"d", &tabs), r#"[["a","b\t'c","\"d"]]"#);
    let trimmed = ReadOptions { trim: true, ..lists() };
    gives(csv::parse(" a ,\t\" b \" , c\n", &trimmed), r#"[["a"," b ","c"]]"#);
    let trimmed_tabs = ReadOptions { trim: true, delimiter: '\t', ..lists() };
    gives(csv::parse(" a \t\t b", &trimmed_tabs), r#"[["a","","b"]]"#);
    for (delimiter, quote) in [(',', ','), ('\n', '"'), (',', '\r'), ('é', '"'), (',', '“'), ('\0', '"')] {
        let bad = ReadOptions { delimiter, quote, ..lists() };
        refuses(csv::parse("a", &bad), Reason::BadOption, "two different ASCII characters");
        let bad = WriteOptions { delimiter, quote, ..WriteOptions::default() };
        refuses(csv::stringify("[]", &bad), Reason::BadOption, "two different ASCII characters");
    }
}

#[test]
fn what_could_lose_data_is_refused() {
    refuses(csv::parse("a,\"b", &lists()), Reason::Malformed, "not closed (line 1, column 3)");
    refuses(csv::parse("x\n\"a\"b", &lists()), Reason::Malformed, "behind a closing quote");
    refuses(csv::parse("\"a\" ,b", &lists()), Reason::Malformed, "line 1, column 4");
}

#[track_caller]
fn writes(rows: &str, expected: &str) {
    gives(csv::stringify(rows, &WriteOptions::default()), expected);
}

#[test]
fn rows_are_written() {
    writes("[]", "");
    writes("[[]]", "\"\"\n");
    writes("[[1,true,null,\"x\",-1.5e3]]", "1,true,,x,-1.5e3\n");
    writes(r#"[{"a":1,"b":"x,y"}]"#, "a,b\n1,\"x,y\"\n");
    writes(r#"[{"a":1},{"b":2},{"a":3,"b":null}]"#, "a,b\n1,\n,2\n3,\n");
    writes(r#"[["a\"b","c\nd"," e","f\r"]]"#, "\"a\"\"b\",\"c\nd\",\" e\",\"f\r\"\n");
    writes(r#"[[""]]"#, "\"\"\n");
    writes("[{}]", "\"\"\n");
    writes(r#"[{"a":1,"a":2}]"#, "a\n2\n");
    let options = |columns| WriteOptions { columns, ..WriteOptions::default() };
    let chosen = options(Columns::Names(vec!["b".into(), "c".into()]));
    gives(csv::stringify(r#"[{"a":1,"b":2},{"c":3}]"#, &chosen), "b,c\n2,\n,3\n");
    gives(csv::stringify("[[1],[1,2,3]]", &chosen), "b,c\n1,\n1,2,3\n");
    gives(csv::stringify(r#"[{"a":1}]"#, &options(Columns::FoundWithoutNames)), "1\n");
    let odd = WriteOptions { delimiter: ';', quote: '\'', always: true, ..WriteOptions::default() };
    gives(csv::stringify(r#"[["a;b","c'd",""]]"#, &odd), "'a;b';'c''d';''\n");
    for bad in ["1", "{}", "[1]", "[[[]]]", "[[{}]]", "[{\"a\":[]}]", "[[1]", "[{\"a\":", ""] {
        refuses(csv::stringify(bad, &WriteOptions::default()), Reason::Malformed, "");
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same(
        rows in prop::collection::vec(prop::collection::vec(any::<String>(), 1..5), 0..6),
        always in any::<bool>(),
    ) {
        let given = serde_json::to_string(&rows).unwrap();
        let written = csv::stringify(&given, &WriteOptions { always, ..WriteOptions::default() }).unwrap();
        let read = csv::parse(&written, &lists()).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<Vec<String>>>(&read).unwrap(), rows);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[a\",'\n\r\t é\u{feff}\0]{0,40}", trim in any::<bool>()) {
        let _ = csv::parse(&text, &ReadOptions { trim, ..ReadOptions::default() });
    }
}
