//! Variables of the server's environment that stand in for secrets the store lacks: only those the operator listed,
//! read once, never written.

use std::collections::BTreeMap;

use bailiwick_config::Environment;
use bailiwick_redact::Secret;
use bailiwick_sys::clock;

use crate::error::SecretsError;
use crate::name::SecretName;
use crate::value::{ValueError, check_value};

/// Values from the environment, for names the operator listed.
#[derive(Debug, Default)]
pub struct Fallback {
    values: BTreeMap<SecretName, Secret>,
    /// Tells this set of values from every other, without saying anything about them.
    mark: [u8; 16],
}

impl Fallback {
    /// No names.
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads the variables of these names. One that is not set or empty is not there.
    pub fn of_this_process<'a>(
        names: impl IntoIterator<Item = &'a SecretName>,
    ) -> Result<Self, SecretsError> {
        let mut values = Vec::new();
        for name in names {
            let Some(value) = Environment::variable(name.as_str()) else { continue };
            let value = value
                .into_string()
                .map_err(|_| SecretsError::Variable { name: name.clone(), problem: ValueError::NotText })?;
            if !value.is_empty() {
                values.push((name.clone(), Secret::new(value)));
            }
        }
        Self::from_values(values)
    }

    /// Takes values that were read elsewhere.
    pub fn from_values(values: impl IntoIterator<Item = (SecretName, Secret)>) -> Result<Self, SecretsError> {
        let values: BTreeMap<_, _> = values.into_iter().collect();
        for (name, value) in &values {
            check_value(value).map_err(|problem| SecretsError::Variable { name: name.clone(), problem })?;
        }
        let mut mark = [0; 16];
        if !values.is_empty() {
            clock::random(&mut mark).map_err(|errno| SecretsError::Random(errno.into()))?;
        }
        Ok(Self { values, mark })
    }

    pub(crate) fn get(&self, name: &SecretName) -> Option<Secret> {
        self.values.get(name).map(|value| Secret::new(value.expose_secret().to_owned()))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &SecretName> {
        self.values.keys()
    }

    pub(crate) const fn mark(&self) -> [u8; 16] {
        self.mark
    }
}
