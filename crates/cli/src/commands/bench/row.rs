//! One figure: a value, what it is compared with, what it should be.

use serde_json::{Value, json};

/// One figure.
pub(super) struct Row {
    pub(super) id: &'static str,
    pub(super) value: f64,
    pub(super) unit: &'static str,
    /// What was measured beside it.
    pub(super) against: Option<&'static str>,
    /// The value divided by what was measured beside it.
    pub(super) ratio: Option<f64>,
    pub(super) target: Option<Target>,
    /// The tenth and the ninetieth percentile, or the least and the most.
    pub(super) spread: Option<(f64, f64)>,
    pub(super) samples: usize,
}

/// What a figure should be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// The ratio is at most this.
    RatioAtMost(f64),
    /// The ratio is at least this.
    RatioAtLeast(f64),
    /// The value is at most this.
    AtMost(f64),
    /// The value is at least this.
    AtLeast(f64),
}

/// Whether it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Met,
    Missed,
    /// There is no target: it is there to be compared with.
    None,
}

impl Row {
    pub(super) fn verdict(&self) -> Verdict {
        let met = match self.target {
            None => return Verdict::None,
            Some(Target::RatioAtMost(most)) => self.ratio.is_some_and(|ratio| ratio <= most),
            Some(Target::RatioAtLeast(least)) => self.ratio.is_some_and(|ratio| ratio >= least),
            Some(Target::AtMost(most)) => self.value <= most,
            Some(Target::AtLeast(least)) => self.value >= least,
        };
        if met { Verdict::Met } else { Verdict::Missed }
    }

    pub(super) fn target_text(&self) -> String {
        match self.target {
            None => String::new(),
            Some(Target::RatioAtMost(most)) => format!("target: at most {most} ×"),
            Some(Target::RatioAtLeast(least)) => format!("target: at least {least} ×"),
            Some(Target::AtMost(most)) => format!("target: at most {most} {}", self.unit),
            Some(Target::AtLeast(least)) => format!("target: at least {least} {}", self.unit),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let (target, of) = match self.target {
            None => (None, None),
            Some(Target::RatioAtMost(most)) => (Some(most), Some("ratio, at most")),
            Some(Target::RatioAtLeast(least)) => (Some(least), Some("ratio, at least")),
            Some(Target::AtMost(most)) => (Some(most), Some("value, at most")),
            Some(Target::AtLeast(least)) => (Some(least), Some("value, at least")),
        };
        let verdict = match self.verdict() {
            Verdict::Met => Some("met"),
            Verdict::Missed => Some("missed"),
            Verdict::None => None,
        };
        let (low, high) = self.spread.unzip();
        json!({
            "id": self.id, "value": self.value, "unit": self.unit, "against": self.against, "ratio": self.ratio,
            "target": target, "targetOf": of, "verdict": verdict, "low": low, "high": high, "samples": self.samples,
        })
    }
}

/// Times of many runs of the same thing.
pub(super) struct Times {
    sorted: Vec<f64>,
}

impl Times {
    /// From times in milliseconds.
    pub(super) fn new(mut milliseconds: Vec<f64>) -> Self {
        milliseconds.sort_by(f64::total_cmp);
        Self { sorted: milliseconds }
    }

    /// The time that this share of the runs did not exceed, in percent.
    pub(super) fn percentile(&self, percent: usize) -> f64 {
        let index = self.sorted.len().saturating_sub(1) * percent / 100;
        self.sorted.get(index).copied().unwrap_or(f64::NAN)
    }

    /// The median.
    pub(super) fn median(&self) -> f64 {
        self.percentile(50)
    }

    /// The tenth and the ninetieth percentile.
    pub(super) fn spread(&self) -> (f64, f64) {
        (self.percentile(10), self.percentile(90))
    }

    /// How many.
    pub(super) fn count(&self) -> usize {
        self.sorted.len()
    }
}

/// A number as people read it.
pub(super) fn short(number: f64) -> String {
    match number {
        n if n >= 100.0 => format!("{n:.0}"),
        n if n >= 10.0 => format!("{n:.1}"),
        n if n >= 1.0 => format!("{n:.2}"),
        n => format!("{n:.3}"),
    }
}
