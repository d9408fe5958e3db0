//! The keys of images.

use super::{Kind, Narrowing, Row, Used};

pub(super) const IMAGES: &[Row] = &[
    (
        "images.insecure",
        Kind::Texts,
        Narrowing::Fewer,
        Used::Now,
        "registries that are spoken to without TLS, beside those on this machine's loopback: host or host:port",
    ),
    ("images.most", Kind::Size, Narrowing::Smaller, Used::Now, "the most that all images together take"),
];
