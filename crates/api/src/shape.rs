//! How a shape comes from the inner type and goes back: field by field, with nothing left out.
//!
//! A field that is new inside does not compile here until somebody decided what is told of it.

use std::path::PathBuf;

use bailiwick_core::sandboxes::SandboxPath;
use bailiwick_types::{
    ApprovalId, CallId, CorrelationId, ErrorCode, Failure, KeyId, Receipt, Risk, RiskLevel, SandboxId,
    Scopes, SnapshotId, Tier, ToolId,
};
use serde_json::Value;

/// What goes over the border between the wire and the inside.
pub(crate) trait Across<T> {
    /// As the other side has it.
    fn across(self) -> T;
}

/// Types that are the same on both sides.
macro_rules! same {
    ($($type:ty),+ $(,)?) => {
        $(impl Across<Self> for $type {
            fn across(self) -> Self {
                self
            }
        })+
    };
}

same!(
    String,
    bool,
    u16,
    u32,
    u64,
    i64,
    f64,
    usize,
    Value,
    PathBuf,
    SandboxPath,
    ApprovalId,
    CallId,
    CorrelationId,
    ErrorCode,
    Failure,
    KeyId,
    Receipt,
    Risk,
    RiskLevel,
    SandboxId,
    Scopes,
    SnapshotId,
    Tier,
    ToolId,
);

impl<From: Across<To>, To> Across<Vec<To>> for Vec<From> {
    fn across(self) -> Vec<To> {
        self.into_iter().map(Across::across).collect()
    }
}

impl<From: Across<To>, To> Across<Option<To>> for Option<From> {
    fn across(self) -> Option<To> {
        self.map(Across::across)
    }
}

impl<From: Across<To>, To> Across<Box<To>> for Box<From> {
    fn across(self) -> Box<To> {
        Box::new((*self).across())
    }
}

/// Makes a shape of an inner struct, and both ways between them.
macro_rules! shape {
    (
        $(#[$meta:meta])*
        $name:ident of $inner:path {
            $($(#[$field_meta:meta])* $field:ident: $type:ty,)+
        }
    ) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        $(#[$meta])*
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)+
        }

        $crate::shape::both_ways!($name, $inner, $($field),+);
    };
}

/// The two conversions of a struct whose fields are the same by name.
macro_rules! both_ways {
    ($name:ident, $inner:path, $($field:ident),+) => {
        impl From<$inner> for $name {
            fn from(inner: $inner) -> Self {
                let $inner { $($field),+ } = inner;
                Self { $($field: $crate::shape::Across::across($field)),+ }
            }
        }

        impl From<$name> for $inner {
            fn from(shape: $name) -> Self {
                let $name { $($field),+ } = shape;
                Self { $($field: $crate::shape::Across::across($field)),+ }
            }
        }

        $crate::shape::across_by_from!($name, $inner);
    };
}

/// Makes a shape of an inner enum of words, and both ways between them.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $name:ident of $inner:path {
            $($(#[$variant_meta:meta])* $variant:ident,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        #[serde(rename_all = "camelCase")]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl From<$inner> for $name {
            fn from(inner: $inner) -> Self {
                use $inner as Inner;
                match inner {
                    $(Inner::$variant => Self::$variant,)+
                }
            }
        }

        impl From<$name> for $inner {
            fn from(shape: $name) -> Self {
                match shape {
                    $($name::$variant => Self::$variant,)+
                }
            }
        }

        $crate::shape::across_by_from!($name, $inner);
    };
}

/// Makes two types go over the border by their `From`.
macro_rules! across_by_from {
    ($name:ident, $inner:path) => {
        impl $crate::shape::Across<$name> for $inner {
            fn across(self) -> $name {
                self.into()
            }
        }

        impl $crate::shape::Across<$inner> for $name {
            fn across(self) -> $inner {
                self.into()
            }
        }
    };
}

pub(crate) use {across_by_from, both_ways, shape, words};
