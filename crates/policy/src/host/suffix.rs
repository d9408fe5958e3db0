//! The list of public suffixes (`com`, `co.uk`, `github.io`): names below which anyone can register.
//!
//! Every question to the list is asked here, so that the program holds its tables once.

/// Whether this name is on the list, or every name below it is (`*.np`).
pub(super) fn is_public_suffix(name: &str) -> bool {
    let is_listed = |domain: &str| {
        psl::suffix(domain.as_bytes())
            .is_some_and(|found| found.is_known() && found.as_bytes() == domain.as_bytes())
    };
    is_listed(name) || is_listed(&format!("x.{name}"))
}

/// The part of a name that somebody registered: `example.co.uk` of `www.example.co.uk`.
pub fn registered_domain(name: &str) -> Option<&str> {
    psl::domain(name.as_bytes()).and_then(|domain| str::from_utf8(domain.as_bytes()).ok())
}
