use super::*;

#[test]
fn a_report_is_well_formed_xml_whatever_a_test_printed() {
    let report = Report::new();
    let row = |name: &str, outcome| Row { name: name.to_owned(), took: Duration::from_millis(1500), outcome };
    lock(&report.0).extend([
        row("a::b", Outcome::Passed),
        row("a::<c>", Outcome::Failed("\u{1b}[31m<x> & \"y\"".to_owned())),
    ]);
    let xml = report.to_xml();
    assert!(xml.contains("name=\"a::&lt;c&gt;\" classname=\"specs\" time=\"1.500\""), "{xml}");
    assert!(xml.contains("<failure>\u{fffd}[31m&lt;x&gt; &amp; &quot;y&quot;</failure>"), "{xml}");
    assert!(xml.contains("tests=\"2\" failures=\"1\""), "{xml}");
}
