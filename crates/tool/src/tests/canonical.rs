use serde_json::{Value, json};

use crate::canonical::as_ecmascript;
use crate::{Hash, canonical};

#[track_caller]
fn check(value: &Value, expected: &str) {
    assert_eq!(canonical(value), expected);
}

#[test]
fn the_examples_of_the_rfc_come_out_as_it_says() {
    check(
        &json!({
            "numbers": [333_333_333.333_333_3, 1e30, 4.50, 2e-3, 0.000_000_000_000_000_000_000_000_001],
            "string": "\u{20ac}$\u{f}\nA'B\"\\\\\"/",
            "literals": [null, true, false],
        }),
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#,
    );
    // Section 3.2.3: sorted by UTF-16 units, where a surrogate stands before U+FB33.
    check(
        &json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7}),
        "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}",
    );
}

#[test]
fn doubles_are_written_as_in_the_table_of_the_rfc() {
    // Appendix B: the bits of a double, and how it is written.
    for (bits, expected) in [
        (0x0000_0000_0000_0000_u64, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let double = f64::from_bits(bits);
        assert_eq!(as_ecmascript(double), expected, "{bits:x}");
    }
}

#[test]
fn whole_numbers_are_written_without_a_point() {
    check(
        &json!([7, 7.0, -7, 0, -0.0, 1e15, 123_456_789_012_i64]),
        "[7,7,-7,0,0,1000000000000000,123456789012]",
    );
    check(&json!([9_007_199_254_740_993_u64, u64::MAX]), "[9007199254740992,18446744073709552000]");
}

#[test]
fn a_value_of_any_depth_is_written_without_recursion() {
    let mut value = json!(1);
    for _ in 0..2_000 {
        value = Value::Array(vec![value]);
    }
    assert_eq!(canonical(&value), format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000)));
}

#[test]
fn a_hash_reads_back_as_it_was_written() {
    let hash = Hash::of(&json!({}));
    // SHA-256 of `{}`.
    assert_eq!(hash.to_string(), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    assert_eq!(hash.to_string().parse(), Ok(hash));
    let json = serde_json::to_string(&hash).unwrap();
    assert_eq!(serde_json::from_str::<Hash>(&json).unwrap(), hash);
    for bad in ["", "44", &hash.to_string().to_uppercase(), &format!("{hash}0"), &"g".repeat(64)] {
        assert!(bad.parse::<Hash>().is_err(), "{bad}");
    }
}
