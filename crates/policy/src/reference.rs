//! The policy reference, generated from the tables that decide. Nothing here is written twice.

use std::fmt::Write as _;

use bailiwick_types::{Breach, DenialReason, ErrorCode, LimitKind, RiskLevel};

use crate::capability::{Capability, Shipped};
use crate::host::{AddressClass, METADATA, SPECIAL};

/// The tables of the reference as Markdown.
pub fn markdown() -> String {
    let mut page = String::new();
    capabilities(&mut page);
    limits(&mut page);
    levels(&mut page);
    reasons(&mut page);
    codes(&mut page);
    addresses(&mut page);
    page
}

fn heading(page: &mut String, title: &str, columns: &[&str]) {
    let _ =
        write!(page, "\n## {title}\n\n| {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len()));
}

fn row(page: &mut String, cells: &[&str]) {
    let escaped: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(page, "| {} |", escaped.join(" | "));
}

fn capabilities(page: &mut String) {
    heading(page, "Capabilities", &["capability", "class", "shipped", "granted by", "lets code", "globals"]);
    for capability in Capability::ALL {
        let shipped = match capability.shipped() {
            _ if !capability.is_available() => "not in this build",
            Shipped::Allowed => "allowed",
            Shipped::Switch => "off",
            Shipped::DenyEntry => "deny entry",
        };
        let globals: Vec<String> = capability.globals().iter().map(|name| format!("`{name}`")).collect();
        row(
            page,
            &[
                &format!("`{capability}`"),
                capability.class().word(),
                shipped,
                &format!("`{}`", capability.grant().key()),
                capability.doc(),
                &globals.join(", "),
            ],
        );
    }
}

fn limits(page: &mut String) {
    heading(page, "Limits", &["key", "bounds", "default", "ceiling", "hard maximum", "on breach"]);
    for kind in LimitKind::ALL {
        let unit = kind.unit();
        row(
            page,
            &[
                &format!("`{}`", kind.key()),
                kind.doc(),
                &unit.format(kind.default_value()),
                &unit.format(kind.default_ceiling()),
                &unit.format(kind.hard_maximum()),
                &on_breach(*kind),
            ],
        );
    }
}

fn on_breach(kind: LimitKind) -> String {
    match kind.breach() {
        Breach::Fails(code) => format!("`{code}`"),
        Breach::Dropped => "the rest is dropped and counted".to_owned(),
        Breach::Waits => "the rest waits its turn".to_owned(),
    }
}

fn levels(page: &mut String) {
    heading(page, "Risk levels", &["level", "what to do", "credited when approval is required"]);
    for level in RiskLevel::ALL {
        row(page, &[level.name(), level.advice(), level.credited().name()]);
    }
}

fn reasons(page: &mut String) {
    heading(page, "Reasons of a denial or a failed request", &["reason", "meaning"]);
    for reason in DenialReason::ALL {
        row(page, &[&format!("`{reason}`"), reason.meaning()]);
    }
}

fn codes(page: &mut String) {
    heading(page, "Error codes", &["code", "exit", "meaning"]);
    for code in ErrorCode::ALL {
        row(page, &[&format!("`{code}`"), &code.class().exit_code().to_string(), code.meaning()]);
    }
}

fn addresses(page: &mut String) {
    heading(page, "Addresses that are not public", &["block", "verdict", "what it is"]);
    for (block, class, name) in SPECIAL {
        let verdict = match class {
            AddressClass::Public => "public",
            AddressClass::Private => "only with `private: true`, or `open`",
            AddressClass::Metadata => "only if the operator lists it",
            AddressClass::Unusable => "never",
        };
        row(page, &[&format!("`{block}`"), verdict, name]);
    }
    heading(page, "Metadata addresses", &["address", "what it is"]);
    for (address, name) in METADATA {
        row(page, &[&format!("`{address}`"), name]);
    }
}
