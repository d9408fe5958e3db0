use std::io::Write as _;

use super::lz4;
use super::{LONGEST, of};

/// What is in kernels of these tests: it begins like a program, and has pieces that come again near and far.
fn plain() -> Vec<u8> {
    let mut plain = b"\x7fELF".to_vec();
    for number in 0..40_000_u32 {
        plain.extend((number % 977).to_le_bytes());
        plain.extend(if number % 5 == 0 { &b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"[..] } else { b"kernel" });
    }
    plain
}

/// A packed kernel: its header, some code, and what it carries with its length behind it.
fn image(payload: &[u8]) -> Vec<u8> {
    let (pieces, code) = (3, 700);
    let begin = (pieces + 1) * 512 + code;
    let mut image = vec![0; begin];
    image[0x1f1] = u8::try_from(pieces).unwrap();
    image[0x202..0x206].copy_from_slice(b"HdrS");
    image[0x206..0x208].copy_from_slice(&0x020f_u16.to_le_bytes());
    image[0x248..0x24c].copy_from_slice(&u32::try_from(code).unwrap().to_le_bytes());
    image[0x24c..0x250].copy_from_slice(&u32::try_from(payload.len()).unwrap().to_le_bytes());
    image.extend(payload);
    image.extend(b"what comes behind is not its");
    image
}

fn with_length(mut packed: Vec<u8>, length: usize) -> Vec<u8> {
    packed.extend(u32::try_from(length).unwrap().to_le_bytes());
    packed
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    with_length(zstd::stream::encode_all(plain, 3).unwrap(), plain.len())
}

/// As kernels are packed: with a filter for programs of this processor before it.
fn xz(plain: &[u8]) -> Vec<u8> {
    let mut options = lzma_rust2::XzOptions::with_preset(1);
    options.prepend_pre_filter(lzma_rust2::FilterType::BcjX86, 0);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(plain).unwrap();
    with_length(encoder.finish().unwrap(), plain.len())
}

/// Blocks with nothing but pieces as they are; copies are in tests of their own, and in the real kernel's.
fn lz4(plain: &[u8]) -> Vec<u8> {
    let mut packed = 0x184c_2102_u32.to_le_bytes().to_vec();
    for piece in plain.chunks(100_000) {
        let mut block = vec![0xf0];
        let rest = piece.len() - 15;
        block.extend(std::iter::repeat_n(0xff, rest / 255));
        block.push(u8::try_from(rest % 255).unwrap());
        block.extend(piece);
        packed.extend(u32::try_from(block.len()).unwrap().to_le_bytes());
        packed.extend(block);
    }
    with_length(packed, plain.len())
}

#[test]
fn a_plain_kernel_is_found_in_a_packed_one() {
    let plain = plain();
    for payload in [gzip(&plain), xz(&plain), zstd(&plain), lz4(&plain)] {
        assert!(of(&image(&payload)).unwrap() == plain, "{:x?}", &payload[..4]);
    }
    assert!(of(&plain).unwrap() == plain);
}

#[test]
fn what_is_no_kernel_is_refused_with_the_reason() {
    #[track_caller]
    fn check(image: &[u8], why: &str) {
        let refused = of(image).expect_err("refused");
        assert!(refused.contains(why), "{refused}");
    }
    let plain = plain();
    check(b"", "neither a plain kernel");
    check(&vec![0; 4096], "neither a plain kernel");
    let mut old = image(&gzip(&plain));
    old[0x206] = 7;
    check(&old, "neither a plain kernel");
    let mut far = image(&gzip(&plain));
    far[0x248..0x24c].copy_from_slice(&u32::MAX.to_le_bytes());
    check(&far, "neither a plain kernel");
    check(&image(b""), "cut");
    check(&image(&with_length(b"BZh91AY".to_vec(), 1)), "[42, 5a, 68, 39, 31, 41]");
    check(&image(&with_length(b"BZh91AY".to_vec(), 1)), "gzip, xz, zstd and lz4");
    check(&image(&with_length(gzip(&plain), LONGEST as usize + 1)), "too long");
    check(&image(&zstd(b"no program at all")), "no plain kernel (ELF)");
    // One that is longer than it says is not unpacked to its end.
    let mut bomb = zstd(&plain);
    let length = bomb.len();
    bomb[length - 4..].copy_from_slice(&100_u32.to_le_bytes());
    check(&image(&bomb), "has 100 bytes unpacked, and has 101");
    let mut cut = gzip(&plain);
    cut.drain(200..400);
    check(&image(&cut), "cannot be unpacked");
}

#[test]
fn lz4_copies_what_came_before_and_nothing_else() {
    #[track_caller]
    fn check(block: &[u8], most: usize, plain: Option<&[u8]>) {
        let mut packed = u32::try_from(block.len()).unwrap().to_le_bytes().to_vec();
        packed.extend(block);
        assert_eq!(lz4::unpack(&packed, most).as_deref(), plain, "{block:02x?}");
    }
    check(b"\x30abc", 3, Some(b"abc"));
    check(b"\x30abc", 2, None);
    // Two bytes back, four and five more; then the last piece.
    check(b"\x35abc\x02\x00\x10d", 99, Some(b"abcbcbcbcbcbd"));
    check(b"\x35abc\x02\x00\x10d", 12, None);
    check(b"\x3fabc\x03\x00\xff\x01\x10d", 999, Some(&[b"abc".repeat(92).as_slice(), b"abd"].concat()[..]));
    check(b"\x30abc\x04\x00\x10d", 99, None);
    check(b"\x30abc\x00\x00\x10d", 99, None);
    check(b"\x30ab", 99, None);
    check(b"\xf0", 99, None);
    check(b"", 99, None);
    // A copy reaches into its own block only.
    assert_eq!(lz4::unpack(b"\x04\0\0\0\x30abc\x06\0\0\0\x10d\x02\x00\x10e", 99), None);
    assert_eq!(lz4::unpack(b"\x09\0\0\0\x30abc", 99), None);
}
