//! One figure: a value, what it is compared with, what it should be.

use serde_json::{Value, json};

/// The unit of a count of wrong answers.
pub(crate) const WRONG: &str = "answers";

/// One figure.
pub(crate) struct Row {
    pub(crate) id: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    /// What was measured beside it.
    pub(crate) against: Option<&'static str>,
    /// The value divided by what was measured beside it.
    pub(crate) ratio: Option<f64>,
    pub(crate) target: Option<Target>,
    /// The tenth and the ninetieth percentile, or the least and the most.
    pub(crate) spread: Option<(f64, f64)>,
    pub(crate) samples: usize,
    /// What a reader has to know about it.
    pub(crate) note: Option<&'static str>,
    /// The same of the program that was measured in turns with it.
    pub(crate) old: Option<Box<Self>>,
}

/// What a figure should be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
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
pub(crate) enum Verdict {
    Met,
    Missed,
    /// There is no target: it is there to be compared with.
    None,
}

impl Row {
    /// A row with nothing to compare it with.
    pub(crate) fn new(id: &'static str, value: f64, unit: &'static str, samples: usize) -> Self {
        let (against, ratio, target, spread, note, old) = (None, None, None, None, None, None);
        Self { id, value, unit, against, ratio, target, spread, samples, note, old }
    }

    /// The median and the spread of many runs.
    pub(crate) fn of_times(id: &'static str, times: &Times, unit: &'static str) -> Self {
        Self { spread: Some(times.spread()), ..Self::new(id, times.median(), unit, times.count()) }
    }

    /// How many answers were wrong: none should be.
    #[expect(clippy::cast_precision_loss, reason = "a figure to read")]
    pub(crate) fn wrong(id: &'static str, count: usize) -> Self {
        Self { target: Some(Target::AtMost(0.0)), ..Self::new(id, count as f64, WRONG, count) }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let met = match self.target {
            None => return Verdict::None,
            Some(Target::RatioAtMost(most)) => self.ratio.is_some_and(|ratio| ratio <= most),
            Some(Target::RatioAtLeast(least)) => self.ratio.is_some_and(|ratio| ratio >= least),
            Some(Target::AtMost(most)) => self.value <= most,
            Some(Target::AtLeast(least)) => self.value >= least,
        };
        if met { Verdict::Met } else { Verdict::Missed }
    }

    /// The value divided by that of the old program; none where that is zero.
    pub(crate) fn to_old(&self) -> Option<f64> {
        self.old.as_ref().filter(|old| old.value != 0.0).map(|old| self.value / old.value)
    }

    pub(crate) fn target_text(&self) -> String {
        match self.target {
            None => String::new(),
            Some(Target::RatioAtMost(most)) => format!("target: at most {most} ×"),
            Some(Target::RatioAtLeast(least)) => format!("target: at least {least} ×"),
            Some(Target::AtMost(most)) => format!("target: at most {most} {}", self.unit),
            Some(Target::AtLeast(least)) => format!("target: at least {least} {}", self.unit),
        }
    }

    pub(crate) fn to_json(&self) -> Value {
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
        let old = self.old.as_ref().map(|old| {
            let (low, high) = old.spread.unzip();
            json!({"value": old.value, "low": low, "high": high, "samples": old.samples, "ratioOfNew": self.to_old()})
        });
        json!({
            "id": self.id, "value": self.value, "unit": self.unit, "against": self.against, "ratio": self.ratio,
            "target": target, "targetOf": of, "verdict": verdict, "low": low, "high": high, "samples": self.samples,
            "note": self.note, "old": old,
        })
    }
}

/// Times of many runs of the same thing.
pub(crate) struct Times {
    sorted: Vec<f64>,
}

impl Times {
    /// From times in milliseconds.
    pub(crate) fn new(mut milliseconds: Vec<f64>) -> Self {
        milliseconds.sort_by(f64::total_cmp);
        Self { sorted: milliseconds }
    }

    /// The time that this share of the runs did not exceed, in percent.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let index = self.sorted.len().saturating_sub(1) * percent / 100;
        self.sorted.get(index).copied().unwrap_or(f64::NAN)
    }

    /// The median.
    pub(crate) fn median(&self) -> f64 {
        self.percentile(50)
    }

    /// The tenth and the ninetieth percentile.
    pub(crate) fn spread(&self) -> (f64, f64) {
        (self.percentile(10), self.percentile(90))
    }

    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.sorted.len()
    }
}

/// A number as people read it.
pub(crate) fn short(number: f64) -> String {
    match number {
        n if n >= 100.0 => format!("{n:.0}"),
        n if n >= 10.0 => format!("{n:.1}"),
        n if n >= 1.0 => format!("{n:.2}"),
        n => format!("{n:.3}"),
    }
}
