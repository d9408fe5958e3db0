use super::{depends, numbers};

#[test]
fn a_module_says_what_it_needs() {
    #[track_caller]
    fn check(module: &[u8], needed: &[&str]) {
        assert_eq!(depends(module), needed);
    }
    check(b"license=GPL\0depends=virtio,virtio-ring\0name=x\0", &["virtio", "virtio_ring"]);
    check(b"\0depends=\0", &[]);
    check(b"nothing", &[]);
    check(b"\0depends=cut", &["cut"]);
}

#[test]
fn a_newer_kernel_is_newer_by_its_numbers() {
    assert!(numbers("6.1.0-54-cloud-amd64") > numbers("6.1.0-9-cloud-amd64"));
}
