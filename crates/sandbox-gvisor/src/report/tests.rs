use super::*;

#[test]
fn advice_is_for_whoever_asks() {
    let rootless = advice(Demand::Privilege, true).unwrap();
    assert!(rootless.contains("run as root") && rootless.contains("--rootless"), "{rootless}");
    assert_eq!(advice(Demand::Privilege, false), None);
    assert!(advice(Demand::Memory, true).unwrap().contains("run as root"));
    assert!(!advice(Demand::Memory, false).unwrap().contains("run as root"));
}
