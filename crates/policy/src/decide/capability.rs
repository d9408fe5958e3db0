//! May code use this capability at all? What it may not use does not exist for it.

use bailiwick_types::{DenialReason, ErrorCode, LayerName};

use super::fix::Widening;
use super::{Answers, Question, Refusal, Verdict};
use crate::capability::Grant;
use crate::{Capability, EffectivePolicy, NetworkMode};

impl Question for Capability {
    type Granted = Self;

    fn judge(&self, policy: &EffectivePolicy, _answers: Answers) -> Verdict<Self> {
        if policy.powers.allowed.contains(*self) {
            return Verdict::Yes(*self);
        }
        let (reason, rule, layer) = policy.why_not(*self);
        Verdict::No(Refusal {
            code: ErrorCode::CapabilityDenied,
            capability: *self,
            rule,
            layer,
            reason,
            candidates: policy.grants_of(*self),
        })
    }

    fn asked(&self) -> String {
        self.name().to_owned()
    }
}

impl EffectivePolicy {
    /// Why a capability is absent: the reason, the rule, and whose rule it is.
    pub(super) fn why_not(&self, capability: Capability) -> (DenialReason, &'static str, LayerName) {
        if !capability.is_available() {
            return (DenialReason::NotInThisBuild, "build", LayerName::Guard);
        }
        let at = |from: &[usize]| self.layer_name(from.get(capability as usize).copied().unwrap_or(0));
        if self.powers.deny.contains(capability) {
            return (DenialReason::DenyEntry, "deny", at(&self.powers.deny_from));
        }
        match capability.grant() {
            Grant::Listed => (DenialReason::NotGranted, "allow", at(&self.powers.allow_from)),
            Grant::Network if self.net.mode.value == NetworkMode::Blocked => {
                (DenialReason::NetworkBlocked, "network", self.layer_name(self.net.mode.layer))
            }
            Grant::Network => (DenialReason::HostNotAllowed, "hosts", self.layer_name(self.net.mode.layer)),
            Grant::FileRead => (DenialReason::NotGranted, "fileRead", self.layer_name(self.files.read.layer)),
            Grant::FileWrite => {
                (DenialReason::NotGranted, "fileWrite", self.layer_name(self.files.write.layer))
            }
            Grant::Destructive => {
                (DenialReason::NotGranted, "destructive", self.layer_name(self.files.delete.layer))
            }
        }
    }

    /// The widenings that could grant a capability, the narrowest first.
    pub(super) fn grants_of(&self, capability: Capability) -> Vec<Widening> {
        if !capability.is_available() {
            return Vec::new();
        }
        let plain = match capability.grant() {
            Grant::Listed => Widening { add_allow: Some(capability), ..Widening::default() },
            // Which hosts are meant is not part of this question.
            Grant::Network => Widening { network: Some(NetworkMode::Strict), ..Widening::default() },
            Grant::FileRead => Widening { file_read: true, ..Widening::default() },
            Grant::FileWrite => Widening { file_write: true, ..Widening::default() },
            Grant::Destructive => Widening { destructive: true, ..Widening::default() },
        };
        // `destructive` lifts the baseline's own entry by itself.
        let denied_at = self.powers.deny_from.get(capability as usize).copied().unwrap_or(0);
        let lifts_itself = capability.grant() == Grant::Destructive && denied_at == 0;
        if self.powers.deny.contains(capability) && !lifts_itself {
            // What is denied by entry may already be on the allow list.
            let lifted = Widening { remove_deny: Some(capability), ..Widening::default() };
            return vec![lifted, Widening { remove_deny: Some(capability), ..plain }];
        }
        vec![plain]
    }
}
